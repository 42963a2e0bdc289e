//! Receive-interrupt coalescing: a NIC reports several received frames with one interrupt, with a
//! delay.
//!
//! The interrupt occurs when no frame has arrived for the NIC's delay. At the latest it occurs four
//! times the delay after the first unreported frame. In ath9k these times are `AR_RIMT_LAST` and
//! `AR_RIMT_FIRST`: 500 µs and 2 ms for AR9300 and later, 250 and 700 µs before.

use super::payload_pool::PayloadId;
use netburn_medium::packet::Packet;
use netburn_network::{Endpoint, Network, Payload};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::Deadlines;

/// Maximum delay of a frame, as a multiple of the NIC's delay.
const MAX_DELAY_FACTOR: u64 = 4;

/// Received packets whose interrupt is pending.
#[derive(Debug)]
pub(super) struct RxCoalescing {
    /// By station: its own NIC, and its access point's NIC for packets from this station.
    nics: Vec<[Nic; 2]>,
    /// By twice the station's index plus the NIC's.
    due: Deadlines,
}

#[derive(Debug)]
struct Nic {
    delay: Duration,
    /// Arrival of the first pending packet.
    first: Instant,
    held: Vec<Packet<PayloadId>>,
}

impl RxCoalescing {
    pub(super) fn new<P: Payload>(plan: &Plan, network: &Network<P>) -> Self {
        let nic = |delay| Nic {
            delay,
            first: Instant::ZERO,
            held: Vec::new(),
        };
        let of = |(index, station): (usize, &netburn_scenario::Station)| {
            let joined = network.joined(index as u16);
            let name = joined.as_deref().and_then(|radio| radio.split('.').next());
            let mut aps = plan.aps.iter();
            let access_point = aps.find(|ap| Some(ap.name.as_str()) == name);
            let access_point = access_point.map_or(Duration::ZERO, |ap| ap.rx_interrupt_delay);
            [nic(station.rx_interrupt_delay), nic(access_point)]
        };
        RxCoalescing {
            nics: plan.stations.iter().enumerate().map(of).collect(),
            due: Deadlines::new(2 * plan.stations.len()),
        }
    }

    /// Adds a packet that arrived. Returns it if its host receives it immediately.
    pub(super) fn hold(
        &mut self,
        now: Instant,
        from: Endpoint,
        to: Endpoint,
        packet: Packet<PayloadId>,
    ) -> Option<Packet<PayloadId>> {
        let (station, side) = match (from, to) {
            (_, Endpoint::Station(station)) => (usize::from(station), 0),
            (Endpoint::Station(station), Endpoint::Server) => (usize::from(station), 1),
            (Endpoint::Server, Endpoint::Server) => return Some(packet),
        };
        let nic = &mut self.nics[station][side];
        if nic.delay.is_zero() {
            return Some(packet);
        }
        if nic.held.is_empty() {
            nic.first = now;
        }
        nic.held.push(packet);
        let at = (now + nic.delay).min(nic.first + nic.delay * MAX_DELAY_FACTOR);
        self.due.set(2 * station + side, Some(at));
        None
    }

    /// Time of the next interrupt.
    pub(super) fn next(&self) -> Option<Instant> {
        self.due.next()
    }

    /// Packets of an interrupt that is due by `now`, in the order of arrival.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Vec<Packet<PayloadId>>> {
        let (_, place) = self.due.pop(now)?;
        Some(std::mem::take(&mut self.nics[place / 2][place % 2].held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::payload::Payload;
    use crate::world::payload_pool::PayloadPool;
    use netburn_medium::packet::Ecn;
    use netburn_scenario::{Document, Environment};
    use netburn_workload::RequestId;

    /// Interrupts occur 500 µs after the last frame, but at most 2 ms after the first. Frames every
    /// 400 µs from 1 ms on are reported at 3 ms, then the next period starts.
    #[test]
    fn interrupts_follow_the_last_frame_within_a_maximum_delay() {
        let text = "[ap.home.radio.5g]\n[station.a]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nrx_interrupt_delay = \"500 us\"\n";
        let document = Document::from_toml("test", text).unwrap();
        let (plan, _) = document.resolve_for(Environment::Simulate).unwrap();
        let mut rx_coalescing = RxCoalescing::new(&plan, &Network::<PayloadId>::new(&plan).unwrap());
        let mut loads = PayloadPool::default();
        let at = |micros: i64| Instant::from_nanos(micros * 1_000);
        let mut packet = || Packet {
            length: 100,
            flow: 0,
            tid: 0,
            ecn: Ecn::NotEct,
            payload: loads.put(Payload::Probe {
                client: 0,
                id: RequestId {
                    operation: 0,
                    object: 0,
                },
                echoed: None,
            }),
        };
        let mut hold = |rx_coalescing: &mut RxCoalescing, micros: i64, to: Endpoint, from: Endpoint| {
            rx_coalescing.hold(at(micros), from, to, packet()).is_none()
        };
        let (station, server) = (Endpoint::Station(0), Endpoint::Server);
        for micros in [1_000, 1_400, 1_800, 2_200, 2_600] {
            assert!(hold(&mut rx_coalescing, micros, station, server));
        }
        assert!(rx_coalescing.next().is_some());
        assert!(rx_coalescing.pop(at(2_999)).is_none());
        assert_eq!(rx_coalescing.pop(at(3_000)).map(|held| held.len()), Some(5));
        assert!(hold(&mut rx_coalescing, 3_100, station, server));
        assert!(rx_coalescing.pop(at(3_599)).is_none());
        assert_eq!(rx_coalescing.pop(at(3_600)).map(|held| held.len()), Some(1));
        // The access point reports to its host immediately.
        assert!(!hold(&mut rx_coalescing, 3_200, server, station));
    }
}
