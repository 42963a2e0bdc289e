//! Values of stations side by side.

use super::{named, sentence};
use crate::chart::{Axis, Chart, Datum, Scale, Series, Shape, Unit};
use netburn_analysis::view::{Curve, StationView, View};
use netburn_workload::ProbeTarget;

/// Round trips before the load beside those under it.
pub(super) fn idle_and_loaded(view: &View) -> Chart {
    let y = Axis::new("round-trip time: median, and up to p95", Unit::Ms, Scale::Linear).within(Some(0.0), None);
    let mut chart = named(view, "idle-and-loaded", "Idle and loaded latency", y);
    let idle: Vec<Option<(f64, Option<f64>)>> = view.stations.iter().map(|station| middle(&station.idle)).collect();
    let loaded: Vec<_> = view
        .stations
        .iter()
        .map(|station| loaded(station).and_then(middle))
        .collect();
    if loaded.iter().all(Option::is_none) {
        return chart;
    }
    let mut parts = Vec::new();
    for ((station, idle), loaded) in view.stations.iter().zip(&idle).zip(&loaded) {
        if let (Some((idle, _)), Some((loaded, _))) = (idle, loaded) {
            let (before, under) = (Unit::Ms.write(*idle), Unit::Ms.write(*loaded));
            parts.push(format!("{}: {before} idle, {under} under load", station.name));
        }
    }
    chart.description = sentence(parts.into_iter());
    chart.series = vec![bars("idle", 2, &idle), bars("under load", 1, &loaded)];
    chart.note =
        "Idle: probes before the load. Under load: the probe's round-trip times if the station has a probe, otherwise samples of TCP's smoothed round-trip time. Samples of idle connections are less meaningful."
            .to_owned();
    chart
}

/// Airtime share and data share of each station.
pub(super) fn air_and_bytes(view: &View) -> Chart {
    let y = Axis::new("share of all stations", Unit::Share, Scale::Linear).within(Some(0.0), None);
    let mut chart = named(view, "airtime-shares", "Airtime and data shares", y);
    let of = |pick: fn(&StationView) -> Option<f64>| -> Vec<_> {
        view.stations
            .iter()
            .map(|station| pick(station).map(|share| (share, None)))
            .collect()
    };
    let air = of(|station| station.air.as_ref()?.airtime_share);
    if air.iter().all(Option::is_none) {
        return chart;
    }
    let bytes = of(|station| station.air.as_ref()?.bytes_share);
    let both = view
        .stations
        .iter()
        .zip(air.iter().zip(&bytes))
        .filter_map(|(station, (air, bytes))| {
            let (air, bytes) = ((*air)?.0, (*bytes)?.0);
            let (air, bytes) = (Unit::Share.write(air), Unit::Share.write(bytes));
            Some(format!(
                "{} used {air} of the airtime and moved {bytes} of the data",
                station.name
            ))
        });
    chart.description = sentence(both);
    chart.series = vec![bars("airtime", 5, &air), bars("content moved", 4, &bytes)];
    chart.note =
        "In the evaluated time. A station whose airtime share is larger than its data share is slow, or sends small aggregates."
            .to_owned();
    chart
}

/// Mean number of MPDUs per transmission.
pub(super) fn aggregates(view: &View) -> Chart {
    let y = Axis::new("mean MPDUs per transmission", Unit::Count, Scale::Linear).within(Some(0.0), None);
    let mut chart = named(view, "aggregates", "Aggregate sizes", y);
    let means = view
        .stations
        .iter()
        .map(|station| Some((station.air.as_ref()?.mean_aggregate?, None)));
    let means: Vec<_> = means.collect();
    let each = view
        .stations
        .iter()
        .zip(&means)
        .filter_map(|(station, mean)| Some(format!("{} {}", station.name, Unit::Count.write((*mean)?.0))));
    chart.description = sentence(each);
    chart.series = vec![bars("", 0, &means)];
    chart.note =
        "In the evaluated time, both directions. Every transmission costs contention and a preamble; small aggregates waste airtime."
            .to_owned();
    chart
}

fn bars(name: &str, colour_index: usize, values: &[Option<(f64, Option<f64>)>]) -> Series {
    let points = values.iter().enumerate().map(|(place, value)| Datum {
        x: place as f64,
        y: value.map(|(value, _)| value),
        low: value.and_then(|(value, high)| high.map(|_| value)),
        high: value.and_then(|(_, high)| high),
    });
    Series {
        name: name.to_owned(),
        colour_index,
        shape: Shape::Bars,
        points: points.collect(),
    }
}

/// Round-trip times of a station under load.
fn loaded(station: &StationView) -> Option<&Curve> {
    let probe = station.workloads.iter().find(|workload| {
        workload.kind == "probe" && workload.target == ProbeTarget::Server.as_str() && workload.latency.count > 0
    });
    probe.map(|workload| &workload.latency).or(station.loaded.as_ref())
}

/// The median and the 95th percentile.
fn middle(of: &Curve) -> Option<(f64, Option<f64>)> {
    let at = |level| of.at(level).flatten();
    Some((at(0.5)?, at(0.95)))
}
