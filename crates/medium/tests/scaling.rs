//! All rates divided by k and all fixed durations and limits multiplied by k: every instant is
//! multiplied by k, to the nanosecond.
//!
//! The PHY clock is k times slower, as in the standard's half-clocked and quarter-clocked OFDM.
//! CoDel is left out: its square root doesn't scale to the nanosecond. So is an adapter limit that
//! k doesn't divide: its rate is not an integer.

mod util;

use netburn_medium::aggregation::{Framing, Limits};
use netburn_medium::air::{Air, AirConfig, ChannelConfig, LinkConfig, NodeConfig, Output};
use netburn_medium::config::{AdapterRate, Aql, Composition, Guard, HardwareQueue, QueueLimit, Width};
use netburn_medium::edca::{EdcaParameters, Timing};
use netburn_medium::packet::NodeId;
use netburn_medium::phy::{Modulation, TxVector, ofdm};
use netburn_medium::queue::airtime::Airtime;
use netburn_medium::queue::codel::CodelParameters;
use netburn_medium::queue::fq::FqParameters;
use netburn_medium::queue::station_rr::StationRr;
use netburn_medium::rate::{MinstrelParameters, RateChoice};
use netburn_units::{BitRate, Duration, Instant, Seed};
use proptest::prelude::*;
use util::{Queue, fifo, packet};

/// Case to be scaled.
#[derive(Debug, Clone, Copy)]
struct Case {
    modulation: Modulation,
    /// `fifo`, `station-rr`, `airtime`, `airtime` with AQL.
    queue: u8,
    /// Fixed, ideal, Minstrel-like.
    rate: u8,
    hardware: u8,
    snr_db: Option<f64>,
    busy: f64,
    limited: bool,
    seed: u64,
}

/// Time, sender, receiver, packet, and true if it arrived.
type Seen = (i64, NodeId, NodeId, Option<u64>, bool);

impl Case {
    fn queue(&self, k: u64) -> Queue {
        let aql = Aql {
            low: Duration::from_millis(5) * k,
            high: Duration::from_millis(12) * k,
            total: Duration::from_millis(24) * k,
        };
        match self.queue {
            0 => fifo(30),
            1 => Box::new(StationRr::new(QueueLimit::Packets(20))),
            2 => airtime(k, None),
            _ => airtime(k, Some(aql)),
        }
    }

    fn config(&self, k: u64) -> AirConfig {
        let vector = TxVector {
            modulation: self.modulation,
            width: Width::Mhz20,
            guard: Guard::Ns800,
            streams: 1,
            signal_extension: false,
            short_preamble: false,
        };
        let limits = Limits {
            ampdu: true,
            frames: 16,
            window: 16,
            time: Duration::from_millis(3) * k,
            bytes: 65_535,
            amsdu: 3_839,
            tries: 4,
        };
        let rate = match self.rate {
            0 => RateChoice::Fixed,
            1 => RateChoice::Ideal,
            _ => RateChoice::Minstrel(MinstrelParameters {
                update: Duration::from_millis(50) * k,
                probe: Duration::from_millis(20) * k,
                ..MinstrelParameters::default()
            }),
        };
        let link = |to| LinkConfig {
            to,
            vector,
            rate,
            snr_db: self.snr_db,
            limits,
        };
        let node = |links: &[usize]| NodeConfig {
            channel: 0,
            edca: EdcaParameters::default_set(15).map(|parameters| EdcaParameters {
                txop: parameters.txop * k,
                ..parameters
            }),
            hardware: match self.hardware {
                0 => HardwareQueue::Aggregates(2),
                1 => HardwareQueue::Frames(40),
                _ => HardwareQueue::Time(Duration::from_millis(5) * k),
            },
            composition: Composition::default(),
            rts_threshold: Some(3_000),
            rts_rate: Modulation::Ofdm(ofdm::Rate::M24),
            framing: Framing::CCMP,
            limit: AdapterRate {
                down: self.limited.then_some(BitRate::from_bps(8_000_000 / k)),
                ..AdapterRate::default()
            },
            links: links.iter().copied().map(link).collect(),
        };
        AirConfig {
            channels: vec![ChannelConfig {
                timing: Timing::OFDM.slower(k),
                busy: self.busy,
                ..ChannelConfig::ofdm()
            }],
            nodes: vec![node(&[1, 2, 3]), node(&[0]), node(&[0]), node(&[0])],
            hidden: vec![(1, 2)],
            seed: Seed(self.seed),
        }
    }

    /// An access point and three stations exchange packets, with every fixed duration multiplied by
    /// `k`.
    fn run(&self, k: u64) -> Vec<Seen> {
        let mut air: Air<u64> = Air::new(&self.config(k), (0..4).map(|_| self.queue(k)).collect()).unwrap();
        let mut seen = Vec::new();
        let mut number = 0;
        let drain = |air: &mut Air<u64>, seen: &mut Vec<Seen>| {
            while let Some(output) = air.poll_output() {
                match output {
                    Output::Delivered { at, from, to, packet } => {
                        seen.push((at.as_nanos(), from, to, Some(packet.payload), true));
                    }
                    Output::Dropped {
                        at, from, to, packet, ..
                    } => {
                        seen.push((at.as_nanos(), from, to, packet.map(|packet| packet.payload), false));
                    }
                    Output::Sent { .. } | Output::Group { .. } => {}
                }
            }
        };
        for round in 0..120 {
            let now = Instant::from_nanos((3_000_000 * round * k) as i64);
            while let Some((at, _)) = air.poll_timeout().filter(|(at, _)| *at <= now) {
                air.handle_timeout(at);
                drain(&mut air, &mut seen);
            }
            for station in 1..4_u16 {
                for (from, to) in [(0, station), (station, 0)] {
                    number += 1;
                    let mut packet = packet(100 + 300 * u32::from(station), u32::from(station), number);
                    packet.tid = [0, 5, 6][usize::from(station) - 1];
                    air.handle_packet(now, NodeId(from), NodeId(to), packet);
                }
            }
            drain(&mut air, &mut seen);
        }
        seen
    }
}

/// Airtime fairness with all weights multiplied by `k`; CoDel's target is never reached.
fn airtime(k: u64, aql: Option<Aql>) -> Queue {
    let never = CodelParameters {
        target: Duration::from_secs(10_000),
        ..CodelParameters::MAC80211
    };
    let parameters = FqParameters {
        packets: 30,
        ..FqParameters::MAC80211
    };
    let mut queue = Airtime::new(parameters, never, aql);
    for node in 0..4 {
        queue.set_weight(NodeId(node), 256 * k as u32);
    }
    Box::new(queue)
}

fn modulation() -> impl Strategy<Value = Modulation> {
    prop_oneof![
        Just(Modulation::Ofdm(ofdm::Rate::M12)),
        (0_u8..8).prop_map(|mcs| Modulation::Ht { mcs }),
        (0_u8..9).prop_map(|mcs| Modulation::Vht { mcs }),
        (0_u8..12).prop_map(|mcs| Modulation::He { mcs }),
        (0_u8..14).prop_map(|mcs| Modulation::Eht { mcs }),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let signal = prop_oneof![Just(None), (3..40_i32).prop_map(|db| Some(f64::from(db)))];
    let busy = prop_oneof![Just(0.0), Just(0.3)];
    (
        modulation(),
        0_u8..4,
        0_u8..3,
        0_u8..3,
        signal,
        busy,
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(
            |(modulation, queue, rate, hardware, snr_db, busy, limited, seed)| Case {
                modulation,
                queue,
                rate,
                hardware,
                snr_db,
                busy,
                limited,
                seed,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn k_times_as_slow_is_k_times_as_late(case in case(), k in 2_u64..=12) {
        let case = Case { limited: case.limited && 8_000_000 % k == 0, ..case };
        let expected: Vec<Seen> = case.run(1).into_iter()
            .map(|(at, from, to, number, delivered)| (at * k as i64, from, to, number, delivered)).collect();
        let seen = case.run(k);
        prop_assert!(expected.len() > 50);
        prop_assert_eq!(seen, expected);
    }
}
