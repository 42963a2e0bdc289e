//! TCP Small Queues: how much of one connection may wait below it in the sending host.

use crate::config::{Tsq, TsqSettings};
use netburn_units::BitRate;

/// What is charged for packets that the host has not let go of.
#[derive(Debug, Clone)]
pub(crate) struct SmallQueue {
    settings: Option<TsqSettings>,
    paced: bool,
    /// Bytes of truesize ever handed down, and ever let go: packets leave in the order in which they came.
    sent: u64,
    freed: u64,
}

impl SmallQueue {
    /// `paced`: whether the pacing timer or the `fq` qdisc paces.
    pub(crate) fn new(tsq: Tsq, paced: bool) -> Self {
        Self {
            settings: tsq.settings(),
            paced,
            sent: 0,
            freed: 0,
        }
    }

    pub(crate) fn charge(&mut self, truesize: u32) {
        self.sent += u64::from(truesize);
    }

    pub(crate) fn free(&mut self, truesize: u64) {
        self.freed = self.freed.saturating_add(truesize).min(self.sent);
    }

    /// Bytes of truesize in the host's queues (`sk_wmem_alloc`).
    pub(crate) const fn queued(&self) -> u64 {
        self.sent - self.freed
    }

    /// The mark of what was handed down last, for [`holds`](Self::holds).
    pub(crate) const fn mark(&self) -> u64 {
        self.sent
    }

    /// Whether the host still holds what was handed down up to `mark` (`skb_still_in_host_queue`).
    pub(crate) const fn holds(&self, mark: u64) -> bool {
        mark > self.freed
    }

    /// The shift of the pacing rate that also sizes bursts (`sk_pacing_shift`).
    pub(crate) fn shift(&self) -> u8 {
        self.settings.and_then(|settings| settings.shift).unwrap_or(10)
    }

    /// The limit for a packet of `truesize`, `None` when there is none (`tcp_small_queue_check`). `factor` is 1 for
    /// retransmissions, else 0.
    pub(crate) fn limit(&self, truesize: u32, rate: Option<BitRate>, factor: u32) -> Option<u64> {
        let settings = self.settings.as_ref()?;
        let mut limit = match settings.shift {
            Some(shift) => {
                let by_rate = rate.map_or(u64::MAX >> 8, |rate| (rate.as_bps() / 8) >> shift);
                by_rate.max(2 * u64::from(truesize)).max(settings.minimum.as_bytes())
            }
            None => settings
                .cap
                .map_or(u64::MAX >> 8, |cap| cap.as_bytes())
                .max(settings.minimum.as_bytes()),
        };
        if let Some(cap) = settings.cap
            && (settings.caps_paced || !self.paced)
        {
            limit = limit.min(cap.as_bytes());
        }
        Some(limit << factor)
    }

    /// Whether a packet of `truesize` has to wait; `outstanding` counts the records that are sent and unacknowledged: with
    /// one or none it never waits (`tcp_rtx_queue_empty_or_single_skb`).
    pub(crate) fn throttles(&self, truesize: u32, rate: Option<BitRate>, factor: u32, outstanding: usize) -> bool {
        outstanding > 1
            && self
                .limit(truesize, rate, factor)
                .is_some_and(|limit| self.queued() > limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{TsqPreset, TsqSettings};
    use netburn_units::ByteSize;

    fn limit(preset: TsqPreset, mbps: u64, paced: bool) -> u64 {
        SmallQueue::new(Tsq::Preset(preset), paced)
            .limit(2_304, Some(BitRate::from_mbps(mbps)), 0)
            .unwrap()
    }

    /// At 100 Mbit/s, 12.5 MB/s: 2^−10 s hold 12207 bytes, 2^−8 48828, 2^−7 97656.
    #[test]
    fn limits_of_every_year() {
        use TsqPreset::{Y2012, Y2013, Y2013Min, Y2014, Y2015, Y2018, Y2019, Y2025};
        assert_eq!(limit(Y2012, 100, false), 131_072);
        assert_eq!(limit(Y2013, 100, false), 12_207);
        assert_eq!(limit(Y2013, 1, false), 4_608);
        assert_eq!(limit(Y2013Min, 100, false), 131_072);
        assert_eq!(limit(Y2014, 100, false), 12_207);
        assert_eq!(limit(Y2014, 10_000, false), 131_072);
        assert_eq!(limit(Y2015, 10_000, false), 262_144);
        assert_eq!(limit(Y2018, 100, false), 48_828);
        assert_eq!(limit(Y2019, 100, false), 97_656);
        assert_eq!(limit(Y2019, 10_000, false), 1 << 20);
        assert_eq!(limit(Y2019, 10_000, true), 9_765_625);
        assert_eq!(limit(Y2025, 10_000, true), 4 << 20);
        assert_eq!(SmallQueue::new(Tsq::Off, false).limit(2_304, None, 0), None);
    }

    #[test]
    fn settings_of_ones_own() {
        let settings = TsqSettings {
            shift: Some(10),
            minimum: ByteSize::from_kib(64),
            cap: None,
            caps_paced: true,
        };
        let mut queue = SmallQueue::new(Tsq::Custom(settings), false);
        let rate = Some(BitRate::from_mbps(100));
        assert_eq!(queue.limit(2_304, rate, 0), Some(65_536));
        assert_eq!(queue.limit(2_304, rate, 1), Some(131_072));
        for _ in 0..28 {
            queue.charge(2_304);
        }
        assert!(!queue.throttles(2_304, rate, 0, 28));
        queue.charge(2_304);
        assert!(queue.throttles(2_304, rate, 0, 29));
        assert!(!queue.throttles(2_304, rate, 0, 1));
        queue.free(2_304);
        assert!(!queue.throttles(2_304, rate, 0, 29));
    }
}
