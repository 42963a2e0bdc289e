//! `netburn demo` in the lab, and without one.

use crate::support::demo::{expect_page, expect_readable};
use crate::support::{Bench, finish, start, station};
use serde_json::Value;
use std::fs;

#[test]
fn without_a_lab_the_demo_is_simulated_and_the_reason_is_printed() {
    let bench = Bench::new();
    let script = "echo 0 > /proc/sys/user/max_net_namespaces; exec \"$@\"";
    // A user namespace in which no network namespace can be created.
    let flags = ["--user", "--map-root-user"];
    let ended = finish(bench.inside(&flags, script, ["demo"])).expect(0);
    assert!(
        ended.stderr.contains("there can be no lab here") && ended.stderr.contains("namespaces"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.out().starts_with("simulate: a model of Wi-Fi and TCP"),
        "{}",
        ended.out()
    );
    let ended = finish(bench.inside(&flags, script, ["demo", "--on", "lab"])).expect(2);
    assert!(
        ended.stderr.contains("no lab") && ended.stdout.is_empty(),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_demo_runs_in_the_lab() {
    let bench = Bench::new();
    let mut demo = start(bench.netburn(["demo", "--on", "lab", "--out", "shown"]));
    // Each wait has a time limit of its own.
    demo.wait_for("the first run", |demo| demo.stdout_so_far().contains("3. Changes"));
    let ended = demo.finish().expect(0);
    let out = ended.out();
    expect_readable(&ended);
    expect_page(&bench, &out);
    let summary = |folder: &str| {
        let text = fs::read(bench.path(folder).join("run.json")).unwrap();
        serde_json::from_slice::<Value>(&text).unwrap()["summary"].clone()
    };
    assert_eq!(summary("shown/before")["environment"], "lab");
    // On a busy machine the values are simulated, and a message says so.
    let fell_back = ended.stderr.contains("The results of the lab are unreliable");
    assert_eq!(out.contains("(simulate)"), fell_back, "{out}{}", ended.stderr);
    for folder in ["shown/before-simulated", "shown/after-simulated"] {
        assert_eq!(bench.path(folder).exists(), fell_back, "{folder}: {}", ended.stderr);
    }
    if !fell_back {
        assert!(out.starts_with("lab: a model of an access point"), "{out}");
        let [before, after] = ["shown/before", "shown/after"].map(|folder| {
            let summary = summary(folder);
            station(&summary, "laptop")["workloads"][0]["goal_misses"]
                .as_u64()
                .unwrap()
        });
        // 7 of the 9 pages are due while the tablet downloads.
        assert!(
            before > 2 * after && before >= 4,
            "{before} and {after} pages missed the goal"
        );
    }
}

#[test]
fn ctrl_c_ends_a_demo_and_keeps_its_rows() {
    let bench = Bench::new();
    let mut demo = start(bench.netburn(["demo", "--on", "lab", "--out", "shown"]));
    demo.wait_for_load();
    demo.signal_group("INT");
    let ended = demo.finish().expect(3);
    assert!(
        ended
            .stderr
            .contains("interrupted; the rows so far are in shown/before"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.is_empty(), "{}", ended.out());
    finish(bench.netburn(["report", "shown/before"])).expect(0);
}
