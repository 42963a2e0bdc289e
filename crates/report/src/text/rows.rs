//! The table of stations.

use crate::sanitise::sanitise;
use crate::style::Tone;
use crate::table::{Cell, Column, render, right, words};
use crate::tables;
use netburn_analysis::format::{met_percent, ms};
use netburn_record::Summary;
use netburn_record::metrics::{self, Measured, Table, Unit};
use netburn_record::summary::{GoalSummary, StationSummary, WorkloadSummary};
use netburn_workload::Verdict;

/// Units in the order of the columns.
const UNITS: [Unit; 3] = [Unit::Mbps, Unit::Share, Unit::Ms];

/// A metric's heading and unit.
type MetricColumn = (&'static str, Unit);

/// The metrics of the table.
struct Metrics {
    /// Of a goal, before its text.
    goal: Vec<MetricColumn>,
    /// Of stations and workloads.
    others: Vec<MetricColumn>,
}

/// One row per goal, or per workload without a goal. Repeated names are omitted.
pub(super) fn table(summary: &Summary, width: usize, colour: bool) -> Vec<String> {
    let goal = tables::columns(Table::Stations, metrics::goal_quantities(), &UNITS);
    let others = metrics::station_quantities().chain(metrics::workload_quantities());
    let mut others = tables::columns(Table::Stations, others, &UNITS);
    others.retain(|column| !goal.contains(column));
    let metrics = Metrics { goal, others };
    let mut rows = Vec::new();
    for station in &summary.stations {
        let of_station = metrics::of_station(station);
        let first = rows.len();
        for workload in &station.workloads {
            let of_workload = metrics::of_workload(workload);
            for number in 0..workload.goals.len().max(1) {
                let is_shown = |measured: &&Measured| measured.goal.map_or(number == 0, |goal| goal == number);
                let mut shown: Vec<&Measured> = of_workload.iter().filter(is_shown).collect();
                let station = (rows.len() == first).then_some(station);
                if station.is_some() {
                    shown.extend(&of_station);
                }
                let named = (number == 0).then_some(workload);
                rows.push(metrics.row(station, named, workload.goals.get(number), &shown));
            }
        }
        if rows.len() == first {
            rows.push(metrics.row(Some(station), None, None, &of_station.iter().collect::<Vec<_>>()));
        }
    }
    render(&metrics.columns(), &rows, 3, width, colour)
}

impl Metrics {
    /// The times begin a further table if one table would be too wide.
    fn columns(&self) -> Vec<Column<'static>> {
        let first_time = self.others.iter().position(|(_, unit)| *unit == Unit::Ms);
        let mut columns = vec![words("station"), words("verdict"), words("workload")];
        columns.extend(self.goal.iter().map(|(heading, _)| right(heading)));
        columns.push(words("goal"));
        columns.extend(self.others.iter().enumerate().map(|(place, (heading, _))| {
            let column = right(heading);
            if Some(place) == first_time {
                column.apart()
            } else {
                column
            }
        }));
        columns
    }

    fn row(
        &self,
        station: Option<&StationSummary>,
        workload: Option<&WorkloadSummary>,
        goal: Option<&GoalSummary>,
        shown: &[&Measured],
    ) -> Vec<Cell> {
        let find = |heading: &str| {
            shown
                .iter()
                .find(|measured| measured.quantity.heading(Table::Stations) == Some(heading))
        };
        let mut cells = vec![
            station.map_or_else(Cell::default, |s| sanitise(&s.name).into()),
            station.map_or_else(Cell::default, |s| Cell::verdict(s.verdict, s.provisional)),
            workload.map_or_else(Cell::default, |w| sanitise(&w.name).into()),
        ];
        cells.extend(self.goal.iter().map(|(heading, _)| {
            let value = find(heading).zip(goal);
            value.map_or_else(Cell::unknown, |(measured, goal)| of_goal(measured, goal))
        }));
        cells.push(goal.map_or_else(|| Cell::new("none", Tone::Quiet), |goal| sanitise(&goal.goal).into()));
        let others = self.others.iter();
        cells.extend(others.map(|(heading, _)| find(heading).map_or_else(Cell::default, |measured| cell(measured))));
        cells
    }
}

fn of_goal(measured: &Measured, goal: &GoalSummary) -> Cell {
    let tone = match goal.verdict {
        Verdict::Pass => Tone::Plain,
        other => Cell::verdict(other, false).tone,
    };
    match (measured.value, measured.quantity.unit) {
        (Some(share), Unit::Share) => Cell::new(met_percent(share), tone),
        (Some(value), unit) => Cell::new(tables::value(value, unit), tone),
        (None, _) => Cell::unknown(),
    }
}

/// A value, or the number of operations that never ended. A time is `–` with too few samples. A column of another unit is
/// omitted if no row has a value, like that of the airtime on a real network.
fn cell(of: &Measured) -> Cell {
    match (of.value, of.quantity.unit) {
        _ if of.unended > 0 => Cell::new(format!("never ({})", of.unended), Tone::Bad),
        (Some(value), Unit::Ms) => ms(value).into(),
        (Some(value), unit) => tables::value(value, unit).into(),
        (None, Unit::Ms) => Cell::unknown(),
        (None, _) => Cell::default(),
    }
}
