//! Builds a view from rows.

mod counts;

use super::bins::Bins;
use super::buffer::Arrivals;
use super::{LinkBin, MAX_MARKS, Mark, MarkKind, StationView, View};
use crate::explain::{Evidence, likely_causes};
use counts::{AirCount, AirGathering, StationBuilder};
use netburn_record::row::BASELINE;
use netburn_record::{
    AirRow, Clock, ConnectionRow, Error, EventKind, EventRow, IntervalRow, LinkRow, OperationRow, Row, Run, RunStatus,
};
use netburn_scenario::Plan;
use netburn_units::Duration;
use netburn_workload::Outcome;
use netburn_workload::config::BIN;
use std::path::Path;

impl View {
    /// The view of a run folder. The rows of an unfinished run come from its spool. Unreadable
    /// parts of a damaged one are omitted and listed in [`missing`](View::missing).
    ///
    /// # Errors
    /// When nothing can be shown: it is no run folder, is still being recorded, was written by a
    /// newer netburn, or its `run.json` is damaged.
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
        let mut builder = ViewBuilder::new(plan, Evidence::new(plan, run.header().environment));
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
    bins: Bins,
    /// The runs that were counted.
    runs: u32,
    stations: Vec<StationBuilder>,
    marks: Vec<Mark>,
    more_marks: u64,
    missing: Vec<String>,
    /// The last bin in which there was something.
    last: usize,
    /// End of the last bytes of this run, in ns.
    newest: i64,
}

impl<'a> ViewBuilder<'a> {
    fn new(plan: &'a Plan, evidence: Evidence) -> Self {
        let bins = Bins::for_plan(plan);
        ViewBuilder {
            plan,
            evidence,
            bins,
            runs: 0,
            stations: plan
                .stations
                .iter()
                .map(|s| StationBuilder::new(s, plan, bins))
                .collect(),
            marks: Vec::new(),
            more_marks: 0,
            missing: Vec::new(),
            last: 0,
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
            self.evidence.row(&row);
            match row {
                Row::Operation(row) => self.operation(&row),
                Row::Interval(row) => self.interval(&row),
                Row::Air(row) => self.air(&row),
                Row::Connection(row) => self.connection(&row),
                Row::Link(row) => self.link(&row),
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
                if let (Some((arrivals, levels)), Some(player)) = (&mut workload.player, config.config.player) {
                    let fresh = Arrivals::new(player, self.plan.duration);
                    std::mem::replace(arrivals, fresh).integrate(self.bins, to, levels);
                }
            }
        }
    }

    fn operation(&mut self, row: &OperationRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let operation = &row.operation;
        if operation.outcome == Outcome::Cut {
            return;
        }
        let latency = operation.latency().map(Duration::as_nanos);
        if row.workload == BASELINE {
            match latency {
                Some(latency) => station.idle.add(latency),
                None => station.idle.add_unbounded(),
            }
            return;
        }
        let bin = self.bins.at(station.common(operation.due));
        let from = station.from;
        let Some(workload) = station.workloads.get_mut(usize::from(row.workload)) else {
            return;
        };
        let judged = operation.due.as_nanos() >= from;
        let binned = bin.map(|bin| &mut workload.bins[bin]);
        match latency {
            Some(latency) => {
                if let Some(binned) = binned {
                    binned.add(latency);
                }
                if judged {
                    workload.latency.add(latency);
                }
            }
            None => {
                if let Some(binned) = binned {
                    binned.add_unbounded();
                }
                if judged {
                    workload.latency.add_unbounded();
                }
            }
        }
        self.last = self.last.max(bin.unwrap_or(0));
    }

    fn interval(&mut self, row: &IntervalRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let bin = self.bins.at(station.common(row.at));
        let Some(workload) = station.workloads.get_mut(usize::from(row.workload)) else {
            return;
        };
        let until = row.at.as_nanos().saturating_add(BIN.as_nanos() as i64);
        self.newest = self.newest.max(until);
        if let Some((arrivals, _)) = &mut workload.player {
            arrivals.bytes(row.at.as_nanos(), row.bytes_down);
        }
        if let Some(bin) = bin {
            workload.down[bin] = workload.down[bin].saturating_add(row.bytes_down);
            workload.up[bin] = workload.up[bin].saturating_add(row.bytes_up);
            self.last = self.last.max(bin);
        }
    }

    fn air(&mut self, row: &AirRow) {
        let (bins, plan) = (self.bins, self.plan);
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let air = station.air.get_or_insert_with(|| AirGathering {
            bins: vec![AirCount::default(); bins.count],
            all: AirCount::default(),
        });
        let at = row.at.as_nanos();
        if at >= plan.warmup.as_nanos() as i64 && at < plan.duration.as_nanos() as i64 {
            air.all.add(row);
        }
        if let Some(bin) = bins.at(at) {
            air.bins[bin].add(row);
            self.last = self.last.max(bin);
        }
    }

    fn connection(&mut self, row: &ConnectionRow) {
        let at = row.at.as_nanos();
        if let Some(station) = self.stations.get_mut(usize::from(row.station))
            && at >= station.from
            && at < self.plan.duration.as_nanos() as i64
            && row.rtt_us > 0
        {
            station.loaded.add(u64::from(row.rtt_us) * 1000);
        }
    }

    fn link(&mut self, row: &LinkRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let Some(bin) = self.bins.at(station.common(row.at)) else {
            return;
        };
        if station.link.is_empty() {
            station.link = vec![LinkBin::default(); self.bins.count];
        }
        let link = &mut station.link[bin];
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
        // A station whose server is lost is there itself, and measures on.
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
            EventKind::Startup | EventKind::Health | EventKind::Clock | EventKind::QualityIssue | EventKind::Lab => {
                return;
            }
        };
        self.marks.push(Mark {
            at_s: at as f64 / 1e9,
            length_s: row.length as f64 / 1e9,
            kind,
            station: place,
            run,
            text: row.detail.text().into_owned(),
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

    fn finish(mut self, run: &Run) -> View {
        self.thin();
        self.marks.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
        let header = run.header();
        let whole = *run.status() == RunStatus::Complete;
        let planned = self.bins.at(self.plan.duration.as_nanos() as i64 - 1).unwrap_or(0);
        // A run that was cut short ends where its rows do.
        let bins = if whole { self.last.max(planned) } else { self.last } + 1;
        let (runs, width) = (f64::from(self.runs.max(1)), self.bins.seconds());
        let summary = run.summary();
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
            let bytes_share =
                (summary.totals.throughput_mbps > 0.0).then(|| judged.throughput_mbps / summary.totals.throughput_mbps);
            let mut link = station.link;
            link.truncate(bins);
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
            marks: self.marks,
            more_marks: self.more_marks,
            explanation: likely_causes(&self.evidence, summary, run.health()),
            missing: self.missing,
        }
    }
}

/// The width of the record's intervals.
const _: () = assert!(BIN.as_nanos() == 100_000_000);
