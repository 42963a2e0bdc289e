//! Files that other tools write here are imported with the values that the tools print.

use crate::support::{Bench, finish, start, station};
use netburn_test_support::unused_address;
use serde_json::Value;
use std::process::Command;

/// Imports a file, and returns the workload of its station.
fn imported(bench: &Bench, file: &str) -> Value {
    finish(bench.netburn(["import", file, "--out", "run"])).expect(0);
    let report = finish(bench.netburn(["report", "run", "--format", "json"]))
        .expect(0)
        .json();
    let name = report["stations"][0]["name"].as_str().unwrap().to_owned();
    station(&report, &name)["workloads"][0].clone()
}

/// A duration of Go, such as `55.2µs`, in ms.
fn milliseconds(text: &str) -> f64 {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match &text[digits.len()..] {
        "ns" => 1e-6,
        "µs" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        other => panic!("{other}"),
    };
    digits.parse::<f64>().unwrap() * unit
}

/// irtt prints three digits, and ping three decimals.
#[track_caller]
fn same(imported: &Value, printed: f64, tolerance: f64) {
    let imported = imported.as_f64().unwrap();
    assert!(
        (imported - printed).abs() <= tolerance,
        "imported {imported}, printed {printed}"
    );
}

#[test]
fn a_file_of_irtt_has_the_values_that_irtt_prints() {
    let bench = Bench::new();
    let address = unused_address().to_string();
    let mut server = Command::new("irtt");
    server.args(["server", "-b", &address]);
    let mut server = start(bench.prepared(server));
    server.wait_for("the server", |run| run.stdout_so_far().contains("starting"));
    let mut client = Command::new("irtt");
    client.args(["client", "-i", "10ms", "-d", "1s", "-o", "irtt.json", &address]);
    let printed = finish(bench.prepared(client)).expect(0).out();
    server.signal("INT");
    server.finish();
    let values = |name: &str| -> Vec<String> {
        let line = printed
            .lines()
            .find(|line| line.trim_start().starts_with(name))
            .unwrap();
        line.trim_start()[name.len()..]
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    };
    let workload = imported(&bench, "irtt.json");
    let latency = &workload["latency_ms"];
    for (value, place) in [("min", 0), ("p50", 2), ("max", 3)] {
        let printed = milliseconds(&values("RTT ")[place]);
        same(&latency[value], printed, 0.01 * printed);
    }
    let counts = &values("packets sent/received:")[0];
    let (sent, received) = counts.split_once('/').unwrap();
    assert_eq!(workload["operations"].to_string(), sent);
    assert_eq!(latency["count"].to_string(), received);
}

#[test]
fn an_output_of_ping_has_the_values_that_ping_prints() {
    let bench = Bench::new();
    let mut ping = Command::new("ping");
    ping.args(["-c", "40", "-i", "0.02", "127.0.0.1"]);
    let printed = finish(bench.prepared(ping)).expect(0).out();
    bench.write("ping.txt", &printed);
    let latency = imported(&bench, "ping.txt")["latency_ms"].clone();
    let (_, summary) = printed.rsplit_once(" = ").unwrap();
    let values: Vec<f64> = summary
        .split(['/', ' '])
        .map_while(|value| value.parse().ok())
        .collect();
    let [min, _, max, _] = values[..] else {
        panic!("{printed}");
    };
    same(&latency["min"], min, 0.0015);
    same(&latency["max"], max, 0.0015);
    assert_eq!(latency["count"], 40);
}
