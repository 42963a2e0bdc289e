//! Runs one workload on many stations against a server and prints one metric per line.
//!
//! `load-test ADDRESS KIND STATIONS SECONDS [PATH]`: KIND is the name of a workload, or `flood` for 112 Mbit/s of datagrams
//! from each station. With PATH, it fetches this path, of any size.

use netburn_traffic::client::{Resource, Target};
use netburn_traffic::clock::RunClock;
use netburn_traffic::drive::{CancelToken, Load, on_thread};
use netburn_units::{ByteSize, Duration, Instant, Seed};
use netburn_workload::config::{MAX_PACKET_SIZE, MIN_PACKET_PERIOD, PacketStream, Streams};
use netburn_workload::kinds::Packets;
use netburn_workload::{Config, Outcome, Workload};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, kind, stations, seconds, path @ ..] = arguments.as_slice() else {
        return Err("load-test ADDRESS KIND STATIONS SECONDS [PATH]".into());
    };
    let config = match kind.as_str() {
        "flood" => flood(),
        other => Config::preset(other).ok_or_else(|| format!("unknown workload {other}"))?,
    };
    let mut target = Target::new(address.parse()?);
    if let [path] = path {
        target.resource = Resource::Get(path.clone());
    }
    let target = Arc::new(target);
    let end = Instant::ZERO + Duration::from_nanos((seconds.parse::<f64>()? * 1e9) as u64);
    // Bytes after the end would count as if they had been moved before.
    let drain = match config.interval() {
        Some(_) => Duration::from_secs(5),
        None => Duration::ZERO,
    };
    let loads = (0..stations.parse()?)
        .map(|station| Load {
            station,
            workload: 0,
            machine: Workload::new(config.clone(), Instant::ZERO, end, end + drain, Seed(1), station.into()),
            target: Arc::clone(&target),
        })
        .collect();
    let _ = netburn_platform::raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let (rows, mut received) = tokio::sync::mpsc::unbounded_channel();
    let begun = std::time::Instant::now();
    let clock = RunClock::starting_at(begun + std::time::Duration::from_millis(50));
    let report = runtime.block_on(on_thread(loads, clock, rows, CancelToken::never()))?;
    let mut latencies = Vec::new();
    let mut outcomes = std::collections::BTreeMap::new();
    while let Ok(batch) = received.try_recv() {
        for row in batch {
            if let netburn_record::Row::Operation(row) = row {
                *outcomes.entry(row.operation.outcome).or_insert(0_u64) += 1;
                if row.operation.outcome == Outcome::Finished {
                    latencies.extend(row.operation.latency().map(|l| l.as_nanos() / 1000));
                }
            }
        }
    }
    latencies.sort_unstable();
    let at = |share: f64| {
        latencies
            .get((latencies.len() as f64 * share) as usize)
            .copied()
            .unwrap_or(0)
    };
    let span = end.as_secs_f64();
    let rate = |bytes: u64| bytes as f64 * 8e-9 / span;
    for (outcome, count) in outcomes {
        println!("{:<24} {count}", format!("{outcome:?}").to_lowercase());
    }
    for (name, value) in [
        ("operations_per_s", report.finished as f64 / span),
        ("gbps_down", rate(report.bytes_down)),
        ("gbps_up", rate(report.bytes_up)),
        ("latency_us_p50", at(0.5) as f64),
        ("latency_us_p99", at(0.99) as f64),
        ("lateness_us_p50", report.lateness_us_p50),
        ("lateness_us_p99", report.lateness_us_p99),
        ("lateness_us_max", report.lateness_us_max),
        ("missed_sends", report.missed_sends as f64),
        ("cpu", report.cpu),
    ] {
        println!("{name:<24} {value:.3}");
    }
    Ok(())
}

/// The highest rate of one stream: 10,000 packets of 1,400 B per second, from the station.
fn flood() -> Config {
    let up = PacketStream::single(MIN_PACKET_PERIOD, ByteSize::from_bytes(MAX_PACKET_SIZE));
    Config::with(|packets: &mut Packets| {
        packets.streams = Streams {
            up: Some(up),
            down: None,
        };
    })
}
