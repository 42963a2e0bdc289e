//! Rows of a run as samples of the phases of a stage.

use crate::stage::{Load, Stage};
use netburn_record::Row;
use netburn_units::{Duration, Instant};
use netburn_workload::{Direction, Operation, Outcome, ProbeTarget};

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
    /// Length of the phase.
    pub length: Duration,
    /// Number of packets that were due.
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
                    length: phase.length,
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

/// A percentile of samples: the smallest that this share is not above; `None` without samples.
#[must_use]
pub fn percentile(samples: &[Duration], percent: usize) -> Option<Duration> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent.min(100)).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}
