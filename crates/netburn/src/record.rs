//! Stored runs: `report` and `runs`.

use crate::args::{Format, ReportArgs, ReportFormat, RunsArgs};
use crate::bundle::{self, Opened};
use crate::exit::{CliError, ExitStatus};
use crate::page;
use crate::terminal::{TerminalStyle, document, eprint_message, print_stdout};
use netburn_analysis::View;
use netburn_record::run_list::{RunEntry, State, list};
use netburn_record::summary::verdict_name;
use netburn_record::{Environment, Error, Summary, UnixTime, recover};
use netburn_report::sanitise::sanitise;
use serde_json::json;
use std::io::ErrorKind;
use std::path::Path;

/// Default folder of runs.
const RUNS: &str = "runs";

/// `netburn report RUN`.
pub(crate) fn report(args: &ReportArgs) -> Result<ExitStatus, CliError> {
    let archive = args.run.is_file().then(|| bundle::open(&args.run)).transpose()?;
    if archive.is_some() && args.bundle.is_some() {
        return Err(CliError::Usage(
            "--bundle: found an archive, expected the folder of a run".to_owned(),
        ));
    }
    let folder = archive.as_ref().map_or_else(|| args.run.clone(), Opened::run);
    complete(&folder)?;
    let mut view = View::open(&folder).map_err(|e| unopened(&folder, e))?;
    if archive.is_some() {
        view.summary.run = args.run.display().to_string();
    }
    for missing in &view.missing {
        eprint_message(&format!("not everything can be read: {}", sanitise(missing)));
    }
    match (&args.html, &archive) {
        (Some(path), _) => {
            page::write(&view, path).map_err(|error| CliError::Failed(format!("{}: {error}", path.display())))?
        }
        (None, Some(_)) => {}
        (None, None) => {
            if let Some(path) = page::keep(&folder, &view) {
                eprint_message(&format!("the page is {}", path.display()));
            }
        }
    }
    if let Some(folder) = &args.charts {
        page::draw(&view, folder)?;
    }
    if let Some(path) = &args.bundle {
        bundle::write(&folder, &view, path, args.anonymise)?;
        eprint_message(&format!("the archive is {}", path.display()));
    }
    let text = match args.format {
        ReportFormat::Json => written(&view.summary, Format::Json),
        ReportFormat::Text => {
            let system = archive.as_ref().map(Opened::system).unwrap_or_default();
            written(&view.summary, Format::Text) + &causes(&view) + &grades(&view, args.grades) + &system
        }
        ReportFormat::Markdown => netburn_report::markdown(&view.summary, &view.explanation),
    };
    print_stdout(&text)?;
    Ok(ExitStatus::Success)
}

/// Finishes the record of a run that was killed. A record that may not be written is left as it is:
/// its rows are read from the spool.
fn complete(run: &Path) -> Result<(), CliError> {
    match recover(run) {
        Ok(false) => Ok(()),
        Ok(true) => {
            eprint_message("the run was killed; its record is now finished, with every row that reached the disk");
            Ok(())
        }
        Err(Error::Io { path, source })
            if matches!(
                source.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            let path = path.display();
            eprint_message(&format!(
                "the record can't be finished and is only read: {path}: {source}"
            ));
            Ok(())
        }
        Err(error) => Err(unopened(run, error)),
    }
}

/// `netburn runs`. Reads only the header of each run, and changes nothing.
pub(crate) fn runs(args: &RunsArgs) -> Result<ExitStatus, CliError> {
    let wrong = |e: std::io::Error| CliError::Usage(format!("{}: {e}", args.dir.display()));
    if args.dir != Path::new(RUNS) {
        std::fs::read_dir(&args.dir).map_err(wrong)?;
    }
    let listed = list(&args.dir).map_err(|error| CliError::Usage(error.to_string()))?;
    let text = match args.format {
        Format::Json => document(&listed.iter().map(entry).collect::<Vec<_>>()),
        Format::Text if listed.is_empty() => format!("no runs in {}\n", args.dir.display()),
        Format::Text => {
            let look = TerminalStyle::for_stdout();
            netburn_report::run_list::text(&listed, look.width, look.colour)
        }
    };
    print_stdout(&text)?;
    Ok(ExitStatus::Success)
}

/// A run folder as JSON.
fn entry(listed: &RunEntry) -> serde_json::Value {
    let (state, verdict, error) = match &listed.state {
        State::Finished(verdict) => ("finished", Some(verdict_name(*verdict)), None),
        State::Live => ("live", None, None),
        State::Unfinished => ("unfinished", None, None),
        State::Unreadable(why) => ("unreadable", None, Some(why)),
    };
    json!({
        "path": listed.path.display().to_string(),
        "scenario": listed.scenario,
        "environment": listed.environment.map(|environment| environment.name()),
        "started": listed.started.map(UnixTime::rfc3339),
        "time": listed.at.map(UnixTime::rfc3339),
        "state": state,
        "verdict": verdict,
        "error": error,
    })
}

/// A summary in the requested format.
pub(crate) fn written(summary: &Summary, format: Format) -> String {
    match format {
        Format::Json => document(summary),
        Format::Text => {
            let look = TerminalStyle::for_stdout();
            netburn_report::text(summary, look.width, look.colour)
        }
    }
}

/// Probable causes for the end of the report of a run, and the command that simulates what would help if there is a model of
/// the run; empty if there are no causes. After a measurement for a fit, the next step.
pub(crate) fn causes(view: &View) -> String {
    let look = TerminalStyle::for_stdout();
    let lines = netburn_report::causes::lines(&view.explanation, look.width, look.colour);
    let step = netburn_report::next_step::lines(view, look.width, look.colour);
    let mut text: String = lines.iter().chain(&step).map(|line| format!("{line}\n")).collect();
    let modelled = matches!(view.summary.environment, Environment::Simulate | Environment::Lab);
    if modelled && view.measurement.is_none() && !view.explanation.causes.is_empty() {
        let run = sanitise(&view.summary.run);
        let changes = view.remedies.as_ref().filter(|remedies| !remedies.changes.is_empty());
        let Some(changes) = changes else {
            text.push_str(&format!("\nWhat would help, simulated: netburn explain {run}\n"));
            return text;
        };
        let lines = netburn_report::remedies::lines(changes, look.width, look.colour);
        text.extend(lines.iter().map(|line| format!("{line}\n")));
        text.push_str(&format!("Settings and all metrics: netburn explain {run}\n"));
    }
    text
}

/// The familiar grades of a run, or how to show them; empty if it has none.
pub(crate) fn grades(view: &View, shown: bool) -> String {
    let text = netburn_report::text::grades(&view.summary, TerminalStyle::for_stdout().width);
    match (shown, text.is_empty()) {
        (true, _) | (_, true) => text,
        (false, false) => {
            let run = sanitise(&view.summary.run);
            format!("\nFamiliar grades (bufferbloat, QoO, AIM): netburn report {run} --grades\n")
        }
    }
}

/// A folder without a run is a usage error; a record that can't be completed is a failure.
pub(crate) fn unopened(path: &Path, error: Error) -> CliError {
    match &error {
        Error::Io { source, .. } if source.kind() == ErrorKind::StorageFull => {
            CliError::Failed(format!("{error}; the rows in {} are still there", path.display()))
        }
        _ => CliError::Usage(error.to_string()),
    }
}
