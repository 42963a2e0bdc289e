//! A list of runs as text.

use crate::plain::sanitise;
use crate::table::{Cell, left, render, right};
use crate::text::figure::{mbps, short};
use crate::text::verdict;
use netburn_record::Summary;

/// One run folder of a list.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The folder.
    pub path: String,
    /// What is in it, or why that can't be said.
    pub run: Result<Summary, String>,
}

/// A line per run that can be opened, in a table; then a line per folder that can't.
#[must_use]
pub fn text(entries: &[Entry], width: usize, colour: bool) -> String {
    let rows: Vec<Vec<Cell>> = entries
        .iter()
        .filter_map(|entry| entry.run.as_ref().ok().map(|run| (&entry.path, run)))
        .map(|(path, run)| {
            vec![
                sanitise(path).into(),
                verdict(run.verdict, run.provisional),
                run.ground.name().into(),
                run.stations.len().to_string().into(),
                short(run.duration_s).into(),
                mbps(run.totals.throughput_mbps).into(),
                run.seed.to_string().into(),
            ]
        })
        .collect();
    let columns = [
        left("RUN"),
        left("VERDICT"),
        left("ON"),
        right("STATIONS"),
        right("SECONDS"),
        right("Mbit/s"),
        right("SEED"),
    ];
    let mut lines = match rows.is_empty() {
        true => Vec::new(),
        false => render(&columns, &rows, 1, width, colour),
    };
    let closed = entries
        .iter()
        .filter_map(|entry| Some((&entry.path, entry.run.as_ref().err()?)));
    // Most reasons name the folder themselves.
    lines.extend(closed.map(|(path, why)| match why.contains(path.as_str()) {
        true => sanitise(why),
        false => format!("{}: {}", sanitise(path), sanitise(why)),
    }));
    let mut text = lines.join("\n");
    text.push('\n');
    text
}
