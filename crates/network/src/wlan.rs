//! The WLAN of a plan: its radios, its Wi-Fi stations, and the air between them.
//!
//! The features of a plan act on it. They have no access to wires, endpoints and statistics.

use crate::error::NetworkError;
use crate::layout::{self, Control, FOURTH_ADDRESS, Layout, MESH_CONTROL, PlacedRadio, UnitLink, WifiStation};
use crate::output::{DropSite, Payload};
use netburn_medium::air::{Account, Air, NodeConfig};
use netburn_medium::config::{LinkQuality, RateControl};
use netburn_medium::packet::{NodeId, Packet};
use netburn_medium::queue::{Place, QueueConfig, QueueKind};
use netburn_scenario::Plan;
use netburn_units::{Dbm, Instant, Probability};
use std::collections::VecDeque;

/// Radios and Wi-Fi stations. `B`: body of the frames.
#[derive(Debug)]
pub(crate) struct Wlan<B> {
    pub(crate) air: Air<B>,
    pub(crate) radios: Vec<PlacedRadio>,
    pub(crate) stations: Vec<WifiStation>,
    /// Configurations of the transmit queues, by node.
    queues: Vec<QueueConfig>,
    /// Channels of the model, by node.
    pub(crate) channel_of: Vec<usize>,
    /// Stations of the plan, by node after the radios.
    station_of_node: Vec<u16>,
    /// Packets that features have dropped.
    dropped: VecDeque<(Instant, DropSite, Packet<B>)>,
}

impl<B: Payload> Wlan<B> {
    pub(crate) fn new(plan: &Plan, layout: &Layout, begin: Instant) -> Result<Self, NetworkError> {
        let queues = layout.queues.iter();
        let queues = queues.map(|config| config.build().expect("the layout accepts only queues of a radio"));
        let queues = queues.collect();
        let subject = |node: usize| match layout.radios.get(node) {
            Some(radio) => radio.name.to_string(),
            None => {
                let station = usize::from(layout.station_of_node[node - layout.radios.len()]);
                format!("station.{}", plan.stations[station].name)
            }
        };
        let mut air = Air::starting_at(begin, &layout.air, queues).map_err(|reason| {
            let links = |node: &NodeConfig| node.links.iter().any(|link| link.vector.format().is_err());
            NetworkError::Phy {
                subject: layout.air.nodes.iter().position(links).map(subject).unwrap_or_default(),
                reason,
            }
        })?;
        let in_meshes = layout.meshes.iter().flat_map(|mesh| &mesh.links);
        let links = layout.units.iter().map(|link| (link, FOURTH_ADDRESS));
        for (link, bytes) in links.chain(in_meshes.map(|(.., link)| (link, FOURTH_ADDRESS + MESH_CONTROL))) {
            air.set_extra_header(link.own, link.parent, bytes);
            air.set_extra_header(link.parent, link.own, bytes);
        }
        for at in layout.wifi_stations.iter().filter(|at| at.is_out_of_range) {
            air.set_away(begin, at.node, true);
            air.disassociate(begin, at.radio, at.node);
            air.disassociate(begin, at.node, at.radio);
        }
        Ok(Wlan {
            air,
            radios: layout.radios.clone(),
            stations: layout.wifi_stations.clone(),
            queues: layout.queues.clone(),
            channel_of: layout.air.nodes.iter().map(|node| node.channel).collect(),
            station_of_node: layout.station_of_node.clone(),
            dropped: VecDeque::new(),
        })
    }

    /// Station of a node; `None` for a radio of an access point.
    #[inline]
    pub(crate) fn station_of(&self, node: NodeId) -> Option<u16> {
        let index = node.index().checked_sub(self.radios.len())?;
        self.station_of_node.get(index).copied()
    }

    /// Name of a radio, as `home.5g`.
    pub(crate) fn radio_name(&self, radio: NodeId) -> String {
        self.radios[radio.index()].name.to_string()
    }

    /// Sum of the accounts of nodes.
    pub(crate) fn account(&self, nodes: impl Iterator<Item = NodeId>) -> Account {
        nodes.fold(Account::default(), |sum, node| sum + self.air.account(node))
    }

    /// Drops a packet that is not in the air.
    pub(crate) fn drop_packet(&mut self, now: Instant, by: DropSite, packet: Packet<B>) {
        self.dropped.push_back((now, by, packet));
    }

    /// Returns true if the air has an output, or a feature has dropped a packet.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        self.air.has_output() || !self.dropped.is_empty()
    }

    /// Next packet that a feature has dropped.
    #[inline]
    pub(crate) fn poll_dropped(&mut self) -> Option<(Instant, DropSite, Packet<B>)> {
        self.dropped.pop_front()
    }

    pub(crate) fn set_queue(&mut self, now: Instant, node: NodeId, kind: QueueKind) {
        let config = &mut self.queues[node.index()];
        // A queue that is replaced drops its packets.
        if config.kind == kind || !kind.is_on(Place::Radio) {
            return;
        }
        // A limit that was the discipline's default becomes the new discipline's default; an
        // explicit limit stays.
        if config.limit == config.kind.default_limit() {
            config.limit = kind.default_limit();
        }
        config.kind = kind;
        let queue = config.build().expect("a queue of a radio");
        self.air.set_queue(now, node, queue);
    }

    /// Sets the share of time in which other networks occupy the channel of a radio.
    pub(crate) fn set_channel_busy(&mut self, now: Instant, radio: usize, share: Probability) {
        self.radios[radio].config.channel_busy = share;
        let channel = self.channel_of[radio];
        let here = self.radios.iter().zip(&self.channel_of);
        let here = here.filter(|(_, other)| **other == channel);
        let busy = here
            .map(|(radio, _)| radio.config.channel_busy.as_f64())
            .fold(0.0, f64::max);
        self.air.set_busy(now, channel, busy);
    }

    pub(crate) fn set_weight(&mut self, station: usize, weight: u32) {
        let at = &self.stations[station];
        let (radio, node) = (at.radio, at.node);
        let weights = &mut self.queues[radio.index()].weights;
        weights.retain(|(known, _)| *known != node);
        weights.push((node, weight));
        self.air.set_weight(radio, node, weight);
    }

    pub(crate) fn set_quality(&mut self, now: Instant, station: usize, quality: LinkQuality) {
        let at = &mut self.stations[station];
        // A station with a signal and a fixed MCS keeps its signal.
        if let (LinkQuality::Mcs(mcs), Control::Mcs(_)) = (quality, at.control) {
            at.control = Control::Mcs(mcs);
            self.set_rate(station);
            return;
        }
        let was_mcs = matches!(at.quality, LinkQuality::Mcs(_));
        let is_new = at.quality != quality;
        at.quality = quality;
        // A rate control that is replaced loses its statistics.
        if is_new && (was_mcs || matches!(quality, LinkQuality::Mcs(_))) {
            self.set_rate(station);
        }
        self.set_signal(now, station);
    }

    pub(crate) fn set_signal_up(&mut self, now: Instant, station: usize, signal: Dbm) {
        self.stations[station].signal_up = Some(signal);
        self.set_signal(now, station);
    }

    pub(crate) fn set_rate_control(&mut self, station: usize, control: RateControl) {
        let control = match self.stations[station].control {
            Control::Mcs(mcs) if control == RateControl::Fixed => Control::Mcs(mcs),
            _ => Control::By(control),
        };
        if self.stations[station].control != control {
            self.stations[station].control = control;
            self.set_rate(station);
        }
    }

    /// Updates the link of two radios after a change of a power.
    pub(crate) fn update_power(&mut self, link: &mut UnitLink) {
        let [parent, own] = [link.parent, link.own].map(|node| &self.radios[node.index()].config);
        link.set_powers(parent, own);
        let (down, up) = link.snrs();
        self.air.set_snr(link.parent, link.own, down);
        self.air.set_snr(link.own, link.parent, up);
    }

    /// Updates which stations of a radio are slow, if the queue depends on it.
    pub(crate) fn set_slow(&mut self, radio: NodeId) {
        if !self.radios[radio.index()].slow_stations {
            return;
        }
        let slow = layout::slow_stations(radio.index(), &self.stations);
        for at in self.stations.iter().filter(|at| at.radio == radio) {
            let codel = self.queues[radio.index()].codel(slow.contains(&at.node));
            self.air.set_codel(radio, at.node, codel);
        }
        self.queues[radio.index()].slow = slow;
    }

    /// Updates the signals of a station's links. A station that could not join does so if the signal now suffices.
    pub(crate) fn set_signal(&mut self, now: Instant, station: usize) {
        let at = &mut self.stations[station];
        let (radio, node) = (at.radio, at.node);
        let joins = at.is_out_of_range && at.link.too_weak(&at.quality, at.signal_up).is_none();
        self.air.set_snr(radio, node, at.link.snr_down(&at.quality));
        self.air.set_snr(node, radio, at.link.snr_up(&at.quality, at.signal_up));
        if joins {
            self.stations[station].is_out_of_range = false;
            self.air.set_away(now, node, false);
            self.air.associate(now, radio, node);
            self.air.associate(now, node, radio);
        }
        self.set_slow(radio);
    }

    /// Updates the rate control of a station's links.
    fn set_rate(&mut self, station: usize) {
        let at = &self.stations[station];
        for (from, to, snr) in [
            (at.radio, at.node, at.link.snr_down(&at.quality)),
            (at.node, at.radio, at.link.snr_up(&at.quality, at.signal_up)),
        ] {
            let (vector, rate) = at.link.sending(&at.quality, at.control, snr);
            // A link that doesn't have this MCS is left unchanged.
            let _ = self.air.set_rate(from, to, vector, rate);
        }
    }
}
