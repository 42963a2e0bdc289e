//! Airtime of the stations of one channel.

use super::*;
use crate::explain::evidence::{ApEvidence, RadioEvidence};
use std::collections::BTreeSet;

impl RunFacts<'_> {
    /// Airtime of a group in these bins; `None` if unknown.
    pub(in crate::explain) fn airtime(&self, group: &Group, mask: &[bool]) -> Option<AirtimeBreakdown> {
        self.airtime_of(group, &group.members, &group.peers, mask)
    }

    /// Airtime of all stations on a group's channel, on any radio.
    pub(in crate::explain) fn channel_airtime(&self, group: &Group, mask: &[bool]) -> Option<AirtimeBreakdown> {
        let all: Vec<usize> = group.members.iter().chain(&group.peers).copied().collect();
        self.airtime_of(group, &all, &[], mask)
    }

    fn airtime_of(&self, group: &Group, members: &[usize], peers: &[usize], mask: &[bool]) -> Option<AirtimeBreakdown> {
        let mut sums: Vec<(usize, Bin)> = members.iter().map(|s| (*s, self.sum(*s, mask))).collect();
        let mut estimated = false;
        if self.environment == Environment::Fleet {
            for (station, sum) in &mut sums {
                let reported = self.observed_airtime(*station, mask, sum);
                if !reported {
                    self.estimate_airtime(*station, mask, sum);
                    estimated |= sum.bytes.total() > 0;
                }
            }
        }
        let mut all = Bin::default();
        sums.iter().for_each(|(_, sum)| all.add(sum));
        let (air, bytes) = (all.air.airtime(), all.bytes.total());
        let length = self.length(mask);
        if air == 0 || bytes == 0 || length <= 0.0 {
            return None;
        }
        let shares = sums
            .iter()
            .filter(|(_, sum)| sum.bytes.total() > 0)
            .map(|(station, sum)| Share {
                station: *station,
                air: sum.air.airtime() as f64 / air as f64,
                bytes: sum.bytes.total() as f64 / bytes as f64,
                sum: *sum,
            });
        let taken = |station: &usize| {
            let air = self.sum(*station, mask).air;
            air.airtime() as f64 + around(air.transmissions)
        };
        Some(AirtimeBreakdown {
            shares: shares.collect(),
            data: air as f64 / length,
            around: around(all.air.transmissions) / length,
            others: self.others(group, mask),
            peers: peers.iter().map(taken).sum::<f64>() / length,
            estimated,
        })
    }

    /// Sets the airtime of a station from what observed access points reported. Returns false if they reported none.
    fn observed_airtime(&self, station: usize, mask: &[bool], sum: &mut Bin) -> bool {
        let mut reported = false;
        for radio in self.evidence.observed_radios().filter(|radio| radio.has_airtime) {
            for device in radio.devices.values().filter(|device| device.station == Some(station)) {
                let [down, up] = radio.airtime(device, mask);
                sum.air.airtime_down = sum.air.airtime_down.saturating_add(down);
                sum.air.airtime_up = sum.air.airtime_up.saturating_add(up);
                reported = true;
            }
        }
        reported
    }

    /// Estimates the airtime of a station's data from its link rates, or from the rates that observed access points
    /// reported.
    fn estimate_airtime(&self, station: usize, mask: &[bool], sum: &mut Bin) {
        let link = &self.evidence.stations[station].link;
        let took = |bytes: u64, rate: Option<f64>| {
            let rate = rate.filter(|rate| *rate > 0.0)?;
            Some((bytes as f64 * 8e9 / (rate * OF_RATE)) as u64)
        };
        let known = [
            took(sum.bytes.down, link.down.value()),
            took(sum.bytes.up, link.up.value()),
        ];
        if known == [None, None] {
            for radio in self.evidence.observed_radios() {
                for device in radio.devices.values().filter(|device| device.station == Some(station)) {
                    let [down, up] = radio.airtime(device, mask);
                    sum.air.airtime_down = sum.air.airtime_down.saturating_add(down);
                    sum.air.airtime_up = sum.air.airtime_up.saturating_add(up);
                }
            }
            return;
        }
        let [down, up] = known.map(|airtime| airtime.unwrap_or(0));
        (sum.air.airtime_down, sum.air.airtime_up) = (down, up);
    }

    /// Share of a group's channel that other networks used in these bins. It is measured where
    /// airtime is modelled; older records use the scenario's value. On a fleet with an observed access
    /// point it is the time in which its channel was busy without its stations; otherwise the channel
    /// utilisation before the load.
    pub(in crate::explain) fn others(&self, group: &Group, mask: &[bool]) -> f64 {
        let measured = group
            .members
            .iter()
            .filter(|s| self.evidence.stations[**s].knows_others);
        let measured = measured.map(|s| self.sum(*s, mask).air.others).max();
        match (&group.radio, measured) {
            (Some(_), Some(others)) => others as f64 / self.length(mask).max(1.0),
            (Some(radio), None) => self.configured_busy(radio, mask),
            (None, _) => {
                if let Some(observed) = self.observed_others(group, mask).filter(|_| !mask.is_empty()) {
                    return observed;
                }
                let links = group.members.iter().map(|s| &self.evidence.stations[*s].link);
                let known: Vec<f64> = links.filter_map(|link| link.busy_before.value()).collect();
                match known.len() {
                    0 => 0.0,
                    count => known.iter().sum::<f64>() / count as f64 / 1e6,
                }
            }
        }
    }

    /// Share of a group's channel that was busy without the stations of the observed access points on it; `None` if none is
    /// observed, or if its driver has no survey.
    fn observed_others(&self, group: &Group, mask: &[bool]) -> Option<f64> {
        let radios = self.radios_of(group);
        let own: u64 = radios
            .iter()
            .map(|radio| radio.all_airtime(mask))
            .fold(0, u64::saturating_add);
        let busy = radios.iter().filter_map(|radio| radio.busy(mask)).reduce(f64::max)?;
        Some((busy - own as f64 / self.length(mask).max(1.0)).max(0.0))
    }

    /// The radios of observed access points on a group's channel.
    pub(in crate::explain) fn radios_of(&self, group: &Group) -> Vec<&RadioEvidence> {
        let of = |radio: &&RadioEvidence| {
            let mut stations = radio.devices.values().filter_map(|device| device.station);
            stations.any(|station| group.members.contains(&station))
        };
        self.evidence.observed_radios().filter(of).collect()
    }

    /// Degraded stations on an observed access point; all of them if it has no station of the run, as a router without Wi-Fi.
    pub(in crate::explain) fn degraded_at(&self, access_point: &ApEvidence) -> Vec<usize> {
        let devices = access_point.radios.values().flat_map(|radio| radio.devices.values());
        let on_it: BTreeSet<usize> = devices.filter_map(|device| device.station).collect();
        let all = self.degraded.iter().map(|degraded| degraded.station);
        all.filter(|station| on_it.is_empty() || on_it.contains(station))
            .collect()
    }

    /// Share for other networks in the scenario, with its timed changes.
    fn configured_busy(&self, radio: &str, mask: &[bool]) -> f64 {
        let planned = self.plan.aps.iter().flat_map(|ap| {
            let is_named = |r: &netburn_scenario::plan::Radio| format!("{}.{}", ap.name, r.name);
            ap.radios.iter().map(move |r| (is_named(r), r.channel_busy.as_f64()))
        });
        let initial = planned
            .filter(|(name, _)| name == radio)
            .map(|(_, busy)| busy)
            .next()
            .unwrap_or(0.0);
        let changes = self.plan.changes.iter().flat_map(|change| {
            change.settings.iter().filter_map(|setting| match setting {
                Setting::Radio(of, RadioSetting::ChannelBusy(share)) if of.to_string() == radio => {
                    Some((change.time.as_nanos(), share.as_f64()))
                }
                _ => None,
            })
        });
        let changes: Vec<(u64, f64)> = changes.collect();
        let width = self.evidence.buckets.width().as_nanos();
        let at = |bin: usize| {
            let middle = width * bin as u64 + width / 2;
            let last = changes.iter().rev().find(|(at, _)| *at <= middle);
            last.map_or(initial, |(_, share)| *share)
        };
        let wanted: Vec<f64> = (0..mask.len()).filter(|bin| mask[*bin]).map(at).collect();
        match wanted.len() {
            0 => 0.0,
            count => wanted.iter().sum::<f64>() / count as f64,
        }
    }
}

impl AirtimeBreakdown {
    /// The share of the time in which the channel was busy.
    pub(in crate::explain) fn used(&self) -> f64 {
        self.data + self.around + self.others + self.peers
    }

    pub(in crate::explain) fn share(&self, station: usize) -> Option<&Share> {
        self.shares.iter().find(|share| share.station == station)
    }
}

impl AirtimeBreakdown {
    /// The affected stations that move [`SLOWER`] times as much as `slow` or more in a second of airtime, and the fastest of
    /// them.
    pub(in crate::explain) fn slowed_by(
        &self,
        slow: &Share,
        is_affected: impl Fn(&Share) -> bool,
    ) -> Option<(Vec<Share>, Share)> {
        let is_slowed = |share: &&Share| share.speed() >= SLOWER * slow.speed() && is_affected(share);
        let slowed: Vec<Share> = self.shares.iter().filter(is_slowed).copied().collect();
        let fastest = slowed.iter().max_by(|a, b| a.speed().total_cmp(&b.speed())).copied()?;
        Some((slowed, fastest))
    }
}

impl Share {
    /// Content per second of airtime, in Mbit/s.
    pub(in crate::explain) fn speed(&self) -> f64 {
        match self.sum.air.airtime() {
            0 => 0.0,
            air => self.sum.bytes.total() as f64 * 8e3 / air as f64,
        }
    }
}

/// Overhead of data transmissions, in ns.
fn around(transmissions: u64) -> f64 {
    transmissions as f64 * AROUND.as_nanos() as f64
}
