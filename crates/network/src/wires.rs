//! The wired part: the server's hop, and each access point's line and forwarding.

use crate::hop::{Hop, Left};
use crate::layout::Layout;
use crate::output::Moving;
use netburn_scenario::Plan;
use netburn_units::Instant;

/// A place on the wired way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wire {
    /// From the server.
    LinkDown,
    /// To the server.
    LinkUp,
    /// The line towards an access point.
    WanDown(u16),
    /// The line away from it.
    WanUp(u16),
    /// What it forwards, both ways together.
    Forwarding(u16),
}

/// Later than anything that happens.
const NEVER: Instant = Instant::from_nanos(i64::MAX);

/// All hops.
#[derive(Debug)]
pub(crate) struct Wires<P> {
    /// In the order of [`Wire`].
    hops: Vec<Hop<Moving<P>>>,
    /// Of each hop: when it does something next, or [`NEVER`].
    dues: Vec<Instant>,
    /// Which is the first to do something; the lower place where two are.
    first: usize,
    aps: usize,
}

impl<P> Wires<P> {
    pub(crate) fn new(plan: &Plan, layout: &Layout) -> Self {
        let aps = layout.paths.len();
        let hop = |wire: Wire| {
            let (config, cause, index) = match wire {
                Wire::LinkDown => (layout.link, "link-down", 0),
                Wire::LinkUp => (
                    layout.link.with_interrupt_interval(plan.server.interrupt_interval),
                    "link-up",
                    0,
                ),
                Wire::WanDown(ap) => (layout.paths[usize::from(ap)].wan_down, "wan-down", ap),
                Wire::WanUp(ap) => (layout.paths[usize::from(ap)].wan_up, "wan-up", ap),
                Wire::Forwarding(ap) => (layout.paths[usize::from(ap)].forwarding, "forwarding", ap),
            };
            Hop::new(config, plan.seed.stream(cause, u64::from(index)))
        };
        let hops: Vec<_> = (0..2 + 3 * aps).map(|place| hop(wire(place, aps))).collect();
        Wires {
            dues: vec![NEVER; hops.len()],
            hops,
            first: 0,
            aps,
        }
    }

    pub(crate) fn hop(&mut self, wire: Wire) -> &mut Hop<Moving<P>> {
        let place = self.place(wire);
        &mut self.hops[place]
    }

    /// Puts a packet on a hop. It is given back when the hop's queue is full.
    pub(crate) fn handle_packet(&mut self, now: Instant, wire: Wire, packet: Moving<P>) -> Result<(), Moving<P>> {
        let place = self.place(wire);
        let taken = self.hops[place].handle_packet(now, packet.length, packet);
        self.reckon(place);
        taken
    }

    /// When something happens next.
    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        Some(self.dues[self.first]).filter(|due| *due < NEVER)
    }

    /// Each hop that something will come out of, with the instant before which nothing does.
    pub(crate) fn foresee(&self) -> impl Iterator<Item = (Wire, Instant)> {
        let hops = self.hops.iter().enumerate();
        hops.filter_map(|(place, hop)| Some((wire(place, self.aps), hop.foresee()?)))
    }

    /// The next packet that has come out of a hop by `now`, been lost on it or, from the server, left its host.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(Wire, Instant, Left<Moving<P>>)> {
        loop {
            let place = self.first;
            let at = self.dues[place];
            if at > now || at == NEVER {
                return None;
            }
            let hop = &mut self.hops[place];
            hop.handle_timeout(at);
            let left = hop.poll_left(at);
            self.reckon(place);
            if let Some((at, left)) = left {
                return Some((wire(place, self.aps), at, left));
            }
        }
    }

    /// Something has happened on a hop.
    #[inline]
    fn reckon(&mut self, place: usize) {
        let due = self.hops[place].poll_timeout().unwrap_or(NEVER);
        self.dues[place] = due;
        if (due, place) < (self.dues[self.first], self.first) {
            self.first = place;
        } else if place == self.first {
            let places = self.dues.iter().enumerate();
            self.first = places.min_by_key(|(_, due)| **due).map_or(0, |(place, _)| place);
        }
    }

    fn place(&self, wire: Wire) -> usize {
        match wire {
            Wire::LinkDown => 0,
            Wire::LinkUp => 1,
            Wire::WanDown(ap) => 2 + usize::from(ap),
            Wire::WanUp(ap) => 2 + self.aps + usize::from(ap),
            Wire::Forwarding(ap) => 2 + 2 * self.aps + usize::from(ap),
        }
    }
}

/// The wire in a place, where there are so many access points.
fn wire(place: usize, aps: usize) -> Wire {
    let ap = |first: usize| (place - first) as u16;
    match place {
        0 => Wire::LinkDown,
        1 => Wire::LinkUp,
        _ if place < 2 + aps => Wire::WanDown(ap(2)),
        _ if place < 2 + 2 * aps => Wire::WanUp(ap(2 + aps)),
        _ => Wire::Forwarding(ap(2 + 2 * aps)),
    }
}
