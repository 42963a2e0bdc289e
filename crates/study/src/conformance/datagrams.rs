//! Saturating flows of datagrams over the network model in virtual time.

use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{Endpoint, Network, NetworkError, Output};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};

/// Length of a packet in bytes.
pub const PACKET: u32 = 1_500;
/// Payload of a packet in bytes (UDP over IPv4).
pub const CONTENT: u64 = 1_472;
/// Time in which queues fill; its packets are not counted.
pub const WARMUP: Duration = Duration::from_secs(1);

/// A flow to or from each station; all run at once, each with `rate` packets per second.
#[derive(Debug, Clone, Copy)]
pub struct Flows {
    /// From the stations to the server.
    pub up: bool,
    /// Packets of [`PACKET`] bytes per second and station.
    pub rate: u64,
    /// Measured time, after [`WARMUP`].
    pub span: Duration,
}

impl Flows {
    /// Sender and receiver of the flow of a station.
    #[must_use]
    pub fn ends(&self, station: u16) -> (Endpoint, Endpoint) {
        let station = Endpoint::Station(station);
        if self.up {
            (station, Endpoint::Server)
        } else {
            (Endpoint::Server, station)
        }
    }
}

/// Goodput of each flow in virtual time, in Mbit/s.
///
/// # Errors
/// The plan's network is invalid.
pub fn simulated(plan: &Plan, flows: Flows) -> Result<Vec<f64>, NetworkError> {
    let plan = Plan {
        baseline: Duration::ZERO,
        ..plan.clone()
    };
    let mut network = Network::<u16>::new(&plan)?;
    let (from, until) = (Instant::ZERO + WARMUP, Instant::ZERO + WARMUP + flows.span);
    let mut arrived = vec![0_u64; plan.stations.len()];
    let mut number = 0;
    loop {
        // All flows send at once. The first flow rotates.
        let due = Instant::from_nanos((number as u128 * 1_000_000_000 / u128::from(flows.rate)) as i64);
        if due > until {
            break;
        }
        for turn in 0..plan.stations.len() as u16 {
            let station = ((u64::from(turn) + number) % plan.stations.len() as u64) as u16;
            let (sender, receiver) = flows.ends(station);
            let packet = Packet {
                length: PACKET,
                flow: (u32::from(station) + 1).wrapping_mul(0x9e37_79b9),
                tid: 0,
                ecn: Ecn::NotEct,
                payload: station,
            };
            network.handle_packet(due, sender, receiver, packet);
        }
        number += 1;
        let next = Instant::from_nanos((number as u128 * 1_000_000_000 / u128::from(flows.rate)) as i64);
        network.handle_timeout(next.min(until));
        while let Some(output) = network.poll_output() {
            if let Output::Delivered { at, packet, .. } = output
                && at > from
                && at <= until
            {
                arrived[usize::from(packet.payload)] += CONTENT;
            }
        }
    }
    Ok(arrived.into_iter().map(|bytes| mbps(bytes, flows.span)).collect())
}

/// Rate of `bytes` in `span`, in Mbit/s.
#[must_use]
pub fn mbps(bytes: u64, span: Duration) -> f64 {
    bytes as f64 * 8.0 / span.as_secs_f64() / 1e6
}
