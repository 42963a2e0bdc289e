//! TCP connections of a station that have data to send.

use crate::packet::IpPacketInfo;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// Addresses of both endpoints of a TCP connection: the station's first, then its peer's.
pub type TcpFlow = (SocketAddr, SocketAddr);

/// Maximum number of connections whose pacing is sampled. The send budgets of this many connections already reach
/// [`MAX_TARGET`](crate::credit::MAX_TARGET).
const MAX_FLOWS: usize = 16;

/// Maximum number of connections that are remembered in order to recognise new ones. The set is cleared when it is
/// full.
const MAX_REMEMBERED: usize = 1024;

/// Connections that have sent payload since the last [`take`](Self::take).
#[derive(Debug, Clone, Default)]
pub(crate) struct ActiveFlows {
    by_flow: BTreeMap<u32, TcpFlow>,
    last: Option<u32>,
    remembered: BTreeSet<u32>,
}

impl ActiveFlows {
    /// Records a packet of `length` bytes. Returns whether it carries the first payload of its connection.
    pub(crate) fn record(&mut self, flow: u32, info: &IpPacketInfo, length: usize) -> bool {
        if !info.has_content(length) || self.last == Some(flow) {
            return false;
        }
        self.last = Some(flow);
        if self.by_flow.len() < MAX_FLOWS {
            let (here, there) = info.ports;
            let ends = (
                SocketAddr::new(info.source, here),
                SocketAddr::new(info.destination, there),
            );
            self.by_flow.insert(flow, ends);
        }
        if self.remembered.len() >= MAX_REMEMBERED {
            self.remembered.clear();
        }
        self.remembered.insert(flow)
    }

    /// Returns the connections recorded since the last call.
    pub(crate) fn take(&mut self) -> Vec<TcpFlow> {
        self.last = None;
        std::mem::take(&mut self.by_flow).into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::ip::TCP;
    use netburn_medium::packet::Ecn;

    fn packet(port: u16) -> IpPacketInfo {
        IpPacketInfo {
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
    fn a_connection_is_new_only_once() {
        let mut active_flows = ActiveFlows::default();
        for (port, length, new) in [
            (1, 1500, true),
            (2, 52, false),
            (1, 1500, false),
            (3, 81, true),
            (1, 80, false),
        ] {
            let info = packet(port);
            assert_eq!(active_flows.record(info.flow(), &info, length), new, "{port}");
        }
        let mut ports: Vec<u16> = active_flows.take().iter().map(|(here, _)| here.port()).collect();
        ports.sort_unstable();
        // The second packet is a bare acknowledgement: 20 bytes of IP and 32 of TCP.
        assert_eq!(ports, [1, 3]);
        assert_eq!(active_flows.take(), []);
        // A connection returned by `take` is not new again, but it is recorded again.
        let info = packet(1);
        assert!(!active_flows.record(info.flow(), &info, 1500));
        assert_eq!(active_flows.take().len(), 1);
    }

    #[test]
    fn the_number_of_flows_is_limited() {
        let mut active_flows = ActiveFlows::default();
        for port in 0..1000 {
            let info = packet(port);
            active_flows.record(info.flow(), &info, 1500);
        }
        assert_eq!(active_flows.take().len(), MAX_FLOWS);
    }
}
