//! Charts with the curves of several variants.

use crate::chart::{Axis, Chart, Datum, Level, Scale, Series, Unit};
use netburn_analysis::format::short;
use netburn_analysis::view::{Curve, StationView, View, WorkloadView};
use netburn_workload::kinds::Kind;

/// A variant's curves: its name, and a view of each of its folders.
#[derive(Debug, Clone, Copy)]
pub struct Variant<'a> {
    /// The variant.
    pub name: &'a str,
    /// One view for each folder: its repeats are pooled in it.
    pub views: &'a [View],
}

/// Maximum number of charts of either kind.
const MAX_VARIANTS: usize = 24;

/// Width of a step in [`latency_over_time`], in s. A step has at least one bin, also if bins are wider.
const STEP_S: f64 = 0.5;

/// Maximum number of views of one variant that are drawn.
const VIEWS: usize = 4;

/// Latency by percentile for every workload that a user waits for, then the throughput over time of
/// every station. Charts with only one variant are omitted.
#[must_use]
pub fn overlays(variants: &[Variant<'_>]) -> Vec<Chart> {
    let stations = stations(variants);
    let workloads = stations.iter().flat_map(|station| {
        let workloads = workloads(variants, station);
        workloads.into_iter().map(|workload| (station.clone(), workload))
    });
    let latency = workloads
        .enumerate()
        .map(|(number, (station, workload))| latency(variants, number, &station, &workload));
    let mut charts: Vec<Chart> = latency.filter(worthwhile).take(MAX_VARIANTS).collect();
    let throughput = stations
        .iter()
        .enumerate()
        .map(|(number, station)| throughput(variants, number, station));
    charts.extend(throughput.filter(worthwhile).take(MAX_VARIANTS));
    charts
}

/// Returns true if the chart shows at least two variants.
fn worthwhile(chart: &Chart) -> bool {
    let mut colours: Vec<usize> = chart
        .series
        .iter()
        .filter(|s| !s.points.is_empty())
        .map(|s| s.colour_index % 6)
        .collect();
    colours.sort_unstable();
    colours.dedup();
    colours.len() > 1 && !chart.is_empty()
}

/// Names of all stations, in order of appearance.
fn stations(variants: &[Variant<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for station in variants
        .iter()
        .flat_map(|variant| variant.views)
        .flat_map(|view| &view.stations)
    {
        if !names.contains(&station.name) {
            names.push(station.name.clone());
        }
    }
    names
}

/// Workloads of a station that a user waits for.
fn workloads(variants: &[Variant<'_>], station: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (.., station) in each(variants, station) {
        for workload in &station.workloads {
            let waits = !Kind::by_name(&workload.kind).is_some_and(|kind| kind.is_bulk);
            if waits && !names.contains(&workload.name) {
                names.push(workload.name.clone());
            }
        }
    }
    names
}

/// A station in every view that has it, with the name and the colour of its series.
fn each<'a>(
    variants: &'a [Variant<'a>],
    station: &'a str,
) -> impl Iterator<Item = (String, usize, &'a View, &'a StationView)> {
    variants.iter().enumerate().flat_map(move |(place, variant)| {
        let views = variant.views.iter().take(VIEWS).enumerate();
        views.filter_map(move |(number, view)| {
            let found = view.stations.iter().find(|one| one.name == station)?;
            let name = match variant.views.len() {
                1 => variant.name.to_owned(),
                _ => format!("{} ({})", variant.name, number + 1),
            };
            // The same colour, other dashes.
            Some((name, place % 6 + 6 * number, view, found))
        })
    })
}

fn latency(variants: &[Variant<'_>], number: usize, station: &str, workload: &str) -> Chart {
    let found: Vec<(String, usize, &WorkloadView)> = each(variants, station)
        .filter_map(|(name, colour_index, _, station)| {
            let found = station.workloads.iter().find(|one| one.name == workload)?;
            (found.latency.count > 0).then_some((name, colour_index, found))
        })
        .collect();
    let most = found.iter().map(|(.., of)| of.latency.count).max().unwrap_or(2).max(2);
    let series: Vec<Series> = found
        .iter()
        .map(|(name, colour_index, of)| Series::line(name, *colour_index, curve(&of.latency)))
        .collect();
    let mut levels: Vec<Level> = Vec::new();
    for goal in found.iter().filter_map(|(.., of)| of.latency_goal_ms) {
        if !levels.iter().any(|level| level.y == goal) {
            levels.push(Level {
                y: goal,
                label: format!("goal {}", Unit::Ms.write(goal)),
                colour_index: None,
            });
        }
    }
    let parts = found.iter().map(|(name, _, of)| {
        let at = |level, words: &str| {
            of.latency
                .at(level)
                .flatten()
                .map(|ms| format!("{words} within {}", Unit::Ms.write(ms)))
        };
        let parts: Vec<String> = [at(0.5, "half"), at(0.95, "95 %")].into_iter().flatten().collect();
        format!(
            "{name}: {}",
            if parts.is_empty() {
                "too few samples".to_owned()
            } else {
                parts.join(", ")
            }
        )
    });
    let description = parts.collect::<Vec<_>>().join("; ");
    Chart {
        id: format!("latency-{number}"),
        title: format!("{station}, {workload}: latency by percentile"),
        description: format!("{description}."),
        note: "From the instant an operation was due to its end; all runs of a side pooled. A curve that stops short of the right \
               has operations that never finished."
            .to_owned(),
        x: Axis::new("share of operations that took no longer", Unit::Share, Scale::Percentile)
            .within(Some(0.5), Some(end(most))),
        y: Axis::new("latency", Unit::Ms, scale(&series)),
        series,
        levels,
        marks: Vec::new(),
        aside: None,
    }
}

/// The slowest operation of a workload in each step of half a second or more, for every variant.
#[must_use]
pub fn latency_over_time(variants: &[Variant<'_>], station: &str, workload: &str) -> Chart {
    let (mut longest, mut step_s) = (0.0_f64, STEP_S);
    let mut levels = Vec::new();
    let mut series = Vec::new();
    let mut parts = Vec::new();
    for (name, colour_index, view, station) in each(variants, station) {
        let Some(of) = station.workloads.iter().find(|of| of.name == workload) else {
            continue;
        };
        longest = longest.max(view.bins as f64 * view.bin_s);
        let bins = ((STEP_S / view.bin_s).round() as usize).max(1);
        step_s = step_s.max(bins as f64 * view.bin_s);
        let steps = of.over_time.chunks(bins).zip(view.times().step_by(bins));
        let points: Vec<Datum> = steps
            .map(|(bins, x)| {
                let slowest = bins.iter().flatten().filter_map(|bin| bin.max_ms);
                Datum::new(x, slowest.reduce(f64::max))
            })
            .collect();
        if let Some(slowest) = points.iter().filter_map(|point| point.y).reduce(f64::max) {
            parts.push(format!("{name}: at most {}", Unit::Ms.write(slowest)));
        }
        if let Some(goal) = of.latency_goal_ms.filter(|_| levels.is_empty()) {
            levels.push(Level {
                y: goal,
                label: format!("goal {}", Unit::Ms.write(goal)),
                colour_index: None,
            });
        }
        series.push(Series::steps(&name, colour_index, points));
    }
    Chart {
        id: "latency-over-time".to_owned(),
        title: format!("{station}, {workload}: latency over time"),
        description: format!("{}.", parts.join("; ")),
        note: format!(
            "The slowest operation that was due in each {} s. Operations that never finished are omitted.",
            short(step_s)
        ),
        x: Axis::new("time since the load began", Unit::Seconds, Scale::Linear).within(Some(0.0), Some(longest)),
        y: Axis::new("latency", Unit::Ms, Scale::Linear).within(Some(0.0), None),
        series,
        levels,
        marks: Vec::new(),
        aside: None,
    }
}

fn throughput(variants: &[Variant<'_>], number: usize, station: &str) -> Chart {
    let mut longest = 0.0_f64;
    let mut means = Vec::new();
    let series: Vec<Series> = each(variants, station)
        .map(|(name, colour_index, view, station)| {
            longest = longest.max(view.bins as f64 * view.bin_s);
            // The mean of the summary, which tables show.
            let mut judged = view.judged();
            if let Some((_, judged)) = judged.find(|(one, _)| one.name == station.name) {
                let mean = Unit::Mbps.write(judged.throughput_mbps);
                means.push(format!("{name}: {mean} on average"));
            }
            let points = view.times().enumerate();
            let points = points.map(|(bin, x)| Datum::new(x, Some(station.throughput_mbps(bin))));
            Series::steps(&name, colour_index, points)
        })
        .collect();
    Chart {
        id: format!("throughput-{number}"),
        title: format!("{station}: throughput over time"),
        description: format!("{}.", means.join("; ")),
        note: "Content both ways; the mean of all runs of a side at each moment. An average is over the evaluated time of \
               the station: without the warm-up, and without the time before its start and after its end."
            .to_owned(),
        x: Axis::new("time since the load began", Unit::Seconds, Scale::Linear).within(Some(0.0), Some(longest)),
        y: Axis::new("throughput, Mbit/s", Unit::Mbps, Scale::Linear).within(Some(0.0), None),
        series,
        levels: Vec::new(),
        marks: Vec::new(),
        aside: None,
    }
}

fn curve(of: &Curve) -> Vec<Datum> {
    let upper = of.points.iter().filter(|point| point.level >= 0.5);
    let mut points: Vec<Datum> = upper.map(|point| Datum::new(point.level, point.ms)).collect();
    if of.count >= 2 {
        points.push(Datum::new(end(of.count), of.max_ms.filter(|_| of.unbounded == 0)));
    }
    points
}

/// Position of the slowest of `count` operations: the middle of its share.
fn end(count: u64) -> f64 {
    1.0 - 0.5 / count.max(2) as f64
}

/// Logarithmic if a linear scale would hide small values.
fn scale(series: &[Series]) -> Scale {
    let values = || {
        series
            .iter()
            .flat_map(|series| series.points.iter().flat_map(Datum::values))
    };
    match values().reduce(f64::min).zip(values().reduce(f64::max)) {
        Some((low, high)) if low > 0.0 && high > 20.0 * low => Scale::Log,
        _ => Scale::Linear,
    }
}
