//! Forwarding: next hop of a packet that leaves the air or a wired hop.

use super::Network;
use super::features::PacketEnd;
use super::wiring::Next;
use crate::frame::FrameBody;
use crate::hop::HopEvent;
use crate::layout::Attachment;
use crate::observe::Traffic;
use crate::output::{DropSite, Endpoint, NetPacket, Output, Payload, Reflector, unwrap};
use crate::relay::Relayed;
use crate::wires::backhaul::HopId;
use crate::wires::stations::WiredEvent;
use netburn_medium::air::Output as AirOutput;
use netburn_medium::packet::{DropReason, Ecn, NodeId};
use netburn_units::Instant;

/// A packet and the hop that it goes to.
type Offered<P> = (HopId, NetPacket<P>);

impl<P: Payload> Network<P> {
    /// Processes the outputs of the air, and the packets that features have dropped.
    #[inline]
    pub(super) fn drain_air(&mut self) {
        while self.wlan.has_output() {
            while let Some((at, by, packet)) = self.wlan.poll_dropped() {
                if let Ok(packet) = FrameBody::open(packet) {
                    self.drop_packet(at, by, packet);
                }
            }
            match self.wlan.air.poll_output() {
                Some(AirOutput::Delivered { at, from, to, packet }) => match FrameBody::open(packet) {
                    Ok(packet) => self.handle_delivery(at, (from, to), packet),
                    Err(frame) => self.features.handle_frame(at, &mut self.wlan, (from, to), frame, true),
                },
                Some(AirOutput::Dropped {
                    at,
                    from,
                    to,
                    reason,
                    packet: Some(packet),
                }) => match FrameBody::open(packet) {
                    Ok(packet) => self.handle_loss(at, (from, to), packet, reason),
                    Err(frame) => self.features.handle_frame(at, &mut self.wlan, (from, to), frame, false),
                },
                // Its receiver has it.
                Some(AirOutput::Dropped { packet: None, .. }) => {}
                Some(AirOutput::Group {
                    at,
                    from,
                    packet,
                    heard,
                }) => {
                    if let FrameBody::Feature(frame) = packet.payload {
                        self.features
                            .handle_group_frame(at, &mut self.wlan, from, frame, &heard);
                    }
                }
                Some(AirOutput::Sent {
                    at,
                    from,
                    flow,
                    packets,
                    bytes,
                    ..
                }) => {
                    if let Some(station) = self.wlan.station_of(from) {
                        self.outputs.push_back(Output::Sent {
                            at,
                            from: Endpoint::Station(station),
                            flow,
                            packets,
                            bytes,
                        });
                    }
                }
                None => {}
            }
        }
    }

    /// Processes a packet that arrived over the air.
    #[inline]
    fn handle_delivery(&mut self, at: Instant, (from, to): (NodeId, NodeId), packet: NetPacket<P>) {
        let accepted = self.features.is_empty()
            || self
                .features
                .handle_packet_end(at, &mut self.wlan, (from, to), PacketEnd::Delivered);
        if self.wlan.station_of(to).is_some() {
            self.deliver(at, packet);
        } else if accepted {
            self.receive(at, from, self.wlan.radios[to.index()].ap, packet);
        } else {
            self.drop_packet(at, DropSite::Air(DropReason::NoLink), packet);
        }
    }

    /// Processes a packet that its sender or the receiver's adapter dropped.
    fn handle_loss(&mut self, at: Instant, (from, to): (NodeId, NodeId), packet: NetPacket<P>, reason: DropReason) {
        if !self.features.is_empty() {
            let end = match reason {
                DropReason::RetryLimit => PacketEnd::Lost,
                _ => PacketEnd::Dropped,
            };
            self.features.handle_packet_end(at, &mut self.wlan, (from, to), end);
        }
        let own = self.wlan.station_of(from).is_some() && reason != DropReason::AdapterFull;
        let by = if own {
            DropSite::Sender(reason)
        } else {
            DropSite::Air(reason)
        };
        self.drop_packet(at, by, packet);
    }

    /// Processes a packet that an access point received from the air. One that it sends on over the
    /// air, to or from another access point, first passes its forwarding delay.
    fn receive(&mut self, now: Instant, from: NodeId, ap: usize, packet: NetPacket<P>) {
        if self.is_for_access_point(from, &packet) {
            // The access point's processor handles it as a packet that it forwards.
            self.forward(now, ap, packet);
            return;
        }
        let relayed = !self.features.relays.is_empty() && {
            let came_from_unit = self.wlan.station_of(from).is_none();
            match self.next_hop(ap, &packet) {
                Next::Air(..) | Next::Mesh(_) => true,
                Next::Station(_) => came_from_unit && !self.is_for_port(ap, &packet),
                Next::Port(_) | Next::Line => false,
            }
        };
        if relayed {
            self.features.relays.hold(now, ap, Relayed::Data(packet));
        } else {
            self.forward(now, ap, packet);
        }
    }

    /// Forwards the packets that left the wired hops by `now`.
    pub(super) fn drain_wires(&mut self, now: Instant) {
        loop {
            if let Some((hop, at, event)) = self.backhaul.poll(now) {
                self.handle_hop_event(hop, at, event);
            } else if let Some((host, event)) = self.wired.poll(now) {
                self.handle_wired_event(now, host, event);
            } else {
                break;
            }
        }
    }

    /// Sends a packet of the server. Packets in its sockets count against the link's queue. Returns the time at which it will
    /// have left the host, if that is known.
    #[inline]
    pub(super) fn send(&mut self, now: Instant, packet: NetPacket<P>) -> Option<Instant> {
        if self.small_queues.is_empty() {
            return self.send_on_link(now, packet);
        }
        let full = self.small_queues.waiting() + u64::from(packet.length) > self.backhaul.room_from_server(now);
        let must_wait = self.small_queues.must_wait(&packet);
        if full && (must_wait || self.small_queues.waiting() > 0) {
            self.reject(now, packet);
        } else if must_wait {
            self.small_queues.hold(packet);
        } else {
            return self.send_on_link(now, packet);
        }
        None
    }

    /// Queues a packet of the server on its link.
    #[inline]
    fn send_on_link(&mut self, now: Instant, packet: NetPacket<P>) -> Option<Instant> {
        let (flow, length) = (packet.flow, packet.length);
        match self.backhaul.send_from_server(now, packet) {
            Ok(sent) => {
                if !self.plans_sent {
                    self.at_server.push_back((flow, length));
                    self.small_queues.on_queued(flow, length);
                }
                Some(sent).filter(|_| self.plans_sent)
            }
            Err(packet) => {
                self.reject(now, packet);
                None
            }
        }
    }

    /// Drops a packet of the server because its host has no room.
    fn reject(&mut self, now: Instant, packet: NetPacket<P>) {
        // The flow may have no other packet.
        self.small_queues.on_sent(packet.flow, 0);
        self.drop_packet(now, DropSite::Host, packet);
    }

    /// Removes the oldest packet from those that the server holds: flow and bytes. The next ones of its flow follow.
    fn take_sent(&mut self, at: Instant) -> Option<(u32, u32)> {
        let (flow, bytes) = self.at_server.pop_front()?;
        if !self.small_queues.is_empty() {
            self.small_queues.on_sent(flow, bytes);
            while let Some(packet) = self.small_queues.next(flow) {
                self.send_on_link(at, packet);
            }
        }
        Some((flow, bytes))
    }

    /// Processes the events of the link from the server up to the first instant with an output, the first event of another
    /// kind, or `limit`. Returns the last instant.
    ///
    /// Only for a plain network, in which nothing happens to most packets on their way to the air.
    #[inline(never)]
    pub(super) fn run_from_server(&mut self, mut limit: Instant) -> Option<Instant> {
        let mut last = None;
        loop {
            let air = self.wlan.air.poll_timeout().map_or(Instant::MAX, |(at, _)| at);
            let Some((at, event)) = self.backhaul.poll_from_server(limit.min(air)) else {
                return last;
            };
            last = Some(at);
            match event {
                HopEvent::Arrived(packet) if let Some((radio, node)) = self.direct(&packet) => {
                    self.wlan
                        .air
                        .handle_packet(at, radio, node, packet.map(FrameBody::Data));
                    self.drain_air();
                }
                event => {
                    let is_sent = matches!(event, HopEvent::Sent);
                    self.handle_hop_event(HopId::LinkDown, at, event);
                    if !is_sent {
                        return last;
                    }
                }
            }
            if self.has_output() {
                // The rest of this instant only.
                limit = at;
            }
        }
    }

    fn handle_hop_event(&mut self, hop: HopId, at: Instant, event: HopEvent<NetPacket<P>>) {
        match event {
            HopEvent::Sent => {
                if let Some((flow, bytes)) = self.take_sent(at) {
                    self.sent(at, Endpoint::Server, flow, bytes);
                }
            }
            HopEvent::Lost(packet) => self.drop_packet(at, DropSite::Lost, packet),
            HopEvent::Dropped(packet) => self.drop_packet(at, DropSite::Wire, packet),
            HopEvent::Arrived(packet) => {
                let next = self.handle_arrival(at, hop, packet);
                self.follow(at, next);
                self.drain_air();
            }
        }
    }

    /// Processes an event of a wired station at `now`: the network advances from instant to
    /// instant.
    fn handle_wired_event(&mut self, now: Instant, host: usize, event: WiredEvent<P>) {
        match event {
            WiredEvent::Sent { flow, bytes } => {
                let from = Endpoint::Station(self.wired.station(host));
                self.sent(now, from, flow, bytes);
            }
            WiredEvent::Dropped(by, packet) => self.drop_packet(now, by, packet),
            WiredEvent::Down(packet) => self.deliver(now, packet),
            WiredEvent::Up(packet) => {
                match self.wiring.port(host) {
                    Some(port) => self.receive_at_port(now, port, packet),
                    None => {
                        let next = self.receive_outside(now, packet);
                        self.follow(now, next);
                    }
                }
                self.drain_air();
            }
        }
    }

    /// Processes a packet that a box received from the cable of a station. It is switched to another port, or forwarded.
    fn receive_at_port(&mut self, now: Instant, port: usize, packet: NetPacket<P>) {
        if packet.payload.headers.reflector() == Some(Reflector::AccessPoint) {
            self.forward(now, port, packet);
            return;
        }
        match self.next_hop(port, &packet) {
            Next::Station(station) if self.is_for_port(port, &packet) => {
                self.send_to_station(now, port, station, packet);
            }
            Next::Port(other) => {
                let next = self.switch_to(now, other, packet);
                self.follow(now, next);
            }
            Next::Station(_) | Next::Air(..) | Next::Mesh(_) | Next::Line => self.forward(now, port, packet),
        }
    }

    /// Processes a packet outside of all houses: between their lines and the server's link.
    fn receive_outside(&mut self, now: Instant, packet: NetPacket<P>) -> Option<Offered<P>> {
        match (packet.payload.to, self.box_of(packet.payload.to)) {
            (Endpoint::Server, _) => Some((HopId::LinkUp, packet)),
            (Endpoint::Station(_), Some(target)) => Some((HopId::WanDown(self.wiring.edge(target) as u16), packet)),
            (Endpoint::Station(station), None) => {
                self.send_on_wire(now, station, packet);
                None
            }
        }
    }

    fn sent(&mut self, at: Instant, from: Endpoint, flow: u32, bytes: u32) {
        self.outputs.push_back(Output::Sent {
            at,
            from,
            flow,
            packets: 1,
            bytes,
        });
    }

    /// Forwards a packet that arrived at the end of a hop. Returns it if it goes on over another hop.
    #[inline]
    fn handle_arrival(&mut self, now: Instant, hop: HopId, packet: NetPacket<P>) -> Option<Offered<P>> {
        let packet = match packet.payload.headers.reflector() {
            None => packet,
            Some(reflector) => self.reflect(now, hop, reflector, packet)?,
        };
        let next = match (hop, packet.payload.to) {
            (HopId::LinkUp, _) | (HopId::LinkDown, Endpoint::Server) => {
                self.deliver(now, packet);
                return None;
            }
            (HopId::LinkDown, Endpoint::Station(_)) | (HopId::WanUp(_), _) => return self.receive_outside(now, packet),
            (HopId::WanDown(ap), _) if self.backhaul.has(HopId::ShaperDown(ap)) => HopId::ShaperDown(ap),
            (HopId::WanDown(ap) | HopId::ShaperDown(ap), _) => HopId::Forwarding(ap),
            (HopId::ShaperUp(ap), _) => HopId::WanUp(ap),
            (HopId::Forwarding(at), _) => return self.send_from(now, usize::from(at), packet),
        };
        Some((next, packet))
    }

    /// Radio and node of a packet from the server that no hop delays before the air. It is the route that
    /// [`handle_arrival`](Self::handle_arrival) finds step by step.
    #[inline]
    fn direct(&self, packet: &NetPacket<P>) -> Option<(NodeId, NodeId)> {
        let Endpoint::Station(station) = packet.payload.to else {
            return None;
        };
        let Attachment::Air(index) = self.attachments[usize::from(station)] else {
            return None;
        };
        let joined = &self.wlan.stations[index];
        let is_direct = packet.payload.headers.reflector().is_none()
            && self.wiring.edge(joined.ap) == joined.ap
            && self.backhaul.is_passthrough_to(joined.ap as u16);
        is_direct.then_some((joined.radio, joined.node))
    }

    /// Sends a packet from a box to the next one, to its station, or over the line.
    fn send_from(&mut self, now: Instant, at: usize, mut packet: NetPacket<P>) -> Option<Offered<P>> {
        let next = self.next_hop(at, &packet);
        if let (Some(mappings), Next::Air(..) | Next::Mesh(_)) = (&self.mappings, next) {
            mappings.at_ap(at, &mut packet);
        }
        match next {
            Next::Station(station) => self.send_to_station(now, at, station, packet),
            Next::Air(from, to) => {
                self.wlan.air.handle_packet(now, from, to, packet.map(FrameBody::Data));
            }
            Next::Mesh(member) => {
                let packet = packet.map(FrameBody::Data);
                self.features.meshes.send(now, &mut self.wlan, at, member, packet);
            }
            Next::Port(other) => return self.switch_to(now, other, packet),
            Next::Line => return Some((self.first_of_line(at as u16), packet)),
        }
        None
    }

    /// Processes a packet that a box received over the wire from another box.
    fn switch_to(&mut self, now: Instant, at: usize, packet: NetPacket<P>) -> Option<Offered<P>> {
        match self.next_hop(at, &packet) {
            Next::Station(station) if self.is_for_port(at, &packet) => {
                self.send_to_station(now, at, station, packet);
                None
            }
            _ => Some((HopId::Forwarding(at as u16), packet)),
        }
    }

    /// Last hop to a station, from the box that the packet has reached: over the air or over its cable.
    fn send_to_station(&mut self, now: Instant, at: usize, station: u16, mut packet: NetPacket<P>) {
        let Attachment::Air(index) = self.attachments[usize::from(station)] else {
            self.send_on_wire(now, station, packet);
            return;
        };
        let joined = &self.wlan.stations[index];
        let (mut radio, mut node, ap) = (joined.radio, joined.node, joined.ap);
        if !self.features.is_empty() {
            match self.features.roaming.route(index, at, &self.wlan.air) {
                Some(way) => (radio, node) = way,
                None if ap == at => {}
                // It has moved to another house.
                None => {
                    self.drop_packet(now, DropSite::Air(DropReason::NoLink), packet);
                    return;
                }
            }
            self.features.power_saves.count_waiting(node);
        }
        if let Some(mappings) = &self.mappings {
            mappings.at_ap(at, &mut packet);
        }
        self.wlan
            .air
            .handle_packet(now, radio, node, packet.map(FrameBody::Data));
    }

    /// Sends a packet over the cable of a wired station.
    fn send_on_wire(&mut self, now: Instant, station: u16, packet: NetPacket<P>) {
        if let Attachment::Wire(host) = self.attachments[usize::from(station)] {
            self.wired.deliver(now, host, packet);
        }
    }

    /// Forwards a packet of a box between its radios, its ports and its line.
    pub(super) fn forward(&mut self, now: Instant, ap: usize, packet: NetPacket<P>) {
        self.forward_to(now, HopId::Forwarding(ap as u16), packet);
    }

    /// First hop out of a house: the shaper of its WAN link, if there is one.
    fn first_of_line(&self, ap: u16) -> HopId {
        let shaper = HopId::ShaperUp(ap);
        if self.backhaul.has(shaper) {
            shaper
        } else {
            HopId::WanUp(ap)
        }
    }

    /// Offers a packet to a hop, after all those that it passes without delay.
    pub(super) fn forward_to(&mut self, now: Instant, hop: HopId, packet: NetPacket<P>) {
        self.follow(now, Some((hop, packet)));
    }

    /// The same for the next hop of a packet, if it has one.
    #[inline]
    fn follow(&mut self, now: Instant, mut next: Option<Offered<P>>) {
        while let Some((hop, packet)) = next {
            if !self.backhaul.is_passthrough(hop) {
                if let Err(packet) = self.backhaul.handle_packet(now, hop, packet) {
                    self.drop_packet(now, DropSite::Wire, packet);
                }
                return;
            }
            next = self.handle_arrival(now, hop, packet);
        }
    }

    fn deliver(&mut self, at: Instant, packet: NetPacket<P>) {
        let marked = packet.ecn == Ecn::Ce;
        let (from, to, packet) = unwrap(packet);
        for traffic in self.traffic(from, to).into_iter().flatten() {
            traffic.delivered += 1;
            traffic.delivered_bytes += u64::from(packet.length);
            traffic.marked += u64::from(marked);
        }
        self.outputs.push_back(Output::Delivered { at, from, to, packet });
    }

    pub(super) fn drop_packet(&mut self, at: Instant, by: DropSite, packet: NetPacket<P>) {
        let (from, to, packet) = unwrap(packet);
        for traffic in self.traffic(from, to).into_iter().flatten() {
            traffic.dropped += 1;
        }
        self.outputs.push_back(Output::Dropped {
            at,
            by,
            from,
            to,
            packet,
        });
    }

    /// Counters of the sender's uplink and of the receiver's downlink.
    pub(super) fn traffic(&mut self, from: Endpoint, to: Endpoint) -> [Option<&mut Traffic>; 2] {
        let up = match from {
            Endpoint::Station(station) => self.up.get_mut(usize::from(station)),
            Endpoint::Server => None,
        };
        let down = match to {
            Endpoint::Station(station) => self.down.get_mut(usize::from(station)),
            Endpoint::Server => None,
        };
        [up, down]
    }
}
