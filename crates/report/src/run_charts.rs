//! The charts of a run.
//!
//! Every workload has the same colour in all charts, assigned in the plan's order.

mod air;
pub(crate) mod fitted;
mod latency;
mod observed;
mod over_time;
mod shares;

use crate::chart::{At, Axis, Chart, Datum, Scale, Unit};
pub(crate) use observed::OBSERVED;

use netburn_analysis::view::{MarkKind, StationView, View, WorkloadView};

/// All charts of a run, in the order of the page; empty ones are omitted.
#[must_use]
pub fn charts(view: &View) -> Vec<Chart> {
    let all = [
        latency::percentiles(view),
        latency::over_time(view),
        over_time::throughput(view),
        shares::idle_and_loaded(view),
        over_time::buffer(view),
        shares::air_and_bytes(view),
        air::over_time(view),
        shares::aggregates(view),
        air::backlog(view),
        over_time::signal(view),
        over_time::link_rate(view),
    ];
    let all = all
        .into_iter()
        .chain(observed::charts(view))
        .chain(fitted::charts(view));
    all.filter(|chart| !chart.is_empty()).collect()
}

/// Maximum number of marks of one chart.
const MAX_MARKS: usize = 120;

/// A workload with its colour and its station.
struct ChartedWorkload<'a> {
    colour_index: usize,
    station: &'a StationView,
    workload: &'a WorkloadView,
    /// Name in the legend.
    name: String,
}

fn workloads(view: &View) -> Vec<ChartedWorkload<'_>> {
    let several = view.stations.iter().any(|station| station.workloads.len() > 1);
    let all = view.stations.iter().flat_map(|station| {
        let named = move |workload: &WorkloadView| {
            if several || station.name != workload.name {
                format!("{}, {}", station.name, workload.name)
            } else {
                station.name.clone()
            }
        };
        station
            .workloads
            .iter()
            .map(move |workload| (station, workload, named(workload)))
    });
    let all = all
        .enumerate()
        .map(|(colour_index, (station, workload, name))| ChartedWorkload {
            colour_index,
            station,
            workload,
            name,
        });
    all.collect()
}

/// The colour of each station: that of its first workload.
pub(crate) fn station_colours(view: &View) -> Vec<usize> {
    colours_of(view.stations.iter().map(|station| station.workloads.len()))
}

/// The colour of each station with these numbers of workloads, in a drawing of a plan and in the charts of its runs: that
/// of its first workload.
pub fn colours_of(workloads: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut next = 0;
    let colours = workloads.into_iter().map(|count| {
        let colour_index = next;
        next += count.max(1);
        colour_index
    });
    colours.collect()
}

/// An empty chart over time.
fn timed(view: &View, id: &str, title: &str, y: Axis) -> Chart {
    let end = view.bins as f64 * view.bin_s;
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        description: String::new(),
        note: String::new(),
        x: Axis::new("time since the load began", Unit::Seconds, Scale::Linear).within(Some(0.0), Some(end)),
        y,
        series: Vec::new(),
        levels: Vec::new(),
        marks: marks(
            view,
            &[
                MarkKind::Change,
                MarkKind::Roam,
                MarkKind::Scan,
                MarkKind::Steering,
                MarkKind::Path,
                MarkKind::Lost,
                MarkKind::Rate,
            ],
        ),
        aside: (view.warmup_s > 0.0).then(|| (0.0, view.warmup_s, "warm-up, not evaluated".to_owned())),
    }
}

/// An empty chart of stations by name.
fn named(view: &View, id: &str, title: &str, y: Axis) -> Chart {
    let names = view.stations.iter().map(|station| station.name.clone()).collect();
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        description: String::new(),
        note: String::new(),
        x: Axis::new("station", Unit::None, Scale::Names(names)),
        y,
        series: Vec::new(),
        levels: Vec::new(),
        marks: Vec::new(),
        aside: None,
    }
}

/// Events of these kinds.
fn marks(view: &View, kinds: &[MarkKind]) -> Vec<At> {
    let colours = station_colours(view);
    let wanted = view
        .marks
        .iter()
        .filter(|mark| kinds.contains(&mark.kind) && mark.at_s >= 0.0);
    let marks = wanted.take(MAX_MARKS).map(|mark| {
        let station = mark.station.and_then(|place| view.stations.get(place));
        let who = station.map_or_else(String::new, |station| format!("{}: ", station.name));
        let run = mark.run.map_or_else(String::new, |run| format!(" (run {run})"));
        let text = if mark.text.is_empty() {
            String::new()
        } else {
            format!(", {}", mark.text)
        };
        let span = if mark.length_s > 0.0 {
            format!(" for {}", Unit::Ms.write(mark.length_s * 1000.0))
        } else {
            String::new()
        };
        At {
            x: mark.at_s,
            length: mark.length_s,
            sign: sign(mark.kind).to_owned(),
            label: format!(
                "{who}{}{span} at {}{text}{run}",
                mark.kind.name(),
                Unit::Seconds.write(mark.at_s)
            ),
            colour_index: mark.station.and_then(|place| colours.get(place).copied()),
        }
    });
    marks.collect()
}

/// The sign of operations that never finished.
pub(crate) const NEVER: &str = "×";

/// The letter at a mark.
pub(crate) const fn sign(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Change => "C",
        MarkKind::Roam => "R",
        MarkKind::Lost => "L",
        MarkKind::Stall => "S",
        MarkKind::Rate => "F",
        MarkKind::Scan => "A",
        MarkKind::Steering => "T",
        MarkKind::Path => "P",
        MarkKind::Warning => "W",
    }
}

/// Averages bins over whole seconds: mean, minimum and maximum of each second.
fn averaged(view: &View, values: impl Iterator<Item = f64>) -> Vec<Datum> {
    let each = (AVERAGE_S / view.bin_s).ceil().max(1.0) as usize;
    let values: Vec<f64> = values.collect();
    if each == 1 {
        return view.times().zip(values).map(|(x, y)| Datum::new(x, Some(y))).collect();
    }
    let spans = values.chunks(each).enumerate().map(|(place, span)| Datum {
        x: (place * each) as f64 * view.bin_s,
        y: Some(span.iter().sum::<f64>() / span.len() as f64),
        low: span.iter().copied().reduce(f64::min),
        high: span.iter().copied().reduce(f64::max),
    });
    spans.collect()
}

/// Length of the averaging intervals, in s.
const AVERAGE_S: f64 = 1.0;

/// Note for averaged charts.
fn averaged_note(view: &View) -> String {
    if view.bin_s < AVERAGE_S {
        format!(
            "The line is the mean of each second, the area the range of its bins of {}",
            Unit::Seconds.write(view.bin_s)
        )
    } else {
        bins_note(view)
    }
}

/// Note for charts with bins.
fn bins_note(view: &View) -> String {
    let runs = match view.runs {
        0 | 1 => String::new(),
        runs => format!(" of all {runs} runs"),
    };
    format!("Bins of {}{runs}", Unit::Seconds.write(view.bin_s))
}

/// The first few items as a sentence; empty for none.
fn sentence(each: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = each.collect();
    let more = match all.len() {
        ..=8 => String::new(),
        more => format!("; and {} more", more - 8),
    };
    if all.is_empty() {
        String::new()
    } else {
        format!("{}{more}.", all[..all.len().min(8)].join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_lists_the_first_items() {
        let named = |count: usize| sentence((0..count).map(|n| n.to_string()));
        assert_eq!(named(0), "");
        assert_eq!(named(2), "0; 1.");
        assert_eq!(named(10), "0; 1; 2; 3; 4; 5; 6; 7; and 2 more.");
    }
}
