//! How late packets were delivered, and what else puts a run's figures in doubt.

use hdrhistogram::Histogram;
use netburn_units::Duration;

/// The 99th percentile of lateness that is still believed: a round trip has two deliveries in it, and a lightly loaded air's is a
/// millisecond.
pub const LIMIT: Duration = Duration::from_micros(500);
/// The share of the machine's time that the hypervisor may take: what it takes comes in pieces of milliseconds, in which nothing
/// here moves.
pub const STEAL: f64 = 0.02;
/// The machine's busy share that is still believed. Above it, the programs inside wait for processors, and for each other.
pub const BUSY: f64 = 0.98;
/// Processor time of the thread that carries packets, as a share of one core. Above it, that thread is the bottleneck.
pub const CPU: f64 = 0.95;

/// How late each delivery was.
#[derive(Debug, Clone)]
pub struct Lateness {
    /// In nanoseconds.
    histogram: Histogram<u64>,
}

impl Default for Lateness {
    fn default() -> Self {
        // Up to a minute, three digits.
        let histogram = Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("constant bounds");
        Lateness { histogram }
    }
}

impl Lateness {
    /// One delivery.
    pub fn record(&mut self, late: Duration) {
        self.histogram.saturating_record(late.as_nanos().max(1));
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The lateness that a share of them (0 to 1) did not exceed.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.histogram.value_at_quantile(share))
    }

    /// The worst.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.histogram.max())
    }
}

/// What is said of a lab's own work.
#[derive(Debug, Clone, Default)]
pub struct LabHealth {
    /// From when a packet was due to when it was written.
    pub lateness: Lateness,
    /// Packets that kernels sent and that were dropped before we read them.
    pub ring_drops: u64,
    /// Frames that could not be written.
    pub write_errors: u64,
    /// Processor time of the thread that carries packets, as a share of one core.
    pub cpu: f64,
    /// The machine's busy share.
    pub machine_busy: f64,
    /// The share that the hypervisor took.
    pub steal: f64,
    /// Whether that thread had real-time priority.
    pub first: bool,
    /// Over how long.
    pub span: Duration,
}

impl LabHealth {
    /// Why the figures can't be believed, each a plain sentence; empty when they can.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        let late = self.lateness.quantile(0.99);
        if self.lateness.count() > 0 && late > LIMIT {
            reasons.push(format!(
                "the lab delivered packets {:.2} ms late at the 99th percentile; the limit is {:.1} ms",
                late.as_millis_f64(),
                LIMIT.as_millis_f64()
            ));
        }
        if self.ring_drops > 0 {
            reasons.push(format!(
                "the kernel dropped {} packets before the lab could read them; the limit is 0",
                self.ring_drops
            ));
        }
        if self.write_errors > 0 {
            reasons.push(format!(
                "the lab could not deliver {} frames; the limit is 0",
                self.write_errors
            ));
        }
        let shares = [
            ("the hypervisor took {} of the machine's time", self.steal, STEAL),
            ("the machine was {} busy while the lab ran", self.machine_busy, BUSY),
            ("carrying packets took {} of a core", self.cpu, CPU),
        ];
        for (text, share, limit) in shares {
            if share.is_nan() || share > limit {
                let text = text.replace("{}", &percent(share));
                reasons.push(format!("{text}; the limit is {}", percent(limit)));
            }
        }
        reasons
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_counts_what_is_late() {
        let mut health = LabHealth::default();
        assert_eq!(health.reasons(), [""; 0]);
        for _ in 0..99 {
            health.lateness.record(Duration::from_micros(10));
        }
        health.lateness.record(Duration::from_millis(5));
        assert_eq!(health.reasons(), [""; 0]);
        health.lateness.record(Duration::from_millis(5));
        assert_eq!(health.reasons().len(), 1);
        health.ring_drops = 1;
        health.write_errors = 1;
        assert_eq!(health.reasons().len(), 3);
    }

    #[test]
    fn the_gate_judges_the_machine() {
        type Change = fn(&mut LabHealth, f64);
        let table: [(Change, f64, f64, &str); 3] = [
            (
                |health, share| health.steal = share,
                0.02,
                0.03,
                "the hypervisor took 3 % of the machine's time; the limit is 2 %",
            ),
            (
                |health, share| health.machine_busy = share,
                0.98,
                0.991,
                "the machine was 99 % busy while the lab ran; the limit is 98 %",
            ),
            (
                |health, share| health.cpu = share,
                0.95,
                0.97,
                "carrying packets took 97 % of a core; the limit is 95 %",
            ),
        ];
        for (change, believed, doubted, sentence) in table {
            let mut health = LabHealth::default();
            change(&mut health, believed);
            assert_eq!(health.reasons(), [""; 0]);
            change(&mut health, doubted);
            assert_eq!(health.reasons(), [sentence]);
            change(&mut health, f64::NAN);
            assert_eq!(health.reasons().len(), 1, "what couldn't be measured is no pass");
        }
    }
}
