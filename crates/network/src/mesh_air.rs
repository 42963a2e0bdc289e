//! Meshes on the air: the frames that carry the elements of path selection.
//!
//! A broadcast is one frame to each neighbour, because the air has no broadcast. Each is
//! acknowledged and retried. This costs more airtime than one frame to all.

use crate::machine::Network;
use crate::mesh::MeshId;
use crate::mesh::hwmp::{Element, Output as HwmpOutput};
use crate::meshes::MeshEvent;
use crate::output::{DropSite, Endpoint, Envelope, NetPacket};
use netburn_medium::packet::{DropReason, Ecn, MANAGEMENT, NodeId, Packet};
use netburn_units::Instant;

/// Category and action of a mesh path selection frame (802.11-2020 clause 9.6.16.3).
const ACTION: u32 = 2;
/// LLC and SNAP, which the model adds to every frame.
const LLC_SNAP: u32 = 8;

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Next change of a path in a mesh.
    pub fn poll_mesh_event(&mut self) -> Option<MeshEvent> {
        self.meshes.events.pop_front()
    }

    /// Sends a packet from one member of a mesh to another, over the path or after its discovery.
    pub(crate) fn send_in_mesh(&mut self, now: Instant, ap: usize, target: usize, packet: NetPacket<P>) {
        let places = self.meshes.place(ap).zip(self.meshes.place(target));
        let Some(((mesh, from), (_, to))) = places else { return };
        let at = &mut self.meshes.meshes[mesh];
        if let Some((next, packet)) = at.nodes[from].send(now, MeshId(to as u16), packet) {
            let (from, to) = (at.layout.members[from].1, at.layout.members[usize::from(next.0)].1);
            self.air.handle_packet(now, from, to, packet);
        }
        self.drain_mesh(now, mesh);
    }

    /// Processes the timers that are due.
    pub(crate) fn handle_meshes(&mut self, now: Instant) {
        for mesh in 0..self.meshes.meshes.len() {
            for node in &mut self.meshes.meshes[mesh].nodes {
                node.handle_timeout(now);
            }
            self.drain_mesh(now, mesh);
        }
    }

    /// Processes the frame of an element that arrived, or that was lost after its last retry.
    pub(crate) fn handle_element(&mut self, now: Instant, (from, to): (NodeId, NodeId), flow: u32, arrived: bool) {
        let Some((mesh, element)) = self.meshes.elements.remove(&flow) else {
            return;
        };
        if arrived {
            let at = &mut self.meshes.meshes[mesh];
            if let (Some(from), Some(to)) = (at.place_of(from), at.place_of(to)) {
                // Linux uses the metric of its own direction.
                let metric = at.links.get(&(to, from)).map(|(metric, _)| *metric);
                if let Some(metric) = metric {
                    at.nodes[to].handle_element(now, MeshId(from as u16), metric, &element);
                }
            }
        }
        self.drain_mesh(now, mesh);
        self.invalidate_timeout();
    }

    /// Counts a packet that one member delivered to another, or lost after its last retry. A link on
    /// which nearly all are lost is broken.
    pub(crate) fn count_in_mesh(&mut self, now: Instant, from: NodeId, to: NodeId, lost: bool) {
        for mesh in 0..self.meshes.meshes.len() {
            let at = &mut self.meshes.meshes[mesh];
            let (Some(from), Some(to)) = (at.place_of(from), at.place_of(to)) else {
                continue;
            };
            let Some((_, failures)) = at.links.get_mut(&(from, to)) else {
                continue;
            };
            failures.add(lost);
            if failures.is_broken() {
                for (one, other) in [(from, to), (to, from)] {
                    at.links.remove(&(one, other));
                    at.nodes[one].handle_link_down(now, MeshId(other as u16));
                }
                self.drain_mesh(now, mesh);
            }
        }
    }

    /// Performs what the members of a mesh want.
    fn drain_mesh(&mut self, now: Instant, mesh: usize) {
        for place in 0..self.meshes.meshes[mesh].nodes.len() {
            while let Some(output) = self.meshes.meshes[mesh].nodes[place].poll_output() {
                let at = &self.meshes.meshes[mesh];
                let member = |place: usize| at.layout.members[place];
                match output {
                    HwmpOutput::Send(to, element) => {
                        let others: Vec<usize> = match to {
                            Some(to) => vec![usize::from(to.0)],
                            None => at
                                .links
                                .keys()
                                .filter(|(one, _)| *one == place)
                                .map(|(_, other)| *other)
                                .collect(),
                        };
                        let ends: Vec<(NodeId, NodeId)> = others
                            .into_iter()
                            .map(|other| (member(place).1, member(other).1))
                            .collect();
                        for (from, to) in ends {
                            self.send_element(now, mesh, (from, to), &element);
                        }
                    }
                    HwmpOutput::Forward(next, packet) => {
                        let (from, to) = (member(place).1, member(usize::from(next.0)).1);
                        self.air.handle_packet(now, from, to, packet);
                    }
                    HwmpOutput::Drop(packet) => {
                        self.drop_packet(now, DropSite::Air(DropReason::NoLink), packet);
                    }
                    HwmpOutput::Path { to, before, now: next } => {
                        let name = |id: MeshId| self.meshes.aps[member(usize::from(id.0)).0].clone();
                        let event = MeshEvent {
                            at: now,
                            mesh: at.layout.name.clone(),
                            ap: name(MeshId(place as u16)),
                            to: name(to),
                            before: before.map(name),
                            now: next.map(name),
                        };
                        self.meshes.events.push_back(event);
                    }
                }
            }
        }
    }

    fn send_element(&mut self, now: Instant, mesh: usize, (from, to): (NodeId, NodeId), element: &Element) {
        let flow = self.meshes.next_element;
        self.meshes.next_element = flow.wrapping_add(1);
        self.meshes.elements.insert(flow, (mesh, element.clone()));
        let packet = Packet {
            length: (ACTION + element.bytes()).saturating_sub(LLC_SNAP),
            flow,
            tid: MANAGEMENT,
            ecn: Ecn::NotEct,
            payload: Envelope {
                from: Endpoint::Server,
                to: Endpoint::Server,
                payload: None,
            },
        };
        self.air.send_frame(now, from, to, packet);
    }
}
