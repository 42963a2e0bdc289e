//! Frames that access points with a wireless backhaul pass on.
//!
//! The access points form trees. Each root has a wire. A packet follows the tree to the access point
//! of its station, or to the root. An access point that receives a packet from the air and sends it
//! on over the air first holds it for the forwarding delay.

use crate::layout::{Layout, UnitLink};
use crate::output::{NetPacket, Payload};
use crate::wlan::Wlan;
use netburn_medium::packet::NodeId;
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant, RandomStream};
use std::collections::VecDeque;

/// The delay of a packet lies between 6/7 and 8/7 of its mean: 300 to 400 µs around the default of
/// 350 µs (ns-3, `HwmpProtocol`, from measured devices).
const SPREAD: u64 = 7;

/// Trees of access points, and the packets that these hold.
#[derive(Debug)]
pub(crate) struct Relays<P> {
    pub(crate) links: Vec<UnitLink>,
    /// By access point, and for the router: its index in `links`.
    parents: Vec<Option<usize>>,
    /// By access point: the root of its mesh.
    mesh_roots: Vec<Option<usize>>,
    is_empty: bool,
    /// By access point.
    relays: Vec<Relay<P>>,
}

#[derive(Debug)]
struct Relay<P> {
    delay: Duration,
    delay_rng: RandomStream,
    held: VecDeque<(Instant, Relayed<P>)>,
}

/// A packet that an access point holds for its forwarding delay.
#[derive(Debug)]
pub(crate) enum Relayed<P> {
    Data(NetPacket<P>),
    /// Number of a broadcast packet.
    Broadcast(u32),
}

/// Next hop of a packet between access points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The packet has reached its access point.
    Here,
    /// Over the air, from one radio to another.
    Air(NodeId, NodeId),
    /// Over the mesh, to another member.
    Mesh(usize),
    /// Over the wire, to the root of another tree, or to the router.
    Wire(usize),
}

impl<P> Relays<P> {
    pub(crate) fn new(plan: &Plan, layout: &Layout) -> Self {
        let links = layout.units.clone();
        // The router follows the access points.
        let boxes = layout.paths.len();
        let place = |ap: usize| links.iter().position(|link| link.ap == ap);
        let relay = |(index, ap): (usize, &netburn_scenario::plan::Ap)| Relay {
            delay: ap.relay_delay,
            delay_rng: plan.seed.stream("relay", index as u64),
            held: VecDeque::new(),
        };
        let mesh_root = |ap: usize| {
            let mut meshes = layout.meshes.iter();
            let mesh = meshes.find(|mesh| mesh.members.iter().any(|(member, _)| *member == ap))?;
            Some(mesh.members[mesh.root].0)
        };
        let mesh_roots: Vec<Option<usize>> = (0..boxes).map(mesh_root).collect();
        Relays {
            is_empty: links.is_empty() && mesh_roots.iter().all(Option::is_none),
            mesh_roots,
            parents: (0..boxes).map(place).collect(),
            relays: plan.aps.iter().enumerate().map(relay).collect(),
            links,
        }
    }

    /// True if no access point has a wireless backhaul.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Number of access points.
    pub(crate) fn access_points(&self) -> usize {
        self.relays.len()
    }

    /// Access point whose wire an access point uses.
    pub(crate) fn root(&self, ap: usize) -> usize {
        let mut at = ap;
        while let Some(link) = self.parents[at] {
            at = self.links[link].parent_ap;
        }
        self.mesh_roots[at].unwrap_or(at)
    }

    /// Next hop towards another access point.
    pub(crate) fn step(&self, ap: usize, target: usize) -> Step {
        if ap == target {
            return Step::Here;
        }
        // Down, if `ap` is on the way from the target to its root.
        let mut at = target;
        while let Some(link) = self.parents[at] {
            let link = &self.links[link];
            if link.parent_ap == ap {
                return Step::Air(link.parent, link.own);
            }
            at = link.parent_ap;
        }
        // Members of one mesh reach each other without the root.
        if let (Some(own), Some(other)) = (self.mesh_roots[at], self.mesh_roots[ap])
            && own == other
            && at != ap
        {
            return Step::Mesh(at);
        }
        self.up(ap).unwrap_or(Step::Wire(self.mesh_roots[at].unwrap_or(at)))
    }

    /// Next hop towards the server; `None` at a root.
    pub(crate) fn up(&self, ap: usize) -> Option<Step> {
        if let Some(link) = self.parents[ap] {
            let link = &self.links[link];
            return Some(Step::Air(link.own, link.parent));
        }
        self.mesh_roots[ap].filter(|root| *root != ap).map(Step::Mesh)
    }

    /// Updates the links of a radio whose power has changed.
    pub(crate) fn set_power<B: Payload>(&mut self, wlan: &mut Wlan<B>, radio: NodeId) {
        for link in self
            .links
            .iter_mut()
            .filter(|link| link.own == radio || link.parent == radio)
        {
            wlan.update_power(link);
        }
    }

    /// Holds a packet for the forwarding delay of an access point. Packets keep their order.
    pub(crate) fn hold(&mut self, now: Instant, ap: usize, packet: Relayed<P>) {
        let relay = &mut self.relays[ap];
        let spread = relay.delay / SPREAD;
        let delay = relay.delay - spread + Duration::from_nanos(relay.delay_rng.below(2 * spread.as_nanos() + 1));
        let at = relay
            .held
            .back()
            .map_or(now + delay, |(last, _)| *last.max(&(now + delay)));
        relay.held.push_back((at, packet));
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        if self.is_empty() {
            return None;
        }
        self.relays.iter().filter_map(|relay| Some(relay.held.front()?.0)).min()
    }

    /// Next packet whose delay has passed by `now`, and its access point.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(usize, Relayed<P>)> {
        if self.is_empty() {
            return None;
        }
        let mut relays = self.relays.iter_mut().enumerate();
        relays.find_map(|(ap, relay)| {
            relay.held.front().filter(|(at, _)| *at <= now)?;
            Some((ap, relay.held.pop_front()?.1))
        })
    }
}
