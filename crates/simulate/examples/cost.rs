//! Cost of simulating a scenario: `cost SCENARIO [KEY=VALUE]…`.

use netburn_record::Row;
use netburn_scenario::{Environment, load};
use netburn_workload::Outcome;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut document = load(&arguments.next().expect("a scenario")).expect("a scenario");
    for change in arguments {
        let (key, value) = change.split_once('=').expect("KEY=VALUE");
        document.set(key, value).expect("a key of a scenario");
    }
    let (plan, _) = document.resolve_for(Environment::Simulate).expect("a good scenario");
    let begun = std::time::Instant::now();
    let mut bytes: BTreeMap<(u16, u16), u64> = BTreeMap::new();
    let mut latencies: BTreeMap<(u16, u16), Vec<f64>> = BTreeMap::new();
    let mut airtime: BTreeMap<u16, (f64, u64, u64)> = BTreeMap::new();
    // Connections from both ends: samples, window, round-trip time.
    let mut connections: BTreeMap<_, (u64, u64, u64, u32)> = BTreeMap::new();
    let mut ended: BTreeMap<(u16, u16, Outcome), u64> = BTreeMap::new();
    let mut stalls = 0;
    let done = netburn_simulate::run(&plan, |_, rows| {
        for row in rows {
            match row {
                Row::Interval(row) => {
                    *bytes.entry((row.station, row.workload)).or_default() += row.bytes_down + row.bytes_up
                }
                Row::Operation(row) => {
                    let key = (row.station, row.workload);
                    *ended
                        .entry((row.station, row.workload, row.operation.outcome))
                        .or_default() += 1;
                    if let Some(latency) = row.operation.latency() {
                        latencies.entry(key).or_default().push(latency.as_millis_f64());
                    }
                }
                Row::Air(row) => {
                    let of = airtime.entry(row.station).or_default();
                    of.0 += (row.airtime_down + row.airtime_up).as_secs_f64();
                    of.1 += row.mpdus;
                    of.2 += row.transmissions;
                }
                Row::Connection(row) => {
                    let side = matches!(row.side, netburn_record::Side::Server);
                    let of = connections.entry((row.station, row.workload, side)).or_default();
                    of.0 += 1;
                    of.1 += u64::from(row.cwnd);
                    of.2 += u64::from(row.rtt_us);
                    of.3 = of.3.max(row.retransmits);
                }
                Row::Event(row) if row.kind == netburn_record::EventKind::Stall => stalls += 1,
                _ => {}
            }
        }
        ControlFlow::Continue(())
    })
    .expect("it can be simulated");
    let took = begun.elapsed();
    for (key, outcome, count) in ended.iter().map(|((s, w, o), n)| ((s, w), o, n)) {
        println!(
            "station {} workload {}: {outcome:?} {count}",
            plan.stations[usize::from(*key.0)].name,
            key.1
        );
    }
    for (key, mut all) in latencies {
        all.sort_by(f64::total_cmp);
        let at = |p: f64| all[((all.len() as f64 * p) as usize).min(all.len() - 1)];
        println!(
            "station {} workload {}: {} operations, ms p50 {:.1} p95 {:.1} p99 {:.1} max {:.1}",
            plan.stations[usize::from(key.0)].name,
            key.1,
            all.len(),
            at(0.5),
            at(0.95),
            at(0.99),
            at(1.0)
        );
    }
    let seconds = plan.duration.as_secs_f64();
    for (key, bytes) in &bytes {
        println!(
            "station {} workload {}: {:.2} Mbit/s",
            plan.stations[usize::from(key.0)].name,
            key.1,
            *bytes as f64 * 8e-6 / seconds
        );
    }
    for (station, (airtime, mpdus, transmissions)) in airtime {
        println!(
            "station {}: airtime {:.3}, mean aggregate {:.1}",
            plan.stations[usize::from(station)].name,
            airtime / seconds,
            mpdus as f64 / transmissions.max(1) as f64
        );
    }
    for ((station, workload, server), (looks, cwnd, rtt, retransmits)) in connections {
        println!(
            "station {} workload {workload}, {}: window {:.1}, round trip {:.2} ms, {retransmits} sent again",
            plan.stations[usize::from(station)].name,
            if server { "server" } else { "station" },
            cwnd as f64 / looks as f64,
            rtt as f64 / 1e3 / looks as f64
        );
    }
    let total: u64 = bytes.values().sum();
    println!("total {:.2} Mbit/s, {stalls} stalls", total as f64 * 8e-6 / seconds);
    let segments = done.counters.data_segments.max(1);
    println!(
        "{segments} data segments, {} packets, {} connections: {:.3} s, {:.0} ns a data segment",
        done.counters.packets,
        done.counters.connections,
        took.as_secs_f64(),
        took.as_nanos() as f64 / segments as f64
    );
}
