//! The comparison as text and JSON.

use super::{Agreement, Compared};
use netburn_analysis::compare::Key;
use netburn_report::compare::{metric_name, metric_value};
use netburn_report::sanitise::{sanitise, wrap};
use netburn_report::style::{Tone, paint};
use netburn_report::table::{Cell, left, render, right};
use serde_json::{Value, json};

/// Maximum number of rows.
const MAX_ROWS: usize = 10;

/// Formats how the model and the measurement differ, `width` columns wide, without a newline at the end.
#[must_use]
pub fn text(agreement: &Agreement, width: usize, colour: bool) -> String {
    let (differing, all) = (agreement.differing(), agreement.values.len());
    let heading = format!(
        "Measured and modelled: {} of {all} values agree with {} simulations of the model.",
        all - differing.len(),
        agreement.runs
    );
    let mut lines = wrap(&paint(&heading, Tone::Heading, colour), width, "");
    if !agreement.unmatched.is_empty() {
        let note = format!("{} measured values have no simulated ones.", agreement.unmatched.len());
        lines.extend(wrap(&note, width, ""));
    }
    if differing.is_empty() {
        return lines.join("\n");
    }
    let columns = [
        left("  STATION"),
        left("METRIC"),
        right("MEASURED"),
        right("MODELLED"),
        right("RANGE"),
    ];
    let keys: Vec<&Key> = agreement.values.iter().map(|value| &value.key).collect();
    let rows: Vec<Vec<Cell>> = differing
        .iter()
        .take(MAX_ROWS)
        .map(|value| cells(value, &keys))
        .collect();
    lines.extend(render(&columns, &rows, 2, width, colour));
    if differing.len() > MAX_ROWS {
        lines.push(format!("  and {} more", differing.len() - MAX_ROWS));
    }
    if agreement.is_poor() {
        lines.extend(wrap(
            "Most values differ, so the remedies below are those of another network.",
            width,
            "",
        ));
    } else if differing.iter().any(|value| value.is_worse()) {
        lines.extend(wrap(
            "A device that does worse than its model may have a fault that the model lacks, such as a slow adapter, or its link in \
             the model is wrong.",
            width,
            "",
        ));
    }
    lines.join("\n")
}

fn cells(value: &Compared, keys: &[&Key]) -> Vec<Cell> {
    let key = &value.key;
    let [lowest, median, highest] = value.simulated.map(|simulated| metric_value(simulated, key));
    vec![
        format!("  {}", sanitise(key.station.as_deref().unwrap_or("(all)"))).into(),
        sanitise(&metric_name(key, keys.iter().copied())).into(),
        metric_value(value.measured, key).into(),
        median.into(),
        format!("{lowest} to {highest}").into(),
    ]
}

/// Returns JSON: `{ runs, values: [{ path, measured, lowest, median, highest, agrees }], unmatched: [path] }`. An infinite
/// value is `null`.
#[must_use]
pub fn json(agreement: &Agreement) -> Value {
    let value = |value: &Compared| {
        let [lowest, median, highest] = value.simulated;
        json!({
            "path": value.key.path(),
            "measured": value.measured,
            "lowest": lowest,
            "median": median,
            "highest": highest,
            "agrees": value.agrees(),
        })
    };
    json!({
        "runs": agreement.runs,
        "values": agreement.values.iter().map(value).collect::<Vec<_>>(),
        "unmatched": agreement.unmatched.iter().map(Key::path).collect::<Vec<_>>(),
    })
}
