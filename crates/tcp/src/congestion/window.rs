//! Congestion window and the common operations of loss-based controls.

use netburn_units::Duration;

/// Threshold before the first reduction (`TCP_INFINITE_SSTHRESH`).
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Maximum window: far above the volume of any path, and small enough that products of two don't
/// overflow 64 bits.
const CLAMP: u32 = 1 << 24;

/// Congestion window in segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    cwnd: u32,
    ssthresh: u32,
    /// Acknowledged segments towards the next increase.
    credit: u32,
    initial: u32,
    prior_cwnd: u32,
    prior_ssthresh: u32,
}

impl Window {
    /// Creates an initial window of `initial` segments, at least one.
    #[must_use]
    pub fn new(initial: u32) -> Self {
        let initial = initial.clamp(1, CLAMP);
        Self {
            cwnd: initial,
            ssthresh: INFINITE_SSTHRESH,
            credit: 0,
            initial,
            prior_cwnd: 0,
            prior_ssthresh: 0,
        }
    }

    /// Maximum number of segments in flight.
    #[must_use]
    pub const fn cwnd(&self) -> u32 {
        self.cwnd
    }

    /// Slow start threshold in segments.
    #[must_use]
    pub const fn ssthresh(&self) -> u32 {
        self.ssthresh
    }

    /// Initial window.
    #[must_use]
    pub const fn initial(&self) -> u32 {
        self.initial
    }

    /// Window before the last reduction; 0 before the first.
    #[must_use]
    pub const fn prior_cwnd(&self) -> u32 {
        self.prior_cwnd
    }

    /// Returns true if the window is below the threshold.
    #[must_use]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Sets the window, to at least one segment.
    pub fn set_cwnd(&mut self, segments: u32) {
        self.cwnd = segments.clamp(1, CLAMP);
    }

    /// Sets the threshold.
    pub fn set_ssthresh(&mut self, segments: u32) {
        self.ssthresh = segments;
    }

    /// Slow start: one segment more per acknowledged segment, up to the threshold (RFC 5681 §3.1,
    /// RFC 3465 without its limit, `tcp_slow_start`). Returns the rest for
    /// [`increase`](Self::increase); outside slow start that is all.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        if !self.in_slow_start() {
            return acked;
        }
        let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (grown - self.cwnd);
        self.set_cwnd(grown);
        left
    }

    /// Additive increase: one segment more per `per` acknowledged segments (`tcp_cong_avoid_ai`).
    pub fn increase(&mut self, per: u32, acked: u32) {
        let per = per.max(1);
        // Credit collected at a higher `per` counts as one segment, not several.
        if self.credit >= per {
            self.credit = 0;
            self.set_cwnd(self.cwnd.saturating_add(1));
        }
        self.credit = self.credit.saturating_add(acked);
        if self.credit >= per {
            let more = self.credit / per;
            self.credit -= more * per;
            self.set_cwnd(self.cwnd.saturating_add(more));
        }
    }

    /// Sets the threshold for a reduction, and saves the state for an undo.
    pub fn begin_reduction(&mut self, ssthresh: u32) {
        self.prior_cwnd = self.cwnd;
        self.prior_ssthresh = self.current_ssthresh();
        self.ssthresh = ssthresh;
        self.credit = 0;
    }

    /// Ends the reduction: the window is the threshold.
    pub fn end_reduction(&mut self) {
        if self.ssthresh < INFINITE_SSTHRESH {
            self.set_cwnd(self.ssthresh);
        }
    }

    /// Restores window and threshold to at least their values before the last reduction.
    pub fn undo(&mut self) {
        self.set_cwnd(self.cwnd.max(self.prior_cwnd));
        self.ssthresh = self.ssthresh.max(self.prior_ssthresh);
    }

    /// Halves the window for each `rto` of `idle`, down to the initial window (`tcp_cwnd_restart`).
    pub fn restart(&mut self, idle: Duration, rto: Duration) {
        self.ssthresh = self.current_ssthresh();
        let floor = self.initial.min(self.cwnd);
        let mut cwnd = self.cwnd;
        let mut left = idle.saturating_sub(rto);
        while !left.is_zero() && cwnd > floor {
            cwnd /= 2;
            left = left.saturating_sub(rto.max(Duration::from_nanos(1)));
        }
        self.set_cwnd(cwnd.max(floor));
    }

    /// Only `used` segments of the window were needed: the window moves halfway there
    /// (`tcp_cwnd_application_limited`).
    pub fn validate(&mut self, used: u32) {
        let used = used.max(self.initial);
        if used < self.cwnd {
            self.ssthresh = self.current_ssthresh();
            self.set_cwnd((self.cwnd + used) / 2);
        }
    }

    /// Threshold to return to: at least three quarters of the window (`tcp_current_ssthresh`).
    fn current_ssthresh(&self) -> u32 {
        self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: u32) -> Window {
        let mut window = Window::new(10);
        window.set_cwnd(cwnd);
        window
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn slow_start_stops_at_the_threshold() {
        let mut window = window(10);
        assert_eq!(window.slow_start(8), 0);
        assert_eq!(window.cwnd(), 18);
        window.set_ssthresh(20);
        assert_eq!(window.slow_start(5), 3);
        assert_eq!(window.cwnd(), 20);
        assert_eq!(window.slow_start(5), 5);
    }

    #[test]
    fn an_increase_takes_its_acknowledgements() {
        let mut window = window(10);
        window.increase(10, 25);
        assert_eq!((window.cwnd(), window.credit), (12, 5));
        // Credit collected at ten each counts as one segment at four each.
        window.increase(4, 3);
        assert_eq!((window.cwnd(), window.credit), (13, 3));
    }

    #[test]
    fn each_idle_timeout_halves() {
        for (idle, cwnd) in [(200, 80), (201, 40), (400, 40), (401, 20), (601, 10), (5_000, 10)] {
            let mut window = window(80);
            window.restart(ms(idle), ms(200));
            assert_eq!(window.cwnd(), cwnd, "{idle} ms");
        }
        // The threshold keeps three quarters.
        let mut window = window(80);
        window.set_ssthresh(50);
        window.restart(ms(1_000), ms(200));
        assert_eq!(window.ssthresh(), 60);
        // A window below the initial one stays.
        let mut small = Window::new(10);
        small.set_cwnd(4);
        small.restart(ms(1_000), ms(200));
        assert_eq!(small.cwnd(), 4);
    }

    #[test]
    fn a_window_that_is_not_used_moves_halfway() {
        let mut window = window(80);
        window.validate(20);
        assert_eq!(window.cwnd(), 50);
        window.validate(5);
        assert_eq!(window.cwnd(), 30, "as if the first window had been used");
    }

    #[test]
    fn an_undo_restores_window_and_threshold() {
        let mut window = window(100);
        window.begin_reduction(50);
        window.set_cwnd(60);
        window.end_reduction();
        assert_eq!((window.cwnd(), window.ssthresh()), (50, 50));
        window.undo();
        assert_eq!((window.cwnd(), window.ssthresh()), (100, INFINITE_SSTHRESH));
    }
}
