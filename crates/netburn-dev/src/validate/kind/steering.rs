//! Decisions of steering policies about one station.

use super::Metrics;
use super::phy::time;
use crate::validate::quantity::{Dimension, parse};
use netburn_medium::config::{Band, Steering, SteeringPolicy};
use netburn_network::steering_validation::{SteeringRadio, dawn_score, first_request};
use netburn_units::{Db, Dbm, Duration, Instant};
use serde::{Deserialize, Deserializer};

/// DAWN's score of a radio for a station with 802.11n in 2.4 GHz and 802.11ac in 5 GHz: metric `score`.
#[derive(Debug, Clone, Deserialize)]
pub struct SteeringScore(RadioFields);

/// Requests to an idle station that has joined `own` and is known at `other`. Metrics: `requests` (1 if it gets one within
/// `span`, else 0) and `first` (its time; one view each second).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SteeringRequest {
    policy: PolicyName,
    #[serde(default, deserialize_with = "signal")]
    trigger: Option<Dbm>,
    #[serde(default, deserialize_with = "ratio")]
    margin: Option<Db>,
    own: RadioFields,
    other: RadioFields,
    /// The other radio belongs to the same access point.
    #[serde(default)]
    same_ap: bool,
    /// Signal at `own` from `changes` on.
    #[serde(default)]
    then: Option<f64>,
    #[serde(default, deserialize_with = "time")]
    changes: Duration,
    #[serde(deserialize_with = "time")]
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

fn signal<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Dbm>, D::Error> {
    let text = String::deserialize(reader)?;
    parse(&text).map(Some).map_err(serde::de::Error::custom)
}

fn ratio<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Db>, D::Error> {
    let text = String::deserialize(reader)?;
    parse(&text).map(Some).map_err(serde::de::Error::custom)
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

impl SteeringScore {
    pub(super) fn run(&self) -> f64 {
        f64::from(dawn_score(&self.0.radio()))
    }
}

impl SteeringRequest {
    pub(super) fn metrics() -> Metrics {
        vec![
            ("requests".to_owned(), Dimension::Count),
            ("first".to_owned(), Dimension::Time),
        ]
    }

    pub(super) fn run(&self, metric: &str) -> f64 {
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
        let first = first_request(&config, &own, &other, self.same_ap, self.span, signal);
        match metric {
            "requests" => f64::from(u8::from(first.is_some())),
            _ => first.map_or(f64::NAN, |at| at.as_nanos() as f64 / 1e3),
        }
    }
}
