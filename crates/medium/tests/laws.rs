//! Laws for arbitrary traffic.

mod util;

use netburn_medium::aggregation::{Framing, Limits};
use netburn_medium::air::{Air, AirConfig, ChannelConfig, LinkConfig, NodeConfig, Output};
use netburn_medium::config::{AdapterRate, Composition, Guard, HardwareQueue};
use netburn_medium::edca::EdcaParameters;
use netburn_medium::fuzz;
use netburn_medium::packet::{DropReason, NodeId};
use netburn_medium::phy::{Modulation, dsss::Rate};
use netburn_medium::rate::{MinstrelParameters, RateChoice};
use netburn_units::{BitRate, Duration, Instant, Seed};
use proptest::prelude::*;
use util::{Cell, Uplink, ampdu, fifo, goodput, ht20, offer, packet, saturate};

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every packet is delivered once, dropped once, or still queued. Packets keep their order, and
    /// timeouts make progress. `fuzz::air` has all laws.
    #[test]
    fn any_operations(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        fuzz::air::check(&bytes);
    }

    /// Delivered = min(offered, capacity); the capacity is the throughput of a saturated cell.
    #[test]
    fn delivered_is_the_lesser(mcs in 0_u8..8, percent in 10_u64..300, seed in 0_u64..100) {
        prop_assume!(!(95..=105).contains(&percent));
        let cell = Cell { vectors: vec![ht20(mcs, 1, Guard::Ns800)], limits: ampdu(Duration::from_millis(4)),
            hardware: HardwareQueue::Aggregates(2), seed, limit: AdapterRate::default() };
        let end = Instant::from_secs(4);
        let capacity = offer(&mut cell.open(fifo(1_000)), 1, 200, end)[0];
        let offered = capacity * percent as f64 / 100.0;
        let kbps = (offered * 1_500.0 / 1_472.0 * 1_000.0) as u64;
        let got = util::offer_kbps(&mut cell.open(fifo(1_000)), 1, kbps, end)[0];
        prop_assert!((got / offered.min(capacity) - 1.0).abs() < 0.02, "{got} of {offered}, capacity {capacity}");
    }

    /// The same with an adapter limit, in each direction, below the capacity of the air: delivered
    /// = min(offered, limit).
    #[test]
    fn an_adapter_limits_either_way(limit in 2_u64..40, percent in 10_u64..400, up in any::<bool>(), mcs in 5_u8..8,
        transfer in prop::option::of(1_u32..30)) {
        prop_assume!(!(98..=102).contains(&percent));
        let rate = Some(BitRate::from_mbps(limit));
        let cell = Cell { vectors: vec![ht20(mcs, 1, Guard::Ns800)], limits: ampdu(Duration::from_millis(4)),
            hardware: HardwareQueue::Aggregates(2), seed: 1,
            limit: if up { AdapterRate { up: rate, transfer, ..AdapterRate::default() } } else { AdapterRate { down: rate, ..AdapterRate::default() } } };
        let kbps = limit * 10 * percent;
        let got = util::offer_kbps(&mut cell.open(fifo(1_000)), 1, kbps, Instant::from_secs(4))[0] * 1_500.0 / 1_472.0;
        let expected = (kbps as f64 / 1_000.0).min(limit as f64);
        // Packets are transferred in groups, so the measured 3.6 s may end within one.
        let transfer = f64::from(transfer.unwrap_or(1)) * 1_500.0 * 8.0 / 3.6e6;
        prop_assert!((got - expected).abs() < 0.01 * expected + transfer, "{got} for {expected}");
    }

    /// The same seed yields the same trace; another seed, another trace.
    #[test]
    fn a_seed_determines_the_trace(seed in any::<u64>()) {
        let trace = |seed| {
            let mut air = Uplink { stations: 3, seed, snr_db: Some(20.0), limits: ampdu(Duration::from_millis(4)),
                rate: RateChoice::Minstrel(Default::default()), ..Uplink::default() }.open();
            air.trace();
            saturate(&mut air, 3, Instant::ZERO, Instant::from_millis(300));
            std::iter::from_fn(|| air.poll_transmission()).collect::<Vec<_>>()
        };
        prop_assert_eq!(trace(seed), trace(seed));
        prop_assert_ne!(trace(seed), trace(seed ^ 1));
    }
}

/// A full adapter drops packets and reports them.
#[test]
fn an_adapter_that_is_full_drops() {
    let cell = Cell {
        vectors: vec![ht20(7, 1, Guard::Ns800)],
        limits: ampdu(Duration::from_millis(4)),
        hardware: HardwareQueue::Aggregates(2),
        seed: 1,
        limit: AdapterRate {
            down: Some(BitRate::from_mbps(10)),
            ..AdapterRate::default()
        },
    };
    let mut air = cell.open(fifo(1_000));
    for number in 0..600 {
        air.handle_packet(Instant::ZERO, NodeId(0), NodeId(1), packet(1_500, 0, number));
    }
    let (mut delivered, mut full) = (0, 0);
    while let Some((at, _)) = air.poll_timeout() {
        air.handle_timeout(at);
        while let Some(output) = air.poll_output() {
            match output {
                Output::Delivered { .. } => delivered += 1,
                Output::Dropped { reason, .. } => full += u32::from(reason == DropReason::AdapterFull),
                Output::Sent { .. } | Output::Group { .. } => {}
            }
        }
    }
    // 600 packets arrive within about 120 ms, in which 100 pass; 256 are buffered.
    assert_eq!(delivered + full, 600);
    assert!((330..=380).contains(&delivered), "{delivered}");
}

/// Other networks get their share of the time, independent of other traffic. Cases: alone, with one
/// saturated station and with four, with single MPDUs and with aggregates. The stations share the
/// rest in proportion to their result without other networks, minus the cost of collisions.
#[test]
fn other_networks_get_their_share() {
    let end = Instant::from_secs(40);
    for (stations, limits) in [
        (0, Limits::NONE),
        (1, Limits::NONE),
        (1, ampdu(Duration::from_millis(4))),
        (4, Limits::NONE),
    ] {
        let run = |busy| {
            let mut air = Uplink {
                stations,
                limits,
                channel: ChannelConfig {
                    busy,
                    ..ChannelConfig::ofdm()
                },
                ..Uplink::default()
            }
            .open();
            let bytes: u64 = saturate(&mut air, stations, Instant::ZERO, end).iter().sum();
            air.handle_timeout(end);
            (air.channel_account(0), bytes as f64)
        };
        let (_, alone) = run(0.0);
        for busy in [0.1, 0.25, 0.5, 0.75, 0.9, 0.95] {
            let (account, bytes) = run(busy);
            let share = (account.others + account.overlapped).as_secs_f64() / end.as_secs_f64();
            // Collisions among four stations overlap as well.
            if stations < 2 {
                assert!((share / busy - 1.0).abs() < 0.03, "{stations}: {share} of {busy}");
            }
            if stations > 0 {
                let left = bytes / alone;
                assert!((left - (1.0 - busy)).abs() < 0.025, "{stations}: {left} beside {busy}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A single saturated station never loses more than 5 % if other networks use less, or if there
    /// are none, for every signal and rate control.
    #[test]
    fn less_competition_is_never_worse(
        mcs in 2_u8..8,
        streams in 1_u8..3,
        aggregates in any::<bool>(),
        rate in prop::sample::select(vec![RateChoice::Ideal, RateChoice::Minstrel(MinstrelParameters::default())]),
        snr_db in 5.0_f64..40.0,
        busy in (0.05_f64..0.4, 0.1_f64..0.5),
        others in 1_usize..4,
        seed in any::<u64>(),
    ) {
        let goodput = |stations: usize, busy: f64| {
            let mut air = Uplink {
                stations,
                vector: ht20(mcs, streams, Guard::Ns400),
                limits: if aggregates { ampdu(Duration::from_millis(4)) } else { Limits::NONE },
                rate,
                snr_db: Some(snr_db),
                seed,
                channel: ChannelConfig { busy, ..ChannelConfig::ofdm() },
                ..Uplink::default()
            }
            .open();
            saturate(&mut air, stations, Instant::ZERO, Instant::from_secs(2));
            saturate(&mut air, stations, Instant::from_secs(2), Instant::from_secs(12))[1] as f64
        };
        let (free, some, most) = (goodput(1, 0.0), goodput(1, busy.0), goodput(1, busy.0 + busy.1));
        prop_assert!(free >= 0.95 * some, "{free} alone, {some} beside {}", busy.0);
        prop_assert!(some >= 0.95 * most, "{some} beside {}, {most} beside {} more", busy.0, busy.1);
        let shared = goodput(1 + others, 0.0);
        prop_assert!(free >= 0.95 * shared, "{free} alone, {shared} beside {others}");
    }
}

/// Two stations that don't hear each other lose nearly all of their long frames. RTS and CTS
/// restore most of the throughput of two stations that hear each other.
#[test]
fn rts_helps_hidden_stations() {
    let total = |hidden: bool, rts_threshold| {
        let mut air = Uplink {
            stations: 2,
            limits: ampdu(Duration::from_millis(2)),
            hidden: if hidden { vec![(1, 2)] } else { Vec::new() },
            rts_threshold,
            ..Uplink::default()
        }
        .open();
        goodput(&mut air, &[0, 0], 10).iter().sum::<f64>()
    };
    let (heard, hidden, protected) = (total(false, None), total(true, None), total(true, Some(0)));
    println!("heard {heard:.1}, hidden {hidden:.1}, with RTS {protected:.1} Mbit/s");
    assert!(hidden < 0.5 * heard);
    assert!(protected > 0.8 * heard);
}

/// Channels are independent.
#[test]
fn channels_do_not_meet() {
    let node = |channel, links| NodeConfig {
        channel,
        edca: EdcaParameters::default_set(15),
        hardware: HardwareQueue::Aggregates(2),
        composition: Composition::default(),
        rts_threshold: None,
        rts_rate: Modulation::Dsss(Rate::M1),
        framing: Framing::QOS,
        limit: AdapterRate::default(),
        links,
    };
    let link = |to| {
        vec![LinkConfig {
            to,
            vector: ht20(7, 1, Guard::Ns800),
            rate: RateChoice::Fixed,
            snr_db: None,
            limits: ampdu(Duration::from_millis(4)),
        }]
    };
    let run = |second| {
        let config = AirConfig {
            channels: vec![ChannelConfig::ofdm(), ChannelConfig::ofdm()],
            nodes: vec![
                node(0, Vec::new()),
                node(0, link(0)),
                node(second, link(0)),
                node(1, Vec::new()),
            ],
            hidden: Vec::new(),
            seed: Seed(3),
        };
        let mut air: Air<u64> = Air::new(&config, (0..4).map(|_| fifo(1_000)).collect()).unwrap();
        saturate(&mut air, 1, Instant::ZERO, Instant::from_secs(2))[1]
    };
    assert_eq!(run(0), run(1));
}
