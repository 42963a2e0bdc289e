//! Builds a view from rows.

mod counts;

use super::bins::for_plan;
use super::buffer::Arrivals;
use super::floor::FloorBuilder;
use super::observed::ObservedGathering;
use super::{HomeView, MAX_MARKS, Mark, MarkKind, StationView, View};
use crate::explain::{Evidence, Explanation, Remedies, likely_causes, stored};
use crate::fitted::{self, FittedView};
use crate::measurement::measurement;
use counts::{AirGathering, StationBuilder};
use netburn_record::aggregate::{Buckets, Counted};
use netburn_record::{
    AirRow, Clock, ConnectionRow, Detail, Error, EventKind, EventRow, IntervalRow, LinkRow, Row, Run, RunStatus,
};
use netburn_scenario::{Environment, Plan};
use netburn_units::{Duration, Instant};
use netburn_workload::ProbeTarget;
use netburn_workload::config::BIN;
use std::path::Path;

impl View {
    /// The view of a run folder. The rows of an unfinished run come from its spool. Unreadable
    /// parts of a damaged one are omitted and listed in [`missing`](View::missing).
    ///
    /// # Errors
    /// When nothing can be shown. Either the folder is no run folder, or the run is still being
    /// recorded, or a newer netburn wrote it, or its `run.json` is damaged.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let (run, damage) = Run::open_partly(path)?;
        let mut view = View::from_run(&run);
        for error in damage {
            let message = error.to_string();
            if !view.missing.contains(&message) {
                view.missing.push(message);
            }
        }
        Ok(view)
    }

    /// The view of an open run. Unreadable parts are omitted and listed in
    /// [`missing`](View::missing).
    #[must_use]
    pub fn from_run(run: &Run) -> Self {
        let plan = &run.header().plan;
        let environment = run.header().environment;
        let mut builder = ViewBuilder::new(plan, environment, Evidence::new(plan, environment));
        let folders = run.run_folders();
        if folders.is_empty() {
            builder.run(run, None);
        }
        for (path, number) in folders.iter().zip(1..) {
            match Run::open_partly(path) {
                Ok((run, damage)) => {
                    builder.missing.extend(damage.iter().map(ToString::to_string));
                    builder.run(&run, Some(number));
                }
                Err(error) => builder.missing.push(error.to_string()),
            }
        }
        builder.finish(run)
    }
}

/// Counts of a run's rows.
struct ViewBuilder<'a> {
    plan: &'a Plan,
    evidence: Evidence,
    bins: Buckets,
    /// The runs that were counted.
    runs: u32,
    stations: Vec<StationBuilder>,
    /// `None` without positions.
    floor: Option<FloorBuilder>,
    observed: ObservedGathering,
    marks: Vec<Mark>,
    more_marks: u64,
    missing: Vec<String>,
    /// End of the last bytes of this run, in ns.
    newest: i64,
}

impl<'a> ViewBuilder<'a> {
    fn new(plan: &'a Plan, environment: Environment, evidence: Evidence) -> Self {
        let bins = for_plan(plan);
        let stations = plan.stations.iter().zip(evidence.counting().evaluated_by_station());
        let stations = stations
            .map(|(station, evaluated)| StationBuilder::new(station, plan, evaluated, bins))
            .collect();
        ViewBuilder {
            plan,
            evidence,
            bins,
            runs: 0,
            stations,
            floor: FloorBuilder::new(plan, environment),
            observed: ObservedGathering::default(),
            marks: Vec::new(),
            more_marks: 0,
            missing: Vec::new(),
            newest: 0,
        }
    }

    /// Counts one run's rows.
    fn run(&mut self, run: &Run, number: Option<u32>) {
        self.runs += 1;
        self.newest = 0;
        for (station, plan) in self.stations.iter_mut().zip(&self.plan.stations) {
            let whose = |clock: &&Clock| clock.stations.contains(&plan.name);
            station.clock = run
                .clocks()
                .iter()
                .find(whose)
                .filter(|c| c.drift_ppm.is_some())
                .cloned();
        }
        let damage = run.rows_partly(&mut |row| {
            if !matches!(row, Row::Operation(_) | Row::Connection(_)) {
                self.evidence.row(&row);
            }
            match row {
                Row::Operation(row) => {
                    if let Some(counted) = self.evidence.counting().operation(&row) {
                        self.evidence.operation(&counted);
                        self.operation(&counted);
                    }
                }
                Row::Interval(row) => self.interval(&row),
                Row::Air(row) => self.air(&row),
                Row::Connection(row) => {
                    if self.evidence.connection(&row) {
                        self.connection(&row);
                    }
                }
                Row::Link(row) => self.link(&row),
                Row::Observed(row) if number.is_none() => self.observed.put(&row, self.bins),
                Row::Observed(_) => {}
                Row::Event(row) => self.event(&row, number),
            }
        });
        self.missing.extend(damage.iter().map(ToString::to_string));
        for (station, plan) in self.stations.iter_mut().zip(&self.plan.stations) {
            let end = plan.end(self.plan.duration).as_nanos() as i64;
            // The buffer is known as long as the station was connected and the run continued.
            let known = match run.status() {
                RunStatus::Complete => i64::MAX,
                _ => self.newest,
            };
            let to = end.min(known).min(station.lost.take().unwrap_or(i64::MAX));
            for (workload, config) in station.workloads.iter_mut().zip(&plan.workloads) {
                if let (Some((arrivals, levels)), Some(player)) = (&mut workload.player, config.config.playback()) {
                    let fresh = Arrivals::new(player, self.plan.duration);
                    std::mem::replace(arrivals, fresh).integrate(self.bins, to, levels);
                }
            }
        }
    }

    fn operation(&mut self, counted: &Counted<'_>) {
        let station = &mut self.stations[counted.station];
        let latency = counted.latency.map(Duration::as_nanos);
        let Some(workload) = counted.workload else {
            match latency {
                _ if counted.idle != Some(ProbeTarget::Server) => {}
                Some(latency) => station.idle.add(latency),
                None => station.idle.add_unbounded(),
            }
            return;
        };
        let due = station.common(counted.operation.due);
        if let (Some(floor), Some(limit), true) = (&mut self.floor, counted.limit, counted.evaluated) {
            floor.operation(counted.station, Instant::from_nanos(due), counted.latency, limit);
        }
        let workload = &mut station.workloads[workload];
        if let (Some((arrivals, _)), Some(length), Some(at)) =
            (&mut workload.player, workload.segment, counted.operation.finished)
            && latency.is_some()
        {
            arrivals.media(at.as_nanos(), length);
        }
        let binned = workload.over_time.bucket(due);
        match latency {
            Some(latency) => {
                if let Some(binned) = binned {
                    binned.add(latency);
                }
                if counted.evaluated {
                    workload.latency.add(latency);
                }
            }
            None => {
                if let Some(binned) = binned {
                    binned.add_unbounded();
                }
                if counted.evaluated {
                    workload.latency.add_unbounded();
                }
            }
        }
    }

    fn interval(&mut self, row: &IntervalRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let at = station.common(row.at);
        let Some(workload) = station.workloads.get_mut(usize::from(row.workload)) else {
            return;
        };
        let until = row.at.as_nanos().saturating_add(BIN.as_nanos() as i64);
        self.newest = self.newest.max(until);
        // A segment of `dash` can be played when it is complete.
        if let Some((arrivals, _)) = workload.player.as_mut().filter(|_| workload.segment.is_none()) {
            arrivals.bytes(row.at.as_nanos(), row.bytes_down);
        }
        if let Some(bytes) = workload.bytes.bucket(at) {
            bytes.put(row);
        }
        // The run's evaluated time, for every station, as for the airtime: shares are of the same content.
        let moved = self.evidence.counting().evaluated().weigh(row.bytes(), row.at);
        station.moved = station.moved.saturating_add(moved);
    }

    fn air(&mut self, row: &AirRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let air = station.air.get_or_insert_with(|| AirGathering::new(self.bins));
        if self.evidence.counting().evaluated().contains(row.at) {
            air.evaluated.put(row);
        }
        if let Some(sum) = air.bins.bucket(row.at.as_nanos()) {
            sum.put(row);
        }
    }

    fn connection(&mut self, row: &ConnectionRow) {
        let run = self.evidence.counting().evaluated();
        if let Some(station) = self.stations.get_mut(usize::from(row.station))
            && row.at >= station.evaluated.from
            && row.at < run.to
        {
            station.loaded.add(u64::from(row.rtt_us) * 1000);
        }
    }

    fn link(&mut self, row: &LinkRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let at = station.common(row.at);
        let Some(link) = station.link.bucket(at) else {
            return;
        };
        let least = |known: &mut Option<f64>, value: Option<f64>| {
            *known = match (*known, value) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        };
        least(&mut link.signal_dbm, row.signal.map(|signal| f64::from(signal) / 100.0));
        least(&mut link.rx_mbps, row.rx_rate_bps.map(|rate| rate as f64 / 1e6));
        least(&mut link.tx_mbps, row.tx_rate_bps.map(|rate| rate as f64 / 1e6));
    }

    fn event(&mut self, row: &EventRow, run: Option<u32>) {
        let place = row
            .station
            .map(usize::from)
            .filter(|place| *place < self.stations.len());
        let at = match place {
            Some(place) => self.stations[place].common(row.at),
            None => row.at.as_nanos(),
        };
        let player = place.zip(row.workload).and_then(|(place, workload)| {
            let workload = self.stations[place].workloads.get_mut(usize::from(workload))?;
            workload.player.as_mut()
        });
        match (row.kind, player) {
            (EventKind::Startup, Some((arrivals, _))) => arrivals.began(row.at.as_nanos(), row.length),
            (EventKind::Stall, Some((arrivals, _))) => arrivals.stalled(row.at.as_nanos(), row.length),
            _ => {}
        }
        // A station whose server is lost is still connected, and continues to measure.
        if let (EventKind::Lost, Some(place)) = (row.kind, place) {
            let lost = &mut self.stations[place].lost;
            *lost = Some(lost.map_or(row.at.as_nanos(), |before| before.min(row.at.as_nanos())));
        }
        let kind = match row.kind {
            EventKind::Change => MarkKind::Change,
            EventKind::Roam => MarkKind::Roam,
            EventKind::Lost | EventKind::Incomplete | EventKind::ServerLost => MarkKind::Lost,
            EventKind::Stall => MarkKind::Stall,
            EventKind::Rate => MarkKind::Rate,
            EventKind::Warning | EventKind::UnusedServerLost | EventKind::Rejected => MarkKind::Warning,
            EventKind::Scan => MarkKind::Scan,
            EventKind::Steering => MarkKind::Steering,
            EventKind::Path => MarkKind::Path,
            EventKind::AccessPoint => match &row.detail {
                Detail::AccessPoint(event) if !event.is_warning() => return,
                _ => MarkKind::Warning,
            },
            EventKind::Startup
            | EventKind::Health
            | EventKind::Clock
            | EventKind::QualityIssue
            | EventKind::Lab
            | EventKind::Dscp => return,
        };
        self.marks.push(Mark {
            at_s: at as f64 / 1e9,
            length_s: row.length as f64 / 1e9,
            kind,
            station: place,
            run,
            text: row.detail.text().into_owned(),
            change: match &row.detail {
                Detail::Link(event) => Some(event.change.clone()),
                _ => None,
            },
        });
        if self.marks.len() >= 4 * MAX_MARKS {
            self.thin();
        }
    }

    /// Keeps the most informative marks: changes, roams and losses.
    fn thin(&mut self) {
        if self.marks.len() <= MAX_MARKS {
            return;
        }
        self.marks.sort_by(|one, other| {
            let weight = |mark: &Mark| mark.kind;
            weight(one)
                .cmp(&weight(other))
                .then(other.length_s.total_cmp(&one.length_s))
        });
        self.more_marks += (self.marks.len() - MAX_MARKS) as u64;
        self.marks.truncate(MAX_MARKS);
    }

    /// The model in the folder of the run.
    fn fitted(&mut self, run: &Run) -> Option<FittedView> {
        let names: Vec<&str> = self.plan.stations.iter().map(|station| station.name.as_str()).collect();
        fitted::stored(run.folder()?, &names).unwrap_or_else(|why| {
            self.missing.push(why);
            None
        })
    }

    /// Likely causes. A measurement has only those that make it unreliable.
    fn explanation(&self, run: &Run, is_measurement: bool) -> Explanation {
        let mut explanation = run
            .folder()
            .and_then(stored)
            .unwrap_or_else(|| likely_causes(&self.evidence, run.summary(), run.health()));
        if is_measurement {
            explanation.keep_unreliable();
        }
        explanation
    }

    fn finish(mut self, run: &Run) -> View {
        self.thin();
        self.marks.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
        let header = run.header();
        let fitted = self.fitted(run);
        let measurement = measurement(&header.plan, fitted.as_ref());
        let explanation = self.explanation(run, measurement.is_some());
        let whole = *run.status() == RunStatus::Complete;
        let planned = self.bins.index(self.plan.duration.as_nanos() as i64 - 1).unwrap_or(0);
        // A run that was cut short ends where its rows do.
        let last = self.stations.iter().map(StationBuilder::last_bin).max().unwrap_or(0);
        let bins = if whole { last.max(planned) } else { last } + 1;
        let (runs, width) = (f64::from(self.runs.max(1)), self.bins.width().as_secs_f64());
        let summary = run.summary();
        let content = self.stations.iter().map(|station| station.moved);
        let content = content.fold(0, u128::saturating_add);
        let mut stations = Vec::new();
        for ((station, plan), judged) in self
            .stations
            .into_iter()
            .zip(&self.plan.stations)
            .zip(&summary.stations)
        {
            let workloads = station
                .workloads
                .into_iter()
                .zip(&plan.workloads)
                .zip(&judged.workloads);
            let workloads = workloads.map(|((workload, plan), judged)| {
                let mut view = workload.finish(&plan.config, &judged.latency_ms, bins, runs * width);
                view.name.clone_from(&judged.name);
                view
            });
            let workloads = workloads.collect();
            let bytes_share = (content > 0).then(|| station.moved as f64 / content as f64);
            let link = station.link.values().iter().take(bins).cloned().collect();
            stations.push(StationView {
                name: judged.name.clone(),
                idle: station.idle.curve(&[]),
                loaded: (station.loaded.count() > 0).then(|| station.loaded.curve(&[])),
                workloads,
                air: station
                    .air
                    .map(|air| air.finish(judged.airtime_share, bytes_share, bins, runs * width)),
                link,
            });
        }
        let folders = run.run_folders();
        let name = |path: &std::path::PathBuf| {
            let within = path.strip_prefix(run.path()).unwrap_or(path);
            within.to_string_lossy().into_owned()
        };
        View {
            summary: summary.clone(),
            status: run.status().clone(),
            version: header.version.clone(),
            started: header.started.map(netburn_record::UnixTime::rfc3339),
            host: header.host.clone(),
            health: run.health().to_vec(),
            lab: run.lab().cloned(),
            clocks: run.clocks().to_vec(),
            scenario: header.plan.to_json(),
            assumptions: header.plan.assumptions.clone(),
            warmup_s: header.plan.warmup.as_secs_f64(),
            runs: self.runs.max(1),
            run_dirs: folders.iter().map(name).collect(),
            bin_s: width,
            bins,
            stations,
            more_marks: self.more_marks,
            home: HomeView::new(&header.plan, header.environment, summary, &self.marks),
            floor: self.floor.map(FloorBuilder::finish),
            marks: self.marks,
            observed: self.observed.finish(width),
            fitted,
            measurement,
            explanation,
            remedies: run.folder().and_then(Remedies::stored),
            missing: self.missing,
        }
    }
}

/// The width of the record's intervals.
const _: () = assert!(BIN.as_nanos() == 100_000_000);
