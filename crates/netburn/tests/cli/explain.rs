//! Causes of a run's results: at the end of its report, on its page, and with simulated remedies.

use crate::support::{Bench, finish};
use serde_json::Value;
use std::fs;

/// A slow neighbour behind one FIFO.
const HOUSE: &str = r#"
duration = "15 s"
baseline = "1 s"
[ap.home]
queue = "fifo"
[ap.home.radio.5g]
standard = "802.11n"
width = "20 MHz"
streams = 2
[station.laptop]
joins = "home.5g"
signal = "-45 dBm"
workload = ["browsing", "probe"]
[station.tablet]
joins = "home.5g"
signal = "-86 dBm"
workload = "download"
"#;

#[test]
fn a_report_ends_with_causes_and_explain_lists_remedies() {
    let bench = Bench::new();
    bench.write("house.toml", HOUSE);
    let printed = bench.simulate("house.toml", "run", &[]).out();
    let (_, causes) = printed.split_once("Likely causes:\n").expect("causes at the end");
    assert!(
        causes.starts_with("1. tablet is slow and uses too much airtime, which delays laptop\n"),
        "{causes}"
    );
    let (_, helps) = causes
        .split_once("\nWhat would help, simulated 8 times each")
        .expect("changes behind the causes");
    assert!(
        helps.contains("\n1. Use a fair queue in the access point")
            && helps.contains("\nSettings and all metrics: netburn explain run\n"),
        "{helps}"
    );
    let again = finish(bench.netburn(["report", "run"])).expect(0).out();
    assert!(again.ends_with(causes), "{again}");
    let page = fs::read_to_string(bench.path("run").join("report.html")).unwrap();
    assert!(
        page.contains("Likely causes")
            && page.contains("tablet is slow and uses too much airtime, which delays laptop")
    );
    let (_, first) = page.split_once(">What to do now</h2>").expect("the box in the head");
    let (first, _) = first.split_once("</section>").unwrap();
    assert!(
        first.contains("<strong>Use a fair queue in the access point"),
        "{first}"
    );
    // The home has both stations in one radio, and each has a row over time. Only the laptop has a goal to miss.
    let (_, home) = page.split_once("<ul class=\"house\">").expect("the home");
    let (home, _) = home.split_once("</section>").unwrap();
    let (_, radio) = home.split_once(">Radio 5g</span>").expect("the radio");
    assert!(
        radio.contains("<strong>laptop</strong>") && radio.contains("signal -86\u{a0}dBm"),
        "{home}"
    );
    let (_, rows) = page.split_once("id=\"who-when\"").expect("the stations over time");
    let (rows, _) = rows.split_once("</svg>").unwrap();
    let (laptop, tablet) = rows
        .split_once(">tablet: download</text>")
        .expect("a row of the tablet");
    assert!(
        laptop.contains(">laptop: browsing, probe</text>") && laptop.contains("var(--fail)"),
        "{rows}"
    );
    assert!(!tablet.contains("var(--fail)"), "{rows}");
    let kept: Value = serde_json::from_slice(&fs::read(bench.path("run").join("remedies.json")).unwrap()).unwrap();
    let best = kept["changes"][0].clone();
    assert_eq!(
        (&best["is_best"], &best["set"]),
        (&true.into(), &serde_json::json!([["ap.home.queue", "airtime"]]))
    );

    let explained = finish(bench.netburn(["explain", "run", "--runs", "8", "--format", "json"])).expect(0);
    let explained: Value = explained.json();
    assert_eq!(explained["schema"], "netburn.explain/1");
    assert_eq!(explained["causes"][0]["kind"], "slow-neighbour");
    assert_eq!(explained["causes"][0]["by"], serde_json::json!(["tablet"]));
    let fair = &explained["what_ifs"][0];
    assert_eq!(fair["set"], serde_json::json!({ "ap.home.queue": "airtime" }));
    let metrics = fair["metrics"].as_array().unwrap();
    let probe = metrics
        .iter()
        .find(|f| f["metric"] == "stations.laptop.workloads.probe.latency_ms.p95")
        .unwrap();
    assert_eq!(probe["judgement"], "better");
    assert!(probe["value"].as_f64() < probe["baseline"].as_f64());

    // The change in the output is valid as it is printed.
    let text = finish(bench.netburn(["explain", "run", "--runs", "3", "--duration", "5s"]))
        .expect(0)
        .out();
    assert!(text.contains("  --set 'ap.home.queue=airtime'\n"), "{text}");
    assert!(text.contains("Too few runs to decide"), "{text}");
    let fixed = bench.simulate("house.toml", "fixed", &["--set", "ap.home.queue=airtime"]);
    let printed = fixed.out();
    assert!(!printed.contains("Likely causes"), "{printed}");
    let nothing = finish(bench.netburn(["explain", "fixed"])).expect(0).out();
    assert!(nothing.contains("No cause found"), "{nothing}");
}

#[test]
fn runs_that_cannot_be_explained_are_an_error() {
    let bench = Bench::new();
    fs::create_dir(bench.path("empty")).unwrap();
    let wrong = finish(bench.netburn(["explain", "empty"])).expect(2);
    assert!(wrong.stderr.contains("empty"), "{}", wrong.stderr);
    finish(bench.netburn(["explain", "nowhere"])).expect(2);
    bench.write("house.toml", HOUSE);
    bench.simulate("house.toml", "run", &["--duration", "3s"]);
    let wrong = finish(bench.netburn(["explain", "run", "--duration", "soon"]));
    assert!(wrong.expect(2).stderr.contains("soon"));
}

#[test]
fn a_model_replaces_the_network_of_a_run() {
    let bench = Bench::new();
    bench.write("house.toml", HOUSE);
    bench.simulate("house.toml", "run", &[]);
    // The model has the same network, and another load.
    bench.write(
        "model.toml",
        HOUSE.replace("workload = \"download\"", "workload = \"voip\""),
    );
    let options = [
        "explain",
        "run",
        "--runs",
        "3",
        "--duration",
        "5s",
        "--model",
        "model.toml",
    ];
    let text = finish(bench.netburn(options)).expect(0).out();
    assert!(text.contains("Measured and modelled: "), "{text}");
    assert!(text.contains("values agree with 3 simulations of the model"), "{text}");
    assert!(text.contains("  --set 'ap.home.queue=airtime'\n"), "{text}");
    let json = finish(bench.netburn(options.into_iter().chain(["--format", "json"]))).expect(0);
    let json: Value = json.json();
    assert_eq!(json["agreement"]["runs"], 3);
    assert!(
        json["agreement"]["values"]
            .as_array()
            .is_some_and(|values| values.len() > 5)
    );

    // The causes of a model are not those of the run.
    let stored = fs::read_to_string(bench.path("run").join("causes.json")).unwrap();
    finish(bench.netburn(options)).expect(0);
    assert_eq!(
        fs::read_to_string(bench.path("run").join("causes.json")).unwrap(),
        stored
    );

    bench.write("other.toml", HOUSE.replace("station.tablet", "station.phone"));
    let wrong = finish(bench.netburn(["explain", "run", "--model", "other.toml"])).expect(2);
    assert!(
        wrong.stderr.contains("station `tablet`, which the model lacks"),
        "{}",
        wrong.stderr
    );
    bench.write("bare.toml", "[station.laptop]\nworkload = \"probe\"\n");
    finish(bench.netburn(["explain", "run", "--model", "bare.toml"])).expect(2);
    finish(bench.netburn(["explain", "run", "--model", "nowhere.toml"])).expect(2);
    finish(bench.netburn(["explain", "run", "--model", "model.toml", "--runs", "0"])).expect(2);
    let contract = finish(bench.netburn(["explain", "run", "--contract-up", "10"])).expect(2);
    assert!(
        contract.stderr.contains("fitted to a measurement"),
        "{}",
        contract.stderr
    );
}

/// Two devices near an access point, and a line whose queue holds 0.6 s of uploads. The Wi-Fi is much faster than the line, so
/// that the measurement does not show the queue discipline of the access point.
const BLOATED: &str = r#"
[server.link]
delay = "9 ms"
[ap.home]
queue = "fq-codel"
wan = { down = "60 Mbit/s", up = "10 Mbit/s", delay = "4 ms", queue = "800 KiB" }
[ap.home.radio.5g]
standard = "802.11ac"
width = "80 MHz"
[station.laptop]
joins = "home.5g"
signal = "-50 dBm"
[station.tablet]
joins = "home.5g"
signal = "-58 dBm"
"#;

/// The document of an explanation of a measured house by models that are fitted to it.
fn explained(bench: &Bench, house: &str) -> Value {
    bench.measure(house, "measured", &[]);
    let options = [
        "explain", "measured", "--model", "measured", "--runs", "10", "--format", "json",
    ];
    // The line of the first house has 60 and 10 Mbit/s.
    let contract = ["--contract-down", "90", "--contract-up", "10"];
    finish(bench.netburn([&options[..], &contract].concat()))
        .expect(0)
        .json()
}

/// SQM at the line is the known remedy, in each possible discipline of the access point, and a fair queue there is none.
#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes minutes: scripts/test runs it")]
fn the_remedy_of_a_bloated_line_is_recommended_although_the_discipline_is_open() {
    let bench = Bench::new();
    let json = explained(&bench, BLOATED);
    assert_eq!(json["fit"]["load"], "household");
    assert_eq!(json["fit"]["explains"], true);
    assert!(
        json["fit"]["disciplines"][0]["probability"].as_f64() < Some(0.9),
        "{}",
        json["fit"]
    );
    assert_eq!(json["uncertain"], false);
    assert_eq!(json["differences"], serde_json::json!([]));
    let below = json["contract"].as_array().unwrap().iter();
    let below: Vec<_> = below.map(|one| (&one["direction"], &one["below"])).collect();
    assert_eq!(below, [(&"down".into(), &true.into()), (&"up".into(), &false.into())]);
    let effects = &json["effects"];
    assert_eq!((&effects["models"], &effects["missing"]), (&10.into(), &10.into()));
    let changes = effects["changes"].as_array().unwrap();
    assert_eq!(effects["recommended"], changes[0]["label"]);
    assert_eq!(changes[0]["set"]["ap.home.wan.shaper_up"], "90 %", "{}", changes[0]);
    let at_access_point = |change: &&Value| change["set"].get("ap.home.queue").is_some();
    if let Some(queue) = changes.iter().find(at_access_point) {
        assert_ne!(queue["judgement"], "better", "{queue}");
    }
}

/// One device on a fast line with a short queue.
#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes minutes: scripts/test runs it")]
fn nothing_is_recommended_where_nothing_is_wrong() {
    let bench = Bench::new();
    let fast = BLOATED
        .replace(
            "down = \"60 Mbit/s\", up = \"10 Mbit/s\"",
            "down = \"200 Mbit/s\", up = \"100 Mbit/s\"",
        )
        .replace("800 KiB", "300 KiB");
    let (house, _) = fast.split_once("[station.tablet]").unwrap();
    let json = explained(&bench, house);
    assert_eq!(json["fit"]["explains"], true);
    let effects = &json["effects"];
    assert!(effects["missing"].as_u64() <= Some(1), "{effects}");
    assert_eq!(
        (&effects["recommended"], &effects["promising"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn a_folder_without_a_measurement_is_no_model() {
    let bench = Bench::new();
    bench.write("house.toml", HOUSE);
    bench.simulate("house.toml", "run", &["--duration", "3s"]);
    let wrong = finish(bench.netburn(["explain", "run", "--model", "run"])).expect(2);
    assert!(
        wrong
            .stderr
            .contains("the workload `browsing` of laptop is not part of a measurement"),
        "{}",
        wrong.stderr
    );
    finish(bench.netburn(["explain", "run", "--model", "run", "--runs", "0"])).expect(2);
}

/// A fit takes up to a minute, so the record keeps it.
#[test]
fn models_are_fitted_once() {
    let bench = Bench::new();
    let (house, _) = BLOATED.split_once("[station.tablet]").unwrap();
    let slow = house.replace("60 Mbit/s", "4 Mbit/s").replace("10 Mbit/s", "1 Mbit/s");
    bench.measure(&slow, "measured", &[]);
    let options = [
        "explain", "measured", "--model", "measured", "--runs", "1", "--format", "json",
    ];
    // No file can replace a folder. The fit is lost, and the explanation is not.
    fs::create_dir(bench.path("measured/fit.json")).unwrap();
    let lost = finish(bench.netburn(options)).expect(0);
    assert!(
        lost.stderr.contains("fitting models") && lost.stderr.contains("the record does not keep the model"),
        "{}",
        lost.stderr
    );
    fs::remove_dir(bench.path("measured/fit.json")).unwrap();
    let first = finish(bench.netburn(options)).expect(0);
    assert!(first.stderr.contains("fitting models"), "{}", first.stderr);
    let page = fs::read_to_string(bench.path("measured/report.html")).unwrap();
    assert!(page.contains("Model of the network"));

    let second = finish(bench.netburn(options)).expect(0);
    assert!(
        second.stderr.contains("the models are those of the last fit") && !second.stderr.contains("fitting models"),
        "{}",
        second.stderr
    );
    let [lost, first, second]: [Value; 3] = [lost, first, second].map(|done| done.json());
    assert_eq!((&lost, &first), (&first, &second));
}
