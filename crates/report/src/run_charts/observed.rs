//! Reports of observed access points over time.

use super::{sentence, station_colours, timed};
use crate::access_points::MAX_CURVES;
use crate::chart::{Axis, Chart, Datum, Scale, Series, Unit};
use crate::sanitise::sanitise;
use netburn_analysis::view::{ObservedCurve, ObservedKind, View};

/// The charts of observed access points; empty ones without data.
pub(super) fn charts(view: &View) -> Vec<Chart> {
    KINDS.iter().map(|kind| chart(view, kind)).collect()
}

/// A chart of one quantity.
struct Kind {
    kind: ObservedKind,
    id: &'static str,
    title: &'static str,
    axis: &'static str,
    unit: Unit,
    note: &'static str,
}

const KINDS: [Kind; 6] = [
    Kind {
        kind: ObservedKind::Airtime,
        id: "ap-airtime-over-time",
        title: "Airtime of each device",
        axis: "share of the time",
        unit: Unit::Share,
        note: "Airtime of frames to and from the device, as the driver of the access point counts it",
    },
    Kind {
        kind: ObservedKind::ChannelBusy,
        id: "ap-busy-over-time",
        title: "Use of the channel",
        axis: "share of the time",
        unit: Unit::Share,
        note: "Share of the time in which the radio found its channel busy: its own frames, those of other networks, and \
               interference",
    },
    Kind {
        kind: ObservedKind::Retries,
        id: "ap-retries-over-time",
        title: "Retransmissions to each device",
        axis: "frames/s",
        unit: Unit::Count,
        note: "Frames that the access point sent to the device again",
    },
    Kind {
        kind: ObservedKind::Backlog,
        id: "ap-backlog-over-time",
        title: "Packets in the queues of the access point",
        axis: "packets",
        unit: Unit::Count,
        note: "Packets that wait for a device or in a queue of an interface, at the time of each sample",
    },
    Kind {
        kind: ObservedKind::QueueDelay,
        id: "ap-queue-delay-over-time",
        title: "Delay in the queues of the access point",
        axis: "mean delay",
        unit: Unit::Ms,
        note: "Mean delay of the packets, as the queue reports it",
    },
    Kind {
        kind: ObservedKind::Processor,
        id: "ap-processor-over-time",
        title: "Processor of the access point",
        axis: "share of the time",
        unit: Unit::Share,
        note: "Use of the busiest processor",
    },
];

/// Identifiers of the charts of observed access points, in the order of the page.
pub(crate) const OBSERVED: [&str; KINDS.len()] = {
    let mut ids = [""; KINDS.len()];
    let mut place = 0;
    while place < KINDS.len() {
        ids[place] = KINDS[place].id;
        place += 1;
    }
    ids
};

fn chart(view: &View, kind: &Kind) -> Chart {
    let y = Axis::new(kind.axis, kind.unit, Scale::Linear).within(Some(0.0), None);
    let mut chart = timed(view, kind.id, kind.title, y);
    let several = view
        .observed
        .iter()
        .any(|curve| curve.access_point != view.observed[0].access_point);
    let is_used = |curve: &&ObservedCurve| curve.kind == kind.kind && curve.points.iter().any(|(_, y)| *y > 0.0);
    let mut curves: Vec<&ObservedCurve> = view.observed.iter().filter(is_used).collect();
    // Stations of the run first, then those with most.
    let order = |curve: &ObservedCurve| curve.station.map_or((true, 0), |place| (false, place));
    curves.sort_by(|one, other| order(one).cmp(&order(other)).then(mean(other).total_cmp(&mean(one))));
    let left = curves.len().saturating_sub(MAX_CURVES);
    let colours = station_colours(view);
    // Colours behind those of the stations, if a chart has both.
    let has_stations = curves.iter().any(|curve| curve.station.is_some());
    let of_stations = view.stations.iter().map(|station| station.workloads.len().max(1));
    let others: usize = if has_stations { of_stations.sum() } else { 0 };
    for (place, curve) in curves.into_iter().take(MAX_CURVES).enumerate() {
        let own = curve.station.and_then(|place| colours.get(place).copied());
        let points = curve.points.iter().map(|(x, y)| Datum::new(*x, Some(*y)));
        // A station that moved to another radio of the access point has a curve for each.
        let mut name = name(view, curve, several);
        if chart.series.iter().any(|series| series.name == name)
            && let Some(part) = &curve.part
        {
            name = format!("{name} ({})", sanitise(part));
        }
        let colour_index = own.unwrap_or(others + place);
        chart.series.push(Series::line(&name, colour_index, points));
    }
    chart.description = sentence(chart.series.iter().map(|series| {
        let values = || series.points.iter().filter_map(|point| point.y);
        let mean = values().sum::<f64>() / series.points.len().max(1) as f64;
        let most = values().fold(0.0, f64::max);
        let write = |value| kind.unit.write(value);
        format!("{}: {} mean, {} maximum", series.name, write(mean), write(most))
    }));
    let more = match left {
        0 => String::new(),
        left => format!(" {left} further curves with lower values are not drawn."),
    };
    chart.note = format!("{}; one value for each sample.{more}", kind.note);
    chart
}

fn mean(curve: &ObservedCurve) -> f64 {
    curve.points.iter().map(|(_, y)| y).sum::<f64>() / curve.points.len().max(1) as f64
}

/// Name of a curve: that of the station, or address, or interface or queue, or access point.
fn name(view: &View, curve: &ObservedCurve, several: bool) -> String {
    let station = curve.station.and_then(|place| view.stations.get(place));
    let access_point = sanitise(&curve.access_point);
    let subject = match (station, curve.address, &curve.part) {
        (Some(station), ..) => station.name.clone(),
        (None, Some(address), _) => address.to_string(),
        (None, None, Some(part)) => sanitise(part),
        (None, None, None) => return access_point,
    };
    if several {
        format!("{access_point}: {subject}")
    } else {
        subject
    }
}
