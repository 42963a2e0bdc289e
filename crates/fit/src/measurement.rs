//! Observations of a run, and the reasons for which a run shows too little.

use crate::evidence::{Key, MAX_ROWS, Observer, Quantity, keys};
use crate::home::{DISCIPLINES, Home, NoComments, Parameter};
use crate::links::{Link, LinkSamples};
use crate::schedule::{MAX_STATIONS, MIN_PHASE, NoSchedule, Schedule};
use netburn_record::row::{EventKind, EventRow};
use netburn_record::{Error, Row, Run, RunStatus, RunTable};
use netburn_units::{Duration, Instant};
use std::ops::ControlFlow;

/// Observations of one run or of several.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Phases and probes of all runs, one run after the other.
    pub schedule: Schedule,
    /// The runs.
    pub parts: Vec<Part>,
    /// Model for these stations.
    pub home: Home,
    /// Names of the observations.
    pub keys: Vec<Key>,
    /// Their values on the axes of the fit.
    pub values: Vec<f64>,
    /// Links of the stations.
    pub links: Vec<Link>,
    /// Gaps: properties that the run can't show, one sentence each.
    pub gaps: Vec<String>,
}

/// Maximum number of phases of several runs. Twelve devices have 33 in a run.
const MAX_PHASES_TOGETHER: usize = 288;
/// Reasons of one run's self-check that are listed.
const MAX_QUALITY_ISSUES: usize = 3;

/// A run among those of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Phases and probes of this run, with the stations of the whole measurement.
    pub schedule: Schedule,
    /// Number of its first phase among those of all runs.
    pub first_phase: usize,
    /// Keys and values in which the network of this run differs from that of the model: those of a change.
    pub change: Vec<(String, String)>,
}

/// A run with what was changed before it.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    /// The run.
    pub run: &'a Run,
    /// Keys and values of the change; none if the network is that of the model.
    pub change: &'a [(String, String)],
}

/// Reason for which a run cannot be fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotFit {
    /// The workloads are not those of a measurement.
    #[error(transparent)]
    Schedule(#[from] NoSchedule),
    /// Several runs, whose phases are at the same times.
    #[error("the folder has several runs of --repeat: name the folders of its runs")]
    Several,
    /// The run did not end as planned.
    #[error("the run is not complete: {0}")]
    Incomplete(String),
    /// The clock of a station jumped.
    #[error("the clock of {0} jumped during the run, so that its phases cannot be separated")]
    ClockJumped(String),
    /// A station left during the run.
    #[error("{0} left during the run, so that the load of the phases is unknown")]
    Left(String),
    /// A station moved to another access point or radio.
    #[error("{0} moved to another access point or radio during the run, so that its phases are not those of one link")]
    Moved(String),
    /// Rows or a server were lost.
    #[error("a part of the record is missing: {0}")]
    Missing(String),
    /// Too many phases of several runs.
    #[error("the runs together have {0} phases, and a fit has at most {MAX_PHASES_TOGETHER}")]
    Phases(usize),
    /// No run shows the network as it is.
    #[error("each run was made after a change, and a fit needs one of the network without it")]
    Changed,
    /// Too many rows.
    #[error("the run has more than {MAX_ROWS} rows")]
    Rows,
    /// No transfer has a goodput.
    #[error("no station transferred anything in any phase")]
    NoGoodput,
    /// The record can't be read.
    #[error(transparent)]
    Record(#[from] Error),
}

impl Measurement {
    /// Reads the observations of a run, of the first `length` of each phase. A length below [`MIN_PHASE`] counts as that.
    ///
    /// # Errors
    /// The run is not a measurement, or it is not reliable.
    pub fn of_run(run: &Run, length: Duration) -> Result<Self, CannotFit> {
        Measurement::of_runs(&[Measured { run, change: &[] }], length)
    }

    /// The same for several runs. The readings for which no model is needed, such as the use of the line, are those of the runs
    /// without a change.
    ///
    /// # Errors
    /// A run is not a measurement, or it is not reliable; there are too many stations or phases; or each run has a change.
    pub fn of_runs(runs: &[Measured<'_>], length: Duration) -> Result<Self, CannotFit> {
        let mut seen = Vec::new();
        for measured in runs {
            seen.push((Observed::of_run(measured.run, length)?, measured.change.to_vec()));
        }
        // The runs of the model's own network come first.
        seen.sort_by_key(|(_, change)| !change.is_empty());
        if seen.first().is_some_and(|(_, change)| !change.is_empty()) {
            return Err(CannotFit::Changed);
        }
        Measurement::new(seen)
    }

    /// The model with the medians of the priors, as a scenario file. It has the keys of each fitted model.
    #[must_use]
    pub fn draft(&self) -> String {
        let median = |parameter: Parameter| {
            let prior = parameter.prior(&self.home);
            prior.value(prior.mean)
        };
        self.home.scenario(&median, DISCIPLINES[0], self.load(), &NoComments)
    }

    /// The measurement that a scenario of the model has: that of the first run.
    pub(crate) fn load(&self) -> &Schedule {
        self.parts.first().map_or(&self.schedule, |part| &part.schedule)
    }

    fn new(runs: Vec<(Observed, Vec<(String, String)>)>) -> Result<Self, CannotFit> {
        let mut stations: Vec<String> = Vec::new();
        for name in runs.iter().flat_map(|(run, _)| &run.schedule.stations) {
            if !stations.contains(name) {
                stations.push(name.clone());
            }
        }
        if stations.len() > MAX_STATIONS {
            return Err(NoSchedule::Stations(stations.len()).into());
        }
        let mut links = vec![LinkSamples::default(); stations.len()];
        let (mut parts, mut keys, mut values): (Vec<Part>, Vec<Key>, Vec<Option<f64>>) = Default::default();
        let mut schedule: Option<Schedule> = None;
        let (mut known, mut gaps) = (None, Vec::new());
        for (run, change) in runs {
            if !change.is_empty() && known.is_none() {
                known = schedule.clone().map(|schedule| (schedule, keys.len()));
            }
            gaps.extend(run.quality_issues);
            let own = run.schedule.with_stations(&stations);
            let first_phase = schedule.as_ref().map_or(0, |all| all.phases.len());
            let number = |station: usize| stations.iter().position(|name| *name == run.schedule.stations[station]);
            let placed = run.keys.iter().map(|key| Key {
                phase: first_phase + key.phase,
                station: number(key.station).expect("all stations are listed"),
                ..*key
            });
            keys.extend(placed);
            values.extend(&run.values);
            for (station, samples) in run.links.iter().enumerate() {
                let own = &mut links[number(station).expect("all stations are listed")];
                // A change can be one of the link.
                if change.is_empty() || own.is_empty() {
                    own.add(samples);
                }
            }
            schedule = Some(schedule.map_or_else(|| own.clone(), |all| all.then(&own)));
            parts.push(Part {
                schedule: own,
                first_phase,
                change,
            });
        }
        let schedule = schedule.ok_or(CannotFit::NoGoodput)?;
        if schedule.phases.len() > MAX_PHASES_TOGETHER {
            return Err(CannotFit::Phases(schedule.phases.len()));
        }
        let (unchanged, count) = known.unwrap_or_else(|| (schedule.clone(), keys.len()));
        let home = Home::new(&unchanged, &links, &keys[..count], &values[..count]);
        if home.highest.iter().all(Option::is_none) {
            return Err(CannotFit::NoGoodput);
        }
        gaps.extend(gaps_of(&schedule, &home, &keys, &values));
        let known = keys.iter().zip(values).filter_map(|(key, value)| Some((*key, value?)));
        let (keys, values) = known.unzip();
        Ok(Measurement {
            schedule,
            parts,
            links: links
                .iter()
                .zip(&home.stations)
                .map(|(link, own)| link.link(own.band.0))
                .collect(),
            home,
            keys,
            values,
            gaps,
        })
    }
}

/// Observations of one run.
struct Observed {
    schedule: Schedule,
    links: Vec<LinkSamples>,
    keys: Vec<Key>,
    values: Vec<Option<f64>>,
    /// Reasons for which the measurement may be wrong, one sentence each.
    quality_issues: Vec<String>,
}

impl Observed {
    fn of_run(run: &Run, length: Duration) -> Result<Self, CannotFit> {
        if !run.run_folders().is_empty() {
            return Err(CannotFit::Several);
        }
        let status = run.status();
        if *status != RunStatus::Complete {
            let why = match status {
                RunStatus::Failed(reason) => reason.clone(),
                _ => "it was interrupted".to_owned(),
            };
            return Err(CannotFit::Incomplete(why));
        }
        if let Some(clock) = run.clocks().iter().find(|clock| clock.jump_ns.is_some()) {
            return Err(CannotFit::ClockJumped(clock.name.clone()));
        }
        let schedule = Schedule::for_environment(run.header().environment, &run.header().plan)?;
        let rows = RunTable::ALL.iter().map(|table| run.count(table.name()));
        if rows.fold(0, u64::saturating_add) > MAX_ROWS {
            return Err(CannotFit::Rows);
        }
        let mut links = vec![LinkSamples::default(); schedule.stations.len()];
        let mut fault = None;
        let mut observer = Observer::new(&schedule, schedule.used_length(length));
        let all_keys = keys(&schedule);
        first_rows(run, MAX_ROWS, &mut |row| {
            match &row {
                Row::Link(link) => {
                    if let Some(samples) = links.get_mut(usize::from(link.station)) {
                        samples.put(link);
                    }
                }
                Row::Event(event) => fault = fault.take().or_else(|| fault_of(event, &schedule)),
                _ => {}
            }
            observer.put(&row, |station, at: Instant| run.common_time(station, at));
        })?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        let values = observer.finish(&all_keys);
        let check = &run.summary().self_check;
        let quality_issues = check.reasons.iter().filter(|_| !check.ok).take(MAX_QUALITY_ISSUES);
        Ok(Observed {
            schedule,
            links,
            keys: all_keys,
            values,
            quality_issues: quality_issues
                .map(|reason| format!("the measurement may be disturbed: {reason}"))
                .collect(),
        })
    }
}

/// Passes the rows of a run to `take`, but only `limit`: the tables of a foreign record can have more rows than it says. The
/// other rows are not read.
fn first_rows(run: &Run, limit: u64, take: &mut dyn FnMut(Row)) -> Result<(), CannotFit> {
    let mut rows = 0;
    let read = run.rows_until(&mut |row| {
        if rows == limit {
            return ControlFlow::Break(());
        }
        rows += 1;
        take(row);
        ControlFlow::Continue(())
    })?;
    match read {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(CannotFit::Rows),
    }
}

/// The fault that an event of the record tells.
fn fault_of(event: &EventRow, schedule: &Schedule) -> Option<CannotFit> {
    let name = || {
        let number = event.station?;
        let known = schedule.stations.get(usize::from(number)).cloned();
        Some(known.unwrap_or_else(|| format!("station {number}")))
    };
    let station = || name().unwrap_or_else(|| "a station".to_owned());
    match event.kind {
        EventKind::Lost => Some(CannotFit::Left(station())),
        EventKind::Roam => Some(CannotFit::Moved(station())),
        EventKind::Incomplete => Some(CannotFit::Missing(format!("rows of {}", station()))),
        EventKind::Rejected => Some(CannotFit::Missing("rows that were rejected".to_owned())),
        EventKind::ServerLost => Some(CannotFit::Missing("the server left during the run".to_owned())),
        _ => None,
    }
}

/// Properties that the run can't show, one sentence each.
fn gaps_of(schedule: &Schedule, home: &Home, keys: &[Key], values: &[Option<f64>]) -> Vec<String> {
    let mut gaps = Vec::new();
    if schedule.stations.len() == 1 {
        gaps.push("one station: how the access point shares its queue between stations is not visible".to_owned());
    }
    if schedule.phases.iter().all(|phase| !phase.flows.is_empty()) {
        gaps.push("no idle phase: the delays without load are not visible".to_owned());
    }
    if !home.has_internet_line {
        gaps.push(
            "no probe reached a hop beyond the router: the line of the model is the path to the server, which is the internet \
             line only if the server is outside"
                .to_owned(),
        );
    }
    let wired = home.units.iter().enumerate().filter(|(_, unit)| !unit.is_wireless);
    for (unit, _) in wired {
        let own = home.stations.iter().filter(|station| station.unit == Some(unit));
        let names: Vec<&str> = own.map(|station| station.name.as_str()).collect();
        gaps.push(format!(
            "the access point of {} has a backhaul of its own, which counts as a cable without a limit",
            names.join(", ")
        ));
    }
    for (number, phase) in schedule.phases.iter().enumerate() {
        let what = phase.describe(&schedule.stations);
        let own = keys.iter().zip(values).filter(|(key, _)| key.phase == number);
        let probes = own.filter(|(key, _)| matches!(key.quantity, Quantity::Latency(..)));
        let probes: Vec<bool> = probes.map(|(_, value)| value.is_some()).collect();
        if phase.length < MIN_PHASE {
            gaps.push(format!(
                "phase {} ({what}) is shorter than {MIN_PHASE} and is not used",
                number + 1
            ));
        } else if !probes.is_empty() && probes.iter().all(|is_known| !is_known) {
            gaps.push(format!("phase {} ({what}) has too few probes", number + 1));
        }
        let own = keys
            .iter()
            .zip(values)
            .filter(|(key, value)| key.phase == number && value.is_none());
        let idle = own.filter(|(key, _)| matches!(key.quantity, Quantity::Goodput(_)));
        gaps.extend(idle.map(|(key, _)| {
            format!(
                "{} transferred nothing in phase {} ({what})",
                schedule.stations[key.station],
                number + 1
            )
        }));
    }
    for (station, name) in schedule.stations.iter().enumerate() {
        if home.stations[station].signal.is_none() {
            gaps.push(format!(
                "{name} recorded no signal: its link follows from its goodput only"
            ));
        }
        if schedule.probes[station].is_empty() {
            gaps.push(format!("{name} sent no probes"));
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::{Header, MemoryRecorder, Sink};
    use netburn_scenario::{Plan, Station};

    #[test]
    fn a_record_with_more_rows_than_the_limit_is_rejected() {
        let plan = Plan {
            stations: vec![Station::new("laptop")],
            ..Plan::new("rows")
        };
        let mut recorder = MemoryRecorder::new(Header::simulated(plan));
        for ms in 0..10 {
            let at = Instant::from_millis(100 * ms);
            let row = netburn_record::AirRow {
                at,
                ..netburn_record::AirRow::default()
            };
            recorder.put(&Row::Air(row)).expect("in memory");
        }
        let run = recorder.finish("run", &RunStatus::Complete);
        let read = |limit: u64| {
            let mut rows = 0;
            let read = first_rows(&run, limit, &mut |_| rows += 1);
            (rows, read.is_ok())
        };
        assert_eq!([10, 9, 0].map(read), [(10, true), (9, false), (0, false)]);
    }
}
