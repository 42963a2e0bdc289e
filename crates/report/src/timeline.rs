//! The stations of a run over time, one below the other: when each used the network, and when it missed a goal. Each
//! station has a row of its own, so that eight or more stay readable.

use crate::chart::{Theme, Unit, escaped};
use crate::run_charts::{sign, station_colours};
use crate::sanitise::truncate;
use netburn_analysis::format::mbps;
use netburn_analysis::view::{LatencyBin, StationView, View, WorkloadView};
use std::fmt::Write as _;

/// Width of the drawing: narrow, so that its text is readable on a phone.
const WIDTH: f64 = 560.0;
/// Distance of the rows from the sides.
const SIDE: f64 = 8.0;
/// Height of the text above a row.
const LABEL: f64 = 18.0;
/// Height of the throughput of a row.
const PLOT: f64 = 20.0;
/// Height of the bar of missed goals below it.
const MISSED: f64 = 5.0;
/// Height of the space below a row.
const GAP: f64 = 9.0;
/// Height of the axis.
const AXIS: f64 = 30.0;
/// Maximum number of columns: a column is then about 2 px wide.
const COLUMNS: usize = 272;
/// Maximum number of rows.
const MAX_ROWS: usize = 40;
/// Maximum number of signs of events in a row.
const MAX_SIGNS: usize = 40;
/// Characters of a label.
const MAX_LABEL: usize = 62;

/// Throughput and missed goals of a station in the columns of the drawing.
#[derive(Debug, Clone, PartialEq)]
struct RowValues {
    /// Mean throughput of each column, in Mbit/s.
    mbps: Vec<f64>,
    /// True for a column in which an operation missed its latency goal or never ended.
    missed: Vec<bool>,
}

/// Number of bins that are drawn: those of the load, without the end of the transfers after it.
fn bins(view: &View) -> usize {
    let load = (view.summary.duration_s / view.bin_s).ceil();
    // A duration is at least one bin; one that is no number draws all.
    if load >= 1.0 {
        view.bins.min(load as usize)
    } else {
        view.bins
    }
}

/// Number of bins in one column.
fn step(view: &View) -> usize {
    bins(view).div_ceil(COLUMNS).max(1)
}

fn values(view: &View, station: &StationView) -> RowValues {
    let step = step(view);
    let columns = bins(view).div_ceil(step);
    let column = |number: usize| (number * step)..((number + 1) * step).min(bins(view));
    let mean = |number: usize| {
        let bins = column(number);
        let count = bins.len().max(1) as f64;
        bins.map(|bin| station.throughput_mbps(bin)).sum::<f64>() / count
    };
    let any = |number: usize| column(number).any(|bin| station.workloads.iter().any(|of| misses(of, bin)));
    RowValues {
        mbps: (0..columns).map(mean).collect(),
        missed: (0..columns).map(any).collect(),
    }
}

/// Returns true if an operation that was due in a bin missed the latency goal of its workload, or never ended.
fn misses(workload: &WorkloadView, bin: usize) -> bool {
    let Some(Some(LatencyBin { unbounded, max_ms, .. })) = workload.over_time.get(bin) else {
        return false;
    };
    let Some(goal) = workload.latency_goal_ms else {
        return false;
    };
    *unbounded > 0 || max_ms.is_some_and(|max| max > goal)
}

/// A row for each station: name, workloads, maximum throughput, and the time in which it had late operations.
#[must_use]
pub fn rows(view: &View) -> Vec<Vec<String>> {
    let row = |station: &StationView| {
        let row = values(view, station);
        let late = row.missed.iter().filter(|missed| **missed).count();
        let seconds = late as f64 * step(view) as f64 * view.bin_s;
        vec![
            station.name.clone(),
            uses(station),
            format!("{} Mbit/s", mbps(most(&row))),
            Unit::Seconds.write(seconds),
        ]
    };
    view.stations.iter().map(row).collect()
}

/// Headings of [`rows`].
pub const HEAD: [&str; 4] = ["station", "workloads", "at most", "with late operations"];

fn uses(station: &StationView) -> String {
    let uses: Vec<&str> = station
        .workloads
        .iter()
        .map(|workload| workload.name.as_str())
        .collect();
    uses.join(", ")
}

fn description(view: &View) -> String {
    let sentence = |row: Vec<String>| match row.as_slice() {
        [name, _, most, late] => format!("{name}: at most {most}, late operations in {late}"),
        _ => String::new(),
    };
    let all: Vec<String> = rows(view).into_iter().map(sentence).collect();
    format!("{}.", all.join("; "))
}

fn most(row: &RowValues) -> f64 {
    row.mbps.iter().copied().fold(0.0, f64::max)
}

/// The drawing as an SVG; empty without stations or time.
#[must_use]
pub fn svg(view: &View, theme: Theme) -> String {
    let shown = view.stations.len().min(MAX_ROWS);
    if shown == 0 || view.bins == 0 {
        return String::new();
    }
    let row_height = LABEL + PLOT + MISSED + GAP;
    let height = shown as f64 * row_height + AXIS;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"timeline-t timeline-d\" font-family=\"{}\" font-size=\"12\">\n<title id=\"timeline-t\">{TITLE}</title>\n\
         <desc id=\"timeline-d\">{}</desc>\n",
        theme.font(),
        escaped(&description(view))
    );
    let colours = station_colours(view);
    for (number, station) in view.stations.iter().take(shown).enumerate() {
        let top = number as f64 * row_height;
        row(&mut out, view, number, station, top, &theme.hue(colours[number]), theme);
    }
    axis(&mut out, view, shown as f64 * row_height, theme);
    out.push_str("</svg>\n");
    out
}

/// Heading of the drawing.
pub const TITLE: &str = "Use of the network, and missed goals";

fn row(out: &mut String, view: &View, number: usize, station: &StationView, top: f64, colour: &str, theme: Theme) {
    let row = values(view, station);
    let (most, width) = (most(&row), (WIDTH - 2.0 * SIDE) / row.mbps.len().max(1) as f64);
    let (base, left) = (top + LABEL + PLOT, |column: usize| SIDE + column as f64 * width);
    let label = truncate(&format!("{}: {}", station.name, uses(station)), MAX_LABEL);
    let _ = writeln!(
        out,
        "<text x=\"{SIDE}\" y=\"{:.1}\" fill=\"{}\">{}</text>\n<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{}\">up to {} Mbit/s</text>",
        top + 13.0,
        theme.ink(),
        escaped(&label),
        WIDTH - SIDE,
        top + 13.0,
        theme.faint(),
        mbps(most)
    );
    let mut path = format!("M{SIDE},{base:.1}");
    for (column, rate) in row.mbps.iter().enumerate() {
        let y = base - if most > 0.0 { rate / most * PLOT } else { 0.0 };
        let _ = write!(path, "L{:.1},{y:.1}L{:.1},{y:.1}", left(column), left(column + 1));
    }
    let _ = writeln!(
        out,
        "<path d=\"{path}L{:.1},{base:.1}Z\" fill=\"{colour}\"/>",
        WIDTH - SIDE
    );
    let _ = writeln!(
        out,
        "<rect x=\"{SIDE}\" y=\"{base:.1}\" width=\"{:.1}\" height=\"{MISSED}\" fill=\"{}\"/>",
        WIDTH - 2.0 * SIDE,
        theme.grid()
    );
    for (start, end) in stretches(&row.missed) {
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{base:.1}\" width=\"{:.1}\" height=\"{MISSED}\" fill=\"{}\"/>",
            left(start),
            (end - start) as f64 * width,
            theme.failure()
        );
    }
    let duration = bins(view) as f64 * view.bin_s;
    let own = view
        .marks
        .iter()
        .filter(|mark| mark.station == Some(number) && (0.0..duration).contains(&mark.at_s));
    for mark in own.take(MAX_SIGNS) {
        let x = SIDE + (mark.at_s / duration) * (WIDTH - 2.0 * SIDE);
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{}\">{}</text>",
            base - 3.0,
            theme.ink(),
            sign(mark.kind)
        );
    }
}

/// Consecutive true values, as half-open ranges.
fn stretches(all: &[bool]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (column, _) in all.iter().enumerate().filter(|(_, is)| **is) {
        match found.last_mut() {
            Some((_, end)) if *end == column => *end += 1,
            _ => found.push((column, column + 1)),
        }
    }
    found
}

/// Times below the rows, at a round distance.
fn axis(out: &mut String, view: &View, top: f64, theme: Theme) {
    let duration = bins(view) as f64 * view.bin_s;
    let steps = [
        0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0, 7_200.0, 14_400.0,
    ];
    let each = steps
        .into_iter()
        .find(|each| duration / each <= 7.0)
        .unwrap_or(duration / 6.0);
    let mut at = 0.0;
    while at <= duration {
        let x = SIDE + at / duration * (WIDTH - 2.0 * SIDE);
        let anchor = match () {
            () if at == 0.0 => "start",
            () if x > WIDTH - 30.0 => "end",
            () => "middle",
        };
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"0\" x2=\"{x:.1}\" y2=\"{top:.1}\" stroke=\"{}\" stroke-dasharray=\"2 4\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{}\">{}</text>",
            theme.grid(),
            top + 14.0,
            theme.faint(),
            Unit::Seconds.write(at)
        );
        at += each;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_columns_are_one_stretch() {
        assert_eq!(stretches(&[]), []);
        assert_eq!(stretches(&[false, false]), []);
        assert_eq!(stretches(&[true, true, false, true]), [(0, 2), (3, 4)]);
    }
}
