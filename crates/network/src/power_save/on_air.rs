//! Power save and absences on the air: timers, actions, and the packets that they affect.

use super::absence::Absentee;
use super::sleeper::{Action, Observation, PowerSaveFrame, Sleeper};
use super::{Deferred, PowerSaves};
use crate::beacon;
use crate::output::Payload;
use crate::wlan::Wlan;
use netburn_medium::packet::NodeId;
use netburn_medium::queue::StationState;
use netburn_units::Instant;

impl<B: Payload + From<PowerSaveFrame>> PowerSaves<B> {
    /// Starts all stations that doze.
    pub(crate) fn start(&mut self, now: Instant, wlan: &mut Wlan<B>) {
        for index in 0..self.dozing.len() {
            self.resume(now, wlan, self.dozing[index].wifi_station);
        }
    }

    /// Processes the timers that are due.
    pub(crate) fn handle_timeout(&mut self, now: Instant, wlan: &mut Wlan<B>) {
        while let Some((who, away)) = self.absences.poll(now) {
            self.due = None;
            match who {
                Absentee::Radio(radio) => wlan.air.set_away(now, radio, away),
                Absentee::WifiStation { index, announced } => {
                    let at = &wlan.stations[index];
                    let (node, radio) = (at.node, at.radio);
                    wlan.air.set_away(now, node, away);
                    // After the announcement, whose frame is not modelled, the access point keeps the packets to the station.
                    if announced {
                        wlan.air.set_asleep(now, radio, node, away);
                    }
                }
            }
        }
        for index in 0..self.dozing.len() {
            let due = self.dozing[index].sleeper.poll_timeout();
            if due.is_none_or(|at| at > now) {
                continue;
            }
            let observed = Observation {
                beacon: self.hears_beacon(wlan, index),
                ..self.observe(wlan, self.dozing[index].wifi_station)
            };
            self.dozing[index].sleeper.handle_timeout(now, &observed);
            self.act(now, wlan, index);
        }
    }

    /// A packet is about to enter the queue of a Wi-Fi station.
    pub(crate) fn wake_to_send(&mut self, now: Instant, wlan: &mut Wlan<B>, wifi_station: usize) {
        if let Some(index) = self.of_wifi_station(wifi_station) {
            self.dozing[index].sleeper.handle_uplink(now);
            self.act(now, wlan, index);
        }
    }

    /// A packet from a station arrived at its access point, or was dropped.
    pub(crate) fn uplink_ended(&mut self, now: Instant, wlan: &mut Wlan<B>, node: NodeId, arrived: bool) {
        self.with_sleeper(now, wlan, node, |sleeper, observed| {
            if arrived {
                sleeper.handle_sent(now, observed);
            } else {
                sleeper.handle_lost(now, observed);
            }
        });
    }

    /// A packet for a station arrived, or was dropped.
    pub(crate) fn downlink_ended(&mut self, now: Instant, wlan: &mut Wlan<B>, node: NodeId, arrived: bool) {
        self.remove_waiting(node);
        self.with_sleeper(now, wlan, node, |sleeper, observed| {
            sleeper.handle_downlink(now, arrived, observed);
        });
    }

    /// Processes a frame that arrived, or that was lost after its last retry.
    pub(crate) fn handle_frame(
        &mut self,
        now: Instant,
        wlan: &mut Wlan<B>,
        (from, to): (NodeId, NodeId),
        frame: PowerSaveFrame,
        arrived: bool,
    ) {
        let node = if frame == PowerSaveFrame::End { to } else { from };
        self.with_sleeper(now, wlan, node, |sleeper, observed| {
            sleeper.handle_frame(now, frame, arrived, observed);
        });
    }

    /// Suspends power save while the client of a station scans, joins or probes.
    pub(crate) fn suspend(&mut self, now: Instant, wlan: &mut Wlan<B>, wifi_station: usize) {
        if let Some(index) = self.of_wifi_station(wifi_station) {
            self.dozing[index].sleeper.suspend();
            self.act(now, wlan, index);
        }
    }

    /// Resumes power save of a connected station.
    pub(crate) fn resume(&mut self, now: Instant, wlan: &mut Wlan<B>, wifi_station: usize) {
        if let Some(index) = self.of_wifi_station(wifi_station) {
            let at = &wlan.stations[wifi_station];
            let beacons = self.beacons(at.radio);
            let backlog = wlan.air.backlog(at.node) > 0;
            self.dozing[index].sleeper.resume(now, beacons, backlog);
            self.act(now, wlan, index);
        }
    }

    /// Sends a management frame from the access point to a station, once it is awake. `length`: of its body in bytes.
    pub(crate) fn send_when_awake(
        &mut self,
        now: Instant,
        wlan: &mut Wlan<B>,
        wifi_station: usize,
        length: u32,
        body: B,
    ) {
        let at = &wlan.stations[wifi_station];
        let (radio, node) = (at.radio, at.node);
        if wlan.air.station_state(radio, node) == StationState::Asleep {
            self.defer(wifi_station, Deferred { node, length, body });
        } else {
            wlan.air.send_frame(now, radio, node, length, body);
        }
    }

    /// Sends the management frames that waited until a station was awake.
    pub(crate) fn send_deferred(&mut self, now: Instant, wlan: &mut Wlan<B>, wifi_station: usize) {
        for Deferred { length, body, .. } in self.take_deferred(wifi_station) {
            self.send_when_awake(now, wlan, wifi_station, length, body);
        }
    }

    /// Passes an event of a node to its station, if the node is the one that it uses.
    fn with_sleeper(
        &mut self,
        now: Instant,
        wlan: &mut Wlan<B>,
        node: NodeId,
        handle: impl FnOnce(&mut Sleeper, &Observation),
    ) {
        let Some(index) = self.of_node(node) else {
            return;
        };
        let wifi_station = self.dozing[index].wifi_station;
        if wlan.stations[wifi_station].node != node {
            return;
        }
        let observed = self.observe(wlan, wifi_station);
        handle(&mut self.dozing[index].sleeper, &observed);
        self.act(now, wlan, index);
    }

    fn observe(&self, wlan: &Wlan<B>, wifi_station: usize) -> Observation {
        let at = &wlan.stations[wifi_station];
        Observation {
            beacon: false,
            waiting: self.waiting[at.node.index()] > 0,
            backlog: wlan.air.backlog(at.node) > 0,
            arriving: wlan.air.is_sending(at.radio, at.node),
        }
    }

    /// Returns true if a beacon that is sent now arrives.
    fn hears_beacon(&mut self, wlan: &Wlan<B>, index: usize) -> bool {
        let dozing = &mut self.dozing[index];
        let at = &wlan.stations[dozing.wifi_station];
        if wlan.air.is_away(at.radio) {
            return false;
        }
        let signal = at.link.signal(&at.quality);
        // Without a signal the link loses nothing to noise.
        signal.is_none_or(|signal| beacon::arrives(signal.as_dbm_f64(), &mut dozing.beacon_rng))
    }

    /// Performs the actions of a station's power save.
    fn act(&mut self, now: Instant, wlan: &mut Wlan<B>, index: usize) {
        while let Some(action) = self.dozing[index].sleeper.poll_action() {
            let wifi_station = self.dozing[index].wifi_station;
            let at = &wlan.stations[wifi_station];
            let (node, radio) = (at.node, at.radio);
            match action {
                Action::SetAway(away) => wlan.air.set_away(now, node, away),
                Action::SetAsleep(asleep) => {
                    wlan.air.set_asleep(now, radio, node, asleep);
                    if !asleep {
                        self.send_deferred(now, wlan, wifi_station);
                    }
                }
                Action::Send(frame) => {
                    let (from, to) = if frame == PowerSaveFrame::End {
                        (radio, node)
                    } else {
                        (node, radio)
                    };
                    wlan.air.send_frame(now, from, to, 0, frame.into());
                }
            }
        }
        self.update(index);
    }
}
