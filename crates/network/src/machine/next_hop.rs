//! Next hop of a packet at each box.

use super::Network;
use super::wiring::Next;
use crate::layout::Attachment;
use crate::output::{Endpoint, NetPacket, Payload};
use crate::relay::Step;

impl<P: Payload> Network<P> {
    /// Box of an endpoint: the access point that a station joined, or the box of its port. `None`: it is next to the
    /// server's link.
    pub(super) fn box_of(&self, endpoint: Endpoint) -> Option<usize> {
        let Endpoint::Station(station) = endpoint else {
            return None;
        };
        match self.attachments[usize::from(station)] {
            Attachment::Air(index) => Some(self.wlan.stations[index].ap),
            Attachment::Wire(host) => self.wiring.port(host),
        }
    }

    /// Next hop of a packet at a box.
    pub(super) fn next_hop(&self, at: usize, packet: &NetPacket<P>) -> Next {
        let edge = self.wiring.edge(at);
        if let (Endpoint::Station(station), Some(target)) = (packet.payload.to, self.box_of(packet.payload.to)) {
            if self.wiring.edge(target) == edge {
                // When a station joins, its access point sends a frame in its name (hostapd's `l2_packet` update), from
                // which the bridges learn the new way at once.
                return match self.features.relays.step(at, target) {
                    Step::Here => Next::Station(station),
                    Step::Air(from, to) => Next::Air(from, to),
                    Step::Mesh(member) => Next::Mesh(member),
                    Step::Wire(root) => Next::Port(root),
                };
            }
            let from = self.box_of(packet.payload.from);
            if from.is_none_or(|from| self.wiring.edge(from) != edge) {
                // The station moved to another house while the packet was on the line.
                return Next::Station(station);
            }
        }
        match self.features.relays.up(at) {
            Some(Step::Air(from, to)) => Next::Air(from, to),
            Some(Step::Mesh(member)) => Next::Mesh(member),
            Some(Step::Here | Step::Wire(_)) | None if edge == at => Next::Line,
            Some(Step::Here | Step::Wire(_)) | None => Next::Port(edge),
        }
    }

    /// True if the station of a packet has a cable to a port of this box.
    pub(super) fn is_for_port(&self, at: usize, packet: &NetPacket<P>) -> bool {
        let Endpoint::Station(station) = packet.payload.to else {
            return false;
        };
        match self.attachments[usize::from(station)] {
            Attachment::Air(_) => false,
            Attachment::Wire(host) => self.wiring.port(host) == Some(at),
        }
    }
}
