//! Peerings of a mesh on the air: links that fail are closed, and opened again.
//!
//! All links are open at the start. A beacon of a neighbour starts the peering of a closed one. Beacons
//! use no airtime. The frames of the peering contend for the channel.

use super::MeshId;
use super::event::MeshEventKind;
use super::peering::PeeringAction;
use super::state::{Content, MeshFrame, Meshes};
use crate::beacon;
use crate::output::Payload;
use crate::wlan::Wlan;
use netburn_medium::config::Standard;
use netburn_medium::packet::NodeId;
use netburn_units::Instant;

impl<B: Payload + From<MeshFrame>> Meshes<B> {
    /// Counts a packet that one member delivered to another, or lost after its last retry. A link on
    /// which nearly all are lost is closed.
    pub(crate) fn count_packet(&mut self, now: Instant, wlan: &mut Wlan<B>, (from, to): (NodeId, NodeId), lost: bool) {
        for mesh in 0..self.meshes.len() {
            let at = &mut self.meshes[mesh];
            let (Some(from), Some(to)) = (at.place_of(from), at.place_of(to)) else {
                continue;
            };
            let Some(peer) = at.peers.get_mut(&(from, to)).filter(|peer| peer.is_open()) else {
                continue;
            };
            peer.failures.add(lost);
            if peer.failures.is_broken() {
                peer.peering.close(now);
                self.act_on_peer(now, wlan, mesh, (from, to));
                self.drain(now, wlan, mesh);
            }
        }
    }

    /// Processes the beacons and the timers of peerings that are due.
    pub(super) fn handle_peers(&mut self, now: Instant, wlan: &mut Wlan<B>, mesh: usize) {
        if !self.meshes[mesh].is_peer_due(now) {
            return;
        }
        let ends: Vec<(usize, usize)> = self.meshes[mesh].peers.keys().copied().collect();
        for ends in ends {
            let at = &mut self.meshes[mesh];
            let members = [ends.0, ends.1].map(|member| at.layout.members[member].1);
            let away = members.iter().any(|node| wlan.air.is_away(*node));
            let Some(peer) = at.peers.get_mut(&ends) else { continue };
            if peer.beacon.take_if(|beacon| *beacon <= now).is_some() && !away {
                let heard = peer
                    .signal
                    .is_none_or(|signal| beacon::arrives(signal, &mut at.beacon_rng));
                if heard {
                    peer.peering.open(now);
                }
            }
            peer.peering.handle_timeout(now);
            self.act_on_peer(now, wlan, mesh, ends);
        }
        self.meshes[mesh].schedule_peers(now);
    }

    /// Processes the frame of a peering that arrived from member `from` at member `to`.
    pub(super) fn handle_peering_frame(
        &mut self,
        now: Instant,
        wlan: &mut Wlan<B>,
        mesh: usize,
        (from, to): (usize, usize),
        action: PeeringAction,
    ) {
        let ends = (to, from);
        let Some(peer) = self.meshes[mesh].peers.get_mut(&ends) else {
            return;
        };
        match action {
            PeeringAction::Open => peer.peering.handle_open(now),
            PeeringAction::Confirm => peer.peering.handle_confirm(now),
            PeeringAction::Close => peer.peering.handle_close(now),
            PeeringAction::Up | PeeringAction::Down => {}
        }
        self.act_on_peer(now, wlan, mesh, ends);
    }

    /// Performs the actions of the peering of member `ends.0` with member `ends.1`.
    fn act_on_peer(&mut self, now: Instant, wlan: &mut Wlan<B>, mesh: usize, ends: (usize, usize)) {
        loop {
            let at = &mut self.meshes[mesh];
            let action = at.peers.get_mut(&ends).and_then(|peer| peer.peering.poll_action());
            let Some(action) = action else { break };
            match action {
                PeeringAction::Open | PeeringAction::Confirm | PeeringAction::Close => {
                    let (from, to) = (at.layout.members[ends.0].1, at.layout.members[ends.1].1);
                    let ht = [from, to]
                        .iter()
                        .all(|node| wlan.radios[node.index()].config.standard >= Standard::N);
                    let bytes = action.bytes(at.layout.name.len() as u32, ht);
                    let frame = self.frame(mesh, Content::Peering(action)).into();
                    wlan.air.send_frame(now, from, to, bytes, frame);
                }
                PeeringAction::Up => {
                    if let Some(peer) = at.peers.get_mut(&ends) {
                        peer.failures = Default::default();
                    }
                    self.report(now, mesh, ends, MeshEventKind::LinkOpened);
                }
                PeeringAction::Down => {
                    at.nodes[ends.0].handle_link_down(now, MeshId(ends.1 as u16));
                    self.report(now, mesh, ends, MeshEventKind::LinkClosed);
                }
            }
        }
        self.meshes[mesh].schedule_peers(now);
    }
}
