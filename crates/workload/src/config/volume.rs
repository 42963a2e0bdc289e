//! Number of bytes that a workload moves, for planning.

use super::{Config, Kind, LOAD_OBJECT};
use netburn_units::{BitRate, ByteSize, Duration};

impl Config {
    /// Content of one operation; for `probe` and `voice` the datagram in one direction, and the longest packet or
    /// frame of kinds with streams. For `responsiveness` an object of the load, if it has load. For `dash` a segment of the
    /// highest bit rate. `None` on overflow.
    #[must_use]
    pub fn operation_size(&self) -> Option<ByteSize> {
        if self.kind.has_streams() {
            return self.packet_streams().all().map(|(_, stream)| stream.size).max();
        }
        if self.kind == Kind::Responsiveness && self.load.count() > 0 {
            return Some(LOAD_OBJECT);
        }
        if let Some(dash) = &self.dash {
            return Some(dash.segment_size(dash.highest()));
        }
        self.object_size.checked_mul(u64::from(self.objects))
    }

    /// Mean rate of requested content, rounded down; `None` for unthrottled kinds. For a `video-call` it is that of the
    /// targets, for `dash` the highest bit rate.
    #[must_use]
    pub fn mean_rate(&self) -> Option<BitRate> {
        if self.kind.has_streams() {
            let streams = self.packet_streams();
            let rates = streams.all().map(|(_, stream)| stream.rate().as_bps());
            return Some(BitRate::from_bps(rates.fold(0, u64::saturating_add)));
        }
        if let Some(dash) = &self.dash {
            return Some(dash.highest());
        }
        BitRate::mean(self.operation_size()?, self.period()?)
    }

    /// Maximum number of operations that can be due within `span` without delays (jitter adds none
    /// on average). `None` if each starts when the previous one ends.
    #[must_use]
    pub fn operations_expected(&self, span: Duration) -> Option<u64> {
        if self.kind.has_streams() {
            return Some(self.packet_streams().packets_within(span));
        }
        if let Some(dash) = &self.dash {
            // The player can't request more than it plays and stores.
            let media = span.as_nanos().saturating_add(dash.max_buffer.as_nanos());
            return Some(media.div_ceil(dash.segment.as_nanos().max(1)));
        }
        Some(span.as_nanos().div_ceil(self.period()?.as_nanos()))
    }

    /// Maximum content requested within `span`; `None` for unthrottled kinds and on overflow.
    #[must_use]
    pub fn bytes_expected(&self, span: Duration) -> Option<ByteSize> {
        if self.kind.has_streams() {
            return self
                .packet_streams()
                .all()
                .try_fold(ByteSize::ZERO, |sum, (_, stream)| {
                    sum.checked_add(stream.size.checked_mul(stream.packets_within(span))?)
                });
        }
        self.operation_size()?.checked_mul(self.operations_expected(span)?)
    }

    fn period(&self) -> Option<Duration> {
        match self.kind {
            Kind::Download | Kind::Upload | Kind::Dash => None,
            Kind::Datagrams | Kind::Game | Kind::CloudGaming | Kind::VideoCall => None,
            Kind::Responsiveness if self.load.count() > 0 => None,
            // One packet in each direction.
            Kind::Voice => self.interval.map(|every| every / 2).filter(|every| !every.is_zero()),
            Kind::Pages | Kind::Stream | Kind::Calls | Kind::Probe | Kind::Responsiveness => {
                self.interval.filter(|every| !every.is_zero())
            }
        }
    }
}
