//! Connections that the server's kernel refuses, and the redirection to servers that are started for them.
//!
//! The server's kernel refuses a connection with a reset. The switch holds the reset back and reports a
//! [`RefusedConnection`]. Its [`RefusalReply`] decides whether the station receives the reset, the SYN is delivered
//! again, or the connection is redirected to another port. Accepted connections are neither changed nor delayed. A
//! server that listens at the original port has precedence.

use crate::packet::header::LENGTH;
use crate::packet::port::{self, PortField};
use crate::packet::{Burst, IpPacketInfo};
use netburn_network::Endpoint;
use std::collections::{BTreeMap, VecDeque};

/// A connection that the server's kernel refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusedConnection {
    /// Station that opened the connection.
    pub station: u16,
    /// Source port.
    pub from: u16,
    /// Destination port at the server.
    pub port: u16,
}

/// Reply to a refused connection. It applies to all held connections of the station to the same port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReply {
    /// Deliver the reset to the station.
    Reject,
    /// Deliver the SYN to the server again.
    Retry,
    /// Redirect this and later connections of the station to this port of the server.
    Redirect(u16),
}

/// Maximum number of SYNs that are remembered until the server's kernel answers.
const MAX_PENDING: usize = 256;
/// Maximum number of refused connections of one station to one port that are held until the reply.
const MAX_HELD: usize = 64;

/// State of refused connections and redirections. Pure.
#[derive(Debug, Default)]
pub(crate) struct RefusedConnections {
    /// SYNs that were delivered and not answered yet.
    pending: VecDeque<(RefusedConnection, Vec<u8>)>,
    /// Connections that wait for a reply, by station and port.
    held: BTreeMap<(u16, u16), Held>,
    /// Port to which connections are redirected, by station and original port.
    redirects: BTreeMap<(u16, u16), u16>,
    /// Station and original port, by port to which they are redirected.
    status: BTreeMap<u16, (u16, u16)>,
    refusals: VecDeque<RefusedConnection>,
}

#[derive(Debug, Default)]
struct Held {
    /// SYN and reset of each connection, by the station's port.
    refused: BTreeMap<u16, (Vec<u8>, Vec<u8>)>,
}

/// Frames to send after a [`RefusalReply`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplyFrames {
    /// Frames to deliver to the server.
    pub(crate) again: Vec<Vec<u8>>,
    /// Frames that the server sent and that were held back.
    pub(crate) sent: Vec<Vec<u8>>,
}

impl RefusedConnections {
    /// Processes a frame before it is delivered to the server.
    pub(crate) fn handle_delivery(&mut self, from: Endpoint, frame: &mut [u8], info: &IpPacketInfo, is_syn: bool) {
        let Endpoint::Station(station) = from else { return };
        let (own, port) = info.ports;
        if is_syn {
            let connection = RefusedConnection {
                station,
                from: own,
                port,
            };
            self.pending.retain(|(other, _)| *other != connection);
            if self.pending.len() == MAX_PENDING {
                self.pending.pop_front();
            }
            self.pending.push_back((connection, frame.to_vec()));
        }
        if self.redirects.is_empty() {
            return;
        }
        let ports = frame.get(LENGTH..).and_then(|packet| port::ports(packet, info));
        if let Some(other) = ports.and_then(|(_, port)| self.redirects.get(&(station, port))) {
            redirect(frame, info, *other);
        }
    }

    /// Processes a burst of the server's kernel, contained in `frame`. Returns `None` if it is held back.
    pub(crate) fn handle_sent(&mut self, mut burst: Burst, to: Endpoint, frame: &[u8]) -> Option<Burst> {
        let Endpoint::Station(station) = to else {
            return Some(burst);
        };
        if !self.status.is_empty()
            && let Some((owner, port)) = burst.source_port().and_then(|port| self.status.get(&port))
            && *owner == station
        {
            burst.set_source_port(*port);
        }
        let (answers, refuses) = burst.handshake_reply();
        if !answers && !refuses {
            return Some(burst);
        }
        let (port, from) = burst.info.ports;
        let connection = RefusedConnection { station, from, port };
        let at = self.pending.iter().position(|(pending, _)| *pending == connection);
        let Some((_, request)) = at.and_then(|at| self.pending.remove(at)) else {
            return Some(burst);
        };
        if !refuses {
            return Some(burst);
        }
        // The server at the other port no longer listens.
        if let Some(other) = self.redirects.remove(&(station, port)) {
            self.status.remove(&other);
        }
        let is_new = !self.held.contains_key(&(station, port));
        let held = self.held.entry((station, port)).or_default();
        if held.refused.len() == MAX_HELD && !held.refused.contains_key(&from) {
            return Some(burst);
        }
        held.refused.insert(from, (request, frame.to_vec()));
        if is_new {
            self.refusals.push_back(connection);
        }
        None
    }

    /// Returns the next refused connection, which needs a reply.
    pub(crate) fn poll_refused_connection(&mut self) -> Option<RefusedConnection> {
        self.refusals.pop_front()
    }

    /// Applies the reply to a refused connection.
    pub(crate) fn handle_reply(&mut self, connection: RefusedConnection, reply: RefusalReply) -> ReplyFrames {
        let (station, port) = (connection.station, connection.port);
        let mut replied = ReplyFrames::default();
        let refused = self.held.remove(&(station, port)).unwrap_or_default().refused;
        if let RefusalReply::Redirect(other) = reply {
            self.redirects.insert((station, port), other);
            self.status.insert(other, (station, port));
        }
        for (from, (mut request, reset)) in refused {
            if reply == RefusalReply::Reject {
                replied.sent.push(reset);
                continue;
            }
            self.pending
                .push_back((RefusedConnection { station, from, port }, request.clone()));
            if let RefusalReply::Redirect(other) = reply
                && let Ok(burst) = Burst::read(&request)
            {
                redirect(&mut request, &burst.info, other);
            }
            replied.again.push(request);
        }
        replied
    }
}

/// Redirects a frame to another destination port.
fn redirect(frame: &mut [u8], info: &IpPacketInfo, port: u16) {
    let flags = frame.first().copied().unwrap_or_default();
    if let Some(packet) = frame.get_mut(LENGTH..) {
        port::replace(packet, flags, info, PortField::Destination, port);
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

    fn connection(station: u16, from: u16, port: u16) -> RefusedConnection {
        RefusedConnection { station, from, port }
    }

    /// Delivers a segment of a station to the server. Returns its ports on delivery.
    fn delivered(refusals: &mut RefusedConnections, station: u16, ports: (u16, u16), flags: u8) -> (u16, u16) {
        let mut frame = segment(Endpoint::Station(station), Endpoint::Server, ports, flags);
        let info = Burst::read(&frame).unwrap().info;
        refusals.handle_delivery(Endpoint::Station(station), &mut frame, &info, flags == SYN);
        ports_of(&frame)
    }

    /// Sends a segment of the server. Returns its ports, or `None` if it is held back.
    fn sent(refusals: &mut RefusedConnections, station: u16, ports: (u16, u16), flags: u8) -> Option<(u16, u16)> {
        let frame = segment(Endpoint::Server, Endpoint::Station(station), ports, flags);
        let burst = Burst::read(&frame).unwrap();
        let burst = refusals.handle_sent(burst, Endpoint::Station(station), &frame)?;
        Some(burst.info.ports)
    }

    #[test]
    fn fragments_are_redirected_too() {
        let mut refusals = RefusedConnections::default();
        delivered(&mut refusals, 1, (40_000, 5201), SYN);
        sent(&mut refusals, 1, (5201, 40_000), RST_ACK);
        refusals.handle_reply(connection(1, 40_000, 5201), RefusalReply::Redirect(20_000));
        let mut first = datagram(Endpoint::Station(1), Endpoint::Server, 400);
        // Port 5201, with more fragments.
        first[LENGTH + 22..LENGTH + 24].copy_from_slice(&5201_u16.to_be_bytes());
        first[LENGTH + 6..LENGTH + 8].copy_from_slice(&[0x20, 0]);
        let info = Burst::read(&first).unwrap().info;
        refusals.handle_delivery(Endpoint::Station(1), &mut first, &info, false);
        assert_eq!(first[LENGTH + 22..LENGTH + 24], 20_000_u16.to_be_bytes());
    }

    fn ports_of(frame: &[u8]) -> (u16, u16) {
        Burst::read(frame).unwrap().info.ports
    }

    #[test]
    fn accepted_connections_are_not_reported() {
        let mut refusals = RefusedConnections::default();
        assert_eq!(delivered(&mut refusals, 1, (40_000, 80), SYN), (40_000, 80));
        assert_eq!(sent(&mut refusals, 1, (80, 40_000), SYN_ACK), Some((80, 40_000)));
        // A reset of an established connection passes.
        assert_eq!(sent(&mut refusals, 1, (80, 40_000), RST_ACK), Some((80, 40_000)));
        assert_eq!(refusals.poll_refused_connection(), None);
    }

    #[test]
    fn a_refused_connection_is_reported_once_and_rejected_by_the_reply() {
        let mut refusals = RefusedConnections::default();
        for _ in 0..2 {
            delivered(&mut refusals, 1, (40_000, 5201), SYN);
            assert_eq!(sent(&mut refusals, 1, (5201, 40_000), RST_ACK), None);
        }
        assert_eq!(refusals.poll_refused_connection(), Some(connection(1, 40_000, 5201)));
        assert_eq!(refusals.poll_refused_connection(), None);
        let replied = refusals.handle_reply(connection(1, 40_000, 5201), RefusalReply::Reject);
        assert_eq!(replied.again, Vec::<Vec<u8>>::new());
        assert_eq!(
            replied.sent.iter().map(|frame| ports_of(frame)).collect::<Vec<_>>(),
            [(5201, 40_000)]
        );
        // The reset is not held back again.
        assert_eq!(sent(&mut refusals, 1, (5201, 40_000), RST_ACK), Some((5201, 40_000)));
    }

    #[test]
    fn a_redirection_applies_to_one_station_only() {
        let mut refusals = RefusedConnections::default();
        delivered(&mut refusals, 1, (40_000, 5201), SYN);
        sent(&mut refusals, 1, (5201, 40_000), RST_ACK);
        let replied = refusals.handle_reply(connection(1, 40_000, 5201), RefusalReply::Redirect(20_000));
        assert_eq!(
            replied.again.iter().map(|frame| ports_of(frame)).collect::<Vec<_>>(),
            [(40_000, 20_000)]
        );
        assert_eq!(sent(&mut refusals, 1, (20_000, 40_000), SYN_ACK), Some((5201, 40_000)));
        // Further connections of the station, as iperf3 opens for its data.
        assert_eq!(delivered(&mut refusals, 1, (40_001, 5201), SYN), (40_001, 20_000));
        assert_eq!(sent(&mut refusals, 1, (20_000, 40_001), ACK), Some((5201, 40_001)));
        // Another station, and another port.
        assert_eq!(delivered(&mut refusals, 2, (40_000, 5201), SYN), (40_000, 5201));
        assert_eq!(delivered(&mut refusals, 1, (40_002, 80), SYN), (40_002, 80));
        assert_eq!(sent(&mut refusals, 2, (20_000, 40_000), ACK), Some((20_000, 40_000)));
    }

    #[test]
    fn a_redirection_ends_with_its_server() {
        let mut refusals = RefusedConnections::default();
        delivered(&mut refusals, 1, (40_000, 5201), SYN);
        sent(&mut refusals, 1, (5201, 40_000), RST_ACK);
        refusals.poll_refused_connection();
        refusals.handle_reply(connection(1, 40_000, 5201), RefusalReply::Redirect(20_000));
        sent(&mut refusals, 1, (20_000, 40_000), SYN_ACK);
        delivered(&mut refusals, 1, (40_001, 5201), SYN);
        assert_eq!(sent(&mut refusals, 1, (20_000, 40_001), RST_ACK), None);
        assert_eq!(refusals.poll_refused_connection(), Some(connection(1, 40_001, 5201)));
        // From now on, a server at the original port has precedence.
        let replied = refusals.handle_reply(connection(1, 40_001, 5201), RefusalReply::Retry);
        assert_eq!(
            replied.again.iter().map(|frame| ports_of(frame)).collect::<Vec<_>>(),
            [(40_001, 5201)]
        );
        assert_eq!(sent(&mut refusals, 1, (5201, 40_001), SYN_ACK), Some((5201, 40_001)));
    }

    #[test]
    fn held_connections_are_bounded() {
        let mut refusals = RefusedConnections::default();
        for from in 0..2_000 {
            delivered(&mut refusals, 1, (from, 5201), SYN);
            let held = sent(&mut refusals, 1, (5201, from), RST_ACK).is_none();
            assert_eq!(held, usize::from(from) < MAX_HELD);
        }
        for from in 0..2_000 {
            delivered(&mut refusals, 1, (from, 81), SYN);
        }
        assert_eq!(refusals.pending.len(), MAX_PENDING);
    }
}
