//! JSON Schema of scenario documents, and the tables of the manual.

use crate::change::CHANGEABLE;
use crate::decode::SectionSchema;
use crate::enums::KINDS;
use crate::environment::Environment;
use crate::file::{self, Scenario, SectionEntry};
use crate::resolve::{SCHEMA, preset};
use netburn_tcp::config::TsqPreset;
use netburn_workload::{Config, Goal};
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
    ("built-in workloads", write_workloads),
    ("presets of tsq", write_presets),
];

fn write_sections(text: &mut String) {
    for section in file::all() {
        write_section(text, &section);
    }
}

fn write_changeable(text: &mut String) {
    for changeable in CHANGEABLE.iter() {
        let _ = writeln!(text, "- `{}`", changeable.pattern);
    }
}

fn write_section(text: &mut String, section: &SectionEntry) {
    let _ = write!(text, "\n## `{}`\n\n{}\n\n", section.header, section.about);
    text.push_str("| key | value | default | environments | meaning |\n|---|---|---|---|---|\n");
    let defaults = (section.defaults)();
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    for key in (section.keys)() {
        let value = value_of(&(key.schema)(&mut generator).to_value());
        let default = match (key.default_in(&defaults), key.default_note) {
            _ if key.required => "required".to_owned(),
            (Some(Value::String(default)), _) => format!("`{default}`"),
            (Some(default), _) => format!("`{default}`"),
            (None, Some(note)) => note.to_owned(),
            (None, None) => "–".to_owned(),
        };
        let acts = key.environments().map_or(section.environments, |(acts, _)| acts);
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} |",
            key.name,
            cell(&value),
            cell(&default),
            environments(acts),
            cell(key.about)
        );
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
        return "a section".to_owned();
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

fn write_workloads(text: &mut String) {
    text.push_str("| name | kind | objects | interval | in flight | goal |\n|---|---|---|---|---|---|\n");
    let names = ["browsing", "4kstream", "voip", "download", "upload", "probe"];
    for (name, (word, kind)) in names.iter().zip(KINDS) {
        let config = preset(*kind);
        let size = match config.objects {
            1 => config.object_size.to_string(),
            objects => format!("{objects} × {}", config.object_size),
        };
        let every = match (config.interval, config.jitter) {
            (None, _) => "none: one after another".to_owned(),
            (Some(every), jitter) if jitter.is_zero() => every.to_string(),
            (Some(every), jitter) => format!("{every} ± {jitter}"),
        };
        let goals: Vec<String> = config.goals.iter().map(goal).collect();
        let goals = if goals.is_empty() {
            "none".to_owned()
        } else {
            goals.join(", ")
        };
        let _ = writeln!(
            text,
            "| `{name}` | `{word}` | {size} | {every} | {} | {goals} |",
            config.outstanding
        );
    }
    let player = Config::stream_4k().player.unwrap_or_default();
    let _ = writeln!(
        text,
        "\nThe player of `4kstream` starts with {} of media, plays at {} and buffers up to {}. An operation is aborted after {} without progress, a probe after {}.",
        player.start,
        player.rate,
        player.max_buffer,
        Config::browsing().timeout,
        Config::probe().timeout,
    );
}

pub(crate) fn goal(goal: &Goal) -> String {
    match goal {
        Goal::Latency { limit } => format!("≤ {limit}"),
        Goal::Rate { at_least, window, .. } => format!("≥ {at_least} in every {window}"),
        Goal::NoStall => "no stall".to_owned(),
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
