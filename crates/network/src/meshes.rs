//! Meshes of a plan: path selection of their members, and their links.

use crate::layout::{Layout, MeshLayout, PlacedRadio};
use crate::mesh::MeshId;
use crate::mesh::hwmp::{Element, Hwmp};
use crate::mesh::metric::{FailureAverage, linux};
use crate::output::NetPacket;
use netburn_medium::packet::NodeId;
use netburn_units::{BitRate, Instant};
use std::collections::{BTreeMap, VecDeque};

/// A change of a path in a mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshEvent {
    /// Time.
    pub at: Instant,
    /// Mesh.
    pub mesh: String,
    /// Access point with the path.
    pub ap: String,
    /// Destination.
    pub to: String,
    /// Next access point before; `None`: no path.
    pub before: Option<String>,
    /// Next access point now; `None`: no path.
    pub now: Option<String>,
}

/// All meshes.
#[derive(Debug)]
pub(crate) struct Meshes<P> {
    pub(crate) meshes: Vec<MeshAir<P>>,
    /// Elements in flight by the `flow` of their frames: the mesh, and the element.
    pub(crate) elements: BTreeMap<u32, (usize, Element)>,
    pub(crate) next_element: u32,
    pub(crate) events: VecDeque<MeshEvent>,
    /// Names of the access points.
    pub(crate) aps: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct MeshAir<P> {
    pub(crate) layout: MeshLayout,
    pub(crate) nodes: Vec<Hwmp<NetPacket<P>>>,
    /// By two members: metric of the link from the first to the second, and its failures.
    pub(crate) links: BTreeMap<(usize, usize), (u32, FailureAverage)>,
}

impl<P> Meshes<P> {
    pub(crate) fn new(plan: &netburn_scenario::Plan, layout: &Layout, begin: Instant) -> Self {
        let mesh = |layout: &MeshLayout| {
            let node = |place: usize| {
                let mode = if place == layout.root {
                    layout.mode
                } else {
                    Default::default()
                };
                Hwmp::new(begin, MeshId(place as u16), layout.constants, mode)
            };
            let links = layout.links.iter().flat_map(|(one, other, link)| {
                let metric = linux(BitRate::from_bps(link.expected_bps() as u64), 0);
                let state = (metric, FailureAverage::default());
                [((*one, *other), state), ((*other, *one), state)]
            });
            MeshAir {
                nodes: (0..layout.members.len()).map(node).collect(),
                links: links.collect(),
                layout: layout.clone(),
            }
        };
        Meshes {
            meshes: layout.meshes.iter().map(mesh).collect(),
            elements: BTreeMap::new(),
            next_element: 0,
            events: VecDeque::new(),
            aps: plan.aps.iter().map(|ap| ap.name.clone()).collect(),
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let nodes = self.meshes.iter().flat_map(|mesh| &mesh.nodes);
        nodes.filter_map(Hwmp::poll_timeout).min()
    }

    /// Updates the links of a radio whose power has changed. Returns their ends and SNRs.
    pub(crate) fn set_powers(&mut self, radio: NodeId, radios: &[PlacedRadio]) -> Vec<(NodeId, NodeId, Option<f64>)> {
        let mut changed = Vec::new();
        for mesh in &mut self.meshes {
            for (one, other, link) in &mut mesh.layout.links {
                let (own, parent) = (link.own, link.parent);
                if own != radio && parent != radio {
                    continue;
                }
                link.set_powers(&radios[parent.index()].config, &radios[own.index()].config);
                let (down, up) = link.snrs();
                changed.extend([(parent, own, down), (own, parent, up)]);
                let metric = linux(BitRate::from_bps(link.expected_bps() as u64), 0);
                for ends in [(*one, *other), (*other, *one)] {
                    if let Some((known, _)) = mesh.links.get_mut(&ends) {
                        *known = metric;
                    }
                }
            }
        }
        changed
    }

    /// Mesh and place of an access point.
    pub(crate) fn place(&self, ap: usize) -> Option<(usize, usize)> {
        self.meshes.iter().enumerate().find_map(|(mesh, at)| {
            let place = at.layout.members.iter().position(|(member, _)| *member == ap)?;
            Some((mesh, place))
        })
    }
}

impl<P> MeshAir<P> {
    pub(crate) fn place_of(&self, node: NodeId) -> Option<usize> {
        self.layout.members.iter().position(|(_, member)| *member == node)
    }
}
