//! Saturated stations, compared with Bianchi's model as published for 802.11a.

use netburn_medium::aggregation::{Framing, Limits};
use netburn_medium::air::{Air, AirConfig, ChannelConfig, LinkConfig, NodeConfig, Output};
use netburn_medium::config::{AdapterRate, Composition, Guard, HardwareQueue, QueueLimit, Width};
use netburn_medium::edca::EdcaParameters;
use netburn_medium::packet::{Ecn, NodeId, Packet};
use netburn_medium::phy::{Modulation, TxVector, ofdm::Rate};
use netburn_medium::queue::driver::{Device, Order};
use netburn_medium::queue::fifo::Fifo;
use netburn_medium::rate::RateChoice;
use netburn_units::{Instant, Seed};

fn bianchi(n: usize, rate: Rate, eifs: bool, seconds: i64) -> f64 {
    let vector = TxVector {
        modulation: Modulation::Ofdm(rate),
        width: Width::Mhz20,
        guard: Guard::Ns800,
        streams: 1,
        signal_extension: false,
        short_preamble: false,
    };
    let dcf = EdcaParameters {
        aifsn: 2,
        cw_min: 15,
        cw_max: 1_023,
        txop: netburn_units::Duration::ZERO,
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
    let limits = Limits {
        tries: u32::MAX,
        ..Limits::NONE
    };
    let mut nodes = vec![node(Vec::new())];
    for _ in 0..n {
        nodes.push(node(vec![LinkConfig {
            to: 0,
            vector,
            rate: RateChoice::Fixed,
            snr_db: None,
            limits,
        }]));
    }
    // The model's EIFS uses the ACK at its own rate, and stations that collided wait for it like
    // all others.
    let ack = if rate == Rate::M6 { Rate::M6 } else { Rate::M24 };
    let channel = ChannelConfig {
        eifs: eifs.then_some(Modulation::Ofdm(ack)),
        failures_known_at_once: true,
        ..ChannelConfig::ofdm()
    };
    let config = AirConfig {
        channels: vec![channel],
        nodes,
        hidden: Vec::new(),
        seed: Seed(1),
    };
    let queue = || -> Box<dyn netburn_medium::queue::TransmitQueue<()>> {
        Box::new(Device::new(Fifo::new(QueueLimit::Packets(10)), 1, Order::Arrival))
    };
    let queues = (0..=n).map(|_| queue()).collect();
    let mut air = Air::new(&config, queues).unwrap();
    let packet = || Packet {
        length: 1_500,
        flow: 0,
        tid: 0,
        ecn: Ecn::NotEct,
        payload: (),
    };
    for station in 1..=n {
        for _ in 0..3 {
            air.handle_packet(Instant::ZERO, NodeId(station as u16), NodeId(0), packet());
        }
    }
    let end = Instant::from_secs(seconds);
    let mut bytes = 0_u64;
    while let Some((at, _)) = air.poll_timeout() {
        if at > end {
            break;
        }
        air.handle_timeout(at);
        while let Some(output) = air.poll_output() {
            if let Output::Delivered {
                at,
                from,
                packet: delivered,
                ..
            } = output
            {
                bytes += u64::from(delivered.length);
                air.handle_packet(at, from, NodeId(0), packet());
            }
        }
    }
    bytes as f64 * 8.0 / seconds as f64 / 1e6
}

/// In the published model, stations that collided wait for EIFS like all others. In the standard
/// they wait for the end of their ACK timeout and AIFS. Here as in the model.
#[test]
fn legacy_rows() {
    for (rate, eifs, expected) in [
        (Rate::M54, false, [29.8324, 28.1519, 26.2925, 23.5618]),
        (Rate::M54, true, [29.2861, 27.3763, 25.3325, 22.4162]),
        (Rate::M6, false, [4.7087, 4.3453, 3.9899, 3.5071]),
        (Rate::M6, true, [4.6899, 4.3197, 3.9589, 3.4711]),
    ] {
        for (n, expected) in [5, 10, 20, 50].into_iter().zip(expected) {
            let got = bianchi(n, rate, eifs, if rate == Rate::M6 { 100 } else { 20 });
            let off = got / expected - 1.0;
            assert!(off.abs() < 0.01, "{rate:?} {eifs} {n}: {got}");
            println!(
                "{rate:?} eifs {eifs} n={n}: {got:.4}, published {expected}, {:+.2} %",
                (got / expected - 1.0) * 100.0
            );
        }
    }
}
