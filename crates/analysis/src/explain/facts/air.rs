//! Airtime of the stations of one channel.

use super::*;
use crate::explain::evidence::{ApEvidence, RadioEvidence};

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

    /// Returns true if the airtime includes that of networks and devices that take no part in the run.
    pub(in crate::explain) fn knows_the_channel(&self, group: &Group, airtime: &AirtimeBreakdown) -> bool {
        let has_survey = |station: &usize| self.evidence.stations[*station].link.busy.count > 0;
        self.environment != Environment::Fleet || airtime.surveyed.is_some() || group.members.iter().any(has_survey)
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
            surveyed: self.surveyed(group, mask),
            estimated,
        })
    }

    /// Sets the airtime of a station from the reports of observed access points. Returns false if they do not report it, or
    /// not for most of these bins.
    fn observed_airtime(&self, station: usize, mask: &[bool], sum: &mut Bin) -> bool {
        let mut is_reported = false;
        for (access_point, radio) in self.evidence.observed_radios() {
            let Some(scale) = self.scale(access_point, mask) else {
                continue;
            };
            if !radio.reports_airtime() {
                continue;
            }
            for device in radio.devices.values().filter(|device| device.station == Some(station)) {
                let [down, up] = radio
                    .airtime(device, mask)
                    .map(|airtime| (airtime as f64 * scale) as u64);
                sum.air.airtime_down = sum.air.airtime_down.saturating_add(down);
                sum.air.airtime_up = sum.air.airtime_up.saturating_add(up);
                is_reported = true;
            }
        }
        is_reported
    }

    /// Ratio of the time of these bins to the part of it that the samples of an access point cover; `None` if that is less than
    /// half.
    fn scale(&self, access_point: &ApEvidence, mask: &[bool]) -> Option<f64> {
        let scale = self.length(mask) / access_point.covered(mask).max(1) as f64;
        (scale <= 2.0).then_some(scale.max(1.0))
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
            for (_, radio) in self.evidence.observed_radios() {
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

    /// Share of a group's channel that was busy without the stations of the observed access points on it; `None` if it is not
    /// known: without a survey, and without airtime of the stations.
    pub(in crate::explain) fn observed_others(&self, group: &Group, mask: &[bool]) -> Option<f64> {
        let busy = self.surveyed(group, mask)?;
        let radios = self.radios_of(group).into_iter();
        let own = radios.map(|(access_point, radio)| {
            let scale = self.scale(access_point, mask).filter(|_| radio.reports_airtime())?;
            Some(radio.all_airtime(mask) as f64 * scale / self.length(mask).max(1.0))
        });
        let own = own.sum::<Option<f64>>()?;
        Some((busy - own).max(0.0))
    }

    /// Share of the time in which a group's channel was busy, by the survey of an observed access point.
    pub(in crate::explain) fn surveyed(&self, group: &Group, mask: &[bool]) -> Option<f64> {
        let radios = self.radios_of(group).into_iter();
        radios.filter_map(|(_, radio)| radio.busy(mask)).reduce(f64::max)
    }

    /// The radios on a group's channel of the observed access points that have a station of the group. An access point has one
    /// for each of its networks.
    pub(in crate::explain) fn radios_of(&self, group: &Group) -> Vec<(&ApEvidence, &RadioEvidence)> {
        let has_member = |access_point: &ApEvidence| {
            let mut radios = access_point.radios.values();
            radios.any(|radio| group.members.iter().any(|station| radio.has(*station)))
        };
        let radios = self.evidence.observed_radios();
        let on_channel = radios.filter(|(_, radio)| group.mhz.is_some() && radio.frequency_mhz == group.mhz);
        on_channel
            .filter(|(access_point, _)| has_member(access_point))
            .collect()
    }

    /// Degraded stations on an observed access point. Of one that has no station of the run, such as a router without Wi-Fi,
    /// those that no observed access point has.
    pub(in crate::explain) fn degraded_at(&self, access_point: &ApEvidence) -> Vec<usize> {
        let has = |station: usize| access_point.radios.values().any(|radio| radio.has(station));
        let is_empty = !(0..self.plan.stations.len()).any(has);
        let all = self.degraded.iter().map(|degraded| degraded.station);
        let is_here = |station: usize| has(station) || is_empty && !self.evidence.is_recognised(station);
        all.filter(|station| is_here(*station)).collect()
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
        let known = self.data + self.around + self.others + self.peers;
        known.max(self.surveyed.unwrap_or(0.0))
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
