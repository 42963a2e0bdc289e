//! The measurement made for fitting: short phases, each with load of other stations or directions.
//!
//! A schedule is written as sections of a scenario, and read from the plan of a run. So the simulator, the lab and a fleet
//! run it as any other scenario, and a run of another scenario with such workloads can be fitted too.

use netburn_scenario::{Environment, Plan, StationWorkload};
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use netburn_workload::Direction;
use netburn_workload::config::{KindSettings, ProbeTarget};
use netburn_workload::kinds::Bulk;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Maximum number of stations of a fit. A schedule has more than twice as many phases.
pub const MAX_STATIONS: usize = 12;
/// Maximum number of phases of a fit.
pub const MAX_PHASES: usize = 64;
/// Maximum number of connections of a transfer.
pub const MAX_STREAMS: u32 = 64;
/// Minimum length of a phase: TCP needs the first part of it to reach its rate.
pub const MIN_PHASE: Duration = Duration::from_millis(1_500);
/// Probes of a phase that give quantiles: ten after the first quarter.
const PROBES_OF_PHASE: u64 = 14;
/// Longest part of a phase that is simulated for them.
const MAX_USED: Duration = Duration::from_secs(10);
/// Length of the phases of [`Schedule::measure`].
const PHASE: Duration = Duration::from_secs(4);
/// Time between them, in which queues become empty.
const PAUSE: Duration = Duration::from_secs(2);
/// The same in simulations: queues that were filled for a shorter time are empty earlier.
const SIMULATED_PAUSE: Duration = Duration::from_secs(1);
/// Interval of the probes of [`Schedule::measure`]. It gives 30 samples in 1.5 s.
const PROBE_INTERVAL: Duration = Duration::from_millis(50);

/// Phases and probes of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Names of the stations, in the order of the plan.
    pub stations: Vec<String>,
    /// Phases in the order of time, without overlap.
    pub phases: Vec<Phase>,
    /// Probes of each station, with their intervals.
    pub probes: Vec<Vec<(ProbeTarget, Duration)>>,
    /// Role of each workload of each station of the plan; empty for a schedule that was not read from a plan.
    roles: Vec<Vec<Option<Role>>>,
    /// Time from the start of the schedule to that of the plan's load: the idle time before it, if that is the first phase.
    offset: Duration,
}

/// A device that takes part in a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Name of its station.
    pub name: String,
    /// Hosts to which it can send probes.
    pub probes: Vec<ProbeTarget>,
}

/// A time with the same load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Start, since the start of the load.
    pub start: Duration,
    /// Length.
    pub length: Duration,
    /// Transfers, all of them during the whole phase. None: only probes are sent.
    pub flows: Vec<Flow>,
}

/// Transfers of one station in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// Number of the station.
    pub station: usize,
    /// Direction of the content.
    pub direction: Direction,
    /// Number of TCP connections.
    pub streams: u32,
}

/// Role of a workload of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Probe(ProbeTarget),
    /// A transfer in the phase with this number.
    Flow(usize, Direction),
}

/// Reason for which the workloads of a plan are not those of a measurement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoSchedule {
    /// Too many stations.
    #[error("the run has {0} stations, and a fit has at most {MAX_STATIONS}")]
    Stations(usize),
    /// Too many phases.
    #[error("the run has {0} phases, and a fit has at most {MAX_PHASES}")]
    Phases(usize),
    /// A workload that is neither a probe nor a transfer with a start and a stop.
    #[error(
        "the workload `{workload}` of {station} is not part of a measurement for a fit: expected probes, and downloads and \
         uploads with `start` and `stop`, the usual objects, no `cc`, and at most {MAX_STREAMS} connections"
    )]
    Workload {
        /// Name of the station.
        station: String,
        /// Name of the workload.
        workload: String,
    },
    /// Transfers that overlap, but have not the same start and stop.
    #[error("transfers overlap at {at} without being one phase: they need the same `start` and `stop`")]
    Overlap {
        /// Time since the start of the load.
        at: Duration,
    },
    /// No station transfers anything.
    #[error("the run has no load: a fit needs phases with downloads and uploads")]
    Unloaded,
    /// No station sends probes.
    #[error("the run has no probes: a fit needs their latency to separate queues")]
    NoProbes,
    /// All phases are too short.
    #[error("all phases are shorter than {MIN_PHASE}: TCP does not reach its rate in them")]
    TooShort,
}

impl Schedule {
    /// The measurement for these stations, which send probes to all targets. See [`for_devices`](Self::for_devices).
    #[must_use]
    pub fn measure(stations: &[String]) -> Self {
        let devices = stations.iter().map(|name| Device {
            name: name.clone(),
            probes: ProbeTarget::ALL.to_vec(),
        });
        Schedule::for_devices(&devices.collect::<Vec<_>>())
    }

    /// The measurement for these devices: idle, each device alone down and up, pairs, and all devices down and up. Meanwhile
    /// each device sends the probes that it can send.
    #[must_use]
    pub fn for_devices(stations: &[Device]) -> Self {
        let flow = |direction| {
            move |station| Flow {
                station,
                direction,
                streams: 1,
            }
        };
        let all: Vec<usize> = (0..stations.len()).collect();
        let mut loads: Vec<Vec<Flow>> = vec![Vec::new()];
        for direction in [Direction::Down, Direction::Up] {
            loads.extend(all.iter().map(|station| vec![flow(direction)(*station)]));
        }
        if stations.len() > 2 {
            let pairs = all.chunks_exact(2);
            loads.extend(pairs.map(|pair| pair.iter().copied().map(flow(Direction::Down)).collect()));
        }
        if stations.len() > 1 {
            for direction in [Direction::Down, Direction::Up] {
                loads.push(all.iter().copied().map(flow(direction)).collect());
            }
        }
        let mut phases: Vec<Phase> = Vec::new();
        for flows in loads {
            let start = phases.last().map_or(Duration::ZERO, |last| last.end() + PAUSE);
            phases.push(Phase {
                start,
                length: PHASE,
                flows,
            });
        }
        Schedule {
            stations: stations.iter().map(|device| device.name.clone()).collect(),
            phases,
            probes: stations.iter().map(probes_of).collect(),
            roles: Vec::new(),
            offset: Duration::ZERO,
        }
    }

    /// Reads the schedule from the workloads of a plan. Nothing else of the plan is read: neither access points nor signals.
    ///
    /// # Errors
    /// The workloads are not those of a measurement.
    pub fn of_plan(plan: &Plan) -> Result<Self, NoSchedule> {
        Schedule::read(plan, false)
    }

    /// The schedule of a run of another program: one load, which may last until the end of the run. The idle time before the load is
    /// the first phase.
    ///
    /// # Errors
    /// The workloads are not downloads, uploads and probes.
    pub fn of_imported(plan: &Plan) -> Result<Self, NoSchedule> {
        let mut schedule = Schedule::read(plan, true)?;
        let is_idle = |phase: &Phase| phase.flows.is_empty();
        if plan.baseline >= MIN_PHASE && !schedule.phases.iter().any(is_idle) {
            for phase in &mut schedule.phases {
                phase.start += plan.baseline;
            }
            let idle = Phase {
                start: Duration::ZERO,
                length: plan.baseline,
                flows: Vec::new(),
            };
            schedule.phases.insert(0, idle);
            for role in schedule.roles.iter_mut().flatten().flatten() {
                if let Role::Flow(phase, _) = role {
                    *phase += 1;
                }
            }
            schedule.offset = plan.baseline;
        }
        Ok(schedule)
    }

    /// The schedule of a run in this environment: [`of_imported`](Self::of_imported) or [`of_plan`](Self::of_plan).
    ///
    /// # Errors
    /// Those of the two.
    pub fn for_environment(environment: Environment, plan: &Plan) -> Result<Self, NoSchedule> {
        match environment {
            Environment::Imported => Schedule::of_imported(plan),
            _ => Schedule::of_plan(plan),
        }
    }

    fn read(plan: &Plan, is_open: bool) -> Result<Self, NoSchedule> {
        let stations: Vec<String> = plan.stations.iter().map(|station| station.name.clone()).collect();
        if stations.len() > MAX_STATIONS {
            return Err(NoSchedule::Stations(stations.len()));
        }
        let transfers = transfers(plan, is_open)?;
        let mut phases = phases(&transfers)?;
        if phases.is_empty() {
            return Err(NoSchedule::Unloaded);
        }
        let first = phases[0].start;
        if first >= MIN_PHASE {
            let idle = Phase {
                start: Duration::ZERO,
                length: first,
                flows: Vec::new(),
            };
            phases.insert(0, idle);
        }
        if phases.len() > MAX_PHASES {
            return Err(NoSchedule::Phases(phases.len()));
        }
        let loaded = |phase: &&Phase| !phase.flows.is_empty();
        if phases.iter().filter(loaded).all(|phase| phase.length < MIN_PHASE) {
            return Err(NoSchedule::TooShort);
        }
        let (roles, probes) = roles(plan, &phases);
        if probes.iter().all(Vec::is_empty) {
            return Err(NoSchedule::NoProbes);
        }
        Ok(Schedule {
            stations,
            phases,
            probes,
            roles,
            offset: Duration::ZERO,
        })
    }

    /// The same phases, each of at most `length`, with pauses of at most 1 s.
    #[must_use]
    pub fn shortened(&self, length: Duration) -> Self {
        let mut phases: Vec<Phase> = Vec::new();
        for (number, phase) in self.phases.iter().enumerate() {
            let start = match phases.last() {
                // A longer start would be an idle phase.
                None => phase.start.min(length).min(SIMULATED_PAUSE),
                Some(before) => {
                    let pause = phase.start.saturating_sub(self.phases[number - 1].end());
                    before.end() + pause.min(SIMULATED_PAUSE)
                }
            };
            phases.push(Phase {
                start,
                length: phase.length.min(length),
                flows: phase.flows.clone(),
            });
        }
        Schedule {
            phases,
            roles: Vec::new(),
            ..self.clone()
        }
    }

    /// The same measurement with other numbers of the stations: those in `stations`, which has at least the stations of the
    /// schedule.
    pub(crate) fn with_stations(&self, stations: &[String]) -> Self {
        let number = |station: usize| {
            let place = stations.iter().position(|name| *name == self.stations[station]);
            place.expect("all stations are listed")
        };
        let flow = |flow: &Flow| Flow {
            station: number(flow.station),
            ..*flow
        };
        let phase = |phase: &Phase| Phase {
            flows: phase.flows.iter().map(flow).collect(),
            ..phase.clone()
        };
        let mut probes = vec![Vec::new(); stations.len()];
        for (station, own) in self.probes.iter().enumerate() {
            probes[number(station)].clone_from(own);
        }
        Schedule {
            stations: stations.to_vec(),
            phases: self.phases.iter().map(phase).collect(),
            probes,
            roles: Vec::new(),
            offset: Duration::ZERO,
        }
    }

    /// This measurement, and then another one with the same stations. Each station has the probes of both.
    pub(crate) fn then(&self, other: &Schedule) -> Self {
        let offset = self.duration() + PAUSE;
        let later = other.phases.iter().map(|phase| Phase {
            start: offset + phase.start,
            ..phase.clone()
        });
        let probes = self.probes.iter().zip(&other.probes);
        let both = probes.map(|(own, other)| {
            let distinct: BTreeSet<_> = own.iter().chain(other).copied().collect();
            distinct.into_iter().collect()
        });
        Schedule {
            stations: self.stations.clone(),
            phases: self.phases.iter().cloned().chain(later).collect(),
            probes: both.collect(),
            roles: Vec::new(),
            offset: Duration::ZERO,
        }
    }

    /// The phases with these numbers, in their order.
    pub(crate) fn only(&self, numbers: &[usize]) -> Self {
        Schedule {
            phases: numbers.iter().map(|number| self.phases[*number].clone()).collect(),
            roles: Vec::new(),
            ..self.clone()
        }
    }

    /// Part of each phase that is used, at least `length`. Rare probes make it longer, up to 10 s, because quantiles need ten of
    /// them.
    #[must_use]
    pub fn used_length(&self, length: Duration) -> Duration {
        let longest = self.probes.iter().flatten().map(|probe| probe.1).max();
        let sampled = Duration::from_nanos(longest.unwrap_or_default().as_nanos().saturating_mul(PROBES_OF_PHASE));
        length.max(MIN_PHASE).max(sampled.min(MAX_USED))
    }

    /// Time from the start of the schedule to that of the plan's load.
    pub(crate) fn offset(&self) -> Duration {
        self.offset
    }

    /// End of the last phase.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.phases.last().map_or(Duration::ZERO, Phase::end)
    }

    /// Upper bound of the content that the stations transfer over a line with these rates.
    #[must_use]
    pub fn max_bytes(&self, down: BitRate, up: BitRate) -> ByteSize {
        let bytes = self.phases.iter().map(|phase| {
            let rate = |direction| match direction {
                Direction::Down => down,
                Direction::Up => up,
            };
            let mut directions: Vec<Direction> = phase.flows.iter().map(|flow| flow.direction).collect();
            directions.dedup();
            let bits: f64 = directions.into_iter().map(|one| rate(one).as_bps() as f64).sum();
            (bits * phase.length.as_secs_f64() / 8.0) as u64
        });
        ByteSize::from_bytes(bytes.fold(0, u64::saturating_add))
    }

    /// Role of a workload; `None` if the plan has no such workload.
    pub(crate) fn role(&self, station: u16, workload: u16) -> Option<Role> {
        *self.roles.get(usize::from(station))?.get(usize::from(workload))?
    }

    /// Names of the workloads of a station, in the order in which [`sections`](Self::sections) declares them.
    #[must_use]
    pub fn workloads(&self, station: usize) -> Vec<String> {
        let probes = self.probes[station].iter().map(|probe| self.probe_name(*probe));
        let phases = self.phases.iter().enumerate();
        let flows = phases.flat_map(|(number, phase)| {
            let own = phase.flows.iter().filter(move |flow| flow.station == station);
            own.map(move |flow| flow_name(number, flow))
        });
        probes.chain(flows).collect()
    }

    /// The `[workload.NAME]` sections of a scenario file.
    #[must_use]
    pub fn sections(&self) -> String {
        let mut text = String::new();
        for (target, interval) in self.distinct_probes() {
            let name = self.probe_name((target, interval));
            let _ = writeln!(
                text,
                "[workload.{name}]\nkind = \"probe\"\ntarget = \"{}\"\ninterval = \"{interval}\"\n",
                target_name(target)
            );
        }
        for (number, phase) in self.phases.iter().enumerate() {
            let mut flows = phase.flows.clone();
            flows.dedup_by_key(|flow| flow_name(number, flow));
            let mut written: Vec<String> = Vec::new();
            for flow in flows {
                let name = flow_name(number, &flow);
                if written.contains(&name) {
                    continue;
                }
                let kind = match flow.direction {
                    Direction::Down => "download",
                    Direction::Up => "upload",
                };
                let _ = writeln!(
                    text,
                    "[workload.{name}]\nkind = \"{kind}\"\nstreams = {}\nstart = \"{}\"\nstop = \"{}\"\ngoal = \"none\"\n",
                    flow.streams,
                    phase.start,
                    phase.end()
                );
                written.push(name);
            }
        }
        text
    }

    /// A scenario file with only the stations and the measurement, for a fleet.
    #[must_use]
    pub fn scenario(&self) -> String {
        let mut text = format!(
            "duration = \"{}\"\nbaseline = \"1 s\"\ndrain = \"4 s\"\n\n",
            self.duration()
        );
        for (number, name) in self.stations.iter().enumerate() {
            let workloads = self.workloads(number);
            let _ = writeln!(text, "[station.{name}]\nworkload = {workloads:?}\n");
        }
        text + &self.sections()
    }

    /// A scenario file with the measurement instead of its workloads. Its stations must be those of the schedule.
    ///
    /// # Errors
    /// The text is not valid TOML.
    pub fn in_scenario(&self, text: &str) -> Result<String, toml::de::Error> {
        let mut file: toml::Table = text.parse()?;
        let measurement: toml::Table = self.scenario().parse()?;
        for (key, value) in measurement {
            match (file.get_mut(&key), value) {
                (Some(toml::Value::Table(own)), toml::Value::Table(stations)) if key == "station" => {
                    for (name, station) in stations {
                        if let (Some(toml::Value::Table(own)), toml::Value::Table(station)) =
                            (own.get_mut(&name), station)
                        {
                            own.remove("start");
                            own.remove("stop");
                            own.extend(station);
                        }
                    }
                }
                (_, value) => {
                    file.insert(key, value);
                }
            }
        }
        file.remove("at");
        Ok(file.to_string())
    }

    fn distinct_probes(&self) -> Vec<(ProbeTarget, Duration)> {
        let mut all: Vec<(ProbeTarget, Duration)> = self.probes.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn probe_name(&self, probe: (ProbeTarget, Duration)) -> String {
        let all = self.distinct_probes();
        let same_target = all.iter().filter(|other| other.0 == probe.0);
        match same_target.take_while(|other| **other != probe).count() {
            0 => format!("to-{}", target_name(probe.0)),
            before => format!("to-{}-{}", target_name(probe.0), before + 1),
        }
    }
}

impl Phase {
    /// End, since the start of the load.
    #[must_use]
    pub fn end(&self) -> Duration {
        self.start + self.length
    }

    /// True if the station transfers in this direction.
    #[must_use]
    pub fn has(&self, station: usize, direction: Direction) -> bool {
        self.flows
            .iter()
            .any(|flow| flow.station == station && flow.direction == direction)
    }

    /// Number of stations that transfer in this direction.
    pub(crate) fn loaders(&self, direction: Direction) -> usize {
        self.flows.iter().filter(|flow| flow.direction == direction).count()
    }

    /// True if any station transfers in this direction.
    #[must_use]
    pub fn loads(&self, direction: Direction) -> bool {
        self.flows.iter().any(|flow| flow.direction == direction)
    }

    /// Description: `laptop down, tv down`; `idle` without load.
    #[must_use]
    pub fn describe(&self, stations: &[String]) -> String {
        if self.flows.is_empty() {
            return "idle".to_owned();
        }
        let one = |flow: &Flow| format!("{} {}", stations[flow.station], flow.direction.key());
        self.flows.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// The probes of a device, in the order of a packet's way.
fn probes_of(device: &Device) -> Probes {
    let targets = ProbeTarget::ALL.iter().filter(|target| device.probes.contains(target));
    targets.map(|target| (*target, PROBE_INTERVAL)).collect()
}

/// A transfer with its times.
struct Transfer {
    start: Duration,
    stop: Duration,
    flow: Flow,
}

/// All transfers of a plan, by time.
fn transfers(plan: &Plan, is_open: bool) -> Result<Vec<Transfer>, NoSchedule> {
    let mut found = Vec::new();
    for (number, station) in plan.stations.iter().enumerate() {
        for workload in &station.workloads {
            let other = || NoSchedule::Workload {
                station: station.name.clone(),
                workload: workload.name.clone(),
            };
            let activity = workload.config.activity;
            match &workload.config.settings {
                KindSettings::Probe(_) if activity.repeat.is_none() => {}
                // A model has the usual objects and congestion control, so that others would be fitted as a slow link.
                KindSettings::Bulk(bulk)
                    if activity.repeat.is_none() && workload.server.is_none() && is_usual(workload) =>
                {
                    let load = Instant::ZERO + station.start..Instant::ZERO + station.end(plan.duration);
                    let window = workload.config.windows(load.start, load.end).next().ok_or_else(other)?;
                    if activity.stop.is_none() && !is_open {
                        return Err(other());
                    }
                    found.push(Transfer {
                        start: window.from.since(Instant::ZERO),
                        stop: window.to.since(Instant::ZERO),
                        flow: Flow {
                            station: number,
                            direction: bulk.direction,
                            streams: bulk.streams,
                        },
                    });
                }
                _ => return Err(other()),
            }
        }
    }
    found.sort_by_key(|transfer| (transfer.start, transfer.stop, transfer.flow));
    Ok(found)
}

/// Phases with load.
fn phases(transfers: &[Transfer]) -> Result<Vec<Phase>, NoSchedule> {
    let mut phases: Vec<Phase> = Vec::new();
    for transfer in transfers {
        match phases.last_mut() {
            Some(last) if (last.start, last.end()) == (transfer.start, transfer.stop) => {
                add(&mut last.flows, transfer.flow)
            }
            Some(last) if transfer.start < last.end() => return Err(NoSchedule::Overlap { at: transfer.start }),
            _ => phases.push(Phase {
                start: transfer.start,
                length: transfer.stop.saturating_sub(transfer.start),
                flows: vec![transfer.flow],
            }),
        }
    }
    Ok(phases)
}

/// Adds a transfer. Transfers of a station in one direction are one with the connections of both.
fn add(flows: &mut Vec<Flow>, flow: Flow) {
    let same = |known: &&mut Flow| (known.station, known.direction) == (flow.station, flow.direction);
    match flows.iter_mut().find(same) {
        Some(known) => known.streams = known.streams.saturating_add(flow.streams),
        None => flows.push(flow),
    }
}

/// True if a transfer is like those of a model: large objects on few connections, with the congestion control of the host.
fn is_usual(workload: &StationWorkload) -> bool {
    let KindSettings::Bulk(bulk) = &workload.config.settings else {
        return false;
    };
    bulk.requests == Bulk::new(bulk.direction).requests && bulk.streams <= MAX_STREAMS && workload.cc.is_none()
}

/// Probes of a station, with their intervals.
type Probes = Vec<(ProbeTarget, Duration)>;

/// Roles of all workloads, and the probes of each station.
fn roles(plan: &Plan, phases: &[Phase]) -> (Vec<Vec<Option<Role>>>, Vec<Probes>) {
    let of_station = |station: &netburn_scenario::Station| {
        let mut probes = Vec::new();
        let roles = station
            .workloads
            .iter()
            .map(|workload| match &workload.config.settings {
                KindSettings::Probe(probe) => {
                    if !probes.contains(&(probe.target, probe.grid.interval)) {
                        probes.push((probe.target, probe.grid.interval));
                    }
                    Some(Role::Probe(probe.target))
                }
                KindSettings::Bulk(bulk) => {
                    let start = workload.config.activity.start.max(station.start);
                    let phase = phases
                        .iter()
                        .position(|phase| !phase.flows.is_empty() && phase.start == start)?;
                    Some(Role::Flow(phase, bulk.direction))
                }
                _ => None,
            });
        (roles.collect(), probes)
    };
    plan.stations.iter().map(of_station).unzip()
}

fn flow_name(phase: usize, flow: &Flow) -> String {
    let streams = match flow.streams {
        1 => String::new(),
        streams => format!("-{streams}"),
    };
    format!("phase-{}-{}{streams}", phase + 1, flow.direction.key())
}

pub(crate) const fn target_name(target: ProbeTarget) -> &'static str {
    match target {
        ProbeTarget::Near => "near",
        ProbeTarget::Line => "line",
        ProbeTarget::Server => "server",
    }
}
