//! Import of the tables of goresponsiveness (`networkQuality -logger-filename`): of self probes, of foreign probes, and of the
//! throughput of one direction.
//!
//! Each table is a run. A foreign probe takes three round trips, so that its time is that of all three.

use super::common::{local_nanos, one_line};
use super::file_error::FileError;
use super::http_probes::{MAX_RATE, MAX_RESPONSE, MAX_SECONDS, Probes};
use super::tool::{Content, Tool};
use super::{ImportError, Imported};
use netburn_record::header::{Host, Source};
use std::collections::BTreeMap;

pub(super) const TOOL: Tool = Tool {
    files: "a table of goresponsiveness (`-logger-filename`)",
    recognises: |content| {
        let lines = content.first_lines(1);
        lines.iter().any(|line| line.starts_with(TIME) && line.contains(','))
    },
    read: |content, file| read(content, file).map_err(|error| ImportError::file("goresponsiveness", error)),
};

/// Titles of columns.
const TIME: &str = "Time of the generation of the data point.";
const ROUND_TRIPS: &str = "The number of round trips measured by this data point.";
const LENGTH: &str = "The duration for this measurement.";
const TYPE: &str = "The type of the probe.";
const RATE: &str = "Instantaneous throughput (B/s).";
const CONNECTION: &str = "Position of connection (ID).";

/// Most rows of a table.
const MAX_ROWS: usize = 1_000_000;
/// Most types of probes.
const MAX_TYPES: usize = 8;
/// Time between two rates in seconds, for the first one.
const RATE_INTERVAL: f64 = 1.0;

/// A row: its time in seconds, and the texts of its cells.
struct Line<'a> {
    place: String,
    at: f64,
    cells: Vec<&'a str>,
}

fn read(content: &Content<'_>, file: &str) -> Result<Imported, FileError> {
    let text = String::from_utf8_lossy(content.bytes());
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let titles: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let column = |title: &str| titles.iter().position(|known| *known == title);
    let rows = table(lines, titles.len())?;
    let last = rows.iter().map(|row| row.at).fold(0.0, f64::max);
    let mut left_out = vec!["the start time, which the file has in local time without its time zone".to_owned()];
    let mut probes = Probes::default();
    let (test, seconds) = match (column(LENGTH), column(RATE)) {
        (Some(length), _) => {
            let name = |row: &Line<'_>| name(row, column(TYPE), column(ROUND_TRIPS));
            left_out.push("the statistics of the connections".to_owned());
            (requests(&mut probes, &rows, length, name)?, last + RATE_INTERVAL)
        }
        (None, Some(_)) if column(CONNECTION).is_some() => {
            return Err(FileError::Format(
                "found the throughput of each connection, expected that of a direction".to_owned(),
            ));
        }
        (None, Some(rate)) => (load(&mut probes, &rows, rate, file)?, last + RATE_INTERVAL),
        (None, None) => {
            let titles = one_line(&titles.join(", "));
            return Err(FileError::Format(format!(
                "found the columns {titles}, expected `{LENGTH}` or `{RATE}`"
            )));
        }
    };
    let source = Source {
        program: "goresponsiveness".to_owned(),
        test,
        file: file.to_owned(),
        left_out,
        ..Source::default()
    };
    probes.imported(seconds, Host::default(), source)
}

/// The rows below the titles. Their time 0 is the earliest one.
fn table<'a>(lines: impl Iterator<Item = &'a str>, columns: usize) -> Result<Vec<Line<'a>>, FileError> {
    let mut rows = Vec::new();
    for (line, number) in lines.zip(2_usize..).filter(|(line, _)| !line.trim().is_empty()) {
        if rows.len() == MAX_ROWS {
            return Err(FileError::TooMany {
                what: "rows",
                most: MAX_ROWS,
            });
        }
        let place = format!("line {number}");
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        // Month, day, year, hour, minute and second.
        let nanos = local_nanos(cells[0], [2, 0, 1]);
        // Some versions end their rows with a comma, and others do not.
        let (Some(nanos), true) = (nanos, cells.len().abs_diff(columns) <= 1) else {
            return Err(FileError::value(
                place,
                format!("found `{}`, expected a time and {columns} columns", one_line(line)),
            ));
        };
        rows.push((place, nanos, cells));
    }
    let first = rows.iter().map(|(_, nanos, _)| *nanos).min().unwrap_or(0);
    let line = |(place, nanos, cells)| {
        let at = (i64::saturating_sub(nanos, first)) as f64 / 1e9;
        if at <= MAX_SECONDS {
            Ok(Line { place, at, cells })
        } else {
            Err(FileError::value(place, "expected a table of at most a day"))
        }
    };
    rows.into_iter().map(line).collect()
}

fn number(row: &Line<'_>, column: usize, most: f64) -> Result<f64, FileError> {
    let text = row.cells.get(column).copied().unwrap_or_default();
    let number: Option<f64> = text.parse().ok().filter(|number| (0.0..=most).contains(number));
    number.ok_or_else(|| {
        let why = format!("found `{}`, expected a number from 0 to {most}", one_line(text));
        FileError::value(row.place.clone(), why)
    })
}

/// Name of the workload of a probe.
fn name(row: &Line<'_>, kind: Option<usize>, round_trips: Option<usize>) -> Option<&'static str> {
    let cell = |column: Option<usize>| column.and_then(|column| row.cells.get(column)).copied();
    match (cell(kind), cell(round_trips)) {
        (Some("SelfDown"), _) => Some("self-down"),
        (Some("SelfUp"), _) => Some("self-up"),
        (Some("Self"), _) | (None, Some("1")) => Some("self"),
        (Some("Foreign"), _) | (None, Some(_)) => Some("foreign"),
        _ => None,
    }
}

fn requests(
    probes: &mut Probes,
    rows: &[Line<'_>],
    length: usize,
    name: impl Fn(&Line<'_>) -> Option<&'static str>,
) -> Result<String, FileError> {
    let mut by_name: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows {
        let Some(name) = name(row) else {
            return Err(FileError::value(
                row.place.clone(),
                "expected the type `SelfDown`, `SelfUp` or `Foreign`",
            ));
        };
        by_name
            .entry(name)
            .or_default()
            .push((row.at, number(row, length, MAX_RESPONSE)?));
    }
    for (name, requests) in by_name.iter_mut().take(MAX_TYPES) {
        requests.sort_by(|one, other| one.0.total_cmp(&other.0));
        probes.requests(Some(name), requests, None);
    }
    let names: Vec<&str> = by_name.keys().copied().collect();
    Ok(format!("probes {}", names.join(", ")))
}

/// A rate is that of the time since the previous row.
fn load(probes: &mut Probes, rows: &[Line<'_>], rate: usize, file: &str) -> Result<String, FileError> {
    // Both directions have the same columns, and goresponsiveness names the files.
    let down = match (file.contains("throughput-download"), file.contains("throughput-upload")) {
        (true, false) => true,
        (false, true) => false,
        _ => {
            return Err(FileError::Format(
                "unknown direction of the throughput: expected `throughput-download` or `throughput-upload` in the name of the file"
                    .to_owned(),
            ));
        }
    };
    let mut parts = Vec::new();
    let mut before = 0.0;
    for row in rows {
        let rate = number(row, rate, MAX_RATE)?;
        let at = row.at + RATE_INTERVAL;
        if at <= before {
            return Err(FileError::value(
                row.place.clone(),
                "expected a time after that of the previous row",
            ));
        }
        parts.push((before, at, rate * (at - before)));
        before = at;
    }
    if !parts.is_empty() {
        probes.load(down, &parts, None);
    }
    Ok(if down { "throughput down" } else { "throughput up" }.to_owned())
}
