//! Differences between two scenarios.

use serde_json::Value;
use std::collections::BTreeMap;

/// A key of the scenario that has another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedKey {
    /// The key, as in the file: `ap.home.queue`.
    pub key: String,
    /// Value in the baseline; `None` if missing.
    pub baseline: Option<String>,
    /// Value in the candidate; `None` if missing.
    pub value: Option<String>,
}

/// Keys with descriptive texts.
const WORDS: [&str; 4] = ["title", "question", "assumptions", "name"];

/// Keys of a station that matter without a model; the others describe the model.
const REAL: [&str; 6] = ["workload", "start", "stop", "cc", "agent", "label"];

/// Keys that differ between two plans, each given as a scenario document, sorted by name. A station
/// in only one of them is one key, with its workloads as the value. If `modelled` is false, neither
/// side models the network, and keys that only describe the model are omitted.
#[must_use]
pub fn changed_keys(baseline: &Value, value: &Value, modelled: bool) -> Vec<ChangedKey> {
    let mut all: BTreeMap<String, [Option<String>; 2]> = BTreeMap::new();
    let sides = [baseline, value];
    for (side, plan) in sides.into_iter().enumerate() {
        let other = sides[1 - side];
        for (key, value) in plan.as_object().into_iter().flatten() {
            if WORDS.contains(&key.as_str()) {
                continue;
            }
            let mut put = |key: String, value: String| {
                if modelled || means_something(&key) {
                    all.entry(key).or_default()[side] = Some(value);
                }
            };
            match value.as_object().filter(|_| key == "station") {
                Some(stations) => {
                    for (name, station) in stations {
                        let key = format!("station.{name}");
                        match other.pointer("/station").and_then(|others| others.get(name)) {
                            Some(_) => walk(key, station, &mut put),
                            None => put(key, workloads(station)),
                        }
                    }
                }
                None => walk(key.clone(), value, &mut put),
            }
        }
    }
    let different = all.into_iter().filter(|(_, [one, other])| one != other);
    different
        .map(|(key, [baseline, value])| ChangedKey { key, baseline, value })
        .collect()
}

/// Returns true if a key matters without a model.
fn means_something(key: &str) -> bool {
    let mut parts = key.split('.');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("ap" | "network" | "at"), _, _) => false,
        (Some("server"), Some("link"), Some(what)) => what == "rate",
        (Some("station"), Some(_), Some(what)) => REAL.contains(&what),
        _ => true,
    }
}

/// Short description of a station: its workloads.
fn workloads(station: &Value) -> String {
    let names = station.get("workload").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<&str> = names.filter_map(Value::as_str).collect();
    if names.is_empty() {
        "without a workload".to_owned()
    } else {
        names.join(", ")
    }
}

fn walk(key: String, value: &Value, found: &mut dyn FnMut(String, String)) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                walk(format!("{key}.{name}"), value, found);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (number, value) in items.iter().enumerate() {
                walk(format!("{key}.{number}"), value, found);
            }
        }
        Value::String(text) => found(key, text.clone()),
        other => found(key, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changed_keys_are_sorted_by_name() {
        let one = json!({ "title": "a", "ap": { "home": { "queue": "fifo", "ecn": false } }, "station": { "tv": {} } });
        let other =
            json!({ "title": "b", "ap": { "home": { "queue": "airtime", "ecn": false } }, "at": [{ "time": "5 s" }] });
        let found = changed_keys(&one, &other, true);
        let texts: Vec<(&str, Option<&str>, Option<&str>)> = found
            .iter()
            .map(|d| (d.key.as_str(), d.baseline.as_deref(), d.value.as_deref()))
            .collect();
        assert_eq!(
            texts,
            [
                ("ap.home.queue", Some("fifo"), Some("airtime")),
                ("at.0.time", None, Some("5 s")),
                ("station.tv", Some("without a workload"), None),
            ]
        );
    }

    /// On fleet and local nothing is modelled, so keys of the model do not differ.
    #[test]
    fn keys_of_the_model_do_not_differ_without_a_model() {
        let station = |workload: &str, signal: &str| json!({ "workload": [workload], "start": "0 s", "gro": true, "queue": "fq-codel", "signal": signal });
        let one = json!({
            "duration": "8 s",
            "server": { "link": { "rate": "60 Mbit/s", "delay": "0 s" } },
            "station": { "dev2": station("voip", "-60 dBm"), "dev4": station("download", "-60 dBm") },
        });
        let other = json!({
            "duration": "9 s",
            "server": { "link": { "rate": "50 Mbit/s", "delay": "9 ms" } },
            "ap": { "home": { "queue": "fifo" } },
            "station": { "dev2": station("browsing", "-70 dBm") },
        });
        let keys = |modelled| -> Vec<String> {
            let found = changed_keys(&one, &other, modelled);
            let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
            let each = found.iter();
            each.map(|d| format!("{} {} → {}", d.key, shown(&d.baseline), shown(&d.value)))
                .collect()
        };
        assert_eq!(
            keys(false),
            [
                "duration 8 s → 9 s",
                "server.link.rate 60 Mbit/s → 50 Mbit/s",
                "station.dev2.workload [\"voip\"] → [\"browsing\"]",
                "station.dev4 download → nothing",
            ]
        );
        assert_eq!(keys(true).len(), 7, "{:?}", keys(true));
    }
}
