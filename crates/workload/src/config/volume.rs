//! Number of bytes that a workload moves, for planning.

use super::{Config, Kind};
use netburn_units::{BitRate, ByteSize, Duration};

impl Config {
    /// Content of one operation; for `probe` and `voice` the datagram in one direction. `None` on overflow.
    #[must_use]
    pub fn operation_size(&self) -> Option<ByteSize> {
        self.object_size.checked_mul(u64::from(self.objects))
    }

    /// Mean rate of requested content, rounded down; `None` for unthrottled kinds.
    #[must_use]
    pub fn mean_rate(&self) -> Option<BitRate> {
        BitRate::mean(self.operation_size()?, self.period()?)
    }

    /// Maximum number of operations that can be due within `span` without delays (jitter adds none
    /// on average). `None` if each starts when the previous one ends.
    #[must_use]
    pub fn operations_expected(&self, span: Duration) -> Option<u64> {
        Some(span.as_nanos().div_ceil(self.period()?.as_nanos()))
    }

    /// Maximum content requested within `span`; `None` for unthrottled kinds and on overflow.
    #[must_use]
    pub fn bytes_expected(&self, span: Duration) -> Option<ByteSize> {
        self.operation_size()?.checked_mul(self.operations_expected(span)?)
    }

    fn period(&self) -> Option<Duration> {
        match self.kind {
            Kind::Download | Kind::Upload => None,
            // One packet in each direction.
            Kind::Voice => self.interval.map(|every| every / 2).filter(|every| !every.is_zero()),
            Kind::Pages | Kind::Stream | Kind::Calls | Kind::Probe => self.interval.filter(|every| !every.is_zero()),
        }
    }
}
