//! Which TCP connections of a station have something to send.

use crate::packet::Facts;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// Both ends of a connection: the station's, the other.
pub type Ends = (SocketAddr, SocketAddr);

/// More aren't asked about: what so many may hold together is near the most that is ever ahead.
const MOST: usize = 16;

/// Connections that are remembered, so that a new one is known; then it begins again.
const REMEMBERED: usize = 1024;

/// The connections that have sent content since they were last asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Senders {
    by_flow: BTreeMap<u32, Ends>,
    last: Option<u32>,
    remembered: BTreeSet<u32>,
}

impl Senders {
    /// The station sends a packet of so many bytes. Returns whether it is the first content of its connection.
    pub(crate) fn saw(&mut self, flow: u32, facts: &Facts, length: usize) -> bool {
        if !facts.has_content(length) || self.last == Some(flow) {
            return false;
        }
        self.last = Some(flow);
        if self.by_flow.len() < MOST {
            let (here, there) = facts.ports;
            let ends = (
                SocketAddr::new(facts.source, here),
                SocketAddr::new(facts.destination, there),
            );
            self.by_flow.insert(flow, ends);
        }
        if self.remembered.len() >= REMEMBERED {
            self.remembered.clear();
        }
        self.remembered.insert(flow)
    }

    /// Those since the last time.
    pub(crate) fn take(&mut self) -> Vec<Ends> {
        self.last = None;
        std::mem::take(&mut self.by_flow).into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::ip::TCP;
    use netburn_medium::packet::Ecn;

    fn packet(port: u16) -> Facts {
        Facts {
            source: "10.0.0.2".parse().unwrap(),
            destination: "10.0.0.1".parse().unwrap(),
            protocol: TCP,
            transport: 20,
            ports: (port, 80),
            fragment: false,
            dscp: 0,
            ecn: Ecn::NotEct,
        }
    }

    #[test]
    fn who_sends_content_is_known_once() {
        let mut senders = Senders::default();
        for (port, length, new) in [
            (1, 1500, true),
            (2, 52, false),
            (1, 1500, false),
            (3, 81, true),
            (1, 80, false),
        ] {
            let facts = packet(port);
            assert_eq!(senders.saw(facts.flow(), &facts, length), new, "{port}");
        }
        let mut ports: Vec<u16> = senders.take().iter().map(|(here, _)| here.port()).collect();
        ports.sort_unstable();
        // The second only acknowledges: 20 bytes of IP, 32 of TCP.
        assert_eq!(ports, [1, 3]);
        assert_eq!(senders.take(), []);
        // One that was taken is no new one, but is among those that send again.
        let facts = packet(1);
        assert!(!senders.saw(facts.flow(), &facts, 1500));
        assert_eq!(senders.take().len(), 1);
    }

    #[test]
    fn there_is_an_end_to_them() {
        let mut senders = Senders::default();
        for port in 0..1000 {
            let facts = packet(port);
            senders.saw(facts.flow(), &facts, 1500);
        }
        assert_eq!(senders.take().len(), MOST);
    }
}
