//! How late packets were delivered, and what else puts a run's figures in doubt.

use hdrhistogram::Histogram;
use netburn_units::Duration;

/// The 99th percentile of lateness that is still believed: a round trip has two deliveries in it, and a lightly loaded air's is a
/// millisecond.
pub const LIMIT: Duration = Duration::from_micros(500);

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
        reasons
    }
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
}
