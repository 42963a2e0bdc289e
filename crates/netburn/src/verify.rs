//! `netburn verify`: a prediction beside a second measurement.

use crate::args::{Format, VerifyArgs};
use crate::exit::{CliError, ExitStatus};
use crate::fit;
use crate::plan::{key_values, wrong};
use crate::terminal::{TerminalStyle, document, eprint_message, print_stdout};
use netburn_analysis::format::{mbps, ms};
use netburn_fit::evidence::{Key, Quantity};
use netburn_fit::{Measurement, Models, Settings};
use netburn_report::sanitise::{sanitise, wrap};
use netburn_report::style::{Tone, paint};
use netburn_report::table::{Cell, left, render, right};
use netburn_runner::pool::processors;
use netburn_study::twin::{CannotVerify, Predicted, Verification, verifiable, verify as verified};
use netburn_study::whatif::with_limits;
use serde_json::{Value, json};
use std::path::Path;

/// Maximum number of rows.
const ROWS: usize = 16;

/// `netburn verify BEFORE AFTER`.
pub(crate) fn verify(args: &VerifyArgs) -> Result<ExitStatus, CliError> {
    let change = key_values(&args.set)?;
    let change: Vec<(String, String)> = change
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let (before, after) = (fit::observed(&args.before)?, fit::observed(&args.after)?);
    let invalid = |error| match error {
        CannotVerify::Change(error) => wrong(error),
        error @ (CannotVerify::Stations(..) | CannotVerify::Workloads) => CliError::Usage(sanitise(&error.to_string())),
        error => CliError::Failed(error.to_string()),
    };
    // A fit takes up to a minute.
    verifiable(&before, &after, &change).map_err(invalid)?;
    let models = fit::models(&args.before, &before, args.seed, args.jobs)?;
    let length = Settings::default().length;
    let threads = args.jobs.map_or_else(processors, usize::from);
    let result = verified(&models, &before, &after, &change, length, threads).map_err(invalid)?;
    let explains = models.explains();
    print_stdout(&match args.format {
        Format::Json => document(&described(args, &result, &after, &models)),
        Format::Text => text(&result, &after, explains),
    })?;
    let refitted = match &args.out {
        Some(path) => refit(args, &change, models.seed.0, path)?,
        None => ExitStatus::Success,
    };
    Ok(if explains { refitted } else { ExitStatus::NotMeasured })
}

/// Fits models to both measurements, and writes the network without the change.
fn refit(args: &VerifyArgs, change: &[(String, String)], seed: u64, path: &Path) -> Result<ExitStatus, CliError> {
    let change = with_limits(change);
    let both = fit::observed_together(&[(&args.before, &[]), (&args.after, &change)])?;
    eprint_message("fitting models to both measurements, which takes up to two minutes");
    let result = fit::model(&both, seed, args.jobs)?;
    fit::write_scenario(&result, path)?;
    Ok(fit::judged(&result))
}

fn text(result: &Verification, after: &Measurement, explains: bool) -> String {
    let look = TerminalStyle::for_stdout();
    let (held, all) = (result.held(), result.values.len());
    let (heading, tone) = if result.is_held() {
        ("The prediction held", Tone::Good)
    } else {
        ("The prediction did not hold", Tone::Bad)
    };
    let heading = paint(heading, tone, look.colour);
    let sentence = format!("{heading}: {held} of {all} values are inside their 90 % intervals.");
    let mut lines = wrap(&sentence, look.width, "");
    if !explains {
        let why = "The models do not explain the first measurement, so this says little about the change.";
        lines.extend(wrap(why, look.width, ""));
    }
    let mut shown: Vec<&Predicted> = result.values.iter().filter(|value| is_shown(value)).collect();
    // A sort keeps the order of equals: values outside first.
    shown.sort_by_key(|value| value.holds());
    let rows: Vec<Vec<Cell>> = shown.iter().take(ROWS).map(|value| cells(value, after)).collect();
    let columns = [
        left("VALUE"),
        left("WHILE"),
        right("BEFORE"),
        right("PREDICTED"),
        right("90 % INTERVAL"),
        right("AFTER"),
        left("INSIDE"),
    ];
    lines.push(String::new());
    lines.extend(render(&columns, &rows, 2, look.width, look.colour));
    if shown.len() > ROWS {
        lines.push(format!("{} further values are in `--format json`.", shown.len() - ROWS));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Goodput, and medians of the round trips to the server. A person compares these first.
fn is_shown(value: &Predicted) -> bool {
    !value.holds()
        || matches!(
            value.key.quantity,
            Quantity::Goodput(_) | Quantity::Latency(netburn_workload::ProbeTarget::Server, 50)
        )
}

fn cells(value: &Predicted, after: &Measurement) -> Vec<Cell> {
    let text = |own: f64| number(&value.key, own);
    let [low, median, high] = value.predicted.map(text);
    let phase = &after.schedule.phases[value.key.phase];
    let is_inside = if value.holds() {
        Cell::new("yes", Tone::Good)
    } else {
        Cell::new("no", Tone::Bad)
    };
    vec![
        sanitise(&format!(
            "{}, {}",
            value.key.describe(&after.schedule),
            value.key.unit()
        ))
        .into(),
        sanitise(&phase.describe(&after.schedule.stations)).into(),
        value.before.map_or_else(Cell::unknown, |before| text(before).into()),
        median.into(),
        format!("{low} to {high}").into(),
        text(value.after).into(),
        is_inside,
    ]
}

/// A value without its unit.
fn number(key: &Key, value: f64) -> String {
    match key.quantity {
        Quantity::Goodput(_) | Quantity::Rate(_) => mbps(value),
        Quantity::Latency(..) => ms(value),
    }
}

/// The result as a document.
fn described(args: &VerifyArgs, result: &Verification, after: &Measurement, models: &Models) -> Value {
    let value = |own: &Predicted| {
        json!({
            "station": after.schedule.stations[own.key.station],
            "phase": after.schedule.phases[own.key.phase].describe(&after.schedule.stations),
            "value": own.key.describe(&after.schedule),
            "unit": own.key.unit(),
            "before": own.before,
            "predicted": own.predicted[1],
            "interval": [own.predicted[0], own.predicted[2]],
            "after": own.after,
            "inside": own.holds(),
        })
    };
    json!({
        "schema": "netburn.verify/1",
        "before": args.before.display().to_string(),
        "after": args.after.display().to_string(),
        "set": args.set,
        "seed": models.seed.0,
        "explains": models.explains(),
        "held": result.is_held(),
        "inside": result.held(),
        "values": result.values.iter().map(value).collect::<Vec<_>>(),
    })
}
