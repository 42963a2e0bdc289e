//! Capture of all packets.

use super::World;
use super::observe::port;
use super::payload::Payload;
use super::payload_pool::PayloadId;
use crate::capture::{CaptureEvent, CapturedPacket, PacketContent};
use crate::error::SimulateError;
use netburn_medium::packet::Packet;
use netburn_network::Endpoint as Place;
use netburn_scenario::Plan;
use netburn_units::Instant;

/// Port of a station's first workload of datagrams; each has its own.
const PROBES: u16 = 33_000;

impl World {
    /// Initial state of a plan with capture enabled.
    pub(crate) fn with_capture(plan: &Plan) -> Result<Self, SimulateError> {
        let mut world = World::new(plan)?;
        world.network.trace();
        world.captured = Some(Vec::new());
        Ok(world)
    }

    /// Captured events since the last call: packets, then transmissions.
    pub(crate) fn take_captured(&mut self) -> Vec<CaptureEvent> {
        let Some(captured) = &mut self.captured else {
            return Vec::new();
        };
        while let Some((_, transmission)) = self.network.poll_transmission() {
            captured.push(CaptureEvent::Air(transmission));
        }
        std::mem::take(captured)
    }

    /// Captures a packet that leaves an endpoint or has arrived at one.
    #[inline]
    pub(super) fn capture(&mut self, at: Instant, from: Place, to: Place, packet: &Packet<PayloadId>, arrived: bool) {
        if self.captured.is_some() {
            self.capture_packet(at, (from, to), packet, arrived);
        }
    }

    #[inline(never)]
    fn capture_packet(&mut self, at: Instant, (from, to): (Place, Place), packet: &Packet<PayloadId>, arrived: bool) {
        let Some(captured) = &mut self.captured else { return };
        let (port, dscp, content) = match *self.payloads.get(packet.payload) {
            Payload::Segment {
                connection,
                ref segment,
                ..
            } => {
                let dscp = self
                    .numbered
                    .get(connection as usize)
                    .map_or(0, |numbered| numbered.dscp);
                (port(connection), dscp, PacketContent::Segment(segment.segment))
            }
            Payload::Probe { client, .. }
            | Payload::OneWay { client, .. }
            | Payload::Media { client, .. }
            | Payload::Feedback { client, .. } => {
                let number_of_packet = datagram_number(self.payloads.get(packet.payload));
                let number = (client % u32::from(u16::MAX - PROBES)) as u16;
                let dscp = self.clients[client as usize].recorded.machine().config().marking().dscp;
                (PROBES + number, dscp, PacketContent::Datagram(number_of_packet))
            }
        };
        captured.push(CaptureEvent::Packet(CapturedPacket {
            at,
            from,
            to,
            arrived,
            length: packet.length,
            dscp,
            ecn: packet.ecn,
            port,
            content,
        }));
    }
}

/// Number in a captured datagram: that of the operation, of the transmission of a packet of a frame, or of the
/// feedback.
fn datagram_number(payload: &Payload) -> u64 {
    match payload {
        Payload::Probe { id, .. } | Payload::OneWay { id, .. } => id.operation,
        Payload::Media { packet, .. } => packet.transport,
        Payload::Feedback { number, .. } => u64::from(*number),
        Payload::Segment { .. } => 0,
    }
}
