//! Built-in scenarios, and loading of a scenario by path or name.

use crate::document::Document;
use crate::problem::{Problem, ScenarioError, Source};
use crate::suggest::{list, nearest};
use serde_json::Value;
use std::io::Read as _;
use std::path::{Path, PathBuf};

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../scenarios/", $name, ".toml")))),+]
    };
}

const BUILT_IN: &[(&str, &str)] = built_in![
    "anomaly",
    "archer-c7-one-ssid",
    "archer-c7-split",
    "archer-c7-steered",
    "boost",
    "call-and-download",
    "evening-at-home",
    "four-uses",
    "iptv-over-wifi",
    "patch-under-test",
    "penalty-box",
    "ping-pong",
    "relay-chain",
    "rpm-beside-download",
    "rrul",
    "rrul-be",
    "rrul-house",
    "scan-during-call",
    "sleeping-phone",
    "slow-neighbour",
    "slow-neighbour-both",
    "small-queues-pci",
    "small-queues-usb",
    "square-wave",
    "sticky-neighbour",
    "tcp-8down",
    "tcp-8up",
    "three-unit-house",
    "tr398-like-airtime-fairness",
    "tr398-like-bidirectional",
    "tr398-like-latency",
    "tr398-like-several-stations",
    "tr398-like-throughput",
    "two-clients",
    "voip-rrul",
    "walk-with-a-call",
    "wifi-or-line",
];

/// Maximum size of a scenario file in bytes: 1 MiB.
pub const MAX_FILE_SIZE: u64 = 1 << 20;

/// Name of a record's document in the folder of a run.
const RECORD: &str = "run.json";
/// Key of the plan in it.
const PLAN: &str = "plan";
/// Maximum size of such a document in bytes: 64 MiB, because it has the results of all stations too.
const MAX_RECORD_SIZE: u64 = 64 << 20;

/// Returns name and text of each built-in scenario.
#[must_use]
pub fn built_in_scenarios() -> &'static [(&'static str, &'static str)] {
    BUILT_IN
}

/// Returns name and text of the built-in scenario with this name, in British or American spelling.
///
/// # Errors
/// There is no such scenario. The error lists the names, the most similar one first.
pub fn built_in_scenario(name: &str) -> Result<(&'static str, &'static str), ScenarioError> {
    let found = named(name).copied();
    found.ok_or_else(|| not_found(name, "no built-in scenario with this name"))
}

/// Loads the file with this path, else the built-in scenario with this name.
///
/// # Errors
/// Neither exists; or the file cannot be read, is larger than [`MAX_FILE_SIZE`], or is not valid UTF-8 or TOML.
pub fn load(name_or_path: &str) -> Result<Document, ScenarioError> {
    ScenarioText::read(name_or_path)?.document()
}

/// Text of a scenario that may be invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioText {
    /// Path of the file, or name of the built-in scenario.
    pub name: String,
    /// TOML; or JSON, as the plan in a record.
    pub text: String,
    /// Directory of the file; `None` for a built-in scenario.
    pub directory: Option<PathBuf>,
}

impl ScenarioText {
    /// Reads the file with this path, else the built-in scenario with this name. The folder of a run has the scenario in its
    /// record.
    ///
    /// # Errors
    /// Neither exists; or the file cannot be read, is larger than [`MAX_FILE_SIZE`], or is not valid UTF-8.
    pub fn read(name_or_path: &str) -> Result<Self, ScenarioError> {
        let path = Path::new(name_or_path);
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                if let Some(known) = named(name_or_path) {
                    return Ok(ScenarioText::built_in(known));
                }
                if let Some(text) = recorded(path) {
                    return Ok(ScenarioText {
                        name: name_or_path.to_owned(),
                        text,
                        directory: None,
                    });
                }
                let help = "give the path of a scenario file in it, or of a folder that a run was saved to";
                Err(whole(
                    name_or_path,
                    "found a directory, expected a file".to_owned(),
                    help,
                ))
            }
            Ok(found) if found.len() > MAX_FILE_SIZE => Err(too_large(name_or_path, found.len())),
            Ok(_) => {
                let text = read(path).map_err(|error| {
                    let message = format!("cannot read the file: {error}");
                    ScenarioError::whole(name_or_path, message, None)
                })?;
                if text.len() as u64 > MAX_FILE_SIZE {
                    return Err(too_large(name_or_path, text.len() as u64));
                }
                Ok(ScenarioText {
                    name: name_or_path.to_owned(),
                    text: utf8(name_or_path, text)?,
                    directory: Some(path.parent().unwrap_or(Path::new("")).to_owned()),
                })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound || is_word(name_or_path) => named(name_or_path)
                .map(ScenarioText::built_in)
                .ok_or_else(|| not_found(name_or_path, "no such file, and no built-in scenario with this name")),
            Err(error) => Err(ScenarioError::whole(
                name_or_path,
                format!("cannot read the file: {error}"),
                None,
            )),
        }
    }

    fn built_in((name, text): &(&str, &str)) -> Self {
        ScenarioText {
            name: (*name).to_owned(),
            text: (*text).to_owned(),
            directory: None,
        }
    }

    /// Parses the text. No text in TOML begins with `{`.
    ///
    /// # Errors
    /// It is neither valid TOML nor JSON.
    pub fn document(&self) -> Result<Document, ScenarioError> {
        if self.text.trim_start().starts_with('{') {
            return Ok(Document::from_json(&self.json()?).named(&self.name));
        }
        let document = Document::from_toml(&self.name, &self.text)?;
        Ok(match &self.directory {
            Some(directory) => document.in_directory(directory),
            None => document,
        })
    }
}

impl ScenarioText {
    /// The text as JSON: a scenario, or the plan in a record.
    fn json(&self) -> Result<Value, ScenarioError> {
        let mut found: Value = serde_json::from_str(&self.text).map_err(|error| {
            let help = "a scenario is TOML, or JSON as in the record of a run";
            whole(&self.name, format!("invalid JSON: {error}"), help)
        })?;
        let plan = found.get_mut(PLAN).map(Value::take);
        Ok(plan.unwrap_or(found))
    }
}

/// Document of the record in the folder of a run; `None` without one.
fn recorded(folder: &Path) -> Option<String> {
    crate::regular::read_input(&folder.join(RECORD), MAX_RECORD_SIZE).ok()
}

/// Returns the built-in scenario with this name, in British or American spelling.
fn named(name: &str) -> Option<&'static (&'static str, &'static str)> {
    let british = name.replace("neighbor", "neighbour");
    BUILT_IN.iter().find(|(known, _)| *known == british)
}

fn is_word(name: &str) -> bool {
    crate::path::is_name(name)
}

fn whole(name: &str, message: String, help: &str) -> ScenarioError {
    ScenarioError::whole(name, message, Some(help.to_owned()))
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    // A pipe reports length 0 and may never end.
    crate::regular::open_input(path)?
        .take(MAX_FILE_SIZE + 1)
        .read_to_end(&mut text)?;
    Ok(text)
}

fn too_large(name: &str, bytes: u64) -> ScenarioError {
    let message = if bytes > MAX_FILE_SIZE + 1 {
        format!("file too large: found {bytes} bytes")
    } else {
        format!("file too large: found more than {MAX_FILE_SIZE} bytes")
    };
    whole(name, message, "expected up to 1 MiB")
}

fn utf8(name: &str, bytes: Vec<u8>) -> Result<String, ScenarioError> {
    String::from_utf8(bytes).map_err(|error| {
        let (good, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let before = String::from_utf8_lossy(&bytes[..good]);
        let (line, column) = crate::problem::position(&before, before.len());
        let bad = bytes.get(good).copied().unwrap_or_default();
        let message = format!("invalid UTF-8: byte 0x{bad:02X} at offset {good}");
        let help = Some("save the file as UTF-8".to_owned());
        let problem = Problem::new(crate::node::Place::Whole, "", message, help).at(line, column);
        let source = Source {
            name: name.to_owned(),
            ..Source::default()
        };
        ScenarioError::new(&source, vec![problem])
    })
}

/// Built-in scenarios that a message shows.
const EXAMPLES: [&str; 3] = ["four-uses", "slow-neighbour", "evening-at-home"];

fn not_found(name: &str, message: &str) -> ScenarioError {
    let names = || BUILT_IN.iter().map(|(name, _)| *name);
    let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = stem.strip_suffix(".toml").unwrap_or(stem);
    let help = match nearest(stem, names()) {
        Some(near) => format!("did you mean `{near}`? `netburn scenarios` lists the built-in scenarios"),
        None => format!(
            "`netburn scenarios` lists the built-in scenarios, such as {}",
            list(EXAMPLES.iter().copied())
        ),
    };
    ScenarioError::whole(name, message.to_owned(), Some(help))
}
