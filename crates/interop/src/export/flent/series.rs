//! Series that flent plots: bytes per time step, and round trips.

use crate::export::Error;
use netburn_record::row::BASELINE;
use netburn_record::{IntervalRow, OperationRow, Row, Run, RunTable};
use netburn_scenario::Station;
use netburn_units::{Duration, Instant};
use netburn_workload::config::BIN;
use netburn_workload::kinds::packets::Rating;
use netburn_workload::{Config, Direction, KindSettings, Outcome, ProbeTarget};
use std::collections::BTreeMap;

/// Default step; flent's own default.
const STEP: Duration = Duration::from_millis(200);

/// Maximum number of steps. Longer runs have longer steps.
const STEPS: u64 = 20_000;

/// All stations' series.
#[derive(Debug)]
pub(super) struct Series {
    /// The time before the load, and after it.
    pub(super) delay: Duration,
    pub(super) length: Duration,
    pub(super) step: Duration,
    pub(super) stations: Vec<StationSeries>,
    /// Page loads of all stations.
    pub(super) pages: Vec<Ping>,
    /// The first call (`voice`) of the plan.
    pub(super) call: Option<Call>,
}

/// Packets up of a call, by their numbers.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) station: String,
    pub(super) workload: String,
    pub(super) packets: Vec<CallPacket>,
    /// Numbers of the station and of the workload.
    place: (u16, u16),
}

/// A packet of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallPacket {
    /// Number, from 0.
    pub(super) number: u64,
    /// Arrival, or the due time of a lost packet, in ns of the run.
    pub(super) at: i64,
    /// One-way delay in ns; `None` if the packet was lost.
    pub(super) delay: Option<u64>,
    /// UDP payload.
    pub(super) bytes: u64,
}

impl Call {
    /// The first call of the plan, without packets yet.
    fn first(stations: &[Station]) -> Option<Call> {
        stations.iter().zip(0..).find_map(|(station, number)| {
            let mut workloads = station.workloads.iter().zip(0..);
            let (workload, place) = workloads.find(|(workload, _)| workload.config.rating() == Some(Rating::Voice))?;
            Some(Call {
                station: station.name.clone(),
                workload: workload.name.clone(),
                packets: Vec::new(),
                place: (number, place),
            })
        })
    }

    /// Adds a packet up. Packets that were not sent, or in flight at the end of the run, are left out.
    fn operation(&mut self, run: &Run, row: &OperationRow) {
        let operation = &row.operation;
        let is_sent = operation.started.is_some() && operation.outcome != Outcome::Cut;
        let is_up = Direction::of_packet(operation.sequence) == Direction::Up;
        if (row.station, row.workload) != self.place || !is_sent || !is_up {
            return;
        }
        let delay = operation.latency();
        let at = delay.and(operation.finished).unwrap_or(operation.due);
        self.packets.push(CallPacket {
            number: operation.sequence / 2,
            at: run.common_time(row.station, at).as_nanos(),
            delay: delay.map(Duration::as_nanos),
            bytes: operation.bytes,
        });
    }
}

/// Series of one station.
#[derive(Debug, Default)]
pub(super) struct StationSeries {
    /// Bytes per step from the beginning of the load; `None` while the station had no workload.
    pub(super) down: Vec<Option<u64>>,
    pub(super) up: Vec<Option<u64>>,
    /// By time.
    pub(super) pings: Vec<Ping>,
    /// Workload that provides the pings under load; `None` for a station without probe or calls,
    /// which has no pings.
    pub(super) of: Option<String>,
    /// Bytes per step of each workload, in the plan's order; `None` while the workload did not run.
    pub(super) workloads: Vec<Vec<Option<u64>>>,
    /// Round trips of the idle probe, and of each workload of kind `probe`, in the plan's order.
    pub(super) idle: Vec<Ping>,
    pub(super) probes: Vec<Vec<Ping>>,
}

/// A round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ping {
    /// Arrival of the response, in ns of the run.
    pub(super) at: i64,
    pub(super) nanos: u64,
    /// Sequence number, if gaps mean loss.
    pub(super) sequence: Option<u64>,
}

impl Series {
    pub(super) fn gather(run: &Run) -> Result<Series, Error> {
        let plan = &run.header().plan;
        let whole = plan.duration + plan.baseline * 2;
        let steps = whole.as_nanos().div_ceil(STEPS).div_ceil(BIN.as_nanos());
        let step = (BIN * steps).max(STEP);
        let count = plan.duration.as_nanos().div_ceil(step.as_nanos()) as usize;
        let stations = plan.stations.iter().map(|station| {
            let from = (station.start.as_nanos() / step.as_nanos()) as usize;
            let to = station.end(plan.duration).as_nanos().div_ceil(step.as_nanos()) as usize;
            let busy = |at: usize| (from..to).contains(&at).then_some(0);
            let empty: Vec<Option<u64>> = (0..count).map(busy).collect();
            StationSeries {
                down: empty.clone(),
                up: empty,
                pings: Vec::new(),
                idle: Vec::new(),
                probes: Vec::new(),
                workloads: station
                    .workloads
                    .iter()
                    .map(|workload| active(station, &workload.config, plan.duration, step, count))
                    .collect(),
                of: pinger(station).map(|number| station.workloads[number].name.clone()),
            }
        });
        let mut series = Series {
            delay: plan.baseline,
            length: plan.duration,
            step,
            stations: stations.collect(),
            pages: Vec::new(),
            call: Call::first(&plan.stations),
        };
        run.table_rows(RunTable::Intervals, &mut |row| {
            if let Row::Interval(row) = row {
                series.moved(&row);
            }
        })?;
        let mut gathering = Gathering::new(&plan.stations);
        run.table_rows(RunTable::Operations, &mut |row| {
            if let Row::Operation(row) = row {
                gathering.operation(run, &row);
                if let Some(call) = &mut series.call {
                    call.operation(run, &row);
                }
            }
        })?;
        if let Some(call) = &mut series.call {
            call.packets.sort_unstable();
        }
        for (station, gathered) in series.stations.iter_mut().zip(gathering.stations) {
            // flent would show idle probes alone as pings under load.
            let Gathered { idle, probes, .. } = &gathered;
            station.idle.clone_from(idle);
            station.probes = probes.values().cloned().collect();
            if station.of.is_some() {
                station.pings = gathered.sorted();
            }
        }
        series.pages = gathering.pages;
        series.pages.sort_unstable();
        Ok(series)
    }

    fn moved(&mut self, row: &IntervalRow) {
        let Ok(at) = u64::try_from(row.at.as_nanos()) else {
            return;
        };
        let at = (at / self.step.as_nanos()) as usize;
        if let Some(station) = self.stations.get_mut(usize::from(row.station)) {
            let mut series = vec![(&mut station.down, row.bytes_down), (&mut station.up, row.bytes_up)];
            if let Some(workload) = station.workloads.get_mut(usize::from(row.workload)) {
                series.push((workload, row.bytes()));
            }
            for (bins, bytes) in series {
                if let Some(bin) = bins.get_mut(at).filter(|_| bytes > 0) {
                    *bin = Some(bin.unwrap_or(0).saturating_add(bytes));
                }
            }
        }
    }
}

/// Steps in which a workload runs, without bytes.
fn active(station: &Station, config: &Config, duration: Duration, step: Duration, count: usize) -> Vec<Option<u64>> {
    let mut bins = vec![None; count];
    let (start, end) = (Instant::ZERO + station.start, Instant::ZERO + station.end(duration));
    for window in config.windows(start, end) {
        let place = |nanos: i64| u64::try_from(nanos).unwrap_or(0);
        let from = (place(window.from.as_nanos()) / step.as_nanos()) as usize;
        let to = (place(window.to.as_nanos()).div_ceil(step.as_nanos()) as usize).min(count);
        bins[from.min(to)..to].fill(Some(0));
    }
    bins
}

/// The workload whose operations are a station's pings under load: small packets, which pages and streams are not.
fn pinger(station: &Station) -> Option<usize> {
    let configs = || station.workloads.iter().map(|workload| &workload.config);
    let probe = configs().position(|config| config.target() == Some(ProbeTarget::Server));
    probe.or_else(|| configs().position(|config| matches!(config.settings, KindSettings::Periodic(_))))
}

/// Collects pings from operations.
struct Gathering {
    stations: Vec<Gathered>,
    pages: Vec<Ping>,
}

#[derive(Default)]
struct Gathered {
    /// Workload that provides the pings, and whether its sequence numbers show loss.
    pinger: Option<(u16, bool)>,
    pages: Vec<u16>,
    idle: Vec<Ping>,
    loaded: Vec<Ping>,
    /// Round trips by the number of the workload, for those of kind `probe`.
    probes: BTreeMap<u16, Vec<Ping>>,
    /// Idle probes sent, by their highest number.
    sent: u64,
}

impl Gathering {
    fn new(stations: &[Station]) -> Self {
        let of = |station: &Station| {
            let configs = || station.workloads.iter().map(|workload| &workload.config).zip(0..);
            Gathered {
                pinger: pinger(station).and_then(|place| {
                    let number = u16::try_from(place).ok()?;
                    Some((number, station.workloads[place].config.kind().is_probe()))
                }),
                pages: configs()
                    .filter(|(config, _)| matches!(config.settings, KindSettings::Pages(_)))
                    .map(|(_, at)| at)
                    .collect(),
                probes: configs()
                    .filter(|(config, _)| config.kind().is_probe())
                    .map(|(_, at)| (at, Vec::new()))
                    .collect(),
                ..Gathered::default()
            }
        };
        Gathering {
            stations: stations.iter().map(of).collect(),
            pages: Vec::new(),
        }
    }

    fn operation(&mut self, run: &Run, row: &OperationRow) {
        let Some(station) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let operation = &row.operation;
        let idle = row.workload == BASELINE;
        if idle && operation.outcome != Outcome::Cut {
            station.sent = station.sent.max(operation.sequence.saturating_add(1));
        }
        let (Some(latency), Some(finished)) = (operation.latency(), operation.finished) else {
            return;
        };
        let common: Instant = run.common_time(row.station, finished);
        let mut ping = Ping {
            at: common.as_nanos(),
            nanos: latency.as_nanos(),
            sequence: None,
        };
        if station.pages.contains(&row.workload) {
            self.pages.push(ping);
        }
        if let Some(probe) = station.probes.get_mut(&row.workload).filter(|_| !idle) {
            probe.push(ping);
        }
        match station.pinger {
            _ if idle => {
                ping.sequence = Some(operation.sequence);
                station.idle.push(ping);
            }
            Some((number, counted)) if number == row.workload => {
                ping.sequence = counted.then_some(operation.sequence);
                station.loaded.push(ping);
            }
            _ => {}
        }
    }
}

impl Gathered {
    /// All pings by time, with consecutive numbers if gaps in the numbers mean loss.
    fn sorted(self) -> Vec<Ping> {
        let numbered = self.pinger.is_none_or(|(_, counted)| counted);
        let mut pings = self.idle;
        pings.extend(self.loaded.into_iter().map(|ping| Ping {
            sequence: ping.sequence.map(|sequence| sequence.saturating_add(self.sent)),
            ..ping
        }));
        if !numbered {
            pings.iter_mut().for_each(|ping| ping.sequence = None);
        }
        pings.sort_unstable();
        pings
    }
}
