//! Quality of Outcome (draft-ietf-ippm-qoo): how far latency and loss are from what a use needs.
//!
//! A requirement has two points. Up to ROP (requirements for optimal performance) a lower value
//! improves nothing. From CPUP (conditions at the point of unacceptable performance) on, the use
//! fails. Between them the score falls linearly from 100 to 0. The lowest score of all requirements
//! counts.
//!
//! The draft sets no requirement for any use. The profiles here are those of two programs.

use netburn_units::{Duration, Probability};

/// Requirement for one percentile of the round-trip time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatencyRequirement {
    /// Level of the percentile.
    pub percentile: Probability,
    /// ROP: 100 points up to this round-trip time.
    pub optimal: Duration,
    /// CPUP: 0 points from this round-trip time on.
    pub unacceptable: Duration,
}

/// Requirement for the share of lost packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossRequirement {
    /// ROP: 100 points up to this share.
    pub optimal: Probability,
    /// CPUP: 0 points from this share on.
    pub unacceptable: Probability,
}

/// Requirements of a use. All are for the round trip. None of these profiles requires a throughput.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Name of the use.
    pub name: &'static str,
    /// Program that defines the profile.
    pub source: &'static str,
    /// Requirements for percentiles of the round-trip time; at least one.
    pub latency: &'static [LatencyRequirement],
    /// Requirement for loss; `None` if loss counts only as latency without an upper bound.
    pub loss: Option<LossRequirement>,
}

/// `qualityattenuation.go` of goresponsiveness (commit 34395428).
pub const GORESPONSIVENESS: &str = "goresponsiveness";
/// `qoo_profiles.json` of LibreQoS (commit 455bc13b).
pub const LIBREQOS: &str = "LibreQoS";

const P50: Probability = share(500_000);
const P90: Probability = share(900_000);
const P95: Probability = share(950_000);
const P99: Probability = share(990_000);

const fn share(ppm: u32) -> Probability {
    match Probability::from_ppb(ppm * 1_000) {
        Some(share) => share,
        None => panic!("a share is at most 1"),
    }
}

const fn latency(percentile: Probability, optimal_ms: u64, unacceptable_ms: u64) -> LatencyRequirement {
    LatencyRequirement {
        percentile,
        optimal: Duration::from_millis(optimal_ms),
        unacceptable: Duration::from_millis(unacceptable_ms),
    }
}

const fn loss(optimal_ppm: u32, unacceptable_ppm: u32) -> Option<LossRequirement> {
    Some(LossRequirement {
        optimal: share(optimal_ppm),
        unacceptable: share(unacceptable_ppm),
    })
}

const fn libreqos(
    name: &'static str,
    latency: &'static [LatencyRequirement],
    loss: Option<LossRequirement>,
) -> Profile {
    Profile {
        name,
        source: LIBREQOS,
        latency,
        loss,
    }
}

/// Games, as goresponsiveness defines them.
pub const GAMES: Profile = Profile {
    name: "games",
    source: GORESPONSIVENESS,
    latency: &[latency(P50, 30, 150), latency(P95, 65, 200), latency(P99, 100, 250)],
    loss: None,
};

/// All profiles.
pub const PROFILES: [Profile; 7] = [
    GAMES,
    libreqos("real-time games", &[latency(P95, 50, 100)], loss(5_000, 10_000)),
    libreqos("video conference", &[latency(P95, 50, 100)], loss(1_000, 5_000)),
    libreqos("browsing", &[latency(P90, 50, 150)], loss(5_000, 10_000)),
    libreqos("streaming", &[latency(P95, 50, 100)], loss(1_000, 10_000)),
    libreqos("audio", &[latency(P95, 50, 100)], loss(1_000, 10_000)),
    libreqos("backup", &[latency(P95, 100, 150)], loss(1_000, 10_000)),
];

impl Profile {
    /// Score, 0 to 100. `latency` returns the percentile at a level; `None` if it falls among lost
    /// packets, whose latency has no upper bound. `lost` is the share of lost packets, 0 to 1.
    #[must_use]
    pub fn score(&self, latency: impl Fn(Probability) -> Option<Duration>, lost: f64) -> f64 {
        let latencies = self.latency.iter().map(|required| match latency(required.percentile) {
            Some(found) => points(
                found.as_millis_f64(),
                required.optimal.as_millis_f64(),
                required.unacceptable.as_millis_f64(),
            ),
            None => 0.0,
        });
        let loss = self
            .loss
            .map(|required| points(lost, required.optimal.as_f64(), required.unacceptable.as_f64()));
        latencies.chain(loss).fold(100.0, f64::min)
    }
}

/// 100 · (1 − (found − optimal) / (unacceptable − optimal)), from 0 to 100.
fn points(found: f64, optimal: f64, unacceptable: f64) -> f64 {
    (100.0 * (unacceptable - found) / (unacceptable - optimal)).clamp(0.0, 100.0)
}
