//! Key with a capacity trace: a file, or its times as a list.

use crate::decode::{Context, FromNode};
use crate::node::{Node, Value};
use crate::plan::{Trace, TraceError};
use crate::value::PlanValue;
use schemars::{Schema, SchemaGenerator, json_schema};
use std::io::Read as _;
use std::path::Path;

/// Maximum size of a trace file in bytes: the longest times, each with a line end.
const MAX_TRACE_SIZE: u64 = Trace::MAX as u64 * 12;

impl FromNode for Trace {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let (trace, name, unit) = match &node.value {
            Value::List(items) => {
                let times: Vec<String> = items
                    .iter()
                    .map(|item| item.found().trim_matches('`').to_owned())
                    .collect();
                (Trace::parse(&times.join("\n")), String::new(), "entry ")
            }
            Value::Text(path) => match read(path, cx.directory.as_deref()) {
                Ok(text) => (Trace::parse(&text), format!("{path}:"), ""),
                Err((message, help)) => {
                    cx.problem(&node.place, message, help.to_owned());
                    return None;
                }
            },
            _ => return cx.mismatch(node, "the path of a trace, or a list of times in ms"),
        };
        match trace {
            Ok(trace) => Some(trace),
            Err(TraceError { line, message, help }) => {
                cx.problem(&node.place, format!("{name}{unit}{line}: {message}"), help.to_owned());
                None
            }
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "integer", "minimum": 0 } }],
            "x-value": "a path, or a list of times in ms"
        })
    }
}

impl PlanValue<Trace> for Trace {
    fn from_key(key: &Trace) -> Self {
        key.clone()
    }

    fn to_json(&self) -> serde_json::Value {
        self.times().into()
    }
}

/// Reads a trace file. Errors are a message and the correction.
fn read(path: &str, directory: Option<&Path>) -> Result<String, (String, &'static str)> {
    let relative = "the path is relative to the scenario file";
    let Some(directory) = directory else {
        let message = format!("found the path `{path}` in a scenario that is not a file");
        return Err((message, "write the times as a list"));
    };
    if Path::new(path).is_absolute() {
        return Err((format!("found the absolute path `{path}`"), relative));
    }
    let file = directory.join(path);
    let unreadable = |error: std::io::Error| (format!("cannot read `{path}`: {error}"), relative);
    let found = std::fs::metadata(&file).map_err(unreadable)?;
    if !found.is_file() {
        return Err((format!("`{path}` is not a file"), relative));
    }
    if found.len() > MAX_TRACE_SIZE {
        let message = format!("`{path}` has {} bytes, more than {MAX_TRACE_SIZE}", found.len());
        return Err((message, "use a shorter trace; it repeats"));
    }
    let mut text = Vec::new();
    let open = std::fs::File::open(&file).map_err(unreadable)?;
    open.take(MAX_TRACE_SIZE).read_to_end(&mut text).map_err(unreadable)?;
    // Bytes that are no text are no number either, and are reported with their line.
    Ok(String::from_utf8_lossy(&text).into_owned())
}
