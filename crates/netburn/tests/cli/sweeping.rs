//! Sweeps: their rows, their continuation after a kill, and invalid input.

use crate::support::{Bench, finish, finished_runs, house, start};
use std::fs;

/// The time of 100 objects of `voip`, one of which is due every 131 ms.
fn hundred_calls() -> String {
    house("13100 ms", "500 ms")
}

/// Fields of a CSV whose fields need no quotes.
fn fields(line: &str) -> Vec<&str> {
    line.split(',').collect()
}

#[test]
fn every_combination_is_a_row_with_the_expected_values() {
    let bench = Bench::new();
    bench.write("house.toml", hundred_calls());
    let delays = "server.link.delay=5ms..45ms..20";
    let args = [
        "sweep",
        "house.toml",
        "--vary",
        delays,
        "--vary",
        "ap.home.queue=fifo,airtime",
        "--out",
        "swept",
        "--metric",
        "caller.probe.p50_ms",
    ];
    let text = finish(bench.netburn(args)).expect(0).out();
    assert!(text.starts_with("simulate: a model of Wi-Fi and TCP"), "{text}");
    let csv = fs::read_to_string(bench.path("swept/rows.csv")).unwrap();
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    let header = fields(lines[0]);
    assert_eq!(header[..4], ["run", "server.link.delay", "ap.home.queue", "run_seed"]);
    let column = |name: &str| header.iter().position(|known| *known == name).unwrap();
    assert_eq!(lines.len(), 1 + 6);
    for (line, (number, (delay, queue))) in lines[1..].iter().zip((1..).zip([
        (5.0, "fifo"),
        (5.0, "airtime"),
        (25.0, "fifo"),
        (25.0, "airtime"),
        (45.0, "fifo"),
        (45.0, "airtime"),
    ])) {
        let row = fields(line);
        assert_eq!(row[..3], [number.to_string(), format!("{delay}ms"), queue.to_owned()]);
        // The operation in progress at the end has its drain.
        assert_eq!(row[column("caller.voip.operations")], "100");
        // 16 KiB each. All except possibly the last one are within the load.
        let throughput: f64 = row[column("caller.throughput_mbps")].parse().unwrap();
        let frames = throughput * 13.1e6 / f64::from(16 * 1024 * 8);
        assert!((99.0 - 1e-4..100.0 + 1e-4).contains(&frames), "{frames}: {line}");
        // The round trip over the wire, and the airtime of two short exchanges.
        let probe: f64 = row[column("caller.probe.p50_ms")].parse().unwrap();
        assert!((2.0 * delay + 0.05..2.0 * delay + 1.0).contains(&probe), "{line}");
    }
    assert!(
        text.contains("caller.probe.p50_ms (ms) over server.link.delay\nap.home.queue = fifo\n  5ms   █"),
        "{text}"
    );
    // Another number of processors gives the same rows. No run is repeated.
    let before = finished_runs(&bench.path("swept"));
    let again = finish(bench.netburn(args.into_iter().chain(["--format", "csv"]))).expect(0);
    assert!(
        again.stderr.contains("6 runs, 6 of 6 runs finished already"),
        "{}",
        again.stderr
    );
    assert_eq!(again.out(), csv);
    assert_eq!(finished_runs(&bench.path("swept")), before);
    let alone = args[..6]
        .iter()
        .copied()
        .chain(["--out", "alone", "--jobs", "1", "--format", "csv"]);
    assert_eq!(finish(bench.netburn(alone)).expect(0).out(), csv);
    let svg = fs::read_to_string(bench.path("swept/chart.svg")).unwrap();
    assert!(
        svg.starts_with("<svg ") && svg.contains("ap.home.queue = airtime"),
        "{svg}"
    );
}

#[test]
fn a_killed_sweep_continues() {
    let bench = Bench::new();
    bench.write("house.toml", house("20 s", "500 ms"));
    let sweep = |folder: &str| {
        bench.netburn([
            "sweep",
            "house.toml",
            "--vary",
            "seed=1..60",
            "--out",
            folder,
            "--jobs",
            "1",
            "--format",
            "csv",
        ])
    };
    let mut running = start(sweep("cut"));
    let folder = bench.path("cut");
    running.wait_for("a few runs", |_| finished_runs(&folder).len() >= 3);
    running.signal("KILL");
    running.finish();
    let kept = finished_runs(&folder);
    assert!((3..60).contains(&kept.len()), "{} runs were finished", kept.len());
    // The state that a killed sweep can leave: a partial file does not count as a finished run.
    fs::write(folder.join("runs/60.json"), "{\"run\":60,").unwrap();
    let rest = finish(sweep("cut")).expect(0);
    assert!(
        rest.stderr
            .contains(&format!("{} of 60 runs finished already", kept.len())),
        "{}",
        rest.stderr
    );
    let after = finished_runs(&folder);
    assert_eq!(after.len(), 60);
    assert!(
        kept.iter().all(|(name, facts)| after[name] == *facts),
        "none is run twice"
    );
    let whole = finish(sweep("whole")).expect(0);
    assert_eq!(rest.out(), whole.out());
    let parquet = |folder: &str| fs::read(bench.path(folder).join("rows.parquet")).unwrap();
    assert!(parquet("cut") == parquet("whole"));
}

#[test]
fn an_interrupted_sweep_keeps_finished_runs_and_prints_the_command_to_continue() {
    let bench = Bench::new();
    bench.write("house.toml", house("20 s", "500 ms"));
    let args = [
        "sweep",
        "house.toml",
        "--vary",
        "seed=1..400",
        "--out",
        "cut",
        "--format",
        "csv",
    ];
    let mut running = start(bench.netburn(args));
    let folder = bench.path("cut");
    running.wait_for("a few runs", |_| finished_runs(&folder).len() >= 3);
    running.signal("INT");
    let ended = running.finish();
    let kept = finished_runs(&folder).len();
    let ended = ended.expect(3);
    assert!(
        ended.stderr.contains(&format!(
            "interrupted: {kept} runs are finished, {} are not; the same command with --out cut continues",
            400 - kept
        )),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.out().lines().count(), 1 + kept);
    assert_eq!(fs::read_to_string(folder.join("rows.csv")).unwrap(), ended.out());
}

/// A run of 1 h takes longer than the wait for the folder.
#[test]
fn a_sweep_that_is_interrupted_in_its_first_run_prints_no_results() {
    let bench = Bench::new();
    bench.write("house.toml", house("1 h", "500 ms"));
    let args = [
        "sweep",
        "house.toml",
        "--vary",
        "seed=1..8",
        "--jobs",
        "1",
        "--out",
        "cut",
    ];
    let mut running = start(bench.netburn(args));
    let folder = bench.path("cut");
    running.wait_for("the folder", |_| folder.join("sweep.json").exists());
    running.signal("INT");
    let ended = running.finish();
    assert_eq!(finished_runs(&folder).len(), 0);
    let ended = ended.expect(3);
    assert_eq!(ended.out(), "");
    let last = ended.stderr.lines().last().unwrap_or_default();
    assert_eq!(
        last,
        "interrupted before the first run was finished; the same command with --out cut continues"
    );
}

/// Two stations on wires of their own with 8 Mbit/s each, one of them behind a modem. 1448 of 1538 bytes on the wire
/// are content, so 8 Mbit/s carry 7.53 Mbit/s. A probe is queued behind the upload.
const DESKS: &str = r#"
duration = "4 s"
warmup = "1 s"
baseline = "500 ms"
drain = "1 s"
[server]
link = { rate = "10 Gbit/s", delay = "2 ms" }
[station.near]
link = { rate = "8 Mbit/s", ring = 4 }
workload = ["upload", "probe"]
[station.far]
link = { rate = "8 Mbit/s", ring = 4, device = "100 Mbit/s", queue = "60 kB" }
workload = ["upload", "probe"]
"#;

#[test]
fn a_change_of_several_keys_is_judged_for_each_station() {
    let bench = Bench::new();
    bench.write("desks.toml", DESKS);
    // Half the rate gives half the throughput for all stations. A probe passes packets queued in its own host, but not
    // those in the modem.
    let judge = |vary: &str, out: &str, more: &[&str]| {
        let args = [
            "sweep",
            "desks.toml",
            "--repeat",
            "8",
            "--judge",
            "--vary",
            vary,
            "--out",
            out,
        ];
        finish(bench.netburn(args.iter().chain(more))).expect(0).out()
    };
    let text = judge("station.*.link.rate=8 Mbit/s,4 Mbit/s", "rates", &[]);
    for printed in [
        "station.*.link.rate, every value compared with 8 Mbit/s",
        "4 Mbit/s against 8 Mbit/s",
        "8 runs of desks on simulate, against 8 runs",
        "Same seeds: the runs are compared in pairs.",
    ] {
        assert!(text.contains(printed), "{printed}: {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&judge("station.*.queue=fifo,fq-codel", "queues", &["--format", "json"])).unwrap();
    let judged = &json["judged"];
    assert_eq!(
        (&judged["key"], &judged["baseline"]),
        (&"station.*.queue".into(), &"fifo".into())
    );
    assert_eq!(judged["against"][0]["value"], "fq-codel");
    let metrics = judged["against"][0]["metrics"].as_array().unwrap();
    let of = |path: &str| metrics.iter().find(|metric| metric["metric"] == path).unwrap();
    for station in ["near", "far"] {
        let upload = of(&format!("stations.{station}.throughput_mbps"));
        let mbps = upload["baseline"].as_f64().unwrap();
        assert!((7.2..7.54).contains(&mbps), "{upload}");
        assert_eq!(upload["judgement"], "same");
        assert_eq!(upload["runs"], serde_json::json!([8, 8]));
    }
    let probe = |station: &str| of(&format!("stations.{station}.workloads.probe.latency_ms.p50"))["judgement"].clone();
    assert_eq!(
        (probe("near"), probe("far")),
        ("better".into(), "same".into()),
        "{judged}"
    );
    let csv = fs::read_to_string(bench.path("queues/judged.csv")).unwrap();
    assert_eq!(csv.split_terminator("\r\n").count(), 1 + metrics.len());
    let rates = fs::read_to_string(bench.path("rates/judged.csv")).unwrap();
    let slower = rates
        .split_terminator("\r\n")
        .filter(|line| line.contains(".throughput_mbps,"));
    let slower: Vec<&str> = slower.collect();
    assert_eq!(slower.len(), 3);
    assert!(slower.iter().all(|line| line.ends_with(",worse")), "{slower:#?}");
}

/// The metrics of a comparison's document, each with its judgement and its p-values.
fn judgements(comparison: &serde_json::Value) -> Vec<(String, String, String)> {
    let metrics = comparison["metrics"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.to_string();
    metrics
        .map(|f| (text(&f["metric"]), text(&f["judgement"]), text(&f["p_corrected"])))
        .collect()
}

/// `sweep --judge` prints the same results as `compare --matrix` of its folder and, for two values, as `compare`.
#[test]
fn a_sweep_and_a_comparison_of_its_folder_agree() {
    let bench = Bench::new();
    bench.write("house.toml", house("4 s", "1 s"));
    let judged = |vary: &str, out: &str| {
        let args = [
            "sweep",
            "house.toml",
            "--repeat",
            "6",
            "--judge",
            "--format",
            "json",
            "--vary",
            vary,
            "--out",
            out,
        ];
        let sweep: serde_json::Value = finish(bench.netburn(args)).expect(0).json();
        let matrix = finish(bench.netburn(["compare", "--matrix", out, "--format", "json"]))
            .expect(0)
            .json();
        let against: Vec<_> = sweep["judged"]["against"]
            .as_array()
            .unwrap()
            .iter()
            .map(judgements)
            .collect();
        let compared: Vec<_> = matrix["comparisons"]
            .as_array()
            .unwrap()
            .iter()
            .map(judgements)
            .collect();
        assert_eq!(against, compared);
        against
    };
    assert_eq!(judged("server.link.delay=5 ms,15 ms,5500 us", "three").len(), 2);
    let two = judged("server.link.delay=5 ms,15 ms", "two");
    let files = |runs: std::ops::Range<u32>| runs.map(|run| format!("two/runs/{run}.json")).collect::<Vec<_>>();
    let args = ["compare".to_owned()]
        .into_iter()
        .chain(files(7..13))
        .chain(["--against".to_owned()])
        .chain(files(1..7));
    let compared = finish(bench.netburn(args.chain(["--format".to_owned(), "json".to_owned()])))
        .expect(0)
        .json();
    assert_eq!(two, [judgements(&compared)]);
    assert!(
        two[0].iter().any(|(_, judgement, _)| judgement == "\"worse\""),
        "{two:?}"
    );
}

/// A queue for no packet makes a cell impossible. The other cells run.
#[test]
fn impossible_cells_are_rows_on_request() {
    let bench = Bench::new();
    bench.write("house.toml", house("2 s", "1 s"));
    let vary = "ap.home.queue_limit=0 packets,50 packets,100 packets,150 packets,200 packets,250 packets,300 packets";
    let args = ["sweep", "house.toml", "--vary", vary, "--repeat", "2", "--out", "swept"];
    let rejected = finish(bench.netburn(args)).expect(2);
    assert!(
        rejected.stderr.contains("1 of 7 cells are invalid, and no cell ran:"),
        "{}",
        rejected.stderr
    );
    assert!(
        rejected.stderr.contains("help: --skip-impossible"),
        "{}",
        rejected.stderr
    );

    let skipping: Vec<&str> = args
        .iter()
        .copied()
        .chain(["--skip-impossible", "--format", "csv"])
        .collect();
    let ended = finish(bench.netburn(&skipping)).expect(0);
    assert!(
        ended.stderr.contains("1 of 7 cells are invalid and skipped:"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("expected packets or bytes, more than 0"),
        "{}",
        ended.stderr
    );
    let csv = ended.out();
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 1 + 1 + 6 * 2, "{csv}");
    let impossible: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| line.contains("impossible"))
        .collect();
    assert_eq!(impossible.len(), 1);
    assert!(impossible[0].starts_with("1,0 packets,,impossible,,"), "{impossible:?}");
    assert!(
        impossible[0].trim_end_matches(',').ends_with("impossible"),
        "nothing else is known: {impossible:?}"
    );
    // Finished runs are not repeated. A comparison of the folder does not report missing runs.
    let again = finish(bench.netburn(&skipping)).expect(0);
    assert!(
        again.stderr.contains("12 of 12 runs finished already"),
        "{}",
        again.stderr
    );
    assert_eq!(again.out(), csv);
    let matrix = finish(bench.netburn(["compare", "--matrix", "swept", "--baseline", "50 packets"])).expect(0);
    assert!(!matrix.stderr.contains("finished"), "{}", matrix.stderr);
    let other = finish(bench.netburn(args)).expect(2);
    assert!(other.stderr.contains("are invalid"), "{}", other.stderr);
    let judged = [
        "sweep",
        "house.toml",
        "--vary",
        "ap.home.queue_limit=0 packets,50 packets",
        "--skip-impossible",
        "--judge",
    ];
    let table = finish(bench.netburn(judged)).expect(0).out();
    assert!(table.contains("Nothing to compare"), "{table}");
}

#[test]
fn invalid_arguments_of_sweep_are_errors() {
    let bench = Bench::new();
    bench.write("house.toml", hundred_calls());
    fs::create_dir(bench.path("taken")).unwrap();
    bench.write("taken/notes", "mine");
    let first = ["sweep", "house.toml", "--vary", "seed=1,2", "--out", "mine"];
    finish(bench.netburn(first)).expect(0);
    for (args, printed) in [
        (&["--vary", "ap.home.queu=fifo"][..], "did you mean `ap.home.queue`?"),
        (&["--vary", "station.calller.signal=-60dBm"], "did you mean `caller`?"),
        (
            &["--vary", "station.cellar*.signal=-60dBm"],
            "--vary station.cellar*.signal=-60dBm: no station matches `cellar*`; did you mean `caller`?",
        ),
        (
            &[
                "--vary",
                "station.*.signal=-60dBm",
                "--vary",
                "station.caller.signal=-50dBm",
            ],
            "--vary station.*.signal contains --vary station.caller.signal: vary one of them",
        ),
        (
            &["--vary", "seed=1", "--judge"],
            "--judge needs a second value in --vary seed",
        ),
        (
            &["--vary", "seed=1,2", "--vary", "warmup=1ms,2ms", "--judge"],
            "--judge needs exactly one --vary, whose first value is the baseline",
        ),
        (&["--vary", "seed=5..1"], "empty range `5..1`"),
        (&["--vary", "seed=1", "--vary", "seed=2"], "duplicate --vary seed"),
        (&["--vary", "seed=1,1"], "duplicate value `1`"),
        (&["--vary", "repeat=1..3"], "--repeat N"),
        (
            &["--vary", "seed=1..1000", "--vary", "warmup=1ms..1000ms"],
            "1000000 runs are more than 10000: give fewer values, or --yes",
        ),
        (
            &["--vary", "seed=1..1000", "--vary", "warmup=1ms..1000ms"],
            "They would take about ",
        ),
        (
            &["--vary", "seed=1..1000000", "--vary", "warmup=1ms..1000ms"],
            "too many runs: found 1000000000, expected up to 10000000. They would take about ",
        ),
        (
            &["--vary", "ap.home.queue=fifo,fiffo"],
            "1 of 2 cells are invalid, and no cell ran:\n- --vary ap.home.queue=fiffo: ",
        ),
        (
            &["--vary", "seed=1", "--metric", "caller.voip.p59_ms"],
            "did you mean `caller.voip.p50_ms`?",
        ),
        (
            &["--vary", "seed=1,2", "--out", "taken"],
            "taken exists and is not a sweep",
        ),
        (
            &["--vary", "seed=1,2,3", "--out", "mine"],
            "mine contains another sweep: found other values of `seed`",
        ),
        (
            &["--vary", "warmup=1ms,2ms", "--out", "mine"],
            "mine contains another sweep: found the keys seed",
        ),
        (
            &["--vary", "seed=1,2", "--repeat", "2", "--out", "mine"],
            "mine contains another sweep: found 1 runs of each cell",
        ),
        (
            &["--vary", "seed=1,2", "--duration", "3s", "--out", "mine"],
            "mine contains another sweep: the scenario or its settings have changed",
        ),
        (
            &["--vary", "seed=1,2", "--set", "ap.home.queue=nope"],
            "2 of 2 cells are invalid",
        ),
    ] {
        let ended = finish(bench.netburn(["sweep", "house.toml"].iter().chain(args))).expect(2);
        assert!(ended.stderr.contains(printed), "{args:?}\n{}", ended.stderr);
        assert!(ended.stdout.is_empty());
    }
    assert!(!bench.path("sweeps").exists(), "a rejected sweep left a folder");
}

#[test]
fn the_last_shard_writes_the_results() {
    let bench = Bench::new();
    bench.write("house.toml", hundred_calls());
    let shard = |shard: &'static str| {
        let vary = "server.link.delay=5ms..45ms..20";
        finish(bench.netburn([
            "sweep",
            "house.toml",
            "--vary",
            vary,
            "--repeat",
            "2",
            "--out",
            "swept",
            "--shard",
            shard,
        ]))
    };
    let first = shard("1/2").expect(0);
    assert_eq!(first.out(), "");
    assert!(
        first
            .stderr
            .contains("shard 1/2 is finished; 3 runs of other shards are not."),
        "{}",
        first.stderr
    );
    assert!(!bench.path("swept/rows.csv").exists());
    let last = shard("2/2").expect(0);
    assert!(
        last.out().contains("server.link.delay  RUNS  VERDICT"),
        "{}",
        last.out()
    );
    let csv = fs::read_to_string(bench.path("swept/rows.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 6);
    // A probe over a link of 45 ms takes 90 ms: nine times that of 5 ms, less what the air takes of both.
    assert!(last.out().contains("server.link.delay explains "), "{}", last.out());
    let wrong = finish(bench.netburn([
        "sweep",
        "house.toml",
        "--vary",
        "seed=1,2",
        "--out",
        "x",
        "--shard",
        "3/2",
    ]));
    let text = wrong.expect(2).stderr;
    assert!(text.contains("expected K/N, such as 3/16"), "{text}");
    let wrong = finish(bench.netburn(["sweep", "house.toml", "--vary", "seed=1,2", "--shard", "1/2"])).expect(2);
    assert!(wrong.stderr.contains("--out"), "{}", wrong.stderr);
}

#[test]
fn a_precision_needs_a_metric_with_its_unit() {
    let bench = Bench::new();
    bench.write("house.toml", hundred_calls());
    let sweep = |more: &[&'static str]| {
        let fixed = [
            "sweep",
            "house.toml",
            "--vary",
            "ap.home.queue=fifo,airtime",
            "--out",
            "swept",
        ];
        let all: Vec<&str> = fixed.into_iter().chain(more.iter().copied()).collect();
        finish(bench.netburn(all))
    };
    let text = sweep(&["--precision", "5%"]).expect(2).stderr;
    assert!(text.contains("--metric"), "{text}");
    let metric = "caller.probe.p50_ms";
    let text = sweep(&["--precision", "5 Mbit/s", "--metric", metric]).expect(2).stderr;
    assert!(
        text.contains("--precision: found a precision in `Mbit/s`, expected the unit of caller.probe.p50_ms: ms"),
        "{text}"
    );
    // All runs are within a factor of two, so that six are enough.
    let text = sweep(&["--precision", "100%", "--metric", metric, "--repeat", "20"])
        .expect(0)
        .out();
    assert!(text.contains("fifo              6  "), "{text}");
    let csv = fs::read_to_string(bench.path("swept/cells.csv")).unwrap();
    assert!(csv.contains("\r\nairtime,6,"), "{csv}");
}
