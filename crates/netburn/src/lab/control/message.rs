//! Messages of the control of a lab: requests and their replies, as JSON. Pure.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A request of the controlling program.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    /// Number that the reply repeats.
    pub(super) id: u64,
    pub(super) call: Call,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Call {
    /// Start a program. The message has three files: its standard input, output and error.
    Run {
        /// Name of a station, or `server`.
        at: String,
        /// Program and arguments.
        arguments: Vec<String>,
        /// Variables in addition to those of the lab.
        #[serde(default)]
        environment: BTreeMap<String, String>,
    },
    /// Send a signal to a program.
    Signal { process: u64, number: i32 },
    /// Change keys of the scenario now.
    Set { changes: Map<String, Value> },
    /// Return the counters of the stations with these names; without names, of all.
    Stations {
        #[serde(default)]
        names: Vec<String>,
    },
    /// Return whether a program listens at a TCP port.
    Listens { at: String, port: u16 },
    /// End the lab.
    Close {},
}

/// Failure of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) text: String,
    /// Number of the system's error, if a program can't be started.
    pub(super) errno: Option<i32>,
}

impl Failure {
    pub(super) fn new(text: impl ToString) -> Self {
        Failure {
            text: text.to_string(),
            errno: None,
        }
    }
}

impl Request {
    /// Reads a message.
    ///
    /// # Errors
    /// The number of the request, if it is known, and a text.
    pub(super) fn read(bytes: &[u8]) -> Result<Request, (Option<u64>, Failure)> {
        serde_json::from_slice(bytes).map_err(|error| {
            let id = serde_json::from_slice::<Value>(bytes).ok();
            let id = id.and_then(|value| value.get("id")?.as_u64());
            (id, Failure::new(format!("invalid request: {error}")))
        })
    }
}

impl Call {
    /// Keys and values of the changes, as for `--set`.
    pub(super) fn texts(changes: &Map<String, Value>) -> Vec<(String, String)> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        changes.iter().map(|(key, value)| (key.clone(), text(value))).collect()
    }
}

/// The reply to a request.
pub(super) fn reply(id: Option<u64>, result: Result<Value, Failure>) -> Value {
    match result {
        Ok(result) => json!({ "id": id, "result": result }),
        Err(Failure { text, errno }) => json!({ "id": id, "error": text, "errno": errno }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_a_number_and_a_call() {
        let read = |text: &str| Request::read(text.as_bytes());
        let run = read(r#"{"id": 7, "call": {"run": {"at": "tv", "arguments": ["ls"]}}}"#).unwrap();
        let expected = Call::Run {
            at: "tv".to_owned(),
            arguments: vec!["ls".to_owned()],
            environment: BTreeMap::new(),
        };
        assert_eq!((run.id, run.call), (7, expected));
        assert_eq!(
            read(r#"{"id": 0, "call": {"close": {}}}"#).unwrap().call,
            Call::Close {}
        );
        for (wrong, id) in [
            ("", None),
            ("[]", None),
            (r#"{"id": 7}"#, Some(7)),
            (r#"{"id": 7, "call": {"fly": {}}}"#, Some(7)),
            (
                r#"{"id": 7, "call": {"listens": {"at": "tv", "port": 65536}}}"#,
                Some(7),
            ),
            (r#"{"id": -1, "call": {"close": {}}}"#, None),
            (r#"{"id": 7, "call": {"close": {"now": true}}}"#, Some(7)),
        ] {
            let (found, failure) = read(wrong).unwrap_err();
            assert_eq!(found, id, "{wrong}");
            assert!(failure.text.starts_with("invalid request: "), "{failure:?}");
        }
    }

    #[test]
    fn values_of_changes_are_texts() {
        let changes = json!({ "ap.a.queue": "fifo", "station.b.gso": false, "station.c.position": ["1 m", 2] });
        let texts = Call::texts(changes.as_object().unwrap());
        let texts: Vec<(&str, &str)> = texts
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        let list = ("station.c.position", r#"["1 m",2]"#);
        assert_eq!(texts, [("ap.a.queue", "fifo"), ("station.b.gso", "false"), list]);
    }

    #[test]
    fn a_part_of_a_message_is_rejected() {
        let whole = br#"{"id": 7, "call": {"signal": {"process": 1, "number": 15}}}"#;
        assert!(Request::read(whole).is_ok());
        for end in 0..whole.len() {
            assert!(Request::read(&whole[..end]).is_err());
        }
    }
}
