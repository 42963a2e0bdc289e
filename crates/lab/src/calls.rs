//! Connections to the server that nobody there accepts, and servers that are started for them.
//!
//! The server's kernel refuses such a connection with a reset. The reset is held back and told as a [`Call`]; its
//! [`Reply`] says whether the station gets it, the request is delivered again, or another port answers in its place. What is
//! accepted is never touched or delayed, and a server that listens at the port always comes first.

use crate::packet::header::LENGTH;
use crate::packet::port::{self, Which};
use crate::packet::{Burst, Facts};
use netburn_network::Endpoint;
use std::collections::{BTreeMap, VecDeque};

/// A connection that the server's kernel refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// The station that asked for it.
    pub station: u16,
    /// Its port there.
    pub from: u16,
    /// The port at the server.
    pub port: u16,
}

/// What becomes of a refused connection, and of others that the station asked for at the same port meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The station learns that it is refused.
    Refuse,
    /// The server's kernel is asked again.
    Again,
    /// This port of the server answers the station in place of the one that it asked for, from now on.
    At(u16),
}

/// Requests that are remembered until the server's kernel answers.
const MAX_ASKED: usize = 256;
/// Refused connections of one station to one port that wait for a reply.
const MAX_HELD: usize = 64;

/// What is refused, held back and answered elsewhere. Pure.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Requests that were delivered and not answered yet.
    asked: VecDeque<(Call, Vec<u8>)>,
    /// What waits for a reply, by station and port.
    held: BTreeMap<(u16, u16), Held>,
    /// The port that answers in place of another, by station and the port that it asks for.
    in_place: BTreeMap<(u16, u16), u16>,
    /// For whom it does.
    shown: BTreeMap<u16, (u16, u16)>,
    calls: VecDeque<Call>,
}

#[derive(Debug, Default)]
struct Held {
    /// Each request and its reset, by the station's port.
    refused: BTreeMap<u16, (Vec<u8>, Vec<u8>)>,
}

/// What is to be done after a [`Reply`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Replied {
    /// Frames to be delivered to the server.
    pub(crate) again: Vec<Vec<u8>>,
    /// Frames that the server sent.
    pub(crate) sent: Vec<Vec<u8>>,
}

impl Calls {
    /// A frame is about to be delivered to the server.
    pub(crate) fn handle_delivery(&mut self, from: Endpoint, frame: &mut [u8], facts: &Facts, asks: bool) {
        let Endpoint::Station(station) = from else { return };
        let (own, port) = facts.ports;
        if asks {
            let call = Call {
                station,
                from: own,
                port,
            };
            self.asked.retain(|(other, _)| *other != call);
            if self.asked.len() == MAX_ASKED {
                self.asked.pop_front();
            }
            self.asked.push_back((call, frame.to_vec()));
        }
        if self.in_place.is_empty() {
            return;
        }
        let ports = frame.get(LENGTH..).and_then(|packet| port::ports(packet, facts));
        if let Some(other) = ports.and_then(|(_, port)| self.in_place.get(&(station, port))) {
            answered_at(frame, facts, *other);
        }
    }

    /// The server's kernel sends a burst, which `frame` holds. `None` when it is held back.
    pub(crate) fn handle_sent(&mut self, mut burst: Burst, to: Endpoint, frame: &[u8]) -> Option<Burst> {
        let Endpoint::Station(station) = to else {
            return Some(burst);
        };
        if !self.shown.is_empty()
            && let Some((whose, port)) = burst.source_port().and_then(|port| self.shown.get(&port))
            && *whose == station
        {
            burst.set_source_port(*port);
        }
        let (answers, refuses) = burst.answers();
        if !answers && !refuses {
            return Some(burst);
        }
        let (port, from) = burst.facts.ports;
        let call = Call { station, from, port };
        let at = self.asked.iter().position(|(asked, _)| *asked == call);
        let Some((_, request)) = at.and_then(|at| self.asked.remove(at)) else {
            return Some(burst);
        };
        if !refuses {
            return Some(burst);
        }
        // What answered in its place doesn't any more.
        if let Some(other) = self.in_place.remove(&(station, port)) {
            self.shown.remove(&other);
        }
        let is_new = !self.held.contains_key(&(station, port));
        let held = self.held.entry((station, port)).or_default();
        if held.refused.len() == MAX_HELD && !held.refused.contains_key(&from) {
            return Some(burst);
        }
        held.refused.insert(from, (request, frame.to_vec()));
        if is_new {
            self.calls.push_back(call);
        }
        None
    }

    /// The next call, to be replied to.
    pub(crate) fn poll_call(&mut self) -> Option<Call> {
        self.calls.pop_front()
    }

    /// What became of a call.
    pub(crate) fn handle_reply(&mut self, call: Call, reply: Reply) -> Replied {
        let (station, port) = (call.station, call.port);
        let mut replied = Replied::default();
        let refused = self.held.remove(&(station, port)).unwrap_or_default().refused;
        if let Reply::At(other) = reply {
            self.in_place.insert((station, port), other);
            self.shown.insert(other, (station, port));
        }
        for (from, (mut request, reset)) in refused {
            if reply == Reply::Refuse {
                replied.sent.push(reset);
                continue;
            }
            self.asked.push_back((Call { station, from, port }, request.clone()));
            if let Reply::At(other) = reply
                && let Ok(burst) = Burst::read(&request)
            {
                answered_at(&mut request, &burst.facts, other);
            }
            replied.again.push(request);
        }
        replied
    }
}

/// Has a frame go to another port.
fn answered_at(frame: &mut [u8], facts: &Facts, port: u16) {
    let flags = frame.first().copied().unwrap_or_default();
    if let Some(packet) = frame.get_mut(LENGTH..) {
        port::replace(packet, flags, facts, Which::Destination, port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{datagram, segment};

    const SYN: u8 = 0x02;
    const SYN_ACK: u8 = 0x12;
    const RST_ACK: u8 = 0x14;
    const ACK: u8 = 0x10;

    fn call(station: u16, from: u16, port: u16) -> Call {
        Call { station, from, port }
    }

    /// A segment of station `station` for the server is delivered; the ports that it has then.
    fn delivered(calls: &mut Calls, station: u16, ports: (u16, u16), flags: u8) -> (u16, u16) {
        let mut frame = segment(Endpoint::Station(station), Endpoint::Server, ports, flags);
        let facts = Burst::read(&frame).unwrap().facts;
        calls.handle_delivery(Endpoint::Station(station), &mut frame, &facts, flags == SYN);
        ports_of(&frame)
    }

    /// The server sends a segment; the ports that it has then, unless it is held back.
    fn sent(calls: &mut Calls, station: u16, ports: (u16, u16), flags: u8) -> Option<(u16, u16)> {
        let frame = segment(Endpoint::Server, Endpoint::Station(station), ports, flags);
        let burst = Burst::read(&frame).unwrap();
        let burst = calls.handle_sent(burst, Endpoint::Station(station), &frame)?;
        Some(burst.facts.ports)
    }

    #[test]
    fn a_datagram_in_fragments_goes_there_too() {
        let mut calls = Calls::default();
        delivered(&mut calls, 1, (40_000, 5201), SYN);
        sent(&mut calls, 1, (5201, 40_000), RST_ACK);
        calls.handle_reply(call(1, 40_000, 5201), Reply::At(20_000));
        let mut first = datagram(Endpoint::Station(1), Endpoint::Server, 400);
        // Port 5201, and more fragments.
        first[LENGTH + 22..LENGTH + 24].copy_from_slice(&5201_u16.to_be_bytes());
        first[LENGTH + 6..LENGTH + 8].copy_from_slice(&[0x20, 0]);
        let facts = Burst::read(&first).unwrap().facts;
        calls.handle_delivery(Endpoint::Station(1), &mut first, &facts, false);
        assert_eq!(first[LENGTH + 22..LENGTH + 24], 20_000_u16.to_be_bytes());
    }

    fn ports_of(frame: &[u8]) -> (u16, u16) {
        Burst::read(frame).unwrap().facts.ports
    }

    #[test]
    fn what_is_accepted_is_no_call() {
        let mut calls = Calls::default();
        assert_eq!(delivered(&mut calls, 1, (40_000, 80), SYN), (40_000, 80));
        assert_eq!(sent(&mut calls, 1, (80, 40_000), SYN_ACK), Some((80, 40_000)));
        // A reset later ends the connection, and goes through.
        assert_eq!(sent(&mut calls, 1, (80, 40_000), RST_ACK), Some((80, 40_000)));
        assert_eq!(calls.poll_call(), None);
    }

    #[test]
    fn a_refused_request_is_one_call_and_refused_when_the_reply_says_so() {
        let mut calls = Calls::default();
        for _ in 0..2 {
            delivered(&mut calls, 1, (40_000, 5201), SYN);
            assert_eq!(sent(&mut calls, 1, (5201, 40_000), RST_ACK), None);
        }
        assert_eq!(calls.poll_call(), Some(call(1, 40_000, 5201)));
        assert_eq!(calls.poll_call(), None);
        let replied = calls.handle_reply(call(1, 40_000, 5201), Reply::Refuse);
        assert_eq!(replied.again, Vec::<Vec<u8>>::new());
        assert_eq!(
            replied.sent.iter().map(|frame| ports_of(frame)).collect::<Vec<_>>(),
            [(5201, 40_000)]
        );
        // The reset isn't held back again.
        assert_eq!(sent(&mut calls, 1, (5201, 40_000), RST_ACK), Some((5201, 40_000)));
    }

    #[test]
    fn another_port_answers_in_its_place_and_only_that_station() {
        let mut calls = Calls::default();
        delivered(&mut calls, 1, (40_000, 5201), SYN);
        sent(&mut calls, 1, (5201, 40_000), RST_ACK);
        let replied = calls.handle_reply(call(1, 40_000, 5201), Reply::At(20_000));
        assert_eq!(
            replied.again.iter().map(|frame| ports_of(frame)).collect::<Vec<_>>(),
            [(40_000, 20_000)]
        );
        assert_eq!(sent(&mut calls, 1, (20_000, 40_000), SYN_ACK), Some((5201, 40_000)));
        // Further connections of that station, as iperf3 makes for its data.
        assert_eq!(delivered(&mut calls, 1, (40_001, 5201), SYN), (40_001, 20_000));
        assert_eq!(sent(&mut calls, 1, (20_000, 40_001), ACK), Some((5201, 40_001)));
        // Another station, and another port.
        assert_eq!(delivered(&mut calls, 2, (40_000, 5201), SYN), (40_000, 5201));
        assert_eq!(delivered(&mut calls, 1, (40_002, 80), SYN), (40_002, 80));
        assert_eq!(sent(&mut calls, 2, (20_000, 40_000), ACK), Some((20_000, 40_000)));
    }

    #[test]
    fn what_answered_in_its_place_may_end() {
        let mut calls = Calls::default();
        delivered(&mut calls, 1, (40_000, 5201), SYN);
        sent(&mut calls, 1, (5201, 40_000), RST_ACK);
        calls.poll_call();
        calls.handle_reply(call(1, 40_000, 5201), Reply::At(20_000));
        sent(&mut calls, 1, (20_000, 40_000), SYN_ACK);
        delivered(&mut calls, 1, (40_001, 5201), SYN);
        assert_eq!(sent(&mut calls, 1, (20_000, 40_001), RST_ACK), None);
        assert_eq!(calls.poll_call(), Some(call(1, 40_001, 5201)));
        // A server at the port itself comes first from now on.
        let replied = calls.handle_reply(call(1, 40_001, 5201), Reply::Again);
        assert_eq!(
            replied.again.iter().map(|frame| ports_of(frame)).collect::<Vec<_>>(),
            [(40_001, 5201)]
        );
        assert_eq!(sent(&mut calls, 1, (5201, 40_001), SYN_ACK), Some((5201, 40_001)));
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut calls = Calls::default();
        for from in 0..2_000 {
            delivered(&mut calls, 1, (from, 5201), SYN);
            let held = sent(&mut calls, 1, (5201, from), RST_ACK).is_none();
            assert_eq!(held, usize::from(from) < MAX_HELD);
        }
        for from in 0..2_000 {
            delivered(&mut calls, 1, (from, 81), SYN);
        }
        assert_eq!(calls.asked.len(), MAX_ASKED);
    }
}
