//! Table of events.

use super::cells;
use crate::chart::Unit;
use crate::run_charts::sign;
use netburn_analysis::view::{Mark, View};

/// Maximum number of events that are listed.
const MAX_EVENTS: usize = 100;

/// A table of the events of the run.
pub(super) fn event_table(view: &View) -> String {
    if view.marks.is_empty() {
        return String::new();
    }
    let runs = view.marks.iter().any(|mark| mark.run.is_some());
    let mut head = vec!["time", "station", "event", "duration", "details"];
    if runs {
        head.push("run");
    }
    let head: Vec<String> = head.into_iter().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = view
        .marks
        .iter()
        .take(MAX_EVENTS)
        .map(|mark| row(view, mark, runs))
        .collect();
    let left = view.marks.len().saturating_sub(MAX_EVENTS) as u64 + view.more_marks;
    let more = match left {
        0 => String::new(),
        left => format!("<p class=\"note\">{left} more events are in the record.</p>\n"),
    };
    match rows.len() {
        ..=12 => format!("{}\n{more}", cells("Events", &head, &rows)),
        many => format!(
            "<details><summary>{} events</summary>{}</details>\n{more}",
            many as u64 + left,
            cells("Events", &head, &rows)
        ),
    }
}

fn row(view: &View, mark: &Mark, runs: bool) -> Vec<String> {
    let station = mark.station.and_then(|place| view.stations.get(place));
    let mut row = vec![
        Unit::Seconds.write(mark.at_s),
        station.map_or_else(|| "all".to_owned(), |station| station.name.clone()),
        format!("{} ({})", mark.kind.name(), sign(mark.kind)),
        if mark.length_s > 0.0 {
            Unit::Ms.write(mark.length_s * 1000.0)
        } else {
            String::new()
        },
        mark.text.clone(),
    ];
    if runs {
        row.push(mark.run.map_or_else(String::new, |round| round.to_string()));
    }
    row
}
