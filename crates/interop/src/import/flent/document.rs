//! The JSON document as checked values; unknown keys are ignored.

use super::{FlentError, VERSION};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The longest test: a plan lasts 30 days at most.
const MAX_DURATION_S: f64 = 30.0 * 86_400.0;

/// A data file.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) test: String,
    pub(super) title: String,
    /// Nanoseconds since 1970, if the file has a start time.
    pub(super) t0: Option<i64>,
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
        let results = file.results.into_iter();
        Ok(Data {
            test,
            title: text("TITLE"),
            t0: instant(&start_text),
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

/// `2016-10-11T16:29:19.854645Z` in ns since 1970. `None` for other forms.
fn instant(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
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
    Some(seconds * 1_000_000_000 + nanos)
}

/// Days since 1970-01-01 in the Gregorian calendar, by years that begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + in_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::utc::UnixTime;

    #[test]
    fn times_round_trip() {
        // `date -ud 2016-10-11T16:29:19Z +%s`
        assert_eq!(instant("2016-10-11T16:29:19.854645Z"), Some(1_476_203_359_854_645_000));
        for at in [0, 951_782_400_000_000_000, 4_107_542_399_999_999_000] {
            assert_eq!(instant(&UnixTime(at).rfc3339_micros()), Some(at));
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
}
