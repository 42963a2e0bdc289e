//! Models of measured networks.

use crate::support::{Bench, finish};
use serde_json::{Value, json};
use std::fs;

/// One station behind a slow line: few packets to simulate.
const HOUSE: &str = r#"
[server.link]
delay = "8 ms"
[ap.home]
queue = "fq-codel"
wan = { down = "4 Mbit/s", up = "1 Mbit/s", delay = "3 ms", queue = "64 KiB" }
[ap.home.radio.5g]
standard = "802.11ac"
[station.laptop]
joins = "home.5g"
signal = "-60 dBm"
workload = "browsing"
"#;

#[test]
fn a_measured_network_becomes_a_scenario() {
    let bench = Bench::new();
    bench.write("house.toml", HOUSE);
    let measure = finish(bench.netburn(["scenarios", "measure", "--house", "house.toml"])).expect(0);
    // Idle, down, up: three phases of 4 s and two pauses of 2 s. The downlink and the uplink are each busy for 4 s, which is
    // 50 MB at 100 Mbit/s.
    assert!(
        measure.stderr.contains("at most 50 MB down and 50 MB up"),
        "{}",
        measure.stderr
    );
    bench.write("measure.toml", measure.out());
    bench.simulate("measure.toml", "run", &[]);

    // The load was that of the measurement, so the report leads to the models. The scenario describes the network, so they are
    // named.
    let report = finish(bench.netburn(["report", "run"])).expect(0);
    assert!(
        report.out().contains("`netburn explain run --model run`") && !report.out().contains("Likely causes"),
        "{}",
        report.out()
    );

    let fit = finish(bench.netburn(["fit", "run", "--out", "fitted.toml", "--format", "json"])).expect(0);
    let result: Value = fit.json();
    assert_eq!(result["schema"], "netburn.fit/1");
    let estimates = result["estimates"].as_array().unwrap();
    let down = estimates.iter().find(|one| one["key"] == "ap.home.wan.down").unwrap();
    assert_eq!((&down["unit"], &down["identified"]), (&"Mbit/s".into(), &true.into()));
    assert!((down["median"].as_f64().unwrap() / 4.0 - 1.0).abs() < 0.05, "{down}");
    let limit = estimates
        .iter()
        .find(|one| one["key"] == "ap.home.queue_limit")
        .unwrap();
    assert_eq!(limit["identified"], false);
    assert!(
        limit["needs"]
            .as_str()
            .unwrap()
            .contains("a line faster than the Wi-Fi"),
        "{limit}"
    );
    assert!(fit.stderr.contains("not identified by this run"), "{}", fit.stderr);
    // The line of 4 Mbit/s has 3.77 Mbit/s of content, because content is 1448 of 1538 bytes.
    let observations = result["observations"].as_array().unwrap();
    let goodput = observations
        .iter()
        .find(|one| one["quantity"] == "goodput" && one["direction"] == "down")
        .unwrap();
    for key in ["measured", "modelled"] {
        let share = goodput[key].as_f64().unwrap() / (4.0 * 1_448.0 / 1_538.0);
        assert!((share - 1.0).abs() < 0.08, "{key}: {goodput}");
    }
    assert_eq!(goodput["inside"], true, "{goodput}");
    let phase = &result["phases"][goodput["phase"].as_u64().unwrap() as usize - 1];
    assert_eq!(phase["flows"], json!([{ "station": "laptop", "direction": "down" }]));

    // The page of the run shows the same model.
    let stored: Value = serde_json::from_str(&fs::read_to_string(bench.path("run/fit.json")).unwrap()).unwrap();
    assert_eq!(stored, result);
    let inside = observations.iter().filter(|one| one["inside"] == true).count();
    let sentence = format!(
        "The model behaves like the measurement in {inside} of {} values.",
        observations.len()
    );
    let page = fs::read_to_string(bench.path("run/report.html")).unwrap();
    assert!(page.contains(&sentence), "{sentence}");
    finish(bench.netburn(["report", "run", "--html", "again.html"])).expect(0);
    assert!(
        fs::read_to_string(bench.path("again.html"))
            .unwrap()
            .contains(&sentence)
    );

    let scenario = fs::read_to_string(bench.path("fitted.toml")).unwrap();
    assert_eq!(result["scenario"], scenario.as_str());
    assert!(
        scenario.contains("# - one station: how the access point shares"),
        "{scenario}"
    );
    bench.simulate("fitted.toml", "again", &[]);
}

#[test]
fn runs_that_are_no_measurement_are_an_error() {
    let bench = Bench::new();
    bench.write("house.toml", format!("duration = \"2 s\"\nbaseline = \"0 s\"\n{HOUSE}"));
    bench.simulate("house.toml", "run", &[]);
    let wrong = finish(bench.netburn(["fit", "run"])).expect(2);
    assert!(
        wrong
            .stderr
            .contains("the workload `browsing` of laptop is not part of a measurement"),
        "{}",
        wrong.stderr
    );
    assert!(wrong.stderr.contains("netburn scenarios measure"), "{}", wrong.stderr);
    finish(bench.netburn(["fit", "nowhere"])).expect(2);
}

/// A file of a house is read as any other scenario file: up to 1 MiB, and once, so that it can be a pipe.
#[test]
fn the_file_of_a_house_has_the_limit_of_scenario_files() {
    let bench = Bench::new();
    let comment = |size: usize| format!("{HOUSE}# {}\n", "x".repeat(size - HOUSE.len() - 3));
    bench.write("largest.toml", comment(1 << 20));
    bench.write("large.toml", comment((1 << 20) + 1));
    finish(bench.netburn(["scenarios", "measure", "--house", "largest.toml"])).expect(0);
    let large = finish(bench.netburn(["scenarios", "measure", "--house", "large.toml"])).expect(2);
    assert!(
        large.stderr.contains("file too large") && large.stderr.contains("1 MiB"),
        "{}",
        large.stderr
    );
    // /dev/zero never ends.
    let endless = finish(bench.netburn(["scenarios", "measure", "--house", "/dev/zero"])).expect(2);
    assert!(endless.stderr.contains("/dev/zero"), "{}", endless.stderr);
    let built_in = finish(bench.netburn(["scenarios", "measure", "--house", "four-uses"])).expect(0);
    assert!(built_in.out().contains("[station.tv]"), "{}", built_in.out());
}

#[test]
fn measurements_of_wrong_stations_are_an_error() {
    let bench = Bench::new();
    let stations = finish(bench.netburn(["scenarios", "measure", "laptop", "tv"]))
        .expect(0)
        .out();
    assert!(stations.contains("[station.tv]\n"), "{stations}");
    for wrong in [&["laptop", "laptop"][..], &["two words"], &["server"]] {
        finish(bench.netburn(["scenarios", "measure"].iter().chain(wrong))).expect(2);
    }
    let many: Vec<String> = (0..13).map(|number| format!("s{number}")).collect();
    let wrong = finish(
        bench.netburn(
            ["scenarios", "measure"]
                .into_iter()
                .chain(many.iter().map(String::as_str)),
        ),
    );
    assert!(wrong.expect(2).stderr.contains("at most 12"));
}

/// The line became twice as fast. A prediction with this change holds, and one without it does not.
#[test]
fn a_second_measurement_shows_whether_a_prediction_held() {
    let bench = Bench::new();
    bench.measure(HOUSE, "before", &["--seed", "1"]);
    let line = ["--set", "ap.home.wan.down=8 Mbit/s", "--set", "ap.home.wan.up=2 Mbit/s"];
    bench.measure(HOUSE, "after", &[&["--seed", "2"][..], &line].concat());

    let verify = |set: &[&str]| {
        let arguments = [&["verify", "before", "after", "--format", "json"][..], set].concat();
        finish(bench.netburn(arguments)).expect(0).json()
    };
    let with: Value = verify(&line);
    assert_eq!(
        (&with["schema"], &with["held"]),
        (&"netburn.verify/1".into(), &true.into()),
        "{with}"
    );
    let values = with["values"].as_array().unwrap();
    let down = values
        .iter()
        .find(|value| value["value"] == "laptop goodput down" && value["phase"] == "laptop down")
        .unwrap();
    // Content is 1448 of 1538 bytes.
    for (key, line) in [("before", 4.0), ("predicted", 8.0), ("after", 8.0)] {
        let share = down[key].as_f64().unwrap() / (line * 1_448.0 / 1_538.0);
        assert!((share - 1.0).abs() < 0.08, "{key}: {down}");
    }
    // A stored fit gives the same prediction without another fit. One that is torn is not used.
    let (used, made) = ("the models are those of the last fit", "fitting models");
    finish(bench.netburn(["fit", "before", "--out", "before.toml"])).expect(0);
    let again =
        finish(bench.netburn([&["verify", "before", "after", "--format", "json"][..], &line].concat())).expect(0);
    assert_eq!(again.json(), with);
    assert!(
        again.stderr.contains(used) && !again.stderr.contains(made),
        "{}",
        again.stderr
    );
    let without: Value = verify(&[]);
    assert_eq!(without["held"], false, "{without}");
    let stored = fs::read_to_string(bench.path("before/fit.json")).unwrap();
    bench.write("before/fit.json", &stored[..stored.len() / 2]);
    let torn =
        finish(bench.netburn([&["verify", "before", "after", "--format", "json"][..], &line].concat())).expect(0);
    assert_eq!(torn.json(), with);
    assert!(
        torn.stderr.contains("the stored models are not used: fit.json: ") && torn.stderr.contains(made),
        "{}",
        torn.stderr
    );

    bench.write("before/fit.json", stored);
    let refit = [&["verify", "before", "after", "--out", "both.toml"][..], &line].concat();
    let text = finish(bench.netburn(refit)).expect(0);
    assert!(text.out().starts_with("The prediction held: "), "{}", text.out());
    // The model of both is the network before the change, and with the change it is that of the second measurement.
    let both = fs::read_to_string(bench.path("both.toml")).unwrap();
    let kbps = both
        .lines()
        .find_map(|line| line.strip_prefix("down = \"")?.strip_suffix(" kbit/s\""));
    let share = kbps.unwrap().parse::<f64>().unwrap() / 4_000.0;
    assert!((share - 1.0).abs() < 0.08, "{both}");
    bench.simulate("both.toml", "now", &line);
    let twice = finish(bench.netburn(["fit", "before", "./before"])).expect(2);
    assert!(twice.stderr.contains("named twice"), "{}", twice.stderr);
    bench.measure(HOUSE, "again", &["--seed", "3"]);
    // A fit of several runs belongs to none of their folders.
    let stored = fs::read(bench.path("before/fit.json")).unwrap();
    let together = finish(bench.netburn(["fit", "before", "again", "--format", "json"]))
        .expect(0)
        .json();
    assert_eq!(together["phases"].as_array().unwrap().len(), 2 * 3);
    assert_eq!(fs::read(bench.path("before/fit.json")).unwrap(), stored);
    let missing = finish(bench.netburn(["fit", "before", "nowhere"])).expect(2);
    assert!(missing.stderr.contains("nowhere"), "{}", missing.stderr);
}

#[test]
fn a_prediction_needs_the_same_stations_and_a_valid_change() {
    let bench = Bench::new();
    for (name, station) in [("laptop", "laptop"), ("phone", "phone")] {
        let house = HOUSE.replace("station.laptop", &format!("station.{station}"));
        bench.measure(&house, name, &[]);
    }
    let other = finish(bench.netburn(["verify", "laptop", "phone"])).expect(2);
    assert!(
        other
            .stderr
            .contains("the first measurement has the stations laptop, and the second one phone"),
        "{}",
        other.stderr
    );
    let wrong = finish(bench.netburn(["verify", "laptop", "laptop", "--set", "ap.attic.queue=fifo"])).expect(2);
    assert!(wrong.stderr.contains("attic"), "{}", wrong.stderr);
    let measurement = finish(bench.netburn([
        "verify",
        "laptop",
        "laptop",
        "--set",
        "workload.to-server.interval=20ms",
    ]))
    .expect(2);
    assert!(
        measurement.stderr.contains("expected a change of the network"),
        "{}",
        measurement.stderr
    );
    let no_value = finish(bench.netburn(["verify", "laptop", "laptop", "--set", "ap.home.queue"])).expect(2);
    assert!(no_value.stderr.contains("KEY=VALUE"), "{}", no_value.stderr);
}
