//! Egress of a port: how the lab limits what the kernel of a node hands over.

use crate::active_flows::TcpFlow;
use crate::send_budget::ConnectionPacing;
use netburn_lab_kernel::diag::Diag;
use netburn_lab_kernel::raw;
use netburn_lab_kernel::route::Route;
use netburn_network::Endpoint;
use std::io;
use std::os::fd::OwnedFd;

/// Kind of the qdisc that limits what a kernel sends.
const TOKEN_BUCKET: &str = "tbf";

/// Mechanism of [`Backpressure`](crate::Backpressure) with its resources.
#[derive(Debug)]
pub(crate) enum Egress {
    /// The kernel hands over all packets at once.
    Unlimited,
    /// The lab reads only the packets that it can accept. A full device stops the qdisc.
    PauseReading {
        /// True if reading is paused.
        paused: bool,
        connections: Connections,
    },
    /// A token bucket qdisc releases only the granted bytes.
    TokenBucket {
        /// Raw socket that sends wake-up packets to the qdisc of the device.
        raw: OwnedFd,
        /// True if a program has replaced the qdisc of the device, which has been reported.
        replaced: bool,
        connections: Connections,
    },
}

impl Egress {
    /// Releases packets of `bytes` bytes. Returns whether the egress has grants.
    pub(crate) fn grant(&self, end: Endpoint, route: &mut Route, index: u32, bytes: u32) -> io::Result<bool> {
        let Egress::TokenBucket { raw, .. } = self else {
            return Ok(false);
        };
        route.grant(index, bytes)?;
        // Fails if the qdisc is full or the interface is down; neither needs a wake-up.
        let _ = raw::send(raw, index, 0x0800, &wakeup_packet(end));
        Ok(true)
    }

    /// Returns the pacing of these connections; none if the kernel does not report it.
    pub(crate) fn pacing(&mut self, flows: Vec<TcpFlow>) -> Vec<ConnectionPacing> {
        match self {
            Egress::Unlimited => Vec::new(),
            Egress::PauseReading { connections, .. } | Egress::TokenBucket { connections, .. } => {
                connections.pacing(flows)
            }
        }
    }

    /// Returns a warning if `qdisc` shows that a program has replaced the token bucket. A TUN device limits what any qdisc
    /// sends. A token bucket is the limit itself.
    pub(crate) fn check_qdisc(&mut self, qdisc: &str) -> Option<String> {
        match self {
            Egress::TokenBucket { replaced, .. } if qdisc != TOKEN_BUCKET && !*replaced => {
                *replaced = true;
                Some(format!(
                    "a program has replaced the qdisc of its device: found {qdisc}, expected {TOKEN_BUCKET}. The station's \
                     queue and its TCP Small Queues are no longer those of the scenario"
                ))
            }
            _ => None,
        }
    }
}

/// The kernel's state of a node's TCP connections. `None` if the kernel does not support sock_diag.
#[derive(Debug)]
pub(crate) struct Connections(pub(crate) Option<Diag>);

impl Connections {
    fn pacing(&mut self, flows: Vec<TcpFlow>) -> Vec<ConnectionPacing> {
        let Some(diag) = &mut self.0 else { return Vec::new() };
        let pacing = |(here, there)| {
            // The connection may have been closed since.
            let info = diag.connection(here, there).ok()??;
            Some(ConnectionPacing {
                rate: info.pacing_rate?,
                mss: info.mss.max(1),
                min_rtt: Some(info.min_rtt),
            })
        };
        flows.into_iter().filter_map(pacing).collect()
    }
}

/// Packet that makes a stopped qdisc transmit after a grant: an IPv4 header with protocol 253, for experimentation (RFC
/// 3692), addressed to the sender. The lab discards it.
fn wakeup_packet(end: Endpoint) -> [u8; 20] {
    let address = crate::address::v4(end).octets();
    let mut packet = [0x45, 0, 0, 20, 0, 0, 0x40, 0, 1, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    packet[12..16].copy_from_slice(&address);
    packet[16..20].copy_from_slice(&address);
    packet
}
