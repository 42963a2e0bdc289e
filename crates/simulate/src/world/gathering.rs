//! When hosts learn of what their cards have received: cards that gather receive interrupts tell it late, and of several frames at once.
//!
//! A card tells when nothing has come for its delay, and at the latest four times that after the first frame that it hasn't told
//! (ath9k, `AR_RIMT_LAST` and `AR_RIMT_FIRST`: 500 µs and 2 ms for AR9300 and later, 250 and 700 µs before).

use super::loads::Ticket;
use netburn_medium::packet::Packet;
use netburn_network::{Endpoint, Network};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::Deadlines;

/// How many times its delay a card holds a frame at most.
const MOST: u64 = 4;

/// What cards have received and not told.
#[derive(Debug)]
pub(super) struct Gathering {
    /// By station: its own card, and its access point's as far as it received from this station.
    cards: Vec<[Card; 2]>,
    /// By twice the station and the card.
    due: Deadlines,
}

#[derive(Debug)]
struct Card {
    delay: Duration,
    /// When the first of those held came.
    first: Instant,
    held: Vec<Packet<Ticket>>,
}

impl Gathering {
    pub(super) fn new<P: std::fmt::Debug + Send + 'static>(plan: &Plan, network: &Network<P>) -> Self {
        let card = |delay| Card {
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
            [card(station.rx_interrupt_delay), card(access_point)]
        };
        Gathering {
            cards: plan.stations.iter().enumerate().map(of).collect(),
            due: Deadlines::new(2 * plan.stations.len()),
        }
    }

    /// A packet has come to the end of its way. It is given back where its host learns of it at once.
    pub(super) fn hold(
        &mut self,
        now: Instant,
        from: Endpoint,
        to: Endpoint,
        packet: Packet<Ticket>,
    ) -> Option<Packet<Ticket>> {
        let (station, side) = match (from, to) {
            (_, Endpoint::Station(station)) => (usize::from(station), 0),
            (Endpoint::Station(station), Endpoint::Server) => (usize::from(station), 1),
            (Endpoint::Server, Endpoint::Server) => return Some(packet),
        };
        let card = &mut self.cards[station][side];
        if card.delay.is_zero() {
            return Some(packet);
        }
        if card.held.is_empty() {
            card.first = now;
        }
        card.held.push(packet);
        let at = (now + card.delay).min(card.first + card.delay * MOST);
        self.due.set(2 * station + side, Some(at));
        None
    }

    /// When a card tells its host next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.due.next()
    }

    /// What a card tells by `now`, in the order in which it came.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Vec<Packet<Ticket>>> {
        let (_, place) = self.due.pop(now)?;
        Some(std::mem::take(&mut self.cards[place / 2][place % 2].held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::load::Load;
    use crate::world::loads::Loads;
    use netburn_medium::packet::Ecn;
    use netburn_scenario::{Document, Environment};
    use netburn_workload::RequestId;

    /// 500 µs after the last, as long as that is within 2 ms of the first: frames every 400 µs from 1 ms on are told at 3 ms, then anew.
    #[test]
    fn after_the_last_and_at_the_latest_four_times_that_after_the_first() {
        let text =
            "[ap.home.radio.5g]\n[station.a]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nreceive_delay = \"500 us\"\n";
        let document = Document::from_toml("test", text).unwrap();
        let (plan, _) = document.resolve_for(Environment::Simulate).unwrap();
        let mut gathering = Gathering::new(&plan, &Network::<Ticket>::new(&plan).unwrap());
        let mut loads = Loads::default();
        let at = |micros: i64| Instant::from_nanos(micros * 1_000);
        let mut packet = || Packet {
            length: 100,
            flow: 0,
            tid: 0,
            ecn: Ecn::NotEct,
            payload: loads.put(Load::Probe {
                user: 0,
                id: RequestId {
                    operation: 0,
                    object: 0,
                },
                echoed: None,
            }),
        };
        let mut hold = |gathering: &mut Gathering, micros: i64, to: Endpoint, from: Endpoint| {
            gathering.hold(at(micros), from, to, packet()).is_none()
        };
        let (station, server) = (Endpoint::Station(0), Endpoint::Server);
        for micros in [1_000, 1_400, 1_800, 2_200, 2_600] {
            assert!(hold(&mut gathering, micros, station, server));
        }
        assert!(gathering.next().is_some());
        assert!(gathering.pop(at(2_999)).is_none());
        assert_eq!(gathering.pop(at(3_000)).map(|held| held.len()), Some(5));
        assert!(hold(&mut gathering, 3_100, station, server));
        assert!(gathering.pop(at(3_599)).is_none());
        assert_eq!(gathering.pop(at(3_600)).map(|held| held.len()), Some(1));
        // The access point tells its host at once.
        assert!(!hold(&mut gathering, 3_200, server, station));
    }
}
