//! Transmission times, compared with times derived by hand from the RFCs and the kernel's rules.

mod common;

use common::{Link, Path, at_ms, ms, percent};
use netburn_tcp::config::{CongestionControl, Gso, Tsq};
use netburn_tcp::congestion::State;
use netburn_tcp::segment::Flags;
use netburn_tcp::{Endpoint, EndpointConfig, Event, Failure, Segment, Timer};
use netburn_units::{BitRate, Instant};
use std::collections::BTreeSet;

/// Reno, packet by packet.
fn reno() -> EndpointConfig {
    EndpointConfig {
        congestion: CongestionControl::Reno,
        gso: Gso::off(),
        ..EndpointConfig::default()
    }
}

fn dropping(delay: u64, packets: impl IntoIterator<Item = u64>) -> [Link; 2] {
    let back = Link {
        delay: ms(delay),
        ..Link::default()
    };
    let there = Link {
        drop: packets.into_iter().collect::<BTreeSet<u64>>(),
        ..back.clone()
    };
    [there, back]
}

fn path(config: &EndpointConfig, links: [Link; 2], bytes: u64) -> Path {
    let mut path = Path::new([config, config], links, 1);
    path.traced = true;
    path.to_write[0] = bytes;
    path
}

/// Transmission times in milliseconds of the byte at `offset`.
fn sent(path: &Path, offset: u64) -> Vec<i64> {
    let holds = |(at, seq, length): &(Instant, u64, u32)| {
        (*seq <= offset && offset < seq + u64::from(*length)).then_some(at.as_nanos() / 1_000_000)
    };
    path.data_trace(0).iter().filter_map(holds).collect()
}

/// RFC 6298 §2.1 and §5.5: 1 s, doubled; six retries (`tcp_syn_retries`), failure after 127 s.
#[test]
fn an_unanswered_syn() {
    let link = Link {
        loss: percent(100),
        ..Link::default()
    };
    let config = reno();
    let mut path = path(&config, [link.clone(), link], 0);
    assert!(!path.run_until(at_ms(1_000_000)));
    let at: Vec<i64> = path
        .trace
        .iter()
        .map(|(at, ..)| at.as_nanos() / 1_000_000_000)
        .collect();
    assert_eq!(at, [0, 1, 3, 7, 15, 31, 63]);
    assert_eq!(path.now, at_ms(127_000));
    assert_eq!(path.seen[0].failed, Some(Event::Failed(Failure::Unreachable)));
}

/// A round-trip time of 20 ms yields an RTO of 20 + 200 ms. The tail loss probe of a single segment
/// would be due after 2 × 20 + 200 ms. It is due at the RTO at the latest (RFC 8985 §7.2). Then
/// timeouts of 220 ms, 440, 880.
#[test]
fn a_segment_that_never_arrives() {
    let config = reno();
    let mut path = path(&config, dropping(10, 0..100), 1_000);
    path.run_until(at_ms(2_000));
    assert_eq!(sent(&path, 0), [20, 240, 460, 900, 1_780]);
    path.run_until(at_ms(10_000_000));
    assert_eq!(path.seen[0].failed, Some(Event::Failed(Failure::TimedOut)));
    // The first, the probe and fifteen retransmissions.
    assert_eq!(sent(&path, 0).len(), 17);
}

/// The last two of ten segments are lost. The last acknowledgement arrives at 200 ms; 2 × 100 + 2
/// ms later the probe retransmits the last segment. Its acknowledgement, at 502 ms, shows that the
/// ninth is lost, which was sent 302 ms before it.
#[test]
fn a_lost_tail_is_probed() {
    let config = reno();
    let mut path = path(&config, dropping(50, [8, 9]), 10 * 1_448);
    path.run_until(at_ms(5_000));
    assert_eq!(sent(&path, 9 * 1_448), [100, 402]);
    assert_eq!(sent(&path, 8 * 1_448), [100, 502]);
    assert_eq!(path.seen[1].received, 10 * 1_448);
}

/// Three selective acknowledgements show a loss immediately if there was no reordering (RFC 8985
/// §6.2, `tcp_rack_reo_wnd`). With one or two, a quarter of the minimum round-trip time must pass
/// first, and 2 ms of the timer.
#[test]
fn a_lost_head_is_repaired() {
    let config = reno();
    let mut path_of_ten = path(&config, dropping(50, [0]), 10 * 1_448);
    path_of_ten.run_until(at_ms(5_000));
    assert_eq!(sent(&path_of_ten, 0), [100, 200]);

    let mut path_of_three = path(&config, dropping(50, [0]), 3 * 1_448);
    path_of_three.run_until(at_ms(5_000));
    assert_eq!(sent(&path_of_three, 0), [100, 227]);
}

/// A lost retransmission is detected from data sent after it, without a timeout (RFC 8985 §3.4).
#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    let config = reno();
    // Ten segments are sent at 100 ms. The first two selective acknowledgements permit one new
    // segment each (RFC 3042), the third causes the retransmission of the first.
    let mut path = path(&config, dropping(50, [0, 12]), 200 * 1_448);
    path.run_until(at_ms(10_000));
    let times = sent(&path, 0);
    assert_eq!(times[..2], [100, 200]);
    assert_eq!(times.len(), 3);
    // Data sent after it at 200 ms are acknowledged at 300; within a quarter of a round trip it is
    // retransmitted.
    assert!((300..=327).contains(&times[2]), "{times:?}");
    assert_eq!(path.seen[1].received, 200 * 1_448);
}

/// RFC 5681 equation 4 and RFC 6937: a window of 10 is 5 after the repair, and never less in
/// between.
#[test]
fn the_window_is_walked_down() {
    let config = reno();
    let mut path = path(&config, dropping(50, [0]), 1 << 30);
    path.run_until(at_ms(199));
    assert_eq!(path.ends[0].info().cwnd, 10);
    path.run_until(at_ms(200));
    let info = path.ends[0].info();
    assert_eq!((info.state, info.ssthresh), (State::Recovery, 5));
    path.run_until(at_ms(299));
    assert!(path.ends[0].info().cwnd >= 5);
    path.run_until(at_ms(300));
    let info = path.ends[0].info();
    assert_eq!((info.state, info.cwnd), (State::Open, 5));
    assert_eq!(info.retransmits, 1);
    // The end of the recovery acknowledges three segments more, 1 ms later two more arrive: five
    // make one. Then one more per round trip.
    path.run_until(at_ms(301));
    assert_eq!(path.ends[0].info().cwnd, 6);
    path.run_until(at_ms(401));
    assert_eq!(path.ends[0].info().cwnd, 7);
    path.run_until(at_ms(501));
    assert_eq!(path.ends[0].info().cwnd, 8);
}

/// RFC 3168 §6.1: one mark, one reduction; the receiver echoes it until the sender confirms it.
#[test]
fn one_mark_one_reduction() {
    let mut config = reno();
    config.ecn = true;
    let mut links = dropping(50, []);
    links[0].mark = BTreeSet::from([2]);
    let mut path = path(&config, links, 1 << 30);
    path.run_until(at_ms(599));
    let info = path.ends[0].info();
    // The first two of ten segments were acknowledged without a mark: half of 12.
    assert_eq!((info.ssthresh, info.retransmits), (6, 0));
    let told: Vec<u64> = path
        .trace
        .iter()
        .filter(|(_, side, segment)| *side == 0 && segment.length > 0 && segment.flags.contains(Flags::CWR))
        .map(|(_, _, segment)| segment.seq)
        .collect();
    // Confirmed once, with the first new segment after the echo.
    assert_eq!(told.len(), 1, "{told:?}");
    let echoes: Vec<Instant> = path
        .trace
        .iter()
        .filter(|(at, side, segment)| *side == 1 && *at > at_ms(60) && segment.flags.contains(Flags::ECE))
        .map(|(at, ..)| *at)
        .collect();
    assert_eq!(echoes.first(), Some(&at_ms(150)));
    assert!(echoes.last() < Some(&at_ms(251)), "{echoes:?}");
}

#[test]
fn ecn_needs_both() {
    let asks = EndpointConfig { ecn: true, ..reno() };
    let refuses = reno();
    let mut links = dropping(50, []);
    links[0].mark = BTreeSet::from([2]);
    let mut path = Path::new([&asks, &refuses], links, 1);
    path.to_write[0] = 1 << 20;
    path.run_until(at_ms(600));
    assert!(path.ends[0].info().ssthresh > 1_000_000);
}

/// The delay of the path increases by 850 ms and everything arrives late. The timeout was spurious,
/// and the window is restored (RFC 5682, RFC 4015, `tcp_try_undo_loss`).
#[test]
fn a_spurious_timeout_is_reverted() {
    let config = reno();
    let mut path = path(&config, dropping(50, []), 1 << 30);
    path.run_until(at_ms(450));
    let before = path.ends[0].info();
    path.set_delay(0, ms(900));
    path.run_until(at_ms(1_200));
    assert_eq!(path.ends[0].info().state, State::Loss);
    path.run_until(at_ms(1_460));
    let after = path.ends[0].info();
    assert_eq!(after.state, State::Open);
    assert!(after.cwnd >= before.cwnd, "{before:?} {after:?}");
    assert!(after.retransmits <= 2, "{after:?}");
}

/// The first of ten segments arrives 50 ms late. It is retransmitted at 200 ms, but its
/// acknowledgement at 250 ms belongs to the original: the window is restored (RFC 4015,
/// `tcp_try_undo_recovery`).
#[test]
fn a_late_segment_costs_no_window() {
    let config = reno();
    let mut links = dropping(50, []);
    links[0].late.insert(0, ms(50));
    let mut path = path(&config, links, 1 << 30);
    path.run_until(at_ms(240));
    let info = path.ends[0].info();
    assert_eq!((info.state, info.ssthresh, info.retransmits), (State::Recovery, 5, 1));
    path.run_until(at_ms(260));
    let info = path.ends[0].info();
    assert_eq!(info.state, State::Open);
    assert!(info.cwnd >= 10 && info.ssthresh > 1_000_000, "{info:?}");
    // The receiver reports the duplicate at 250 ms (RFC 2883).
    let duplicate = |(at, side, segment): &(Instant, usize, Segment)| {
        *side == 1
            && *at == at_ms(250)
            && segment
                .sack
                .as_slice()
                .first()
                .is_some_and(|block| (block.start, block.end) == (0, 1_448))
    };
    assert!(path.trace.iter().any(duplicate));
}

/// RFC 9293 §3.8.6.1: a closed window is probed after an RTO of 1 s, then after twice as long, and
/// again.
#[test]
fn a_closed_window_is_probed() {
    let mut end = Endpoint::connect(&reno(), Instant::ZERO).expect("modelled");
    end.poll_transmit(Instant::ZERO).expect("a SYN");
    let answer = Segment {
        flags: Flags::SYN.with(Flags::ACK),
        mss: 1_448,
        ..Segment::default()
    };
    // 100 ms: RTO is 100 + 200 ms.
    end.handle_segment(at_ms(100), &answer, false);
    assert_eq!(end.write(at_ms(100), 5_000), 5_000);
    let acknowledgement = end.poll_transmit(at_ms(100)).expect("an acknowledgement");
    assert_eq!(acknowledgement.segment.length, 0);
    assert_eq!(end.poll_transmit(at_ms(100)), None);
    for (now, next) in [(400, 1_000), (1_000, 2_200)] {
        assert_eq!(end.poll_timeout(), Some((at_ms(now), Timer::Persist)));
        end.handle_timeout(at_ms(now));
        let question = end.poll_transmit(at_ms(now)).expect("a question").segment;
        assert!(question.flags.contains(Flags::PROBE) && question.length == 0);
        assert_eq!(end.poll_transmit(at_ms(now)), None);
        assert_eq!(end.poll_timeout(), Some((at_ms(next), Timer::Persist)));
    }
    let open = Segment {
        flags: Flags::ACK,
        window: 2_000,
        ..Segment::default()
    };
    end.handle_segment(at_ms(1_100), &open, false);
    let first = end.poll_transmit(at_ms(1_100)).expect("what fits").segment;
    assert_eq!((first.seq, first.length), (0, 1_448));
    assert_eq!(end.poll_transmit(at_ms(1_100)), None);
}

/// RFC 2861, `tcp_cwnd_restart`: half for every RTO of idle time, not below the initial window.
#[test]
fn the_window_shrinks_while_idle() {
    for (restarts, expected) in [(true, 10), (false, 80)] {
        let mut config = reno();
        config.slow_start_after_idle = restarts;
        let mut path = path(&config, dropping(50, []), 70 * 1_448);
        path.run_until(at_ms(1_000));
        let grown = path.ends[0].info().cwnd;
        assert!(grown > 40, "{grown}");
        assert!(!path.run_until(at_ms(20_000)));
        path.now = at_ms(20_000);
        path.to_write[0] = 1_448;
        path.settle(0);
        let cwnd = path.ends[0].info().cwnd;
        if restarts {
            assert_eq!(cwnd, expected);
        } else {
            assert_eq!(cwnd, grown);
        }
    }
}

/// A host's queue that rejects packets slows the sender down, without other effects
/// (`NET_XMIT_DROP`).
#[test]
fn locally_rejected_packets_are_not_lost() {
    let mut config = reno();
    config.tsq = Tsq::Off;
    let link = Link {
        rate: Some(BitRate::from_mbps(10)),
        host_queue: 20,
        delay: ms(20),
        ..Link::default()
    };
    let back = Link {
        rate: None,
        host_queue: 1_000_000,
        ..link.clone()
    };
    let mut path = path(&config, [link, back], 3_000_000);
    path.finish = [true; 2];
    path.run_until(at_ms(60_000));
    assert_eq!(path.seen[1].received, 3_000_000);
    let info = path.ends[0].info();
    assert_eq!(info.retransmits, 0);
    assert!(info.ssthresh < 200, "{info:?}");
    // 3 MB at 10 Mbit/s × 1448/1500 take 2.49 s.
    let took = path.seen[1].last_received.expect("all of it").as_secs_f64();
    assert!((2.4..3.0).contains(&took), "{took}");
}

#[test]
fn an_abort_resets_the_peer() {
    let config = reno();
    let mut path = path(&config, dropping(10, []), 1 << 20);
    path.run_until(at_ms(100));
    path.ends[0].abort(path.now);
    path.settle(0);
    path.run_until(at_ms(5_000));
    assert!(path.seen[0].closed.is_some());
    assert_eq!(path.seen[1].failed, Some(Event::Failed(Failure::Reset)));
    assert_eq!(path.next(), None);
}

/// One direction may end long before the other.
#[test]
fn half_closed() {
    let config = reno();
    let mut path = path(&config, dropping(10, []), 1_000);
    path.finish = [true, false];
    path.run_until(at_ms(500));
    assert!(path.seen[1].finished.is_some());
    assert_eq!(path.seen[0].closed, None);
    path.to_write[1] = 500_000;
    path.finish[1] = true;
    path.settle(1);
    path.run_until(at_ms(10_000));
    assert_eq!(path.seen[0].received, 500_000);
    assert!(path.seen.iter().all(|seen| seen.closed.is_some()));
}
