//! Counts of one workload.

use crate::DscpArrivals;
use crate::aggregate::{Counted, EvaluatedTime, LoadDirection};
use crate::kinds::probe::Clocks;
use crate::kinds::{End, KindCounters};
use crate::row::{EventRow, IntervalRow};
use crate::summary::evidence::WorkloadEvidence;
use netburn_units::{Duration, Instant};
use netburn_workload::config::BIN;
use netburn_workload::verdict::windows;
use netburn_workload::{Config, Failure, Goal, Outcome, Tally};

#[derive(Debug)]
pub(super) struct WorkloadCounter {
    config: Config,
    /// Start of the station's load.
    load: Instant,
    longest: u64,
    first_due: Option<Instant>,
    /// Bytes by 100 ms since the run began, if a goal for the throughput needs them.
    bins: Option<Vec<u64>>,
    evidence: WorkloadEvidence,
}

/// True if a goal is a rate of the throughput. Where it is a rate of something else, such as segments, the results of the
/// kind decide.
fn needs_bins(config: &Config) -> bool {
    let has_rate = config.goals.iter().any(|goal| matches!(goal, Goal::Rate { .. }));
    has_rate && config.kind().rate_noun.is_none()
}

impl WorkloadCounter {
    /// `load` is the start of the station's load. `tls`: connections to the server use TLS.
    pub(super) fn new(config: &Config, load: Instant, tls: bool) -> Self {
        WorkloadCounter {
            load,
            longest: 0,
            first_due: None,
            bins: needs_bins(config).then(Vec::new),
            evidence: WorkloadEvidence {
                goals: vec![Tally::default(); config.goals.len()],
                results: KindCounters::new(config, tls),
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
        self.evidence.results.operation(&self.config, counted, load);
        if self.config.is_load(operation.sequence) {
            if operation.has_failed() {
                self.evidence.counts.put(operation.outcome, false);
            }
            return;
        }
        let evidence = &mut self.evidence;
        evidence.counts.put(operation.outcome, latency.is_some());
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
    }

    /// Records a stall or the startup of the player.
    pub(super) fn event(&mut self, row: &EventRow) {
        self.evidence.results.event(row);
    }

    /// Records the DSCP with which packets arrived. Packets with another DSCP than the workload's are not its packets.
    pub(super) fn dscp(&mut self, arrivals: &DscpArrivals) {
        if arrivals.sent.value() == self.config.marking().dscp {
            self.evidence.add_dscp(arrivals);
        }
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
        let active: Vec<EvaluatedTime> = self.active(evaluated).collect();
        let judged = self.judged(evaluated);
        let mut evidence = std::mem::take(&mut self.evidence);
        evidence.active = active.iter().map(EvaluatedTime::length).sum();
        for (goal, tally) in self.config.goals.iter().zip(&mut evidence.goals) {
            match goal {
                Goal::Latency { limit } => {
                    let finished = evidence.counts.finished > 0;
                    tally.worst = finished.then(|| self.longest as f64 / limit.as_nanos() as f64);
                }
                Goal::Rate { .. } if self.bins.is_some() => {
                    for part in &judged {
                        tally.add(&windows(self.bins(*part), *goal, part.from, part.to));
                    }
                }
                // The results of the kind decide.
                _ => {}
            }
        }
        let end = End {
            config: &self.config,
            active: &active,
            judged: &judged,
            clocks,
            operations: evidence.counts.all(),
        };
        evidence.results.finish(&end, &mut evidence.goals);
        evidence
    }
}
