//! Wired path of the Wi-Fi stations: the server's hop, and each access point's WAN link and
//! forwarding.

use crate::hop::{Hop, HopEvent};
use crate::layout::Layout;
use crate::output::NetPacket;
use netburn_scenario::Plan;
use netburn_units::Instant;

/// Identifies a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HopId {
    /// From the server.
    LinkDown,
    /// To the server.
    LinkUp,
    /// WAN link towards an access point.
    WanDown(u16),
    /// WAN link away from it.
    WanUp(u16),
    /// Forwarding by the access point, both directions together.
    Forwarding(u16),
}

/// Later than all events.
const NEVER: Instant = Instant::from_nanos(i64::MAX);

/// All hops.
#[derive(Debug)]
pub(crate) struct Backhaul<P> {
    /// In the order of [`HopId`].
    hops: Vec<Hop<NetPacket<P>>>,
    /// Time of the next event of each hop, or [`NEVER`]; a power of two.
    dues: Vec<Instant>,
    /// A tournament: entry i is the earlier one of entries 2i and 2i + 1, the lower one of two
    /// equal. The second half has the hops themselves.
    earliest: Vec<usize>,
    aps: usize,
}

impl<P> Backhaul<P> {
    pub(crate) fn new(plan: &Plan, layout: &Layout) -> Self {
        let aps = layout.paths.len();
        let hop = |id: HopId| {
            let (config, cause, index) = match id {
                HopId::LinkDown => (layout.link, "link-down", 0),
                HopId::LinkUp => (
                    layout.link.with_interrupt_interval(plan.server.interrupt_interval),
                    "link-up",
                    0,
                ),
                HopId::WanDown(ap) => (layout.paths[usize::from(ap)].wan_down, "wan-down", ap),
                HopId::WanUp(ap) => (layout.paths[usize::from(ap)].wan_up, "wan-up", ap),
                HopId::Forwarding(ap) => (layout.paths[usize::from(ap)].forwarding, "forwarding", ap),
            };
            Hop::new(config, plan.seed.stream(cause, u64::from(index)))
        };
        let hops: Vec<_> = (0..2 + 3 * aps).map(|place| hop(hop_id(place, aps))).collect();
        Backhaul {
            dues: vec![NEVER; hops.len().next_power_of_two()],
            earliest: tournament(hops.len().next_power_of_two()),
            hops,
            aps,
        }
    }

    pub(crate) fn hop(&mut self, hop: HopId) -> &mut Hop<NetPacket<P>> {
        let place = self.place(hop);
        &mut self.hops[place]
    }

    /// Offers a packet to a hop. Returns it if the hop's queue is full.
    pub(crate) fn handle_packet(&mut self, now: Instant, hop: HopId, packet: NetPacket<P>) -> Result<(), NetPacket<P>> {
        let place = self.place(hop);
        let taken = self.hops[place].handle_packet(now, packet.length, packet);
        self.update_timeout(place);
        taken
    }

    /// Time of the next event.
    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        Some(self.dues[self.earliest[1]]).filter(|due| *due < NEVER)
    }

    /// Each hop with pending packets, with the lower bound of its next delivery.
    pub(crate) fn next_deliveries(&self) -> impl Iterator<Item = (HopId, Instant)> {
        let hops = self.hops.iter().enumerate();
        hops.filter_map(|(place, hop)| Some((hop_id(place, self.aps), hop.next_delivery()?)))
    }

    /// Next event of a hop by `now`: a packet arrived, was lost, or (from the server) left its
    /// host.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(HopId, Instant, HopEvent<NetPacket<P>>)> {
        loop {
            let place = self.earliest[1];
            let at = self.dues[place];
            if at > now || at == NEVER {
                return None;
            }
            let hop = &mut self.hops[place];
            hop.handle_timeout(at);
            let event = hop.poll_event(at);
            self.update_timeout(place);
            if let Some((at, event)) = event {
                return Some((hop_id(place, self.aps), at, event));
            }
        }
    }

    /// Updates the timeout of a hop after an event.
    #[inline]
    fn update_timeout(&mut self, place: usize) {
        let due = self.hops[place].poll_timeout().unwrap_or(NEVER);
        if self.dues[place] == due {
            return;
        }
        self.dues[place] = due;
        let mut at = (self.dues.len() + place) / 2;
        while at > 0 {
            let (low, high) = (self.earliest[2 * at], self.earliest[2 * at + 1]);
            let winner = if self.dues[high] < self.dues[low] { high } else { low };
            // Above a match with the same winner and the same time nothing changes.
            if self.earliest[at] == winner && winner != place {
                return;
            }
            self.earliest[at] = winner;
            at /= 2;
        }
    }

    fn place(&self, hop: HopId) -> usize {
        match hop {
            HopId::LinkDown => 0,
            HopId::LinkUp => 1,
            HopId::WanDown(ap) => 2 + usize::from(ap),
            HopId::WanUp(ap) => 2 + self.aps + usize::from(ap),
            HopId::Forwarding(ap) => 2 + 2 * self.aps + usize::from(ap),
        }
    }
}

/// Tournament of equals.
fn tournament(size: usize) -> Vec<usize> {
    let lowest = |at: usize| (at << (size.ilog2() - at.ilog2())) - size;
    (0..2 * size).map(|at| if at == 0 { 0 } else { lowest(at) }).collect()
}

/// Hop of an index, for this number of access points.
fn hop_id(place: usize, aps: usize) -> HopId {
    let ap = |first: usize| (place - first) as u16;
    match place {
        0 => HopId::LinkDown,
        1 => HopId::LinkUp,
        _ if place < 2 + aps => HopId::WanDown(ap(2)),
        _ if place < 2 + 2 * aps => HopId::WanUp(ap(2 + aps)),
        _ => HopId::Forwarding(ap(2 + 2 * aps)),
    }
}
