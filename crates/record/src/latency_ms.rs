//! Distributions of times in summaries.

use netburn_stats::{Distribution, P50, P75, P90, P95, P99};
use serde::{Deserialize, Serialize};

/// A distribution of times.
///
/// Operations that never finished rank above all that did: a percentile that falls among them is `null`, like one that
/// the count doesn't support.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LatencyMs {
    /// Samples, unbounded ones included.
    pub count: u64,
    /// The shortest.
    pub min: Option<f64>,
    /// 50th percentile; from 6 samples.
    pub p50: Option<f64>,
    /// 75th percentile; from 12.
    pub p75: Option<f64>,
    /// 90th percentile; from 30.
    pub p90: Option<f64>,
    /// 95th percentile; from 60.
    pub p95: Option<f64>,
    /// 99th percentile; from 300.
    pub p99: Option<f64>,
    /// Maximum of those that ended.
    pub max: Option<f64>,
    /// Operations that never ended.
    #[serde(default)]
    pub unbounded: u64,
}

impl From<&Distribution> for LatencyMs {
    /// From a distribution in nanoseconds at the standard percentiles.
    fn from(of: &Distribution) -> Self {
        let ms = |nanos: u64| nanos as f64 / 1e6;
        let at = |level| of.percentile(level).value().map(ms);
        LatencyMs {
            count: of.count,
            min: of.min.map(ms),
            p50: at(P50),
            p75: at(P75),
            p90: at(P90),
            p95: at(P95),
            p99: at(P99),
            max: of.max.map(ms),
            unbounded: of.unbounded,
        }
    }
}

impl LatencyMs {
    /// Distribution of samples in ns, beside `unbounded` ones without an end; `None` without any.
    pub(crate) fn of_samples(samples: Vec<u64>, unbounded: u64) -> Option<LatencyMs> {
        let any = !samples.is_empty() || unbounded > 0;
        any.then(|| LatencyMs::from(&Distribution::from_samples(samples, unbounded)))
    }
}
