//! Broadcast traffic on the air.
//!
//! A packet reaches all access points with a wire at once. Each access point sends it once on each radio
//! of the network, as a group-addressed frame. It also sends it once into its mesh, and once to each
//! access point below it, over a 4-address link with acknowledgement. While a station of a radio dozes,
//! the frames of this radio wait for its DTIM beacon (802.11-2020 clause 11.2.3.6).

use crate::broadcasts::{BroadcastStats, GroupFrame, LENGTH};
use crate::machine::{MESH_CONTROL, Network};
use crate::output::{Endpoint, Envelope, Headers, NetPacket};
use netburn_medium::aggregation::Framing;
use netburn_medium::edca::AccessCategory;
use netburn_medium::packet::{Ecn, NodeId, Packet};
use netburn_medium::queue::StationState;
use netburn_units::Instant;

/// Group-addressed data to stations: no QoS control, CCMP with the group key.
const TO_STATIONS: Framing = Framing {
    encryption: Framing::CCMP.encryption,
    ..Framing::PLAIN
};
/// Group-addressed data in a mesh: QoS control and mesh control, three addresses.
const IN_MESH: Framing = Framing {
    header: Framing::CCMP.header + MESH_CONTROL,
    ..Framing::CCMP
};

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Counters of the broadcast traffic of a network, by its index in the plan; `None` if it has none.
    #[must_use]
    pub fn broadcast_stats(&self, network: usize) -> Option<BroadcastStats> {
        let mut sources = self.broadcasts.sources.iter();
        let source = sources.find(|source| source.network == network)?;
        Some(source.stats)
    }

    /// Processes the arrivals and the DTIM beacons that are due.
    pub(crate) fn handle_broadcasts(&mut self, now: Instant) {
        while let Some(packet) = self.broadcasts.poll_arrival(now) {
            for ap in 0..self.changes.aps.len() {
                if self.relays.root(ap) == ap && self.broadcasts.reach(packet, ap) {
                    self.spread(now, ap, packet);
                }
            }
        }
        loop {
            let air = &self.air;
            let Some((source, place, packets)) = self.broadcasts.poll_dtim(now, |radio| !air.is_away(radio)) else {
                break;
            };
            for packet in packets {
                self.send_to_stations(now, (source, place), packet, true);
            }
        }
    }

    /// Forwards a packet that an access point received from another one.
    pub(crate) fn relay_broadcast(&mut self, now: Instant, ap: usize, packet: NetPacket<P>) {
        self.spread(now, ap, packet.flow);
    }

    /// Processes a broadcast packet from another access point.
    pub(crate) fn receive_broadcast(&mut self, now: Instant, ap: usize, packet: u32) {
        if self.broadcasts.reach(packet, ap) {
            self.relays.hold(now, ap, broadcast(packet));
            self.invalidate_timeout();
        }
    }

    /// Sends a packet to the stations of an access point and to its neighbours.
    fn spread(&mut self, now: Instant, ap: usize, packet: u32) {
        let Some(source) = self.broadcasts.packets.get(&packet).map(|packet| packet.source) else {
            return;
        };
        for place in 0..self.broadcasts.sources[source].radios.len() {
            let bss = &self.broadcasts.sources[source].radios[place];
            if bss.ap != ap {
                continue;
            }
            let radio = bss.radio;
            if self.broadcasts.is_holding(source, place) || self.has_dozing_station(radio) {
                let phase = self.power_saves.beacons(radio);
                self.broadcasts.hold(now, source, place, phase, packet);
            } else {
                self.send_to_stations(now, (source, place), packet, false);
            }
        }
        if let Some((mesh, member)) = self.meshes.place(ap) {
            let from = self.meshes.meshes[mesh].layout.members[member].1;
            let flow = self.broadcasts.register(GroupFrame::Mesh { packet, mesh });
            let category = AccessCategory::BestEffort;
            self.air.send_group(now, from, category, &IN_MESH, broadcast(flow));
        }
        let below = self.relays.links.iter().filter(|link| link.parent_ap == ap);
        let below: Vec<(NodeId, NodeId)> = below.map(|link| (link.parent, link.own)).collect();
        for (from, to) in below {
            self.air.handle_packet(now, from, to, broadcast(packet));
        }
        self.invalidate_timeout();
    }

    fn send_to_stations(&mut self, now: Instant, (source, place): (usize, usize), packet: u32, dtim: bool) {
        let at = &mut self.broadcasts.sources[source];
        at.stats.frames += 1;
        let radio = at.radios[place].radio;
        let flow = self.broadcasts.register(GroupFrame::Bss { packet, dtim });
        // After a DTIM beacon they precede all frames to single stations.
        let category = if dtim {
            AccessCategory::Voice
        } else {
            AccessCategory::BestEffort
        };
        self.air.send_group(now, radio, category, &TO_STATIONS, broadcast(flow));
    }

    /// True if a station of a radio has announced that it dozes.
    fn has_dozing_station(&self, radio: NodeId) -> bool {
        let mut stations = self.wifi_stations.iter().filter(|at| at.radio == radio);
        stations.any(|at| self.air.station_state(radio, at.node) == StationState::Asleep)
    }

    /// Processes the end of a group-addressed data frame.
    pub(crate) fn receive_group(&mut self, now: Instant, from: NodeId, flow: u32, heard: &[NodeId]) {
        match self.broadcasts.take(flow) {
            Some(GroupFrame::Bss { packet, dtim }) => self.count_receptions(now, from, (packet, dtim), heard),
            Some(GroupFrame::Mesh { packet, mesh }) => {
                let at = &self.meshes.meshes[mesh];
                let members: Vec<usize> = heard
                    .iter()
                    .filter(|node| !self.air.is_away(**node))
                    .filter_map(|node| {
                        let ends = (at.place_of(*node)?, at.place_of(from)?);
                        // A member without a peering rejects the frame.
                        at.metric(ends)?;
                        Some(at.layout.members[ends.0].0)
                    })
                    .collect();
                for ap in members {
                    self.receive_broadcast(now, ap, packet);
                }
            }
            None => {}
        }
    }

    /// Counts the stations of a radio that received a packet.
    fn count_receptions(&mut self, now: Instant, radio: NodeId, (packet, dtim): (u32, bool), heard: &[NodeId]) {
        let Some(packet) = self.broadcasts.packets.get(&packet) else {
            return;
        };
        let delay = now.since(packet.began);
        let stats = &mut self.broadcasts.sources[packet.source].stats;
        for (index, at) in self
            .wifi_stations
            .iter()
            .enumerate()
            .filter(|(_, at)| at.radio == radio)
        {
            if self.air.station_state(radio, at.node) == StationState::Gone {
                continue;
            }
            let is_on = !self.air.is_away(at.node) || dtim && self.power_saves.is_dozing(index);
            if is_on && heard.contains(&at.node) {
                stats.received += 1;
                stats.delay += delay;
                stats.longest_delay = stats.longest_delay.max(delay);
            } else {
                stats.lost += 1;
            }
        }
    }

    /// True for an access point's packet that carries broadcast traffic to another one.
    pub(crate) fn is_broadcast(packet: &NetPacket<P>) -> bool {
        packet.payload.payload.is_none()
    }
}

fn broadcast<P>(flow: u32) -> NetPacket<P> {
    Packet {
        length: LENGTH,
        flow,
        tid: 0,
        ecn: Ecn::NotEct,
        payload: Envelope {
            from: Endpoint::Server,
            to: Endpoint::Server,
            headers: Headers::default(),
            payload: None,
        },
    }
}
