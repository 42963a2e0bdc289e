//! Speed of the air model: processor time and nanoseconds per transmission, for saturated stations
//! of 802.11a and the anomaly.
//!
//! `cargo run --release -p netburn-medium --example speed [STATIONS SECONDS]`

#[path = "../tests/util/mod.rs"]
mod util;

use netburn_medium::aggregation::{Framing, Limits};
use netburn_medium::air::{Air, AirConfig, ChannelConfig, LinkConfig, NodeConfig};
use netburn_medium::config::{AdapterRate, Composition, Guard, HardwareQueue};
use netburn_medium::edca::EdcaParameters;
use netburn_medium::packet::NodeId;
use netburn_medium::phy::{Modulation, TxVector, ofdm::Rate};
use netburn_medium::rate::RateChoice;
use netburn_units::{Duration, Instant, Seed};
use std::time::Instant as Clock;
use util::{Cell, ampdu, fifo, ht20, offer, saturate};

fn main() {
    let given: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|given| given.parse().ok())
        .collect();
    if let [stations, seconds] = given[..] {
        saturated(stations, seconds as i64);
        return;
    }
    for stations in [5, 10, 20, 50, 100, 200] {
        saturated(stations, 10);
    }
    let short = |mcs, streams| ht20(mcs, streams, Guard::Ns400);
    let mut air = Cell {
        vectors: vec![short(7, 2), short(7, 2), short(0, 1)],
        limits: ampdu(Limits::PPDU),
        hardware: HardwareQueue::Aggregates(2),
        seed: 1,
        limit: AdapterRate::default(),
    }
    .open(fifo(1_000));
    let began = Clock::now();
    offer(&mut air, 3, 100, Instant::from_secs(30));
    report("three-station anomaly, FIFO, 30 s", began, &air, 0..=0);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("VmHWM")) {
        println!("{line}");
    }
}

fn saturated(stations: usize, seconds: i64) {
    let mut air = uplink(stations);
    let began = Clock::now();
    saturate(&mut air, stations, Instant::ZERO, Instant::from_secs(seconds));
    let what = format!("802.11a uplink, n = {stations}, {seconds} s");
    report(&what, began, &air, 1..=stations);
}

fn report(what: &str, began: Clock, air: &Air<u64>, senders: std::ops::RangeInclusive<usize>) {
    let spent = began.elapsed();
    let transmissions: u64 = senders.map(|node| air.account(NodeId(node as u16)).transmissions).sum();
    let each = spent.as_nanos() as f64 / transmissions as f64;
    println!(
        "{what}: {:.1} ms, {transmissions} transmissions, {each:.0} ns each",
        spent.as_secs_f64() * 1e3
    );
}

/// 802.11a at 54 Mbit/s with DCF and unlimited retries, as in Bianchi's model.
fn uplink(stations: usize) -> Air<u64> {
    let dcf = EdcaParameters {
        aifsn: 2,
        cw_min: 15,
        cw_max: 1_023,
        txop: Duration::ZERO,
    };
    let node = |links| NodeConfig {
        channel: 0,
        edca: [dcf; 4],
        hardware: HardwareQueue::Aggregates(1),
        composition: Composition::default(),
        rts_threshold: None,
        rts_rate: Modulation::Ofdm(Rate::M24),
        framing: Framing::PLAIN,
        limit: AdapterRate::default(),
        links,
    };
    let link = || LinkConfig {
        to: 0,
        vector: TxVector {
            modulation: Modulation::Ofdm(Rate::M54),
            ..ht20(0, 1, Guard::Ns800)
        },
        rate: RateChoice::Fixed,
        snr_db: None,
        limits: Limits {
            tries: u32::MAX,
            ..Limits::NONE
        },
    };
    let nodes = (0..=stations)
        .map(|n| node(if n == 0 { Vec::new() } else { vec![link()] }))
        .collect();
    let config = AirConfig {
        channels: vec![ChannelConfig::ofdm()],
        nodes,
        hidden: Vec::new(),
        seed: Seed(1),
    };
    Air::new(&config, (0..=stations).map(|_| fifo(1_000)).collect()).expect("vectors of the standard")
}
