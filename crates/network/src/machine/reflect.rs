//! Packets that a host between station and server returns to the station.
//!
//! The access point's answer passes its forwarding capacity once, together with the request, and then waits in the
//! queue of the station's radio as any packet does. The answer of the provider end of the WAN link passes that link, its
//! queue discipline and its policer like a packet of the server.

use super::Network;
use crate::output::{Endpoint, NetPacket, Payload, Reflector};
use crate::wires::backhaul::HopId;
use netburn_medium::packet::{Ecn, NodeId};
use netburn_units::Instant;

impl<P: Payload> Network<P> {
    /// Returns true for a packet that the access point returns to the station from which it received it.
    pub(super) fn is_for_access_point(&self, from: NodeId, packet: &NetPacket<P>) -> bool {
        packet.payload.headers.reflector() == Some(Reflector::AccessPoint) && self.wlan.station_of(from).is_some()
    }

    /// Returns a packet at the end of `hop` to its sender if the host there is its reflector. Otherwise, and for a packet
    /// that goes on from this hop, returns the packet.
    pub(super) fn reflect(
        &mut self,
        now: Instant,
        hop: HopId,
        reflector: Reflector,
        packet: NetPacket<P>,
    ) -> Option<NetPacket<P>> {
        match (hop, reflector) {
            (HopId::Forwarding(_), Reflector::AccessPoint) => Some(self.returned(packet)),
            (HopId::WanUp(ap), Reflector::LineEnd) => {
                let packet = self.returned(packet);
                self.forward_to(now, HopId::WanDown(ap), packet);
                None
            }
            _ => Some(packet),
        }
    }

    /// The answer to a packet, of the same length and class. The request counts as delivered.
    fn returned(&mut self, packet: NetPacket<P>) -> NetPacket<P> {
        let (from, to) = (packet.payload.from, packet.payload.to);
        if let [Some(up), _] = self.traffic(from, to) {
            up.delivered += 1;
            up.delivered_bytes += u64::from(packet.length);
            up.marked += u64::from(packet.ecn == Ecn::Ce);
        }
        if let [_, Some(down)] = self.traffic(to, from) {
            down.offered += 1;
        }
        let mut answer = packet;
        answer.ecn = Ecn::NotEct;
        answer.payload.headers = answer.payload.headers.answer();
        (answer.payload.from, answer.payload.to) = (to, from);
        debug_assert!(matches!(from, Endpoint::Station(_)), "stations send to reflectors");
        answer
    }
}
