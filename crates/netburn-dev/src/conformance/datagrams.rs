//! Saturating flows of datagrams over the network model in virtual time.

use crate::flows::{CONTENT, Flows, PACKET, WARMUP};
use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{Network, NetworkError, Output};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};

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
    Ok(arrived.into_iter().map(|bytes| flows.mbps(bytes)).collect())
}
