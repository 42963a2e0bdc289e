//! JSON Schema of scenario documents, and the tables of the manual.

use crate::change::CHANGEABLE;
use crate::decode::{Key, SectionSchema};
use crate::environment::Environment;
use crate::file::{self, Scenario, SectionEntry};
use crate::kinds;
use crate::plan::StationWorkload;
use crate::resolve::SCHEMA;
use netburn_tcp::config::TsqPreset;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::fmt::Write as _;

/// Returns the JSON Schema (draft 2020-12) for TOML files read as JSON, and for the output of [`Plan::to_json`].
///
/// [`Plan::to_json`]: crate::Plan::to_json
#[must_use]
pub fn json_schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<SectionSchema<Scenario>>();
    schema.insert("title".to_owned(), SCHEMA.into());
    schema.to_value()
}

/// Replaces the tables of a Markdown page: the text between each `<!-- generated: TABLE -->` and `<!-- end -->`.
///
/// # Errors
/// The page has an unknown table or a table without end, or lacks one.
pub fn manual(page: &str) -> Result<String, String> {
    let mut tables = TABLES.to_vec();
    let (mut text, mut rest) = (String::new(), page);
    while let Some((before, after)) = rest.split_once("<!-- generated: ") {
        let (name, after) = after.split_once(" -->").ok_or("a marker without end")?;
        let (_, after) = after
            .split_once("<!-- end -->")
            .ok_or(format!("the table `{name}` has no end"))?;
        let at = tables.iter().position(|(known, _)| *known == name);
        let (_, write) = tables.remove(at.ok_or(format!("unknown or repeated table `{name}`"))?);
        let mut table = String::new();
        write(&mut table);
        let _ = write!(
            text,
            "{before}<!-- generated: {name} -->\n\n{}\n\n<!-- end -->",
            table.trim()
        );
        rest = after;
    }
    match tables.first() {
        Some((name, _)) => Err(format!("the table `{name}` is missing")),
        None => Ok(text + rest),
    }
}

/// Writes a table of the manual.
type WriteTable = fn(&mut String);

/// Tables of the manual.
const TABLES: &[(&str, WriteTable)] = &[
    ("keys", write_sections),
    ("keys that can change", write_changeable),
    ("presets of tsq", write_presets),
];

/// A section of the scenario file, for manuals. Texts have code in backquotes.
#[derive(Debug)]
pub struct ManualSection {
    /// Header, such as `[station.NAME]`.
    pub header: &'static str,
    /// Description.
    pub about: &'static str,
    /// Keys, in the order of the manual.
    pub keys: Vec<ManualKey>,
}

/// A key of a section, for manuals.
#[derive(Debug)]
pub struct ManualKey {
    /// Name.
    pub name: &'static str,
    /// Valid values.
    pub value: String,
    /// Default, `required`, or `none`.
    pub default: String,
    /// Environments in which the key acts, or `all`.
    pub environments: String,
    /// Description.
    pub meaning: String,
}

/// All sections with their keys.
#[must_use]
pub fn manual_sections() -> Vec<ManualSection> {
    file::all().iter().map(manual_section).collect()
}

fn write_sections(text: &mut String) {
    let cell = |text: &str| text.replace('|', "\\|");
    for section in manual_sections() {
        let _ = write!(text, "\n## `{}`\n\n{}\n\n", section.header, section.about);
        text.push_str("| key | value | default | environments | meaning |\n|---|---|---|---|---|\n");
        for key in section.keys {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {} |",
                key.name,
                cell(&key.value),
                cell(&key.default),
                key.environments,
                cell(&key.meaning)
            );
        }
    }
}

fn write_changeable(text: &mut String) {
    for changeable in CHANGEABLE.iter() {
        let _ = writeln!(text, "- `{}`", changeable.pattern);
    }
}

fn manual_section(section: &SectionEntry) -> ManualSection {
    let defaults = (section.defaults)();
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let keys = (section.keys)().into_iter().map(|key| {
        let value = value_of(&(key.schema)(&mut generator).to_value());
        let by_kind = (section.header == WORKLOADS).then(|| default_by_kind(&key)).flatten();
        let default = match (
            key.default_in(&defaults),
            by_kind.as_deref().or(key.default_note.as_deref()),
        ) {
            _ if key.required => "required".to_owned(),
            _ if value == SECTION && key.default_note.is_none() => "the defaults of its keys".to_owned(),
            (Some(default), _) => format!("`{}`", text_of(&default)),
            (None, Some(note)) => note.to_owned(),
            (None, None) => NONE.to_owned(),
        };
        let acts = key.environments().map_or(section.environments, |(acts, _)| acts);
        ManualKey {
            name: key.name,
            value,
            default,
            environments: environments(acts),
            meaning: key.meaning(),
        }
    });
    ManualSection {
        header: section.header,
        about: section.about,
        keys: keys.collect(),
    }
}

/// Header of the sections of workloads.
const WORKLOADS: &str = "[workload.NAME]";

/// Value of a key that is a section.
const SECTION: &str = "a section";

/// Default of a key without one.
const NONE: &str = "none";

/// Text of a default value.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text_of).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}

/// Default of a workload's key, for each kind that has the key: the value of the built-in workload of the kind.
/// `None` if no kind has one.
fn default_by_kind(key: &Key) -> Option<String> {
    let mut defaults: Vec<(String, Vec<String>)> = Vec::new();
    for kind in kinds::with_key(key.name) {
        let keys = kinds::encode(&StationWorkload::new("", kind.preset()));
        let default = match (key.name, kind.default_rate) {
            ("rate", Some(rate)) => format!("`{rate}`"),
            ("interval", Some(_)) => "from `rate`".to_owned(),
            _ => match keys.get(key.name).map(text_of).filter(|text| !text.is_empty()) {
                Some(text) => format!("`{text}`"),
                None => NONE.to_owned(),
            },
        };
        let name = format!("`{kind}`");
        match defaults.iter_mut().find(|(known, _)| *known == default) {
            Some((_, kinds)) => kinds.push(name),
            None => defaults.push((default, vec![name])),
        }
    }
    match &defaults[..] {
        [(default, _)] => (default != NONE).then(|| default.clone()),
        several => {
            let texts = several
                .iter()
                .map(|(default, kinds)| format!("{default} for {}", kinds.join(", ")));
            Some(texts.collect::<Vec<_>>().join("; "))
        }
    }
}

fn environments(acts: &[Environment]) -> String {
    if acts == Environment::ALL {
        return "all".to_owned();
    }
    let names: Vec<&str> = acts.iter().map(|environment| environment.name()).collect();
    names.join(", ")
}

/// Short description of a key's valid values.
fn value_of(schema: &Value) -> String {
    let words = |list: &Vec<Value>| {
        let texts: Vec<String> = list
            .iter()
            .filter_map(Value::as_str)
            .map(|word| format!("`{word}`"))
            .collect();
        texts.join(", ")
    };
    if let Some(value) = schema.get("x-value").and_then(Value::as_str) {
        return value.to_owned();
    }
    if let Some(list) = schema.get("enum").and_then(Value::as_array) {
        return words(list);
    }
    if schema.get("$ref").is_some() {
        return SECTION.to_owned();
    }
    if let Some(either) = schema.get("anyOf").and_then(|any| any.get(0)) {
        return format!("{}, or a list", value_of(either));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => match (&schema["minimum"], schema["maximum"].as_u64()) {
            (low, None | Some(u64::MAX)) => format!("a whole number from {low}"),
            (low, Some(high)) => format!("{low} to {high}"),
        },
        Some("array") => format!("a list: {}", value_of(&schema["items"])),
        Some("object") => "sections by name".to_owned(),
        _ => "a value".to_owned(),
    }
}

fn write_presets(text: &mut String) {
    text.push_str("| preset | shift | minimum | cap |\n|---|---|---|---|\n");
    for preset in TsqPreset::ALL {
        let settings = preset.settings();
        let shift = settings.shift.map_or("–".to_owned(), |shift| shift.to_string());
        let cap = match (settings.cap, settings.caps_paced) {
            (None, _) => "–".to_owned(),
            (Some(cap), true) => cap.to_string(),
            (Some(cap), false) => format!("{cap}, not for paced connections"),
        };
        let minimum = match settings.minimum.as_bytes() {
            0 => "–".to_owned(),
            _ => settings.minimum.to_string(),
        };
        let _ = writeln!(text, "| `{}` | {shift} | {minimum} | {cap} |", preset.name());
    }
}
