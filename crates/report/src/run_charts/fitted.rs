//! Measured values beside those of a fitted model, for each station.

use crate::chart::svg::GROUP;
use crate::chart::{Axis, Chart, Datum, Scale, Series, Shape, Unit};
use netburn_analysis::fitted::{FittedView, ObservationView, PhaseView, QuantityName, Way};
use netburn_analysis::view::View;
use netburn_workload::ProbeTarget;

/// Latencies below this are drawn at the end of the axis, in ms. The fit does not distinguish them.
const FASTEST: f64 = 1.0;

/// Prefix of the identifiers.
const ID: &str = "fit-";

/// Charts of each station: round trips, goodput, and the rate of its link.
pub(super) fn charts(view: &View) -> Vec<Chart> {
    let Some(fit) = &view.fitted else {
        return Vec::new();
    };
    let stations = fit.stations();
    let each = stations.iter().enumerate();
    each.flat_map(|(number, station)| {
        let has = |quantity: &QuantityName| fit.of_station(station).any(|one| one.quantity == *quantity);
        let kinds = [QuantityName::Latency, QuantityName::Goodput, QuantityName::Rate];
        let known = kinds.into_iter().filter(has).collect::<Vec<_>>();
        known
            .into_iter()
            .map(move |quantity| chart(fit, station, number, quantity))
    })
    .collect()
}

/// True for the identifier of one of these charts.
pub(crate) fn is_own(id: &str) -> bool {
    id.starts_with(ID)
}

fn chart(fit: &FittedView, station: &str, number: usize, quantity: QuantityName) -> Chart {
    let own: Vec<&ObservationView> = fit.of_station(station).filter(|one| one.quantity == quantity).collect();
    let mut names: Vec<String> = Vec::new();
    // One row for each phase and target.
    let mut rows: Vec<(usize, Option<&str>, Option<Way>)> = Vec::new();
    let mut levels: Vec<Option<u8>> = own.iter().map(|one| one.percentile).collect();
    levels.sort_unstable();
    levels.dedup();
    let mut points = vec![(Vec::new(), Vec::new()); levels.len()];
    for one in &own {
        let row = (one.phase, one.target.as_deref(), one.direction);
        let place = rows.iter().position(|known| *known == row).unwrap_or_else(|| {
            rows.push(row);
            names.push(name(fit, one));
            rows.len() - 1
        });
        let level = levels.iter().position(|level| *level == one.percentile);
        let (ranges, values) = &mut points[level.expect("each percentile has a series")];
        ranges.push(Datum {
            x: place as f64,
            y: Some(one.modelled),
            low: Some(one.interval[0]),
            high: Some(one.interval[1]),
        });
        values.push(Datum::new(place as f64, Some(one.measured)));
    }
    let series = levels.iter().zip(points).enumerate();
    let series = series.flat_map(|(colour_index, (level, (ranges, values)))| {
        let what = level_name(*level);
        let one = |name: String, shape, points| Series {
            name,
            colour_index,
            shape,
            points,
        };
        [
            one(format!("{what}, model"), Shape::Ranges, ranges),
            one(format!("{what}, measured"), Shape::Points, values),
        ]
    });
    let (name, title, y) = match quantity {
        QuantityName::Latency => (
            "latency",
            "round trips",
            Axis::new("round trip", Unit::Ms, Scale::Log).within(Some(FASTEST), None),
        ),
        QuantityName::Rate => (
            "rate",
            "rate of the Wi-Fi link",
            Axis::new("link rate, Mbit/s", Unit::Mbps, Scale::Linear).within(Some(0.0), None),
        ),
        QuantityName::Goodput => (
            "goodput",
            "goodput",
            Axis::new("goodput, Mbit/s", Unit::Mbps, Scale::Linear).within(Some(0.0), None),
        ),
    };
    let inside = own.iter().filter(|one| one.agrees()).count();
    Chart {
        id: format!("{ID}{name}-{}", number + 1),
        title: format!("{station}: {title}"),
        description: format!("{inside} of {} measured values are inside the intervals of the model.", own.len()),
        note: "Bar: 90 % interval of the model, with a line at its median. Dot: measured value. Red diamond: measured value \
               outside the interval."
            .to_owned(),
        x: Axis::new("phase", Unit::None, Scale::Names(names)),
        y,
        series: series.collect(),
        levels: Vec::new(),
        marks: Vec::new(),
        aside: None,
    }
}

fn level_name(level: Option<u8>) -> String {
    match level {
        None => "mean".to_owned(),
        Some(50) => "median".to_owned(),
        Some(level) => format!("p{level}"),
    }
}

/// Phase and target of an observation, as the name of a row.
fn name(fit: &FittedView, one: &ObservationView) -> String {
    let phase = fit
        .phase_of(one)
        .map_or_else(String::new, |phase| load(fit, phase, &one.station));
    let row = match (one.direction, one.host()) {
        (Some(Way::Down), _) => "down",
        (Some(Way::Up), _) => "up",
        (None, Some(host)) => host_name(host),
        (None, None) => "",
    };
    format!("{phase}{GROUP}{row}")
}

/// The host that answers probes.
pub(crate) const fn host_name(host: ProbeTarget) -> &'static str {
    match host {
        ProbeTarget::Near => "access point",
        ProbeTarget::Line => "line",
        ProbeTarget::Server => "server",
    }
}

/// The load of a phase, as a station sees it.
pub(crate) fn load(fit: &FittedView, phase: &PhaseView, station: &str) -> String {
    let Some(first) = phase.flows.first() else {
        return "nothing is transferred".to_owned();
    };
    let is_one_way = phase.flows.iter().all(|flow| flow.direction == first.direction);
    let (one, many) = match first.direction {
        Way::Down => ("downloads", "download"),
        Way::Up => ("uploads", "upload"),
    };
    let names: Vec<&str> = phase.flows.iter().map(|flow| flow.station.as_str()).collect();
    let devices = fit.stations().len();
    match names.as_slice() {
        _ if !is_one_way => phase.name.clone(),
        [only] if *only == station => format!("only this device {one}"),
        [only] => format!("{only} {one}"),
        all if all.len() == devices => format!("all devices {many}"),
        [a, b] if *a == station => format!("this device and {b} {many}"),
        [a, b] if *b == station => format!("this device and {a} {many}"),
        [a, b] => format!("{a} and {b} {many}"),
        all => format!("{} devices {many}", all.len()),
    }
}
