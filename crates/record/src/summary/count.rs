//! Rows in, evidence out: what counts, and against what.

use super::evidence::{Counts, RunEvidence, StationEvidence, WorkloadEvidence};
use crate::header::{Ending, Ground};
use crate::health::{Clock, Health};
use crate::row::{AirRow, BASELINE, EventKind, EventRow, IntervalRow, LinkRow, OperationRow, Row};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::config::BIN;
use netburn_workload::judge::windows;
use netburn_workload::{Config, Failure, Goal, Kind, Operation, Outcome, Stall, Tally};

/// Counts the rows of one run, in the order in which they come.
#[derive(Debug)]
pub(crate) struct Counter {
    stations: Vec<StationCounter>,
    warmup: Instant,
    end: Instant,
    one_clock: bool,
    names: Vec<String>,
    health: Vec<Health>,
    clocks: Vec<Clock>,
    doubts: Vec<String>,
    reached: Instant,
}

#[derive(Debug)]
struct StationCounter {
    /// Its judged time by the plan.
    from: Instant,
    to: Instant,
    reached: Instant,
    evidence: StationEvidence,
    workloads: Vec<WorkloadCounter>,
}

#[derive(Debug)]
struct WorkloadCounter {
    config: Config,
    /// The strictest latency goal.
    limit: Option<Duration>,
    longest: u64,
    first_due: Option<Instant>,
    /// Bytes by tenth of a second since the run began, where a goal looks at them.
    bins: Option<Vec<u64>>,
    stalls: Vec<Stall>,
    /// The highest sequence number that was answered.
    answered: Option<u64>,
    /// What probes say of each way: by the station's clock when they left and came, by the server's in between.
    one_way: Vec<OneWay>,
    evidence: WorkloadEvidence,
}

/// Sent, received there, sent from there, received: each by the clock of whoever did it, in ns.
type OneWay = [i64; 4];

/// How the clocks of a station and the server are held against each other: as they are, or as they are known.
#[derive(Debug, Clone, Copy)]
enum Clocks<'a> {
    One,
    Known { station: &'a Clock, server: &'a Clock },
    Unknown,
}

impl Counter {
    pub(crate) fn new(plan: &Plan, ground: Ground) -> Self {
        let names = plan.stations.iter().map(|station| station.name.clone()).collect();
        let at = |since: Duration| Instant::ZERO + since.min(LONGEST);
        let end = at(plan.duration);
        let stations = plan.stations.iter().map(|station| StationCounter {
            from: at(plan.warmup.max(station.start)).min(end),
            to: station.stop.map_or(end, at).min(end),
            reached: Instant::ZERO,
            evidence: StationEvidence::default(),
            workloads: station
                .workloads
                .iter()
                .map(|w| WorkloadCounter::new(&w.config))
                .collect(),
        });
        Counter {
            stations: stations.collect(),
            warmup: at(plan.warmup).min(end),
            end,
            one_clock: ground != Ground::Fleet,
            names,
            health: Vec::new(),
            clocks: Vec::new(),
            doubts: Vec::new(),
            reached: Instant::ZERO,
        }
    }

    pub(crate) fn row(&mut self, row: &Row) {
        match row {
            Row::Operation(row) => self.operation(row),
            Row::Interval(row) => self.interval(row),
            Row::Event(row) => self.event(row),
            Row::Air(row) => self.air(row),
            Row::Link(row) => self.link(row),
            Row::Connection(_) => {}
        }
    }

    pub(crate) fn operation(&mut self, row: &OperationRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let operation = &row.operation;
        if row.workload == BASELINE {
            match operation.latency() {
                Some(latency) => station.evidence.idle.push(latency.as_nanos()),
                None if operation.outcome != Outcome::Cut => station.evidence.idle_lost += 1,
                None => {}
            }
            return;
        }
        station.reach(operation.finished.unwrap_or(operation.due));
        if let Some(workload) = station.workloads.get_mut(usize::from(row.workload)) {
            workload.operation(operation, station.from);
        }
    }

    pub(crate) fn interval(&mut self, row: &IntervalRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let Some(ended) = row.at.checked_add(BIN) else { return };
        station.reach(ended);
        let (from, to) = (station.from, station.to);
        if let Some(workload) = station.workloads.get_mut(usize::from(row.workload)) {
            workload.interval(row.at, ended, row.bytes_down.saturating_add(row.bytes_up), from, to);
        }
    }

    pub(crate) fn link(&mut self, row: &LinkRow) {
        if let Some(station) = self.stations.get_mut(usize::from(row.station)) {
            station.evidence.wifi.link(row);
        }
    }

    pub(crate) fn air(&mut self, row: &AirRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let Some(ended) = row.at.checked_add(BIN) else {
            return;
        };
        // The whole run's judged time, for every station: shares are of the same air.
        let inside = ended
            .min(self.end)
            .checked_since(row.at.max(self.warmup))
            .unwrap_or_default();
        let airtime = u128::from(row.airtime_down.as_nanos()) + u128::from(row.airtime_up.as_nanos());
        let held = &mut station.evidence.airtime;
        *held = held.saturating_add(airtime * u128::from(inside.as_nanos()));
    }

    pub(crate) fn event(&mut self, row: &EventRow) {
        match row.kind {
            // What was said last counts: clocks are compared before the run and after.
            EventKind::Health => {
                if let Ok(health) = serde_json::from_str::<Health>(&row.text) {
                    self.health
                        .retain(|before| before.name != health.name || before.role != health.role);
                    self.health.push(health);
                }
            }
            EventKind::Doubt => self.doubts.push(row.text.clone()),
            EventKind::Clock => {
                if let Ok(clock) = serde_json::from_str::<Clock>(&row.text) {
                    // Name alone won't do: a station may be called `server`, and the server drives none.
                    self.clocks
                        .retain(|before| (&before.name, &before.stations) != (&clock.name, &clock.stations));
                    self.clocks.push(clock);
                }
            }
            EventKind::Lost => match row.station {
                Some(number) => {
                    if let Some(station) = self.stations.get_mut(usize::from(number)) {
                        station.evidence.lost.push(lost(&row.text));
                    }
                }
                None => {
                    for station in &mut self.stations {
                        station.evidence.lost.push(lost(&row.text));
                    }
                }
            },
            EventKind::Stall | EventKind::Startup => {
                let workload = row.station.zip(row.workload).and_then(|(station, workload)| {
                    let station = self.stations.get_mut(usize::from(station))?;
                    station.workloads.get_mut(usize::from(workload))
                });
                if let Some(workload) = workload {
                    match row.kind {
                        EventKind::Startup => workload.evidence.startup.push(row.length),
                        _ => workload.stalls.push(Stall {
                            began: row.at,
                            length: Duration::from_nanos(row.length),
                        }),
                    }
                }
            }
            EventKind::Roam => {
                let station = row
                    .station
                    .and_then(|number| self.stations.get_mut(usize::from(number)));
                if let Some(station) = station {
                    station.evidence.wifi.event(row.kind, row.length);
                }
            }
            EventKind::Change | EventKind::Rate | EventKind::Warning => {}
        }
    }

    /// All that was counted. Where the run didn't end as planned, or a station was lost, its judged time ends with the
    /// last of its rows.
    pub(crate) fn finish(mut self, ending: &Ending) -> RunEvidence {
        for station in &self.stations {
            self.reached = self.reached.max(station.reached);
        }
        let (reached, whole, one_clock) = (self.reached, *ending == Ending::Complete, self.one_clock);
        let clocks = &self.clocks;
        let known = |name: &String| match one_clock {
            true => Clocks::One,
            false => Clocks::known(clocks, name),
        };
        let named = self.stations.into_iter().zip(&self.names);
        let stations = named
            .map(|(station, name)| station.finish(whole, known(name)))
            .collect();
        let end = if whole { self.end } else { self.end.min(reached) };
        RunEvidence {
            stations,
            judged: end.checked_since(self.warmup).unwrap_or_default(),
            health: self.health,
            clocks: self.clocks,
            doubts: self.doubts,
            reached: reached.as_nanos(),
        }
    }
}

impl<'a> Clocks<'a> {
    /// Those of a fleet, where both were compared before the run and after, and neither jumped.
    fn known(clocks: &'a [Clock], station: &String) -> Clocks<'a> {
        let sound = |clock: &&Clock| clock.drift_error_ppm.is_some() && clock.jump_ns.is_none();
        let mut sound = clocks.iter().filter(sound);
        let server = sound.clone().find(|clock| clock.stations.is_empty());
        match sound.find(|clock| clock.stations.contains(station)).zip(server) {
            Some((station, server)) => Clocks::Known { station, server },
            None => Clocks::Unknown,
        }
    }

    /// How long a probe took there and back, each but for the clocks' offset, which is the same for all.
    fn delays(self, one: &OneWay) -> Option<(i64, i64)> {
        let [sent, there, back, received] = *one;
        let (own, far) = match self {
            Clocks::One => return Some((there.wrapping_sub(sent), received.wrapping_sub(back))),
            Clocks::Known { station, server } => (station, server),
            Clocks::Unknown => return None,
        };
        let common = |clock: &Clock, at| clock.to_common(Instant::from_nanos(at)).as_nanos();
        let up = common(far, there).wrapping_sub(common(own, sent));
        let down = common(own, received).wrapping_sub(common(far, back));
        Some((up, down))
    }
}

/// The longest run that is counted: a plan lasts 30 days at most.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);

fn lost(text: &str) -> String {
    match text {
        "" => "its agent was lost".to_owned(),
        text => text.to_owned(),
    }
}

impl StationCounter {
    fn reach(&mut self, at: Instant) {
        self.reached = self.reached.max(at);
    }

    fn finish(self, whole: bool, clocks: Clocks<'_>) -> StationEvidence {
        let mut evidence = self.evidence;
        let to = match whole && evidence.lost.is_empty() {
            true => self.to,
            false => self.to.min(self.reached),
        };
        evidence.judged = to.checked_since(self.from).unwrap_or_default();
        evidence.workloads = self
            .workloads
            .into_iter()
            .map(|workload| workload.finish(self.from, to, clocks))
            .collect();
        evidence
    }
}

impl WorkloadCounter {
    fn new(config: &Config) -> Self {
        let limit = |goal: &Goal| match goal {
            Goal::Latency { limit } => Some(*limit),
            Goal::Rate { .. } | Goal::NoStall => None,
        };
        let limit = config.goals.iter().filter_map(limit).min();
        WorkloadCounter {
            limit,
            longest: 0,
            first_due: None,
            bins: config
                .goals
                .iter()
                .any(|goal| matches!(goal, Goal::Rate { .. }))
                .then(Vec::new),
            stalls: Vec::new(),
            answered: None,
            one_way: Vec::new(),
            evidence: WorkloadEvidence {
                goals: vec![Tally::default(); config.goals.len()],
                late: limit.map(|_| 0),
                ..WorkloadEvidence::default()
            },
            config: config.clone(),
        }
    }

    fn operation(&mut self, operation: &Operation, from: Instant) {
        self.first_due = Some(self.first_due.map_or(operation.due, |first| first.min(operation.due)));
        if operation.due < from || operation.outcome == Outcome::Cut {
            return;
        }
        let latency = operation.latency().map(Duration::as_nanos);
        let evidence = &mut self.evidence;
        count(&mut evidence.counts, operation.outcome, latency.is_some());
        if let Some(latency) = latency {
            evidence.latency.push(latency);
            evidence.lengths.put(operation.bytes);
            self.longest = self.longest.max(latency);
        }
        for (goal, tally) in self.config.goals.iter().zip(&mut evidence.goals) {
            if let Goal::Latency { limit } = goal {
                tally.samples += 1;
                tally.met += u64::from(latency.is_some_and(|latency| latency <= limit.as_nanos()));
            }
        }
        if let (Some(limit), Some(late)) = (self.limit, &mut evidence.late) {
            *late += u64::from(latency.is_none_or(|latency| latency > limit.as_nanos()));
        }
        if operation.outcome == Outcome::Failed(Failure::Dial) {
            evidence.undialled += 1;
        }
        let span = |from: Option<Instant>, to: Option<Instant>| to?.checked_since(from?).map(Duration::as_nanos);
        evidence.dial.extend(span(operation.started, operation.connected));
        match span(Some(operation.due), operation.first_byte) {
            Some(span) => evidence.first_byte.push(span),
            None => evidence.byteless += 1,
        }
        if self.config.kind == Kind::Probe && latency.is_some() {
            self.answer(operation);
        }
    }

    /// A datagram that came back.
    fn answer(&mut self, operation: &Operation) {
        match self.answered {
            Some(highest) if operation.sequence < highest => self.evidence.reordered += 1,
            _ => self.answered = Some(operation.sequence),
        }
        if let (Some(far), Some(started), Some(finished)) = (operation.far, operation.started, operation.finished) {
            self.one_way
                .push([started.as_nanos(), far.received, far.sent, finished.as_nanos()]);
        }
    }

    fn interval(&mut self, at: Instant, ended: Instant, bytes: u64, from: Instant, to: Instant) {
        let inside = ended.min(to).checked_since(at.max(from)).unwrap_or_default();
        self.evidence.moved += u128::from(bytes) * u128::from(inside.as_nanos());
        let index = usize::try_from(at.as_nanos() / BIN.as_nanos() as i64);
        if let (Some(bins), Ok(index)) = (&mut self.bins, index)
            && at >= Instant::ZERO
            && at < to
        {
            if bins.len() <= index {
                bins.resize(index + 1, 0);
            }
            bins[index] = bins[index].saturating_add(bytes);
        }
    }

    fn finish(self, from: Instant, to: Instant, clocks: Clocks<'_>) -> WorkloadEvidence {
        let first = self.first_due.map(|due| due.max(from));
        let mut evidence = self.evidence;
        let watched = match (first, self.config.player) {
            (Some(first), Some(_)) => Tally::of_stalls(&self.stalls, first, to),
            _ => Tally::default(),
        };
        for (goal, tally) in self.config.goals.iter().zip(&mut evidence.goals) {
            match goal {
                Goal::Latency { limit } => {
                    let finished = evidence.counts.finished > 0;
                    tally.worst = finished.then(|| self.longest as f64 / limit.as_nanos() as f64);
                }
                Goal::Rate { .. } => {
                    let bins = self.bins.iter().flatten().zip(0..);
                    let bins = bins.map(|(bytes, index)| (Instant::ZERO + BIN * index, *bytes));
                    *tally = first.map_or(Tally::default(), |first| windows(bins, *goal, first, to));
                }
                Goal::NoStall => *tally = watched,
            }
        }
        evidence.watched = watched;
        evidence.longest_stall = self
            .stalls
            .iter()
            .map(|stall| stall.length.as_nanos())
            .max()
            .unwrap_or(0);
        let delays = self.one_way.iter().filter_map(|one| clocks.delays(one));
        let (mut up, mut down): (Vec<i64>, Vec<i64>) = delays.unzip();
        (evidence.up, evidence.down) = (above_least(&mut up), above_least(&mut down));
        evidence
    }
}

fn count(counts: &mut Counts, outcome: Outcome, ended: bool) {
    *match outcome {
        Outcome::Finished if ended => &mut counts.finished,
        Outcome::TimedOut => &mut counts.timed_out,
        Outcome::Missed => &mut counts.missed,
        Outcome::Unfinished => &mut counts.unfinished,
        // One that claims to have finished, but not when or before it was due, is broken.
        Outcome::Failed(_) | Outcome::Finished | Outcome::Cut => &mut counts.failed,
    } += 1;
}

/// One-way delays by two clocks that run alike: their offset is unknown, but what is above the least is queueing.
fn above_least(delays: &mut Vec<i64>) -> Vec<u64> {
    let least = delays.iter().min().copied().unwrap_or(0);
    std::mem::take(delays)
        .into_iter()
        .map(|delay| delay.abs_diff(least))
        .collect()
}
