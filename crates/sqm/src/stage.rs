//! Stages of a measurement: phases that one run of a plan plays.
//!
//! A stage is the workloads of one station in a scenario. So the simulator, a lab and this computer play the same stage.

use netburn_units::{BitRate, ByteSize, Duration};
use netburn_workload::{Direction, ProbeTarget};
use std::fmt::Write as _;

/// Name of the station.
pub const STATION: &str = "computer";
/// Interval of the probes to each target.
pub const PROBE_INTERVAL: Duration = Duration::from_millis(50);
/// Number of connections of a transfer. One may be limited by its window or by a loss.
pub const CONNECTIONS: u32 = 4;
/// Highest rate of datagrams in packets per second, which a server of netburn sends to one client.
pub const MAX_PACKETS: u64 = 9_900;
/// Largest UDP payload of a datagram in bytes.
pub const MAX_PAYLOAD: u32 = 1400;
/// Smallest UDP payload of a datagram in bytes.
pub const MIN_PAYLOAD: u32 = 32;
/// Bytes of IPv4 and UDP before the payload.
pub const HEADERS_V4: u32 = 28;
/// Bytes of IPv6 and UDP before the payload.
pub const HEADERS_V6: u32 = 48;

/// Load of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// Nothing but probes.
    Idle,
    /// TCP connections.
    Transfer(Direction),
    /// Datagrams at a constant rate.
    Packets {
        /// Direction.
        direction: Direction,
        /// UDP payload in bytes.
        payload: u32,
        /// Packets per second, up to [`MAX_PACKETS`].
        rate: u64,
    },
}

/// A time with one load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// Start, since the start of the run's load.
    pub start: Duration,
    /// Length.
    pub length: Duration,
    /// Load.
    pub load: Load,
}

/// Phases that one run plays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stage {
    /// Phases in the order of time, without overlap.
    pub phases: Vec<Phase>,
    /// Time after the last phase in which queues become empty.
    pub pause: Duration,
}

impl Stage {
    /// Adds a phase, and a pause after it.
    pub fn add(&mut self, load: Load, length: Duration, pause: Duration) {
        self.phases.push(Phase {
            start: self.duration(),
            length,
            load,
        });
        self.pause = pause;
    }

    /// Length with the last pause.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.phases
            .last()
            .map_or(Duration::ZERO, |last| last.start + last.length)
            + self.pause
    }

    /// Probes are sent during the whole stage if it measures their round trips.
    #[must_use]
    pub fn has_probes(&self) -> bool {
        self.phases
            .iter()
            .any(|phase| !matches!(phase.load, Load::Packets { .. }))
    }

    /// True if the stage has only streams of the largest datagrams.
    #[must_use]
    pub fn is_saturation(&self) -> bool {
        let is_largest = |phase: &Phase| {
            matches!(
                phase.load,
                Load::Packets {
                    payload: MAX_PAYLOAD,
                    ..
                }
            )
        };
        self.phases.iter().all(is_largest)
    }

    /// Targets of the probes, in the order of the workloads.
    #[must_use]
    pub fn targets(&self) -> &'static [ProbeTarget] {
        if self.has_probes() { ProbeTarget::ALL } else { &[] }
    }

    /// The stage as a scenario. `network` has the sections of a modelled network, and `station` the keys of the station that
    /// connect it, such as `wired = true`; both are empty for a measurement of a real line.
    #[must_use]
    pub fn scenario(&self, network: &str, station: &str) -> String {
        let probes = self.targets().iter().map(|target| format!("to-{}", word(*target)));
        let loads = self.phases.iter().enumerate();
        let loads = loads
            .filter(|(_, phase)| phase.load != Load::Idle)
            .map(|(number, _)| name(number));
        let workloads: Vec<String> = probes.chain(loads).collect();
        let mut text = format!(
            "duration = \"{}\"\nbaseline = \"0 s\"\ndrain = \"2 s\"\n\n{network}\n[station.{STATION}]\n{station}\nworkload = \
             {workloads:?}\n\n",
            self.duration()
        );
        for target in self.targets() {
            let word = word(*target);
            let _ = writeln!(
                text,
                "[workload.to-{word}]\nkind = \"probe\"\ntarget = \"{word}\"\ninterval = \"{PROBE_INTERVAL}\"\ngoal = \"none\"\n"
            );
        }
        for (number, phase) in self.phases.iter().enumerate() {
            text += &section(number, phase);
        }
        text
    }

    /// Content that the stage transfers at most over a line of these rates.
    #[must_use]
    pub fn max_bytes(&self, down: BitRate, up: BitRate) -> ByteSize {
        let bytes = self.phases.iter().map(|phase| match phase.load {
            Load::Idle => 0,
            Load::Transfer(direction) => {
                let rate = match direction {
                    Direction::Down => down,
                    Direction::Up => up,
                };
                scaled(rate.as_bps() / 8, phase.length)
            }
            Load::Packets { payload, rate, .. } => scaled(u64::from(payload) * rate, phase.length),
        });
        ByteSize::from_bytes(bytes.fold(0, u64::saturating_add))
    }
}

impl Phase {
    /// End, since the start of the run's load.
    #[must_use]
    pub fn end(&self) -> Duration {
        self.start + self.length
    }
}

fn scaled(per_second: u64, length: Duration) -> u64 {
    let bytes = u128::from(per_second) * u128::from(length.as_nanos()) / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn name(phase: usize) -> String {
    format!("phase-{}", phase + 1)
}

fn word(target: ProbeTarget) -> &'static str {
    match target {
        ProbeTarget::Near => "near",
        ProbeTarget::Line => "line",
        ProbeTarget::Server => "server",
    }
}

fn section(number: usize, phase: &Phase) -> String {
    let (start, stop) = (phase.start, phase.end());
    let head = format!(
        "[workload.{}]\nstart = \"{start}\"\nstop = \"{stop}\"\ngoal = \"none\"\n",
        name(number)
    );
    match phase.load {
        Load::Idle => String::new(),
        Load::Transfer(direction) => {
            let kind = match direction {
                Direction::Down => "download",
                Direction::Up => "upload",
            };
            format!("{head}kind = \"{kind}\"\nstreams = {CONNECTIONS}\n\n")
        }
        Load::Packets {
            direction,
            payload,
            rate,
        } => {
            let interval = Duration::from_nanos(1_000_000_000 / rate.clamp(1, MAX_PACKETS));
            let key = direction.key();
            format!("{head}kind = \"datagrams\"\n{key} = {{ interval = \"{interval}\", size = \"{payload} B\" }}\n\n")
        }
    }
}
