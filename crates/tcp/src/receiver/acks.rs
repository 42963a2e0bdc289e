//! Acknowledgement policy.
//!
//! Immediately at the start of a connection, after a gap and on every second full segment;
//! otherwise after 40 ms or with data. After three acknowledgements of one gap they are compressed
//! (`tcp_comp_sack_delay_ns`).

use netburn_units::{Duration, Instant};

/// Minimum delay (`TCP_ATO_MIN`, `TCP_DELACK_MIN`) and maximum delay (`TCP_DELACK_MAX`).
const DELAY_MIN: Duration = Duration::from_millis(40);
const DELAY_MAX: Duration = Duration::from_millis(200);
/// Maximum number of immediate acknowledgements (`TCP_MAX_QUICKACKS`).
const MAX_QUICK: u32 = 16;
/// Number of acknowledgements of one gap that are never delayed (`TCP_FASTRETRANS_THRESH`), and
/// maximum number of delayed ones (`tcp_comp_sack_nr`).
const UNCOMPRESSED_ACKS: u32 = 3;
const MAX_COMPRESSED: u32 = 44;
/// Delay of a compressed acknowledgement: 1 ms, or 5 % of the round-trip time if that is less.
const COMPRESSION: Duration = Duration::from_millis(1);

/// State of one receiver (`icsk_ack`).
#[derive(Debug, Clone)]
pub(super) struct Acks {
    due: bool,
    scheduled: bool,
    delayed_until: Option<Instant>,
    compressed_until: Option<Instant>,
    compressed: u32,
    eager: u32,
    eager_at: u64,
    /// Remaining number of immediate acknowledgements.
    quick: u32,
    /// True if the application responds: acknowledgements are piggybacked.
    interactive: bool,
    /// Estimated delay; none before the first data.
    delay: Option<Duration>,
    last_data: Option<Instant>,
    /// Largest received segment.
    largest: u32,
}

impl Acks {
    pub(super) fn new() -> Self {
        Self {
            due: false,
            scheduled: false,
            delayed_until: None,
            compressed_until: None,
            compressed: 0,
            eager: 0,
            eager_at: 0,
            quick: 0,
            interactive: false,
            delay: None,
            last_data: None,
            largest: 536,
        }
    }

    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    pub(super) fn acknowledge_now(&mut self) {
        self.due = true;
    }

    /// `tcp_enter_quickack_mode`.
    pub(super) fn quicken(&mut self, most: u32) {
        self.quick = self.quick.max(most.min(MAX_QUICK));
        self.interactive = false;
        self.delay = Some(DELAY_MIN);
    }

    /// Content was received in order (`tcp_event_data_recv`). `length`: of one segment, if the host
    /// merged several.
    pub(super) fn on_data(&mut self, now: Instant, length: u32, window: u64, rto: Duration) {
        self.scheduled = true;
        self.largest = self.largest.max(length);
        let full = |largest: u32| u32::try_from(window / (2 * u64::from(largest))).unwrap_or(MAX_QUICK);
        match (self.delay, self.last_data) {
            (Some(delay), Some(last)) => {
                let gap = now.checked_since(last).unwrap_or_default();
                if gap <= DELAY_MIN / 2 {
                    self.delay = Some(delay / 2 + DELAY_MIN / 2);
                } else if gap < delay {
                    self.delay = Some((delay / 2 + gap).min(rto));
                } else if gap > rto {
                    // The sender is in slow start again: acknowledge immediately.
                    self.quick = self.quick.max(full(self.largest).clamp(2, MAX_QUICK));
                }
            }
            _ => {
                self.quick = self.quick.max(full(self.largest).clamp(2, MAX_QUICK));
                self.delay = Some(DELAY_MIN);
            }
        }
        self.last_data = Some(now);
    }

    /// Content was received beyond a gap (`__tcp_ack_snd_check`). `next`: start of the gap.
    /// `fresh`: its range displaces others from the next acknowledgement, so a delayed one is sent
    /// now (`tcp_sack_compress_send_ack`).
    pub(super) fn on_gap(&mut self, now: Instant, next: u64, srtt: Option<Duration>, fresh: bool) {
        if self.eager_at != next {
            self.eager_at = next;
            self.eager = 0;
            self.compressed = 0;
        }
        if self.eager < UNCOMPRESSED_ACKS || self.compressed >= MAX_COMPRESSED || fresh && self.compressed > 0 {
            self.eager = (self.eager + 1).min(UNCOMPRESSED_ACKS);
            self.due = true;
            return;
        }
        self.compressed += 1;
        let wait = srtt.map_or(COMPRESSION, |srtt| COMPRESSION.min(srtt / 20));
        if self.compressed_until.is_none() {
            self.compressed_until = Some(now + wait);
        }
    }

    /// A duplicate was received: the sender may be repairing without need.
    pub(super) fn on_duplicate(&mut self) {
        self.quicken(MAX_QUICK);
        self.due = true;
    }

    /// Content was delivered: decides about an immediate acknowledgement (`__tcp_ack_snd_check`).
    /// `grows`: the window would not shrink.
    pub(super) fn decide(&mut self, now: Instant, unacknowledged: u64, grows: bool, srtt: Option<Duration>, gap: bool) {
        if self.due {
            return;
        }
        let full = unacknowledged > u64::from(self.largest) && grows;
        let quick = self.quick > 0 && !self.interactive;
        if full || quick || gap {
            self.due = true;
            return;
        }
        let mut delay = self.delay.unwrap_or(DELAY_MIN);
        if delay > DELAY_MIN {
            let most = srtt.map_or(DELAY_MAX, |srtt| srtt.max(DELAY_MIN).min(DELAY_MAX));
            delay = delay.min(most);
        }
        let at = now + delay;
        self.delayed_until = Some(self.delayed_until.map_or(at, |earlier| earlier.min(at)));
    }

    /// An acknowledgement is sent.
    pub(super) fn on_sent(&mut self) {
        self.due = false;
        self.scheduled = false;
        self.delayed_until = None;
        self.compressed_until = None;
        self.compressed = 0;
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = Some(DELAY_MIN);
            }
        }
    }

    /// The application sends shortly after it received (`tcp_event_data_sent`).
    pub(super) fn on_data_sent(&mut self, now: Instant) {
        let soon = self.last_data.and_then(|last| now.checked_since(last));
        if let (Some(gap), Some(delay)) = (soon, self.delay)
            && gap < delay
        {
            self.interactive = true;
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match (self.delayed_until, self.compressed_until) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// `tcp_delack_timer_handler`.
    pub(super) fn handle_timeout(&mut self, now: Instant, rto: Duration) {
        if self.compressed_until.is_some_and(|at| at <= now) {
            self.compressed_until = None;
            self.due = true;
        }
        if self.delayed_until.is_some_and(|at| at <= now) {
            self.delayed_until = None;
            if self.scheduled {
                let delay = self.delay.unwrap_or(DELAY_MIN);
                // The delay was too short for the application's response, or there is none.
                self.delay = Some(if self.interactive {
                    DELAY_MIN
                } else {
                    (delay * 2).min(rto)
                });
                self.interactive = false;
            }
            self.due = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTO: Duration = Duration::from_millis(250);
    const SRTT: Option<Duration> = Some(Duration::from_millis(50));

    fn at(micros: i64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn new_connections_acknowledge_immediately_then_every_second_segment() {
        let mut acks = Acks::new();
        let mut answered = Vec::new();
        let mut unacknowledged = 0;
        for segment in 0..24 {
            let now = at(segment * 100);
            unacknowledged += 1_448;
            acks.on_data(now, 1_448, 64_000, RTO);
            acks.decide(now, unacknowledged, true, SRTT, false);
            answered.push(acks.is_due());
            if acks.is_due() {
                acks.on_sent();
                unacknowledged = 0;
            }
        }
        assert!(answered[..16].iter().all(|now| *now), "{answered:?}");
        assert_eq!(answered[16..], [false, true, false, true, false, true, false, true]);
    }

    #[test]
    fn a_lone_segment_waits_40_ms() {
        let mut acks = Acks::new();
        // A window of 4 segments: two acknowledgements at once.
        for n in 0..2 {
            acks.on_data(at(n), 1_000, 4_000, RTO);
            acks.decide(at(n), 1_000, true, SRTT, false);
            assert!(acks.is_due());
            acks.on_sent();
        }
        acks.on_data(at(10), 1_000, 4_000, RTO);
        acks.decide(at(10), 1_000, true, SRTT, false);
        assert_eq!(acks.poll_timeout(), Some(at(40_010)));
        acks.handle_timeout(at(40_010), RTO);
        assert!(acks.is_due());
    }

    #[test]
    fn acknowledgements_of_one_gap_are_compressed() {
        let mut acks = Acks::new();
        for n in 0..3 {
            acks.on_gap(at(n), 5_000, SRTT, false);
            assert!(acks.is_due());
            acks.on_sent();
        }
        acks.on_gap(at(3), 5_000, SRTT, false);
        assert!(!acks.is_due());
        assert_eq!(acks.poll_timeout(), Some(at(1_003)));
        // One that displaces a delayed one is sent immediately.
        let mut other = acks.clone();
        other.on_gap(at(4), 5_000, SRTT, true);
        assert!(other.is_due());
        acks.on_gap(at(4), 9_000, SRTT, false);
        assert!(acks.is_due());
    }
}
