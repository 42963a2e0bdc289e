//! Wires between the devices of a house.
//!
//! A *box* is an access point, or the router of the plan, whose index follows those of the access points. A wire between two
//! boxes has no rate and no delay. All boxes behind one router are one local network: a packet between two ports is switched,
//! and passes the forwarding of a box only where it leaves to a radio or to the line, or comes from there.

use crate::layout::Layout;
use crate::relay::Relays;
use netburn_medium::packet::NodeId;
use netburn_scenario::Plan;
use netburn_scenario::plan::Device;

/// Wires of a plan.
#[derive(Debug)]
pub(crate) struct Wiring {
    /// Box of the plan's router.
    router: Option<usize>,
    /// By box: the one at the edge of its house, which may be itself.
    edges: Vec<usize>,
    /// By wired station: the box of its port; `None`: it is next to the server's link.
    ports: Vec<Option<usize>>,
}

/// Next hop of a packet at a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Its station is at this box.
    Station(u16),
    /// Over the air, from one radio to another.
    Air(NodeId, NodeId),
    /// Over the mesh, to another member.
    Mesh(usize),
    /// Over the wire, to another box of the local network.
    Port(usize),
    /// Out of the house, over the line of this box.
    Line,
}

impl Wiring {
    pub(crate) fn new<P>(plan: &Plan, layout: &Layout, relays: &Relays<P>) -> Self {
        let boxed = |device: Device| match device {
            Device::Router => plan.aps.len(),
            Device::Ap(ap) => ap,
        };
        let edge = |start: usize| {
            let mut at = relays.root(start);
            // A chain of cables visits each box once at most; the scenario has no loops.
            for _ in 0..layout.paths.len() {
                match plan.device_above(at) {
                    Some(above) => at = boxed(above),
                    None => break,
                }
            }
            at
        };
        let links = plan.stations.iter().filter_map(|station| station.link.as_ref());
        Wiring {
            router: plan.router.as_ref().map(|_| plan.aps.len()),
            edges: (0..layout.paths.len()).map(edge).collect(),
            ports: links.map(|link| plan.device_at(&link.to).map(boxed)).collect(),
        }
    }

    /// Box of the plan's router.
    pub(crate) fn router(&self) -> Option<usize> {
        self.router
    }

    /// Box at the edge of the house of a box: its router.
    pub(crate) fn edge(&self, at: usize) -> usize {
        self.edges[at]
    }

    /// Box of a wired station's port; `None`: the station is next to the server's link.
    pub(crate) fn port(&self, host: usize) -> Option<usize> {
        self.ports[host]
    }
}
