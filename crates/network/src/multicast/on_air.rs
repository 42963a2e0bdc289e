//! Multicast on the air.
//!
//! An access point sends each packet once on each of its radios, as a group-addressed frame without acknowledgement, or as
//! one unicast copy for each receiver. Group-addressed frames pass the transmit queue, so they precede the packets in it.
//! At most [`BUFFER`] of a radio are in its hardware.

use super::{MulticastFrame, Multicasts, Stream};
use crate::group::{self, BUFFER};
use crate::output::Payload;
use crate::power_save::{PowerSaveFrame, PowerSaves};
use crate::wlan::Wlan;
use netburn_medium::aggregation::Framing;
use netburn_medium::config::Standard;
use netburn_medium::packet::{Ecn, NodeId, Packet};
use netburn_medium::phy::Modulation;
use netburn_medium::queue::StationState;
use netburn_scenario::plan::ToUnicast;
use netburn_units::{Duration, Instant};

/// An instant, the WLAN, and the stations that doze.
#[derive(Debug)]
pub(crate) struct Context<'a, B> {
    pub(crate) now: Instant,
    pub(crate) wlan: &'a mut Wlan<B>,
    pub(crate) power_saves: &'a mut PowerSaves<B>,
}

impl Multicasts {
    /// Processes the arrivals and the DTIM beacons that are due.
    pub(crate) fn handle_timeout<B>(&mut self, cx: &mut Context<'_, B>)
    where
        B: Payload + From<MulticastFrame>,
    {
        while let Some((stream, packet)) = self.poll_arrival(cx.now) {
            for place in 0..self.streams[stream].radios.len() {
                self.send(cx, (stream, place), packet);
            }
        }
        while let Some((stream, place, packets)) = self.poll_dtim(cx.now, |radio| cx.wlan.air.is_away(radio)) {
            for packet in packets {
                self.send_group(cx, (stream, place), packet, true);
            }
        }
        self.schedule();
    }

    /// Sends a packet on a radio, if a station there receives it.
    fn send<B>(&mut self, cx: &mut Context<'_, B>, (stream, place): (usize, usize), packet: u32)
    where
        B: Payload + From<MulticastFrame>,
    {
        let at = &mut self.streams[stream];
        let radio = at.radios[place].radio;
        let (all, members) = at.receivers(cx.wlan, radio);
        // mac80211 sends nothing to a radio without stations (`num_mcast_sta`).
        if all.is_empty() || (at.snooping && members.is_empty()) {
            return;
        }
        let copies = match at.to_unicast {
            ToUnicast::Off => {
                let buffer = &mut at.radios[place].buffer;
                if buffer.is_holding() || group::has_dozing_station(cx.wlan, radio) {
                    let dropped = buffer.hold(cx.now, cx.power_saves.beacons(radio), packet);
                    at.stats.buffered += 1;
                    if dropped.is_some() {
                        at.drop(cx.wlan, radio);
                    }
                } else {
                    self.send_group(cx, (stream, place), packet, false);
                }
                return;
            }
            ToUnicast::Members => members,
            ToUnicast::Stations => all,
        };
        for node in copies {
            at.stats.copies += 1;
            cx.power_saves.count_waiting(node);
            let frame = MulticastFrame::Copy {
                packet,
                stream: stream as u16,
            };
            cx.wlan.air.handle_packet(cx.now, radio, node, at.data(at.tid, frame));
        }
    }

    fn send_group<B>(&mut self, cx: &mut Context<'_, B>, (stream, place): (usize, usize), packet: u32, dtim: bool)
    where
        B: Payload + From<MulticastFrame>,
    {
        let at = &mut self.streams[stream];
        let bss = &mut at.radios[place];
        let (radio, modulation) = (bss.radio, bss.modulation);
        if bss.sending >= BUFFER {
            at.drop(cx.wlan, radio);
            return;
        }
        bss.sending += 1;
        at.stats.frames += 1;
        let frame = MulticastFrame::Group {
            packet,
            stream: stream as u16,
            dtim,
        };
        let (category, data) = (group::category(dtim), at.data(0, frame));
        let air = &mut cx.wlan.air;
        air.send_group(cx.now, radio, category, &Framing::GROUP, Some(modulation), data);
    }

    /// Processes the end of a group-addressed frame. `heard`: nodes that can receive it.
    pub(crate) fn handle_group_frame<B>(
        &mut self,
        cx: &Context<'_, B>,
        radio: NodeId,
        frame: MulticastFrame,
        heard: &[NodeId],
    ) where
        B: Payload,
    {
        let MulticastFrame::Group { packet, stream, dtim } = frame else {
            return;
        };
        let at = &mut self.streams[usize::from(stream)];
        let delay = cx.now.since(at.time_of(packet));
        let Some(bss) = at.radios.iter_mut().find(|bss| bss.radio == radio) else {
            return;
        };
        bss.sending = bss.sending.saturating_sub(1);
        let is_ofdm = matches!(bss.modulation, Modulation::Ofdm(_));
        for (member, stats) in at.members.iter().zip(&mut at.stats.members) {
            let station = &cx.wlan.stations[*member];
            if !is_associated(cx.wlan, radio, *member) {
                continue;
            }
            let is_on = !cx.wlan.air.is_away(station.node) || dtim && cx.power_saves.is_dozing(*member);
            let decodes = !(is_ofdm && station.link.standard == Standard::B);
            let arrived = is_on && decodes && heard.contains(&station.node);
            stats.count(arrived.then_some(delay));
        }
    }

    /// Processes the end of a unicast copy.
    pub(crate) fn handle_copy<B>(&mut self, cx: &mut Context<'_, B>, to: NodeId, frame: MulticastFrame, arrived: bool)
    where
        B: Payload + From<PowerSaveFrame>,
    {
        let MulticastFrame::Copy { packet, stream } = frame else {
            return;
        };
        cx.power_saves.downlink_ended(cx.now, cx.wlan, to, arrived);
        let at = &mut self.streams[usize::from(stream)];
        let delay: Duration = cx.now.since(at.time_of(packet));
        let mut members = at.members.iter();
        let place = members.position(|member| cx.wlan.stations[*member].node == to);
        if let Some(place) = place {
            at.stats.members[place].count(arrived.then_some(delay));
        }
    }
}

impl Stream {
    /// Nodes of the stations that are associated with a radio, and of the members among them.
    fn receivers<B: Payload>(&self, wlan: &Wlan<B>, radio: NodeId) -> (Vec<NodeId>, Vec<NodeId>) {
        let node = |station: &usize| wlan.stations[*station].node;
        let all = (0..wlan.stations.len()).filter(|station| is_associated(wlan, radio, *station));
        let members = self
            .members
            .iter()
            .filter(|station| is_associated(wlan, radio, **station));
        (all.map(|station| node(&station)).collect(), members.map(node).collect())
    }

    /// Counts a frame that the access point dropped.
    fn drop<B: Payload>(&mut self, wlan: &Wlan<B>, radio: NodeId) {
        self.stats.dropped += 1;
        for (member, stats) in self.members.iter().zip(&mut self.stats.members) {
            if is_associated(wlan, radio, *member) {
                stats.count(None);
            }
        }
    }

    /// A packet of the stream. All of them are one flow.
    fn data<B: From<MulticastFrame>>(&self, tid: u8, frame: MulticastFrame) -> Packet<B> {
        Packet {
            length: self.length,
            flow: u32::MAX - self.ap as u32,
            tid,
            ecn: Ecn::NotEct,
            payload: frame.into(),
        }
    }
}

/// True if a Wi-Fi station is associated with a radio.
fn is_associated<B: Payload>(wlan: &Wlan<B>, radio: NodeId, station: usize) -> bool {
    let at = &wlan.stations[station];
    at.radio == radio && wlan.air.station_state(radio, at.node) != StationState::Gone
}
