//! Forwarding: next hop of a packet that leaves the air or a wired hop.

use super::Network;
use crate::backhaul::HopId;
use crate::hop::HopEvent;
use crate::layout::Attachment;
use crate::observe::Traffic;
use crate::output::{DropSite, Endpoint, NetPacket, Output, unwrap};
use crate::relay::Step;
use crate::wired_stations::WiredEvent;
use netburn_medium::air::Output as AirOutput;
use netburn_medium::packet::{DropReason, Ecn, MANAGEMENT, NodeId};
use netburn_units::Instant;

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Processes the outputs of the air.
    pub(crate) fn drain_air(&mut self) {
        while let Some(output) = self.air.poll_output() {
            match output {
                AirOutput::Delivered { at, from, to, packet } if packet.tid == MANAGEMENT => {
                    self.handle_management(at, (from, to), packet.flow, true);
                }
                AirOutput::Delivered { at, from, to, packet } => match self.station(to) {
                    Some(_) => {
                        if self.has_timers {
                            self.count_loss(at, from, to, false);
                            self.downlink_ended(at, to, true);
                        }
                        self.deliver(at, packet);
                    }
                    None if !self.has_timers => self.receive(at, from, self.radios[to.index()].ap, packet),
                    None => {
                        self.uplink_ended(at, from, true);
                        self.count_in_mesh(at, from, to, false);
                        if self.count_uplink(at, from, to, false) {
                            self.receive(at, from, self.radios[to.index()].ap, packet);
                        } else {
                            self.drop_packet(at, DropSite::Air(DropReason::NoLink), packet);
                        }
                    }
                },
                AirOutput::Dropped {
                    at,
                    from,
                    to,
                    reason,
                    packet,
                } => {
                    let Some(packet) = packet else { continue };
                    if packet.tid == MANAGEMENT {
                        self.handle_management(at, (from, to), packet.flow, false);
                        continue;
                    }
                    if reason == DropReason::RetryLimit {
                        match self.station(to) {
                            Some(_) => self.count_loss(at, from, to, true),
                            None => {
                                self.count_in_mesh(at, from, to, true);
                                self.count_uplink(at, from, to, true);
                            }
                        }
                    }
                    match self.station(to) {
                        Some(_) => self.downlink_ended(at, to, false),
                        None => self.uplink_ended(at, from, false),
                    }
                    if Self::is_broadcast(&packet) {
                        continue;
                    }
                    let own = self.station(from).is_some() && reason != DropReason::AdapterFull;
                    let by = if own {
                        DropSite::Sender(reason)
                    } else {
                        DropSite::Air(reason)
                    };
                    self.drop_packet(at, by, packet);
                }
                AirOutput::Group {
                    at,
                    from,
                    packet,
                    heard,
                } => {
                    if packet.tid == MANAGEMENT {
                        let heard: Vec<NodeId> = heard.into_iter().filter(|to| !self.air.is_away(*to)).collect();
                        self.receive_mesh_frame(at, from, packet.flow, &heard);
                    } else {
                        self.receive_group(at, from, packet.flow, &heard);
                    }
                }
                AirOutput::Sent {
                    at,
                    from,
                    flow,
                    packets,
                    bytes,
                    ..
                } => {
                    if let Some(station) = self.station(from) {
                        self.outputs.push_back(Output::Sent {
                            at,
                            from: Endpoint::Station(station),
                            flow,
                            packets,
                            bytes,
                        });
                    }
                }
            }
        }
    }

    /// Processes a management frame that arrived, or that was lost after its last retry.
    fn handle_management(&mut self, at: Instant, ends: (NodeId, NodeId), flow: u32, arrived: bool) {
        if self.station(ends.0).or(self.station(ends.1)).is_some() {
            self.handle_frame(at, ends, flow, arrived);
        } else {
            self.handle_mesh_frame(at, ends, flow, arrived);
        }
    }

    /// Processes a packet that an access point received from the air. One that it sends on over the
    /// air, to or from another access point, first passes its forwarding delay.
    fn receive(&mut self, now: Instant, from: NodeId, ap: usize, packet: NetPacket<P>) {
        if Self::is_broadcast(&packet) {
            self.receive_broadcast(now, ap, packet.flow);
            return;
        }
        if self.is_for_access_point(from, &packet) {
            // The access point's processor handles it as a packet that it forwards.
            self.forward(now, ap, packet);
            return;
        }
        let relayed = !self.relays.is_empty() && {
            let came_from_unit = self.station(from).is_none();
            match self.next_step(ap, &packet) {
                Some(Step::Air(..) | Step::Mesh(_)) => true,
                Some(Step::Here) => came_from_unit,
                Some(Step::Wire(_)) | None => false,
            }
        };
        if relayed {
            self.relays.hold(now, ap, packet);
            self.cached_timeout = None;
        } else {
            self.forward(now, ap, packet);
        }
    }

    /// Forwards the packets whose forwarding delay has passed.
    pub(super) fn relay(&mut self, now: Instant) {
        while let Some((ap, packet)) = self.relays.poll(now) {
            if Self::is_broadcast(&packet) {
                self.relay_broadcast(now, ap, packet);
            } else {
                self.forward(now, ap, packet);
            }
        }
    }

    /// Next hop of a packet at an access point; `None`: over the wire, to the server or to a wired
    /// station.
    fn next_step(&self, ap: usize, packet: &NetPacket<P>) -> Option<Step> {
        let Endpoint::Station(station) = packet.payload.to else {
            return self.relays.up(ap);
        };
        let Attachment::Air(index) = self.attachments[usize::from(station)] else {
            return self.relays.up(ap);
        };
        // When a station joins, its access point sends a frame in its name (hostapd's
        // `l2_packet` update), from which the bridges learn the new way at once.
        Some(self.relays.step(ap, self.wifi_stations[index].ap))
    }

    /// Forwards the packets that left the wired hops by `now`.
    pub(crate) fn drain_wires(&mut self, now: Instant) {
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

    /// Sends a packet of the server. Packets in its sockets count against the link's queue.
    pub(super) fn send(&mut self, now: Instant, packet: NetPacket<P>) {
        let link = self.backhaul.hop(HopId::LinkDown);
        let taken = link.backlog() + self.small_queues.waiting() + u64::from(packet.length);
        let full = taken > link.config().queue.as_bytes();
        let must_wait = self.small_queues.must_wait(&packet);
        if full && (must_wait || self.small_queues.waiting() > 0) {
            self.reject(now, packet);
        } else if must_wait {
            self.small_queues.hold(packet);
        } else {
            self.send_on_link(now, packet);
        }
    }

    /// Queues a packet of the server on its link.
    fn send_on_link(&mut self, now: Instant, packet: NetPacket<P>) {
        let (flow, length) = (packet.flow, packet.length);
        match self.backhaul.handle_packet(now, HopId::LinkDown, packet) {
            Ok(()) => {
                self.at_server.push_back((flow, length));
                self.small_queues.on_queued(flow, length);
            }
            Err(packet) => self.reject(now, packet),
        }
    }

    /// Drops a packet of the server because its host has no room.
    fn reject(&mut self, now: Instant, packet: NetPacket<P>) {
        // The flow may have no other packet.
        self.small_queues.on_sent(packet.flow, 0);
        self.drop_packet(now, DropSite::Host, packet);
    }

    fn handle_hop_event(&mut self, hop: HopId, at: Instant, event: HopEvent<NetPacket<P>>) {
        match event {
            HopEvent::Sent => {
                if let Some((flow, bytes)) = self.at_server.pop_front() {
                    self.sent(at, Endpoint::Server, flow, bytes);
                    self.small_queues.on_sent(flow, bytes);
                    while let Some(packet) = self.small_queues.next(flow) {
                        self.send_on_link(at, packet);
                    }
                }
            }
            HopEvent::Lost(packet) => self.drop_packet(at, DropSite::Lost, packet),
            HopEvent::Dropped(packet) => self.drop_packet(at, DropSite::Wire, packet),
            HopEvent::Arrived(packet) => {
                self.handle_arrival(at, hop, packet);
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
            WiredEvent::Up(packet) => match packet.payload.to {
                Endpoint::Server => self.forward_to(now, HopId::LinkUp, packet),
                Endpoint::Station(station) => {
                    // A packet to another station does not leave the local network.
                    match self.wifi_station(station) {
                        Some(wifi_station) => {
                            let ap = self.relays.root(wifi_station.ap);
                            self.forward(now, ap, packet);
                        }
                        None => self.send_to_station(now, None, station, packet),
                    }
                    self.drain_air();
                }
            },
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

    /// Forwards a packet that arrived at the end of a hop.
    fn handle_arrival(&mut self, now: Instant, hop: HopId, packet: NetPacket<P>) {
        let packet = match packet.payload.headers.reflector() {
            None => packet,
            Some(reflector) => match self.reflect(now, hop, reflector, packet) {
                Some(packet) => packet,
                None => return,
            },
        };
        match (hop, packet.payload.to) {
            (HopId::LinkUp, _) => self.deliver(now, packet),
            (HopId::LinkDown, Endpoint::Station(station)) => match self.wifi_station(station) {
                Some(wifi_station) => {
                    let own = wifi_station.ap;
                    let ap = if self.relays.is_empty() {
                        own
                    } else {
                        self.relays.root(own)
                    };
                    self.forward_to(now, HopId::WanDown(ap as u16), packet);
                }
                None => self.send_to_station(now, None, station, packet),
            },
            (HopId::LinkDown, Endpoint::Server) => self.deliver(now, packet),
            (HopId::WanDown(ap), _) if self.backhaul.has(HopId::ShaperDown(ap)) => {
                self.forward_to(now, HopId::ShaperDown(ap), packet);
            }
            (HopId::WanDown(ap) | HopId::ShaperDown(ap), _) => self.forward_to(now, HopId::Forwarding(ap), packet),
            (HopId::ShaperUp(ap), _) => self.forward_to(now, HopId::WanUp(ap), packet),
            (HopId::WanUp(_), _) => self.forward_to(now, HopId::LinkUp, packet),
            (HopId::Forwarding(ap), _) if !self.relays.is_empty() => self.send_from(now, ap, packet),
            (HopId::Forwarding(ap), Endpoint::Server) => self.forward_up(now, ap, packet),
            (HopId::Forwarding(ap), Endpoint::Station(station)) => self.send_to_station(now, Some(ap), station, packet),
        }
    }

    /// Sends a packet from an access point to the next one, to its station, or to the server.
    fn send_from(&mut self, now: Instant, ap: u16, mut packet: NetPacket<P>) {
        if let Some(mappings) = &self.mappings {
            mappings.at_ap(usize::from(ap), &mut packet);
        }
        match (self.next_step(usize::from(ap), &packet), packet.payload.to) {
            (Some(Step::Air(from, to)), _) => self.air.handle_packet(now, from, to, packet),
            (Some(Step::Mesh(target)), _) => self.send_in_mesh(now, usize::from(ap), target, packet),
            (Some(Step::Wire(root)), _) => self.send_from(now, root as u16, packet),
            (Some(Step::Here) | None, Endpoint::Station(station)) => {
                self.send_to_station(now, Some(ap), station, packet);
            }
            (Some(Step::Here) | None, Endpoint::Server) => self.forward_up(now, ap, packet),
        }
    }

    /// Last hop to a station: over the air or over its wire.
    /// `ap`: access point that the packet has reached.
    fn send_to_station(&mut self, now: Instant, ap: Option<u16>, station: u16, mut packet: NetPacket<P>) {
        match self.attachments[usize::from(station)] {
            Attachment::Air(index) => {
                let at = &self.wifi_stations[index];
                let (mut radio, mut node) = (at.radio, at.node);
                let ap = ap.map_or(at.ap, usize::from);
                if let Some(mappings) = &self.mappings {
                    mappings.at_ap(ap, &mut packet);
                }
                if self.has_timers {
                    (radio, node) = self.roaming.route(index, ap, &self.air).unwrap_or((radio, node));
                    self.count_waiting(node);
                }
                self.air.handle_packet(now, radio, node, packet);
            }
            Attachment::Wire(host) => self.wired.deliver(now, host, packet),
        }
    }

    /// Forwards a packet that an access point received from the air.
    fn forward(&mut self, now: Instant, ap: usize, packet: NetPacket<P>) {
        self.forward_to(now, HopId::Forwarding(ap as u16), packet);
    }

    /// Sends a packet of an access point to the server: first to the shaper of its WAN link, if there is one.
    fn forward_up(&mut self, now: Instant, ap: u16, packet: NetPacket<P>) {
        let shaper = HopId::ShaperUp(ap);
        let first = if self.backhaul.has(shaper) {
            shaper
        } else {
            HopId::WanUp(ap)
        };
        self.forward_to(now, first, packet);
    }

    /// Offers a packet to a hop, or skips the hop if it is a passthrough.
    pub(super) fn forward_to(&mut self, now: Instant, hop: HopId, packet: NetPacket<P>) {
        if self.backhaul.is_passthrough(hop) {
            self.handle_arrival(now, hop, packet);
        } else if let Err(packet) = self.backhaul.handle_packet(now, hop, packet) {
            self.drop_packet(now, DropSite::Wire, packet);
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

    pub(crate) fn drop_packet(&mut self, at: Instant, by: DropSite, packet: NetPacket<P>) {
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
