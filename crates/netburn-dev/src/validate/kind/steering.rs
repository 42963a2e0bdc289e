//! Decisions of steering policies about one station.

use super::{FixedMetrics, Metric};
use crate::validate::quantity::{Dimension, micros, optional, parsed};
use netburn_medium::config::{Band, Steering, SteeringPolicy};
use netburn_network::steering_validation::{SteeringRadio, dawn_score, first_request};
use netburn_units::{Db, Dbm, Duration, Instant};
use serde::Deserialize;

/// DAWN's score of a radio for a station with 802.11n in 2.4 GHz and 802.11ac in 5 GHz.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct SteeringScore(RadioFields);

/// Requests to an idle station that has joined `own` and is known at `other`; one view each second.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SteeringRequest {
    policy: PolicyName,
    #[serde(default, deserialize_with = "optional")]
    trigger: Option<Dbm>,
    #[serde(default, deserialize_with = "optional")]
    margin: Option<Db>,
    own: RadioFields,
    other: RadioFields,
    /// The other radio belongs to the same access point.
    #[serde(default)]
    same_ap: bool,
    /// Signal at `own` from `changes` on.
    #[serde(default)]
    then: Option<f64>,
    #[serde(default, deserialize_with = "parsed")]
    changes: Duration,
    #[serde(deserialize_with = "parsed")]
    span: Duration,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct RadioFields {
    band: BandName,
    /// In dBm.
    signal: f64,
    /// Share of time in which the channel is busy.
    #[serde(default)]
    load: f64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
enum BandName {
    #[serde(rename = "2.4 GHz")]
    Ghz2_4,
    #[serde(rename = "5 GHz")]
    Ghz5,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PolicyName {
    Usteer,
    Dawn,
}

impl RadioFields {
    fn radio(self) -> SteeringRadio {
        SteeringRadio {
            band: match self.band {
                BandName::Ghz2_4 => Band::Ghz2_4,
                BandName::Ghz5 => Band::Ghz5,
            },
            signal: self.signal,
            load: self.load,
        }
    }
}

impl FixedMetrics for SteeringScore {
    type Result = f64;
    const METRICS: &'static [Metric<f64>] = &[Metric("score", Dimension::Count, |score| *score)];

    fn result(&self) -> f64 {
        f64::from(dawn_score(&self.0.radio()))
    }
}

impl FixedMetrics for SteeringRequest {
    /// Time of the first request within `span`.
    type Result = Option<Duration>;
    const METRICS: &'static [Metric<Option<Duration>>] = &[
        Metric("requests", Dimension::Count, |first| {
            f64::from(u8::from(first.is_some()))
        }),
        Metric("first", Dimension::Time, |first| first.map_or(f64::NAN, micros)),
    ];

    fn result(&self) -> Option<Duration> {
        let config = Steering {
            policy: match self.policy {
                PolicyName::Usteer => SteeringPolicy::Usteer,
                PolicyName::Dawn => SteeringPolicy::Dawn,
            },
            trigger: self.trigger,
            margin: self.margin,
            ..Steering::default()
        };
        let (own, other) = (self.own.radio(), self.other.radio());
        let changes = Instant::ZERO + self.changes;
        let signal = |now: Instant| self.then.filter(|_| now >= changes).unwrap_or(own.signal);
        first_request(&config, &own, &other, self.same_ap, self.span, signal)
    }
}
