//! Changes at run time: their effect on the network.

use crate::backhaul::HopId;
use crate::change_schedule::AppliedChange;
use crate::hop::HopConfig;
use crate::layout::{self, Attachment};
use crate::machine::Network;
use netburn_medium::config::LinkQuality;
use netburn_medium::packet::NodeId;
use netburn_medium::queue::QueueKind;
use netburn_scenario::plan::{ApSetting, LinkSetting, RadioSetting, Setting, StationSetting};
use netburn_units::{BitRate, Duration, Instant, Probability};

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Applies the changes that are due.
    pub(crate) fn change(&mut self, now: Instant) {
        while self.changes.next().is_some_and(|at| at <= now) {
            let changed = self.changes.due[self.changes.done].clone();
            self.changes.done += 1;
            for setting in &changed.settings {
                self.apply(now, setting);
            }
            self.changes.applied.push_back(changed);
        }
    }

    /// Next change that took effect: from the plan, or by [`set`](Self::set).
    pub fn poll_change(&mut self) -> Option<AppliedChange> {
        self.changes.applied.pop_front()
    }

    /// Changes one setting now. A setting that is not in the plan is ignored.
    pub fn set(&mut self, now: Instant, setting: &Setting) {
        self.handle_timeout(now);
        self.apply(now, setting);
        self.invalidate_timeout();
        self.changes.applied.push_back(AppliedChange {
            at: now,
            settings: vec![setting.clone()],
        });
    }

    fn apply(&mut self, now: Instant, setting: &Setting) {
        match setting {
            Setting::Link(setting) => {
                for hop in [HopId::LinkDown, HopId::LinkUp] {
                    self.set_hop(hop, |config| match setting {
                        LinkSetting::Rate(rate) => config.rate = Some(*rate),
                        LinkSetting::Delay(delay) => config.delay = *delay,
                        LinkSetting::Loss(loss) => config.loss = *loss,
                        LinkSetting::Queue(size) => config.queue = *size,
                    });
                }
            }
            Setting::Router(setting) => {
                if let Some(router) = self.wiring.router() {
                    self.set_ap(now, router, *setting);
                }
            }
            Setting::Ap(name, setting) => {
                if let Some(ap) = self.changes.aps.iter().position(|ap| ap == name) {
                    self.set_ap(now, ap, *setting);
                }
            }
            Setting::Radio(name, setting) => {
                if let Some(radio) = self.radios.iter().position(|radio| radio.name == *name) {
                    self.set_radio(now, radio, *setting);
                }
            }
            Setting::Station(name, setting) => {
                if let Some(station) = self.changes.stations.iter().position(|station| station == name) {
                    match self.attachments[station] {
                        Attachment::Air(wifi_station) => self.set_station(now, wifi_station, *setting),
                        Attachment::Wire(host) => self.wired.set(now, host, *setting),
                    }
                }
            }
        }
        self.drain_air();
        self.drain_wires(now);
        self.cached_timeout = None;
    }

    fn set_hop(&mut self, hop: HopId, change: impl FnOnce(&mut HopConfig)) {
        let hop = self.backhaul.hop(hop);
        let mut config = hop.config();
        change(&mut config);
        hop.set_config(config);
    }

    fn set_ap(&mut self, now: Instant, ap: usize, setting: ApSetting) {
        let index = ap as u16;
        let both = [HopId::WanDown(index), HopId::WanUp(index)];
        match setting {
            ApSetting::Queue(kind) => {
                for radio in (0..self.radios.len())
                    .filter(|radio| self.radios[*radio].ap == ap)
                    .collect::<Vec<_>>()
                {
                    self.set_queue(now, radio, kind);
                }
            }
            ApSetting::Forwarding(forwarding) => self.set_hop(HopId::Forwarding(index), |config| {
                // A queue that followed the old rate follows the new one.
                if config.queue == HopConfig::default_queue(config.rate) {
                    config.queue = HopConfig::default_queue(Some(forwarding));
                }
                config.rate = Some(forwarding);
            }),
            ApSetting::WanDown(down) => self.set_wan_rate(both[0], down),
            ApSetting::WanUp(up) => self.set_wan_rate(both[1], up),
            ApSetting::WanDelay(delay) => both.into_iter().for_each(|hop| self.set_delay(hop, delay)),
            ApSetting::WanLoss(loss) => both.into_iter().for_each(|hop| self.set_loss(hop, loss)),
        }
    }

    fn set_wan_rate(&mut self, hop: HopId, rate: BitRate) {
        self.set_hop(hop, |config| config.rate = Some(rate));
        self.backhaul.set_link_rate(hop, rate);
    }

    fn set_delay(&mut self, hop: HopId, delay: Duration) {
        self.set_hop(hop, |config| config.delay = delay);
    }

    fn set_loss(&mut self, hop: HopId, loss: Probability) {
        self.set_hop(hop, |config| config.loss = loss);
    }

    fn set_queue(&mut self, now: Instant, node: usize, kind: QueueKind) {
        let config = &mut self.queues[node];
        // A queue that is replaced drops its packets.
        if config.kind == kind {
            return;
        }
        // A limit that was the discipline's default becomes the new discipline's default; an
        // explicit limit stays.
        if config.limit == config.kind.default_limit() {
            config.limit = kind.default_limit();
        }
        config.kind = kind;
        if let Some(queue) = config.build() {
            self.air.set_queue(now, NodeId(node as u16), queue);
        }
    }

    fn set_radio(&mut self, now: Instant, radio: usize, setting: RadioSetting) {
        match setting {
            RadioSetting::ChannelBusy(share) => {
                self.radios[radio].config.channel_busy = share;
                let channel = self.channel_of[radio];
                let here = self
                    .radios
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| self.channel_of[*index] == channel);
                let busy = here
                    .map(|(_, radio)| radio.config.channel_busy.as_f64())
                    .fold(0.0, f64::max);
                self.air.set_busy(now, channel, busy);
            }
            RadioSetting::Power(power) => {
                self.radios[radio].config.power = power;
                self.roaming.forget_signals();
                for station in 0..self.wifi_stations.len() {
                    if self.wifi_stations[station].radio.index() == radio {
                        self.wifi_stations[station].link.set_power(power);
                        match self.roaming.places[station] {
                            Some(position) => self.place_station(now, station, position),
                            None => self.set_signal(now, station),
                        }
                    }
                }
                for (from, to, snr) in self.meshes.set_powers(NodeId(radio as u16), &self.radios) {
                    self.air.set_snr(from, to, snr);
                }
                self.meshes.schedule_peers(now);
                for link in &mut self.relays.links {
                    let (own, parent) = (link.own, link.parent);
                    if [own, parent].iter().any(|node| node.index() == radio) {
                        link.set_powers(&self.radios[parent.index()].config, &self.radios[own.index()].config);
                        let (down, up) = link.snrs();
                        self.air.set_snr(parent, own, down);
                        self.air.set_snr(own, parent, up);
                    }
                }
            }
        }
    }

    pub(crate) fn set_station(&mut self, now: Instant, station: usize, setting: StationSetting) {
        let wifi_station = &mut self.wifi_stations[station];
        match setting {
            StationSetting::Position(position) => self.place_station(now, station, position),
            StationSetting::Quality(quality) => {
                self.roaming.fix_quality(station, quality);
                let was_mcs = matches!(wifi_station.quality, LinkQuality::Mcs(_));
                let is_new = wifi_station.quality != quality;
                wifi_station.quality = quality;
                // A rate control that is replaced loses its statistics.
                if is_new && (was_mcs || matches!(quality, LinkQuality::Mcs(_))) {
                    self.set_rate(station);
                }
                self.set_signal(now, station);
            }
            StationSetting::SignalUp(signal) => {
                wifi_station.signal_up = Some(signal);
                self.set_signal(now, station);
            }
            StationSetting::RateControl(control) => {
                if wifi_station.control != control {
                    wifi_station.control = control;
                    self.set_rate(station);
                }
            }
            StationSetting::AdapterRate(limit) => {
                let node = wifi_station.node;
                self.air.set_limit(node, limit);
            }
            StationSetting::Queue(kind) => {
                let node = wifi_station.node.index();
                self.set_queue(now, node, kind);
            }
            StationSetting::LinkRate(_)
            | StationSetting::LinkDown(_)
            | StationSetting::LinkUp(_)
            | StationSetting::LinkDelay(_)
            | StationSetting::LinkLoss(_) => {}
            StationSetting::Weight(weight) => {
                let (radio, node, weight) = (wifi_station.radio, wifi_station.node, u32::from(weight));
                let weights = &mut self.queues[radio.index()].weights;
                weights.retain(|(known, _)| *known != node);
                weights.push((node, weight));
                self.air.set_weight(radio, node, weight);
            }
        }
    }

    /// Updates which stations of a radio are slow, if the queue depends on it.
    pub(crate) fn set_slow(&mut self, radio: usize) {
        if !self.radios[radio].slow_stations {
            return;
        }
        let slow = layout::slow_stations(radio, &self.wifi_stations);
        for wifi_station in self
            .wifi_stations
            .iter()
            .filter(|wifi_station| wifi_station.radio.index() == radio)
        {
            let codel = self.queues[radio].codel(slow.contains(&wifi_station.node));
            self.air.set_codel(wifi_station.radio, wifi_station.node, codel);
        }
        self.queues[radio].slow = slow;
    }

    /// Updates the signals of the station's links. A station that could not join does so if the signal now suffices.
    fn set_signal(&mut self, now: Instant, station: usize) {
        let wifi_station = &self.wifi_stations[station];
        let down = wifi_station.link.snr_down(&wifi_station.quality);
        let up = wifi_station.link.snr_up(&wifi_station.quality, wifi_station.signal_up);
        self.air.set_snr(wifi_station.radio, wifi_station.node, down);
        self.air.set_snr(wifi_station.node, wifi_station.radio, up);
        let (radio, node) = (wifi_station.radio, wifi_station.node);
        if wifi_station.is_out_of_range
            && wifi_station
                .link
                .too_weak(&wifi_station.quality, wifi_station.signal_up)
                .is_none()
        {
            self.wifi_stations[station].is_out_of_range = false;
            self.air.set_away(now, node, false);
            self.air.associate(now, radio, node);
            self.air.associate(now, node, radio);
        }
        self.set_slow(self.wifi_stations[station].radio.index());
    }

    /// Updates the rate control of the station's links.
    fn set_rate(&mut self, station: usize) {
        let wifi_station = &self.wifi_stations[station];
        let link = &wifi_station.link;
        let down = link.sending(
            &wifi_station.quality,
            wifi_station.control,
            link.snr_down(&wifi_station.quality),
        );
        let up = link.sending(
            &wifi_station.quality,
            wifi_station.control,
            link.snr_up(&wifi_station.quality, wifi_station.signal_up),
        );
        let directions = [
            (wifi_station.radio, wifi_station.node, down),
            (wifi_station.node, wifi_station.radio, up),
        ];
        for (from, to, (vector, rate)) in directions {
            // A link that doesn't have this MCS is left unchanged.
            let _ = self.air.set_rate(from, to, vector, rate);
        }
    }
}
