//! The JSON document as checked values; unknown keys are ignored.

use super::{FlentError, VERSION};
use crate::import::common::days;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The longest test: a plan lasts 30 days at most.
const MAX_DURATION_S: f64 = 30.0 * 86_400.0;

/// Offsets of time zones are multiples of a quarter of an hour, and at most 14 h.
const ZONE_STEP_S: f64 = 900.0;
const MAX_ZONE_S: f64 = 14.0 * 3600.0;

/// A data file.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) test: String,
    pub(super) title: String,
    /// Nanoseconds since 1970, if the start time is known.
    pub(super) t0: Option<i64>,
    /// The start time is known in local time only, whose offset from UTC no value of the file shows.
    pub(super) zone_missing: bool,
    /// The hosts in the names of the series.
    pub(super) hosts: Vec<String>,
    pub(super) local: String,
    pub(super) version: String,
    pub(super) kernel: [String; 2],
    /// Load, in seconds.
    pub(super) length: f64,
    /// Time before the load, in seconds.
    pub(super) delay: f64,
    pub(super) step: f64,
    pub(super) x_values: Vec<f64>,
    pub(super) results: BTreeMap<String, Vec<Option<f64>>>,
    pub(super) raw: BTreeMap<String, Vec<Point>>,
}

/// A measurement. Values that are not numbers are missing.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
pub(super) struct Point {
    #[serde(default)]
    pub(super) t: Loose,
    #[serde(default)]
    pub(super) val: Loose,
    #[serde(default)]
    pub(super) dur: Loose,
    #[serde(default)]
    pub(super) seq: Loose,
}

/// A number; any other value is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(from = "Value")]
pub(super) struct Loose(pub(super) Option<f64>);

impl From<Value> for Loose {
    fn from(value: Value) -> Self {
        Loose(value.as_f64())
    }
}

/// The file as it is, before the checks.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    version: Option<u64>,
    #[serde(default)]
    metadata: Option<serde_json::Map<String, Value>>,
    #[serde(default)]
    x_values: Option<Vec<Loose>>,
    #[serde(default)]
    results: BTreeMap<String, Vec<Loose>>,
    #[serde(default)]
    raw_values: BTreeMap<String, Vec<Point>>,
}

impl Data {
    pub(super) fn parse(text: &[u8]) -> Result<Data, FlentError> {
        let file: File = serde_json::from_slice(text).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => FlentError::Foreign(error.to_string()),
            serde_json::error::Category::Eof => FlentError::Truncated(error.to_string()),
            _ => FlentError::Json(error.to_string()),
        })?;
        if let Some(version) = file.version.filter(|version| *version > VERSION) {
            return Err(FlentError::Newer(version));
        }
        let missing = |what: &str| FlentError::Foreign(format!("missing `{what}`"));
        let metadata = file.metadata.ok_or_else(|| missing("metadata"))?;
        let x_values = file.x_values.ok_or_else(|| missing("x_values"))?;
        let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |key: &str| metadata.get(key).and_then(Value::as_f64);
        let test = match text("NAME") {
            name if name.is_empty() => return Err(missing("metadata.NAME")),
            name => name,
        };
        let length = number("LENGTH").ok_or_else(|| missing("metadata.LENGTH"))?;
        if !(length > 0.0 && length <= MAX_DURATION_S) {
            return Err(FlentError::Senseless(format!(
                "LENGTH is {length} s, expected more than 0 s and at most 30 days"
            )));
        }
        let total = number("TOTAL_LENGTH").unwrap_or(length);
        let delay = number("DELAY").unwrap_or((total - length) / 2.0);
        let delay = if delay.is_finite() {
            delay.clamp(0.0, 3600.0)
        } else {
            0.0
        };
        let start_text = match text("T0") {
            t0 if t0.is_empty() => text("TIME"),
            t0 => t0,
        };
        let hosts = metadata.get("HOSTS").and_then(Value::as_array);
        let hosts = hosts.map_or(Vec::new(), |hosts| {
            hosts
                .iter()
                .filter_map(|host| host.as_str().map(str::to_owned))
                .collect()
        });
        let step = number("STEP_SIZE").filter(|step| *step > 0.0 && *step <= 60.0);
        for (name, values) in &file.results {
            if values.len() != x_values.len() {
                let (found, wanted) = (values.len(), x_values.len());
                return Err(FlentError::Senseless(format!(
                    "series `{name}` has {found} values, expected {wanted}"
                )));
            }
        }
        let earliest = earliest(&file.raw_values);
        let start = instant(&start_text);
        let t0 = start.and_then(|start| match start {
            Start::Utc(nanos) => Some(nanos),
            Start::Local(nanos) => in_utc(nanos, earliest?),
        });
        let results = file.results.into_iter();
        Ok(Data {
            test,
            title: text("TITLE"),
            t0,
            zone_missing: start.is_some() && t0.is_none(),
            hosts,
            local: text("LOCAL_HOST"),
            version: text("FLENT_VERSION"),
            kernel: [text("KERNEL_NAME"), text("KERNEL_RELEASE")],
            length,
            delay,
            step: step.unwrap_or(0.2),
            x_values: x_values.into_iter().map(|x| x.0.unwrap_or(f64::NAN)).collect(),
            results: results
                .map(|(name, values)| (name, values.into_iter().map(|value| value.0).collect()))
                .collect(),
            raw: file.raw_values,
        })
    }
}

/// A start time in ns since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Utc(i64),
    /// Format 2 and older: the clock of the machine that ran flent, in a time zone that the file does not name.
    Local(i64),
}

/// Time of the earliest raw value, in seconds since 1970.
fn earliest(raw: &BTreeMap<String, Vec<Point>>) -> Option<f64> {
    let times = raw.values().flatten().filter_map(|point| point.t.0);
    times.filter(|t| *t > 0.0).min_by(f64::total_cmp)
}

/// Local time in UTC. Raw values have UTC, and the first one is taken a few seconds after the start. The difference is
/// therefore the zone's offset, rounded to its step. `None` if no time zone has such an offset.
fn in_utc(local: i64, earliest: f64) -> Option<i64> {
    let offset = ((local as f64 / 1e9 - earliest) / ZONE_STEP_S).round() * ZONE_STEP_S;
    (offset.abs() <= MAX_ZONE_S).then(|| local - offset as i64 * 1_000_000_000)
}

/// `2016-10-11T16:29:19.854645Z`, or local time without the `Z`. `None` for other forms.
fn instant(text: &str) -> Option<Start> {
    let (text, utc) = match text.strip_suffix('Z') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let (date, time) = text.split_once('T')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let digits = |text: &str| -> Option<i64> {
        (!text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit()))
            .then(|| text.parse().ok())
            .flatten()
    };
    let three = |text: &str, by: char| -> Option<[i64; 3]> {
        let parts: Option<Vec<i64>> = text.split(by).map(digits).collect();
        parts?.try_into().ok()
    };
    let [year, month, day] = three(date, '-')?;
    let [hour, minute, second] = three(time, ':')?;
    if !(1970..=2261).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let nanos = digits(fraction)? * 10_i64.pow(9 - fraction.len() as u32);
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    let nanos = seconds * 1_000_000_000 + nanos;
    Some(if utc { Start::Utc(nanos) } else { Start::Local(nanos) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::utc::UnixTime;

    #[test]
    fn times_round_trip() {
        // `date -ud 2016-10-11T16:29:19Z +%s`
        let nanos = 1_476_203_359_854_645_000;
        assert_eq!(instant("2016-10-11T16:29:19.854645Z"), Some(Start::Utc(nanos)));
        assert_eq!(instant("2016-10-11T16:29:19.854645"), Some(Start::Local(nanos)));
        for at in [0, 951_782_400_000_000_000, 4_107_542_399_999_999_000] {
            assert_eq!(instant(&UnixTime(at).rfc3339_micros()), Some(Start::Utc(at)));
        }
        for wrong in [
            "",
            "2016-10-11",
            "2016-10-11T16:29Z",
            "2016-13-11T16:29:19Z",
            "2016-10-11T16:29:19.Z",
            "2016-1-11T1:2:-3Z",
        ] {
            assert_eq!(instant(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn local_time_becomes_utc_by_the_earliest_value() {
        let local = 1_476_203_359_000_000_000;
        let seconds = 1_476_203_359.0;
        // Nepal is 5:45 before UTC's clock, Newfoundland 3:30 behind. The first value comes 5 s after the start.
        for offset in [0, 2 * 3600, 5 * 3600 + 45 * 60, -(3 * 3600 + 30 * 60), 14 * 3600] {
            let first = seconds - f64::from(offset) + 5.0;
            assert_eq!(
                in_utc(local, first),
                Some(local - i64::from(offset) * 1_000_000_000),
                "{offset}"
            );
        }
        assert_eq!(in_utc(local, seconds + 86_400.0), None, "no zone differs by a day");
    }
}
