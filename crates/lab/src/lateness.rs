//! Statistics of the lab's own work: lateness of deliveries, standstills of the forwarding thread, processor time.

use hdrhistogram::Histogram;
use netburn_record::{LabHealth, Standstills};
use netburn_units::Duration;

/// Maximum time between two checks for standstills. Shorter standstills may not be detected. A check takes a few
/// microseconds of processor time.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// Distribution of the lateness of deliveries.
#[derive(Debug, Clone)]
pub struct Lateness {
    /// Lateness in nanoseconds.
    histogram: Histogram<u64>,
}

impl Default for Lateness {
    fn default() -> Self {
        // Up to 1 minute with three significant digits.
        let histogram = Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("constant bounds");
        Lateness { histogram }
    }
}

impl Lateness {
    /// Records the lateness of one delivery.
    pub fn record(&mut self, late: Duration) {
        self.histogram.saturating_record(late.as_nanos().max(1));
    }

    /// Returns the number of deliveries.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns the lateness that a share of the deliveries (0 to 1) did not exceed.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.histogram.value_at_quantile(share))
    }

    /// Returns the maximum lateness.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.histogram.max())
    }
}

/// Statistics of the forwarding thread.
#[derive(Debug, Clone)]
pub(crate) struct ForwarderStats {
    /// Time from the due time of a packet until it was written.
    pub(crate) lateness: Lateness,
    /// Standstills of the forwarding thread.
    pub(crate) standstills: Standstills,
    /// Packets that kernels dropped before the lab could read them.
    pub(crate) ring_drops: u64,
    /// Frames that could not be written.
    pub(crate) write_errors: u64,
    /// Processor time of the forwarding thread, as a share of one core.
    pub(crate) cpu: f64,
    /// Busy share of the machine's processor time, 0 to 1.
    pub(crate) machine_busy: f64,
    /// Share of the processor time that the hypervisor used for other guests (steal), 0 to 1.
    pub(crate) steal: f64,
    /// True if the forwarding thread has real-time priority.
    pub(crate) real_time: bool,
    /// Time for which the machine was suspended.
    pub(crate) suspended: Duration,
    /// Time that the statistics cover.
    pub(crate) span: Duration,
}

impl Default for ForwarderStats {
    fn default() -> Self {
        ForwarderStats {
            lateness: Lateness::default(),
            standstills: Standstills::new(CHECK_INTERVAL),
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

impl ForwarderStats {
    /// Returns the report, without the values that other components collect.
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
    fn the_report_has_maximum_and_percentiles() {
        let mut work = ForwarderStats::default();
        for _ in 0..99 {
            work.lateness.record(Duration::from_micros(10));
        }
        work.lateness.record(Duration::from_millis(5));
        for millis in [0, 1, 2, 43, 44] {
            work.standstills.handle_poll(Instant::from_millis(millis));
        }
        let report = work.report();
        assert_eq!(report.lateness_count, 100);
        // The histogram has three significant digits.
        assert!((report.lateness_us_p99 - 10.0).abs() < 0.1, "{report:?}");
        assert!((report.lateness_us_max - 5_000.0).abs() < 5.0, "{report:?}");
        assert_eq!((report.standstill_us_max, report.standstills), (40_000.0, 1));
    }
}
