//! What happened, in words.

use super::cells;
use crate::chart::Unit;
use crate::charts::sign;
use crate::view::{Mark, View};

/// The most events that are listed.
const MOST: usize = 100;

/// A table of what happened while it ran.
pub(super) fn happened(view: &View) -> String {
    if view.marks.is_empty() {
        return String::new();
    }
    let rounds = view.marks.iter().any(|mark| mark.round.is_some());
    let mut head = vec!["when", "who", "what", "for", "more"];
    if rounds {
        head.push("run");
    }
    let head: Vec<String> = head.into_iter().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = view
        .marks
        .iter()
        .take(MOST)
        .map(|mark| row(view, mark, rounds))
        .collect();
    let left = view.marks.len().saturating_sub(MOST) as u64 + view.more_marks;
    let more = match left {
        0 => String::new(),
        left => format!("<p class=\"note\">And {left} more in the record's events.</p>\n"),
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

fn row(view: &View, mark: &Mark, rounds: bool) -> Vec<String> {
    let station = mark.station.and_then(|place| view.stations.get(place));
    let mut row = vec![
        Unit::Seconds.write(mark.at_s),
        station.map_or_else(|| "all".to_owned(), |station| station.name.clone()),
        format!("{} ({})", mark.kind.name(), sign(mark.kind)),
        match mark.length_s > 0.0 {
            true => Unit::Ms.write(mark.length_s * 1000.0),
            false => String::new(),
        },
        mark.text.clone(),
    ];
    if rounds {
        row.push(mark.round.map_or_else(String::new, |round| round.to_string()));
    }
    row
}
