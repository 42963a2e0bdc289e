//! Runs to compare: folders, and summaries as files.

use super::note;
use crate::exit::CliError;
use netburn_analysis::compare::Side;
use netburn_record::summary::SCHEMA;
use netburn_record::{Run, Summary, regular};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Maximum length of a summary file in bytes.
const MAX_SUMMARY_BYTES: u64 = 256 << 20;

/// Reads runs, and collects the errors.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// One error for each run that could not be read.
    pub(super) failed: Vec<String>,
}

impl Reader {
    /// The runs at `paths` as one side; runs that can't be read are reported. `None` if there are no others.
    pub(super) fn side(&mut self, paths: &[PathBuf]) -> Option<Side> {
        let mut side = Side::new("");
        let places: Vec<PathBuf> = paths.iter().map(|path| place(path)).collect();
        for (index, path) in paths.iter().enumerate() {
            let here = &places[index];
            let within = here
                .parent()
                .is_some_and(|folder| places.iter().any(|other| other == folder));
            if within || places[..index].contains(here) {
                note(&format!("{} is given twice; it counts once", path.display()));
                continue;
            }
            if let Err(why) = add(&mut side, path) {
                note(&why);
                self.failed.push(why);
            }
        }
        (!side.runs.is_empty()).then_some(side)
    }

    /// The error for too few readable runs; the reasons have been printed.
    pub(super) fn unreadable(&self, what: &str) -> CliError {
        CliError::Usage(match self.failed.len() {
            0 => what.to_owned(),
            1 => format!("{what}: one could not be read"),
            more => format!("{what}: {more} could not be read"),
        })
    }
}

/// Canonical path of a run.
fn place(path: &Path) -> PathBuf {
    let folder = match path.file_name() {
        Some(name) if name == "run.json" => path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new(".")),
        _ => path,
    };
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

fn add(side: &mut Side, path: &Path) -> Result<(), String> {
    if !path.is_file() {
        // Damaged rows do not change the summary.
        let (run, damage) = Run::open_partly(path).map_err(|error| error.to_string())?;
        for error in damage {
            note(&format!("{error}; its summary is complete and is compared"));
        }
        side.add(&run);
        return Ok(());
    }
    if path.file_name().is_some_and(|name| name == "run.json") {
        // `run.json` represents its folder.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        return add(side, folder.unwrap_or(Path::new(".")));
    }
    side.add_summary(path, &summary(path)?, None);
    Ok(())
}

/// The summary in a file: as `--format json` writes it, or as a sweep saves it.
pub(super) fn summary(path: &Path) -> Result<Summary, String> {
    let why = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let text = regular::read_input(path, MAX_SUMMARY_BYTES).map_err(|error| why(&error))?;
    let mut value: Value = serde_json::from_str(&text).map_err(|error| why(&format!("not a summary: {error}")))?;
    // A sweep stores the summary next to the values.
    if let Some(within) = value.get_mut("summary") {
        value = within.take();
    }
    match value.get("schema").and_then(Value::as_str) {
        Some(SCHEMA) => serde_json::from_value(value).map_err(|error| why(&format!("not a summary: {error}"))),
        Some(schema) if schema.starts_with("netburn.summary/") => Err(why(&format!(
            "a newer netburn wrote it ({schema}); this one reads {SCHEMA}"
        ))),
        _ => Err(why(
            &"neither a run's folder nor a summary (`netburn report RUN --format json` writes one)",
        )),
    }
}
