//! Rates available to a link.

use crate::aggregation::{Limits, mpdu};
use crate::error;
use crate::phy::{Format, Modulation, TxVector, Width, dsss, ofdm, response};
use netburn_units::{BitRate, Duration};

/// MPDU length for goodput: 1500 bytes, encrypted.
pub const REFERENCE_MPDU: u32 = 1_554;
/// Payload of it.
const REFERENCE_PAYLOAD: u32 = 1_500;

/// Rates, slowest first; of equal ones those with fewer streams and smaller width first, which need
/// less signal.
#[derive(Debug, Clone)]
pub struct RateSet {
    entries: Vec<Entry>,
    fastest: TxVector,
    tries: u32,
}

/// One rate, and its cost.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Vector.
    pub vector: TxVector,
    /// Data rate.
    pub rate: BitRate,
    /// MPDUs of the reference length in a full aggregate.
    pub frames: u32,
    /// BlockAck window; `None` without aggregation.
    window: Option<u32>,
    format: Format,
    /// Duration of an exchange without its data PPDU.
    overhead: Duration,
}

impl RateSet {
    /// All rates of `fastest`'s PHY up to its width, streams and MCS, with its guard interval.
    /// `limits` are the limits of aggregates. `access` is the time before a PPDU, and between it
    /// and its response (AIFS, the mean backoff, SIFS).
    #[must_use]
    pub fn up_to(fastest: &TxVector, limits: &Limits, access: Duration) -> Self {
        RateSet::clocked(fastest, limits, access, 1)
    }

    /// The same on a PHY with the clock divider `clock`.
    #[must_use]
    pub fn clocked(fastest: &TxVector, limits: &Limits, access: Duration, clock: u64) -> Self {
        let mut entries: Vec<Entry> = vectors(fastest)
            .into_iter()
            .filter_map(|vector| Entry::new(vector, limits, access, clock))
            .collect();
        entries.sort_by_cached_key(|entry| (entry.vector.rate().ok(), entry.vector.streams, entry.vector.width));
        RateSet {
            entries,
            fastest: *fastest,
            tries: limits.tries,
        }
    }

    /// Rates.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Fastest vector of the set.
    #[must_use]
    pub const fn fastest(&self) -> TxVector {
        self.fastest
    }

    /// Returns true if A-MPDUs are used.
    #[must_use]
    pub fn aggregates(&self) -> bool {
        self.entries.iter().any(|entry| entry.window.is_some())
    }

    /// Maximum number of transmissions of an MPDU.
    #[must_use]
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    /// Entry with the best expected goodput at the SNR `snr_db` for the fastest vector; without a
    /// signal, among all entries without losses.
    #[must_use]
    pub fn best(&self, snr_db: Option<f64>) -> &Entry {
        let mut best = (&self.entries[0], 0.0);
        for entry in &self.entries {
            let goodput = entry.goodput(1.0, self.success(entry, snr_db));
            if goodput > best.1 {
                best = (entry, goodput);
            }
        }
        best.0
    }

    /// Probability that an MPDU of the reference length arrives at an entry's rate.
    #[must_use]
    pub fn success(&self, entry: &Entry, snr_db: Option<f64>) -> f64 {
        snr_db.map_or(1.0, |snr_db| {
            let snr_db = snr_db + gain_db(&self.fastest, &entry.vector);
            error::success(entry.vector.modulation, snr_db, u64::from(REFERENCE_MPDU) * 8)
        })
    }
}

impl Entry {
    fn new(vector: TxVector, limits: &Limits, access: Duration, clock: u64) -> Option<Self> {
        let format = vector.format().ok()?.slower(clock);
        let room = format.longest(limits.time).unwrap_or(0);
        let (frames, response) = if limits.ampdu {
            let most = room.min(limits.bytes) / mpdu::in_aggregate(REFERENCE_MPDU);
            let frames = most.clamp(1, u64::from(limits.frames.max(1))) as u32;
            (frames, response::block_ack(limits.window))
        } else {
            (1, response::ACK)
        };
        Some(Entry {
            vector,
            rate: format.rate,
            frames,
            window: limits.ampdu.then_some(limits.window),
            format,
            overhead: access + response::duration(&response::vector_for(&vector), response) * clock,
        })
    }

    /// Average number of MPDUs in a saturated sender's aggregates, if each MPDU arrives with
    /// probability `success`.
    #[must_use]
    pub fn expected_frames(&self, success: f64) -> f64 {
        let most = f64::from(self.frames);
        self.window
            .map_or(1.0, |window| most.min(per_round(f64::from(window), success)))
    }

    /// Expected goodput in bit/s of a single sender if each MPDU arrives with probability
    /// `success`. The sender's aggregates have the share `fullness` (0 to 1) of a saturated
    /// sender's size.
    #[must_use]
    pub fn goodput(&self, fullness: f64, success: f64) -> f64 {
        self.goodput_of(self.expected_frames(success), fullness, success)
    }

    /// As [`goodput`](Self::goodput), with the result of [`expected_frames`](Self::expected_frames).
    pub(super) fn goodput_of(&self, expected_frames: f64, fullness: f64, success: f64) -> f64 {
        let frames = ((expected_frames * fullness) as u64).max(1);
        let length = match frames {
            1 => u64::from(REFERENCE_MPDU),
            _ => frames * mpdu::in_aggregate(REFERENCE_MPDU),
        };
        let time = self.format.duration(length) + self.overhead;
        let bits = (frames * u64::from(REFERENCE_PAYLOAD) * 8) as f64;
        success * bits / time.as_secs_f64()
    }
}

/// MPDUs per aggregate that a window of `window` permits a saturated sender, if each arrives with
/// probability `success`.
///
/// The window starts at the first unacknowledged MPDU, so a loss blocks new ones. In a steady state
/// `new` MPDUs enter with each aggregate. Of these, `new` · (1 − success)ʲ are still unacknowledged
/// after j aggregates. On average, the whole group is acknowledged after Σ 1 − exp(−`new` · (1 −
/// success)ʲ) aggregates. The window contains that number of groups.
fn per_round(window: f64, success: f64) -> f64 {
    let loss = 1.0 - success;
    if loss <= 0.0 || success <= 0.0 {
        return window;
    }
    let mut new = window * success;
    // The sum grows with the logarithm of `new`, so this converges: each step at least halves the
    // error.
    for _ in 0..5 {
        let (mut rounds, mut left) = (1.0, new * loss);
        while left > 0.01 && rounds < window {
            rounds += 1.0 - libm::exp(-left);
            left *= loss;
        }
        new = (window / rounds).min(window * success);
    }
    new / success
}

/// Difference in SNR per stream between `vector` and `reference` at the same transmit power, in dB.
/// Noise grows with the width, and streams share the power.
#[must_use]
pub fn gain_db(reference: &TxVector, vector: &TxVector) -> f64 {
    if (reference.width, reference.streams) == (vector.width, vector.streams) {
        return 0.0;
    }
    let share = |vector: &TxVector| f64::from(vector.width.as_mhz()) * f64::from(vector.streams.max(1));
    10.0 * libm::log10(share(reference) / share(vector))
}

fn vectors(fastest: &TxVector) -> Vec<TxVector> {
    let with = |modulation| TxVector { modulation, ..*fastest };
    let mut all = Vec::new();
    let (class, highest): (fn(u8) -> Modulation, u8) = match fastest.modulation {
        Modulation::Dsss(highest) => {
            let rates = dsss::Rate::ALL.into_iter().filter(|rate| *rate <= highest);
            return rates.map(|rate| with(Modulation::Dsss(rate))).collect();
        }
        Modulation::Ofdm(highest) => {
            let rates = ofdm::Rate::ALL.into_iter().filter(|rate| *rate <= highest);
            return rates.map(|rate| with(Modulation::Ofdm(rate))).collect();
        }
        Modulation::Ht { mcs } => (|mcs| Modulation::Ht { mcs }, mcs),
        Modulation::Vht { mcs } => (|mcs| Modulation::Vht { mcs }, mcs),
        Modulation::He { mcs } => (|mcs| Modulation::He { mcs }, mcs),
        Modulation::Eht { mcs } => (|mcs| Modulation::Eht { mcs }, mcs),
    };
    for width in Width::ALL.into_iter().filter(|width| *width <= fastest.width) {
        for streams in 1..=fastest.streams {
            for mcs in 0..=highest {
                all.push(TxVector {
                    modulation: class(mcs),
                    width,
                    streams,
                    ..*fastest
                });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Guard;

    fn ht40() -> TxVector {
        TxVector {
            modulation: Modulation::Ht { mcs: 7 },
            width: Width::Mhz40,
            guard: Guard::Ns800,
            streams: 2,
            signal_extension: false,
            short_preamble: false,
        }
    }

    fn limits(time: Duration) -> Limits {
        Limits {
            ampdu: true,
            frames: 64,
            window: 64,
            time,
            bytes: 65_535,
            amsdu: 0,
            tries: 10,
        }
    }

    /// Eight MCS, one or two streams, 20 or 40 MHz.
    #[test]
    fn every_rate_once() {
        let set = RateSet::up_to(&ht40(), &limits(Limits::PPDU), Duration::from_micros(126));
        assert_eq!(set.entries().len(), 8 * 2 * 2);
        assert!(set.entries().windows(2).all(|pair| pair[0].rate <= pair[1].rate));
        assert_eq!(set.entries()[0].rate.as_bps(), 6_500_000);
        assert_eq!(set.entries()[31].rate, ht40().rate().unwrap());
        // VHT has no MCS 9 in 20 MHz with one or two streams.
        let vht = TxVector {
            modulation: Modulation::Vht { mcs: 9 },
            ..ht40()
        };
        let set = RateSet::up_to(&vht, &limits(Limits::PPDU), Duration::from_micros(126));
        assert_eq!(set.entries().len(), 10 * 2 * 2 - 2);
    }

    /// 28 MPDUs of 1560 bytes at 65 Mbit/s last 36 + 4 × ⌈(28 × 1560 × 8 + 22) / 260⌉ = 5416 µs. There are 126 µs
    /// before them, and a BlockAck of 32 bytes at 24 Mbit/s (32 µs). The goodput is 28 × 12 000 / 5574 µs = 60.3
    /// Mbit/s.
    #[test]
    fn goodput_by_hand() {
        let vector = TxVector {
            width: Width::Mhz20,
            streams: 1,
            ..ht40()
        };
        let set = RateSet::up_to(&vector, &limits(Limits::PPDU), Duration::from_micros(126));
        let entry = set.entries().last().unwrap();
        assert_eq!(entry.frames, 28);
        let expected = 28.0 * 12_000.0 / 5_574e-6;
        assert!((entry.goodput(1.0, 1.0) / expected - 1.0).abs() < 1e-9);
        // 28 are below the limit of a window of 64.
        assert!((entry.goodput(1.0, 0.9) / expected - 0.9).abs() < 1e-9);
    }

    /// Half the width or half the streams: 3 dB.
    #[test]
    fn narrower_width_and_fewer_streams_increase_snr() {
        let narrow = TxVector {
            width: Width::Mhz20,
            ..ht40()
        };
        let single = TxVector { streams: 1, ..narrow };
        assert_eq!(gain_db(&ht40(), &ht40()), 0.0);
        assert!((gain_db(&ht40(), &narrow) - 3.01).abs() < 0.01);
        assert!((gain_db(&ht40(), &single) - 6.02).abs() < 0.01);
    }

    /// Mean number of MPDUs in an aggregate, from a simulation of the window alone (20,000
    /// aggregates, independent losses).
    #[test]
    fn losses_keep_the_window_from_moving() {
        for (window, success, simulated) in [
            (64.0, 0.5, 22.0),
            (64.0, 0.7, 25.9),
            (64.0, 0.9, 34.2),
            (64.0, 0.97, 42.9),
            (64.0, 0.99, 51.5),
            (64.0, 0.999, 62.1),
            (256.0, 0.5, 68.6),
            (256.0, 0.9, 110.1),
            (256.0, 0.99, 163.6),
            (256.0, 0.999, 229.4),
        ] {
            let expected = per_round(window, success);
            assert!(
                (expected / simulated - 1.0).abs() < 0.18,
                "{success} of {window}: {expected}"
            );
        }
        assert_eq!(per_round(64.0, 1.0), 64.0);
    }

    #[test]
    fn the_best_grows_with_the_signal() {
        let set = RateSet::up_to(&ht40(), &limits(Duration::from_millis(4)), Duration::from_micros(126));
        let mut last = 0;
        for tenths in -100..500 {
            let snr_db = f64::from(tenths) / 10.0;
            let best = set.best(Some(snr_db));
            let goodput = best.goodput(1.0, set.success(best, Some(snr_db))) as u64;
            assert!(goodput >= last, "{snr_db} dB: {goodput} after {last}");
            last = goodput;
        }
        assert_eq!(set.best(None).vector, ht40());
        assert_eq!(set.best(Some(50.0)).vector, ht40());
        assert_eq!(set.best(Some(-50.0)).rate.as_bps(), 6_500_000);
    }
}
