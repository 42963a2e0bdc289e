//! Absences of a station: times in which nothing arrives, after which all that waited arrives at once.
//!
//! A full queue delays packets in the order in which they came, so the ends of their delays are as far apart as their
//! beginnings. After an absence they are together. The module looks only at beginnings and ends of probes and of streams of
//! packets, so it works for devices whose driver tells nothing, such as browsers.

mod beacons;
mod gaps;
mod period;

pub(super) use beacons::beacon_locked;
pub(in crate::explain) use beacons::{DOZING, LOCKED};
pub(in crate::explain) use gaps::{Absence, MIN_ABSENCES};
pub(super) use gaps::{absences, interval_of, touches};
pub(super) use period::rhythm;
pub(in crate::explain) use period::{LONG, Rhythm};

use super::RunFacts;
use crate::explain::evidence::Arrival;
use gaps::{is_within, late, mostly_lost, shared};
use netburn_scenario::Environment;
use netburn_workload::ProbeTarget;
use period::{FITTING, MIN_INTERVALS, long};

/// Share of the late operations and stalls that must be within absences.
pub(in crate::explain) const EXPLAINED: f64 = 0.5;
/// Share of the absences that another station must have too.
const SHARED: f64 = 0.5;

/// Absences with a period that explain most late operations of a station.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::explain) struct Interruptions {
    pub(in crate::explain) rhythm: Rhythm,
    /// Late operations and stalls within the absences, and all of them.
    pub(in crate::explain) late: usize,
    pub(in crate::explain) of: usize,
    pub(in crate::explain) sharing: Sharing,
    /// True if most absences were so long that several arrivals waited, which then came together, or if arrivals were lost in
    /// them. A single late arrival can also be that of a burst in a queue.
    pub(in crate::explain) is_certain: bool,
}

/// Gaps of a station beyond its Wi-Fi.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::explain) struct Outages {
    pub(in crate::explain) gaps: Vec<Absence>,
    /// True if probes to the first hop beyond the router show them, so that it is not the server.
    pub(in crate::explain) is_of_line: bool,
}

/// Other stations with the same absences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::explain) enum Sharing {
    /// Another station of the radio has the same absences.
    Shared,
    /// Another station of the radio does not have them.
    Own,
    /// No other station shows whether it has them.
    Unknown,
}

impl RunFacts<'_> {
    /// Absences with a period of a degraded station; `None` if most of its late operations are at other times.
    pub(in crate::explain) fn interruptions(&self, station: usize) -> Option<&Interruptions> {
        let cell = self.interruptions.get(station)?;
        cell.get_or_init(|| self.find_interruptions(station)).as_ref()
    }

    fn find_interruptions(&self, station: usize) -> Option<Interruptions> {
        self.degraded_station(station)?;
        if !self.may_use_wifi(station) {
            return None;
        }
        let seen = &self.evidence.stations[station];
        let own = absences(&seen.arrivals);
        let rhythm = rhythm(&own, &seen.arrivals).or_else(|| long(&own, interval_of(&seen.arrivals)))?;
        let is_absent = |wait: &&(i64, i64)| is_within(&rhythm.absences, **wait);
        // Goals of loss and of quality have no late operations, so all that was late or lost counts.
        let lateness = late(&seen.arrivals);
        let waits = if seen.waits.is_empty() { &lateness } else { &seen.waits };
        let observed = waits.iter().filter(|(from, _)| seen.observes(*from));
        let (late, of) = (observed.clone().filter(is_absent).count(), observed.count());
        let sharing = self.sharing(station, &rhythm.absences);
        // Without a period, other stations or its probes to the access point show that it is not the line.
        let is_known = rhythm.period.is_some() || sharing == Sharing::Own || self.has_near(station);
        (late > 0 && is_known && late as f64 >= EXPLAINED * of as f64).then(|| Interruptions {
            sharing,
            is_certain: is_certain(&rhythm, &seen.arrivals),
            rhythm,
            late,
            of,
        })
    }

    /// Times of a second or more in which nothing arrived through the line of a station, while its probes to the access point
    /// arrived, so that the Wi-Fi worked. If the station has probes to the first hop beyond the router, only these count.
    pub(in crate::explain) fn outages(&self, station: usize) -> Outages {
        let to = |wanted: &dyn Fn(Option<ProbeTarget>) -> bool| -> Vec<Arrival> {
            let workloads = &self.plan.stations[station].workloads;
            let goes_there = |arrival: &&Arrival| wanted(workloads[usize::from(arrival.stream.0)].config.target());
            let arrivals = self.evidence.stations[station].arrivals.iter();
            arrivals.filter(goes_there).copied().collect()
        };
        let near = to(&|target| target == Some(ProbeTarget::Near));
        let line = to(&|target| target == Some(ProbeTarget::Line));
        let is_of_line = !line.is_empty();
        let far = if is_of_line {
            line
        } else {
            to(&|target| target != Some(ProbeTarget::Near))
        };
        let interval = interval_of(&far);
        let mut gaps = absences(&far);
        gaps.retain(|gap| {
            let during = |arrival: &&Arrival| (gap.begin..gap.end).contains(&arrival.due);
            let due: Vec<&Arrival> = near.iter().filter(during).collect();
            let arrived = due
                .iter()
                .filter(|arrival| arrival.end.is_some_and(|end| end < gap.end))
                .count();
            let wifi_works = due.len() >= MIN_ABSENCES && arrived as f64 >= FITTING * due.len() as f64;
            gap.end - gap.begin >= LONG.max(MIN_INTERVALS * interval) && wifi_works
        });
        Outages { gaps, is_of_line }
    }

    /// Returns false for a station with a wire, and for files of other programs, which do not tell.
    pub(super) fn may_use_wifi(&self, station: usize) -> bool {
        let is_wired = self.plan.stations[station].link.is_some();
        match self.environment {
            Environment::Simulate | Environment::Lab => self.group_of(station).is_some(),
            Environment::Fleet => !is_wired,
            Environment::Local | Environment::Imported => false,
        }
    }

    fn has_near(&self, station: usize) -> bool {
        let mut workloads = self.plan.stations[station].workloads.iter();
        workloads.any(|workload| workload.config.target() == Some(ProbeTarget::Near))
    }

    pub(super) fn sharing(&self, station: usize, own: &[Absence]) -> Sharing {
        let Some(group) = self.group_of(station) else {
            return Sharing::Unknown;
        };
        let others = group.members.iter().filter(|other| **other != station);
        let shares = others.filter_map(|other| {
            let arrivals = &self.evidence.stations[*other].arrivals;
            shared(own, arrivals, &absences(arrivals))
        });
        match shares.reduce(f64::max) {
            Some(share) if share >= SHARED => Sharing::Shared,
            Some(_) => Sharing::Own,
            None => Sharing::Unknown,
        }
    }

    /// Degree to which the delays of a degraded station follow the beacons of its access point, from 0 to 1; `None` if few do.
    pub(in crate::explain) fn waits_for_beacons(&self, station: usize) -> Option<f64> {
        self.degraded_station(station)?;
        let (strength, share) = beacon_locked(&self.evidence.stations[station].arrivals)?;
        (share >= DOZING && strength >= LOCKED).then_some(strength)
    }
}

/// True if in most absences several arrivals waited, or some were lost.
pub(super) fn is_certain(rhythm: &Rhythm, arrivals: &[Arrival]) -> bool {
    rhythm.length >= 2 * interval_of(arrivals) || mostly_lost(&rhythm.absences, arrivals)
}

#[cfg(test)]
mod tests;
