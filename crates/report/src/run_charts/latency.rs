//! Latency by percentile, and over time.

use super::{ChartedWorkload, NEVER, bins_note, sentence, timed, workloads};
use crate::chart::{At, Axis, Chart, Datum, Level, Scale, Series, Unit};
use netburn_analysis::view::{Curve, LatencyBin, View};
use netburn_workload::kinds::Kind;

/// Maximum number of marks of one workload's operations that never finished.
const MAX_NEVER_MARKS: usize = 40;

/// Latency of each workload from the median to the maximum, with goals as lines.
pub(super) fn percentiles(view: &View) -> Chart {
    let workloads = with_latency(view);
    let most = workloads
        .iter()
        .map(|of| of.workload.latency.count)
        .max()
        .unwrap_or(1)
        .max(2);
    let series: Vec<Series> = workloads
        .iter()
        .map(|of| Series::line(&of.name, of.colour_index, curve(&of.workload.latency)))
        .collect();
    Chart {
        id: "latency-percentiles".to_owned(),
        title: "Latency by percentile".to_owned(),
        description: describe(&workloads),
        note: "From the due time of an operation to its end, for evaluated operations. Each curve ends with its slowest operation. Percentiles with too few operations are omitted. Operations that never finished rank above all others; a curve that ends before the right edge has some. Values between the percentiles of the summary are accurate to 0.4 %."
            .to_owned(),
        x: Axis::new("share of operations that took no longer", Unit::Share, Scale::Percentile)
            .within(Some(0.5), Some(end(most))),
        y: up(&series),
        levels: goals(&workloads),
        series,
        marks: Vec::new(),
        aside: None,
    }
}

/// Latency over time: median, minimum and maximum.
pub(super) fn over_time(view: &View) -> Chart {
    let workloads = with_latency(view);
    let series: Vec<Series> = workloads
        .iter()
        .map(|of| Series::line(&of.name, of.colour_index, binned(view, &of.workload.over_time)))
        .collect();
    let y = up(&series);
    let mut chart = timed(view, "latency-over-time", "Latency over time", y);
    chart.levels = goals(&workloads);
    chart.note = format!(
        "{}; the area shows minimum and maximum (exact) of the operations by due time, the line their median, accurate to 1.6 % (the maximum for fewer than six). Operations that never finished are marked at their due time.",
        bins_note(view)
    );
    let worst = workloads.iter().filter_map(|of| {
        let bins = of.workload.over_time.iter().enumerate();
        let slowest = bins.filter_map(|(bin, of)| Some((bin, of.as_ref()?.max_ms?)));
        let (bin, ms) = slowest.max_by(|one, other| one.1.total_cmp(&other.1))?;
        let at = Unit::Seconds.write(bin as f64 * view.bin_s);
        Some(format!("{}: slowest {} at {at}", of.name, Unit::Ms.write(ms)))
    });
    chart.description = sentence(worst);
    chart.series = series;
    chart.marks.extend(never(view, &workloads));
    chart.marks.sort_by(|one, other| one.x.total_cmp(&other.x));
    chart
}

/// Due times of operations that never finished: the first ones of each workload.
fn never(view: &View, workloads: &[ChartedWorkload<'_>]) -> Vec<At> {
    let marks = workloads.iter().flat_map(|of| {
        let bins = view.times().zip(&of.workload.over_time);
        let lost = bins.filter_map(|(x, bin)| Some((x, bin.as_ref()?.unbounded)));
        lost.filter(|(_, never)| *never > 0)
            .take(MAX_NEVER_MARKS)
            .map(|(x, never)| At {
                x,
                length: 0.0,
                sign: NEVER.to_owned(),
                label: format!("{}: {never} due at {} never finished", of.name, Unit::Seconds.write(x)),
                colour_index: Some(of.colour_index),
            })
    });
    marks.collect()
}

/// Workloads whose latency matters to a user: not downloads and uploads.
fn with_latency(view: &View) -> Vec<ChartedWorkload<'_>> {
    let mut all = workloads(view);
    all.retain(|of| {
        !Kind::by_name(&of.workload.kind).is_some_and(|kind| kind.is_bulk) && of.workload.latency.count > 0
    });
    all
}

/// Position of the slowest of `count` operations: the middle of its share.
fn end(count: u64) -> f64 {
    1.0 - 0.5 / count.max(2) as f64
}

fn curve(of: &Curve) -> Vec<Datum> {
    let upper = of.points.iter().filter(|point| point.level >= 0.5);
    let mut points: Vec<Datum> = upper.map(|point| Datum::new(point.level, point.ms)).collect();
    if of.count >= 2 {
        let slowest = of.max_ms.filter(|_| of.unbounded == 0);
        points.push(Datum::new(end(of.count), slowest));
    }
    points
}

fn binned(view: &View, bins: &[Option<LatencyBin>]) -> Vec<Datum> {
    let times = view.times().zip(bins);
    let points = times.map(|(x, bin)| Datum {
        x,
        y: bin.and_then(|bin| bin.p50_ms.or(bin.max_ms)),
        low: bin.and_then(|bin| bin.min_ms),
        high: bin.and_then(|bin| bin.max_ms),
    });
    points.collect()
}

/// Vertical axis for latency. It is logarithmic if a linear scale would hide small values.
fn up(series: &[Series]) -> Axis {
    let values = || {
        series
            .iter()
            .flat_map(|series| series.points.iter().flat_map(Datum::values))
    };
    let (low, high) = (values().reduce(f64::min), values().reduce(f64::max));
    match low.zip(high) {
        Some((low, high)) if low > 0.0 && high > 20.0 * low => Axis::new("latency", Unit::Ms, Scale::Log),
        _ => Axis::new("latency", Unit::Ms, Scale::Linear).within(Some(0.0), None),
    }
}

/// Each goal once, in its workload's colour if only one workload has it.
fn goals(workloads: &[ChartedWorkload<'_>]) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for of in workloads {
        let Some(goal) = of.workload.latency_goal_ms else {
            continue;
        };
        match levels.iter_mut().find(|level| level.y == goal) {
            Some(level) => {
                level.colour_index = None;
                level.label = format!("goal {}", Unit::Ms.write(goal));
            }
            None => levels.push(Level {
                y: goal,
                label: format!("goal of {}: {}", of.workload.name, Unit::Ms.write(goal)),
                colour_index: Some(of.colour_index),
            }),
        }
    }
    levels
}

fn describe(workloads: &[ChartedWorkload<'_>]) -> String {
    let each = workloads.iter().map(|of| {
        let curve = &of.workload.latency;
        let mut parts = Vec::new();
        for (level, words) in [(0.5, "half"), (0.95, "95 %"), (0.99, "99 %")] {
            match curve.at(level) {
                Some(Some(ms)) => parts.push(format!("{words} within {}", Unit::Ms.write(ms))),
                Some(None) => parts.push(format!("fewer than {words} finished")),
                None => {}
            }
        }
        match (curve.unbounded, curve.max_ms) {
            (0, Some(ms)) => parts.push(format!("slowest {}", Unit::Ms.write(ms))),
            (0, None) => {}
            (never, _) => parts.push(format!("{never} never finished")),
        }
        if let Some(goal) = of.workload.latency_goal_ms {
            parts.push(format!("goal {}", Unit::Ms.write(goal)));
        }
        format!("{}: {}", of.name, parts.join(", "))
    });
    sentence(each)
}
