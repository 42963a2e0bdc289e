//! Whole runs in virtual time.

use crate::common::{Bench, finish, house, station};
use std::fs;
use std::path::Path;

const TABLES: [&str; 5] = ["operations", "intervals", "connections", "link", "events"];

/// Another station at it, whose signal changes.
const LOADER: &str = r#"
[station.loader]
joins = "home.5g"
signal = "-70 dBm"
workload = "download"
[[at]]
time = "2 s"
set = { "station.loader.signal" = "-80 dBm" }
"#;

/// A few seconds of it.
fn busy_house() -> String {
    house("3 s", "1 s") + LOADER
}

/// `run.json` without what may differ: the folder's name and netburn's version.
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
fn repeats_are_the_same_whatever_ran_at_once() {
    let bench = Bench::new();
    bench.write("house.toml", busy_house());
    let together = bench
        .simulate("house.toml", "three", &["--repeat", "3", "--format", "json"])
        .json();
    assert_eq!(together["repeats"].as_array().unwrap().len(), 3, "{together:#}");
    // The first of them is the scenario's own seed, alone.
    bench.simulate("house.toml", "alone", &[]);
    let operations = |folder: &str| fs::read(bench.path(folder).join("operations.parquet")).unwrap();
    assert!(operations("three/1") == operations("alone"));
}

#[test]
fn the_summary_says_what_the_air_did() {
    let bench = Bench::new();
    bench.write("house.toml", busy_house());
    let ended = finish(bench.netburn(["run", "house.toml", "--on", "simulate", "--format", "json"])).expect(0);
    let summary = ended.json();
    assert_eq!(summary["environment"], "simulate");
    assert_eq!(summary["self_check"]["ok"], true);
    let caller = station(&summary, "caller");
    // Nobody else was there: 2 × 5 ms, twice 56 µs for 92 + 38 bytes at 20 Mbit/s, and the air.
    let idle = caller["idle_latency_ms"].as_f64().unwrap();
    assert!((10.1..11.5).contains(&idle), "{idle} ms");
    let share = |name: &str| station(&summary, name)["airtime_share"].as_f64().unwrap();
    assert!((share("caller") + share("loader") - 1.0).abs() < 1e-6);
    assert!(share("loader") > share("caller"));
    // The line of 20 Mbit/s carries 18.8 of content (1448 of 1538 bytes); a third of the time the signal is too weak for that.
    let total = summary["totals"]["throughput_mbps"].as_f64().unwrap();
    assert!((9.4..18.9).contains(&total), "{total} Mbit/s");
    // While it is, the caller waits behind the loader: what is queued before the line.
    let calls = &caller["workloads"][0];
    assert!(calls["operations"].as_u64().unwrap() >= 20, "{calls:#}");
}

/// A folder below /proc can't be made by anybody.
#[test]
fn a_folder_that_can_not_be_made_is_named_and_nothing_was_measured() {
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
fn what_cannot_be_simulated_is_told() {
    let bench = Bench::new();
    for (change, said) in [
        ("station.loader.cc=vegas", "`reno`, `cubic` or `bbr`"),
        ("ap.home.queue_limit=\"0 packets\"", "packet"),
        ("station.caller.standard=802.11g", "802.11"),
        ("station.caller.signal=\"-105 dBm\"", "too weak"),
    ] {
        bench.write("house.toml", busy_house());
        let ended = finish(bench.netburn([
            "run",
            "house.toml",
            "--on",
            "simulate",
            "--out",
            "kept",
            "--set",
            change,
        ]))
        .expect(2);
        assert!(
            ended.stderr.contains(said),
            "{change}: `{said}` is not in:\n{}",
            ended.stderr
        );
        assert!(!bench.path("kept").exists(), "{change} leaves nothing behind");
    }
}
