//! The evidence in the form that the rules need: degraded stations and times, airtime shares, full
//! links.

mod absences;
mod air;
mod demand;
mod packets;
mod path;
mod rates;
mod scanning;
mod victim;

pub(super) use absences::{DOZING, EXPLAINED, Interruptions, LOCKED, LONG, MIN_ABSENCES, Sharing};
pub(super) use demand::Need;
pub(super) use path::ADDED_MS;
pub(super) use rates::{FAR, MARGIN_DB, MIN_BINS, SLOW_SHARE};
pub(super) use scanning::{MANY, NOTABLE};
pub(super) use victim::{DelaySource, Part, VictimDelay};

pub(super) use super::evidence::OF_RATE;
use super::evidence::{Arrival, Bin, Evidence, RadioEvidence};
use crate::format::{met_percent, span};
use netburn_network::PlannedNetwork;
use netburn_record::summary::{StationSummary, WorkloadSummary};
use netburn_record::{Health, Summary};
use netburn_scenario::plan::{Ap, Capacity, Device, RadioSetting, Setting};
use netburn_scenario::{Environment, Plan};
use netburn_units::{BitRate, Duration};
pub(super) use netburn_workload::Direction;
use netburn_workload::{Kind, ProbeTarget, Verdict};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Airtime that a data transmission needs besides itself: AIFS, the mean of the first backoff, SIFS
/// and a BlockAck. With a BlockAck at 24 Mbit/s, this is 34 + 7.5 × 9 + 16 + 32 µs (802.11-2020
/// 10.3.2.3).
const AROUND: Duration = Duration::from_micros(150);
/// Limit of a round-trip time without a goal, in ms; it must also exceed three times the idle one.
/// People notice a tenth of a second.
const SLOW_MS: f64 = 100.0;
/// Time in ms by which a connection's median round trip must exceed the idle one before packets count as queued.
pub(super) const BLOATED_MS: f64 = 30.0;
/// Limit of a connection's median round-trip time, as a multiple of the idle one. On a long path a queue is seen by the time
/// that it adds, so the multiple only excludes what such a path varies by itself.
pub(super) const BLOATED_FACTOR: f64 = 2.0;
/// Maximum number of MPDUs in an aggregate by default (BlockAck window of 802.11n and ac).
const WINDOW: f64 = 64.0;
/// Share of the content that a link can carry above which it is full; the rest is TCP's sawtooth.
pub(super) const FULL: f64 = 0.85;
/// Minimum share of the time in use in which a bottleneck is full. Pages and video segments are transferred in bursts, so a
/// bottleneck is not always full.
pub(super) const FULL_SHARE: f64 = 0.3;
/// Channel utilisation above which stations wait for the channel and packets are queued. The utilisation includes an
/// estimate of the overhead ([`AROUND`]), so that of a full channel can be less than 1.
pub(super) const BUSY_CHANNEL: f64 = 0.85;
/// Minimum ratio of the content per second of airtime of an affected station to that of the slow one. It exceeds 2, the
/// ratio of the rates with two spatial streams and with one.
pub(super) const SLOWER: f64 = 3.0;

/// Input of the rules.
#[derive(Debug)]
pub(super) struct RunFacts<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) plan: &'a Plan,
    pub(super) environment: Environment,
    pub(super) health: &'a [Health],
    summary: &'a Summary,
    /// Number of runs of the evidence.
    runs: u64,
    pub(super) degraded: Vec<DegradedStation>,
    /// Stations on one channel. Wired stations are in no group.
    pub(super) groups: Vec<Group>,
    /// Absences of each station, once they were sought.
    interruptions: Vec<OnceCell<Option<Interruptions>>>,
}

/// A station that missed a goal or is slow.
#[derive(Debug, Clone)]
pub(super) struct DegradedStation {
    pub(super) station: usize,
    /// True if it missed a goal.
    pub(super) serious: bool,
    /// First problem: `browsing met …`.
    pub(super) what: String,
    /// The same for each of its workloads with a problem.
    pub(super) all: Vec<String>,
    /// Indices of the workloads that missed goals.
    pub(super) failed: Vec<usize>,
}

/// Stations that share a channel.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The radio that they joined, such as `c7.5g`, if it is modelled.
    pub(super) radio: Option<String>,
    pub(super) members: Vec<usize>,
    /// Stations of other radios on the same channel.
    pub(super) peers: Vec<usize>,
    /// Frequency in MHz, on a fleet.
    pub(super) mhz: Option<u32>,
}

/// Airtime of a group in some bins.
#[derive(Debug, Clone)]
pub(super) struct AirtimeBreakdown {
    /// Members that moved data.
    pub(super) shares: Vec<Share>,
    /// Shares of the time: data, overhead of data, networks that are not modelled, and stations of
    /// other radios with their overhead.
    pub(super) data: f64,
    pub(super) around: f64,
    pub(super) others: f64,
    pub(super) peers: f64,
    /// Share of the time in which the channel was busy, by the survey of an observed access point.
    pub(super) surveyed: Option<f64>,
    /// True if airtime is unknown and was estimated from bytes and link rates.
    pub(super) estimated: bool,
}

/// Share of one station.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) station: usize,
    /// Share of the airtime, and of the data.
    pub(super) air: f64,
    pub(super) bytes: f64,
    pub(super) sum: Bin,
}

/// Load of a link.
#[derive(Debug, Clone)]
pub(super) struct LinkLoad {
    /// Mean rate while it was full, or of the whole run if it never was.
    pub(super) rate: BitRate,
    /// Mean throughput while the link was full, in Mbit/s.
    pub(super) mbps: f64,
    /// Share of the bins with traffic in which the link was full.
    pub(super) full: f64,
}

/// Channel and radio of a group if they are modelled, otherwise its frequency in MHz.
type Air = (Option<usize>, Option<String>, Option<u32>);

impl<'a> RunFacts<'a> {
    pub(super) fn new(evidence: &'a Evidence, summary: &'a Summary, health: &'a [Health]) -> Self {
        let mut facts = RunFacts {
            evidence,
            plan: &evidence.plan,
            environment: evidence.environment,
            health,
            summary,
            runs: summary.repeats.len().max(1) as u64,
            degraded: Vec::new(),
            groups: Vec::new(),
            interruptions: vec![OnceCell::new(); evidence.plan.stations.len()],
        };
        facts.degraded = (0..facts.plan.stations.len())
            .filter_map(|station| facts.find_degradation(station))
            .collect();
        facts.groups = facts.group_by_channel();
        facts
    }

    /// A station's name.
    pub(super) fn name(&self, station: usize) -> String {
        self.plan.stations[station].name.clone()
    }

    /// Names of several, each once, in the plan's order.
    pub(super) fn names(&self, stations: impl IntoIterator<Item = usize>) -> Vec<String> {
        let mut stations: Vec<usize> = stations.into_iter().collect();
        stations.sort_unstable();
        stations.dedup();
        stations.into_iter().map(|station| self.name(station)).collect()
    }

    pub(super) fn station(&self, station: usize) -> Option<&StationSummary> {
        let name = &self.plan.stations.get(station)?.name;
        self.summary
            .stations
            .get(station)
            .filter(|summary| summary.name == *name)
            .or_else(|| self.summary.stations.iter().find(|summary| summary.name == *name))
    }

    /// Idle round-trip time; 0 if unknown.
    pub(super) fn idle_ms(&self, station: usize) -> f64 {
        self.station(station).and_then(|s| s.idle_latency_ms).unwrap_or(0.0)
    }

    /// Idle round-trip time to the host that answers a workload's operations; 0 if unknown.
    fn idle_ms_to(&self, station: usize, workload: &WorkloadSummary) -> f64 {
        let split = self.split(station);
        let near = || split?.wifi.idle_ms;
        let idle = match workload.probe.map(|probe| probe.target) {
            Some(ProbeTarget::Near) => near(),
            Some(ProbeTarget::Line) => near()
                .zip(split.and_then(|split| split.line?.idle_ms))
                .map(|(near, line)| near + line),
            Some(ProbeTarget::Server) | None => return self.idle_ms(station),
        };
        idle.unwrap_or(0.0)
    }

    /// Returns true if the station has a download or an upload, which take all available capacity.
    pub(super) fn is_greedy(&self, station: usize) -> bool {
        self.moves(station, Direction::Down) || self.moves(station, Direction::Up)
    }

    /// Returns true if the station has a bulk transfer in this direction.
    pub(super) fn moves(&self, station: usize, direction: Direction) -> bool {
        let mut bulk = self.plan.stations[station]
            .workloads
            .iter()
            .filter_map(|workload| workload.config.bulk());
        bulk.any(|bulk| bulk.direction == direction)
    }

    pub(super) fn degraded_station(&self, station: usize) -> Option<&DegradedStation> {
        self.degraded
            .iter()
            .find(|degraded_station| degraded_station.station == station)
    }

    /// Degraded members of a group.
    pub(super) fn degraded_in(&self, group: &Group) -> Vec<usize> {
        let members = group.members.iter().copied();
        members
            .filter(|station| self.degraded_station(*station).is_some())
            .collect()
    }

    /// Returns true if a median round-trip time indicates queueing.
    pub(super) fn is_bloated(&self, median_ms: f64, station: usize) -> bool {
        let idle = self.idle_ms(station);
        median_ms > idle + BLOATED_MS && median_ms > BLOATED_FACTOR * idle
    }

    /// Returns true if one of the station's probes is slow.
    pub(super) fn is_slow(&self, station: usize) -> bool {
        let summary = self.station(station);
        summary.is_some_and(|summary| {
            summary
                .workloads
                .iter()
                .any(|workload| self.slow(station, workload).is_some())
        })
    }

    /// A sentence on a station's round trips.
    pub(super) fn round_trip(&self, station: usize, median_ms: f64) -> String {
        let name = self.name(station);
        let median = span(median_ms);
        match self.idle_ms(station) {
            idle if idle > 0.0 => {
                format!(
                    "{name}'s median round-trip time was {median}, and {} before the load.",
                    span(idle)
                )
            }
            _ => format!("{name}'s median round-trip time was {median}."),
        }
    }

    /// The group that a station is in.
    pub(super) fn group_of(&self, station: usize) -> Option<&Group> {
        self.groups.iter().find(|group| group.members.contains(&station))
    }

    /// The access point of a group, if it is modelled.
    pub(super) fn ap_of(&self, group: &Group) -> Option<&Ap> {
        let (ap, _) = group.radio.as_ref()?.split_once('.')?;
        self.plan.aps.iter().find(|known| known.name == ap)
    }

    /// The stations that joined any radio of an access point.
    pub(super) fn stations_of(&self, ap: &str) -> Vec<usize> {
        let groups = self
            .groups
            .iter()
            .filter(|group| self.ap_of(group).is_some_and(|known| known.name == ap));
        groups.flat_map(|group| group.members.iter().copied()).collect()
    }

    /// The device at the edge of the house through which a station's packets reach the server; `None` if its access point is
    /// not modelled, or if it is next to the server's link.
    pub(super) fn router_of(&self, station: usize) -> Option<Device> {
        let Some(group) = self.group_of(station) else {
            return self.plan.router_of(&self.plan.stations[station]);
        };
        let ap = self.ap_of(group)?;
        let number = self.plan.aps.iter().position(|known| known.name == ap.name)?;
        self.plan.router_behind(Device::Ap(number))
    }

    /// The stations behind a router.
    pub(super) fn behind(&self, router: Device) -> Vec<usize> {
        let stations = 0..self.plan.stations.len();
        stations
            .filter(|station| self.router_of(*station) == Some(router))
            .collect()
    }

    /// Number of frames that fit into one aggregate of a group's radio, at this frame rate.
    pub(super) fn fits(&self, group: &Group, frames_per_second: f64) -> Option<f64> {
        let ap = self.ap_of(group)?;
        let radio = ap
            .radios
            .iter()
            .find(|radio| Some(format!("{}.{}", ap.name, radio.name)) == group.radio);
        let aggregation = radio.map(|radio| radio.aggregation).unwrap_or_default();
        let by_time = aggregation.time.as_secs_f64() * frames_per_second;
        Some(by_time.min(aggregation.frames.map_or(WINDOW, f64::from)).max(1.0))
    }

    /// Bins in which one of these stations waited for an operation; all bins if there are none.
    pub(super) fn bad_bins(&self, stations: &[usize]) -> Vec<bool> {
        let waits = |bin: usize| {
            let of = |station: &usize| {
                self.evidence.stations[*station]
                    .bins
                    .get(bin)
                    .map_or(0, |bin| bin.waits)
            };
            stations.iter().map(of).sum::<u64>() > 0
        };
        let bad: Vec<bool> = (0..self.evidence.buckets.count()).map(waits).collect();
        if bad.contains(&true) {
            bad
        } else {
            vec![true; self.evidence.buckets.count()]
        }
    }

    /// The bins in which a station moved data.
    pub(super) fn busy_bins(&self, station: usize) -> Vec<bool> {
        let bins = &self.evidence.stations[station].bins;
        let moved = |bin: usize| bins.get(bin).is_some_and(|bin| bin.bytes.total() > 0);
        (0..self.evidence.buckets.count()).map(moved).collect()
    }

    /// Sums of a station's values in these bins.
    pub(super) fn sum(&self, station: usize, mask: &[bool]) -> Bin {
        let mut sum = Bin::default();
        let bins = self.evidence.stations[station].bins.values().iter().zip(mask);
        bins.filter(|(_, wanted)| **wanted).for_each(|(bin, _)| sum.add(bin));
        sum
    }

    /// Returns how long these bins are in all runs, in ns.
    pub(super) fn length(&self, mask: &[bool]) -> f64 {
        let last = self.bin_length(mask.len().saturating_sub(1));
        let whole = self.evidence.buckets.width().as_nanos() as f64;
        let of = |(index, wanted): (usize, &bool)| match (wanted, index + 1 == mask.len()) {
            (false, _) => 0.0,
            (true, true) => last,
            (true, false) => whole,
        };
        mask.iter().enumerate().map(of).sum::<f64>() * self.runs as f64
    }

    /// Returns how long a bin is, in ns: the last one may be cut short.
    fn bin_length(&self, index: usize) -> f64 {
        let width = self.evidence.buckets.width().as_nanos();
        let left = self.plan.duration.as_nanos().saturating_sub(width * index as u64);
        left.min(width).max(1) as f64
    }

    /// Load that these stations put on a link of that capacity in one direction. The link is full in a bin if the content
    /// reaches `share` of what it can carry then.
    pub(super) fn line(&self, stations: &[usize], direction: Direction, capacity: &Capacity, share: f64) -> LinkLoad {
        let (mut used, mut full, mut moved, mut span) = (0_u64, 0_u64, 0.0, 0.0);
        let (mut whole, mut rates) = (0.0, 0.0);
        let width = self.evidence.buckets.width();
        for index in 0..self.evidence.buckets.count() {
            let of = |station: &usize| {
                let bin = self.evidence.stations[*station].bins.get(index);
                bin.map_or(0, |bin| {
                    if direction == Direction::Down {
                        bin.bytes.down
                    } else {
                        bin.bytes.up
                    }
                })
            };
            let bytes: u64 = stations.iter().map(of).fold(0, u64::saturating_add);
            let length = self.bin_length(index) * self.runs as f64;
            let bits = bytes as f64 * 8e9 / length;
            let from = width * index as u64;
            let Some(rate) = capacity.between(from, from + width) else {
                continue;
            };
            let rate = rate.as_bps() as f64;
            whole += rate;
            used += u64::from(bits > rate / 100.0);
            if bits >= share * capacity.content_share() * rate && bytes > 0 {
                full += 1;
                rates += rate;
                moved += bytes as f64 * 8e3;
                span += length;
            }
        }
        let mean = match full {
            0 => whole / self.evidence.buckets.count().max(1) as f64,
            full => rates / full as f64,
        };
        LinkLoad {
            rate: BitRate::from_bps(mean as u64),
            mbps: if span > 0.0 { moved / span } else { 0.0 },
            full: if used > 0 { full as f64 / used as f64 } else { 0.0 },
        }
    }

    /// A station's throughput by bin in which it moved data, in Mbit/s, sorted.
    pub(super) fn rates(&self, station: usize) -> Vec<f64> {
        let bins = self.evidence.stations[station].bins.values().iter().enumerate();
        let rate = |(index, bin): (usize, &Bin)| {
            let bytes = bin.bytes.total();
            (bytes > 0).then(|| bytes as f64 * 8e3 / (self.bin_length(index) * self.runs as f64))
        };
        let mut rates: Vec<f64> = bins.filter_map(rate).collect();
        rates.sort_by(f64::total_cmp);
        rates
    }

    fn find_degradation(&self, station: usize) -> Option<DegradedStation> {
        let summary = self.station(station)?;
        let (mut what, mut failed) = (Vec::new(), Vec::new());
        for (place, workload) in summary.workloads.iter().enumerate() {
            let goals = workload.goals.iter();
            let worst = goals.filter(|goal| matches!(goal.verdict, Verdict::Fail | Verdict::Marginal));
            let worst = worst.min_by(|a, b| a.met.unwrap_or(1.0).total_cmp(&b.met.unwrap_or(1.0)));
            if let Some(goal) = worst {
                failed.push(place);
                what.push(match goal.met {
                    Some(met) => format!("{} met `{}` for {}", workload.name, goal.goal, met_percent(met)),
                    None => format!("{} did not meet `{}`", workload.name, goal.goal),
                });
            } else if let Some(slow) = self.slow(station, workload) {
                what.push(slow);
            }
        }
        Some(DegradedStation {
            station,
            serious: !failed.is_empty(),
            what: what.first()?.clone(),
            all: what,
            failed,
        })
    }

    /// A probe without a goal whose round trips are slow.
    fn slow(&self, station: usize, workload: &WorkloadSummary) -> Option<String> {
        if !Kind::by_name(&workload.kind).is_some_and(Kind::is_probe) || !workload.goals.is_empty() {
            return None;
        }
        let idle = self.idle_ms_to(station, workload);
        let latency = &workload.latency_ms;
        let (level, loaded) = match (latency.p95, latency.p50) {
            (Some(p95), _) => ("p95", p95),
            (None, Some(p50)) => ("p50", p50),
            (None, None) => return None,
        };
        let before = if idle > 0.0 {
            format!(", {} before the load", span(idle))
        } else {
            String::new()
        };
        (loaded > SLOW_MS && loaded > 3.0 * idle)
            .then(|| format!("{} took {} at {level}{before}", workload.name, span(loaded)))
    }

    fn group_by_channel(&self) -> Vec<Group> {
        let mut groups: BTreeMap<Air, Vec<usize>> = BTreeMap::new();
        match self.environment {
            Environment::Local | Environment::Imported => {}
            Environment::Simulate | Environment::Lab => {
                let Ok(network) = PlannedNetwork::new(self.plan) else {
                    return Vec::new();
                };
                for (station, radio) in network.associations.radios.iter().enumerate() {
                    if let Some(radio) = radio {
                        let key = (network.channel(radio), Some(radio.to_string()), None);
                        groups.entry(key).or_default().push(station);
                    }
                }
            }
            Environment::Fleet => {
                for (station, seen) in self.evidence.stations.iter().enumerate() {
                    // Stations without a known frequency may be on any channel.
                    // The station may have been on other radios before.
                    let bytes = |radio: &RadioEvidence| {
                        let devices = radio.devices.values().filter(|device| device.station == Some(station));
                        devices.map(|device| device.bytes).max()
                    };
                    let radios = self.evidence.observed_radios().map(|(_, radio)| radio);
                    let most = radios
                        .filter(|radio| radio.has(station))
                        .max_by_key(|radio| bytes(radio));
                    let observed = most.and_then(|radio| radio.frequency_mhz);
                    if let Some(mhz) = seen.link.frequency_mhz.or(observed) {
                        groups.entry((None, None, Some(mhz))).or_default().push(station);
                    }
                }
            }
        }
        let peers = |channel: Option<usize>, radio: &Option<String>| -> Vec<usize> {
            let others = groups
                .iter()
                .filter(|((other, name, _), _)| channel.is_some() && *other == channel && name != radio);
            others.flat_map(|(_, members)| members.iter().copied()).collect()
        };
        let group = |((channel, radio, mhz), members): (&Air, &Vec<usize>)| Group {
            mhz: *mhz,
            peers: peers(*channel, radio),
            radio: radio.clone(),
            members: members.clone(),
        };
        groups.iter().map(group).collect()
    }
}
