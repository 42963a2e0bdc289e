//! Observations of a run: goodput of each transfer and latency of each probe, by phase.
//!
//! Measured and simulated runs pass the same code, and the same part of each phase: a phase of 4 s and its simulation of 2 s
//! are compared over the same 1.5 s. So the start of TCP has the same effect on both.

use crate::schedule::{MIN_PHASE, Phase, Role, Schedule};
use netburn_record::Row;
use netburn_record::row::{IntervalRow, LinkRow, OperationRow, baseline_target};
use netburn_units::{Duration, Instant};
use netburn_workload::config::ProbeTarget;
use netburn_workload::{Direction, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// Rows that a fit reads of one run. Twelve stations with probes each 50 ms have 0.2 million in five minutes.
pub const MAX_ROWS: u64 = 20_000_000;
/// Samples of one series. A probe each millisecond has 4000 in a phase of 4 s; further ones are not used.
const MAX_SAMPLES: usize = 4_096;
/// Samples that a quantile needs.
const MIN_SAMPLES: usize = 10;
/// A lost probe counts with this latency, the default timeout of probes. Routers limit the rate of their answers, so a target
/// that loses half of the probes of an idle phase or more is not used.
const LOST: Duration = Duration::from_secs(3);
/// Goodput below this counts as this, in Mbit/s.
const MIN_GOODPUT: f64 = 0.01;
/// Added to latencies before their logarithm, in ms. It makes differences far below this value irrelevant.
const LATENCY_OFFSET: f64 = 5.0;
/// Length of an interval of the record.
const INTERVAL: Duration = Duration::from_millis(100);

/// Kind of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Mean rate of the content.
    Goodput(Direction),
    /// A quantile of the round trips of a probe, in percent.
    Latency(ProbeTarget, u8),
    /// Rate of the Wi-Fi link while the station transfers in this direction.
    Rate(Direction),
}

impl Quantity {
    /// Name in documents and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::Goodput(_) => "goodput",
            Quantity::Latency(..) => "latency",
            Quantity::Rate(_) => "rate",
        }
    }

    /// Direction of a goodput or a rate.
    #[must_use]
    pub const fn direction(self) -> Option<Direction> {
        match self {
            Quantity::Goodput(direction) | Quantity::Rate(direction) => Some(direction),
            Quantity::Latency(..) => None,
        }
    }

    /// Host that answers the probes of a latency, and the percentile.
    #[must_use]
    pub const fn probe(self) -> Option<(ProbeTarget, u8)> {
        match self {
            Quantity::Latency(target, level) => Some((target, level)),
            Quantity::Goodput(_) | Quantity::Rate(_) => None,
        }
    }
}

/// Name of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Number of the phase.
    pub phase: usize,
    /// Number of the station.
    pub station: usize,
    /// Quantity.
    pub quantity: Quantity,
}

impl Key {
    /// True for a round trip to the provider's end of the internet line.
    #[must_use]
    pub fn is_of_line(&self) -> bool {
        matches!(self.quantity, Quantity::Latency(ProbeTarget::Line, _))
    }

    /// Unit of the values.
    #[must_use]
    pub const fn unit(&self) -> &'static str {
        match self.quantity {
            Quantity::Goodput(_) | Quantity::Rate(_) => "Mbit/s",
            Quantity::Latency(..) => "ms",
        }
    }

    /// Value in its unit, Mbit/s or ms, from the value on the axis of the fit.
    #[must_use]
    pub fn in_unit(&self, value: f64) -> f64 {
        match self.quantity {
            Quantity::Goodput(_) | Quantity::Rate(_) => libm::exp(value),
            Quantity::Latency(..) => libm::exp(value) - LATENCY_OFFSET,
        }
    }

    /// Description: `laptop goodput down`, `tv p90 latency to near`.
    #[must_use]
    pub fn describe(&self, schedule: &Schedule) -> String {
        let station = &schedule.stations[self.station];
        match self.quantity {
            Quantity::Goodput(direction) => format!("{station} goodput {}", direction.key()),
            Quantity::Latency(target, level) => {
                format!("{station} p{level} latency to {}", crate::schedule::target_name(target))
            }
            Quantity::Rate(direction) => format!("{station} link rate {}", direction.key()),
        }
    }
}

/// Sum of the goodput of all stations in a phase, in Mbit/s.
pub(crate) fn goodput<'a>(values: impl Iterator<Item = (&'a Key, f64)>, phase: usize, direction: Direction) -> f64 {
    let own = values.filter(|(key, _)| (key.phase, key.quantity) == (phase, Quantity::Goodput(direction)));
    own.map(|(key, value)| key.in_unit(value)).sum()
}

/// All observations that a schedule can have.
///
/// Each transfer has its goodput. A station with a transfer has the median and the 90th percentile of all its probes. The
/// other stations have those of the near probe, which waits in the queues of the access point only. When idle, all have the
/// 10th percentile and the median, which contain little of other traffic. A station has the rate of its link in each direction,
/// with the first phase in which it transfers. The goodput that this rate permits, less the measured one, is what other networks
/// take.
#[must_use]
pub fn keys(schedule: &Schedule) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut with_rate = BTreeSet::new();
    for (number, phase) in schedule.phases.iter().enumerate() {
        for station in 0..schedule.stations.len() {
            let mut add = |quantity| {
                keys.push(Key {
                    phase: number,
                    station,
                    quantity,
                });
            };
            let own = phase.flows.iter().filter(|flow| flow.station == station);
            // Two transfers in one direction have one goodput, which is their sum.
            let directions: BTreeSet<Direction> = own.map(|flow| flow.direction).collect();
            for direction in &directions {
                add(Quantity::Goodput(*direction));
                if with_rate.insert((station, *direction)) {
                    add(Quantity::Rate(*direction));
                }
            }
            let levels = if phase.flows.is_empty() { [10, 50] } else { [50, 90] };
            let mut targets: Vec<ProbeTarget> = schedule.probes[station].iter().map(|probe| probe.0).collect();
            targets.sort_unstable();
            targets.dedup();
            for target in targets {
                let is_used = phase.flows.is_empty() || !directions.is_empty() || target == ProbeTarget::Near;
                if is_used {
                    levels
                        .into_iter()
                        .for_each(|level| add(Quantity::Latency(target, level)));
                }
            }
        }
    }
    keys
}

/// Value of an observation for which a simulation has no samples, on the axis of the fit: nothing arrived, or all probes are
/// lost.
pub(crate) fn worst(key: &Key) -> f64 {
    match key.quantity {
        Quantity::Goodput(_) | Quantity::Rate(_) => libm::log(MIN_GOODPUT),
        Quantity::Latency(..) => libm::log(LOST.as_millis_f64() + LATENCY_OFFSET),
    }
}

/// Collects the observations of one run from its rows.
#[derive(Debug)]
pub(crate) struct Observer<'a> {
    schedule: &'a Schedule,
    /// Length from the start of each phase that is used.
    length: Duration,
    /// Bytes of content in the used part of a phase, by phase, station and direction.
    bytes: BTreeMap<(usize, usize, Direction), f64>,
    latencies: BTreeMap<(usize, usize, ProbeTarget), Vec<Duration>>,
    /// Logarithms of rates in Mbit/s, by station and direction.
    rates: BTreeMap<(usize, Direction), Vec<f64>>,
}

impl<'a> Observer<'a> {
    /// Creates an observer of the first `length` of each phase. Of this the first quarter is left out, in which TCP starts.
    pub(crate) fn new(schedule: &'a Schedule, length: Duration) -> Self {
        Observer {
            schedule,
            length,
            bytes: BTreeMap::new(),
            latencies: BTreeMap::new(),
            rates: BTreeMap::new(),
        }
    }

    /// Takes a row. `common` converts a time of a station's clock to the common clock.
    pub(crate) fn put(&mut self, row: &Row, common: impl Fn(u16, Instant) -> Instant) {
        let (station, at) = match row {
            Row::Interval(row) => (row.station, row.at),
            Row::Operation(row) => (row.station, row.operation.due),
            Row::Link(row) => (row.station, row.at),
            _ => return,
        };
        // A time that does not fit is that of a damaged record.
        let Some(at) = common(station, at).checked_add(self.schedule.offset()) else {
            return;
        };
        match row {
            Row::Interval(row) => self.interval(row, at),
            Row::Operation(row) => self.operation(row, at),
            Row::Link(row) => self.link(row, at),
            _ => {}
        }
    }

    fn interval(&mut self, row: &IntervalRow, at: Instant) {
        let Some(Role::Flow(phase, direction)) = self.schedule.role(row.station, row.workload) else {
            return;
        };
        // The phases of a shortened schedule begin elsewhere between the intervals, so an interval counts with its share.
        let (from, to) = self.used(phase);
        let Some(end) = at.checked_add(INTERVAL) else { return };
        let (begin, end) = (at.max(from), end.min(to));
        if begin >= end {
            return;
        }
        let inside = end.since(begin);
        let bytes = match direction {
            Direction::Down => row.bytes_down,
            Direction::Up => row.bytes_up,
        };
        let sum = self.bytes.entry((phase, row.station.into(), direction)).or_default();
        *sum += bytes as f64 * (inside.as_secs_f64() / INTERVAL.as_secs_f64());
    }

    fn operation(&mut self, row: &OperationRow, due: Instant) {
        let target = match self.schedule.role(row.station, row.workload) {
            Some(Role::Probe(target)) => Some(target),
            _ => baseline_target(row.workload),
        };
        let Some(target) = target else { return };
        if row.operation.outcome == Outcome::Cut {
            return;
        }
        let phases = 0..self.schedule.phases.len();
        let Some(phase) = phases.into_iter().find(|phase| self.covers(*phase, due)) else {
            return;
        };
        let samples = self.latencies.entry((phase, row.station.into(), target)).or_default();
        if samples.len() < MAX_SAMPLES {
            samples.push(row.operation.latency().map_or(LOST, |latency| latency.min(LOST)));
        }
    }

    /// Links are sampled each second, so all samples of a phase count after TCP's start.
    fn link(&mut self, row: &LinkRow, at: Instant) {
        let station = usize::from(row.station);
        let phases = self.schedule.phases.iter().enumerate();
        let here = |(number, phase): &(usize, &Phase)| {
            self.used(*number).0 <= at && at < Instant::ZERO + phase.start + phase.length
        };
        let Some((_, phase)) = phases.clone().find(here) else {
            return;
        };
        let own = phase.flows.iter().filter(|flow| flow.station == station);
        for direction in own.map(|flow| flow.direction).collect::<BTreeSet<_>>() {
            let rate = match direction {
                Direction::Down => row.rx_rate_bps,
                Direction::Up => row.tx_rate_bps,
            };
            let samples = self.rates.entry((station, direction)).or_default();
            if let Some(bps) = rate.filter(|bps| *bps > 0 && samples.len() < MAX_SAMPLES) {
                samples.push(libm::log(bps as f64 / 1e6));
            }
        }
    }

    /// Part of a phase that is used.
    fn used(&self, phase: usize) -> (Instant, Instant) {
        let phase = &self.schedule.phases[phase];
        let length = phase.length.min(self.length);
        let start = Instant::ZERO + phase.start;
        let skipped = Duration::from_nanos(length.as_nanos() / 4);
        (start + skipped, start + length)
    }

    fn covers(&self, phase: usize, at: Instant) -> bool {
        let (from, to) = self.used(phase);
        from <= at && at < to
    }

    /// True if a target does not answer half of a station's probes while nothing is transferred.
    fn is_mute(&self, station: usize, target: ProbeTarget) -> bool {
        let phases = self.schedule.phases.iter().enumerate();
        let mut idle = phases.filter(|(_, phase)| phase.flows.is_empty());
        idle.any(|(number, _)| {
            let samples = self.latencies.get(&(number, station, target));
            samples.is_some_and(|all| 2 * all.iter().filter(|latency| **latency == LOST).count() >= all.len())
        })
    }

    /// Value of each key on the axis of the fit, which is logarithmic; `None` if the run has too few samples.
    pub(crate) fn finish(mut self, keys: &[Key]) -> Vec<Option<f64>> {
        self.latencies.values_mut().for_each(|samples| samples.sort_unstable());
        self.rates
            .values_mut()
            .for_each(|samples| samples.sort_by(f64::total_cmp));
        keys.iter().map(|key| self.value(key)).collect()
    }

    fn value(&self, key: &Key) -> Option<f64> {
        match key.quantity {
            Quantity::Goodput(direction) => {
                let (from, to) = self.used(key.phase);
                let bytes = *self.bytes.get(&(key.phase, key.station, direction))?;
                let mbps = bytes * 8.0 / to.since(from).as_secs_f64() / 1e6;
                (self.schedule.phases[key.phase].length >= MIN_PHASE && bytes > 0.0)
                    .then(|| libm::log(mbps.max(MIN_GOODPUT)))
            }
            Quantity::Latency(target, level) => {
                let samples = self.latencies.get(&(key.phase, key.station, target))?;
                if samples.len() < MIN_SAMPLES || self.is_mute(key.station, target) {
                    return None;
                }
                let rank = (samples.len() * usize::from(level)).div_ceil(100).max(1);
                Some(libm::log(samples[rank - 1].as_millis_f64() + LATENCY_OFFSET))
            }
            Quantity::Rate(direction) => middle(self.rates.get(&(key.station, direction))?),
        }
    }
}

/// Mean of the middle half of sorted values. Single frames have rates far from the usual one, because rate control tries others;
/// and a median would be one of few steps.
fn middle(sorted: &[f64]) -> Option<f64> {
    let cut = sorted.len() / 4;
    let own = sorted.get(cut..sorted.len() - cut).filter(|own| !own.is_empty())?;
    Some(own.iter().sum::<f64>() / own.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn the_middle_half_has_no_outliers() {
        assert_eq!(middle(&[]), None);
        assert_eq!(middle(&[5.0]), Some(5.0));
        assert_eq!(middle(&[1.0, 3.0, 4.0, 900.0]), Some(3.5));
        assert_eq!(middle(&[0.0, 0.0, 2.0, 2.0, 2.0, 8.0, 9.0, 9.0]), Some(3.5));
    }
}
