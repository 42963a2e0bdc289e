//! Probes to the access point, to the first hop beyond the router and to the server.

use netburn_record::Row;
use netburn_record::row::{BASELINE, BASELINE_LINE, BASELINE_NEAR};
use netburn_record::summary::{SplitSummary, Summariser};
use netburn_record::{Header, RunStatus, Sink as _};
use netburn_scenario::{Document, Environment, Plan};
use netburn_workload::Outcome;
use std::ops::ControlFlow;

/// A line of 50/10 Mbit/s whose queue holds 1250 kB, 5 ms to the first hop beyond the router, and 20 ms more to the server.
fn plan(more: &str) -> Plan {
    let text = format!(
        "duration = \"20 s\"\nwarmup = \"5 s\"\nbaseline = \"2 s\"\n[server.link]\ndelay = \"20 ms\"\n[ap.home]\nqueue = \"airtime\"\n\
         wan = {{ down = \"50 Mbit/s\", up = \"10 Mbit/s\", delay = \"5 ms\", queue = \"1250 kB\" }}\n\
         [ap.home.radio.5g]\nstandard = \"802.11ac\"\nwidth = \"80 MHz\"\n[workload.near]\nkind = \"probe\"\ntarget = \"near\"\n\
         [workload.line]\nkind = \"probe\"\ntarget = \"line\"\n[station.phone]\njoins = \"home.5g\"\nmcs = 7\n\
         workload = [\"near\", \"line\", \"probe\"]\n{more}"
    );
    let document = Document::from_toml("house.toml", &text).unwrap();
    document.resolve_for(Environment::Simulate).unwrap().0
}

fn run(plan: &Plan) -> (Vec<Row>, SplitSummary) {
    let mut summariser = Summariser::new(Header::simulated(plan.clone()));
    let mut all = Vec::new();
    netburn_simulate::run(plan, |_, rows| {
        rows.iter().for_each(|row| summariser.put(row).unwrap());
        all.extend(rows);
        ControlFlow::Continue(())
    })
    .unwrap();
    let summary = summariser.finish("in memory", &RunStatus::Complete);
    (all, summary.stations[0].split.unwrap())
}

const LOAD: &str = "[station.laptop]\njoins = \"home.5g\"\nmcs = 7\nworkload = ";

/// Each probe has 92 bytes, and 38 of framing: 104 µs at 10 Mbit/s and 20.8 µs at 50 Mbit/s. The air takes less than 1 ms
/// each time. Only the server has a clock.
#[test]
fn idle_round_trips_are_those_of_the_hops() {
    let (rows, split) = run(&plan(""));
    let latencies = |workload: u16| -> Vec<f64> {
        let of = |row: &Row| match row {
            Row::Operation(row) if row.workload == workload && row.operation.outcome != Outcome::Cut => {
                assert_eq!(row.operation.far.is_some(), [2, BASELINE].contains(&workload));
                Some(row.operation.latency().unwrap().as_millis_f64())
            }
            _ => None,
        };
        rows.iter().filter_map(of).collect()
    };
    for (loaded, baseline, least) in [
        (0, BASELINE_NEAR, 0.1),
        (1, BASELINE_LINE, 10.125),
        (2, BASELINE, 50.125),
    ] {
        for workload in [loaded, baseline] {
            let found = latencies(workload);
            assert!(found.len() >= 39, "{} of workload {workload}", found.len());
            assert!(
                found.iter().all(|ms| (least..least + 1.5).contains(ms)),
                "{workload}: {found:?}"
            );
        }
    }
    let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 0.7;
    assert!(near(split.wifi.idle_ms, 0.5), "{split:?}");
    assert!(near(split.line.unwrap().idle_ms, 10.1), "{split:?}");
    assert!(near(split.server.unwrap().p50_ms, 40.0), "{split:?}");
    assert!(
        near(split.added_up_ms, 0.0) && near(split.added_down_ms, 0.0),
        "{split:?}"
    );
}

/// 1250 kB at 50 Mbit/s of wire bytes are 200 ms × 1538/1500 = 205 ms. CUBIC keeps the queue above 0.7 times the
/// bandwidth-delay product with a full queue: 0.7 × (205 + 50) − 50 = 128 ms. All of it is on the line, downstream.
#[test]
fn a_download_adds_its_delay_to_the_line_downstream() {
    let (_, split) = run(&plan(&format!("{LOAD}\"download\"\n")));
    let line = split.line.unwrap();
    let added = line.added_p50_ms().unwrap();
    assert!((110.0..206.0).contains(&added), "{split:?}");
    assert!(split.wifi.added_p95_ms().unwrap() < 10.0, "{split:?}");
    assert!(split.server.unwrap().added_p50_ms().unwrap().abs() < 2.0, "{split:?}");
    let (up, down) = (split.added_up_ms.unwrap(), split.added_down_ms.unwrap());
    assert!((down - added).abs() < 0.15 * added && up < 10.0, "{split:?}");
}

/// The same queue at 10 Mbit/s holds 1025 ms.
#[test]
fn an_upload_adds_its_delay_to_the_line_upstream() {
    let (_, split) = run(&plan(&format!("{LOAD}\"upload\"\n")));
    let added = split.line.unwrap().added_p50_ms().unwrap();
    assert!((400.0..1_030.0).contains(&added), "{split:?}");
    let (up, down) = (split.added_up_ms.unwrap(), split.added_down_ms.unwrap());
    assert!((up - added).abs() < 0.2 * added && down < 20.0, "{split:?}");
}

/// Without probes to other targets, no other baseline exists.
#[test]
fn the_server_alone_has_one_baseline() {
    let mut plan = plan("");
    plan.stations[0].workloads.drain(..2);
    netburn_simulate::run(&plan, |_, rows| {
        let others = |row: &Row| matches!(row, Row::Operation(row) if ![0, BASELINE].contains(&row.workload));
        assert!(!rows.iter().any(others));
        ControlFlow::Continue(())
    })
    .unwrap();
}
