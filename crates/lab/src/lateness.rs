//! The lab's own work: how late packets were delivered, how long the thread that carries them stood still, and so on.

use hdrhistogram::Histogram;
use netburn_record::{LabHealth, Standstills};
use netburn_units::Duration;

/// The thread that carries packets looks for them at least this often: a shorter standstill may go unseen. A look costs some
/// microseconds of processor time.
pub(crate) const LOOK: Duration = Duration::from_millis(1);

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

/// The lab's own work, as it goes.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    /// From when a packet was due to when it was written.
    pub(crate) lateness: Lateness,
    /// Of the thread that carries packets.
    pub(crate) standstills: Standstills,
    /// Packets that kernels sent and that were dropped before we read them.
    pub(crate) ring_drops: u64,
    /// Frames that could not be written.
    pub(crate) write_errors: u64,
    /// Processor time of the thread that carries packets, as a share of one core.
    pub(crate) cpu: f64,
    /// The machine's busy share.
    pub(crate) machine_busy: f64,
    /// The share that the hypervisor took.
    pub(crate) steal: f64,
    /// Whether that thread has real-time priority.
    pub(crate) real_time: bool,
    /// For how long the machine was suspended.
    pub(crate) suspended: Duration,
    /// Over how long.
    pub(crate) span: Duration,
}

impl Default for Work {
    fn default() -> Self {
        Work {
            lateness: Lateness::default(),
            standstills: Standstills::new(LOOK),
            ring_drops: 0,
            write_errors: 0,
            cpu: 0.0,
            machine_busy: 0.0,
            steal: 0.0,
            real_time: false,
            suspended: Duration::ZERO,
            span: Duration::ZERO,
        }
    }
}

impl Work {
    /// The report on it; what others than the thread know of is left out.
    pub(crate) fn report(&self) -> LabHealth {
        let micros = |span: Duration| span.as_nanos() as f64 / 1e3;
        LabHealth {
            span_us: micros(self.span),
            real_time: self.real_time,
            lateness_us_p50: micros(self.lateness.quantile(0.5)),
            lateness_us_p99: micros(self.lateness.quantile(0.99)),
            lateness_us_max: micros(self.lateness.max()),
            lateness_count: self.lateness.count(),
            standstill_us_max: micros(self.standstills.longest()),
            standstill_us_total: micros(self.standstills.total()),
            standstills: self.standstills.count(),
            suspended_us: micros(self.suspended),
            ring_drops: self.ring_drops,
            write_errors: self.write_errors,
            cpu: self.cpu,
            machine_busy: self.machine_busy,
            steal: self.steal,
            ..LabHealth::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Instant;

    #[test]
    fn the_report_has_the_longest_beside_the_percentiles() {
        let mut work = Work::default();
        for _ in 0..99 {
            work.lateness.record(Duration::from_micros(10));
        }
        work.lateness.record(Duration::from_millis(5));
        for millis in [0, 1, 2, 43, 44] {
            work.standstills.handle_poll(Instant::from_millis(millis));
        }
        let report = work.report();
        assert_eq!(report.lateness_count, 100);
        // Three digits are kept.
        assert!((report.lateness_us_p99 - 10.0).abs() < 0.1, "{report:?}");
        assert!((report.lateness_us_max - 5_000.0).abs() < 5.0, "{report:?}");
        assert_eq!((report.standstill_us_max, report.standstills), (40_000.0, 1));
    }
}
