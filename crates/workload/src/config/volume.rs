//! How many bytes a workload will move, for planning.

use super::{Config, Kind};
use netburn_units::{BitRate, ByteSize, Duration};

impl Config {
    /// Content of one operation; for `probe` the datagram one way. `None` when it doesn't fit.
    #[must_use]
    pub fn operation_size(&self) -> Option<ByteSize> {
        self.object_size.checked_mul(u64::from(self.objects))
    }

    /// The mean rate of content that it asks for, rounded down; `None` when it takes what it gets.
    #[must_use]
    pub fn mean_rate(&self) -> Option<BitRate> {
        BitRate::mean(self.operation_size()?, self.period()?)
    }

    /// The most operations that can fall due within `span` when nothing is late (jitter adds none on the whole);
    /// `None` when each begins when the last ends.
    #[must_use]
    pub fn operations_expected(&self, span: Duration) -> Option<u64> {
        Some(span.as_nanos().div_ceil(self.period()?.as_nanos()))
    }

    /// The most content that it will ask for within `span`; `None` when it takes what it gets (or more than fits).
    #[must_use]
    pub fn bytes_expected(&self, span: Duration) -> Option<ByteSize> {
        self.operation_size()?.checked_mul(self.operations_expected(span)?)
    }

    fn period(&self) -> Option<Duration> {
        match self.kind {
            Kind::Download | Kind::Upload => None,
            Kind::Pages | Kind::Stream | Kind::Calls | Kind::Probe => self.interval.filter(|every| !every.is_zero()),
        }
    }
}
