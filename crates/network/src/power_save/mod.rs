//! Receivers that are off for a time: stations that doze or leave their channel, and access points that scan.
//!
//! - [`sleeper`] – when a station dozes and wakes
//! - [`absence`] – when an access point or a station leaves its channel
//! - [`on_air`] – performs their actions on the air

mod absence;
mod on_air;
mod sleeper;

use crate::beacon;
use crate::error::NetworkError;
use crate::layout::{Layout, WifiStation};
use absence::Absences;
use netburn_medium::config::{PowerSaveMode, Standard};
use netburn_medium::packet::NodeId;
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant, RandomStream};
pub(crate) use sleeper::PowerSaveFrame;
use sleeper::Sleeper;

/// All stations that doze, and all stations and access points that leave their channel.
#[derive(Debug)]
pub(crate) struct PowerSaves<B> {
    dozing: Vec<Dozing>,
    absences: Absences,
    /// Index in `dozing`, by Wi-Fi station.
    of_wifi_station: Vec<Option<u16>>,
    /// Index in `dozing`, by node.
    of_node: Vec<Option<u16>>,
    /// Management frames that wait in the access point until the station is awake, by Wi-Fi station.
    deferred: Vec<Vec<Deferred<B>>>,
    /// Packets in the access points for each node that dozes. They are neither delivered nor dropped.
    waiting: Vec<u32>,
    /// Phase of the beacons of each radio.
    beacons: Vec<Duration>,
    /// Cached time of the next timer; outer `None`: invalidated by a state change.
    due: Option<Option<Instant>>,
}

/// A management frame that waits until its station is awake.
#[derive(Debug)]
struct Deferred<B> {
    /// Node of the station when the frame was deferred. A station that roams has another one.
    node: NodeId,
    /// Length of the body in bytes.
    length: u32,
    body: B,
}

/// A station that dozes.
#[derive(Debug)]
struct Dozing {
    wifi_station: usize,
    sleeper: Sleeper,
    /// Its timer, as far as the cache knows it.
    due: Option<Instant>,
    /// For the reception of beacons.
    beacon_rng: RandomStream,
}

impl<B> PowerSaves<B> {
    /// # Errors
    /// If the standard of a link does not have the station's mode.
    pub(crate) fn new(plan: &Plan, layout: &Layout, begin: Instant) -> Result<Self, NetworkError> {
        let mut dozing = Vec::new();
        let mut of_wifi_station = vec![None; layout.wifi_stations.len()];
        for (index, at) in layout.wifi_stations.iter().enumerate() {
            let station = &plan.stations[at.station];
            let Some(settings) = station.air.power_save.filter(|save| save.mode != PowerSaveMode::Off) else {
                continue;
            };
            let mobile = layout.mobile.iter().find(|mobile| mobile.wifi_station == index);
            let links = mobile.map_or(std::slice::from_ref(at), |mobile| &mobile.candidates);
            check(&station.name, settings.mode, links)?;
            let periods = plan
                .seed
                .stream("twt", at.station as u64)
                .duration_below(settings.twt_interval);
            of_wifi_station[index] = Some(dozing.len() as u16);
            dozing.push(Dozing {
                wifi_station: index,
                sleeper: Sleeper::new(begin, settings, periods),
                due: None,
                beacon_rng: plan.seed.stream("dozing", at.station as u64),
            });
        }
        let radios = layout.radios.len();
        let mut of_node = vec![None; radios];
        of_node.extend(layout.station_of_node.iter().map(|station| {
            let of_station =
                |dozing: &Dozing| layout.wifi_stations[dozing.wifi_station].station == usize::from(*station);
            dozing.iter().position(of_station).map(|index| index as u16)
        }));
        let beacons = |radio| {
            let mut phase = plan.seed.stream("beacon phase", radio);
            phase.duration_below(beacon::INTERVAL)
        };
        Ok(PowerSaves {
            dozing,
            absences: Absences::new(plan, layout),
            deferred: of_wifi_station.iter().map(|_| Vec::new()).collect(),
            of_wifi_station,
            waiting: vec![0; of_node.len()],
            of_node,
            beacons: (0..radios as u64).map(beacons).collect(),
            due: None,
        })
    }

    /// Index of a Wi-Fi station that dozes.
    fn of_wifi_station(&self, wifi_station: usize) -> Option<usize> {
        self.of_wifi_station[wifi_station].map(usize::from)
    }

    /// Index of the station of a node, if it dozes.
    fn of_node(&self, node: NodeId) -> Option<usize> {
        self.of_node[node.index()].map(usize::from)
    }

    /// True if the receiver of a Wi-Fi station is off until a beacon.
    pub(crate) fn is_dozing(&self, wifi_station: usize) -> bool {
        let index = self.of_wifi_station(wifi_station);
        index.is_some_and(|index| self.dozing[index].sleeper.is_dozing())
    }

    /// Phase of the beacons of a radio.
    pub(crate) fn beacons(&self, radio: NodeId) -> Duration {
        self.beacons[radio.index()]
    }

    /// Counts a packet for a node that enters the queue of its access point.
    pub(crate) fn count_waiting(&mut self, node: NodeId) {
        if self.of_node(node).is_some() {
            self.waiting[node.index()] += 1;
        }
    }

    /// Counts a packet for a node that was delivered or dropped.
    fn remove_waiting(&mut self, node: NodeId) {
        if self.of_node(node).is_some() {
            let waiting = &mut self.waiting[node.index()];
            *waiting = waiting.saturating_sub(1);
        }
    }

    /// Keeps a management frame until a station is awake.
    fn defer(&mut self, wifi_station: usize, frame: Deferred<B>) {
        self.count_waiting(frame.node);
        self.deferred[wifi_station].push(frame);
    }

    /// Drops the management frames that wait until a station is awake.
    pub(crate) fn forget_deferred(&mut self, wifi_station: usize) {
        self.take_deferred(wifi_station);
    }

    /// Takes the management frames that wait until a station is awake.
    fn take_deferred(&mut self, wifi_station: usize) -> Vec<Deferred<B>> {
        let frames = std::mem::take(&mut self.deferred[wifi_station]);
        for frame in &frames {
            self.remove_waiting(frame.node);
        }
        frames
    }

    /// Invalidates the cached time of the next timer if that of a station has changed.
    fn update(&mut self, index: usize) {
        let dozing = &mut self.dozing[index];
        let due = dozing.sleeper.poll_timeout();
        if dozing.due != due {
            dozing.due = due;
            self.due = None;
        }
    }

    /// Returns true if no station dozes, and no station or access point leaves its channel.
    pub(crate) fn is_empty(&self) -> bool {
        self.dozing.is_empty() && self.absences.poll_timeout().is_none()
    }

    pub(crate) fn poll_timeout(&mut self) -> Option<Instant> {
        if let Some(due) = self.due {
            return due;
        }
        let sleepers = self.dozing.iter().filter_map(|dozing| dozing.sleeper.poll_timeout());
        let due = sleepers.chain(self.absences.poll_timeout()).min();
        self.due = Some(due);
        due
    }
}

/// Checks that the standard of each link has the mode: QoS came with 802.11n, TWT with 802.11ax.
fn check(station: &str, mode: PowerSaveMode, links: &[WifiStation]) -> Result<(), NetworkError> {
    let (name, first) = match mode {
        PowerSaveMode::Off | PowerSaveMode::Legacy => return Ok(()),
        PowerSaveMode::UApsd => ("u-apsd", Standard::N),
        PowerSaveMode::Twt => ("twt", Standard::Ax),
    };
    match links.iter().find(|at| at.link.standard < first) {
        None => Ok(()),
        Some(at) => Err(NetworkError::PowerSave {
            station: station.to_owned(),
            mode: name,
            standard: at.link.standard.name(),
            first: first.name(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;

    /// Otherwise each beacon would report data that the access point does not have, and the station would stay awake.
    #[test]
    fn forgotten_frames_do_not_wait() {
        let text = "[ap.x.radio.5g]\n[station.s]\njoins = \"x.5g\"\nmcs = 5\npower_save = \"legacy\"\n";
        let plan = Document::from_toml("dozes.toml", text).unwrap().resolve().unwrap();
        let layout = Layout::from_plan(&plan).unwrap();
        let mut saves = PowerSaves::new(&plan, &layout, Instant::ZERO).unwrap();
        let node = layout.wifi_stations[0].node;
        for length in [2, 45] {
            saves.defer(0, Deferred { node, length, body: () });
        }
        assert_eq!(saves.waiting[node.index()], 2);
        saves.forget_deferred(0);
        assert_eq!(saves.waiting[node.index()], 0);
    }
}
