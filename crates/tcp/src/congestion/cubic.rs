//! CUBIC: RFC 9438, in the integers of Linux's `tcp_cubic.c`.
//!
//! Time is in ticks of 1 ms (a kernel with `HZ` = 1000) and, inside the cubic function, in 1/1024 s.

use super::window::Window;
use netburn_units::{Duration, Instant};

/// β, the factor of a window reduction: 717/1024 ≈ 0.7 (RFC 9438 §4.6).
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1_024;
/// C, in 1/1024: 410/1024 ≈ 0.4 (RFC 9438 §5).
const C: u64 = 410;
/// In the Reno-friendly region the estimate grows by one segment for each 15/8 of a window
/// acknowledged. 15/8 is 1/α, where α = 3 (1 − β)/(1 + β) (RFC 9438 §4.3).
const RENO_EIGHTHS: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);
/// Minimum time between computations of the cubic function for the same window, in ticks.
const RECOMPUTE: i64 = 1_000 / 32;
/// Maximum window in the units of [`Window`], and maximum time in 1/1024 s, whose cube fits into 64
/// bits.
const MAX_CUBE_INPUT: u64 = 1 << 17;

/// CUBIC state of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Cubic {
    /// W_max: the window before the last reduction, or less (fast convergence); 0 before the first.
    w_max: u32,
    epoch: Option<Epoch>,
    /// Acknowledged segments per segment of growth.
    per: u32,
    last_cwnd: u32,
    last_tick: i64,
    last_sent: Option<Instant>,
}

/// Time since the last reduction.
#[derive(Debug, Clone)]
struct Epoch {
    began: Instant,
    /// K: time at which the curve reaches its plateau, in 1/1024 s.
    k: u64,
    /// Plateau.
    origin: u32,
    /// Estimate of Reno's window.
    reno: u32,
    /// Acknowledged segments towards its next increase.
    acked: u32,
}

impl Cubic {
    /// Congestion avoidance for `acked` segments (`cubictcp_cong_avoid` after slow start).
    pub(super) fn avoid(&mut self, window: &mut Window, now: Instant, acked: u32, shortest_rtt: Duration) {
        let per = self.update(window.cwnd(), now, acked, shortest_rtt);
        window.increase(per, acked);
    }

    /// Threshold after a reduction (`cubictcp_recalc_ssthresh`): β × cwnd, at least 2 (RFC 9438
    /// §4.6). The epoch ends; a window below the last W_max leaves room for other flows (fast
    /// convergence, §4.7).
    pub(super) fn reduced(&mut self, cwnd: u32) -> u32 {
        self.epoch = None;
        let window = u64::from(cwnd);
        self.w_max = if cwnd < self.w_max {
            narrow(window * (BETA_SCALE + BETA) / (2 * BETA_SCALE))
        } else {
            cwnd
        };
        narrow(window * BETA / BETA_SCALE).max(2)
    }

    /// Resets all state after a retransmission timeout (`bictcp_reset`).
    pub(super) fn reset(&mut self) {
        *self = Self {
            last_sent: self.last_sent,
            ..Self::default()
        };
    }

    /// Data are sent; `idle`: nothing was in flight. Idle time does not count: the epoch is shifted
    /// by it (RFC 9438 §5.8, `cubictcp_cwnd_event`).
    pub(super) fn on_sent(&mut self, now: Instant, idle: bool) {
        if idle
            && let Some(epoch) = &mut self.epoch
            && let Some(last) = self.last_sent
        {
            let pause = now.checked_since(last).unwrap_or_default();
            epoch.began = (epoch.began + pause).min(now);
        }
        self.last_sent = Some(now);
    }

    /// Returns true if the epoch began less than `span` ago.
    pub(super) fn began_within(&self, now: Instant, span: Duration) -> bool {
        self.epoch
            .as_ref()
            .is_some_and(|epoch| now.checked_since(epoch.began).unwrap_or_default() < span)
    }

    /// Acknowledged segments per segment of growth (`bictcp_update`).
    fn update(&mut self, cwnd: u32, now: Instant, acked: u32, shortest_rtt: Duration) -> u32 {
        let tick = tick(now);
        if let Some(epoch) = &mut self.epoch {
            epoch.acked = epoch.acked.saturating_add(acked);
            if self.last_cwnd == cwnd && tick - self.last_tick <= RECOMPUTE {
                return self.per;
            }
        }
        // Within one tick only the Reno-friendly region is updated.
        if self.epoch.is_none() || tick != self.last_tick {
            self.last_cwnd = cwnd;
            self.last_tick = tick;
            let epoch = self
                .epoch
                .get_or_insert_with(|| Epoch::begin(now, cwnd, self.w_max, acked));
            self.per = epoch.per(cwnd, now, shortest_rtt);
            if self.w_max == 0 {
                // Without an estimate of the path: at least 5 % per round trip.
                self.per = self.per.min(20);
            }
        }
        let epoch = self.epoch.as_mut().expect("an epoch has begun");
        if let Some(per) = epoch.reno_per(cwnd) {
            self.per = self.per.min(per);
        }
        // At most half a segment per acknowledged one: 1.5 windows after a round trip (RFC 9438
        // §4.4).
        self.per = self.per.max(2);
        self.per
    }
}

impl Epoch {
    fn begin(now: Instant, cwnd: u32, w_max: u32, acked: u32) -> Self {
        // K = ∛((W_max − cwnd)/C) (RFC 9438 §4.2), in 1/1024 s: the cube is scaled by 2³⁰, C by 2¹⁰.
        let missing = u64::from(w_max.saturating_sub(cwnd));
        Self {
            began: now,
            k: cube_root((missing << 40) / C),
            origin: w_max.max(cwnd),
            reno: cwnd,
            acked,
        }
    }

    /// From the cubic function: W(t) = C (t − K)³ + W_max, for one round trip from now (RFC 9438
    /// §4.2).
    fn per(&self, cwnd: u32, now: Instant, shortest_rtt: Duration) -> u32 {
        let begun = u64::try_from(tick(now) - tick(self.began)).unwrap_or(0);
        let elapsed = begun + shortest_rtt.as_millis();
        let t = elapsed * 1_024 / 1_000;
        let distance = t.abs_diff(self.k).min(MAX_CUBE_INPUT);
        let delta = narrow((C * distance * distance * distance) >> 40);
        let target = if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        };
        match target.checked_sub(cwnd) {
            None | Some(0) => cwnd.saturating_mul(100),
            Some(missing) => cwnd / missing,
        }
    }

    /// From Reno's estimated window, if that is larger (RFC 9438 §4.3).
    fn reno_per(&mut self, cwnd: u32) -> Option<u32> {
        let per = narrow((u64::from(cwnd) * RENO_EIGHTHS) >> 3).max(1);
        // Linux adds one while *more* than `per` are left.
        let grown = self.acked.saturating_sub(1) / per;
        self.acked -= grown * per;
        self.reno = self.reno.saturating_add(grown);
        let missing = self.reno.checked_sub(cwnd).filter(|missing| *missing > 0)?;
        Some(cwnd / missing)
    }
}

/// `now` in whole milliseconds.
fn tick(now: Instant) -> i64 {
    now.as_nanos().div_euclid(1_000_000)
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// ∛value, rounded down.
fn cube_root(value: u64) -> u64 {
    let mut root = 0u64;
    for bit in (0..22).rev() {
        let candidate = root | 1 << bit;
        if u128::from(candidate).pow(3) <= u128::from(value) {
            root = candidate;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_constants_are_those_of_the_rfc() {
        // α = 3 (1 − 0.7)/(1 + 0.7) = 0.529; 1/α = 1.889, 15/8 = 1.875.
        assert_eq!(RENO_EIGHTHS, 15);
        assert_eq!((C * 1_000 / 1_024, BETA * 1_000 / 1_024), (400, 700));
    }

    #[test]
    fn roots_of_cubes() {
        for (value, root) in [(0, 0), (1, 1), (7, 1), (8, 2), (26, 2), (27, 3), (1 << 60, 1 << 20)] {
            assert_eq!(cube_root(value), root, "{value}");
        }
    }

    #[test]
    fn a_loss_leaves_seven_tenths_and_fast_convergence_gives_room() {
        let mut cubic = Cubic::default();
        assert_eq!(cubic.reduced(100), 70);
        assert_eq!(cubic.w_max, 100);
        // Below the last W_max: (1 + 0.7)/2 × 80 = 68.
        assert_eq!(cubic.reduced(80), 56);
        assert_eq!(cubic.w_max, 68);
        assert_eq!(cubic.reduced(2), 2);
        // A window as large as the last W_max leaves no room for others (RFC 9438 §4.7).
        let mut cubic = Cubic::default();
        for _ in 0..2 {
            cubic.reduced(100);
            assert_eq!(cubic.w_max, 100);
        }
    }

    /// Round-trip times are ignored in the first second of an epoch, and used from then on.
    #[test]
    fn an_epoch_is_young_for_a_second() {
        let mut cubic = Cubic::default();
        assert!(!cubic.began_within(Instant::ZERO, Duration::from_secs(1)));
        cubic.avoid(&mut Window::new(10), Instant::ZERO, 1, Duration::ZERO);
        for (millis, young) in [(0, true), (999, true), (1_000, false)] {
            assert_eq!(
                cubic.began_within(Instant::from_millis(millis), Duration::from_secs(1)),
                young
            );
        }
    }

    /// RFC 9438 §4.3: Reno's window grows by α_cubic = 3 (1 − β)/(1 + β), 9/17, for each window
    /// acknowledged. Linux rounds 17/9 to 15/8, so a window of 80 grows by one after 15/8 of it.
    #[test]
    fn the_reno_friendly_window() {
        let mut epoch = Epoch::begin(Instant::ZERO, 80, 100, 0);
        epoch.acked = 150;
        assert_eq!((epoch.reno_per(80), epoch.reno), (None, 80), "one more is needed");
        epoch.acked += 1;
        assert_eq!((epoch.reno_per(80), epoch.reno, epoch.acked), (Some(80), 81, 1));
        // Four at once: 80 ÷ 5.
        epoch.acked += 4 * 150;
        assert_eq!((epoch.reno_per(80), epoch.reno, epoch.acked), (Some(16), 85, 1));
        // A window above Reno's is not in the Reno-friendly region.
        assert_eq!(epoch.reno_per(85), None);
        assert_eq!(epoch.reno_per(84), Some(84));
    }

    #[test]
    fn the_largest_cube_fits() {
        assert!(C.checked_mul(MAX_CUBE_INPUT.pow(3)).is_some());
        assert!(((1u64 << 24) - 1).checked_mul(1 << 40).is_some());
    }

    #[test]
    fn time_may_begin_anywhere() {
        let windows = |start: Instant| -> Vec<u32> {
            let (mut cubic, mut window) = (Cubic::default(), Window::new(100));
            window.set_ssthresh(cubic.reduced(100));
            window.end_reduction();
            (0..2_000)
                .map(|n| {
                    let now = start + Duration::from_millis(5 * n);
                    cubic.avoid(&mut window, now, 2, Duration::from_millis(50));
                    window.cwnd()
                })
                .collect()
        };
        let here = windows(Instant::ZERO);
        assert!(here[1_999] > 100, "W_max is passed within 10 s");
        assert_eq!(windows(Instant::from_secs(-5)), here);
        assert_eq!(windows(Instant::from_secs(100_000)), here);
    }

    proptest! {
        #[test]
        fn a_root_is_the_largest_whose_cube_fits(value: u64) {
            let root = u128::from(cube_root(value));
            prop_assert!(root.pow(3) <= u128::from(value));
            prop_assert!((root + 1).pow(3) > u128::from(value));
        }
    }
}
