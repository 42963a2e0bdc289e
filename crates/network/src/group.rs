//! Group-addressed data of access points: its frames, and the buffer in which they wait for a DTIM beacon while a station
//! of the radio dozes (802.11-2020 clause 11.2.3.6).

use crate::beacon;
use crate::output::Payload;
use crate::wlan::Wlan;
use netburn_medium::edca::AccessCategory;
use netburn_medium::packet::NodeId;
use netburn_medium::queue::StationState;
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

/// Access category of group-addressed data. After a DTIM beacon it precedes all frames to single stations.
pub(crate) const fn category(dtim: bool) -> AccessCategory {
    if dtim {
        AccessCategory::Voice
    } else {
        AccessCategory::BestEffort
    }
}

/// True if a station of a radio has announced that it dozes.
pub(crate) fn has_dozing_station<B: Payload>(wlan: &Wlan<B>, radio: NodeId) -> bool {
    let mut stations = wlan.stations.iter().filter(|at| at.radio == radio);
    stations.any(|at| wlan.air.station_state(radio, at.node) == StationState::Asleep)
}

/// Frames that wait for a DTIM beacon (mac80211: `AP_MAX_BC_BUFFER`).
pub(crate) const BUFFER: usize = 128;

/// Frames that wait for the next DTIM beacon of a radio, and the time of that beacon.
#[derive(Debug)]
pub(crate) struct DtimBuffer<T> {
    /// Time from one DTIM beacon to the next.
    period: Duration,
    waiting: VecDeque<T>,
    beacon: Option<Instant>,
}

impl<T> DtimBuffer<T> {
    /// `period`: beacons from one DTIM beacon to the next.
    pub(crate) fn new(period: u8) -> Self {
        DtimBuffer {
            period: beacon::INTERVAL * u64::from(period),
            waiting: VecDeque::new(),
            beacon: None,
        }
    }

    /// Keeps a frame until the next DTIM beacon. `phase`: that of the beacons. Returns the oldest frame if the buffer was
    /// full.
    pub(crate) fn hold(&mut self, now: Instant, phase: Duration, frame: T) -> Option<T> {
        self.waiting.push_back(frame);
        let beacon = beacon::next(now, phase, self.period);
        self.beacon.get_or_insert(beacon);
        if self.waiting.len() > BUFFER {
            self.waiting.pop_front()
        } else {
            None
        }
    }

    /// True if frames wait.
    pub(crate) fn is_holding(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Time of the next beacon for which frames wait.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.beacon
    }

    /// Returns the frames that follow a DTIM beacon by `now`; `None` before it. With `away` the access point does not send
    /// this beacon, so that the frames wait for the next one, and the result is empty.
    pub(crate) fn poll(&mut self, now: Instant, away: bool) -> Option<Vec<T>> {
        let beacon = self.beacon.take_if(|beacon| *beacon <= now)?;
        if away {
            self.beacon = Some(beacon + self.period);
            return Some(Vec::new());
        }
        Some(self.waiting.drain(..).collect())
    }
}
