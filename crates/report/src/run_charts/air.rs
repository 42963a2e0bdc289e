//! Airtime over time.

use super::{averaged, averaged_note, sentence, station_colours, timed};
use crate::chart::{Axis, Chart, Scale, Series, Unit};
use netburn_analysis::view::{AirBin, View};

/// Airtime share of each station's data.
pub(super) fn over_time(view: &View) -> Chart {
    let y = Axis::new("share of the time", Unit::Share, Scale::Linear).within(Some(0.0), None);
    let mut chart = timed(view, "airtime-over-time", "Airtime over time", y);
    series(view, &mut chart, |bin| bin.airtime);
    let each = view.stations.iter().filter_map(|station| {
        let bins = &station.air.as_ref()?.bins;
        let mean = bins.iter().map(|bin| bin.airtime).sum::<f64>() / bins.len().max(1) as f64;
        Some(format!("{} {}", station.name, Unit::Share.write(mean)))
    });
    chart.description = format!("On average: {}.", each.take(8).collect::<Vec<_>>().join("; "));
    chart.note = format!(
        "{}; airtime of data to and from a station, including preambles and failed transmissions. The rest is contention, acknowledgements, other networks and idle time. Only stations on one channel share a sum.",
        averaged_note(view)
    );
    chart
}

/// Packets queued for each station and at it.
pub(super) fn backlog(view: &View) -> Chart {
    let y = Axis::new("packets", Unit::Count, Scale::Linear).within(Some(0.0), None);
    let mut chart = timed(view, "backlog-over-time", "Queued packets", y);
    series(view, &mut chart, |bin| bin.backlog as f64);
    chart
        .series
        .retain(|series| series.points.iter().any(|point| point.y > Some(0.0)));
    let each = view.stations.iter().filter_map(|station| {
        let most = station.air.as_ref()?.bins.iter().map(|bin| bin.backlog).max()?;
        Some(format!("{} at most {most}", station.name))
    });
    chart.description = sentence(each);
    chart.note = format!(
        "{}; packets queued for a station and at it: the maximum over the ends of the 100 ms intervals.",
        averaged_note(view)
    );
    chart
}

fn series(view: &View, chart: &mut Chart, of: fn(&AirBin) -> f64) {
    for (station, colour_index) in view.stations.iter().zip(station_colours(view)) {
        let Some(air) = &station.air else { continue };
        let points = averaged(view, air.bins.iter().map(of));
        chart.series.push(Series::line(&station.name, colour_index, points));
    }
}
