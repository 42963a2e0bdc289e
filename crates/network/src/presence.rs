//! Stations that doze or leave their channel, and access points that scan, on the air: their timers, their
//! actions, and the packets that they affect.

use crate::beacon;
use crate::machine::Network;
use crate::power_save::absence::Absentee;
use crate::power_save::sleeper::{Action, Around, Frame, Sleeper};
use netburn_medium::packet::NodeId;
use netburn_units::Instant;

/// First number of the frames of [`Frame`] in a packet's `flow`. Those of roaming are below.
const FLOWS: u32 = 64;

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Starts all stations that doze.
    pub(crate) fn start_presence(&mut self, now: Instant) {
        for index in 0..self.power_saves.dozing.len() {
            let wifi_station = self.power_saves.dozing[index].wifi_station;
            self.resume_power_save(now, wifi_station);
        }
    }

    /// Processes the timers that are due.
    pub(crate) fn handle_presence(&mut self, now: Instant) {
        while let Some((who, away)) = self.power_saves.poll_absence(now) {
            match who {
                Absentee::Radio(radio) => self.air.set_away(now, radio, away),
                Absentee::WifiStation { index, announced } => self.set_station_away(now, index, away, announced),
            }
        }
        for index in 0..self.power_saves.dozing.len() {
            let due = self.power_saves.dozing[index].sleeper.poll_timeout();
            if due.is_none_or(|at| at > now) {
                continue;
            }
            let wifi_station = self.power_saves.dozing[index].wifi_station;
            let beacon = self.hears_beacon(index, wifi_station);
            let around = Around {
                beacon,
                ..self.around(wifi_station)
            };
            self.power_saves.dozing[index].sleeper.handle_timeout(now, &around);
            self.act_on_power_save(now, index);
        }
    }

    /// A Wi-Fi station leaves its channel or returns to it. If it announces that, its access point keeps the packets to it
    /// in the meantime; the frame for it is not modelled.
    fn set_station_away(&mut self, now: Instant, wifi_station: usize, away: bool, announced: bool) {
        let at = &self.wifi_stations[wifi_station];
        let (node, radio) = (at.node, at.radio);
        self.air.set_away(now, node, away);
        if announced {
            self.air.set_asleep(now, radio, node, away);
        }
        self.invalidate_timeout();
    }

    /// A packet is about to enter the queue of a Wi-Fi station.
    pub(crate) fn wake_to_send(&mut self, now: Instant, wifi_station: usize) {
        let sleeper = self.power_saves.of_wifi_station(wifi_station);
        if let Some(index) = sleeper {
            self.power_saves.dozing[index].sleeper.handle_uplink(now);
            self.act_on_power_save(now, index);
        }
    }

    /// Counts a packet that enters an access point's queue.
    pub(crate) fn count_waiting(&mut self, node: NodeId) {
        if self.power_saves.of_node(node).is_some() {
            self.power_saves.add_waiting(node);
        }
    }

    /// A packet from a station arrived at its access point, or was dropped.
    pub(crate) fn uplink_ended(&mut self, now: Instant, node: NodeId, arrived: bool) {
        self.with_sleeper(now, node, |sleeper, around| {
            if arrived {
                sleeper.handle_sent(now, around);
            } else {
                sleeper.handle_lost(now, around);
            }
        });
    }

    /// A packet for a station arrived, or was dropped.
    pub(crate) fn downlink_ended(&mut self, now: Instant, node: NodeId, arrived: bool) {
        if self.power_saves.of_node(node).is_some() {
            self.power_saves.remove_waiting(node);
        }
        self.with_sleeper(now, node, |sleeper, around| {
            sleeper.handle_downlink(now, arrived, around);
        });
    }

    /// Processes a management frame of power save. Returns false if it is another one.
    pub(crate) fn handle_power_save_frame(
        &mut self,
        now: Instant,
        (from, to): (NodeId, NodeId),
        flow: u32,
        arrived: bool,
    ) -> bool {
        let frame = flow.checked_sub(FLOWS).and_then(|place| Frame::ALL.get(place as usize));
        let Some(frame) = frame else { return false };
        let node = if *frame == Frame::End { to } else { from };
        self.with_sleeper(now, node, |sleeper, around| {
            sleeper.handle_frame(now, *frame, arrived, around);
        });
        true
    }

    /// Lets the client of a station control its receiver.
    pub(crate) fn suspend_power_save(&mut self, now: Instant, wifi_station: usize) {
        if let Some(index) = self.power_saves.of_wifi_station(wifi_station) {
            self.power_saves.dozing[index].sleeper.suspend();
            self.act_on_power_save(now, index);
        }
    }

    /// Lets power save control the receiver of a connected station again.
    pub(crate) fn resume_power_save(&mut self, now: Instant, wifi_station: usize) {
        if let Some(index) = self.power_saves.of_wifi_station(wifi_station) {
            let at = &self.wifi_stations[wifi_station];
            let beacons = self.power_saves.beacons(at.radio);
            let backlog = self.air.backlog(at.node) > 0;
            let sleeper = &mut self.power_saves.dozing[index].sleeper;
            sleeper.resume(now, beacons, backlog);
            self.act_on_power_save(now, index);
        }
    }

    /// Passes an event of a node to its station, if the node is the one that it uses.
    fn with_sleeper(&mut self, now: Instant, node: NodeId, handle: impl FnOnce(&mut Sleeper, &Around)) {
        let Some(index) = self.power_saves.of_node(node) else {
            return;
        };
        let wifi_station = self.power_saves.dozing[index].wifi_station;
        if self.wifi_stations[wifi_station].node != node {
            return;
        }
        let around = self.around(wifi_station);
        handle(&mut self.power_saves.dozing[index].sleeper, &around);
        self.act_on_power_save(now, index);
    }

    fn around(&self, wifi_station: usize) -> Around {
        let at = &self.wifi_stations[wifi_station];
        Around {
            beacon: false,
            waiting: self.power_saves.is_waiting(at.node),
            backlog: self.air.backlog(at.node) > 0,
            arriving: self.air.is_sending(at.radio, at.node),
        }
    }

    /// Returns true if a beacon that is sent now arrives.
    fn hears_beacon(&mut self, index: usize, wifi_station: usize) -> bool {
        let at = &self.wifi_stations[wifi_station];
        if self.air.is_away(at.radio) {
            return false;
        }
        let signal = at.link.signal(&at.quality);
        // Without a signal the link loses nothing to noise.
        let chance = &mut self.power_saves.dozing[index].chance;
        signal.is_none_or(|signal| beacon::arrives(signal.as_dbm_f64(), chance))
    }

    /// Performs the actions of a station's power save.
    fn act_on_power_save(&mut self, now: Instant, index: usize) {
        while let Some(action) = self.power_saves.dozing[index].sleeper.poll_action() {
            let dozing = &self.power_saves.dozing[index];
            let (station, at) = (dozing.station, &self.wifi_stations[dozing.wifi_station]);
            let (node, radio) = (at.node, at.radio);
            match action {
                Action::SetAway(away) => self.air.set_away(now, node, away),
                Action::SetAsleep(asleep) => {
                    let client = self.roaming.client_of(dozing.wifi_station);
                    self.air.set_asleep(now, radio, node, asleep);
                    if let (Some(client), false) = (client, asleep) {
                        self.send_deferred(now, client);
                    }
                }
                Action::Send(frame) => {
                    let path = if frame == Frame::End {
                        (radio, node)
                    } else {
                        (node, radio)
                    };
                    self.send_management(now, FLOWS + frame as u32, path, station, 0);
                }
            }
        }
        self.power_saves.update(index);
        self.invalidate_timeout();
    }
}
