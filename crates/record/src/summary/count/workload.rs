//! Counts of one workload, and one-way delays between two clocks.

use super::packets::Packets;
use super::responsiveness::Probes;
use super::{streams, voice};
use crate::DscpArrivals;
use crate::aggregate::{Counted, EvaluatedTime, LoadDirection};
use crate::health::Clock;
use crate::row::IntervalRow;
use crate::summary::evidence::{Counts, WorkloadEvidence};
use crate::summary::segments::SegmentsEvidence;
use netburn_units::{Duration, Instant};
use netburn_workload::config::BIN;
use netburn_workload::kinds::packets::Rating;
use netburn_workload::kinds::responsiveness::Part;
use netburn_workload::verdict::windows;
use netburn_workload::{Config, Failure, Goal, Operation, Outcome, Stall, Tally};

#[derive(Debug)]
pub(super) struct WorkloadCounter {
    config: Config,
    /// Start of the station's load.
    load: Instant,
    longest: u64,
    first_due: Option<Instant>,
    /// Bytes by 100 ms since the run began, if a goal needs them.
    bins: Option<Vec<u64>>,
    stalls: Vec<Stall>,
    /// The highest sequence number that was answered.
    answered: Option<u64>,
    /// One-way times of probes: departure and arrival by the station's clock, in between by the
    /// server's.
    one_way: Vec<OneWay>,
    /// Packets of a workload whose datagrams are not answered.
    packets: Option<Packets>,
    /// Probes of a workload of kind `responsiveness`.
    probes: Option<Probes>,
    evidence: WorkloadEvidence,
}

/// Sent, received by the server, returned, received: each by the clock of its device, in ns.
pub(super) type OneWay = [i64; 4];

/// Times of a probe that the server returned; `None` without the server's timestamps.
pub(super) fn one_way(operation: &Operation) -> Option<OneWay> {
    let (far, started, finished) = (operation.far?, operation.started?, operation.finished?);
    Some([started.as_nanos(), far.received, far.sent, finished.as_nanos()])
}

/// Relation between the clocks of a station and the server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Clocks<'a> {
    One,
    Known { station: &'a Clock, server: &'a Clock },
    Unknown,
}

impl WorkloadCounter {
    /// `load` is the start of the station's load. `tls`: connections to the server use TLS.
    pub(super) fn new(config: &Config, load: Instant, tls: bool) -> Self {
        WorkloadCounter {
            load,
            longest: 0,
            first_due: None,
            bins: config
                .goals
                .iter()
                .any(|goal| matches!(goal, Goal::Rate { .. }) && config.dash().is_none())
                .then(Vec::new),
            stalls: Vec::new(),
            answered: None,
            one_way: Vec::new(),
            packets: config.kind().is_one_way().then(Packets::default),
            probes: config.responsiveness().map(|_| Probes::new(config, tls)),
            evidence: WorkloadEvidence {
                goals: vec![Tally::default(); config.goals.len()],
                segments: config.dash().map(SegmentsEvidence::new),
                ..WorkloadEvidence::default()
            },
            config: config.clone(),
        }
    }

    /// Returns whether its operations are datagrams.
    pub(super) fn is_datagram(&self) -> bool {
        self.config.kind().is_datagram()
    }

    /// Records a warning of the agent about this workload. The first one counts.
    pub(super) fn warning(&mut self, text: &str) {
        self.evidence.warning.get_or_insert_with(|| text.to_owned());
    }

    /// Records the due time of an operation, which need not count.
    pub(super) fn due(&mut self, due: Instant) {
        self.first_due = Some(self.first_due.map_or(due, |first| first.min(due)));
    }

    /// Counts an operation of the evaluated time. `load` is the bulk load of the network when it was due.
    pub(super) fn operation(&mut self, counted: &Counted<'_>, load: Option<LoadDirection>) {
        let operation = counted.operation;
        let latency = counted.latency.map(Duration::as_nanos);
        if let Some(probes) = &mut self.probes {
            let counts = probes.put(operation, latency.is_some());
            if Part::from_sequence(operation.sequence) == Part::Load {
                if counts {
                    count(&mut self.evidence.counts, operation.outcome, false);
                }
                return;
            }
        }
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
                tally.met += u64::from(!counted.exceeds(*limit));
            }
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
        if let (Some(_), Some(latency)) = (self.config.target(), latency) {
            if let Some(load) = load {
                self.evidence.loaded.put(load, latency);
            }
            self.answer(operation);
        }
        if let (Some(dash), Some(segments), Some(_)) = (self.config.dash(), &mut self.evidence.segments, latency) {
            segments.put(dash, operation);
        }
        if let Some(packets) = &mut self.packets {
            packets.put(operation, counted.latency);
        }
    }

    /// Records the startup of the player, in ns after it was started.
    pub(super) fn startup(&mut self, length: u64) {
        self.evidence.startup.push(length);
    }

    /// Records a stall of the player, in ns.
    pub(super) fn stall(&mut self, began: Instant, length: u64) {
        let length = Duration::from_nanos(length);
        self.stalls.push(Stall { began, length });
    }

    /// Records the DSCP with which packets arrived. Packets with another DSCP than the workload's are not its packets.
    pub(super) fn dscp(&mut self, arrivals: &DscpArrivals) {
        if arrivals.sent.value() == self.config.marking().dscp {
            self.evidence.add_dscp(arrivals);
        }
    }

    /// Records a datagram that returned.
    fn answer(&mut self, operation: &Operation) {
        match self.answered {
            Some(highest) if operation.sequence < highest => self.evidence.reordered += 1,
            _ => self.answered = Some(operation.sequence),
        }
        self.one_way.extend(one_way(operation));
    }

    pub(super) fn interval(&mut self, row: &IntervalRow, evaluated: EvaluatedTime) {
        let bytes = row.bytes();
        self.evidence.moved += self.weigh(bytes, row.at, evaluated);
        let index = usize::try_from(row.at.as_nanos() / BIN.as_nanos() as i64);
        if let (Some(bins), Ok(index)) = (&mut self.bins, index)
            && row.at >= Instant::ZERO
            && row.at < evaluated.to
        {
            if bins.len() <= index {
                bins.resize(index + 1, 0);
            }
            bins[index] = bins[index].saturating_add(bytes);
        }
    }

    /// As [`EvaluatedTime::weigh`], for the time in which the workload runs.
    fn weigh(&self, bytes: u64, at: Instant, evaluated: EvaluatedTime) -> u128 {
        let Some(ended) = at.checked_add(BIN) else { return 0 };
        let from = self.load.max(at);
        let windows = self.config.windows(from, evaluated.to.min(ended));
        let parts = windows.map(|window| EvaluatedTime {
            from: window.from.max(evaluated.from),
            to: window.to,
        });
        parts.map(|part| part.weigh(bytes, at)).sum()
    }

    /// The evaluated parts of the windows in which the workload runs.
    fn active(&self, evaluated: EvaluatedTime) -> impl Iterator<Item = EvaluatedTime> + '_ {
        self.parts(evaluated, Duration::ZERO)
    }

    /// The same, each from the first due time in the window on. Empty without an operation.
    fn judged(&self, evaluated: EvaluatedTime) -> Vec<EvaluatedTime> {
        let Some(first) = self.first_due else { return Vec::new() };
        // Operations are due at the same offsets in each window.
        let end = first.checked_add(Duration::from_nanos(1)).unwrap_or(first);
        let window = self.config.windows(self.load, end).last_window();
        let phase = window.and_then(|window| first.checked_since(window.from));
        self.parts(evaluated, phase.unwrap_or_default()).collect()
    }

    /// The evaluated parts of the windows, each from `phase` after the start of its window on.
    fn parts(&self, evaluated: EvaluatedTime, phase: Duration) -> impl Iterator<Item = EvaluatedTime> + '_ {
        let windows = self.config.windows(self.load, evaluated.to);
        windows.filter_map(move |window| {
            let from = window.from.checked_add(phase)?.max(evaluated.from);
            (from < window.to).then_some(EvaluatedTime { from, to: window.to })
        })
    }

    /// Bytes of the 100 ms intervals that a part contains.
    fn bins(&self, part: EvaluatedTime) -> impl Iterator<Item = (Instant, u64)> + '_ {
        let index = |at: Instant| usize::try_from(at.as_nanos() / BIN.as_nanos() as i64).unwrap_or(0);
        let first = index(part.from);
        let count = (index(part.to) + 1).saturating_sub(first);
        let bins = self.bins.iter().flatten().enumerate().skip(first).take(count);
        bins.map(|(index, bytes)| (Instant::ZERO + BIN * index as u64, *bytes))
    }

    pub(super) fn finish(mut self, evaluated: EvaluatedTime, clocks: Clocks<'_>) -> WorkloadEvidence {
        let parts = self.judged(evaluated);
        let mut evidence = std::mem::take(&mut self.evidence);
        evidence.judged = self.active(evaluated).map(|part| part.length()).sum();
        let mut watched = Tally::default();
        if self.config.playback().is_some() {
            for part in &parts {
                watched.add(&Tally::from_stalls(&self.stalls, part.from, part.to));
            }
        }
        for (goal, tally) in self.config.goals.iter().zip(&mut evidence.goals) {
            match goal {
                Goal::Latency { limit } => {
                    let finished = evidence.counts.finished > 0;
                    tally.worst = finished.then(|| self.longest as f64 / limit.as_nanos() as f64);
                }
                Goal::Rate { at_least, .. } => match &evidence.segments {
                    Some(segments) => *tally = segments.tally(*at_least, evidence.counts.all()),
                    None => {
                        for part in &parts {
                            tally.add(&windows(self.bins(*part), *goal, part.from, part.to));
                        }
                    }
                },
                Goal::NoStall => *tally = watched,
                Goal::Quality { .. }
                | Goal::Loss { .. }
                | Goal::NoGap
                | Goal::NoFreeze
                | Goal::Frames
                | Goal::Rpm { .. } => {}
            }
        }
        if let Some(probes) = self.probes.take() {
            let active: Vec<EvaluatedTime> = self.active(evaluated).collect();
            let (found, tallies) = probes.finish(&self.config, &active, &parts);
            (evidence.responsiveness, evidence.goals) = (Some(found), tallies);
        }
        // Packets that are not answered have one window.
        let part = parts.first().copied();
        match self.packets {
            Some(packets) if self.config.rating() == Some(Rating::Voice) => {
                let (voice, tallies) = voice::finish(packets, &self.config, part);
                (evidence.voice, evidence.goals) = (Some(voice), tallies);
            }
            Some(packets) => {
                let (streams, tallies) = streams::finish(packets, &self.config, part);
                (evidence.streams, evidence.goals) = (Some(streams), tallies);
            }
            None => {}
        }
        evidence.watched = watched;
        // Of the same time as `watched`.
        let stalls = parts.iter().flat_map(|part| {
            let stalls = self.stalls.iter();
            stalls.map(|stall| stall.within(part.from, part.to).as_nanos())
        });
        evidence.longest_stall = stalls.max().unwrap_or(0);
        let delays = self.one_way.iter().filter_map(|one| clocks.delays(one));
        let (mut up, mut down): (Vec<i64>, Vec<i64>) = delays.unzip();
        (evidence.up, evidence.down) = (above_least(&mut up), above_least(&mut down));
        evidence
    }
}

impl<'a> Clocks<'a> {
    /// Clocks of a fleet, if both were compared before and after the run and neither jumped.
    pub(super) fn known(clocks: &'a [Clock], station: &String) -> Clocks<'a> {
        let sound = |clock: &&Clock| clock.drift_error_ppm.is_some() && clock.jump_ns.is_none();
        let mut sound = clocks.iter().filter(sound);
        let server = sound.clone().find(|clock| clock.stations.is_empty());
        match sound.find(|clock| clock.stations.contains(station)).zip(server) {
            Some((station, server)) => Clocks::Known { station, server },
            None => Clocks::Unknown,
        }
    }

    /// Returns how long a probe took round trip, each but for the clocks' offset, which is the same
    /// for all.
    pub(super) fn delays(self, one: &OneWay) -> Option<(i64, i64)> {
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

fn count(counts: &mut Counts, outcome: Outcome, ended: bool) {
    *match outcome {
        Outcome::Finished if ended => &mut counts.finished,
        Outcome::TimedOut => &mut counts.timed_out,
        Outcome::NotStarted => &mut counts.not_started,
        Outcome::Unfinished => &mut counts.unfinished,
        // One that claims to have finished, but not when or before it was due, is broken.
        Outcome::Failed(_) | Outcome::Finished | Outcome::Cut => &mut counts.failed,
    } += 1;
}

/// Delays above the minimum. The offset of two clocks without relative drift is unknown, but delay
/// above the minimum is queueing.
fn above_least(delays: &mut Vec<i64>) -> Vec<u64> {
    let least = delays.iter().min().copied().unwrap_or(0);
    std::mem::take(delays)
        .into_iter()
        .map(|delay| delay.abs_diff(least))
        .collect()
}
