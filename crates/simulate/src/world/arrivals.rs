//! What comes out of the network, and what leaves it.

use super::World;
use super::gro::Joined;
use super::load::{End, Load, TCP_HEADERS, UDP_HEADERS, length, tid};
use super::loads::Ticket;
use netburn_medium::packet::{DropReason, Ecn, Packet};
use netburn_network::{Dropper, Endpoint as Place, Output};
use netburn_tcp::{Packet as Segment, Transmit};
use netburn_units::{ByteSize, Instant};
use netburn_workload::{FarTimes, RequestId};

impl World {
    /// Takes what the network gave out at this instant.
    pub(super) fn take_arrivals(&mut self) {
        while let Some(output) = self.network.poll_output() {
            match output {
                Output::Delivered { at, from, to, packet } => {
                    self.see(at, from, to, &packet, true);
                    if let Some(packet) = self.gathering.hold(self.now, from, to, packet) {
                        self.arrive(packet);
                    }
                }
                Output::Dropped { by, packet, .. } => self.dropped(by, packet),
                Output::Sent {
                    from: Place::Station(station),
                    flow,
                    packets,
                    ..
                } if self.completions.hold(self.now, station, flow, packets) => {}
                Output::Sent { flow, packets, .. } => self.left(flow, packets),
            }
        }
        self.pass_on();
    }

    /// What cards have gathered and tell of now.
    pub(super) fn take_gathered(&mut self) {
        while let Some(held) = self.gathering.pop(self.now) {
            held.into_iter().for_each(|packet| self.arrive(packet));
            self.pass_on();
        }
    }

    fn arrive(&mut self, packet: Packet<Ticket>) {
        self.loads.free(packet.payload);
        match *self.loads.get(packet.payload) {
            Load::Segment {
                connection,
                to,
                ref segment,
            } => {
                let Some(slot) = self.slot_of(connection) else { return };
                let whose = (slot, to, packet.ecn == Ecn::Ce);
                let joins = to == End::Server
                    || self.connections[slot]
                        .as_ref()
                        .is_none_or(|of| self.joins[usize::from(of.station)]);
                let last = self.received.back_mut().filter(|_| joins && self.is_joining);
                if !last.is_some_and(|last| last.takes(whose, &segment.segment)) {
                    self.received.push_back(Joined::new(whose, &segment.segment));
                    self.is_joining = true;
                }
            }
            Load::Probe { user, id, echoed: None } => self.echo(user, id, &packet),
            Load::Probe {
                user,
                id,
                echoed: Some(at),
            } => {
                let far = FarTimes {
                    received: at.as_nanos(),
                    sent: at.as_nanos(),
                };
                let machine = self.users[user as usize].watched.machine_mut();
                machine.handle_reply(self.now, id, Some(far));
                self.take_actions(user as usize);
            }
        }
    }

    /// Gives endpoints the segments that hosts have received. Each segment is answered before the next one is handled, as in the
    /// kernel's receive path. Otherwise one acknowledgement would answer all that arrived at once, and SACK blocks that it has no
    /// room for would be lost. The applications run after that: a socket wakes its process, which runs when the receive path is done.
    fn pass_on(&mut self) {
        self.is_joining = false;
        if self.received.is_empty() || std::mem::replace(&mut self.passing_on, true) {
            return;
        }
        while let Some(segment) = self.received.pop_front() {
            self.handle_segment(&segment);
        }
        self.passing_on = false;
    }

    fn handle_segment(&mut self, joined: &Joined) {
        if let Some(connection) = &mut self.connections[joined.slot] {
            let endpoint = &mut connection.host(joined.to).endpoint;
            endpoint.handle_segment(self.now, &joined.segment, joined.marked);
            self.send_all(joined.slot, joined.to);
            self.unrest(joined.slot, joined.to);
        }
    }

    /// An endpoint sends all that it can.
    fn send_all(&mut self, slot: usize, end: End) {
        while let Some(connection) = &mut self.connections[slot]
            && let Some(transmit) = connection.host(end).endpoint.poll_transmit(self.now)
        {
            self.transmit(slot, end, &transmit);
        }
    }

    /// The server sends a probe back at once.
    fn echo(&mut self, user: u32, id: RequestId, packet: &Packet<Ticket>) {
        let station = self.users[user as usize].watched.station();
        let echoed = Some(self.now);
        let back = Packet {
            ecn: Ecn::NotEct,
            payload: self.loads.put(Load::Probe { user, id, echoed }),
            ..packet.clone()
        };
        self.counted.packets += 1;
        let to = Place::Station(station);
        self.see(self.now, Place::Server, to, &back, false);
        self.network.handle_packet(self.now, Place::Server, to, back);
    }

    /// A probe leaves its station.
    pub(super) fn send_probe(&mut self, user: usize, id: RequestId, size: ByteSize) {
        let watched = &self.users[user].watched;
        let packet = Packet {
            length: size.as_bytes() as u32 + UDP_HEADERS,
            // Apart from every connection's flows.
            flow: u32::MAX - user as u32,
            tid: tid(watched.machine().config().priority),
            ecn: Ecn::NotEct,
            payload: self.loads.put(Load::Probe {
                user: user as u32,
                id,
                echoed: None,
            }),
        };
        let from = Place::Station(watched.station());
        self.counted.packets += 1;
        self.see(self.now, from, Place::Server, &packet, false);
        self.network.handle_packet(self.now, from, Place::Server, packet);
        self.take_arrivals();
    }

    /// A packet was dropped on the way.
    fn dropped(&mut self, by: Dropper, packet: Packet<Ticket>) {
        let Load::Segment {
            connection,
            to,
            segment,
        } = self.loads.take(packet.payload)
        else {
            return;
        };
        let Some(slot) = self.slot_of(connection) else { return };
        let Some(of) = &mut self.connections[slot] else { return };
        let host = of.host(to.other());
        let refused = match by {
            Dropper::Host | Dropper::Sender(DropReason::QueueFull) => true,
            // It had left the queue; the end of its transmission says so, too.
            Dropper::Sender(DropReason::RetryLimit) | Dropper::Wire | Dropper::Lost | Dropper::Air(_) => return,
            Dropper::Sender(_) => false,
        };
        let weight = host.left(1);
        if refused {
            let packet = Segment {
                truesize: weight as u32,
                ..segment
            };
            host.endpoint.handle_dropped_locally(self.now, &packet);
        } else {
            host.endpoint.handle_freed(self.now, weight);
        }
        self.unrest(slot, to.other());
    }

    /// Packets of a flow have left their sender's host.
    pub(super) fn left(&mut self, flow: u32, packets: u32) {
        let Some(slot) = self.slot_of(flow >> 1) else { return };
        let end = End::BOTH[(flow & 1) as usize];
        let Some(of) = &mut self.connections[slot] else { return };
        let host = of.host(end);
        let weight = host.left(packets);
        if weight > 0 {
            host.endpoint.handle_freed(self.now, weight);
            self.unrest(slot, end);
        }
    }

    /// An endpoint hands a packet or a burst to its host.
    pub(super) fn transmit(&mut self, slot: usize, end: End, transmit: &Transmit) {
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let (serial, tid, station) = (connection.serial, connection.tid, connection.station);
        let ecn = if transmit.ect { Ecn::Ect0 } else { Ecn::NotEct };
        for index in 0..transmit.packets {
            let segment = transmit.packet(index);
            self.counted.packets += 1;
            self.counted.data_segments += u64::from(segment.segment.length > 0);
            if let Some(connection) = &mut self.connections[slot] {
                connection.host(end).handed(segment.truesize);
            }
            let packet = Packet {
                length: length(&segment).max(TCP_HEADERS),
                flow: serial << 1 | end.index() as u32,
                tid,
                ecn,
                payload: self.loads.put(Load::Segment {
                    connection: serial,
                    to: end.other(),
                    segment,
                }),
            };
            let (from, to) = (end.place(station), end.other().place(station));
            self.see(self.now, from, to, &packet, false);
            self.network.handle_packet(self.now, from, to, packet);
            self.take_arrivals();
        }
    }

    /// The slot of a connection, by its number; `None` when it is over.
    fn slot_of(&self, serial: u32) -> Option<usize> {
        let slot = *self.slots.get(serial as usize)? as usize;
        let connection = self.connections.get(slot)?.as_ref()?;
        (connection.serial == serial).then_some(slot)
    }

    /// An endpoint may have something to send or to tell.
    pub(super) fn unrest(&mut self, slot: usize, end: End) {
        let is_restless = &mut self.is_restless[slot][end.index()];
        if !std::mem::replace(is_restless, true) {
            self.restless.push((slot, end));
        }
    }

    /// A timer of an endpoint is due.
    pub(super) fn wake_endpoint(&mut self, place: usize) {
        let (slot, end) = (place / 2, End::BOTH[place % 2]);
        if let Some(connection) = &mut self.connections[slot] {
            connection.host(end).endpoint.handle_timeout(self.now);
            self.unrest(slot, end);
        }
    }

    /// When an endpoint wants to be woken.
    pub(super) fn set_timer(&mut self, slot: usize, end: End, at: Option<Instant>) {
        self.endpoints_due.set(2 * slot + end.index(), at);
    }
}
