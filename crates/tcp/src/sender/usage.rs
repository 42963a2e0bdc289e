//! Use of the congestion window (RFC 7661, `tcp_cwnd_validate`, `tcp_slow_start_after_idle_check`).

use super::sequence::SendSequence;
use crate::config::EndpointConfig;
use crate::congestion::Congestion;
use netburn_units::{Duration, Instant};

/// Use of the congestion window by the flights. A window that was not filled for a timeout is no measurement of the path.
#[derive(Debug, Clone)]
pub(super) struct WindowUsage {
    /// False: the window stays as it is while the sender is idle.
    shrinks: bool,
    initial_window: u32,
    /// True if the last flight filled the window; its maximum in flight, and its end.
    limited: bool,
    /// True if the last round filled the window: it counts again with each packet that leaves the host.
    repeats: bool,
    max_packets_out: u32,
    flight_end: u64,
    /// Largest number of segments in flight since an instant.
    used: u32,
    used_since: Instant,
    sent_since_check: bool,
    last_sent: Option<Instant>,
}

impl WindowUsage {
    pub(super) fn new(config: &EndpointConfig, now: Instant) -> Self {
        Self {
            shrinks: config.slow_start_after_idle,
            initial_window: config.initial_window,
            limited: false,
            repeats: false,
            max_packets_out: 0,
            flight_end: 0,
            used: 0,
            used_since: now,
            sent_since_check: false,
            last_sent: None,
        }
    }

    /// Counts the use of the window from now on.
    pub(super) fn restart(&mut self, now: Instant) {
        self.used = 0;
        self.used_since = now;
    }

    /// A round of transmissions begins.
    pub(super) fn begin_round(&mut self) {
        self.repeats = false;
    }

    /// Ends the last round again, in which nothing was sent since.
    pub(super) fn repeat_round(&mut self, now: Instant) {
        if self.repeats {
            self.restart(now);
        }
    }

    /// New data were sent.
    pub(super) fn on_new_data(&mut self) {
        self.sent_since_check = true;
    }

    /// Any data were sent.
    pub(super) fn on_sent(&mut self, now: Instant) {
        self.last_sent = Some(now);
    }

    /// Time of the last transmission.
    pub(super) const fn last_sent(&self) -> Option<Instant> {
        self.last_sent
    }

    /// Time since the last transmission.
    pub(super) fn idle(&self, now: Instant) -> Option<Duration> {
        self.last_sent.and_then(|at| now.checked_since(at))
    }

    /// Time since the last transmission, if it is longer than `rto` and the window restarts after it.
    pub(super) fn restarts_after(&self, now: Instant, rto: Duration) -> Option<Duration> {
        self.idle(now).filter(|idle| self.shrinks && *idle > rto)
    }

    /// `tcp_is_cwnd_limited`.
    pub(super) fn is_limited(&self, congestion: &Congestion) -> bool {
        self.limited || congestion.in_slow_start() && congestion.cwnd() < self.max_packets_out.saturating_mul(2)
    }

    /// End of a round of transmissions with `out` segments unacknowledged; `limited`: the window ended it. Returns false if
    /// the round sent nothing new and was not limited.
    pub(super) fn end_round(&mut self, snd: &SendSequence, out: u32, limited: bool) -> bool {
        self.repeats = limited;
        if !std::mem::take(&mut self.sent_since_check) && !limited {
            return false;
        }
        if snd.una >= self.flight_end || limited || !self.limited && out > self.max_packets_out {
            self.limited = limited;
            self.max_packets_out = out;
            self.flight_end = snd.next;
        }
        true
    }

    /// Notes a round that did not fill the window. If none did for `rto` and the window shrinks, returns the segments that
    /// were used, at least the initial window.
    pub(super) fn note_unfilled(&mut self, now: Instant, out: u32, rto: Duration) -> Option<u32> {
        self.used = self.used.max(out);
        let unused = now.checked_since(self.used_since).unwrap_or_default();
        (self.shrinks && unused >= rto).then(|| self.used.max(self.initial_window))
    }
}
