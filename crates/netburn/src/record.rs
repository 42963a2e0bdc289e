//! Runs that were kept: `report` and `runs`.

use crate::args::{Format, ReportArgs, RunsArgs};
use crate::exit::{Ended, Stop};
use crate::terminal::{Look, data};
use netburn_record::{Error, Run, Summary};
use netburn_report::runs::Entry;
use serde_json::json;
use std::path::{Path, PathBuf};

/// `netburn report RUN`.
pub(crate) fn report(args: &ReportArgs) -> Result<Ended, Stop> {
    let run = Run::open(&args.run).map_err(|e| unopened(&args.run, e))?;
    data(&written(run.summary(), args.format))?;
    Ok(Ended::Ran)
}

/// `netburn runs`.
pub(crate) fn runs(args: &RunsArgs) -> Result<Ended, Stop> {
    let entries: Vec<Entry> = folders(&args.dir)?.iter().filter_map(|path| entry(path)).collect();
    let text = match args.format {
        Format::Json => {
            let list: Vec<_> = entries
                .iter()
                .map(|entry| match &entry.run {
                    Ok(summary) => json!({ "path": entry.path, "summary": summary }),
                    Err(why) => json!({ "path": entry.path, "error": why }),
                })
                .collect();
            document(&list)
        }
        Format::Text if entries.is_empty() => format!("no runs in {}\n", args.dir.display()),
        Format::Text => {
            let look = Look::of_stdout();
            netburn_report::runs::text(&entries, look.width, look.colour)
        }
    };
    data(&text)?;
    Ok(Ended::Ran)
}

/// A summary as asked for.
pub(crate) fn written(summary: &Summary, format: Format) -> String {
    match format {
        Format::Json => document(summary),
        Format::Text => {
            let look = Look::of_stdout();
            netburn_report::text(summary, look.width, look.colour)
        }
    }
}

/// A JSON document, for people's eyes too.
pub(crate) fn document(of: &(impl serde::Serialize + ?Sized)) -> String {
    let mut text = serde_json::to_string_pretty(of).expect("our documents have string keys only");
    text.push('\n');
    text
}

/// The directories in `dir`, by name, which begins with the time.
fn folders(dir: &Path) -> Result<Vec<PathBuf>, Stop> {
    let wrong = |e: std::io::Error| Stop::Wrong(format!("{}: {e}", dir.display()));
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// What is in a folder; `None` when that is no run.
fn entry(path: &Path) -> Option<Entry> {
    let run = match Run::open(path) {
        Ok(run) => Ok(run.summary().clone()),
        Err(Error::NotARun(_)) => return None,
        Err(error) => Err(error.to_string()),
    };
    Some(Entry {
        path: path.display().to_string(),
        run,
    })
}

/// A folder that is no run is the wrong input; one that can't be finished because the disk is full is no measurement.
fn unopened(path: &Path, error: Error) -> Stop {
    match &error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
            Stop::NotMeasured(format!("{error}; the rows in {} are still there", path.display()))
        }
        _ => Stop::Wrong(error.to_string()),
    }
}
