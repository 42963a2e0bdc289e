//! A sender with a hand-written peer: results of each acknowledgement and each timer, from the RFCs
//! of the rules.
//!
//! The round-trip time is 100 ms, so the timeout is 100 + 200 ms. Segments have 1000 bytes, and are
//! named by their number.

mod common;

use common::{at_ms, ms};
use netburn_tcp::config::{Buffer, CongestionControl, Gso};
use netburn_tcp::congestion::State;
use netburn_tcp::segment::{Flags, Range, SackBlocks};
use netburn_tcp::{Endpoint, EndpointConfig, Event, Limit, Segment, Timer};
use netburn_units::{ByteSize, Duration, Instant};

const MSS: u64 = 1_000;

/// Reno, packet by packet.
fn config() -> EndpointConfig {
    EndpointConfig {
        congestion: CongestionControl::Reno,
        gso: Gso::off(),
        mss: MSS as u32,
        send_buffer: Buffer {
            initial: ByteSize::from_mib(4),
            max: ByteSize::from_mib(4),
        },
        ..EndpointConfig::default()
    }
}

struct Script {
    end: Endpoint,
    now: Instant,
    window: u64,
}

impl Script {
    /// Established at 100 ms; the application writes `segments` segments at once.
    fn new(config: &EndpointConfig, segments: u64) -> Self {
        let mut end = Endpoint::connect(config, Instant::ZERO).expect("modelled");
        end.poll_transmit(Instant::ZERO).expect("a SYN");
        let answer = Segment {
            flags: Flags::SYN.with(Flags::ACK),
            mss: MSS as u32,
            window: 1 << 30,
            ..Segment::default()
        };
        end.handle_segment(at_ms(100), &answer, false);
        end.write(at_ms(100), segments * MSS);
        Self {
            end,
            now: at_ms(100),
            window: 1 << 30,
        }
    }

    /// Numbers of the segments that are sent now; the host frees them immediately.
    fn sent(&mut self) -> Vec<u64> {
        let mut all = Vec::new();
        while let Some(transmit) = self.end.poll_transmit(self.now) {
            self.end.handle_freed(self.now, u64::from(transmit.truesize));
            let (seq, length) = (transmit.segment.seq, u64::from(transmit.segment.length));
            all.extend((seq / MSS..).take(length.div_ceil(MSS) as usize));
        }
        all
    }

    /// At `now` everything before segment `next` and the segments in `sacks` are acknowledged, with
    /// the echo of `echo`. Returns the segments sent in response.
    fn acked(&mut self, now: Instant, next: u64, sacks: &[(u64, u64)], echo: i64) -> Vec<u64> {
        self.now = now;
        let mut sack = SackBlocks::default();
        for (start, end) in sacks {
            let (start, end) = (start * MSS, end * MSS);
            sack.push(Range { start, end });
        }
        let segment = Segment {
            flags: Flags::ACK,
            ack: next * MSS,
            window: self.window,
            sack,
            echo,
            ..Segment::default()
        };
        self.end.handle_segment(self.now, &segment, false);
        self.sent()
    }

    fn ack(&mut self, now: i64, next: u64, sacks: &[(u64, u64)], echo: i64) -> Vec<u64> {
        self.acked(at_ms(now), next, sacks, echo)
    }

    /// Asserts that this timer is due then; returns the segments sent after its expiry.
    fn timer(&mut self, due: i64, timer: Timer) -> Vec<u64> {
        assert_eq!(self.end.poll_timeout(), Some((at_ms(due), timer)));
        self.now = at_ms(due);
        self.end.handle_timeout(self.now);
        self.sent()
    }

    fn write(&mut self, segments: u64) -> Vec<u64> {
        self.end.write(self.now, segments * MSS);
        self.sent()
    }

    /// Window, and threshold if there is one.
    fn window(&self) -> (u32, Option<u32>) {
        let info = self.end.info();
        (info.cwnd, Some(info.ssthresh).filter(|ssthresh| *ssthresh < 1 << 30))
    }
}

fn first(segments: u64) -> Vec<u64> {
    (0..segments).collect()
}

/// RFC 8985 §7.4: a probe that retransmitted the last segment and repaired a loss counts as a loss.
/// It does not if the probe arrived in addition to the original, which a duplicate SACK (RFC 2883)
/// or an acknowledgement without new data reports.
#[test]
fn a_probe_that_repairs_a_loss_reduces_the_window() {
    let probed = || {
        let mut script = Script::new(&config(), 2);
        assert_eq!(script.sent(), [0, 1]);
        assert_eq!(script.ack(200, 1, &[], 100), []);
        // 2 × 100 + 200 ms for a delaying receiver, but at most the timeout.
        assert_eq!(script.timer(500, Timer::TailLossProbe), [1]);
        script
    };
    let mut repaired = probed();
    repaired.ack(600, 2, &[], 500);
    assert_eq!(repaired.write(1), [2]);
    assert_eq!(repaired.window(), (10, None));
    repaired.ack(700, 3, &[], 600);
    assert_eq!(repaired.window(), (5, Some(5)));
    assert_eq!(repaired.end.info().state, State::Open);

    let mut reported = probed();
    reported.ack(600, 2, &[(1, 2)], 500);
    assert_eq!(reported.write(1), [2]);
    reported.ack(700, 3, &[], 600);
    assert_eq!(reported.window(), (10, None));

    // The original arrives late, then the probe.
    for report in [&[][..], &[(1, 2)]] {
        let mut late = probed();
        late.ack(550, 2, &[], 100);
        late.ack(600, 2, report, 100);
        assert_eq!(late.write(1), [2]);
        late.ack(700, 3, &[], 600);
        assert_eq!(late.window(), (10, None), "{report:?}");
    }
}

/// RFC 8985 §7.3: the probe is new data if available, beyond the window; then nothing was repaired.
#[test]
fn a_probe_of_new_data_reduces_nothing() {
    let mut script = Script::new(&config(), 12);
    assert_eq!(script.sent(), first(10));
    assert_eq!(script.timer(302, Timer::TailLossProbe), [10]);
    // One probe per episode; then the timeout.
    assert_eq!(script.end.poll_timeout(), Some((at_ms(602), Timer::Retransmission)));
    assert_eq!(script.ack(402, 11, &[], 302), [11]);
    script.ack(502, 12, &[], 402);
    let (cwnd, ssthresh) = script.window();
    assert!(cwnd >= 10 && ssthresh.is_none(), "{cwnd} {ssthresh:?}");
}

/// RFC 8985 §7.3: of a burst only the last segment is retransmitted.
#[test]
fn a_probe_repeats_one_segment_of_a_burst() {
    for segments in [1, 2, 4] {
        let bursts = EndpointConfig {
            gso: Gso::default(),
            ..config()
        };
        let mut script = Script::new(&bursts, segments);
        assert_eq!(script.sent(), first(segments));
        let wait = if segments == 1 { 300 } else { 202 };
        assert_eq!(script.timer(100 + wait, Timer::TailLossProbe), [segments - 1]);
        let info = script.end.info();
        assert_eq!((info.retransmits, info.in_flight), (1, segments as u32 + 1));
    }
}

/// RFC 5682 §2.1: after a timeout the first acknowledgement that advances permits new data. If the
/// next one advances as well, the timeout was spurious; if it is a duplicate, the timeout was not,
/// and the rest is retransmitted.
#[test]
fn new_data_shows_a_spurious_timeout() {
    let timed_out = || {
        let mut script = Script::new(&config(), 20);
        assert_eq!(script.sent(), first(10));
        assert_eq!(script.timer(302, Timer::TailLossProbe), [10]);
        assert_eq!(script.timer(602, Timer::Retransmission), [0]);
        assert_eq!((script.end.info().state, script.window()), (State::Loss, (1, Some(5))));
        // Step 2b: two new segments, although eight before them are marked lost.
        assert_eq!(script.ack(702, 1, &[], 602), [11, 12]);
        script
    };
    // Step 3b. RFC 5681 equation 4 is reverted.
    let mut spurious = timed_out();
    spurious.ack(720, 2, &[], 602);
    let (cwnd, ssthresh) = spurious.window();
    assert!(cwnd >= 10 && ssthresh.is_none(), "{cwnd} {ssthresh:?}");
    assert_eq!(spurious.end.info().retransmits, 1);
    // Step 3a.
    let mut real = timed_out();
    let sent = real.ack(802, 1, &[(11, 13)], 702);
    assert_eq!(sent.first(), Some(&1));
    assert_eq!((real.end.info().state, real.window().1), (State::Loss, Some(5)));
}

/// A duplicate acknowledgement has no new information (RFC 5681 §2). A window update, content of
/// the peer and a reported duplicate don't show that a timeout was real.
#[test]
fn only_a_duplicate_acknowledgement_shows_a_real_timeout() {
    let ack = Segment {
        flags: Flags::ACK,
        ack: MSS,
        window: 1 << 30,
        echo: 602,
        ..Segment::default()
    };
    let mut report = SackBlocks::default();
    report.push(Range { start: 0, end: MSS });
    for (segment, real) in [
        (ack, true),
        (Segment { window: 1 << 31, ..ack }, false),
        (Segment { length: 100, ..ack }, false),
        (Segment { sack: report, ..ack }, false),
    ] {
        let mut script = Script::new(&config(), 20);
        assert_eq!(script.sent(), first(10));
        assert_eq!(script.timer(302, Timer::TailLossProbe), [10]);
        assert_eq!(script.timer(602, Timer::Retransmission), [0]);
        assert_eq!(script.ack(702, 1, &[], 602), [11, 12]);
        script.end.handle_segment(at_ms(710), &segment, false);
        script.window = segment.window;
        script.ack(720, 2, &[], 602);
        // Eight segments and the probe are marked lost if it was real.
        assert_eq!(script.window().1, real.then_some(5), "{segment:?}");
    }
}

/// RFC 9293 §3.10.7.4: the newest segment determines the window; an older one, or one of the same
/// age with a smaller window, does not.
#[test]
fn the_newest_segment_sets_the_window() {
    let mut script = Script::new(&config(), 5);
    assert_eq!(script.sent(), first(5));
    let mut window = |seq, ack, window| {
        let segment = Segment {
            flags: Flags::ACK,
            seq,
            ack: ack * MSS,
            window,
            echo: 100,
            ..Segment::default()
        };
        script.end.handle_segment(at_ms(200), &segment, false);
        script.end.info().peer_window.as_bytes() + ack * MSS
    };
    let offered = 1 << 30;
    // An offered window can't be withdrawn.
    assert_eq!(window(0, 1, 20_000), offered);
    assert_eq!(window(0, 1, offered), offered + MSS);
    assert_eq!(window(100, 1, offered + 1), offered + MSS + 1);
    // Older, but it acknowledges more; older, and it acknowledges nothing.
    assert_eq!(window(50, 2, offered), offered + 2 * MSS);
    assert_eq!(window(20, 2, offered + 5_000), offered + 2 * MSS);
    assert_eq!(window(50, 2, offered + 5_000), offered + 5_000 + 2 * MSS);
}

/// RFC 5682 §2.1 step 3b immediately: the acknowledgement of the retransmission also acknowledges
/// originals. Without new data as evidence, an acknowledgement of the retransmission alone lets
/// slow start repair the rest.
#[test]
fn acknowledged_originals_show_a_spurious_timeout() {
    let timed_out = || {
        let mut script = Script::new(&config(), 11);
        assert_eq!(script.sent(), first(10));
        assert_eq!(script.timer(302, Timer::TailLossProbe), [10]);
        assert_eq!(script.timer(602, Timer::Retransmission), [0]);
        script
    };
    let mut spurious = timed_out();
    assert_eq!(spurious.ack(650, 3, &[], 602), []);
    assert_eq!(spurious.end.info().state, State::Open);
    let (cwnd, ssthresh) = spurious.window();
    assert!(cwnd >= 10 && ssthresh.is_none(), "{cwnd} {ssthresh:?}");
    let mut real = timed_out();
    assert_eq!(real.ack(702, 1, &[], 602), [1, 2]);
    assert_eq!(real.ack(802, 3, &[], 702), [3, 4, 5, 6]);
    assert_eq!((real.end.info().state, real.window()), (State::Loss, (4, Some(5))));
    assert_eq!(real.ack(902, 11, &[], 802), []);
    assert_eq!((real.end.info().state, real.window().1), (State::Open, Some(5)));
}

/// RFC 6298 §5.4 to §5.6. Data that the host still holds aren't sent twice
/// (`skb_still_in_host_queue`), and the timer continues.
#[test]
fn data_in_the_host_are_not_retransmitted() {
    let mut script = Script::new(&config(), 1);
    let held = script.end.poll_transmit(at_ms(100)).expect("a segment");
    assert_eq!(held.segment.length, 1_000);
    assert_eq!(script.timer(400, Timer::TailLossProbe), []);
    assert_eq!(script.timer(700, Timer::Retransmission), []);
    assert_eq!(script.end.poll_timeout(), Some((at_ms(1_300), Timer::Retransmission)));
    script.end.handle_freed(at_ms(800), u64::from(held.truesize));
    // It is marked lost, so it is retransmitted as soon as the host has freed it.
    script.now = at_ms(800);
    assert_eq!(script.sent(), [0]);
    assert_eq!(script.end.poll_timeout(), Some((at_ms(1_400), Timer::Retransmission)));
}

/// RFC 3708: a retransmission that the receiver reports as a duplicate was unnecessary, and the
/// window is restored; also after the recovery.
#[test]
fn a_reported_duplicate_undoes_the_reduction() {
    let mut script = Script::new(&config(), 10);
    assert_eq!(script.sent(), first(10));
    assert_eq!(script.ack(200, 0, &[(1, 4)], 100), [0]);
    assert_eq!((script.end.info().state, script.window().1), (State::Recovery, Some(5)));
    // Seven more are acknowledged, more than a window of five (RFC 5681 equation 3).
    assert_eq!(script.ack(250, 10, &[], 200), []);
    assert_eq!((script.end.info().state, script.window()), (State::Open, (6, Some(5))));
    for more in [0, 1] {
        let mut script = Script {
            end: script.end.clone(),
            ..script
        };
        assert_eq!(script.write(more).len() as u64, more);
        script.ack(300, 10, &[(0, 1)], 200);
        assert_eq!(script.window(), (10, None));
    }
}

/// RFC 4015 (Eifel): an acknowledgement during a recovery that belongs to the original reverts it.
/// With another retransmission in flight it does not (`tcp_try_undo_partial`).
#[test]
fn an_acknowledgement_of_the_original_reverts_the_reduction() {
    let mut script = Script::new(&config(), 10);
    assert_eq!(script.sent(), first(10));
    assert_eq!(script.ack(200, 0, &[(1, 4)], 100), [0]);
    // Ten again, and one more for the newly acknowledged one (slow start).
    assert_eq!(script.ack(250, 4, &[], 100), []);
    assert_eq!((script.end.info().state, script.window()), (State::Open, (11, None)));

    let mut script = Script::new(&config(), 10);
    assert_eq!(script.sent(), first(10));
    assert_eq!(script.ack(200, 0, &[(2, 8)], 100), [0, 1]);
    assert_eq!(script.ack(250, 1, &[(2, 8)], 100), []);
    assert_eq!((script.end.info().state, script.window().1), (State::Recovery, Some(5)));
}

/// RFC 2018: ranges may grow at either end, and each report is complete.
#[test]
fn ranges_grow_at_both_ends() {
    let mut script = Script::new(&config(), 10);
    script.sent();
    let mut in_flight = |sacks: &[(u64, u64)]| {
        script.ack(200, 0, sacks, 100);
        script.end.info().in_flight
    };
    assert_eq!(in_flight(&[(5, 6)]), 9);
    assert_eq!(in_flight(&[(4, 6)]), 8);
    assert_eq!(in_flight(&[(4, 6)]), 8);
    // The network reorders: the third doesn't yet show that 0 to 3 are lost (RFC 8985 §6.2 step 4).
    assert_eq!(in_flight(&[(4, 7)]), 7);
}

/// RFC 7323 §4.1 applies to retransmissions: otherwise the round-trip time is from the sender's own
/// clock, finer than the milliseconds of timestamps. RFC 6298 §2.3: an eighth of the difference.
#[test]
fn round_trips_are_finer_than_timestamps() {
    let mut script = Script::new(&config(), 10);
    script.sent();
    script.acked(Instant::from_micros(200_400), 10, &[], 100);
    let info = script.end.info();
    assert_eq!(info.srtt, Some(Duration::from_micros(100_050)));
    assert_eq!(info.min_rtt, Some(ms(100)));
    // For a retransmission, the echoed time: 50 ms.
    let mut script = Script::new(&config(), 1);
    script.sent();
    assert_eq!(script.timer(400, Timer::TailLossProbe), [0]);
    script.ack(450, 1, &[], 400);
    assert_eq!(script.end.info().srtt, Some(Duration::from_micros(93_750)));
}

/// RFC 9293 §3.8.6.2.1: less than a segment isn't sent into a small window, until the timer forces
/// it.
#[test]
fn a_small_window_is_used_after_the_timer() {
    let mut script = Script::new(&config(), 5);
    assert_eq!(script.sent(), first(5));
    script.window = 400;
    script.ack(200, 5, &[], 100);
    // The previous window can't be withdrawn: its end is 2³⁰.
    assert_eq!(script.write(1), [5]);

    let mut end = Endpoint::connect(&config(), Instant::ZERO).expect("modelled");
    end.poll_transmit(Instant::ZERO).expect("a SYN");
    let answer = Segment {
        flags: Flags::SYN.with(Flags::ACK),
        mss: MSS as u32,
        window: 400,
        ..Segment::default()
    };
    end.handle_segment(at_ms(100), &answer, false);
    end.write(at_ms(100), 5 * MSS);
    assert_eq!(
        end.poll_transmit(at_ms(100))
            .expect("an acknowledgement")
            .segment
            .length,
        0
    );
    assert_eq!(end.poll_transmit(at_ms(100)), None);
    assert_eq!(end.info().limit, Limit::ReceiveWindow);
    assert_eq!(end.poll_timeout(), Some((at_ms(400), Timer::Persist)));
    end.handle_timeout(at_ms(400));
    let forced = end.poll_transmit(at_ms(400)).expect("what fits").segment;
    assert_eq!((forced.seq, forced.length, forced.flags), (0, 400, Flags::ACK));
    assert_eq!(end.poll_transmit(at_ms(400)), None);
}

/// RFC 9293 §3.8.6.1: a closed window is probed at increasing intervals; when it opens the timeout
/// follows from the round-trip time again (`tcp_ack_probe`).
#[test]
fn a_response_to_a_window_probe() {
    let mut end = Endpoint::connect(&config(), Instant::ZERO).expect("modelled");
    end.poll_transmit(Instant::ZERO).expect("a SYN");
    let closed = Segment {
        flags: Flags::SYN.with(Flags::ACK),
        mss: MSS as u32,
        ..Segment::default()
    };
    end.handle_segment(at_ms(100), &closed, false);
    end.write(at_ms(100), 5 * MSS);
    let mut script = Script {
        end,
        now: at_ms(100),
        window: 0,
    };
    assert_eq!(script.sent(), []);
    for due in [400, 1_000] {
        assert_eq!(script.timer(due, Timer::Persist), []);
        script.ack(due + 50, 0, &[], 0);
    }
    assert_eq!(script.end.poll_timeout(), Some((at_ms(2_200), Timer::Persist)));
    assert_eq!(script.end.info().rto, ms(1_200));
    script.window = 3 * MSS;
    assert_eq!(script.ack(1_100, 0, &[], 0), [0, 1, 2]);
    assert_eq!(script.end.info().rto, ms(300));
}

/// A full segment never waits for the application, whose buffer is full; a shorter one does. A
/// segment of 1000 bytes has a memory of 4352.
#[test]
fn a_full_segment_is_sent_while_the_buffer_is_full() {
    for (memory, taken, limit) in [
        (8 * 4_352, 8_000, Limit::Application),
        (8 * 4_352 + 2_176, 8_500, Limit::SendBuffer),
    ] {
        let size = ByteSize::from_bytes(memory);
        let small = EndpointConfig {
            send_buffer: Buffer {
                initial: size,
                max: size,
            },
            ..config()
        };
        let mut script = Script::new(&small, 0);
        assert_eq!(script.end.write(script.now, 100 * MSS), taken);
        assert_eq!(script.sent(), first(8));
        assert_eq!(script.end.info().limit, limit);
        assert_eq!(events(&mut script.end), [Event::Connected]);
        // With a third of the buffer free, the application is notified, once.
        script.ack(200, 8, &[], 100);
        assert_eq!(events(&mut script.end), [Event::Acknowledged(8_000), Event::Writable]);
        // It fills the segment.
        assert_eq!(script.end.write(script.now, 9_000 - taken), 9_000 - taken);
        assert_eq!(script.sent(), [8]);
    }
}

fn events(end: &mut Endpoint) -> Vec<Event> {
    std::iter::from_fn(|| end.poll_event()).collect()
}

/// RFC 2861 §3.1: for a whole timeout at most ten segments of twenty were used, so the window moves
/// halfway to them, and so on. It never falls below the initial window. The threshold is three
/// quarters of the window.
#[test]
fn a_window_that_is_not_used_shrinks() {
    let mut script = Script::new(&config(), 20);
    assert_eq!(script.sent(), first(10));
    assert_eq!(script.ack(200, 10, &[], 100).len(), 10);
    assert_eq!(script.window(), (20, None));
    script.ack(300, 20, &[], 200);
    let mut seen = vec![20];
    for number in 20..60 {
        assert_eq!(script.write(1), [number]);
        let now = 300 + 100 * (number as i64 - 19);
        script.ack(now, number + 1, &[], now - 100);
        let (cwnd, _) = script.window();
        if seen.last() != Some(&cwnd) {
            seen.push(cwnd);
        }
    }
    assert_eq!(seen, [20, 15, 12, 11, 10]);
    assert_eq!(script.window(), (10, None));
}
