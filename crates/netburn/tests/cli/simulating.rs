//! Whole runs in simulated time.

use crate::support::{Bench, finish, house, station};
use std::fs;
use std::path::Path;

const TABLES: [&str; 6] = ["operations", "intervals", "airtime", "connections", "link", "events"];

/// A second station, whose signal changes.
const LOADER: &str = r#"
[station.loader]
joins = "home.5g"
signal = "-70 dBm"
workload = "download"
[[at]]
time = "2 s"
set = { "station.loader.signal" = "-80 dBm" }
"#;

/// A few seconds of the network.
fn busy_house() -> String {
    house("3 s", "1 s") + LOADER
}

/// `run.json` without the folder's name and netburn's version.
fn document(folder: &Path) -> serde_json::Value {
    let mut document: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    document["summary"]["run"] = "".into();
    document
}

#[test]
fn the_same_seed_leaves_the_same_record() {
    let bench = Bench::new();
    bench.write("house.toml", busy_house());
    for (folder, seed) in [("one", "7"), ("two", "7"), ("other", "8")] {
        bench.simulate("house.toml", folder, &["--seed", seed]);
    }
    let table = |folder: &str, name: &str| fs::read(bench.path(folder).join(format!("{name}.parquet"))).unwrap();
    for name in TABLES {
        assert!(table("one", name) == table("two", name), "{name}");
    }
    assert_eq!(document(&bench.path("one")), document(&bench.path("two")));
    assert!(
        table("one", "operations") != table("other", "operations"),
        "another seed, another run"
    );
}

#[test]
fn runs_of_a_set_do_not_depend_on_concurrency() {
    let bench = Bench::new();
    bench.write("house.toml", busy_house());
    let together = bench
        .simulate("house.toml", "three", &["--repeat", "3", "--format", "json"])
        .json();
    assert_eq!(together["repeats"].as_array().unwrap().len(), 3, "{together:#}");
    // The first has the scenario's own seed, as a single run has.
    bench.simulate("house.toml", "alone", &[]);
    let operations = |folder: &str| fs::read(bench.path(folder).join("operations.parquet")).unwrap();
    assert!(operations("three/1") == operations("alone"));
}

#[test]
fn the_summary_has_the_airtime() {
    let bench = Bench::new();
    bench.write("house.toml", busy_house());
    let ended = finish(bench.netburn(["run", "house.toml", "--on", "simulate", "--format", "json"])).expect(0);
    let summary = ended.json();
    assert_eq!(summary["environment"], "simulate");
    assert_eq!(summary["self_check"]["ok"], true);
    let caller = station(&summary, "caller");
    // The channel was free: 2 × 5 ms of delay, twice 56 µs for 92 + 38 bytes at 20 Mbit/s, and the airtime.
    let idle = caller["idle_latency_ms"].as_f64().unwrap();
    assert!((10.1..11.5).contains(&idle), "{idle} ms");
    let share = |name: &str| station(&summary, name)["airtime_share"].as_f64().unwrap();
    assert!((share("caller") + share("loader") - 1.0).abs() < 1e-6);
    assert!(share("loader") > share("caller"));
    // A link of 20 Mbit/s carries 18.8 Mbit/s of content (1448 of 1538 bytes). For a third of the time the signal is
    // too weak.
    let total = summary["totals"]["throughput_mbps"].as_f64().unwrap();
    assert!((9.4..18.9).contains(&total), "{total} Mbit/s");
    // The caller's packets are queued behind those of the loader, before the link.
    let calls = &caller["workloads"][0];
    assert!(calls["operations"].as_u64().unwrap() >= 20, "{calls:#}");
}

/// No user can create a folder below /proc.
#[test]
fn a_record_folder_that_cannot_be_created_is_named() {
    let bench = Bench::new();
    bench.write("house.toml", busy_house());
    let run = ["run", "house.toml", "--on", "simulate", "--out", "/proc/x/y"];
    let twice = [&run[..], &["--repeat", "2"]].concat();
    let in_turns = [
        "run",
        "--interleave",
        "house.toml",
        "house.toml",
        "--on",
        "simulate",
        "--out",
        "/proc/x/y",
    ];
    let sweep = ["sweep", "house.toml", "--vary", "seed=1,2", "--out", "/proc/x/y"];
    for args in [&run[..], &twice, &in_turns, &sweep] {
        let ended = finish(bench.netburn(args)).expect(3);
        assert!(
            ended.stderr.contains("cannot create the folder /proc/x/y: "),
            "{args:?}: {}",
            ended.stderr
        );
    }
}

#[test]
fn scenarios_that_cannot_be_simulated_are_errors() {
    let bench = Bench::new();
    for (change, printed) in [
        ("station.loader.cc=vegas", "`reno`, `cubic` or `bbr`"),
        ("ap.home.queue_limit=\"0 packets\"", "packet"),
        ("station.caller.standard=802.11g", "802.11"),
    ] {
        bench.write("house.toml", busy_house());
        let ended = finish(bench.netburn([
            "run",
            "house.toml",
            "--on",
            "simulate",
            "--out",
            "saved",
            "--set",
            change,
        ]))
        .expect(2);
        assert!(
            ended.stderr.contains(printed),
            "{change}: `{printed}` is not in:\n{}",
            ended.stderr
        );
        assert!(!bench.path("saved").exists(), "{change} leaves nothing behind");
    }
}

/// The folder of a run, its document, and the plan alone are its scenario: each repeats the run, whose tables have the same
/// bytes.
#[test]
fn a_run_is_repeated_from_its_record() {
    let bench = Bench::new();
    bench.simulate("four-uses", "first", &["--duration", "3s", "--seed", "5"]);
    let document: serde_json::Value =
        serde_json::from_slice(&std::fs::read(bench.path("first/run.json")).unwrap()).unwrap();
    bench.write("plan.json", document["plan"].to_string());
    for (source, folder) in [
        ("first", "second"),
        ("first/run.json", "third"),
        ("plan.json", "fourth"),
    ] {
        bench.simulate(source, folder, &[]);
        for table in ["operations", "intervals", "airtime", "connections"] {
            let read = |run: &str| std::fs::read(bench.path(run).join(format!("{table}.parquet"))).unwrap();
            assert!(read(folder) == read("first"), "{table} from {source}");
        }
    }
}
