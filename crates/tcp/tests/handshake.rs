//! States of an endpoint, compared with RFC 9293 §3.10.7 and the handshake options of RFC 3168, RFC
//! 6298 and RFC 7323. Every segment is written by hand.

mod common;

use common::{at_ms, ms};
use netburn_tcp::config::{CongestionControl, Gso};
use netburn_tcp::segment::{Flags, Range, Transmit};
use netburn_tcp::{Endpoint, EndpointConfig, Event, Failure, Segment, Timer};
use netburn_units::Instant;

const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK);
const MSS: u32 = 1_448;

fn config() -> EndpointConfig {
    EndpointConfig {
        congestion: CongestionControl::Reno,
        gso: Gso::off(),
        ..EndpointConfig::default()
    }
}

fn with_ecn(ecn: bool) -> EndpointConfig {
    EndpointConfig { ecn, ..config() }
}

/// A segment of the peer with an open window and the options of a handshake.
fn peer(flags: Flags) -> Segment {
    Segment {
        flags,
        window: 65_535,
        mss: MSS,
        ..Segment::default()
    }
}

/// A segment of the peer with content.
fn content(flags: Flags, seq: u64, length: u32) -> Segment {
    Segment {
        seq,
        length,
        ..peer(flags)
    }
}

fn drain(end: &mut Endpoint, now: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| end.poll_transmit(now))
        .map(|sent| sent.segment)
        .collect()
}

fn events(end: &mut Endpoint) -> Vec<Event> {
    std::iter::from_fn(|| end.poll_event()).collect()
}

fn opening(config: &EndpointConfig) -> Endpoint {
    Endpoint::connect(config, Instant::ZERO).expect("modelled")
}

fn listening(config: &EndpointConfig) -> Endpoint {
    Endpoint::listen(config, Instant::ZERO).expect("modelled")
}

/// An endpoint that has sent its SYN at 0.
fn syn_sent(config: &EndpointConfig) -> Endpoint {
    let mut end = opening(config);
    assert_eq!(drain(&mut end, Instant::ZERO).len(), 1);
    end
}

/// An endpoint that has answered a SYN at 0.
fn syn_received(config: &EndpointConfig, syn: Flags) -> Endpoint {
    let mut end = listening(config);
    end.handle_segment(Instant::ZERO, &peer(syn), false);
    let answer = drain(&mut end, Instant::ZERO);
    assert_eq!(answer.len(), 1);
    assert!(answer[0].flags.contains(SYN_ACK));
    end
}

/// An endpoint whose SYN was answered after 20 ms; its acknowledgement was sent.
fn established(config: &EndpointConfig, answer: Flags) -> Endpoint {
    let mut end = syn_sent(config);
    end.handle_segment(at_ms(20), &peer(answer), false);
    assert_eq!(drain(&mut end, at_ms(20)).len(), 1);
    assert_eq!(events(&mut end), [Event::Connected]);
    end
}

/// §3.10.7.2: in LISTEN only a SYN without ACK is accepted. A reset is ignored.
#[test]
fn a_listener_accepts_only_a_syn() {
    let mut end = listening(&config());
    for flags in [
        Flags::default(),
        Flags::ACK,
        SYN_ACK,
        Flags::FIN,
        Flags::RST,
        Flags::RST.with(Flags::ACK),
    ] {
        end.handle_segment(at_ms(1), &peer(flags), false);
        end.handle_segment(at_ms(1), &content(flags, 0, 100), false);
        assert_eq!(drain(&mut end, at_ms(1)), [], "{flags:?}");
        assert_eq!(events(&mut end), [], "{flags:?}");
        assert_eq!(end.poll_timeout(), None, "{flags:?}");
    }
    end.handle_segment(at_ms(2), &peer(Flags::SYN), false);
    assert_eq!(drain(&mut end, at_ms(2))[0].flags, SYN_ACK);
    // RFC 6298 §2.1.
    assert_eq!(end.poll_timeout(), Some((at_ms(1_002), Timer::Handshake)));
    assert_eq!(events(&mut end), []);
}

/// §3.10.7.3: without an acknowledgement of its SYN no connection is established. Simultaneous
/// opening is not modelled.
#[test]
fn an_opener_accepts_only_a_syn_ack() {
    let mut end = syn_sent(&config());
    for flags in [Flags::default(), Flags::ACK, Flags::SYN, Flags::FIN.with(Flags::ACK)] {
        end.handle_segment(at_ms(10), &peer(flags), false);
        end.handle_segment(at_ms(10), &content(flags, 0, 100), false);
        assert_eq!(drain(&mut end, at_ms(10)), [], "{flags:?}");
        assert_eq!(events(&mut end), [], "{flags:?}");
        assert!(!end.is_established());
    }
    end.handle_segment(at_ms(20), &peer(SYN_ACK), false);
    assert!(end.is_established());
    assert_eq!(events(&mut end), [Event::Connected]);
    let sent = drain(&mut end, at_ms(20));
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].flags, sent[0].seq, sent[0].ack), (Flags::ACK, 0, 0));
    assert_eq!(end.poll_timeout(), None);
}

/// §3.10.7.4: the segment that establishes the connection may have content. A segment without ACK
/// is dropped.
#[test]
fn the_third_segment_establishes() {
    let mut end = syn_received(&config(), Flags::SYN);
    assert!(!end.is_established());
    end.handle_segment(at_ms(5), &content(Flags::default(), 0, 100), false);
    assert_eq!((drain(&mut end, at_ms(5)).len(), events(&mut end)), (0, vec![]));
    // The peer repeats its SYN because our answer was lost; the answer is repeated.
    end.handle_segment(at_ms(6), &peer(Flags::SYN), false);
    let again = drain(&mut end, at_ms(6));
    assert_eq!((again.len(), again[0].flags), (1, SYN_ACK));
    assert_eq!(events(&mut end), []);
    // One that carries ACK is a SYN as well.
    end.handle_segment(at_ms(7), &peer(SYN_ACK), false);
    assert_eq!(drain(&mut end, at_ms(7))[0].flags, SYN_ACK);
    assert!(!end.is_established());
    end.handle_segment(at_ms(20), &content(Flags::ACK, 0, 100), false);
    assert!(end.is_established());
    assert_eq!(events(&mut end), [Event::Connected, Event::Received(100)]);
    assert_eq!(drain(&mut end, at_ms(20))[0].ack, 100);
}

/// §3.10.7.4: a SYN in an established connection is acknowledged and ignored.
#[test]
fn a_repeated_syn_ack_is_acknowledged() {
    let mut end = established(&config(), SYN_ACK);
    end.handle_segment(at_ms(1_000), &content(SYN_ACK, 0, 100), false);
    let sent = drain(&mut end, at_ms(1_000));
    assert_eq!((sent.len(), sent[0].flags, sent[0].ack), (1, Flags::ACK, 0));
    assert_eq!(events(&mut end), []);
    assert_eq!(end.info().srtt, Some(ms(20)));
}

/// §3.10.7: a reset ends the connection, and is not answered by a reset. Other segments for a
/// closed connection are reset.
#[test]
fn resets() {
    let mut refused = syn_sent(&config());
    refused.handle_segment(at_ms(10), &peer(Flags::RST.with(Flags::ACK)), false);
    let mut half = syn_received(&config(), Flags::SYN);
    half.handle_segment(at_ms(10), &peer(Flags::RST), false);
    let mut open = established(&config(), SYN_ACK);
    open.handle_segment(at_ms(30), &peer(Flags::RST), false);
    for (mut end, failure) in [
        (refused, Failure::Refused),
        (half, Failure::Reset),
        (open, Failure::Reset),
    ] {
        let now = at_ms(40);
        assert_eq!(events(&mut end), [Event::Failed(failure)]);
        assert!(!end.is_established());
        assert_eq!((end.poll_timeout(), drain(&mut end, now).len()), (None, 0));
        assert_eq!(end.write(now, 100), 0);
        end.handle_segment(now, &peer(Flags::RST), false);
        assert_eq!(drain(&mut end, now), []);
        end.handle_segment(now, &content(Flags::ACK, 0, 100), false);
        let answer = drain(&mut end, now);
        assert_eq!((answer.len(), answer[0].flags, answer[0].length), (1, Flags::RST, 0));
        end.abort(now);
        assert_eq!((drain(&mut end, now).len(), events(&mut end)), (0, vec![]));
    }
}

/// §3.10.5: an abort resets a peer that may know the connection, because it has answered or was
/// answered.
#[test]
fn an_abort_resets_an_answered_peer() {
    let now = at_ms(30);
    let mut closed = established(&config(), SYN_ACK);
    closed.finish(now);
    assert!(drain(&mut closed, now)[0].flags.contains(Flags::FIN));
    let fin = Segment {
        ack: 1,
        ..peer(Flags::FIN.with(Flags::ACK))
    };
    closed.handle_segment(now, &fin, false);
    drain(&mut closed, now);
    assert_eq!(events(&mut closed), [Event::Finished, Event::Closed]);
    assert!(!closed.is_established());
    for (mut end, resets, expected) in [
        (listening(&config()), 0, vec![Event::Closed]),
        (syn_sent(&config()), 0, vec![Event::Closed]),
        (syn_received(&config(), Flags::SYN), 1, vec![Event::Closed]),
        (established(&config(), SYN_ACK), 1, vec![Event::Closed]),
        // Both sides are finished: there is nothing to abort.
        (closed, 0, vec![]),
    ] {
        end.abort(now);
        let sent = drain(&mut end, now);
        assert_eq!(sent.len(), resets);
        assert!(sent.iter().all(|segment| segment.flags == Flags::RST));
        assert_eq!(events(&mut end), expected);
        assert_eq!(end.poll_timeout(), None);
    }
}

/// RFC 3168 §6.1.1: a requesting SYN has ECE and CWR, an accepting answer has ECE alone, and a
/// retried SYN doesn't request ECN.
#[test]
fn ecn_is_negotiated() {
    let asking = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
    for (ecn, flags) in [(true, asking), (false, Flags::SYN)] {
        let mut end = opening(&with_ecn(ecn));
        let first = end.poll_transmit(Instant::ZERO).expect("a SYN");
        assert_eq!((first.segment.flags, first.ect), (flags, false));
        end.handle_timeout(at_ms(1_000));
        assert_eq!(drain(&mut end, at_ms(1_000))[0].flags, Flags::SYN);
    }
    let agrees = SYN_ACK.with(Flags::ECE);
    for (ecn, syn, answer) in [
        (true, asking, agrees),
        (true, Flags::SYN.with(Flags::ECE), SYN_ACK),
        (true, Flags::SYN.with(Flags::CWR), SYN_ACK),
        (true, Flags::SYN, SYN_ACK),
        (false, asking, SYN_ACK),
    ] {
        let mut end = listening(&with_ecn(ecn));
        end.handle_segment(Instant::ZERO, &peer(syn), false);
        assert_eq!(drain(&mut end, Instant::ZERO)[0].flags, answer, "{ecn} {syn:?}");
        assert_eq!(
            marks_data(end, at_ms(20), Flags::ACK),
            answer == agrees,
            "{ecn} {syn:?}"
        );
    }
    for (ecn, answer, agreed) in [(true, agrees, true), (true, SYN_ACK, false), (false, agrees, false)] {
        let end = established(&with_ecn(ecn), answer);
        assert_eq!(marks_data(end, at_ms(20), Flags::ACK), agreed, "{ecn} {answer:?}");
    }
}

/// Returns true if data are ECN-capable (ECT). A FIN without data and a retransmission are not (RFC
/// 3168 §6.1.4, §6.1.5).
fn marks_data(mut end: Endpoint, now: Instant, flags: Flags) -> bool {
    end.handle_segment(now, &peer(flags), false);
    end.write(now, 1_000);
    let sent: Vec<Transmit> = std::iter::from_fn(|| end.poll_transmit(now)).collect();
    assert_eq!(sent.len(), 1);
    end.handle_freed(now, u64::from(sent[0].truesize));
    let mut other = end.clone();
    let (due, timer) = end.poll_timeout().expect("a timer");
    assert_eq!(timer, Timer::TailLossProbe);
    end.handle_timeout(due);
    let again = end.poll_transmit(due).expect("a probe");
    assert_eq!((again.segment.seq, again.segment.length), (0, 1_000));
    assert!(!again.ect);
    other.finish(now);
    let fin = other.poll_transmit(now).expect("a FIN");
    assert_eq!(
        (fin.segment.length, fin.segment.flags),
        (0, Flags::ACK.with(Flags::FIN))
    );
    assert!(!fin.ect);
    sent[0].ect
}

/// RFC 9293 §3.7.1: the smaller of both. Linux's minimum is 88 (`TCP_MIN_MSS`).
#[test]
fn the_smaller_mss_holds() {
    for (ours, theirs, agreed) in [
        (1_448, 1_448, 1_448),
        (1_448, 536, 536),
        (536, 1_448, 536),
        (1_448, 20, 88),
        (20, 1_448, 88),
    ] {
        let settings = EndpointConfig { mss: ours, ..config() };
        let mut end = opening(&settings);
        let syn = drain(&mut end, Instant::ZERO)[0];
        assert_eq!(syn.mss, ours.max(88));
        let answer = Segment {
            mss: theirs,
            ..peer(SYN_ACK)
        };
        end.handle_segment(at_ms(20), &answer, false);
        end.write(at_ms(20), 10_000);
        let longest = drain(&mut end, at_ms(20)).iter().map(|segment| segment.length).max();
        assert_eq!(longest, Some(agreed), "{ours} and {theirs}");
    }
}

/// RFC 7323 §2.2: the window of a SYN isn't scaled. §3.2: the answer echoes the SYN's timestamp.
#[test]
fn values_of_a_handshake() {
    let mut end = opening(&config());
    let syn = end.poll_transmit(at_ms(7)).expect("a SYN").segment;
    assert_eq!((syn.timestamp, syn.echo, syn.ack), (7, 0, 0));
    // 45 whole segments of 1448 bytes fit into 65535 bytes.
    assert_eq!(syn.window, 65_160);
    let mut end = listening(&config());
    let asked = Segment {
        timestamp: 123,
        ..peer(Flags::SYN)
    };
    end.handle_segment(at_ms(9), &asked, false);
    let answer = end.poll_transmit(at_ms(9)).expect("an answer");
    assert_eq!(
        (answer.segment.timestamp, answer.segment.echo, answer.segment.mss),
        (9, 123, 1_448)
    );
    assert_eq!(answer.segment.window, 65_160);
    // It has no content and no memory in the host.
    assert_eq!((answer.packets, answer.truesize, answer.segment.length), (1, 0, 0));
    // The window of the peer's SYN is valid until it offers more.
    let small = Segment {
        window: 2_000,
        ..peer(SYN_ACK)
    };
    let mut end = syn_sent(&config());
    end.handle_segment(at_ms(20), &small, false);
    assert_eq!(end.info().peer_window.as_bytes(), 2_000);
    end.write(at_ms(20), 10_000);
    let lengths: Vec<u32> = drain(&mut end, at_ms(20))
        .iter()
        .map(|sent| sent.length)
        .filter(|length| *length > 0)
        .collect();
    assert_eq!(lengths, [1_448]);
}

/// RFC 6298 §3 (Karn): a retried SYN yields no sample. RFC 5681 §3.1: after more than one loss the
/// window starts with one segment (Linux permits one loss, `tcp_init_transfer`). RFC 6298 §5: 1 s,
/// then 2 s, then 4 s.
#[test]
fn a_handshake_that_lost_its_syn() {
    for (lost, srtt, cwnd) in [(0, Some(ms(20)), 10), (1, None, 10), (2, None, 1), (3, None, 1)] {
        let mut end = syn_sent(&config());
        let mut now = Instant::ZERO;
        for again in 0..lost {
            let due = now + ms(1_000 << again);
            assert_eq!(end.poll_timeout(), Some((due, Timer::Handshake)));
            // An early call has no effect.
            end.handle_timeout(due - ms(1));
            assert_eq!(drain(&mut end, due - ms(1)), []);
            end.handle_timeout(due);
            assert_eq!(drain(&mut end, due).len(), 1);
            now = due;
        }
        end.handle_segment(now + ms(20), &peer(SYN_ACK), false);
        let info = end.info();
        assert_eq!((info.srtt, info.min_rtt, info.cwnd), (srtt, srtt, cwnd), "{lost} lost");
        // RFC 6298 §2.2: R + 4 × R/2, which Linux raises to R + 200 ms; 1 s without a sample.
        assert_eq!(info.rto, if lost == 0 { ms(220) } else { ms(1_000) });
    }
}

/// `tcp_synack_retries`: five retries at 1, 3, 7, 15 and 31 s; failure after 63 s.
#[test]
fn a_syn_ack_without_acknowledgement() {
    let mut end = syn_received(&config(), Flags::SYN);
    let mut at = vec![];
    while let Some((due, timer)) = end.poll_timeout() {
        assert_eq!(timer, Timer::Handshake);
        end.handle_timeout(due);
        for segment in drain(&mut end, due) {
            assert_eq!(segment.flags, SYN_ACK);
            at.push(due.as_nanos() / 1_000_000_000);
        }
        if !events(&mut end).is_empty() {
            assert_eq!(due, at_ms(63_000));
        }
    }
    assert_eq!(at, [1, 3, 7, 15, 31]);
}

/// RFC 7323 §4.3: the echo is the timestamp of the segment that the last acknowledgement waits for.
/// This also holds if a later one is acknowledged with it. The echo is never an older one.
#[test]
fn the_echo_is_the_timestamp_of_the_segment_that_was_missing() {
    let mut end = established(&config(), SYN_ACK);
    let stamped = |timestamp, seq| Segment {
        timestamp,
        ..content(Flags::ACK, seq, 1_000)
    };
    let echo = |end: &mut Endpoint, now| drain(end, now)[0].echo;
    end.handle_segment(at_ms(30), &stamped(100, 0), false);
    assert_eq!(echo(&mut end, at_ms(30)), 100);
    // Beyond a gap: the echo stays.
    end.handle_segment(at_ms(31), &stamped(101, 2_000), false);
    assert_eq!(echo(&mut end, at_ms(31)), 100);
    // The segment that fills the gap.
    end.handle_segment(at_ms(40), &stamped(110, 1_000), false);
    assert_eq!(echo(&mut end, at_ms(40)), 110);
    // An old duplicate.
    end.handle_segment(at_ms(41), &stamped(99, 0), false);
    assert_eq!(echo(&mut end, at_ms(41)), 110);
}

/// RFC 9293 §3.10.7.4: data beyond the window or beyond the FIN are acknowledged and dropped.
#[test]
fn invalid_content_is_acknowledged_and_dropped() {
    let mut end = established(&config(), SYN_ACK);
    let acknowledged = |end: &mut Endpoint, segment: &Segment| {
        end.handle_segment(at_ms(30), segment, false);
        let sent = drain(end, at_ms(30));
        assert_eq!(sent.len(), 1, "{segment:?}");
        (sent[0].ack, sent[0].sack)
    };
    let none = Default::default();
    // Up to 65536 bytes were offered from 0: a segment may start there, and not a byte later.
    let window = end.info().receive_buffer.as_bytes() / 2;
    assert_eq!(window, 65_536);
    assert_eq!(acknowledged(&mut end, &content(Flags::ACK, window + 1, 100)), (0, none));
    // A FIN without content ends the stream at 1000, before the content arrives.
    let fin = content(Flags::ACK.with(Flags::FIN), 1_000, 0);
    end.handle_segment(at_ms(30), &fin, false);
    let held = drain(&mut end, at_ms(30))[0];
    assert_eq!(
        (held.ack, held.sack.as_slice()),
        (
            0,
            &[Range {
                start: 1_000,
                end: 1_001
            }][..]
        )
    );
    assert_eq!(acknowledged(&mut end, &content(Flags::ACK, 1_000, 2)).0, 0);
    assert_eq!(events(&mut end), []);
    assert_eq!(acknowledged(&mut end, &content(Flags::ACK, 0, 1_000)), (1_001, none));
    assert_eq!(events(&mut end), [Event::Received(1_000), Event::Finished]);
    // Received again: acknowledged again, one event.
    assert_eq!(acknowledged(&mut end, &fin).0, 1_001);
    assert_eq!(events(&mut end), []);
}

/// A local rejection of a pure acknowledgement, or before the connection is established, is no
/// congestion.
#[test]
fn only_rejected_content_reduces_the_window() {
    let now = at_ms(20);
    let mut end = syn_sent(&config());
    let mut fresh = opening(&config());
    let syn = fresh.poll_transmit(Instant::ZERO).expect("a SYN").packet(0);
    end.handle_dropped_locally(now, &syn);
    end.handle_segment(now, &peer(SYN_ACK), false);
    let bare = end.poll_transmit(now).expect("an acknowledgement").packet(0);
    end.handle_dropped_locally(now, &bare);
    let before = end.info();
    assert_eq!((before.cwnd, before.ssthresh > 1_000_000), (10, true));
    end.write(now, 1_000);
    let data = end.poll_transmit(now).expect("data").packet(0);
    assert_eq!(end.info().host_queue.as_bytes(), u64::from(data.truesize));
    end.handle_dropped_locally(now, &data);
    let after = end.info();
    // RFC 5681 equation 4 with a window of ten; the state is as before the packet's transmission.
    assert_eq!(
        (after.ssthresh, after.in_flight, after.host_queue.as_bytes()),
        (5, 0, 0)
    );
}

/// Each event is returned once, in order. The end of the stream is returned after the content.
#[test]
fn events_in_their_order() {
    let mut end = syn_sent(&config());
    end.write(Instant::ZERO, 500);
    end.handle_segment(at_ms(20), &peer(SYN_ACK), false);
    assert_eq!(
        drain(&mut end, at_ms(20)).len(),
        1,
        "the content carries the acknowledgement"
    );
    end.finish(at_ms(20));
    assert_eq!(drain(&mut end, at_ms(20)).len(), 1);
    let last = Segment {
        ack: 501,
        ..content(Flags::ACK.with(Flags::FIN), 0, 300)
    };
    end.handle_segment(at_ms(40), &last, false);
    assert_eq!(
        events(&mut end),
        [
            Event::Connected,
            Event::Received(300),
            Event::Acknowledged(500),
            Event::Finished,
            Event::Closed
        ]
    );
    assert_eq!(drain(&mut end, at_ms(40))[0].ack, 301);
    assert!(!end.is_established());
    // The peer repeats it: it is acknowledged, without an event.
    end.handle_segment(at_ms(60), &last, false);
    assert_eq!(drain(&mut end, at_ms(60))[0].ack, 301);
    assert_eq!(events(&mut end), []);
}
