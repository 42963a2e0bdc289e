//! A rate limit as a virtual link: data arrives when a link of this rate would have delivered it.
//!
//! A sender reserves the link for one piece of data, waits until its last bit has left, and passes the piece to the
//! network. Each sender has at most one reservation. Competing senders therefore take turns, like packets of several
//! flows in one FIFO queue.

use netburn_units::{BitRate, ByteSize, Duration, Instant};

/// A link with a fixed rate.
#[derive(Debug, Clone)]
pub struct VirtualLink {
    rate: BitRate,
    /// Start of the present busy period.
    busy_from: Instant,
    /// Bits reserved in it. The sum is exact, so rounding errors do not accumulate.
    bits: u128,
    free_at: Instant,
}

/// Approximate duration of a piece.
const PIECE: Duration = Duration::from_millis(1);
/// Minimum size of a piece in bytes: one packet.
const MIN_PIECE: u64 = 1_500;
/// Maximum size of a piece in bytes.
const MAX_PIECE: u64 = 256 << 10;
/// Maximum lateness that is compensated: a late sender's next reservation starts at its due time, but at most this long
/// ago.
const MAX_LATENESS: Duration = Duration::from_millis(25);

impl VirtualLink {
    /// Creates an idle link. A rate of 0 counts as 1 bit/s.
    #[must_use]
    pub fn new(rate: BitRate) -> Self {
        Self {
            rate: rate.max(BitRate::from_bps(1)),
            busy_from: Instant::from_nanos(i64::MIN),
            bits: 0,
            free_at: Instant::from_nanos(i64::MIN),
        }
    }

    /// Returns the rate.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.rate
    }

    /// Returns the size of pieces to reserve: 1 ms at the link's rate, at least 1500 B and at most 256 KiB.
    #[must_use]
    pub fn piece(&self) -> ByteSize {
        let bytes = u128::from(self.rate.as_bps()) * u128::from(PIECE.as_nanos()) / 8_000_000_000;
        ByteSize::from_bytes(u64::try_from(bytes).unwrap_or(MAX_PIECE).clamp(MIN_PIECE, MAX_PIECE))
    }

    /// Reserves the link for `size` bytes behind all existing reservations, for data that is ready since `ready`.
    /// Returns the time when its last bit has left.
    pub fn reserve(&mut self, ready: Instant, size: ByteSize) -> Instant {
        if ready > self.free_at {
            (self.busy_from, self.bits) = (ready, 0);
        }
        self.bits += u128::from(size.as_bytes()) * 8;
        let nanos = (self.bits * 1_000_000_000).div_ceil(u128::from(self.rate.as_bps()));
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        self.free_at = self
            .busy_from
            .checked_add(Duration::from_nanos(nanos))
            .unwrap_or(Instant::from_nanos(i64::MAX));
        self.free_at
    }

    /// Returns the time when all reserved data has left.
    #[must_use]
    pub fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Records `size` bytes sent at `now`, whether or not the link was [free](Self::free_at). The sender may have been
    /// up to 25 ms late.
    pub fn charge(&mut self, now: Instant, size: ByteSize) {
        self.reserve(Self::ready_since(self.free_at, now), size);
    }

    /// Returns the time since which a continuing sender's next piece is ready: the due time of its last piece, not
    /// `now`. Otherwise the link would be idle in between and never reach its rate.
    #[must_use]
    pub fn ready_since(due: Instant, now: Instant) -> Instant {
        let earliest = now.checked_sub(MAX_LATENESS).unwrap_or(now);
        due.clamp(earliest, now.max(earliest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(count: u64) -> ByteSize {
        ByteSize::from_bytes(count)
    }

    /// 20 Mbit/s are 2.5 MB/s. One sender uses all available capacity in pieces of 1 ms, each with some lateness. In
    /// the second second, another 1 MB is charged at once.
    #[test]
    fn a_waiting_sender_gets_the_remaining_capacity() {
        for late in [0, 300_000, 1_900_000, 9_000_000] {
            let mut link = VirtualLink::new(BitRate::from_mbps(20));
            let (mut now, mut taken, mut other) = (Instant::ZERO, 0, 0);
            let end = Instant::from_secs(4);
            while now < end {
                if other == 0 && now >= Instant::from_secs(1) {
                    other = 1_000_000;
                    link.charge(now, bytes(other));
                }
                if link.free_at() > now {
                    now = link.free_at() + Duration::from_nanos(late);
                    continue;
                }
                let piece = link.piece();
                taken += piece.as_bytes();
                link.charge(now, piece);
            }
            let all = taken + other;
            // 25 ms of possible lateness at the start, and the piece in progress.
            assert!(all <= 10_000_000 + 62_500 + 2_500, "{late}: {all}");
            assert!(all >= 9_800_000, "{late}: {all}");
        }
    }

    /// Sends `sizes` from `Instant::ZERO` by as many senders, each late by `late` at every piece. Returns the
    /// completion times.
    fn race(rate: BitRate, sizes: &[u64], late: Duration) -> Vec<Instant> {
        let mut link = VirtualLink::new(rate);
        let piece = link.piece().as_bytes();
        let mut left = sizes.to_vec();
        let mut done = vec![Instant::ZERO; sizes.len()];
        let reserve = |link: &mut VirtualLink, left: &mut u64, ready| {
            let size = piece.min(*left);
            *left -= size;
            link.reserve(ready, bytes(size))
        };
        let mut due: Vec<Option<Instant>> = left
            .iter_mut()
            .map(|left| Some(reserve(&mut link, left, Instant::ZERO)))
            .collect();
        while let Some((sender, at)) = (0..due.len())
            .filter_map(|i| Some((i, due[i]?)))
            .min_by_key(|(i, at)| (*at, *i))
        {
            let now = at + late;
            done[sender] = now;
            due[sender] =
                (left[sender] > 0).then(|| reserve(&mut link, &mut left[sender], VirtualLink::ready_since(at, now)));
        }
        done
    }

    #[test]
    fn a_mebibyte_at_15_mbit_takes_559_ms() {
        // 2²⁰ × 8 bit ÷ 15 Mbit/s = 0.559 240 533 3… s
        let done = race(BitRate::from_mbps(15), &[1 << 20], Duration::ZERO);
        assert_eq!(done, [Instant::from_nanos(559_240_534)]);
    }

    #[test]
    fn pieces_are_a_millisecond_within_bounds() {
        let piece = |rate| VirtualLink::new(rate).piece().as_bytes();
        assert_eq!(piece(BitRate::from_mbps(1)), 1_500);
        assert_eq!(piece(BitRate::from_mbps(15)), 1_875);
        assert_eq!(piece(BitRate::from_mbps(1_000)), 125_000);
        assert_eq!(piece(BitRate::from_mbps(40_000)), 262_144);
        assert_eq!(piece(BitRate::from_bps(u64::MAX)), 262_144);
        assert_eq!(piece(BitRate::from_bps(0)), 1_500);
    }

    #[test]
    fn an_idle_link_accumulates_no_credit() {
        let mut link = VirtualLink::new(BitRate::from_mbps(8));
        assert_eq!(link.reserve(Instant::ZERO, bytes(1_000)), Instant::from_millis(1));
        assert_eq!(
            link.reserve(Instant::from_secs(10), bytes(1_000)),
            Instant::from_millis(10_001)
        );
        assert_eq!(
            link.reserve(Instant::from_secs(10), bytes(1_000)),
            Instant::from_millis(10_002)
        );
    }

    #[test]
    fn equal_senders_get_equal_shares_and_small_transfers_end_first() {
        // Four senders of 1 MB and one of 100 kB at 80 Mbit/s: pieces of 10 kB and 1 ms. The small one gets 10 of the
        // first 50 pieces and ends at 50 ms. All end at 410 ms.
        let done = race(
            BitRate::from_mbps(80),
            &[1_000_000, 1_000_000, 1_000_000, 1_000_000, 100_000],
            Duration::ZERO,
        );
        assert_eq!(done[4], Instant::from_millis(50));
        assert_eq!(done[..4], [407, 408, 409, 410].map(Instant::from_millis));
    }

    #[test]
    fn lateness_costs_no_rate() {
        // 100 MB at 1 Gbit/s: 0.8 s. 300 µs of lateness at each of 800 pieces would cost 0.24 s if it accumulated.
        let late = Duration::from_micros(300);
        let done = race(BitRate::from_mbps(1_000), &[100_000_000], late);
        assert_eq!(done, [Instant::from_millis(800) + late]);
    }

    #[test]
    fn compensation_of_lateness_is_limited() {
        let (due, now) = (Instant::from_millis(0), Instant::from_millis(500));
        assert_eq!(VirtualLink::ready_since(due, now), Instant::from_millis(475));
        assert_eq!(
            VirtualLink::ready_since(Instant::from_millis(495), now),
            Instant::from_millis(495)
        );
        assert_eq!(VirtualLink::ready_since(Instant::from_millis(501), now), now);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        /// delivered = min(offered, rate), over any span that begins with an idle link.
        #[test]
        fn never_faster_than_the_rate_and_never_idle_with_work(
            rate in 1_000_u64..10_000_000_000,
            asks in prop::collection::vec((0_u64..5_000_000, 1_u64..300_000), 1..60),
        ) {
            let mut link = VirtualLink::new(BitRate::from_bps(rate));
            let (mut now, mut model_free) = (0_u128, 0_u128);
            for (gap, size) in asks {
                now += u128::from(gap);
                // The same in units of 1/rate nanoseconds, without rounding.
                model_free = model_free.max(now * u128::from(rate)) + u128::from(size) * 8_000_000_000;
                let end = link.reserve(Instant::from_nanos(now as i64), bytes(size));
                let exact = model_free.div_ceil(u128::from(rate)) as i64;
                // Data that is ready in the nanosecond in which the link becomes free follows without a gap.
                prop_assert!((exact - 1..=exact).contains(&end.as_nanos()), "{} {}", end.as_nanos(), exact);
            }
        }
    }
}
