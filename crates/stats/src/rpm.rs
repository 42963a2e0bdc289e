//! Responsiveness under working conditions, in round trips per minute (RPM).
//!
//! Two kinds of probes fetch an object of one byte while other connections load the path. A *foreign* probe
//! uses a new connection. A *self* probe uses a connection that transfers load. This module computes scores
//! from their times.
//!
//! - [`draft`] – the score of draft-ietf-ippm-responsiveness-09: the mean of two rates.
//! - [`foreign_rate`] – its part for foreign probes.
//! - [`goresponsiveness`] – the score of the program of that name, which differs: the rate of the mean of
//!   two times.
//! - [`Estimator`] – the value that represents many times: trimmed mean or percentile.
//! - [`Stability`], [`MovingAverage`], [`Confidence`] – when a test may end, and how reliable its result is.
//! - [`Band`] – the four classes of the draft.
//!
//! All times are in nanoseconds. Both scores are equal if the times are equal. The draft's score is the
//! larger one if self probes and foreign probes differ.

mod stability;

pub use stability::{Confidence, INTERVALS, MovingAverage, Stability, TOLERANCE};

use crate::percentile::{rank, supported};
use netburn_units::Probability;
use std::num::NonZeroU32;

/// Nanoseconds per minute.
const MINUTE_NS: f64 = 60e9;

/// Share of the times that the draft's trimmed mean keeps: the best 95 %.
pub const KEPT: Probability = percent(95);
/// Share of the times that goresponsiveness keeps by default (`-rpm.tmp 5`): the best 5 %.
pub const GORESPONSIVENESS_KEPT: Probability = percent(5);

const fn percent(percent: u32) -> Probability {
    match Probability::from_ppb(percent * 10_000_000) {
        Some(share) => share,
        None => panic!("a share is at most 100 %"),
    }
}

/// Times of a foreign probe. Name resolution is not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignProbe {
    /// Duration of the TCP handshake, in ns.
    pub tcp_ns: u64,
    /// TLS handshake; `None` without TLS.
    pub tls: Option<TlsHandshake>,
    /// Time from sending the request until the whole response has been received, in ns.
    pub http_ns: u64,
}

/// A TLS handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlsHandshake {
    /// Duration in ns.
    pub total_ns: u64,
    /// Round trips: 1 for TLS 1.3, 2 for TLS 1.2.
    pub round_trips: NonZeroU32,
}

impl TlsHandshake {
    /// Duration of one round trip in ns, rounded down.
    #[must_use]
    pub fn round_trip_ns(self) -> u64 {
        self.total_ns / u64::from(self.round_trips.get())
    }
}

/// The value that represents many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// Mean of this share of the times, the shortest ones: ⌊share × count⌋ times, at least one.
    TrimmedMean(Probability),
    /// Nearest-rank percentile, as in [`percentile`](mod@crate::percentile). `None` if there are too few times
    /// for this level.
    Percentile(Probability),
    /// The percentile of goresponsiveness: the time at index ⌊level × count⌋ of the sorted times, from 0. At
    /// most the longest time.
    Index(Probability),
}

impl Estimator {
    /// Returns the value of these times in ns; `None` if there are none, or too few.
    #[must_use]
    pub fn estimate(self, times_ns: &[u64]) -> Option<f64> {
        let mut sorted = times_ns.to_vec();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        let value = match self {
            Estimator::TrimmedMean(share) => {
                let kept = share_of(share, sorted.len()).max(1);
                let sum: u128 = sorted[..kept].iter().map(|time| u128::from(*time)).sum();
                return Some(sum as f64 / kept as f64);
            }
            Estimator::Percentile(level) => {
                let count = sorted.len() as u64;
                let place = supported(level, count).then(|| rank(level, count))?;
                sorted[place as usize - 1]
            }
            Estimator::Index(level) => sorted[share_of(level, sorted.len()).min(last)],
        };
        Some(value as f64)
    }
}

/// Returns ⌊share × count⌋.
fn share_of(share: Probability, count: usize) -> usize {
    // At most `count`.
    (count as u128 * u128::from(share.as_ppb()) / 1_000_000_000) as usize
}

/// Responsiveness, in round trips per minute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rpm {
    /// Rate of new connections beside the load.
    pub foreign: f64,
    /// Rate on the connections that transfer the load.
    pub loaded: f64,
    /// Score of both.
    pub score: f64,
}

/// Computes the score of draft-ietf-ippm-responsiveness-09:
///
/// ```text
/// foreign = 60 s / ((E(tcp) + E(tls) + E(http)) / 3)     with TLS
/// foreign = 60 s / ((E(tcp) + E(http)) / 2)              without TLS
/// loaded  = 60 s / E(self)
/// score   = (foreign + loaded) / 2
/// ```
///
/// E is the `estimator`; the draft's is the trimmed mean with [`KEPT`]. `self_ns` has the times of self probes.
///
/// Returns `None` if there are no probes of a kind or too few, if only a part of the foreign probes used TLS, or if a
/// denominator is zero.
#[must_use]
pub fn draft(foreign: &[ForeignProbe], self_ns: &[u64], estimator: Estimator) -> Option<Rpm> {
    let (foreign, loaded) = (foreign_rate(foreign, estimator)?, rate(estimator.estimate(self_ns)?)?);
    Some(Rpm {
        foreign,
        loaded,
        score: (foreign + loaded) / 2.0,
    })
}

/// Computes the part `foreign` of the score of [`draft`], without self probes.
///
/// Returns `None` if there are no probes or too few, if only a part of them used TLS, or if the denominator is zero.
#[must_use]
pub fn foreign_rate(foreign: &[ForeignProbe], estimator: Estimator) -> Option<f64> {
    let value = |time: fn(&ForeignProbe) -> u64| estimator.estimate(&foreign.iter().map(time).collect::<Vec<_>>());
    let tls: Vec<u64> = foreign
        .iter()
        .filter_map(|probe| Some(probe.tls?.round_trip_ns()))
        .collect();
    let (tcp, http) = (value(|probe| probe.tcp_ns)?, value(|probe| probe.http_ns)?);
    let round_trip = match tls.len() {
        0 => (tcp + http) / 2.0,
        count if count == foreign.len() => (tcp + estimator.estimate(&tls)? + http) / 3.0,
        _ => return None,
    };
    rate(round_trip)
}

/// Computes the score of goresponsiveness (`rpm/calculations.go`):
///
/// ```text
/// foreign = 60 s / E(thirds)
/// loaded  = 60 s / E(self)
/// score   = 60 s / ((E(self) + E(thirds)) / 2)
/// ```
///
/// The whole time of each foreign probe (TCP, TLS and HTTP) counts as three equal times, its thirds. E is the
/// `estimator`: [`TrimmedMean`](Estimator::TrimmedMean) with [`GORESPONSIVENESS_KEPT`], or
/// [`Index`](Estimator::Index) for its percentile.
///
/// Returns `None` if there are no probes of a kind or too few, if a foreign probe did not use TLS, which goresponsiveness
/// requires, or if a denominator is zero.
#[must_use]
pub fn goresponsiveness(foreign: &[ForeignProbe], self_ns: &[u64], estimator: Estimator) -> Option<Rpm> {
    let mut totals = Vec::with_capacity(3 * foreign.len());
    for probe in foreign {
        let total = probe
            .tcp_ns
            .saturating_add(probe.tls?.total_ns)
            .saturating_add(probe.http_ns);
        totals.extend([total; 3]);
    }
    // Division by 3 after the estimation is exact for every estimator, and avoids rounded samples.
    let third = estimator.estimate(&totals)? / 3.0;
    let loaded = estimator.estimate(self_ns)?;
    Some(Rpm {
        foreign: rate(third)?,
        loaded: rate(loaded)?,
        score: rate((third + loaded) / 2.0)?,
    })
}

/// Returns round trips per minute for the time of one in ns; `None` for zero.
fn rate(round_trip_ns: f64) -> Option<f64> {
    (round_trip_ns > 0.0).then(|| MINUTE_NS / round_trip_ns)
}

/// Class of a score in draft-ietf-ippm-responsiveness-09.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Band {
    /// Below 300 RPM: more than 200 ms per round trip.
    Poor,
    /// From 300 to below 1000 RPM: more than 60 ms.
    Fair,
    /// From 1000 to below 6000 RPM: more than 10 ms.
    Good,
    /// From 6000 RPM.
    Excellent,
}

impl Band {
    /// Returns the class of a score.
    #[must_use]
    pub fn from_rpm(rpm: f64) -> Self {
        if rpm < 300.0 {
            Band::Poor
        } else if rpm < 1000.0 {
            Band::Fair
        } else if rpm < 6000.0 {
            Band::Good
        } else {
            Band::Excellent
        }
    }

    /// Returns the name of the class.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Band::Poor => "poor",
            Band::Fair => "fair",
            Band::Good => "good",
            Band::Excellent => "excellent",
        }
    }
}
