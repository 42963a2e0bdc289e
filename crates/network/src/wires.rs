//! The wired part: the server's hop, and each access point's line and forwarding.

use crate::hop::{Hop, Left};
use crate::layout::{Layout, PathConfig};
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

/// All hops.
#[derive(Debug)]
pub(crate) struct Wires<P> {
    pub(crate) link: [Hop<Moving<P>>; 2],
    pub(crate) paths: Vec<Path<P>>,
    /// When the next of them does something; kept, since most that happens happens on the air.
    due: Option<Instant>,
}

/// The hops of one access point.
#[derive(Debug)]
pub(crate) struct Path<P> {
    pub(crate) down: Hop<Moving<P>>,
    pub(crate) up: Hop<Moving<P>>,
    pub(crate) forwarding: Hop<Moving<P>>,
}

impl<P> Wires<P> {
    pub(crate) fn new(plan: &Plan, layout: &Layout) -> Self {
        let hop = |config, cause, index: usize| Hop::new(config, plan.seed.stream(cause, index as u64));
        let path = |(index, path): (usize, &PathConfig)| Path {
            down: hop(path.wan_down, "wan-down", index),
            up: hop(path.wan_up, "wan-up", index),
            forwarding: hop(path.forwarding, "forwarding", index),
        };
        Wires {
            link: [hop(layout.link, "link-down", 0), hop(layout.link, "link-up", 0)],
            paths: layout.paths.iter().enumerate().map(path).collect(),
            due: None,
        }
    }

    pub(crate) fn hop(&mut self, wire: Wire) -> &mut Hop<Moving<P>> {
        match wire {
            Wire::LinkDown => &mut self.link[0],
            Wire::LinkUp => &mut self.link[1],
            Wire::WanDown(ap) => &mut self.paths[usize::from(ap)].down,
            Wire::WanUp(ap) => &mut self.paths[usize::from(ap)].up,
            Wire::Forwarding(ap) => &mut self.paths[usize::from(ap)].forwarding,
        }
    }

    /// Puts a packet on a hop. It is given back when the hop's queue is full.
    pub(crate) fn handle_packet(&mut self, now: Instant, wire: Wire, packet: Moving<P>) -> Result<(), Moving<P>> {
        let hop = self.hop(wire);
        let taken = hop.handle_packet(now, packet.length, packet);
        let due = hop.poll_timeout();
        self.due = [self.due, due].into_iter().flatten().min();
        taken
    }

    /// When something happens next.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    /// The next packet that has come out of a hop by `now`, been lost on it or, from the server, left its host.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(Wire, Instant, Left<Moving<P>>)> {
        while self.due.is_some_and(|due| due <= now) {
            let due = |(wire, hop): (Wire, &Hop<Moving<P>>)| Some((hop.poll_timeout()?, wire));
            let Some((at, wire)) = self.all().filter_map(due).min() else {
                self.due = None;
                break;
            };
            self.due = Some(at);
            if at > now {
                break;
            }
            let hop = self.hop(wire);
            hop.handle_timeout(at);
            if let Some((at, left)) = hop.poll_left(at) {
                return Some((wire, at, left));
            }
        }
        None
    }

    fn all(&self) -> impl Iterator<Item = (Wire, &Hop<Moving<P>>)> {
        let link = [(Wire::LinkDown, &self.link[0]), (Wire::LinkUp, &self.link[1])];
        let paths = self.paths.iter().enumerate().flat_map(|(ap, path)| {
            let ap = ap as u16;
            [
                (Wire::WanDown(ap), &path.down),
                (Wire::WanUp(ap), &path.up),
                (Wire::Forwarding(ap), &path.forwarding),
            ]
        });
        link.into_iter().chain(paths)
    }
}
