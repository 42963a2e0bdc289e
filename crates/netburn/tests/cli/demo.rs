//! `netburn demo`, simulated.

use crate::support::demo::{expect_page, expect_readable, row};
use crate::support::{Bench, finish, station};
use serde_json::Value;
use std::fs;

const SIMULATED: [&str; 5] = ["demo", "--on", "simulate", "--out", "shown"];

/// The summary of `netburn run` with the settings of the demonstration and this queue.
fn run(bench: &Bench, queue: &str) -> Value {
    let set = format!("ap.home.queue={queue}");
    let settings = [
        "--duration",
        "27 s",
        "--set",
        "station.tablet.start=6 s",
        "--set",
        &set,
        "--format",
        "json",
    ];
    bench.simulate("slow-neighbour", queue, &settings).json()
}

#[test]
fn the_built_in_slow_neighbour_fails_until_its_queue_shares_the_airtime() {
    let bench = Bench::new();
    let verdict = |folder: &str, more: &[&str]| {
        let more = [more, &["--format", "json"]].concat();
        let summary = bench.simulate("slow-neighbour", folder, &more).json();
        station(&summary, "laptop")["verdict"].clone()
    };
    assert_eq!(verdict("shipped", &[]), "fail");
    assert_eq!(verdict("fair", &["--set", "ap.home.queue=airtime"]), "pass");
}

#[test]
fn the_demo_shows_a_problem_its_cause_and_what_helps() {
    let bench = Bench::new();
    let ended = finish(bench.netburn(SIMULATED)).expect(0);
    let out = ended.out();
    assert!(out.starts_with("simulate: a model of Wi-Fi and TCP"), "{out}");
    assert!(
        out.contains("tablet is slow and uses too much airtime, which delays laptop"),
        "{out}"
    );
    assert!(
        out.contains("(best)") && out.contains("--set 'ap.home.queue=airtime'"),
        "{out}"
    );
    // Its values are those of `netburn run` without and with the change.
    for (place, queue) in ["fifo", "airtime"].into_iter().enumerate() {
        let summary = run(&bench, queue);
        let laptop = station(&summary, "laptop");
        let verdict = laptop["verdict"].as_str().unwrap();
        assert_eq!(row(&out, "verdict ")[place].trim_end_matches('*'), verdict);
        let browsing = &laptop["workloads"][0];
        let operations = browsing["operations"].as_u64().unwrap();
        let met = operations - browsing["goal_misses"].as_u64().unwrap();
        assert_eq!(
            row(&out, "browsing: page load ≤ 500 ms ")[place],
            format!("{met} of {operations}")
        );
        let rows = |folder: &str| fs::read(bench.path(folder).join("operations.parquet")).unwrap();
        assert!(rows(queue) == rows(["shown/before", "shown/after"][place]), "{queue}");
    }
    assert_eq!(row(&out, "verdict "), ["fail", "pass*"]);
    expect_readable(&ended);
    expect_page(&bench, &out);
}

#[test]
fn a_simulated_demo_is_the_same_each_time() {
    let bench = Bench::new();
    let demo = |folder: &str, seed: &str| {
        let args = ["demo", "--on", "simulate", "--out", folder, "--seed", seed];
        let out = finish(bench.netburn(args)).expect(0).out();
        out.replace(&format!("{folder}/demo.html"), "PAGE")
    };
    let first = demo("first", "7");
    assert_eq!(first, demo("second", "7"));
    assert_ne!(first, demo("other", "8"));
}
