//! The Wi-Fi features of a plan: their timers, their frames, and the packets that concern them.

use super::Wake;
use crate::broadcast::{Broadcasts, Carriers};
use crate::error::NetworkError;
use crate::frame::{FeatureFrame, FrameBody};
use crate::layout::Layout;
use crate::mesh::Meshes;
use crate::output::{NetPacket, Payload};
use crate::power_save::PowerSaves;
use crate::relay::{Relayed, Relays};
use crate::roaming::Roaming;
use crate::steering::Steering;
use crate::wlan::Wlan;
use netburn_medium::packet::NodeId;
use netburn_scenario::Plan;
use netburn_units::{Dbm, Instant};

/// End of a packet on the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PacketEnd {
    Delivered,
    /// Lost after its last retry.
    Lost,
    /// Dropped for another reason.
    Dropped,
}

/// All features. Those that the plan does not use are empty.
#[derive(Debug)]
pub(super) struct Features<P> {
    pub(super) power_saves: PowerSaves<FrameBody<P>>,
    pub(super) relays: Relays<P>,
    pub(super) meshes: Meshes<FrameBody<P>>,
    pub(super) broadcasts: Broadcasts,
    pub(super) roaming: Roaming<FrameBody<P>>,
    steering: Steering,
    /// Features that the plan uses, by their timeout. At one instant, a later one precedes.
    used: Vec<Wake>,
}

impl<P: Payload> Features<P> {
    pub(super) fn new(
        plan: &Plan,
        layout: &Layout,
        begin: Instant,
        wlan: &mut Wlan<FrameBody<P>>,
    ) -> Result<Self, NetworkError> {
        let channels = wlan.channel_of.iter().map(|channel| channel + 1).max().unwrap_or(0);
        let mut features = Features {
            power_saves: PowerSaves::new(plan, layout, begin)?,
            relays: Relays::new(plan, layout),
            meshes: Meshes::new(plan, layout, begin),
            broadcasts: Broadcasts::new(plan, layout, begin),
            roaming: Roaming::new(plan, layout, begin),
            steering: Steering::new(plan, begin, channels),
            used: Vec::new(),
        };
        features.roaming.prepare(begin, &mut wlan.air);
        features.power_saves.start(begin, wlan);
        let all = [
            (Wake::Presence, features.power_saves.is_empty()),
            (Wake::Relay, features.relays.is_empty()),
            (Wake::Mesh, features.meshes.is_empty()),
            (Wake::Broadcast, features.broadcasts.is_empty()),
            (Wake::Roaming, features.roaming.is_empty()),
            (Wake::Steering, features.steering.is_empty()),
        ];
        let used = all.into_iter().filter(|(_, is_empty)| !is_empty);
        features.used = used.map(|(feature, _)| feature).collect();
        Ok(features)
    }

    /// True if the plan uses no feature.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// Time of the next timeout of each feature that the plan uses.
    #[inline]
    pub(super) fn timeouts(&mut self) -> impl Iterator<Item = (Wake, Option<Instant>)> {
        let Features {
            power_saves,
            relays,
            meshes,
            broadcasts,
            roaming,
            steering,
            used,
        } = self;
        used.iter().map(|feature| {
            let at = match feature {
                Wake::Presence => power_saves.poll_timeout(),
                Wake::Relay => relays.poll_timeout(),
                Wake::Mesh => meshes.poll_timeout(),
                Wake::Broadcast => broadcasts.poll_timeout(),
                Wake::Roaming => roaming.poll_timeout(),
                Wake::Steering => steering.poll_timeout(),
                Wake::Change | Wake::Wire | Wake::Air(_) => None,
            };
            (*feature, at)
        })
    }

    /// Processes the timers of a feature that are due. Packets of [`Wake::Relay`] follow from
    /// [`poll_relayed`](Self::poll_relayed).
    pub(super) fn handle_timeout(&mut self, now: Instant, wlan: &mut Wlan<FrameBody<P>>, feature: Wake) {
        match feature {
            Wake::Presence => self.power_saves.handle_timeout(now, wlan),
            Wake::Mesh => self.meshes.handle_timeout(now, wlan),
            Wake::Broadcast => {
                let (broadcasts, carriers) = self.broadcasts();
                broadcasts.handle_timeout(now, wlan, &carriers);
            }
            Wake::Roaming => self.roaming.handle_timeout(now, wlan, &mut self.power_saves),
            Wake::Steering => {
                self.steering
                    .handle_timeout(now, wlan, &mut self.power_saves, &mut self.roaming);
            }
            Wake::Relay | Wake::Change | Wake::Wire | Wake::Air(_) => {}
        }
    }

    /// Next packet whose forwarding delay has passed by `now`, and its access point.
    pub(super) fn poll_relayed(
        &mut self,
        now: Instant,
        wlan: &mut Wlan<FrameBody<P>>,
    ) -> Option<(usize, NetPacket<P>)> {
        while let Some((ap, packet)) = self.relays.poll(now) {
            match packet {
                Relayed::Data(packet) => return Some((ap, packet)),
                Relayed::Broadcast(packet) => {
                    let (broadcasts, carriers) = self.broadcasts();
                    broadcasts.forward(now, wlan, &carriers, ap, packet);
                }
            }
        }
        None
    }

    /// Processes a frame that arrived, or that was lost after its last retry.
    pub(super) fn handle_frame(
        &mut self,
        now: Instant,
        wlan: &mut Wlan<FrameBody<P>>,
        (from, to): (NodeId, NodeId),
        frame: FeatureFrame,
        arrived: bool,
    ) {
        match frame {
            FeatureFrame::PowerSave(frame) => self.power_saves.handle_frame(now, wlan, (from, to), frame, arrived),
            FeatureFrame::Client(frame) => {
                let (roaming, power_saves) = (&mut self.roaming, &mut self.power_saves);
                if let Some(answer) = roaming.handle_frame(now, wlan, power_saves, (from, to), frame, arrived) {
                    self.steering.handle_answer(now, &answer);
                }
            }
            FeatureFrame::Mesh(frame) if arrived => self.meshes.handle_frame(now, wlan, from, *frame, &[to]),
            FeatureFrame::Broadcast(frame) if arrived => {
                let (broadcasts, mut carriers) = self.broadcasts();
                broadcasts.handle_frame(now, wlan, &mut carriers, from, frame, &[to]);
            }
            FeatureFrame::Mesh(_) | FeatureFrame::Broadcast(_) => {}
        }
    }

    /// Processes the end of a group-addressed frame. `heard`: nodes that can receive it, unless they are away.
    pub(super) fn handle_group_frame(
        &mut self,
        now: Instant,
        wlan: &mut Wlan<FrameBody<P>>,
        from: NodeId,
        frame: FeatureFrame,
        heard: &[NodeId],
    ) {
        match frame {
            FeatureFrame::Mesh(frame) => {
                let heard = heard.iter().copied();
                let receivers: Vec<NodeId> = heard.filter(|node| !wlan.air.is_away(*node)).collect();
                self.meshes.handle_frame(now, wlan, from, *frame, &receivers);
            }
            FeatureFrame::Broadcast(frame) => {
                let (broadcasts, mut carriers) = self.broadcasts();
                broadcasts.handle_frame(now, wlan, &mut carriers, from, frame, heard);
            }
            // Their frames have one receiver.
            FeatureFrame::PowerSave(_) | FeatureFrame::Client(_) => {}
        }
    }

    /// Processes the end of a packet on the air. Returns false if the receiver rejects it.
    #[inline]
    pub(super) fn handle_packet_end(
        &mut self,
        now: Instant,
        wlan: &mut Wlan<FrameBody<P>>,
        ends: (NodeId, NodeId),
        end: PacketEnd,
    ) -> bool {
        self.is_empty() || self.count_packet(now, wlan, ends, end)
    }

    fn count_packet(
        &mut self,
        now: Instant,
        wlan: &mut Wlan<FrameBody<P>>,
        (from, to): (NodeId, NodeId),
        end: PacketEnd,
    ) -> bool {
        let lost = end == PacketEnd::Lost;
        if wlan.station_of(to).is_some() {
            if end != PacketEnd::Dropped {
                self.roaming
                    .count_downlink(now, wlan, &mut self.power_saves, (from, to), lost);
            }
            self.power_saves
                .downlink_ended(now, wlan, to, end == PacketEnd::Delivered);
            return true;
        }
        if end == PacketEnd::Delivered {
            self.power_saves.uplink_ended(now, wlan, from, true);
        }
        let mut accepted = true;
        if end != PacketEnd::Dropped {
            self.meshes.count_packet(now, wlan, (from, to), lost);
            accepted = self
                .roaming
                .count_uplink(now, wlan, &mut self.power_saves, (from, to), lost);
        }
        if end != PacketEnd::Delivered {
            self.power_saves.uplink_ended(now, wlan, from, false);
        }
        accepted
    }

    /// Updates all links of a radio whose power has changed.
    pub(super) fn set_power(&mut self, now: Instant, wlan: &mut Wlan<FrameBody<P>>, radio: NodeId, power: Dbm) {
        self.roaming.set_power(now, wlan, radio, power);
        self.meshes.set_power(now, wlan, radio);
        self.relays.set_power(wlan, radio);
    }

    /// Broadcast traffic, and the features that carry it.
    fn broadcasts(&mut self) -> (&mut Broadcasts, Carriers<'_, FrameBody<P>, P>) {
        let carriers = Carriers {
            power_saves: &self.power_saves,
            meshes: &self.meshes,
            relays: &mut self.relays,
        };
        (&mut self.broadcasts, carriers)
    }
}
