//! TCP Small Queues: limit of the data of one connection below TCP in the sending host.

use crate::config::{Gso, Tsq, TsqSettings};
use crate::gso;
use netburn_units::{BitRate, ByteSize, Duration, Instant};

/// Memory of packets that the host has not freed.
#[derive(Debug, Clone)]
pub(crate) struct SmallQueue {
    settings: Option<TsqSettings>,
    paced: bool,
    /// Bytes of truesize ever passed down, and ever freed: packets leave in order.
    sent: u64,
    freed: u64,
    /// When a freed packet may permit a transmission.
    wake: Option<FreedWake>,
}

/// When a packet that the host frees may permit a transmission (`tcp_wfree`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FreedWake {
    /// After this time.
    after: Option<Instant>,
    /// With at most this number of bytes of truesize left in the host's queues.
    queued: Option<u64>,
}

impl FreedWake {
    /// Returns true if a packet that is freed at `now` may permit a transmission. `queued`: bytes of truesize that are left in
    /// the host's queues.
    #[must_use]
    #[inline]
    pub fn is_met(self, now: Instant, queued: u64) -> bool {
        self.after.is_some_and(|after| now > after) || self.queued.is_some_and(|most| queued <= most)
    }
}

impl SmallQueue {
    /// `paced`: the pacing timer or the `fq` qdisc paces.
    pub(crate) fn new(tsq: Tsq, paced: bool) -> Self {
        Self {
            settings: tsq.settings(),
            paced,
            sent: 0,
            freed: 0,
            wake: None,
        }
    }

    /// A packet that is freed after `time` may permit a transmission.
    pub(crate) fn wake_after(&mut self, time: Instant) {
        let wake = self.wake.get_or_insert_default();
        wake.after = Some(wake.after.map_or(time, |after| after.min(time)));
    }

    /// A freed packet may permit a transmission if at most `queued` bytes of truesize are left.
    pub(crate) fn wake_at(&mut self, queued: u64) {
        let wake = self.wake.get_or_insert_default();
        wake.queued = wake.queued.max(Some(queued));
    }

    /// From now on, no freed packet permits a transmission.
    pub(crate) fn wake_never(&mut self) {
        self.wake = None;
    }

    /// When a freed packet may permit a transmission, if the host holds packets.
    pub(crate) fn wake(&self) -> Option<FreedWake> {
        self.wake.filter(|_| self.queued() > 0)
    }

    /// Returns true if a packet that was freed at `now` may permit a transmission.
    pub(crate) fn wakes(&self, now: Instant) -> bool {
        self.wake.is_some_and(|wake| wake.is_met(now, self.queued()))
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

    /// Mark of the last packet that was passed down, for [`holds`](Self::holds).
    pub(crate) const fn mark(&self) -> u64 {
        self.sent
    }

    /// Returns true if the host still holds data passed down up to `mark`
    /// (`skb_still_in_host_queue`).
    pub(crate) const fn holds(&self, mark: u64) -> bool {
        mark > self.freed
    }

    /// Bytes of truesize in the host's queues once it has freed the data up to `mark`.
    pub(crate) const fn queued_after(&self, mark: u64) -> u64 {
        self.sent.saturating_sub(mark)
    }

    /// Shift of the pacing rate that also determines the size of bursts (`sk_pacing_shift`).
    pub(crate) fn shift(&self) -> u8 {
        self.settings.map_or(DEFAULT_PACING_SHIFT, TsqSettings::burst_shift)
    }

    /// Limit for a packet of `truesize`, `None` without a limit (`tcp_small_queue_check`). `factor`
    /// is 1 for retransmissions, otherwise 0.
    pub(crate) fn limit(&self, truesize: u32, rate: Option<BitRate>, factor: u32) -> Option<u64> {
        Some(self.settings?.limit(truesize, rate, self.paced) << factor)
    }

    /// A packet of `truesize` waits until at most this number of bytes is queued; `None` if it may be sent. `outstanding` is
    /// the number of sent and unacknowledged records: with at most one it never waits
    /// (`tcp_rtx_queue_empty_or_single_skb`).
    pub(crate) fn throttles(
        &self,
        truesize: u32,
        rate: Option<BitRate>,
        factor: u32,
        outstanding: usize,
    ) -> Option<u64> {
        let limit = self.limit(truesize, rate, factor)?;
        (outstanding > 1 && self.queued() > limit).then_some(limit)
    }
}

/// Default shift of sockets (`sock_init_data`).
const DEFAULT_PACING_SHIFT: u8 = 10;

/// Minimum number of segments in a burst (`tcp_min_tso_segs`).
const MIN_BURST: u32 = 2;

impl TsqSettings {
    /// Maximum content of one connection in its host, in bytes, for an unlimited sender. Another
    /// burst is passed down while the queued memory does not exceed the limit.
    ///
    /// It grows with the pacing rate, which follows the congestion window. If small queues limit a
    /// connection instead of the network, that rate is several times the throughput.
    #[must_use]
    pub fn max_queued(self, gso: &Gso, mss: u32, pacing_rate: BitRate, min_rtt: Option<Duration>) -> ByteSize {
        let rate = Some(pacing_rate);
        let segments = gso::burst_segments(gso, mss, rate, self.burst_shift(), min_rtt, MIN_BURST);
        let content = segments * mss;
        let weight = gso::truesize(gso, content, segments);
        let bursts = self.limit(weight, rate, false) / u64::from(weight) + 1;
        ByteSize::from_bytes(bursts * u64::from(content))
    }

    fn burst_shift(self) -> u8 {
        self.shift.unwrap_or(DEFAULT_PACING_SHIFT)
    }

    fn limit(self, truesize: u32, rate: Option<BitRate>, paced: bool) -> u64 {
        let mut limit = match self.shift {
            Some(shift) => {
                let by_rate = rate.map_or(u64::MAX >> 8, |rate| (rate.as_bps() / 8) >> shift);
                by_rate.max(2 * u64::from(truesize)).max(self.minimum.as_bytes())
            }
            None => self
                .cap
                .map_or(u64::MAX >> 8, |cap| cap.as_bytes())
                .max(self.minimum.as_bytes()),
        };
        if let Some(cap) = self.cap
            && (self.caps_paced || !paced)
        {
            limit = limit.min(cap.as_bytes());
        }
        limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TsqPreset;
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
    fn custom_settings() {
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
        assert_eq!(queue.throttles(2_304, rate, 0, 28), None);
        queue.charge(2_304);
        assert_eq!(queue.throttles(2_304, rate, 0, 29), Some(65_536));
        assert_eq!(queue.throttles(2_304, rate, 0, 1), None);
        queue.free(2_304);
        assert_eq!(queue.throttles(2_304, rate, 0, 29), None);
    }

    #[test]
    fn a_connection_holds_a_burst_more_than_the_limit_reaches() {
        // Far enough that the round-trip time doesn't enlarge bursts.
        let far = Some(Duration::from_millis(10));
        let held = |preset: TsqPreset, mbps| {
            let rate = BitRate::from_mbps(mbps);
            preset
                .settings()
                .max_queued(&Gso::default(), 1_448, rate, far)
                .as_bytes()
        };
        // 1 ms of 100 Mbit/s are 12,207 bytes: 8 segments, 11,584 bytes with a memory of 12,864.
        // Two such bursts are at the limit, so a third is passed down.
        assert_eq!(held(TsqPreset::Y2013, 100), 3 * 11_584);
        // A minimum of 128 KiB: after 10 bursts 128,640 are queued, which is still below 131,072.
        assert_eq!(held(TsqPreset::Y2013Min, 100), 11 * 11_584);
        // 8 ms are 97,656, so a burst has the maximum length: 45 segments with a memory of 66,440.
        assert_eq!(held(TsqPreset::Y2025, 100), 3 * 65_160);
        // The slowest sends two segments at a time.
        assert_eq!(held(TsqPreset::Y2013, 1), 3 * 2_896);
        // As single packets, each has a memory of 4,352: at 100 Mbit/s and 8 ms 22 of them are
        // below the limit.
        let single = TsqPreset::Y2025.settings();
        let rate = BitRate::from_mbps(100);
        assert_eq!(single.max_queued(&Gso::off(), 1_448, rate, far).as_bytes(), 23 * 1_448);
    }
}
