//! Laws for every path.

mod common;

use common::{Link, Path, at_ms, ms, percent};
use netburn_tcp::EndpointConfig;
use netburn_tcp::config::{Buffer, CongestionControl, Gso, Tsq, TsqPreset};
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use proptest::prelude::*;

fn closed(path: &Path) -> bool {
    path.seen.iter().all(|seen| seen.closed.is_some())
}

#[test]
fn a_transfer_over_a_clean_path() {
    let mut path = Path::symmetric(&EndpointConfig::default(), &Link::default(), 1);
    path.to_write[0] = 1_000_000;
    path.finish = [true; 2];
    path.run_until(at_ms(60_000));
    assert_eq!(path.seen[1].received, 1_000_000);
    assert_eq!(path.seen[0].acknowledged, 1_000_000);
    assert!(closed(&path), "{:?}", path.seen);
    assert_eq!(path.ends[0].info().retransmits, 0);
}

fn controls() -> impl Strategy<Value = CongestionControl> {
    prop_oneof![
        Just(CongestionControl::Reno),
        Just(CongestionControl::Cubic),
        Just(CongestionControl::Bbr),
    ]
}

fn configs() -> impl Strategy<Value = EndpointConfig> {
    let tsq = prop_oneof![
        Just(Tsq::Off),
        Just(Tsq::Preset(TsqPreset::Y2013)),
        Just(Tsq::Preset(TsqPreset::Y2025))
    ];
    (
        controls(),
        any::<[bool; 3]>(),
        tsq,
        prop_oneof![Just(1_448u32), Just(536), Just(1_400)],
    )
        .prop_map(|(congestion, [bursts, ecn, paced], tsq, mss)| EndpointConfig {
            congestion,
            ecn,
            paced,
            tsq,
            mss,
            gso: if bursts { Gso::default() } else { Gso::off() },
            ..EndpointConfig::default()
        })
}

fn links() -> impl Strategy<Value = Link> {
    let chances = (0u32..20, 0u32..10, 0u32..30);
    let rate = prop_oneof![Just(None), Just(Some(1)), Just(Some(20)), Just(Some(1_000))];
    let queues = (2usize..200, prop_oneof![Just(1_000_000usize), 2usize..50]);
    (chances, rate, 0u64..60, queues, prop::option::of(1usize..20)).prop_map(
        |((loss, duplication, reordering), rate, delay, (queue, host_queue), mark_above)| Link {
            rate: rate.map(BitRate::from_mbps),
            delay: ms(delay),
            queue,
            host_queue,
            loss: percent(loss),
            duplication: percent(duplication),
            reordering: percent(reordering),
            held_back: ms(delay / 2 + 1),
            mark_above,
            ..Link::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// With any loss, reordering, duplication, marking and rejection: everything arrives, in order,
    /// once, in both directions; arrived data are acknowledged, and both ends close. Until then, a
    /// timer is always set.
    #[test]
    fn everything_arrives_once(
        ends in [configs(), configs()],
        ways in [links(), links()],
        sizes in [0u64..300_000, 0u64..100_000],
        seed in any::<u64>(),
    ) {
        let mut path = Path::new([&ends[0], &ends[1]], ways.clone(), seed);
        path.to_write = sizes;
        path.finish = [true; 2];
        path.run_until(at_ms(3_600_000));
        if path.seen.iter().any(|seen| seen.failed.is_some()) {
            // A SYN lost seven times, or one retransmission lost fifteen times: possible only with
            // losses.
            prop_assert!(ways.iter().any(|way| way.loss > percent(0)), "{:?}", path.seen);
            return Ok(());
        }
        prop_assert!(closed(&path), "stuck at {:?}: {:?} {:?} {:?}", path.now, path.seen, path.ends[0].info(), path.ends[1].info());
        prop_assert_eq!(path.seen[1].received, sizes[0]);
        prop_assert_eq!(path.seen[0].acknowledged, sizes[0]);
        prop_assert_eq!(path.seen[0].received, sizes[1]);
        prop_assert_eq!(path.seen[1].acknowledged, sizes[1]);
        prop_assert_eq!(path.ends[0].info().in_flight, 0);
        prop_assert_eq!(path.ends[0].info().host_queue.as_bytes(), 0);
    }

    /// Without loss nothing is retransmitted.
    #[test]
    fn no_retransmissions_on_a_clean_path(
        config in configs(),
        rate in 1u64..500,
        delay in 1u64..50,
        size in 0u64..1_000_000,
    ) {
        let link = Link { rate: Some(BitRate::from_mbps(rate)), delay: ms(delay), ..Link::default() };
        let mut path = Path::symmetric(&config, &link, 1);
        path.to_write[0] = size;
        path.finish = [true; 2];
        path.run_until(at_ms(600_000));
        prop_assert!(closed(&path));
        // The only exception is a round-trip time that exceeds the timeout within the first
        // flights.
        if rate >= 10 {
            prop_assert_eq!(path.ends[0].info().retransmits, 0);
        }
    }

    /// The same seed yields the same segments at the same instants.
    #[test]
    fn deterministic(config in configs(), link in links(), seed in any::<u64>()) {
        let run = || {
            let mut path = Path::symmetric(&config, &link, seed);
            path.traced = true;
            path.to_write[0] = 50_000;
            path.run_until(at_ms(20_000));
            path.trace
        };
        prop_assert_eq!(run(), run());
    }
}

/// Bytes of content received per second between two instants.
fn goodput(path: &mut Path, from: Instant, to: Instant) -> f64 {
    path.run_until(from);
    let before = path.seen[1].received;
    path.run_until(to);
    (path.seen[1].received - before) as f64 / to.since(from).as_secs_f64()
}

fn near(got: f64, expected: f64, share: f64) {
    assert!(
        (got / expected - 1.0).abs() <= share,
        "{got:.0} instead of {expected:.0} ({:+.2} %)",
        (got / expected - 1.0) * 100.0
    );
}

/// On a clean link of rate R with a queue of one bandwidth-delay product: R × 1448 ÷ 1500.
#[test]
fn fills_a_clean_link() {
    for congestion in [CongestionControl::Reno, CongestionControl::Cubic] {
        for (mbps, delay) in [(10, 20), (100, 5), (400, 1)] {
            for gso in [Gso::default(), Gso::off()] {
                let bdp = mbps * 1_000_000 / 8 * 2 * delay / 1_000 / 1_500;
                let link = Link {
                    rate: Some(BitRate::from_mbps(mbps)),
                    delay: ms(delay),
                    queue: bdp as usize + 100,
                    ..Link::default()
                };
                let config = EndpointConfig {
                    congestion: congestion.clone(),
                    gso,
                    ..EndpointConfig::default()
                };
                let back = Link {
                    rate: None,
                    ..link.clone()
                };
                let mut path = Path::new([&config, &config], [link, back], 1);
                path.to_write[0] = 1 << 40;
                let got = goodput(&mut path, at_ms(1_500), at_ms(3_000));
                near(got, mbps as f64 * 1e6 / 8.0 * 1_448.0 / 1_500.0, 0.01);
            }
        }
    }
}

/// If the receiver's buffer limits: window ÷ round-trip time.
#[test]
fn window_over_round_trip_where_the_receiver_limits() {
    // Even numbers of segments, so that no single one waits for its acknowledgement; half of the
    // buffer is window.
    for (segments, delay) in [(46, 10), (90, 25), (362, 50)] {
        let size = ByteSize::from_bytes(2 * segments * 1_448);
        let config = EndpointConfig {
            receive_buffer: Buffer {
                initial: size,
                max: size,
            },
            ..EndpointConfig::default()
        };
        let link = Link {
            rate: None,
            delay: ms(delay),
            ..Link::default()
        };
        let mut path = Path::symmetric(&config, &link, 1);
        path.to_write[0] = 1 << 40;
        let got = goodput(&mut path, at_ms(2_000), at_ms(6_000));
        let window = segments * 1_448;
        near(got, window as f64 / (2.0 * delay as f64 / 1_000.0), 0.01);
        assert_eq!(path.ends[0].info().limit, netburn_tcp::Limit::ReceiveWindow);
    }
}

/// If a buffer limits the sender, its congestion window does not grow (RFC 7661 section 1; `tcp_is_cwnd_limited`). In
/// slow start it grows to twice the segments in flight, and the last ACK adds no more than these.
#[test]
fn a_window_that_a_buffer_leaves_unused_does_not_grow() {
    let fixed = |segments: u64| {
        let size = ByteSize::from_bytes(segments * 1_448 + 700);
        Buffer {
            initial: size,
            max: size,
        }
    };
    let ample = EndpointConfig::default();
    for (send_buffer, receive_buffer) in [(fixed(200), ample.receive_buffer), (ample.send_buffer, fixed(200))] {
        for congestion in [CongestionControl::Reno, CongestionControl::Cubic] {
            for gso in [Gso::default(), Gso::off()] {
                let config = EndpointConfig {
                    send_buffer,
                    receive_buffer,
                    congestion: congestion.clone(),
                    gso,
                    ..EndpointConfig::default()
                };
                let link = Link {
                    rate: Some(BitRate::from_mbps(50)),
                    ..Link::default()
                };
                let mut path = Path::symmetric(&config, &link, 1);
                path.to_write[0] = 1 << 40;
                let mut most = 0;
                for step in 0..5_000 {
                    path.run_until(at_ms(step));
                    most = most.max(path.ends[0].info().in_flight);
                }
                let cwnd = path.ends[0].info().cwnd;
                assert!(most > 20, "{congestion:?} {gso:?}: {most}");
                assert!(cwnd <= 3 * most, "{congestion:?} {gso:?}: {cwnd} with {most} in flight");
            }
        }
    }
}

/// The data in the host never exceed TSQ's limit by more than the last transmission.
#[test]
fn small_queues_stay_small() {
    for preset in TsqPreset::ALL {
        for gso in [Gso::default(), Gso::off()] {
            let config = EndpointConfig {
                tsq: Tsq::Preset(preset),
                gso,
                ..EndpointConfig::default()
            };
            let link = Link {
                rate: Some(BitRate::from_mbps(100)),
                delay: ms(5),
                ..Link::default()
            };
            let mut path = Path::symmetric(&config, &link, 1);
            path.to_write[0] = 1 << 40;
            path.run_until(at_ms(1_000));
            path.seen[0].host_queue_most = 0;
            let mut limit = 0;
            for step in 0..1_000 {
                path.run_until(at_ms(1_000 + step));
                let info = path.ends[0].info();
                limit = limit.max(info.host_queue_limit.expect("a preset limits").as_bytes());
            }
            // Maximum burst: it may be twice the minimum limit, and comes on top.
            let burst = if gso.enabled { 66_816 } else { 4_352 };
            let most = path.seen[0].host_queue_most;
            assert!(
                most <= limit.max(2 * burst) + burst,
                "{preset:?} {gso:?}: {most} above {limit}"
            );
            assert!(most > limit / 4, "{preset:?} {gso:?}: {most} of {limit}");
        }
    }
}

/// Reno with one packet in 1000 lost. The window is a sawtooth from W/2 to W with 3/8 W² = 1000
/// segments each. Its average is √(3 ÷ 2p) = 38.7 (Mathis, Semke, Mahdavi and Ott 1997).
#[test]
fn the_square_root_law() {
    let config = EndpointConfig {
        congestion: CongestionControl::Reno,
        gso: Gso::off(),
        ..EndpointConfig::default()
    };
    let back = Link::default();
    let there = Link {
        drop: (1..200).map(|n| n * 1_000).collect(),
        ..back.clone()
    };
    let mut path = Path::new([&config, &config], [there, back], 1);
    path.to_write[0] = 1 << 40;
    let got = goodput(&mut path, at_ms(5_000), at_ms(35_000));
    near(got, 38.7 * 1_448.0 / 0.020, 0.08);
    let info = path.ends[0].info();
    // Each is repaired once, without a timeout.
    assert_eq!(info.retransmits, info.segments_sent / 1_000);
}

/// A tenth of the packets arrive up to 5 ms late, and a twentieth twice: this causes few
/// retransmissions (RFC 8985 §3.3).
#[test]
fn reordering_and_duplicates_cost_little() {
    let link = Link {
        rate: Some(BitRate::from_mbps(50)),
        queue: 200,
        reordering: percent(10),
        duplication: percent(5),
        ..Link::default()
    };
    let config = EndpointConfig {
        gso: Gso::off(),
        ..EndpointConfig::default()
    };
    let mut path = Path::new([&config, &config], [link, Link::default()], 1);
    path.to_write[0] = 1 << 40;
    let got = goodput(&mut path, at_ms(1_000), at_ms(6_000));
    near(got, 50e6 / 8.0 * 1_448.0 / 1_500.0, 0.01);
    let info = path.ends[0].info();
    assert!(info.retransmits * 1_000 < info.segments_sent, "{info:?}");
}

/// BBR over 50 Mbit/s with this delay per direction and a long queue.
fn bbr_over_50_mbps(delay: Duration) -> Path {
    let config = EndpointConfig {
        congestion: CongestionControl::Bbr,
        ..EndpointConfig::default()
    };
    let link = Link {
        rate: Some(BitRate::from_mbps(50)),
        delay,
        queue: 10_000,
        ..Link::default()
    };
    Path::symmetric(&config, &link, 1)
}

/// BBR drains the path for 200 ms after ten seconds without a shorter round-trip time. Deliveries
/// meanwhile are no sample of the bandwidth (`bbr_update_min_rtt` sets `app_limited`), although 200
/// ms exceed the ten round trips for which a bandwidth counts. The link carries 50 × 1448 ÷ 1500
/// Mbit/s of content. BBR paces at no less than 3/4 of its estimate, which in the first round trip
/// afterwards is slightly lower. A window of four packets alone would be 11.6 Mbit/s.
#[test]
fn bbr_keeps_its_rate_while_it_measures_the_round_trip() {
    let mut path = bbr_over_50_mbps(ms(2));
    path.to_write[0] = 1 << 40;
    let mut measuring = 0;
    for now in 9_000..12_000 {
        path.run_until(at_ms(now));
        let info = path.ends[0].info();
        measuring += u32::from(info.cwnd == 4);
        let rate = info.pacing_rate.expect("BBR has one").as_bps() as f64;
        assert!(rate > 0.6 * 50e6 * 1_448.0 / 1_500.0, "{rate} at {now} ms");
    }
    assert!((200..250).contains(&measuring), "{measuring} ms");
}

/// An application that sends little yields no sample of the path (`tcp_rate_check_app_limited`). It
/// sends a packet every 20 ms for two seconds, which are a hundred round trips. After that BBR
/// still paces at no less than 3/4 of the link's rate.
#[test]
fn bbr_keeps_its_rate_while_the_application_sends_little() {
    let mut path = bbr_over_50_mbps(ms(2));
    path.to_write[0] = 10_000_000;
    path.run_until(at_ms(4_000));
    assert_eq!(path.seen[1].received, 10_000_000);
    for step in 0..100 {
        path.run_until(at_ms(4_000 + 20 * step));
        path.now = at_ms(4_000 + 20 * step);
        path.to_write[0] = 1_448;
        path.settle(0);
    }
    let rate = path.ends[0].info().pacing_rate.expect("BBR has one").as_bps() as f64;
    assert!(rate > 0.6 * 50e6 * 1_448.0 / 1_500.0, "{rate}");
}

#[test]
fn bbr_fills_a_clean_link_with_little_queue() {
    let mut path = bbr_over_50_mbps(ms(10));
    path.to_write[0] = 1 << 40;
    let got = goodput(&mut path, at_ms(2_000), at_ms(6_000));
    near(got, 50e6 / 8.0 * 1_448.0 / 1_500.0, 0.05);
    let srtt = path.ends[0].info().srtt.expect("measured");
    assert!(srtt < ms(35), "{srtt}");
}
