//! Broadcast traffic on the air.
//!
//! A packet reaches all access points with a wire at once. Each access point sends it once on each radio
//! of the network, as a group-addressed frame. It also sends it once into its mesh, and once to each
//! access point below it, over a 4-address link with acknowledgement. While a station of a radio dozes,
//! the frames of this radio wait for its DTIM beacon (802.11-2020 clause 11.2.3.6).

use super::{BroadcastFrame, Broadcasts};
use crate::group;
use crate::layout::MESH_CONTROL;
use crate::mesh::Meshes;
use crate::output::Payload;
use crate::power_save::PowerSaves;
use crate::relay::{Relayed, Relays};
use crate::wlan::Wlan;
use netburn_medium::aggregation::Framing;
use netburn_medium::edca::AccessCategory;
use netburn_medium::packet::{Ecn, NodeId, Packet};
use netburn_medium::phy::Modulation;
use netburn_medium::queue::StationState;
use netburn_scenario::plan::BROADCAST_BYTES;
use netburn_units::Instant;

/// Group-addressed data in a mesh: QoS control and mesh control, three addresses.
const IN_MESH: Framing = Framing {
    header: Framing::CCMP.header + MESH_CONTROL,
    ..Framing::CCMP
};

/// An instant, the WLAN, and the other features that carry a broadcast packet or delay it.
#[derive(Debug)]
pub(crate) struct Context<'a, B, P> {
    pub(crate) now: Instant,
    pub(crate) wlan: &'a mut Wlan<B>,
    pub(crate) power_saves: &'a PowerSaves<B>,
    pub(crate) meshes: &'a Meshes<B>,
    pub(crate) relays: &'a mut Relays<P>,
}

impl Broadcasts {
    /// Processes the arrivals and the DTIM beacons that are due.
    pub(crate) fn handle_timeout<B: Payload + From<BroadcastFrame>, P>(&mut self, cx: &mut Context<'_, B, P>) {
        while let Some(packet) = self.poll_arrival(cx.now) {
            for ap in 0..cx.relays.access_points() {
                if cx.relays.root(ap) == ap && self.reach(packet, ap) {
                    self.forward(cx, ap, packet);
                }
            }
        }
        while let Some((source, place, packets)) = self.poll_dtim(cx.now, |radio| cx.wlan.air.is_away(radio)) {
            for packet in packets {
                self.send_to_stations(cx.now, cx.wlan, (source, place), packet, true);
            }
        }
    }

    /// Sends a packet of an access point to its stations and to its neighbours.
    pub(crate) fn forward<B: Payload + From<BroadcastFrame>, P>(
        &mut self,
        cx: &mut Context<'_, B, P>,
        ap: usize,
        packet: u32,
    ) {
        let Some(source) = self.packets.get(&packet).map(|packet| packet.source) else {
            return;
        };
        for place in 0..self.sources[source].radios.len() {
            let bss = &self.sources[source].radios[place];
            if bss.ap != ap {
                continue;
            }
            let radio = bss.radio;
            if self.is_holding(source, place) || group::has_dozing_station(cx.wlan, radio) {
                self.hold(cx.now, source, place, cx.power_saves.beacons(radio), packet);
            } else {
                self.send_to_stations(cx.now, cx.wlan, (source, place), packet, false);
            }
        }
        if let Some((mesh, from)) = cx.meshes.radio_of(ap) {
            let frame = data(
                packet,
                BroadcastFrame::Mesh {
                    packet,
                    mesh: mesh as u16,
                },
            );
            let category = AccessCategory::BestEffort;
            cx.wlan.air.send_group(cx.now, from, category, &IN_MESH, None, frame);
        }
        for link in cx.relays.links.iter().filter(|link| link.parent_ap == ap) {
            let frame = data(packet, BroadcastFrame::Link { packet });
            cx.wlan.air.handle_packet(cx.now, link.parent, link.own, frame);
        }
    }

    fn send_to_stations<B: Payload + From<BroadcastFrame>>(
        &mut self,
        now: Instant,
        wlan: &mut Wlan<B>,
        (source, place): (usize, usize),
        packet: u32,
        dtim: bool,
    ) {
        let at = &mut self.sources[source];
        at.stats.frames += 1;
        let category = group::category(dtim);
        let frame = data(packet, BroadcastFrame::Bss { packet, dtim });
        let radio = at.radios[place].radio;
        let rate = wlan.radios[radio.index()]
            .config
            .multicast_rate
            .and_then(Modulation::legacy);
        wlan.air.send_group(now, radio, category, &Framing::GROUP, rate, frame);
    }

    /// Processes a frame that an access point received over a link, or the end of a group-addressed frame. `heard`:
    /// nodes that can receive it.
    pub(crate) fn handle_frame<B: Payload, P>(
        &mut self,
        cx: &mut Context<'_, B, P>,
        from: NodeId,
        frame: BroadcastFrame,
        heard: &[NodeId],
    ) {
        match frame {
            BroadcastFrame::Bss { packet, dtim } => self.count_receptions(cx, from, (packet, dtim), heard),
            BroadcastFrame::Mesh { packet, mesh } => {
                let on = heard.iter().filter(|node| !cx.wlan.air.is_away(**node));
                // A member without a peering rejects the frame.
                for ap in on.filter_map(|node| cx.meshes.accepts(usize::from(mesh), from, *node)) {
                    self.receive(cx.now, cx.relays, ap, packet);
                }
            }
            BroadcastFrame::Link { packet } => {
                for node in heard {
                    self.receive(cx.now, cx.relays, cx.wlan.radios[node.index()].ap, packet);
                }
            }
        }
    }

    /// Processes a packet that an access point received from another one.
    fn receive<P>(&mut self, now: Instant, relays: &mut Relays<P>, ap: usize, packet: u32) {
        if self.reach(packet, ap) {
            relays.hold(now, ap, Relayed::Broadcast(packet));
        }
    }

    /// Counts the stations of a radio that received a packet.
    fn count_receptions<B: Payload, P>(
        &mut self,
        cx: &Context<'_, B, P>,
        radio: NodeId,
        (packet, dtim): (u32, bool),
        heard: &[NodeId],
    ) {
        let Some(packet) = self.packets.get(&packet) else {
            return;
        };
        let delay = cx.now.since(packet.began);
        let stats = &mut self.sources[packet.source].stats;
        let stations = cx.wlan.stations.iter().enumerate();
        for (index, at) in stations.filter(|(_, at)| at.radio == radio) {
            if cx.wlan.air.station_state(radio, at.node) == StationState::Gone {
                continue;
            }
            let is_on = !cx.wlan.air.is_away(at.node) || dtim && cx.power_saves.is_dozing(index);
            if is_on && heard.contains(&at.node) {
                stats.received += 1;
                stats.delay += delay;
                stats.longest_delay = stats.longest_delay.max(delay);
            } else {
                stats.lost += 1;
            }
        }
    }
}

/// Frame of data for a broadcast packet.
fn data<B: From<BroadcastFrame>>(packet: u32, frame: BroadcastFrame) -> Packet<B> {
    Packet {
        length: BROADCAST_BYTES,
        flow: packet,
        tid: 0,
        ecn: Ecn::NotEct,
        payload: frame.into(),
    }
}
