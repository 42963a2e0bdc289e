//! The Wi-Fi features of a plan: their timers, their frames, and the packets that concern them.

use crate::broadcast::{self, Broadcasts};
use crate::error::NetworkError;
use crate::frame::{FeatureFrame, FrameBody};
use crate::layout::Layout;
use crate::mesh::Meshes;
use crate::multicast::{self, Multicasts};
use crate::output::{NetPacket, Payload};
use crate::power_save::PowerSaves;
use crate::relay::{Relayed, Relays};
use crate::roaming::{self, Roaming};
use crate::steering::Steering;
use crate::wlan::Wlan;
use netburn_medium::packet::NodeId;
use netburn_scenario::Plan;
use netburn_units::{Dbm, Instant};

/// A feature of Wi-Fi.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// A station dozes or wakes, or an access point leaves its channel or returns.
    PowerSave,
    /// Access points pass on packets after their forwarding delay.
    Relay,
    /// Path selection and peerings of meshes.
    Mesh,
    /// Broadcast packets arrive, and wait for DTIM beacons.
    Broadcast,
    /// Multicast packets arrive, and wait for DTIM beacons.
    Multicast,
    /// Stations move, scan and join.
    Roaming,
    /// Access points ask stations to move.
    Steering,
}

/// The WLAN with the frames of a plan.
pub(super) type PlanWlan<P> = Wlan<FrameBody<P>>;

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
    pub(super) multicasts: Multicasts,
    pub(super) roaming: Roaming<FrameBody<P>>,
    steering: Steering,
    /// Features that the plan uses. At one instant, a later one precedes.
    used: Vec<Feature>,
}

impl<P: Payload> Features<P> {
    pub(super) fn new(
        plan: &Plan,
        layout: &Layout,
        begin: Instant,
        wlan: &mut PlanWlan<P>,
    ) -> Result<Self, NetworkError> {
        let channels = wlan.channel_of.iter().map(|channel| channel + 1).max().unwrap_or(0);
        let mut features = Features {
            power_saves: PowerSaves::new(plan, layout, begin)?,
            relays: Relays::new(plan, layout),
            meshes: Meshes::new(plan, layout, begin),
            broadcasts: Broadcasts::new(plan, layout, begin),
            multicasts: Multicasts::new(plan, layout, begin),
            roaming: Roaming::new(plan, layout, begin),
            steering: Steering::new(plan, begin, channels),
            used: Vec::new(),
        };
        features.roaming.prepare(begin, &mut wlan.air);
        features.power_saves.start(begin, wlan);
        let all = [
            (Feature::PowerSave, features.power_saves.is_empty()),
            (Feature::Relay, features.relays.is_empty()),
            (Feature::Mesh, features.meshes.is_empty()),
            (Feature::Broadcast, features.broadcasts.is_empty()),
            (Feature::Multicast, features.multicasts.is_empty()),
            (Feature::Roaming, features.roaming.is_empty()),
            (Feature::Steering, features.steering.is_empty()),
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
    pub(super) fn timeouts(&mut self) -> impl Iterator<Item = (Feature, Option<Instant>)> {
        let Features {
            power_saves,
            relays,
            meshes,
            broadcasts,
            multicasts,
            roaming,
            steering,
            used,
        } = self;
        used.iter().map(|feature| {
            let at = match feature {
                Feature::PowerSave => power_saves.poll_timeout(),
                Feature::Relay => relays.poll_timeout(),
                Feature::Mesh => meshes.poll_timeout(),
                Feature::Broadcast => broadcasts.poll_timeout(),
                Feature::Multicast => multicasts.poll_timeout(),
                Feature::Roaming => roaming.poll_timeout(),
                Feature::Steering => steering.poll_timeout(),
            };
            (*feature, at)
        })
    }

    /// Processes the timers of a feature that are due. Packets of [`Feature::Relay`] follow from
    /// [`poll_relayed`](Self::poll_relayed).
    pub(super) fn handle_timeout(&mut self, now: Instant, wlan: &mut PlanWlan<P>, feature: Feature) {
        match feature {
            Feature::PowerSave => self.power_saves.handle_timeout(now, wlan),
            Feature::Mesh => self.meshes.handle_timeout(now, wlan),
            Feature::Broadcast => {
                let (broadcasts, mut cx) = self.broadcasts(now, wlan);
                broadcasts.handle_timeout(&mut cx);
            }
            Feature::Multicast => {
                let (multicasts, mut cx) = self.multicasts(now, wlan);
                multicasts.handle_timeout(&mut cx);
            }
            Feature::Roaming => {
                let (roaming, _, mut cx) = self.clients(now, wlan);
                roaming.handle_timeout(&mut cx);
            }
            Feature::Steering => {
                let (roaming, steering, mut cx) = self.clients(now, wlan);
                steering.handle_timeout(&mut cx, roaming);
            }
            Feature::Relay => {}
        }
    }

    /// Next packet whose forwarding delay has passed by `now`, and its access point.
    pub(super) fn poll_relayed(&mut self, now: Instant, wlan: &mut PlanWlan<P>) -> Option<(usize, NetPacket<P>)> {
        while let Some((ap, packet)) = self.relays.poll(now) {
            match packet {
                Relayed::Data(packet) => return Some((ap, packet)),
                Relayed::Broadcast(packet) => {
                    let (broadcasts, mut cx) = self.broadcasts(now, wlan);
                    broadcasts.forward(&mut cx, ap, packet);
                }
            }
        }
        None
    }

    /// Processes a frame that arrived, or that was lost after its last retry.
    pub(super) fn handle_frame(
        &mut self,
        now: Instant,
        wlan: &mut PlanWlan<P>,
        (from, to): (NodeId, NodeId),
        frame: FeatureFrame,
        arrived: bool,
    ) {
        match frame {
            FeatureFrame::PowerSave(frame) => self.power_saves.handle_frame(now, wlan, (from, to), frame, arrived),
            FeatureFrame::Client(frame) => {
                let (roaming, steering, mut cx) = self.clients(now, wlan);
                if let Some(answer) = roaming.handle_frame(&mut cx, (from, to), frame, arrived) {
                    steering.handle_answer(now, &answer);
                }
            }
            FeatureFrame::Mesh(frame) => {
                let receivers = if arrived { &[to][..] } else { &[] };
                self.meshes.handle_frame(now, wlan, from, frame, receivers);
            }
            FeatureFrame::Broadcast(frame) if arrived => {
                let (broadcasts, mut cx) = self.broadcasts(now, wlan);
                broadcasts.handle_frame(&mut cx, from, frame, &[to]);
            }
            FeatureFrame::Broadcast(_) => {}
            FeatureFrame::Multicast(frame) => {
                let (multicasts, mut cx) = self.multicasts(now, wlan);
                multicasts.handle_copy(&mut cx, to, frame, arrived);
            }
        }
    }

    /// Processes the end of a group-addressed frame. `heard`: nodes that can receive it, unless they are away.
    pub(super) fn handle_group_frame(
        &mut self,
        now: Instant,
        wlan: &mut PlanWlan<P>,
        from: NodeId,
        frame: FeatureFrame,
        heard: &[NodeId],
    ) {
        match frame {
            FeatureFrame::Mesh(frame) => {
                let heard = heard.iter().copied();
                let receivers: Vec<NodeId> = heard.filter(|node| !wlan.air.is_away(*node)).collect();
                self.meshes.handle_frame(now, wlan, from, frame, &receivers);
            }
            FeatureFrame::Broadcast(frame) => {
                let (broadcasts, mut cx) = self.broadcasts(now, wlan);
                broadcasts.handle_frame(&mut cx, from, frame, heard);
            }
            FeatureFrame::Multicast(frame) => {
                let (multicasts, cx) = self.multicasts(now, wlan);
                multicasts.handle_group_frame(&cx, from, frame, heard);
            }
            // Their frames have one receiver.
            FeatureFrame::PowerSave(_) | FeatureFrame::Client(_) => {}
        }
    }

    /// A station is about to send a packet. Returns false if it has no link at the moment.
    pub(super) fn prepare_uplink(&mut self, now: Instant, wlan: &mut PlanWlan<P>, wifi_station: usize) -> bool {
        let has_link = self.roaming.handle_uplink(now, wifi_station);
        if has_link {
            self.power_saves.wake_to_send(now, wlan, wifi_station);
        }
        has_link
    }

    /// Processes the end of a packet on the air. Returns false if the receiver rejects it. A plan
    /// without features needs no call.
    pub(super) fn handle_packet_end(
        &mut self,
        now: Instant,
        wlan: &mut PlanWlan<P>,
        (from, to): (NodeId, NodeId),
        end: PacketEnd,
    ) -> bool {
        let lost = end == PacketEnd::Lost;
        if wlan.station_of(to).is_some() {
            if end != PacketEnd::Dropped {
                let (roaming, _, mut cx) = self.clients(now, wlan);
                roaming.count_downlink(&mut cx, (from, to), lost);
            }
            let delivered = end == PacketEnd::Delivered;
            self.power_saves.downlink_ended(now, wlan, to, delivered);
            return true;
        }
        if end == PacketEnd::Delivered {
            self.power_saves.uplink_ended(now, wlan, from, true);
        }
        let mut accepted = true;
        if end != PacketEnd::Dropped {
            self.meshes.count_packet(now, wlan, (from, to), lost);
            let (roaming, _, mut cx) = self.clients(now, wlan);
            accepted = roaming.count_uplink(&mut cx, (from, to), lost);
        }
        if end != PacketEnd::Delivered {
            self.power_saves.uplink_ended(now, wlan, from, false);
        }
        accepted
    }

    /// Updates all links of a radio whose power has changed.
    pub(super) fn set_power(&mut self, now: Instant, wlan: &mut PlanWlan<P>, radio: NodeId, power: Dbm) {
        self.roaming.set_power(now, wlan, radio, power);
        self.meshes.set_power(now, wlan, radio);
        self.relays.set_power(wlan, radio);
    }

    /// The clients with their access points' steering, and what they act on.
    fn clients<'a>(
        &'a mut self,
        now: Instant,
        wlan: &'a mut PlanWlan<P>,
    ) -> (
        &'a mut Roaming<FrameBody<P>>,
        &'a mut Steering,
        roaming::Context<'a, FrameBody<P>>,
    ) {
        let power_saves = &mut self.power_saves;
        let cx = roaming::Context { now, wlan, power_saves };
        (&mut self.roaming, &mut self.steering, cx)
    }

    /// Multicast, and what it acts on.
    fn multicasts<'a>(
        &'a mut self,
        now: Instant,
        wlan: &'a mut PlanWlan<P>,
    ) -> (&'a mut Multicasts, multicast::Context<'a, FrameBody<P>>) {
        let power_saves = &mut self.power_saves;
        let cx = multicast::Context { now, wlan, power_saves };
        (&mut self.multicasts, cx)
    }

    /// Broadcast traffic, and what it acts on.
    fn broadcasts<'a>(
        &'a mut self,
        now: Instant,
        wlan: &'a mut PlanWlan<P>,
    ) -> (&'a mut Broadcasts, broadcast::Context<'a, FrameBody<P>, P>) {
        let cx = broadcast::Context {
            now,
            wlan,
            power_saves: &self.power_saves,
            meshes: &self.meshes,
            relays: &mut self.relays,
        };
        (&mut self.broadcasts, cx)
    }
}
