//! Absences at fixed times: access points that scan, and stations that leave their channel.

use crate::layout::Layout;
use netburn_medium::packet::NodeId;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Absence, DEFAULT_SCAN_AWAY};
use netburn_units::Instant;

/// A radio or a station that is absent at times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absentee {
    /// A radio of an access point that scans.
    Radio(NodeId),
    /// A Wi-Fi station, by index.
    WifiStation {
        index: usize,
        /// True if it announces its absences to its access point.
        announced: bool,
    },
}

/// All radios and stations that are absent at times.
#[derive(Debug)]
pub(crate) struct Absences(Vec<Absent>);

#[derive(Debug)]
struct Absent {
    who: Absentee,
    /// Its length is less than the interval.
    absence: Absence,
    away: bool,
    next: Instant,
}

impl Absences {
    pub(crate) fn new(plan: &Plan, layout: &Layout) -> Self {
        let scan = |(radio, ap): (usize, usize)| {
            let config = &plan.aps[ap];
            let interval = config.scan_interval?;
            let absence = Absence {
                interval,
                length: config.scan_away.unwrap_or(DEFAULT_SCAN_AWAY).min(interval),
                announced: false,
            };
            Some((Absentee::Radio(NodeId(radio as u16)), absence))
        };
        let absent_station = |(index, station): (usize, usize)| {
            let absence = plan.stations[station].air.absence?;
            let announced = absence.announced;
            Some((Absentee::WifiStation { index, announced }, absence))
        };
        let radios = layout.radios.iter().map(|radio| radio.ap).enumerate();
        let stations = layout.wifi_stations.iter().map(|at| at.station).enumerate();
        let all = radios.filter_map(scan).chain(stations.filter_map(absent_station));
        let absent = all.map(|(who, absence)| Absent {
            who,
            absence,
            away: false,
            next: Instant::ZERO + absence.interval,
        });
        Absences(absent.collect())
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.0.iter().map(|absent| absent.next).min()
    }

    /// Returns one that leaves the channel (`true`) or returns to it at `now`.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(Absentee, bool)> {
        let absent = self.0.iter_mut().find(|absent| absent.next <= now)?;
        absent.away = !absent.away;
        let Absence { interval, length, .. } = absent.absence;
        absent.next += if absent.away {
            length
        } else {
            interval.saturating_sub(length)
        };
        Some((absent.who, absent.away))
    }
}
