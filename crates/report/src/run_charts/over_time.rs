//! Throughput, player buffers and links over time.

use super::{averaged, averaged_note, bins_note, marks, station_colours, timed, workloads};
use crate::chart::{Axis, Chart, Datum, Level, Scale, Series, Unit};
use netburn_analysis::view::{LinkBin, MarkKind, View};

/// Throughput of each workload.
pub(super) fn throughput(view: &View) -> Chart {
    let y = Axis::new("throughput, Mbit/s", Unit::Mbps, Scale::Linear).within(Some(0.0), None);
    let mut chart = timed(view, "throughput-over-time", "Throughput over time", y);
    let workloads = workloads(view);
    for of in &workloads {
        let both = of.workload.down_mbps.iter().zip(&of.workload.up_mbps);
        let points = averaged(view, both.map(|(down, up)| down + up));
        if points.iter().any(|point| point.y > Some(0.0)) {
            chart.series.push(Series::line(&of.name, of.colour_index, points));
        }
    }
    let goals: Vec<(f64, usize)> = workloads
        .iter()
        .filter_map(|of| Some((of.workload.rate_goal_mbps?, of.colour_index)))
        .collect();
    for (goal, colour_index) in &goals {
        if chart.levels.iter().all(|level| level.y != *goal) {
            let shared = goals.iter().filter(|(other, _)| other == goal).count() > 1;
            chart.levels.push(Level {
                y: *goal,
                label: format!("goal {}", Unit::Mbps.write(*goal)),
                colour_index: (!shared).then_some(*colour_index),
            });
        }
    }
    let each: Vec<String> = workloads
        .iter()
        .zip(
            view.stations
                .iter()
                .zip(&view.summary.stations)
                .flat_map(|(_, judged)| &judged.workloads),
        )
        .take(8)
        .map(|(of, judged)| format!("{} {}", of.name, Unit::Mbps.write(judged.throughput_mbps)))
        .collect();
    chart.description = format!("On average: {}.", each.join("; "));
    chart.note = format!(
        "{}; content only, both directions, without headers.",
        averaged_note(view)
    );
    chart
}

/// Buffer of each player.
pub(super) fn buffer(view: &View) -> Chart {
    let y = Axis::new("buffered media, s", Unit::Seconds, Scale::Linear).within(Some(0.0), None);
    let mut chart = timed(view, "buffer-over-time", "Player buffer", y);
    let mut parts = Vec::new();
    for of in workloads(view) {
        let Some(buffer) = &of.workload.buffer else { continue };
        let points = view
            .times()
            .zip(buffer.least_s.iter().zip(&buffer.end_s))
            .map(|(x, (least, end))| Datum {
                x,
                y: *end,
                low: *least,
                high: least.zip(*end).map(|(least, end)| least.max(end)),
            });
        chart.series.push(Series::line(&of.name, of.colour_index, points));
        let judged = view.judged().find(|(station, _)| station.name == of.station.name);
        let player = judged.and_then(|(_, judged)| {
            let named = judged.workloads.iter().find(|judged| judged.name == of.workload.name);
            named.and_then(|judged| judged.player)
        });
        if let Some(player) = player {
            parts.push(match player.stalls {
                0 => format!("{} never stalled", of.name),
                1 => format!("{} stalled once, {}", of.name, Unit::Ms.write(player.stalled_ms)),
                n => format!(
                    "{} stalled {n} times, {} in total",
                    of.name,
                    Unit::Ms.write(player.stalled_ms)
                ),
            });
        }
    }
    chart.marks.extend(marks(view, &[MarkKind::Stall]));
    chart.marks.sort_by(|one, other| one.x.total_cmp(&other.x));
    if !parts.is_empty() {
        chart.description = format!("{}.", parts.join("; "));
    }
    chart.note = format!(
        "{}: buffer at the end of each bin, and the minimum within it. Computed from the media received in each 100 ms and the recorded stalls; accurate to 100 ms.",
        bins_note(view)
    );
    chart
}

/// The signal of each link, if it changed or was measured.
pub(super) fn signal(view: &View) -> Chart {
    let y = Axis::new("signal, dBm", Unit::Dbm, Scale::Linear);
    let mut chart = timed(view, "signal-over-time", "Signal over time", y);
    links(view, &mut chart, |bin| bin.signal_dbm);
    chart.note = format!("{}; the minimum of each bin.", bins_note(view));
    chart
}

/// The rate to each station, if it changed or was measured.
pub(super) fn link_rate(view: &View) -> Chart {
    let y = Axis::new("rate to the station, Mbit/s", Unit::Mbps, Scale::Linear).within(Some(0.0), None);
    let mut chart = timed(view, "link-rate-over-time", "Link rate over time", y);
    links(view, &mut chart, |bin| bin.rx_mbps);
    chart.note = format!("{}; the minimum of each bin.", bins_note(view));
    chart
}

fn links(view: &View, chart: &mut Chart, of: fn(&LinkBin) -> Option<f64>) {
    for ((station, judged), colour_index) in view.judged().zip(station_colours(view)) {
        let values: Vec<Option<f64>> = station.link.iter().map(of).collect();
        let mut known = values.iter().flatten();
        let first = known.next();
        let moves = first.is_some_and(|first| known.any(|value| (value - first).abs() > 1e-6));
        if !(moves || judged.wifi.is_some() && first.is_some()) {
            continue;
        }
        let points = view.times().zip(values).map(|(x, y)| Datum::new(x, y));
        // Links are sampled once a second; between samples there is no gap.
        let points = points.filter(|point| point.y.is_some() || view.bin_s >= 2.0);
        chart.series.push(Series::steps(&station.name, colour_index, points));
    }
    let each = chart.series.iter().take(8).map(|series| {
        let values = || series.points.iter().flat_map(Datum::values);
        let (low, high) = (values().reduce(f64::min), values().reduce(f64::max));
        let write = |value: Option<f64>| chart.y.unit.write(value.unwrap_or_default());
        format!("{}: {} to {}", series.name, write(low), write(high))
    });
    chart.description = format!("{}.", each.collect::<Vec<_>>().join("; "));
}
