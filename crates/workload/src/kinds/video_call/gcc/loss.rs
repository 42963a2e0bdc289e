//! Rate by the share of lost packets (section 6).

use netburn_units::{Duration, Instant};

/// Below this share the rate rises.
const LOW: f64 = 0.02;
/// Above this share the rate falls.
const HIGH: f64 = 0.10;
/// Factor of a rise.
const INCREASE: f64 = 1.05;
/// Part of the loss by which the rate falls.
const DECREASE: f64 = 0.5;
/// Minimum time between two changes.
const INTERVAL: Duration = Duration::from_millis(200);

/// Loss-based rate in bit/s.
#[derive(Debug, Clone)]
pub(super) struct LossController {
    rate: f64,
    changed: Option<Instant>,
    lost: u64,
    packets: u64,
}

impl LossController {
    pub(super) fn new(rate: f64) -> Self {
        LossController {
            rate,
            changed: None,
            lost: 0,
            packets: 0,
        }
    }

    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Counts the packets of a feedback at `now`. Every 200 ms their loss changes the rate.
    pub(super) fn update(&mut self, now: Instant, lost: usize, packets: usize, range: (f64, f64)) {
        self.lost += lost as u64;
        self.packets += packets as u64;
        let changed = *self.changed.get_or_insert(now);
        let is_early = now.checked_since(changed).is_none_or(|since| since < INTERVAL);
        if is_early || self.packets == 0 {
            return;
        }
        let share = self.lost as f64 / self.packets as f64;
        if share > HIGH {
            self.rate *= 1.0 - DECREASE * share;
        } else if share < LOW {
            self.rate *= INCREASE;
        }
        self.rate = self.rate.clamp(range.0, range.1);
        (self.changed, self.lost, self.packets) = (Some(now), 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: (f64, f64) = (50e3, 5e6);

    /// 20 % loss: 1 − 0.5 · 0.2 = 0.9. 5 % changes nothing. 1 % is a rise of 5 %.
    #[test]
    fn loss_changes_the_rate_every_200_ms() {
        let mut loss = LossController::new(1e6);
        let at = Instant::from_millis;
        loss.update(at(0), 10, 50, RANGE);
        loss.update(at(100), 10, 50, RANGE);
        assert_eq!(loss.rate(), 1e6);
        loss.update(at(200), 0, 0, RANGE);
        assert!((loss.rate() - 0.9e6).abs() < 1e-6);
        loss.update(at(400), 5, 100, RANGE);
        assert!((loss.rate() - 0.9e6).abs() < 1e-6);
        loss.update(at(600), 1, 100, RANGE);
        assert!((loss.rate() - 0.945e6).abs() < 1e-6);
    }
}
