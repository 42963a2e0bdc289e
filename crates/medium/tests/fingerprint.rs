//! One scenario with all features has the same trace on every platform, to the nanosecond.
//!
//! A change of the model changes this number; the commit message then names the reason.

mod util;

use netburn_medium::aggregation::{Framing, Limits};
use netburn_medium::air::{Air, AirConfig, ChannelConfig, LinkConfig, NodeConfig, Output};
use netburn_medium::config::{AdapterRate, Aql, Composition, Guard, HardwareQueue};
use netburn_medium::edca::EdcaParameters;
use netburn_medium::packet::{Ecn, NodeId, Packet};
use netburn_medium::phy::{Modulation, TxVector, ofdm};
use netburn_medium::queue::airtime::Airtime;
use netburn_medium::queue::codel::CodelParameters;
use netburn_medium::queue::fq::FqParameters;
use netburn_medium::rate::{MinstrelParameters, RateChoice};
use netburn_units::{BitRate, Duration, Instant, Seed};
use util::{Queue, ampdu, fifo, ht20};

/// Digest of all transmissions and outputs.
const FINGERPRINT: u64 = 9_205_346_689_769_867_998;

/// An access point with airtime fairness, CoDel and AQL, and three stations. One uses Minstrel on a
/// noisy link. One uses the ideal rate and is hidden from the third. The third sends single frames
/// of voice at 65 Mbit/s through a slow adapter. RTS before long frames; other networks use a
/// fifth.
fn config() -> AirConfig {
    let link = |to, vector, rate, snr_db, limits| LinkConfig {
        to,
        vector,
        rate,
        snr_db,
        limits,
    };
    let (slow, fast) = (ht20(7, 1, Guard::Ns800), ht20(7, 2, Guard::Ns400));
    let he = TxVector {
        modulation: Modulation::He { mcs: 9 },
        ..slow
    };
    let minstrel = RateChoice::Minstrel(MinstrelParameters::default());
    let (long, amsdu) = (
        ampdu(Duration::from_millis(4)),
        Limits {
            amsdu: 3_839,
            ..ampdu(Limits::PPDU)
        },
    );
    let node = |links, down| NodeConfig {
        channel: 0,
        edca: EdcaParameters::default_set(15),
        hardware: HardwareQueue::Aggregates(2),
        composition: Composition::default(),
        rts_threshold: Some(20_000),
        rts_rate: Modulation::Ofdm(ofdm::Rate::M24),
        framing: Framing::CCMP,
        limit: AdapterRate {
            down,
            ..AdapterRate::default()
        },
        links,
    };
    AirConfig {
        channels: vec![ChannelConfig {
            busy: 0.2,
            ..ChannelConfig::ofdm()
        }],
        nodes: vec![
            node(
                vec![
                    link(1, fast, minstrel, Some(17.0), long),
                    link(2, he, RateChoice::Ideal, Some(30.0), amsdu),
                    link(3, slow, RateChoice::Fixed, None, long),
                ],
                None,
            ),
            node(vec![link(0, fast, minstrel, Some(14.0), long)], None),
            node(vec![link(0, he, RateChoice::Ideal, Some(28.0), amsdu)], None),
            node(
                vec![link(0, slow, RateChoice::Fixed, None, Limits::NONE)],
                Some(BitRate::from_mbps(7)),
            ),
        ],
        hidden: vec![(2, 3)],
        seed: Seed(20),
    }
}

#[test]
fn one_trace_everywhere() {
    let airtime = Airtime::new(FqParameters::MAC80211, CodelParameters::MAC80211, Some(Aql::default()));
    let queues: Vec<Queue> = vec![Box::new(airtime), fifo(100), fifo(100), fifo(100)];
    let mut air: Air<u64> = Air::new(&config(), queues).unwrap();
    air.trace();
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    let (mut number, mut drops, mut marks) = (0_u64, 0, 0);
    for round in 0..4_000_i64 {
        let now = Instant::from_micros(500 * round);
        air.handle_timeout(now);
        // Sender, receiver, length, TID and interval in rounds.
        for (from, to, length, tid, every, ecn) in [
            (3, 0, 200, 6, 40, Ecn::NotEct),
            (0, 1, 1_500, 0, 1, Ecn::Ect0),
            (0, 2, 1_400, 0, 1, Ecn::NotEct),
            (0, 3, 1_000, 5, 3, Ecn::NotEct),
            (1, 0, 1_500, 1, 4, Ecn::NotEct),
            (2, 0, 700, 0, 3, Ecn::NotEct),
        ] {
            if round % every == 0 {
                number += 1;
                let flow = u32::from(from * 4 + to);
                let packet = Packet {
                    length,
                    flow,
                    tid,
                    ecn,
                    payload: number,
                };
                air.handle_packet(now, NodeId(from), NodeId(to), packet);
            }
        }
        while let Some(output) = air.poll_output() {
            match output {
                Output::Delivered { at, from, to, packet } => {
                    marks += u32::from(packet.ecn == Ecn::Ce);
                    hash.take([
                        0,
                        at.as_nanos() as u64,
                        from.0.into(),
                        to.0.into(),
                        packet.payload,
                        packet.ecn as u64,
                    ]);
                }
                Output::Dropped {
                    at, from, to, reason, ..
                } => {
                    drops += 1;
                    hash.take([1, at.as_nanos() as u64, from.0.into(), to.0.into(), reason as u64, 0]);
                }
                Output::Group { .. } => {}
                Output::Sent {
                    at,
                    from,
                    to,
                    packets,
                    bytes,
                    ..
                } => {
                    hash.take([
                        2,
                        at.as_nanos() as u64,
                        from.0.into(),
                        to.0.into(),
                        packets.into(),
                        bytes.into(),
                    ]);
                }
            }
        }
    }
    let transmissions: Vec<_> = std::iter::from_fn(|| air.poll_transmission()).collect();
    // By hand: the first packet finds the medium idle; 26 + 16 + 8 + 200 + 4 = 254 bytes in 36 + 4
    // · ⌈(22 + 2032) / 260⌉ = 68 µs.
    assert_eq!((transmissions[0].at, transmissions[0].from), (Instant::ZERO, NodeId(3)));
    assert_eq!(transmissions[0].length, 254);
    assert_eq!(transmissions[0].duration, Duration::from_micros(68));
    // All features took part.
    assert!(drops > 0 && marks > 0, "{drops} drops, {marks} marks");
    assert!(transmissions.iter().any(|t| t.collided));
    assert!(transmissions.iter().any(|t| 0 < t.arrived && t.arrived < t.mpdus));
    assert!(transmissions.iter().any(|t| t.length >= 20_000));
    for t in &transmissions {
        let duration = t.duration.as_nanos();
        hash.take([
            t.at.as_nanos() as u64,
            duration,
            t.mpdus.into(),
            t.arrived.into(),
            t.collided.into(),
            t.length,
        ]);
    }
    assert_eq!(hash.0, FINGERPRINT, "{} transmissions", transmissions.len());
}

/// FNV-1a over the bytes of numbers.
struct Hash(u64);

impl Hash {
    fn take(&mut self, numbers: [u64; 6]) {
        for byte in numbers.into_iter().flat_map(u64::to_le_bytes) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
