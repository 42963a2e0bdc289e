//! Signals of radios at a station over time, instead of positions.

use super::RadioRef;
use crate::decode::{Context, FromNode, Spanned};
use crate::node::{Node, Value};
use crate::scalars::{Signal, parsed};
use crate::value::PlanValue;
use netburn_units::{Dbm, Duration};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value as Json;

/// Signal of one radio at a station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RadioSignal {
    /// The radio.
    pub radio: RadioRef,
    /// Times and signals, of which there is at least one, in the order of time. Between two the signal in dB changes
    /// linearly. Before the first and after the last it is constant.
    pub points: Vec<SignalPoint>,
}

/// Signal at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalPoint {
    /// Time since the start of the load.
    pub time: Duration,
    /// Received power.
    pub signal: Dbm,
}

impl RadioSignal {
    /// Signal in dBm at `nanos` ns after the start of the load; before it, a negative number.
    #[must_use]
    pub fn at(&self, nanos: i64) -> f64 {
        let nanos = u64::try_from(nanos).unwrap_or(0);
        let next = self.points.partition_point(|point| point.time.as_nanos() <= nanos);
        let before = next.checked_sub(1).and_then(|index| self.points.get(index));
        match (before, self.points.get(next)) {
            (Some(from), Some(to)) => {
                let part = (nanos - from.time.as_nanos()) as f64 / (to.time.as_nanos() - from.time.as_nanos()) as f64;
                let (from, to) = (from.signal.as_dbm_f64(), to.signal.as_dbm_f64());
                from + part * (to - from)
            }
            (Some(only), None) | (None, Some(only)) => only.signal.as_dbm_f64(),
            (None, None) => 0.0,
        }
    }

    /// Time of the last point: the signal is constant from it on.
    #[must_use]
    pub fn end(&self) -> Duration {
        self.points.last().map_or(Duration::ZERO, |point| point.time)
    }
}

/// Signals of a station, by radio.
#[derive(Debug, Clone)]
pub(crate) struct Signals(pub(crate) Vec<Spanned<RadioSignal>>);

const POINT: &str =
    "a time since the start of the load (up to 30 days) and a signal (−110 to 0 dBm), such as `\"10 s: -60 dBm\"`";

/// Longest time, as for other times of a scenario.
const LATEST: Duration = Duration::from_secs(30 * 86_400);

impl FromNode for Signals {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let wanted = "a table of radios with signals, such as `{ \"c7.5g\" = \"-60 dBm\" }`";
        let table = cx.table(node, wanted)?;
        if table.entries.is_empty() {
            let help = "name at least one radio: `{ \"c7.5g\" = \"-60 dBm\" }`";
            cx.problem(&node.place, "no radio has a signal", help.to_owned());
        }
        let mut signals = Vec::new();
        for entry in &table.entries {
            let Some(radio) = RadioRef::parse(&entry.key) else {
                let message = format!("invalid radio {}", crate::suggest::quoted_name(&entry.key));
                let help = "expected an access point and a radio in quotes: `{ \"c7.5g\" = \"-60 dBm\" }`";
                cx.problem(&entry.place, message, help.to_owned());
                continue;
            };
            let points = cx.within(&entry.key, |cx| points(&entry.node, cx));
            let Some(points) = points else { continue };
            signals.push(Spanned {
                value: RadioSignal { radio, points },
                place: entry.place.clone(),
                path: format!("{}.{}", cx.path.join("."), entry.key),
            });
        }
        Some(Signals(signals))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let constant = Signal::schema(generator);
        json_schema!({
            "type": "object",
            "minProperties": 1,
            "patternProperties": {
                "^[A-Za-z0-9-]{1,63}\\.(2g|5g|6g)(-[234])?$": {
                    "anyOf": [constant, { "type": "array", "minItems": 1, "items": { "type": "string" } }],
                },
            },
            "additionalProperties": false,
            "x-value": "radios with signals, `{ \"c7.5g\" = \"-60 dBm\", \"c8.5g\" = [\"0 s: -80 dBm\", \"10 s: -60 dBm\"] }`",
        })
    }
}

/// A constant signal, or a list of times and signals.
fn points(node: &Node, cx: &mut Context) -> Option<Vec<SignalPoint>> {
    let Value::List(items) = &node.value else {
        let signal = Signal::read(node, cx)?.0;
        return Some(vec![SignalPoint {
            time: Duration::ZERO,
            signal,
        }]);
    };
    if items.is_empty() {
        let help = "add a time and a signal: `[\"0 s: -80 dBm\"]`";
        cx.problem(&node.place, "the list is empty", help.to_owned());
        return None;
    }
    let found = cx.problems.len();
    let mut points: Vec<SignalPoint> = Vec::new();
    for item in items {
        let Some(next) = parsed(item, cx, POINT, point) else {
            continue;
        };
        if let Some(before) = points.last().filter(|before| before.time >= next.time) {
            let message = format!("{} is not after {}", next.time, before.time);
            cx.problem(
                &item.place,
                message,
                "put the times in order, each later than the one before".to_owned(),
            );
        }
        points.push(next);
    }
    (cx.problems.len() == found).then_some(points)
}

/// Reads `10 s: -60 dBm`.
fn point(text: &str) -> Option<SignalPoint> {
    let (time, signal) = text.split_once(':')?;
    let time: Duration = time.trim().parse().ok()?;
    let signal: Dbm = signal.trim().parse().ok()?;
    let valid = time <= LATEST && (Dbm::from_dbm(-110)..=Dbm::from_dbm(0)).contains(&signal);
    valid.then_some(SignalPoint { time, signal })
}

impl PlanValue<Signals> for Vec<RadioSignal> {
    fn from_key(key: &Signals) -> Self {
        key.0.iter().map(|signal| signal.value.clone()).collect()
    }

    fn to_json(&self) -> Json {
        let each = self.iter().map(|of| {
            let value = match of.points.as_slice() {
                [only] if only.time.is_zero() => only.signal.to_string().into(),
                points => points
                    .iter()
                    .map(|at| Json::from(format!("{}: {}", at.time, at.signal)))
                    .collect(),
            };
            (of.radio.to_string(), value)
        });
        // A table without keys is left out.
        Json::Object(each.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RadioName;
    use netburn_medium::config::Band;

    /// −80 dBm at 2 s, −60 dBm at 12 s: 2 dB per second.
    #[test]
    fn linear_between_two_points_and_constant_outside() {
        let point = |seconds, dbm| SignalPoint {
            time: Duration::from_secs(seconds),
            signal: Dbm::from_dbm(dbm),
        };
        let signal = RadioSignal {
            radio: RadioRef {
                ap: "attic".to_owned(),
                radio: RadioName::first(Band::Ghz5),
            },
            points: vec![point(2, -80), point(12, -60), point(13, -90)],
        };
        for (seconds, dbm) in [
            (-3.0, -80.0),
            (0.0, -80.0),
            (2.0, -80.0),
            (7.0, -70.0),
            (9.5, -65.0),
            (12.0, -60.0),
            (12.5, -75.0),
            (13.0, -90.0),
            (99.0, -90.0),
        ] {
            let got = signal.at((seconds * 1e9) as i64);
            assert!((got - dbm).abs() < 1e-9, "{seconds} s: {got} for {dbm}");
        }
        assert_eq!(signal.end(), Duration::from_secs(13));
    }

    #[test]
    fn a_time_and_a_signal() {
        let read = |text| point(text).map(|at| (at.time, at.signal));
        let expected = (Duration::from_millis(1_500), Dbm::from_hundredths(-6_050));
        assert_eq!(read("1.5 s: -60.5 dBm"), Some(expected));
        assert_eq!(read("1500ms:-60.5dBm"), Some(expected));
        for wrong in [
            "-60 dBm",
            "10 s",
            "10: -60 dBm",
            "10 s: -60",
            "-1 s: -60 dBm",
            "1 s: 3 dBm",
            "800 h: -60 dBm",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
