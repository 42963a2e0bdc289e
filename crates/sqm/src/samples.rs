//! Rows of a run as samples of the phases of a stage.

use crate::stage::{Load, Phase, Stage};
use netburn_record::Row;
use netburn_units::{Duration, Instant};
use netburn_workload::{Direction, Failure, Operation, Outcome, ProbeTarget};

/// Time at the beginning of a transfer that is not used: TCP finds its rate.
pub const SETTLING: Duration = Duration::from_secs(2);
/// Length of an interval of goodput.
pub const WINDOW: Duration = Duration::from_millis(100);
/// Most samples of a phase that are kept, which is 10 s at the highest rate of datagrams. A foreign record can have more.
const MAX_SAMPLES: usize = 200_000;

/// Datagrams of one phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Direction.
    pub direction: Direction,
    /// Length of the IP packet in bytes.
    pub size: u32,
    /// Start of the phase.
    pub start: Instant,
    /// Length of the phase, or of its part that was played.
    pub length: Duration,
    /// Number of packets that were due, without those in flight at the end of the measurement.
    pub sent: u64,
    /// Arrival and due time of each packet that arrived, in any order.
    pub arrivals: Vec<(Instant, Instant)>,
}

/// A transfer over TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Direction.
    pub direction: Direction,
    /// Bytes of content in each [`WINDOW`] after the settling time.
    pub windows: Vec<u64>,
    /// Round trips meanwhile.
    pub probes: Probes,
}

/// Round trips to each target, of the probes that were due in a phase.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Probes {
    /// To the router or the access point.
    pub near: Vec<Duration>,
    /// To the first hop beyond the router.
    pub line: Vec<Duration>,
    /// To the server.
    pub server: Vec<Duration>,
    /// Number of probes to the server without an answer.
    pub unanswered: u64,
}

/// Samples of the phases of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Samples {
    /// Idle phases, in the order of time.
    pub idle: Vec<Probes>,
    /// Transfers.
    pub transfers: Vec<Transfer>,
    /// Streams of datagrams.
    pub streams: Vec<Stream>,
}

/// Collects the rows of a stage.
#[derive(Debug)]
pub struct Collector {
    stage: Stage,
    /// Bytes of IP and UDP before the payload of a datagram.
    headers: u32,
    probes: Vec<Probes>,
    windows: Vec<Vec<u64>>,
    arrivals: Vec<Vec<(Instant, Instant)>>,
    sent: Vec<u64>,
    /// Last due time of a packet.
    last_due: Vec<Option<Instant>>,
}

impl Collector {
    /// Collects rows of the station of this stage.
    #[must_use]
    pub fn new(stage: &Stage, headers: u32) -> Self {
        let count = stage.phases.len();
        let windows = stage.phases.iter().map(|phase| {
            let used = phase.length.saturating_sub(SETTLING).as_nanos() / WINDOW.as_nanos();
            vec![0; usize::try_from(used).unwrap_or(0)]
        });
        Collector {
            headers,
            probes: vec![Probes::default(); count],
            windows: windows.collect(),
            arrivals: vec![Vec::new(); count],
            sent: vec![0; count],
            last_due: vec![None; count],
            stage: stage.clone(),
        }
    }

    /// Takes a row. Rows of other stations and workloads are ignored.
    pub fn put(&mut self, row: &Row) {
        match row {
            Row::Operation(own) if own.station == 0 => self.operation(own.workload, &own.operation),
            Row::Interval(own) if own.station == 0 => {
                let Some(phase) = self.phase_of(own.workload) else {
                    return;
                };
                let begin = Instant::ZERO + self.stage.phases[phase].start + SETTLING;
                let Some(since) = own.at.checked_since(begin) else {
                    return;
                };
                let window = usize::try_from(since.as_nanos() / WINDOW.as_nanos()).unwrap_or(usize::MAX);
                if let Some(bytes) = self.windows[phase].get_mut(window) {
                    *bytes = bytes.saturating_add(own.bytes());
                }
            }
            _ => {}
        }
    }

    fn operation(&mut self, workload: u16, operation: &Operation) {
        let targets = self.stage.targets();
        if let Some(target) = targets.get(usize::from(workload)) {
            self.probe(*target, operation);
            return;
        }
        let Some(phase) = self.phase_of(workload) else { return };
        if !matches!(self.stage.phases[phase].load, Load::Packets { .. }) || operation.outcome == Outcome::NotStarted {
            return;
        }
        self.last_due[phase] = self.last_due[phase].max(Some(operation.due));
        if is_in_flight(operation.outcome) {
            return;
        }
        self.sent[phase] += 1;
        let arrivals = &mut self.arrivals[phase];
        if let (Outcome::Finished, Some(at)) = (operation.outcome, operation.finished)
            && arrivals.len() < MAX_SAMPLES
        {
            arrivals.push((at, operation.due));
        }
    }

    fn probe(&mut self, target: ProbeTarget, operation: &Operation) {
        let within = self.stage.phases.iter().position(|phase| {
            let settling = if phase.load == Load::Idle {
                Duration::ZERO
            } else {
                SETTLING
            };
            let begin = Instant::ZERO + phase.start + settling;
            (begin..Instant::ZERO + phase.end()).contains(&operation.due)
        });
        let Some(phase) = within else { return };
        let probes = &mut self.probes[phase];
        if is_in_flight(operation.outcome) {
            return;
        }
        let Some(latency) = operation.latency() else {
            probes.unanswered += u64::from(target == ProbeTarget::Server);
            return;
        };
        let own = match target {
            ProbeTarget::Near => &mut probes.near,
            ProbeTarget::Line => &mut probes.line,
            ProbeTarget::Server => &mut probes.server,
        };
        if own.len() < MAX_SAMPLES {
            own.push(latency);
        }
    }

    /// Phase of a workload with load.
    fn phase_of(&self, workload: u16) -> Option<usize> {
        let load = usize::from(workload).checked_sub(self.stage.targets().len())?;
        let mut loaded = (0..self.stage.phases.len()).filter(|number| self.stage.phases[*number].load != Load::Idle);
        loaded.nth(load)
    }

    /// The samples of all phases.
    #[must_use]
    pub fn finish(mut self) -> Samples {
        let mut samples = Samples::default();
        for (number, phase) in self.stage.phases.iter().enumerate() {
            match phase.load {
                Load::Idle => samples.idle.push(std::mem::take(&mut self.probes[number])),
                Load::Transfer(direction) => samples.transfers.push(Transfer {
                    direction,
                    windows: std::mem::take(&mut self.windows[number]),
                    probes: std::mem::take(&mut self.probes[number]),
                }),
                Load::Packets { direction, payload, .. } => samples.streams.push(Stream {
                    direction,
                    size: payload + self.headers,
                    start: Instant::ZERO + phase.start,
                    length: played(phase, self.last_due[number]),
                    sent: self.sent[number],
                    arrivals: std::mem::take(&mut self.arrivals[number]),
                }),
            }
        }
        samples
    }
}

impl Samples {
    /// Adds the samples of a later stage.
    pub fn add(&mut self, later: Samples) {
        self.idle.extend(later.idle);
        self.transfers.extend(later.transfers);
        self.streams.extend(later.streams);
    }
}

/// True if the measurement ended before the fate of a packet was known. Such a packet is not lost.
fn is_in_flight(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Cut | Outcome::Unfinished | Outcome::Failed(Failure::Stopped)
    )
}

/// Part of a phase of packets that was played, to the end of the interval of the last packet.
fn played(phase: &Phase, last_due: Option<Instant>) -> Duration {
    let begin = Instant::ZERO + phase.start;
    match (phase.load, last_due.and_then(|due| due.checked_since(begin))) {
        (Load::Packets { rate, .. }, Some(since)) => {
            let interval = Duration::from_nanos(1_000_000_000 / rate.max(1));
            phase.length.min(since + interval)
        }
        _ => phase.length,
    }
}

/// A percentile of samples: the smallest that this share is not above; `None` without samples.
#[must_use]
pub fn percentile(samples: &[Duration], percent: usize) -> Option<Duration> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent.min(100)).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::row::OperationRow;

    /// Of ten packets per second in a phase of 3 s that ended after 2 s, one was lost, and three were in flight.
    #[test]
    fn packets_in_flight_at_the_end_are_not_lost() {
        let mut stage = Stage::default();
        let load = Load::Packets {
            direction: Direction::Up,
            payload: 1000,
            rate: 10,
        };
        stage.add(load, Duration::from_secs(3), Duration::ZERO);
        let mut collector = Collector::new(&stage, 28);
        for number in 0..20 {
            let due = Instant::ZERO + Duration::from_millis(number * 100);
            let outcome = match number {
                5 => Outcome::TimedOut,
                17 => Outcome::Unfinished,
                18 => Outcome::Cut,
                19 => Outcome::Failed(Failure::Stopped),
                _ => Outcome::Finished,
            };
            collector.put(&Row::Operation(OperationRow {
                station: 0,
                workload: 0,
                operation: Operation {
                    sequence: number,
                    due,
                    finished: (outcome == Outcome::Finished).then_some(due + Duration::from_millis(20)),
                    outcome,
                    ..Operation::default()
                },
            }));
        }
        let samples = collector.finish();
        let stream = &samples.streams[0];
        assert_eq!((stream.sent, stream.arrivals.len()), (17, 16));
        assert_eq!(stream.length, Duration::from_secs(2));
    }
}
