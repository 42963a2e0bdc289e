//! Properties that the observations show before any model is simulated: the use of the line, further access points, and devices
//! that are themselves the limit.

use super::{IdleDelay, LINE_BYTES, LineUse, Unit};
use crate::evidence::{Key, Quantity, goodput};
use crate::links::LinkSamples;
use crate::schedule::Schedule;
use netburn_medium::config::Band;
use netburn_record::row::Bssid;
use netburn_workload::Direction;
use netburn_workload::config::ProbeTarget;
use std::collections::{BTreeMap, BTreeSet};

/// Additional wait of probes of the line from which it was full, in ms. Medians of the idle line differ by less.
const LINE_WAIT_MS: f64 = 5.0;
/// The same, as a share of the round trip to the access point.
const LINE_WAIT_SHARE: f64 = 0.25;
/// Packets for which a probe waits at a line without a queue, and bits of a large one with Ethernet's framing.
const WAITED_PACKETS: f64 = 3.0;
const LINE_PACKET_BITS: f64 = 1_538.0 * 8.0;
/// Sums of two phases above this ratio are the same.
const SAME_SUM: f64 = 0.95;
/// Sums of two phases above this ratio can be the same on a line with queue management, because short phases have few drops.
const NEAR_SUM: f64 = 0.88;
/// Goodput below this share of the link's rate is not limited by the link. TCP reaches 0.5 to 0.7 of it on a free channel.
pub(crate) const SHARE_OF_LINK: f64 = 0.4;
/// A channel is free at this share, even if no phase has a larger one. Other networks would have to use more than half of it.
const FREE_AIR: f64 = 0.25;
/// The line carries more than a device alone transferred, if another phase has this multiple.
const MORE: f64 = 1.25;
/// The channel carries more than a device alone transferred, if another phase has this multiple of its share.
const MORE_AIRTIME: f64 = 1.5;
/// Idle round trip to the access point that is long, in ms, and as a multiple of that of another station.
pub(crate) const IDLE_MS: f64 = 20.0;
pub(crate) const IDLE_FACTOR: f64 = 4.0;
/// Idle round trip beyond the access point that is long, beside that of another station: in ms, and as its multiple. All stations
/// share this path. Probes every 50 ms wake the adapter, so the difference is small.
const DOZING_MS: f64 = 10.0;
const DOZING_FACTOR: f64 = 1.3;
/// Additional round trip of a wireless backhaul in ms: a frame is sent twice, and the relay handles it for about 0.35 ms.
const HOP_MS: f64 = 0.5;

/// Observations of a run, before the model has its parameters.
pub(super) struct Reading<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) keys: &'a [Key],
    pub(super) values: &'a [Option<f64>],
    /// Band of each station.
    pub(super) bands: &'a [Band],
}

impl Reading<'_> {
    /// Sum of the goodput of all stations in each phase, in Mbit/s on the line, with the number of the phase. The highest is first.
    pub(super) fn sums(&self, direction: Direction) -> Vec<(f64, usize)> {
        let sum = |phase: usize| {
            let known = self.keys.iter().zip(self.values);
            goodput(
                known.filter_map(|(key, value)| Some((key, (*value)?))),
                phase,
                direction,
            ) * LINE_BYTES
        };
        let sums = (0..self.schedule.phases.len()).map(|phase| (sum(phase), phase));
        let mut sums: Vec<(f64, usize)> = sums.filter(|(sum, _)| *sum > 0.0).collect();
        sums.sort_by(|one, other| other.0.total_cmp(&one.0));
        sums
    }

    /// Use of the line in a phase with at least 95 % of the highest sum.
    ///
    /// - It was full if probes of the line wait longer than those of the access point, for any station that transfers.
    /// - It had capacity left if the channel was full in all these phases. The same holds if only one phase reached this sum
    ///   without a wait.
    /// - It was full without a queue if several phases nearly reached this sum without a wait, and the channel of one of them
    ///   had capacity left.
    pub(super) fn line_use(&self, direction: Direction) -> LineUse {
        let sums = self.sums(direction);
        let Some((highest, _)) = sums.first().copied() else {
            return LineUse::Unknown;
        };
        let from = |share: f64| -> Vec<usize> {
            let own = sums.iter().filter(|(sum, _)| *sum > highest * share);
            own.map(|(_, phase)| *phase).collect()
        };
        let (same, near) = (from(SAME_SUM), from(NEAR_SUM));
        let of_phase = |phase: &usize| {
            let phase = *phase;
            let flows = self.schedule.phases[phase].flows.iter();
            flows.map(move |flow| (phase, flow.station))
        };
        let waits = same.iter().flat_map(of_phase);
        let waits: Vec<LineWait> = waits
            .filter_map(|(phase, station)| self.line_wait(phase, station))
            .collect();
        // Also without a queue, a probe waits for packets that are being sent.
        let sent_ms = WAITED_PACKETS * LINE_PACKET_BITS / (highest * 1e3);
        if waits.iter().any(|wait| wait.is_long(sent_ms)) {
            return LineUse::Full;
        }
        let short = waits.iter().filter(|wait| wait.ms <= LINE_WAIT_MS + sent_ms).count();
        let is_short = short > 0 && 2 * short >= waits.len();
        let shares: Vec<Option<f64>> = near.iter().map(|phase| self.airtime(*phase, direction)).collect();
        let is_full_air = |share: &Option<f64>| share.is_some_and(|share| share >= SHARE_OF_LINK);
        let all = (0..self.schedule.phases.len()).filter_map(|phase| self.airtime(phase, direction));
        let most = all.fold(0.0, f64::max);
        let is_free_air = |share: &Option<f64>| {
            let is_free = |share: f64| share < FREE_AIR || (share < SHARE_OF_LINK && most >= MORE_AIRTIME * share);
            share.is_some_and(is_free)
        };
        // The phases of the highest sum come first.
        if shares[..same.len()].iter().all(is_full_air) {
            LineUse::Free
        } else if !is_short {
            LineUse::Unknown
        } else if shares.iter().any(is_free_air) {
            if near.len() > 1 {
                LineUse::Managed
            } else {
                LineUse::Unknown
            }
        } else if same.len() == 1 {
            LineUse::Free
        } else {
            LineUse::Unknown
        }
    }

    /// Sum of the shares of the links' rates that the stations of a phase transfer, on the band with the largest sum: a lower
    /// bound of the used airtime. `None` if a rate is not known.
    fn airtime(&self, phase: usize, direction: Direction) -> Option<f64> {
        let mut sums: BTreeMap<Band, f64> = BTreeMap::new();
        let flows = self.schedule.phases[phase].flows.iter();
        for flow in flows.filter(|flow| flow.direction == direction) {
            let share = self.goodput(phase, flow.station, direction)? / self.rate(flow.station, direction)?;
            *sums.entry(self.bands[flow.station]).or_default() += share;
        }
        sums.into_values().reduce(f64::max)
    }

    /// Highest goodput of a device in Mbit/s, if it is itself the limit. Alone it uses little of its link, other phases show that
    /// the line carries more, and that the channel does.
    pub(super) fn limit(&self, station: usize, direction: Direction) -> Option<f64> {
        let link = self.rate(station, direction)?;
        let phases = 0..self.schedule.phases.len();
        let alone = phases
            .clone()
            .filter_map(|phase| match self.schedule.phases[phase].flows.as_slice() {
                [flow] if (flow.station, flow.direction) == (station, direction) => {
                    self.goodput(phase, station, direction)
                }
                _ => None,
            });
        let own = alone.reduce(f64::max)?;
        let (highest, _) = self.sums(direction).first().copied()?;
        // Shares of the links' rates are shares of the airtime, and of the same channel.
        let used = |phase: usize| -> f64 {
            let others = (0..self.bands.len()).filter(|other| self.bands[*other] == self.bands[station]);
            let share = |other: usize| Some(self.goodput(phase, other, direction)? / self.rate(other, direction)?);
            others.filter_map(share).sum()
        };
        let most = phases.map(used).fold(0.0, f64::max);
        let is_slow = own < SHARE_OF_LINK * link;
        let line_has_more = highest >= MORE * own * LINE_BYTES;
        let channel_has_more = most >= MORE_AIRTIME * own / link;
        (is_slow && line_has_more && channel_has_more).then_some(own)
    }

    /// Delay of a station's own while nothing is transferred, beside that of the fastest other station.
    pub(super) fn idle_delay(&self, station: usize) -> IdleDelay {
        let others = || (0..self.schedule.stations.len()).filter(move |other| *other != station);
        let median = |station: usize, target| self.idle(station, target, 50);
        let beside = |target| {
            let others = others().filter_map(|other| median(other, target)).reduce(f64::min)?;
            Some((median(station, target)?, others))
        };
        if let Some((own, other)) = beside(ProbeTarget::Near)
            && own >= IDLE_MS
            && own >= IDLE_FACTOR * other
        {
            return IdleDelay::Adapter(own - other);
        }
        let far = [ProbeTarget::Line, ProbeTarget::Server].map(beside);
        let dozes = |(own, other): (f64, f64)| own >= other + DOZING_MS && own >= DOZING_FACTOR * other;
        if far.into_iter().flatten().any(dozes) {
            IdleDelay::Dozing
        } else {
            IdleDelay::Usual
        }
    }

    /// Access points beside the router, and the unit of each station. Stations of one band that recorded different radios use
    /// different access points. The router is that with the shortest round trip to the line without load.
    pub(super) fn units(&self, links: &[LinkSamples]) -> (Vec<Unit>, Vec<Option<usize>>) {
        let mut units = Vec::new();
        let mut unit_of = vec![None; links.len()];
        let far = |station: usize| {
            let of = |target| self.idle(station, target, 10);
            of(ProbeTarget::Line).or_else(|| of(ProbeTarget::Server))
        };
        for band in self.bands.iter().copied().collect::<BTreeSet<_>>() {
            let of_radio = |radio: Bssid| {
                let all =
                    (0..links.len()).filter(move |one| self.bands[*one] == band && links[*one].radio() == Some(radio));
                all.collect::<Vec<usize>>()
            };
            let own = (0..links.len()).filter(|station| self.bands[*station] == band);
            let radios: BTreeSet<Bssid> = own.filter_map(|station| links[station].radio()).collect();
            let shortest = |members: &[usize]| members.iter().filter_map(|one| far(*one)).reduce(f64::min);
            let mut groups: Vec<(Option<f64>, Vec<usize>)> = radios
                .into_iter()
                .map(of_radio)
                .map(|members| (shortest(&members), members))
                .collect();
            let order = |ms: Option<f64>| ms.unwrap_or(f64::INFINITY);
            groups.sort_by(|one, other| order(one.0).total_cmp(&order(other.0)));
            let Some(((router_ms, router), others)) = groups.split_first() else {
                continue;
            };
            for (ms, members) in others {
                let is_longer = ms.zip(*router_ms).is_some_and(|(ms, router)| ms - router >= HOP_MS);
                let is_same_channel = links[members[0]].frequency_mhz() == links[router[0]].frequency_mhz();
                members.iter().for_each(|station| unit_of[*station] = Some(units.len()));
                units.push(Unit {
                    band,
                    is_wireless: is_longer && is_same_channel,
                    shares_channel: is_same_channel,
                });
            }
        }
        (units, unit_of)
    }

    /// Goodput of a station in a phase, in Mbit/s.
    fn goodput(&self, phase: usize, station: usize, direction: Direction) -> Option<f64> {
        self.value(Key {
            phase,
            station,
            quantity: Quantity::Goodput(direction),
        })
    }

    /// Rate of a station's link in Mbit/s.
    fn rate(&self, station: usize, direction: Direction) -> Option<f64> {
        let is_own = |key: &&Key| (key.station, key.quantity) == (station, Quantity::Rate(direction));
        self.keys.iter().filter(is_own).find_map(|key| self.value(*key))
    }

    /// A percentile of the round trips of a station's probes in ms, in the first phase without load in which it sent them.
    fn idle(&self, station: usize, target: ProbeTarget, level: u8) -> Option<f64> {
        let phases = self.schedule.phases.iter().enumerate();
        let mut idle = phases.filter(|(_, phase)| phase.flows.is_empty());
        idle.find_map(|(phase, _)| self.latency(phase, station, target, level))
    }

    /// A percentile of the round trips of a station's probes in a phase, in ms.
    fn latency(&self, phase: usize, station: usize, target: ProbeTarget, level: u8) -> Option<f64> {
        self.value(Key {
            phase,
            station,
            quantity: Quantity::Latency(target, level),
        })
    }

    /// An observation in its unit.
    fn value(&self, key: Key) -> Option<f64> {
        let place = self.keys.iter().position(|own| *own == key)?;
        Some(key.in_unit(self.values[place]?))
    }

    /// Time for which probes of this station wait at the line, and not at the access point, longer than in the idle phase.
    fn line_wait(&self, phase: usize, station: usize) -> Option<LineWait> {
        let loaded = |target| self.latency(phase, station, target, 50);
        let idle = |target| self.idle(station, target, 50);
        // Without a hop beyond the router, the line is the path to the server.
        let far = [ProbeTarget::Line, ProbeTarget::Server]
            .into_iter()
            .find_map(|target| Some((loaded(target)?, idle(target)?)));
        let (loaded_far, idle_far) = far?;
        let (loaded_near, idle_near) = (loaded(ProbeTarget::Near)?, idle(ProbeTarget::Near)?);
        Some(LineWait {
            ms: (loaded_far - loaded_near) - (idle_far - idle_near),
            near_ms: loaded_near,
        })
    }
}

/// Wait at a line, beside the round trip to the access point, both in ms.
struct LineWait {
    ms: f64,
    near_ms: f64,
}

impl LineWait {
    /// True if the line has a queue, beside packets that are being sent for `sent_ms`. Both medians differ by chance, the more the longer the queue of the access point is.
    fn is_long(&self, sent_ms: f64) -> bool {
        self.ms > LINE_WAIT_MS + sent_ms + LINE_WAIT_SHARE * self.near_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::keys;
    use crate::schedule::Device;

    /// The phone is the fastest, and its page has probes of the server only. The laptop is nearly as fast.
    #[test]
    fn a_station_with_probes_of_the_line_shows_that_it_is_full() {
        let device = |name: &str, probes: &[ProbeTarget]| Device {
            name: name.to_owned(),
            probes: probes.to_vec(),
        };
        let schedule = Schedule::for_devices(&[
            device("laptop", ProbeTarget::ALL),
            device("phone", &[ProbeTarget::Server]),
        ]);
        let keys = keys(&schedule);
        let full = |laptop_mbps: f64, line_ms: f64, near_ms: f64| {
            let value = |key: &Key| {
                let flows = &schedule.phases[key.phase].flows;
                let is_idle = flows.is_empty();
                let in_unit = match (key.quantity, key.station) {
                    (Quantity::Goodput(Direction::Down), _) if flows.len() > 1 => 10.0,
                    (Quantity::Goodput(Direction::Down), 0) => laptop_mbps,
                    (Quantity::Goodput(Direction::Down), _) => 56.5,
                    (Quantity::Latency(ProbeTarget::Line, _), 0) if is_idle => 12.0,
                    (Quantity::Latency(ProbeTarget::Line, _), 0) => line_ms,
                    (Quantity::Latency(ProbeTarget::Near, _), 0) if is_idle => 1.0,
                    (Quantity::Latency(ProbeTarget::Near, _), 0) => near_ms,
                    _ => return None,
                };
                // The inverse of `Key::in_unit`: latencies are above 5 ms on their axis.
                Some(libm::log(in_unit - key.in_unit(0.0) + 1.0))
            };
            let values: Vec<Option<f64>> = keys.iter().map(value).collect();
            let reading = Reading {
                schedule: &schedule,
                keys: &keys,
                values: &values,
                bands: &[Band::Ghz5; 2],
            };
            reading.line_use(Direction::Down)
        };
        // The line adds 38 ms to its 11 ms, and the access point hardly anything.
        assert_eq!(full(56.4, 50.0, 1.0), LineUse::Full);
        // The queue is that of the access point: beyond it, the delay is that of the idle line.
        assert_eq!(full(56.4, 61.0, 50.0), LineUse::Unknown);
        // Both could be: 8 ms more at the line, and 50 ms at the access point.
        assert_eq!(full(56.4, 69.0, 50.0), LineUse::Unknown);
        // Only the phone reached the highest sum, so no probe shows what it filled.
        assert_eq!(full(40.0, 50.0, 1.0), LineUse::Unknown);
        // Only the laptop reached it, and the line has no queue, or one that may be by chance.
        assert_eq!(full(80.0, 12.5, 1.0), LineUse::Free);
        assert_eq!(full(80.0, 69.0, 50.0), LineUse::Unknown);
    }
}
