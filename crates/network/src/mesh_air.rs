//! Meshes on the air: the frames that carry the elements of path selection.
//!
//! A broadcast is one group-addressed frame at the lowest basic rate, without acknowledgement and
//! without retries. Each neighbour receives or loses it independently.

use crate::machine::Network;
use crate::mesh::MeshId;
use crate::mesh::hwmp::Output as HwmpOutput;
use crate::mesh_event::MeshEvent;
use crate::meshes::MeshFrame;
use crate::output::{DropSite, Endpoint, Envelope, Headers, NetPacket};
use netburn_medium::aggregation::Framing;
use netburn_medium::edca::AccessCategory;
use netburn_medium::packet::{DropReason, Ecn, MANAGEMENT, NodeId, Packet};
use netburn_units::Instant;

/// Category and action of a mesh path selection frame (802.11-2020 clause 9.6.16.3).
const ACTION: u32 = 2;
/// LLC and SNAP, which the model adds to every frame.
const LLC_SNAP: u32 = 8;

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Next event of a mesh.
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
            self.handle_peers(now, mesh);
            self.drain_mesh(now, mesh);
        }
    }

    /// Processes a management frame that arrived, or that was lost after its last retry.
    pub(crate) fn handle_mesh_frame(&mut self, now: Instant, (from, to): (NodeId, NodeId), flow: u32, arrived: bool) {
        let receivers = if arrived { &[to][..] } else { &[] };
        self.receive_mesh_frame(now, from, flow, receivers);
    }

    /// Processes a management frame that `receivers` received.
    pub(crate) fn receive_mesh_frame(&mut self, now: Instant, from: NodeId, flow: u32, receivers: &[NodeId]) {
        let Some((mesh, frame)) = self.meshes.frames.remove(&flow) else {
            return;
        };
        for to in receivers {
            let at = &mut self.meshes.meshes[mesh];
            let (Some(from), Some(to)) = (at.place_of(from), at.place_of(*to)) else {
                continue;
            };
            match &frame {
                MeshFrame::Element(element) => {
                    // Linux uses the metric of its own direction.
                    if let Some(metric) = at.metric((to, from)) {
                        at.nodes[to].handle_element(now, MeshId(from as u16), metric, element);
                    }
                }
                MeshFrame::Peering(action) => self.handle_peering_frame(now, mesh, (from, to), *action),
            }
        }
        self.drain_mesh(now, mesh);
        self.invalidate_timeout();
    }

    /// Performs the actions of the members of a mesh.
    pub(crate) fn drain_mesh(&mut self, now: Instant, mesh: usize) {
        for place in 0..self.meshes.meshes[mesh].nodes.len() {
            while let Some(output) = self.meshes.meshes[mesh].nodes[place].poll_output() {
                let at = &self.meshes.meshes[mesh];
                let member = |place: usize| at.layout.members[place];
                match output {
                    HwmpOutput::Send(to, element) => {
                        let from = member(place).1;
                        let to = to.map(|to| member(usize::from(to.0)).1);
                        let bytes = ACTION + element.bytes();
                        let packet = self.mesh_frame(mesh, MeshFrame::Element(element), bytes);
                        match to {
                            Some(to) => self.air.send_frame(now, from, to, packet),
                            None => {
                                let category = AccessCategory::Voice;
                                self.air.send_group(now, from, category, &Framing::PLAIN, packet);
                            }
                        }
                    }
                    HwmpOutput::Forward(next, packet) => {
                        let (from, to) = (member(place).1, member(usize::from(next.0)).1);
                        self.air.handle_packet(now, from, to, packet);
                    }
                    HwmpOutput::Drop(packet) => {
                        self.drop_packet(now, DropSite::Air(DropReason::NoLink), packet);
                    }
                    HwmpOutput::Path {
                        to, now: next, expired, ..
                    } => {
                        let next = next.map(|(next, metric)| (usize::from(next.0), metric));
                        let ends = (place, usize::from(to.0));
                        self.meshes.report_path(now, mesh, ends, next, expired);
                    }
                    HwmpOutput::NotFound(to) => {
                        self.meshes.report_not_found(now, mesh, (place, usize::from(to.0)));
                    }
                }
            }
        }
    }

    /// Management frame with a body of `bytes` bytes.
    pub(crate) fn mesh_frame(&mut self, mesh: usize, frame: MeshFrame, bytes: u32) -> NetPacket<P> {
        let flow = self.meshes.next_frame;
        self.meshes.next_frame = flow.wrapping_add(1);
        self.meshes.frames.insert(flow, (mesh, frame));
        Packet {
            length: bytes.saturating_sub(LLC_SNAP),
            flow,
            tid: MANAGEMENT,
            ecn: Ecn::NotEct,
            payload: Envelope {
                from: Endpoint::Server,
                to: Endpoint::Server,
                headers: Headers::default(),
                payload: None,
            },
        }
    }
}
