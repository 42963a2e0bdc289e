//! What is seen by who looks at every packet.

use super::World;
use super::load::Load;
use super::loads::Ticket;
use super::observe::port;
use crate::error::SimulateError;
use crate::seen::{Carries, Seen, SeenPacket};
use netburn_medium::packet::Packet;
use netburn_network::Endpoint as Place;
use netburn_scenario::Plan;
use netburn_units::Instant;

/// The port of a station's first probe; each has one of its own.
const PROBES: u16 = 33_000;

impl World {
    /// A plan's world in which everything is seen.
    pub(crate) fn watched(plan: &Plan) -> Result<Self, SimulateError> {
        let mut world = World::new(plan)?;
        world.network.trace();
        world.seen = Some(Vec::new());
        Ok(world)
    }

    /// What was seen since the last call: packets, then transmissions.
    pub(crate) fn take_seen(&mut self) -> Vec<Seen> {
        let Some(seen) = &mut self.seen else {
            return Vec::new();
        };
        while let Some((_, transmission)) = self.network.poll_transmission() {
            seen.push(Seen::Air(transmission));
        }
        std::mem::take(seen)
    }

    /// A packet leaves an end, or has arrived at one.
    pub(super) fn see(&mut self, at: Instant, from: Place, to: Place, packet: &Packet<Ticket>, arrived: bool) {
        let Some(seen) = &mut self.seen else { return };
        let (port, carries) = match *self.loads.get(packet.payload) {
            Load::Segment {
                connection,
                ref segment,
                ..
            } => (port(connection), Carries::Segment(segment.segment)),
            Load::Probe { user, id, .. } => {
                let number = (user % u32::from(u16::MAX - PROBES)) as u16;
                (PROBES + number, Carries::Probe(id.operation))
            }
        };
        seen.push(Seen::Packet(SeenPacket {
            at,
            from,
            to,
            arrived,
            length: packet.length,
            tid: packet.tid,
            ecn: packet.ecn,
            port,
            carries,
        }));
    }
}
