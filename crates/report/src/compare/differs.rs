//! In what two scenarios differ.

use serde_json::Value;
use std::collections::BTreeMap;

/// A key of the scenario that has another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differing {
    /// The key, as in the file: `ap.home.queue`.
    pub key: String,
    /// Its value in what it is held against; `None` where it isn't there.
    pub baseline: Option<String>,
    /// Its value in the other.
    pub value: Option<String>,
}

/// Keys that are words for people.
const WORDS: [&str; 4] = ["title", "question", "assumptions", "name"];

/// All keys that differ between two plans, each written as a scenario document, in the order of their names.
#[must_use]
pub fn differing(baseline: &Value, value: &Value) -> Vec<Differing> {
    let mut all: BTreeMap<String, [Option<String>; 2]> = BTreeMap::new();
    for (side, plan) in [baseline, value].into_iter().enumerate() {
        for (key, value) in plan.as_object().into_iter().flatten() {
            if !WORDS.contains(&key.as_str()) {
                walk(key.clone(), value, &mut |key, value| {
                    all.entry(key).or_default()[side] = Some(value)
                });
            }
        }
    }
    let different = all.into_iter().filter(|(_, [one, other])| one != other);
    different
        .map(|(key, [baseline, value])| Differing { key, baseline, value })
        .collect()
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
    fn keys_are_told_by_their_names() {
        let one = json!({ "title": "a", "ap": { "home": { "queue": "fifo", "ecn": false } }, "station": { "tv": {} } });
        let other =
            json!({ "title": "b", "ap": { "home": { "queue": "airtime", "ecn": false } }, "at": [{ "time": "5 s" }] });
        let found = differing(&one, &other);
        let texts: Vec<(&str, Option<&str>, Option<&str>)> = found
            .iter()
            .map(|d| (d.key.as_str(), d.baseline.as_deref(), d.value.as_deref()))
            .collect();
        assert_eq!(
            texts,
            [
                ("ap.home.queue", Some("fifo"), Some("airtime")),
                ("at.0.time", None, Some("5 s")),
                ("station.tv", Some("{}"), None),
            ]
        );
    }
}
