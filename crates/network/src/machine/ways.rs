//! The ways of packets: out of the air or off a wire, on to where each goes next, until it is delivered or dropped.

use super::Network;
use crate::hop::Left;
use crate::layout::Seat;
use crate::observe::Traffic;
use crate::output::{Dropper, Endpoint, Moving, Output, unwrap};
use crate::wired::Happened;
use crate::wires::Wire;
use netburn_medium::air::Output as AirOutput;
use netburn_medium::packet::{DropReason, Ecn};
use netburn_units::Instant;

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Takes what the air gave out.
    pub(crate) fn drain_air(&mut self) {
        while let Some(output) = self.air.poll_output() {
            match output {
                AirOutput::Delivered { at, to, packet, .. } => match self.station(to) {
                    Some(_) => self.deliver(at, packet),
                    None => self.forward(at, self.radios[to.index()].ap, packet),
                },
                AirOutput::Dropped {
                    at,
                    from,
                    reason,
                    packet,
                    ..
                } => {
                    let Some(packet) = packet else { continue };
                    let own = self.station(from).is_some() && reason != DropReason::AdapterFull;
                    let by = if own {
                        Dropper::Sender(reason)
                    } else {
                        Dropper::Air(reason)
                    };
                    self.drop_packet(at, by, packet);
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

    /// Moves what has come out of the wires by `now` on to where it goes next.
    pub(crate) fn drain_wires(&mut self, now: Instant) {
        loop {
            if let Some((wire, at, left)) = self.wires.poll(now) {
                self.left_wire(wire, at, left);
            } else if let Some((host, happened)) = self.wired.poll(now) {
                self.happened(now, host, happened);
            } else {
                break;
            }
        }
    }

    /// The server sends a packet. What waits in its sockets takes the room of what waits for its link.
    pub(super) fn send(&mut self, now: Instant, packet: Moving<P>) {
        let link = self.wires.hop(Wire::LinkDown);
        let taken = link.backlog() + self.sockets.waiting() + u64::from(packet.length);
        let full = taken > link.config().queue.as_bytes();
        let holds = self.sockets.holds(&packet);
        if full && (holds || self.sockets.waiting() > 0) {
            self.refuse(now, packet);
        } else if holds {
            self.sockets.hold(packet);
        } else {
            self.link(now, packet);
        }
    }

    /// Puts a packet of the server's on its link.
    fn link(&mut self, now: Instant, packet: Moving<P>) {
        let (flow, length) = (packet.flow, packet.length);
        match self.wires.handle_packet(now, Wire::LinkDown, packet) {
            Ok(()) => {
                self.at_server.push_back((flow, length));
                self.sockets.went(flow, length);
            }
            Err(packet) => self.refuse(now, packet),
        }
    }

    /// The server's host has no room for a packet.
    fn refuse(&mut self, now: Instant, packet: Moving<P>) {
        // Perhaps nothing of its flow will leave.
        self.sockets.left(packet.flow, 0);
        self.drop_packet(now, Dropper::Host, packet);
    }

    fn left_wire(&mut self, wire: Wire, at: Instant, left: Left<Moving<P>>) {
        match left {
            Left::Sent => {
                if let Some((flow, bytes)) = self.at_server.pop_front() {
                    self.sent(at, Endpoint::Server, flow, bytes);
                    self.sockets.left(flow, bytes);
                    while let Some(packet) = self.sockets.next(flow) {
                        self.link(at, packet);
                    }
                }
            }
            Left::Lost(packet) => self.drop_packet(at, Dropper::Lost, packet),
            Left::Arrived(packet) => {
                self.arrived(at, wire, packet);
                self.drain_air();
            }
        }
    }

    /// Something happened at a station on a wire: at `now`, since the network goes from instant to instant.
    fn happened(&mut self, now: Instant, host: usize, happened: Happened<P>) {
        match happened {
            Happened::Sent { flow, bytes } => {
                let from = Endpoint::Station(self.wired.station(host));
                self.sent(now, from, flow, bytes);
            }
            Happened::Gone(by, packet) => self.drop_packet(now, by, packet),
            Happened::Down(packet) => self.deliver(now, packet),
            Happened::Up(packet) => match packet.payload.to {
                Endpoint::Server => self.put(now, Wire::LinkUp, packet),
                Endpoint::Station(station) => {
                    // To another station it goes no further than the house.
                    match self.place(station) {
                        Some(place) => self.forward(now, place.ap, packet),
                        None => self.down_to(now, station, packet),
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

    /// A packet has come out of a wire.
    fn arrived(&mut self, now: Instant, wire: Wire, packet: Moving<P>) {
        match (wire, packet.payload.to) {
            (Wire::LinkUp, _) => self.deliver(now, packet),
            (Wire::LinkDown, Endpoint::Station(station)) => match self.place(station) {
                Some(place) => {
                    let ap = place.ap as u16;
                    self.put(now, Wire::WanDown(ap), packet);
                }
                None => self.down_to(now, station, packet),
            },
            (Wire::LinkDown, Endpoint::Server) => self.deliver(now, packet),
            (Wire::WanDown(ap), _) => self.put(now, Wire::Forwarding(ap), packet),
            (Wire::WanUp(_), _) => self.put(now, Wire::LinkUp, packet),
            (Wire::Forwarding(ap), Endpoint::Server) => self.put(now, Wire::WanUp(ap), packet),
            (Wire::Forwarding(_), Endpoint::Station(station)) => self.down_to(now, station, packet),
        }
    }

    /// The last step to a station: over the air or down its wire.
    fn down_to(&mut self, now: Instant, station: u16, packet: Moving<P>) {
        match self.seats[usize::from(station)] {
            Seat::Air(place) => {
                let place = &self.places[place];
                self.air.handle_packet(now, place.radio, place.node, packet);
            }
            Seat::Wire(host) => self.wired.deliver(now, host, packet),
        }
    }

    /// A packet has come to an access point from the air.
    fn forward(&mut self, now: Instant, ap: usize, packet: Moving<P>) {
        self.put(now, Wire::Forwarding(ap as u16), packet);
    }

    /// Puts a packet on a hop, or on the next one where that is nothing.
    fn put(&mut self, now: Instant, wire: Wire, packet: Moving<P>) {
        if self.wires.hop(wire).is_nothing() {
            self.arrived(now, wire, packet);
        } else if let Err(packet) = self.wires.handle_packet(now, wire, packet) {
            self.drop_packet(now, Dropper::Wire, packet);
        }
    }

    fn deliver(&mut self, at: Instant, packet: Moving<P>) {
        let marked = packet.ecn == Ecn::Ce;
        let (from, to, packet) = unwrap(packet);
        for traffic in self.traffic(from, to).into_iter().flatten() {
            traffic.delivered += 1;
            traffic.delivered_bytes += u64::from(packet.length);
            traffic.marked += u64::from(marked);
        }
        self.outputs.push_back(Output::Delivered { at, from, to, packet });
    }

    pub(crate) fn drop_packet(&mut self, at: Instant, by: Dropper, packet: Moving<P>) {
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

    /// The counters of the way up from one end and of the way down to the other.
    fn traffic(&mut self, from: Endpoint, to: Endpoint) -> [Option<&mut Traffic>; 2] {
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
