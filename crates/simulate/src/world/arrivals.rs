//! Interface to the network: arriving and departing packets.

use super::World;
use super::clients::Client;
use super::gro::MergedSegment;
use super::payload::{End, Payload, TCP_HEADERS, UDP_HEADERS, length};
use super::payload_pool::PayloadId;
use netburn_medium::packet::{DropReason, Ecn, Packet};
use netburn_network::{Ack, DropSite, Endpoint as Place, Headers, Output, Reflector};
use netburn_tcp::segment::Flags;
use netburn_tcp::{Packet as Segment, Transmit};
use netburn_units::{ByteSize, Instant};
use netburn_workload::{Direction, ProbeTarget, RemoteTimestamps, RequestId};
use std::collections::BTreeMap;

impl World {
    /// Processes the outputs of the network at this instant.
    pub(super) fn take_arrivals(&mut self) {
        while let Some(output) = self.network.poll_output() {
            match output {
                Output::Delivered { at, from, to, packet } => {
                    self.capture(at, from, to, &packet, true);
                    if let Some(packet) = self.rx_coalescing.hold(self.now, from, to, packet) {
                        self.arrive(packet);
                    }
                }
                Output::Dropped { by, packet, .. } => self.handle_dropped(by, packet),
                Output::Sent {
                    from: Place::Station(station),
                    flow,
                    packets,
                    ..
                } if self.completions.hold(self.now, station, flow, packets) => {}
                Output::Sent { at, flow, packets, .. } => self.handle_sent(at, flow, packets),
                Output::SentTimesChanged { .. } => self.plan_sent_again(),
            }
        }
        self.deliver_segments();
    }

    /// Replaces the times at which packets of the server leave it, after a change of its link.
    fn plan_sent_again(&mut self) {
        let mut by_flow: BTreeMap<u32, Vec<Instant>> = BTreeMap::new();
        for (at, flow) in self.network.planned_sent(self.now) {
            by_flow.entry(flow).or_default().push(at);
        }
        for (flow, sent_at) in by_flow {
            let Some(slot) = self.slot_of(flow >> 1) else { continue };
            let Some(connection) = &mut self.connections[slot] else {
                continue;
            };
            let host = connection.host(End::BOTH[(flow & 1) as usize]);
            host.plan_again(&sent_at);
            self.freed_due.set(slot, host.wakes_at());
        }
    }

    /// Processes the packets whose coalesced interrupt is due.
    pub(super) fn take_coalesced(&mut self) {
        while let Some(held) = self.rx_coalescing.pop(self.now) {
            held.into_iter().for_each(|packet| self.arrive(packet));
            self.deliver_segments();
        }
    }

    fn arrive(&mut self, packet: Packet<PayloadId>) {
        self.payloads.free(packet.payload);
        match *self.payloads.get(packet.payload) {
            Payload::Segment {
                connection,
                to,
                ref segment,
            } => {
                let Some(slot) = self.slot_of(connection) else { return };
                let whose = (slot, to, packet.ecn == Ecn::Ce);
                let joins = self.connections[slot].as_ref().is_none_or(|of| {
                    match to.place(of.station, self.clients[of.client].peer) {
                        Place::Server => true,
                        Place::Station(station) => self.receive.gro[usize::from(station)],
                    }
                });
                self.receive.push(whose, &segment.segment, joins);
            }
            Payload::Probe { client, id, echoed } => match (self.probe_target(client), echoed) {
                (ProbeTarget::Server, None) => self.echo(client, id, &packet),
                (_, echoed) => {
                    let far = echoed.map(|at| RemoteTimestamps {
                        received: at.as_nanos(),
                        sent: at.as_nanos(),
                    });
                    let machine = self.clients[client as usize].recorded.machine_mut();
                    machine.handle_reply(self.now, id, far);
                    self.take_actions(client as usize);
                }
            },
            Payload::OneWay { client, id, direction } => {
                let recorded = &mut self.clients[client as usize].recorded;
                recorded.handle_arrival(self.now, id, direction, self.now, &mut self.rows);
                self.take_actions(client as usize);
            }
            Payload::Media { client, to, packet } => self.handle_media(client as usize, to, &packet),
            Payload::Feedback { client, to, number } => self.handle_feedback(client as usize, to, number),
        }
    }

    /// Sends a packet of a call from its station, or from its server to the station.
    pub(super) fn send_one_way(&mut self, client: usize, id: RequestId, size: ByteSize, direction: Direction) {
        let payload = Payload::OneWay {
            client: client as u32,
            id,
            direction,
        };
        let station = Place::Station(self.clients[client].recorded.station());
        let (from, to) = match direction {
            Direction::Up => (station, self.clients[client].peer),
            Direction::Down => (self.clients[client].peer, station),
        };
        self.send_datagram(client, size, payload, (from, to), None);
    }

    pub(super) fn send_datagram(
        &mut self,
        client: usize,
        size: ByteSize,
        payload: Payload,
        (from, to): (Place, Place),
        reflector: Option<Reflector>,
    ) {
        let marking = self.clients[client].recorded.machine().config().marking();
        let packet = Packet {
            length: size.as_bytes() as u32 + UDP_HEADERS,
            // Different from every connection's flows.
            flow: u32::MAX - client as u32,
            tid: marking.tid,
            ecn: Ecn::NotEct,
            payload: self.payloads.put(payload),
        };
        self.counters.packets += 1;
        self.capture(self.now, from, to, &packet, false);
        let headers = Headers::new(marking.dscp);
        let headers = reflector.map_or(headers, |reflector| headers.returned_by(reflector));
        self.network.handle_packet_with(self.now, from, to, headers, packet);
        self.take_arrivals();
    }

    /// Passes received segments to the endpoints. Each segment is answered before the next one is
    /// handled, as in the kernel's receive path. Otherwise one acknowledgement would answer all
    /// segments of an instant, and SACK blocks beyond its maximum would be lost. The applications run
    /// after that: a socket wakes its process, which runs after the receive path.
    fn deliver_segments(&mut self) {
        if !self.receive.begin() {
            return;
        }
        while let Some(segment) = self.receive.pop() {
            self.handle_segment(&segment);
        }
    }

    fn handle_segment(&mut self, joined: &MergedSegment) {
        if let Some(connection) = &mut self.connections[joined.slot] {
            let endpoint = connection.host(joined.to).endpoint_at(self.now);
            endpoint.handle_segment(self.now, &joined.segment, joined.marked);
            self.send_all(joined.slot, joined.to);
            self.mark_ready(joined.slot, joined.to);
        }
    }

    /// Sends all segments that an endpoint can send.
    fn send_all(&mut self, slot: usize, end: End) {
        while let Some(connection) = &mut self.connections[slot]
            && let Some(transmit) = connection.host(end).endpoint_at(self.now).poll_transmit(self.now)
        {
            self.transmit(slot, end, &transmit);
        }
    }

    /// Echoes a probe at the server, without delay.
    fn echo(&mut self, client: u32, id: RequestId, packet: &Packet<PayloadId>) {
        let Client { recorded, peer, .. } = &self.clients[client as usize];
        let (station, peer) = (recorded.station(), *peer);
        let echoed = Some(self.now);
        let back = Packet {
            ecn: Ecn::NotEct,
            payload: self.payloads.put(Payload::Probe { client, id, echoed }),
            ..packet.clone()
        };
        self.counters.packets += 1;
        let to = Place::Station(station);
        self.capture(self.now, peer, to, &back, false);
        let dscp = self.clients[client as usize].recorded.machine().config().marking().dscp;
        let headers = Headers::new(dscp);
        self.network.handle_packet_with(self.now, peer, to, headers, back);
    }

    /// Sends a probe from its station.
    pub(super) fn send_probe(&mut self, client: usize, id: RequestId, size: ByteSize) {
        let payload = Payload::Probe {
            client: client as u32,
            id,
            echoed: None,
        };
        let from = Place::Station(self.clients[client].recorded.station());
        let reflector = match self.probe_target(client as u32) {
            ProbeTarget::Near => Some(Reflector::AccessPoint),
            ProbeTarget::Line => Some(Reflector::LineEnd),
            ProbeTarget::Server => None,
        };
        let to = self.clients[client].peer;
        self.send_datagram(client, size, payload, (from, to), reflector);
    }

    /// Host that answers the probes of a client.
    fn probe_target(&self, client: u32) -> ProbeTarget {
        let config = self.clients[client as usize].recorded.machine().config();
        config.target().unwrap_or_default()
    }

    /// Processes the drop of a packet.
    fn handle_dropped(&mut self, by: DropSite, packet: Packet<PayloadId>) {
        let Payload::Segment {
            connection,
            to,
            segment,
        } = self.payloads.take(packet.payload)
        else {
            return;
        };
        let Some(slot) = self.slot_of(connection) else { return };
        let Some(of) = &mut self.connections[slot] else { return };
        let host = of.host(to.other());
        let refused = match by {
            DropSite::Host | DropSite::Sender(DropReason::QueueFull) => true,
            // It had left the queue already; the end of its transmission reports that as well.
            DropSite::Sender(DropReason::RetryLimit) | DropSite::Wire | DropSite::Lost | DropSite::Air(_) => return,
            DropSite::Sender(_) => false,
        };
        host.free_sent(self.now);
        let weight = host.on_sent(1);
        if refused {
            let packet = Segment {
                truesize: weight as u32,
                ..segment
            };
            host.endpoint.handle_dropped_locally(self.now, &packet);
        } else {
            host.endpoint.handle_freed(self.now, weight);
        }
        self.mark_ready(slot, to.other());
    }

    /// Frees packets of a flow that left their sender's host.
    pub(super) fn handle_sent(&mut self, at: Instant, flow: u32, packets: u32) {
        let Some(slot) = self.slot_of(flow >> 1) else { return };
        let end = End::BOTH[(flow & 1) as usize];
        let Some(of) = &mut self.connections[slot] else { return };
        let host = of.host(end);
        let weight = host.on_sent(packets);
        if weight > 0 {
            // An endpoint that waits for less memory tries to send after each freed packet, as in `tcp_tsq_handler`. That
            // determines its order among those that are ready.
            let tries = host.endpoint.wake_of_freed().is_some_and(|wake| wake.is_met(at, 0));
            host.endpoint.handle_freed(at, weight);
            if tries {
                self.mark_ready(slot, end);
            }
        }
    }

    /// Sends a packet or a burst of an endpoint.
    pub(super) fn transmit(&mut self, slot: usize, end: End, transmit: &Transmit) {
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let (serial, marking, station) = (connection.serial, connection.marking, connection.station);
        let peer = self.clients[connection.client].peer;
        let ecn = if transmit.ect { Ecn::Ect0 } else { Ecn::NotEct };
        let (from, to) = (end.place(station, peer), end.other().place(station, peer));
        for index in 0..transmit.packets {
            let segment = transmit.packet(index);
            let truesize = segment.truesize;
            self.counters.packets += 1;
            self.counters.data_segments += u64::from(segment.segment.length > 0);
            let headers = headers(marking.dscp, &segment.segment);
            let packet = Packet {
                length: length(&segment).max(TCP_HEADERS),
                flow: serial << 1 | end.index() as u32,
                tid: marking.tid,
                ecn,
                payload: self.payloads.put(Payload::Segment {
                    connection: serial,
                    to: end.other(),
                    segment,
                }),
            };
            self.capture(self.now, from, to, &packet, false);
            let sent_at = self.network.handle_packet_with(self.now, from, to, headers, packet);
            if let Some(connection) = &mut self.connections[slot] {
                connection.host(end).on_queued(truesize, sent_at);
            }
            if self.network.has_output() {
                self.take_arrivals();
            }
        }
    }

    /// Slot of a connection, by its number; `None` after its end.
    fn slot_of(&self, serial: u32) -> Option<usize> {
        let slot = self.numbered.get(serial as usize)?.slot as usize;
        let connection = self.connections.get(slot)?.as_ref()?;
        (connection.serial == serial).then_some(slot)
    }

    /// Marks an endpoint as ready: it may have something to send, or an event.
    pub(super) fn mark_ready(&mut self, slot: usize, end: End) {
        self.ready.push(slot, end);
    }

    /// Handles a due timer of an endpoint.
    pub(super) fn wake_endpoint(&mut self, place: usize) {
        let (slot, end) = (place / 2, End::BOTH[place % 2]);
        if let Some(connection) = &mut self.connections[slot] {
            connection.host(end).endpoint_at(self.now).handle_timeout(self.now);
            self.mark_ready(slot, end);
        }
    }

    /// Sets the timer of an endpoint.
    pub(super) fn set_timer(&mut self, slot: usize, end: End, at: Option<Instant>) {
        self.endpoints_due.set(2 * slot + end.index(), at);
    }
}

/// Header fields of a segment that queue disciplines read.
fn headers(dscp: u8, segment: &netburn_tcp::Segment) -> Headers {
    let headers = Headers::new(dscp);
    if !segment.flags.contains(Flags::ACK) || segment.flags.contains(Flags::SYN) {
        return headers;
    }
    headers.with_ack(Ack {
        next: segment.ack as u32,
        pure_ack: segment.length == 0 && segment.flags == Flags::ACK && segment.sack.as_slice().is_empty(),
    })
}
