//! Meshes on the air: the frames that carry the elements of path selection.
//!
//! A broadcast is one group-addressed frame at the lowest basic rate, without acknowledgement and
//! without retries. Each neighbour receives or loses it independently.

use super::MeshId;
use super::event::MeshEvent;
use super::hwmp::Output as HwmpOutput;
use super::state::{Content, MeshFrame, Meshes};
use crate::output::{DropSite, Payload};
use crate::wlan::Wlan;
use netburn_medium::aggregation::Framing;
use netburn_medium::edca::AccessCategory;
use netburn_medium::packet::{DropReason, NodeId, Packet};
use netburn_units::Instant;

/// Category and action of a mesh path selection frame (802.11-2020 clause 9.6.16.3).
const ACTION: u32 = 2;

impl<B: Payload + From<MeshFrame>> Meshes<B> {
    /// Next event of a mesh.
    pub(crate) fn poll_event(&mut self) -> Option<MeshEvent> {
        self.events.pop_front()
    }

    /// Sends a packet from one member of a mesh to another, over the path or after its discovery.
    pub(crate) fn send(&mut self, now: Instant, wlan: &mut Wlan<B>, ap: usize, target: usize, packet: Packet<B>) {
        let places = self.place(ap).zip(self.place(target));
        let Some(((mesh, from), (_, to))) = places else { return };
        let at = &mut self.meshes[mesh];
        if let Some((next, packet)) = at.nodes[from].send(now, MeshId(to as u16), packet) {
            let (from, to) = (at.layout.members[from].1, at.layout.members[usize::from(next.0)].1);
            wlan.air.handle_packet(now, from, to, packet);
        }
        self.drain(now, wlan, mesh);
    }

    /// Processes the timers that are due.
    pub(crate) fn handle_timeout(&mut self, now: Instant, wlan: &mut Wlan<B>) {
        for mesh in 0..self.meshes.len() {
            for node in &mut self.meshes[mesh].nodes {
                node.handle_timeout(now);
            }
            self.handle_peers(now, wlan, mesh);
            self.drain(now, wlan, mesh);
        }
    }

    /// Processes the end of a frame that `receivers` received.
    pub(crate) fn handle_frame(
        &mut self,
        now: Instant,
        wlan: &mut Wlan<B>,
        from: NodeId,
        frame: MeshFrame,
        receivers: &[NodeId],
    ) {
        let Some((mesh, content)) = self.frames.remove(&frame) else {
            return;
        };
        for to in receivers {
            let at = &mut self.meshes[mesh];
            let (Some(from), Some(to)) = (at.place_of(from), at.place_of(*to)) else {
                continue;
            };
            match &content {
                Content::Element(element) => {
                    // Linux uses the metric of its own direction.
                    if let Some(metric) = at.metric((to, from)) {
                        at.nodes[to].handle_element(now, MeshId(from as u16), metric, element);
                    }
                }
                Content::Peering(action) => self.handle_peering_frame(now, wlan, mesh, (from, to), *action),
            }
        }
        self.drain(now, wlan, mesh);
    }

    /// Performs the actions of the members of a mesh.
    pub(super) fn drain(&mut self, now: Instant, wlan: &mut Wlan<B>, mesh: usize) {
        for place in 0..self.meshes[mesh].nodes.len() {
            while let Some(output) = self.meshes[mesh].nodes[place].poll_output() {
                let at = &self.meshes[mesh];
                let member = |place: usize| at.layout.members[place].1;
                match output {
                    HwmpOutput::Send(to, element) => {
                        let (from, to) = (member(place), to.map(|to| member(usize::from(to.0))));
                        let body = ACTION + element.bytes();
                        let frame = self.frame(mesh, Content::Element(element)).into();
                        match to {
                            Some(to) => wlan.air.send_frame(now, from, to, body, frame),
                            None => {
                                let (category, frame) = (AccessCategory::Voice, Packet::management(body, frame));
                                wlan.air.send_group(now, from, category, &Framing::PLAIN, None, frame);
                            }
                        }
                    }
                    HwmpOutput::Forward(next, packet) => {
                        let (from, to) = (member(place), member(usize::from(next.0)));
                        wlan.air.handle_packet(now, from, to, packet);
                    }
                    HwmpOutput::Drop(packet) => {
                        wlan.drop_packet(now, DropSite::Air(DropReason::NoLink), packet);
                    }
                    HwmpOutput::Path {
                        to, now: next, expired, ..
                    } => {
                        let next = next.map(|(next, metric)| (usize::from(next.0), metric));
                        let ends = (place, usize::from(to.0));
                        self.report_path(now, mesh, ends, next, expired);
                    }
                    HwmpOutput::NotFound(to) => {
                        self.report_not_found(now, mesh, (place, usize::from(to.0)));
                    }
                }
            }
        }
    }
}
