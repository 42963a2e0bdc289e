//! Changes at run time: their effect on the network.

use super::Network;
use super::change_schedule::AppliedChange;
use crate::hop::HopConfig;
use crate::layout::Attachment;
use crate::output::{Output, Payload};
use crate::wires::backhaul::HopId;
use netburn_medium::packet::NodeId;
use netburn_scenario::plan::{ApSetting, LinkSetting, RadioSetting, Setting, StationSetting};
use netburn_units::{BitRate, Duration, Instant, Probability};

impl<P: Payload> Network<P> {
    /// Applies the changes that are due.
    pub(super) fn change(&mut self, now: Instant) {
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
        self.changes.applied.push_back(AppliedChange {
            at: now,
            settings: vec![setting.clone()],
        });
    }

    fn apply(&mut self, now: Instant, setting: &Setting) {
        match setting {
            Setting::Link(setting) => {
                for hop in [HopId::LinkDown, HopId::LinkUp] {
                    self.backhaul.set_hop(now, hop, |config| match setting {
                        LinkSetting::Rate(rate) => config.rate = Some(*rate),
                        LinkSetting::Delay(delay) => config.delay = *delay,
                        LinkSetting::Loss(loss) => config.loss = *loss,
                        LinkSetting::Queue(size) => config.queue = *size,
                    });
                }
                if self.plans_sent {
                    self.outputs.push_back(Output::SentTimesChanged { at: now });
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
                if let Some(radio) = self.wlan.radios.iter().position(|radio| radio.name == *name) {
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

    fn set_ap(&mut self, now: Instant, ap: usize, setting: ApSetting) {
        let index = ap as u16;
        let both = [HopId::WanDown(index), HopId::WanUp(index)];
        match setting {
            ApSetting::Queue(kind) => {
                for radio in 0..self.wlan.radios.len() {
                    if self.wlan.radios[radio].ap == ap {
                        self.wlan.set_queue(now, NodeId(radio as u16), kind);
                    }
                }
            }
            ApSetting::Forwarding(forwarding) => self.backhaul.set_hop(now, HopId::Forwarding(index), |config| {
                // A queue that followed the old rate follows the new one.
                if config.queue == HopConfig::default_queue(config.rate) {
                    config.queue = HopConfig::default_queue(Some(forwarding));
                }
                config.rate = Some(forwarding);
            }),
            ApSetting::WanDown(down) => self.set_wan_rate(now, both[0], down),
            ApSetting::WanUp(up) => self.set_wan_rate(now, both[1], up),
            ApSetting::WanDelay(delay) => both.into_iter().for_each(|hop| self.set_delay(now, hop, delay)),
            ApSetting::WanLoss(loss) => both.into_iter().for_each(|hop| self.set_loss(now, hop, loss)),
        }
    }

    fn set_wan_rate(&mut self, now: Instant, hop: HopId, rate: BitRate) {
        self.backhaul.set_hop(now, hop, |config| config.rate = Some(rate));
        self.backhaul.set_link_rate(hop, rate);
    }

    fn set_delay(&mut self, now: Instant, hop: HopId, delay: Duration) {
        self.backhaul.set_hop(now, hop, |config| config.delay = delay);
    }

    fn set_loss(&mut self, now: Instant, hop: HopId, loss: Probability) {
        self.backhaul.set_hop(now, hop, |config| config.loss = loss);
    }

    fn set_radio(&mut self, now: Instant, radio: usize, setting: RadioSetting) {
        match setting {
            RadioSetting::ChannelBusy(share) => self.wlan.set_channel_busy(now, radio, share),
            RadioSetting::Power(power) => {
                self.wlan.radios[radio].config.power = power;
                self.features
                    .set_power(now, &mut self.wlan, NodeId(radio as u16), power);
            }
        }
    }

    fn set_station(&mut self, now: Instant, station: usize, setting: StationSetting) {
        let (wlan, roaming) = (&mut self.wlan, &mut self.features.roaming);
        let node = wlan.stations[station].node;
        match setting {
            StationSetting::Position(position) => roaming.place_station(now, wlan, station, position),
            StationSetting::Quality(quality) => roaming.set_quality(now, wlan, station, quality),
            StationSetting::SignalUp(signal) => wlan.set_signal_up(now, station, signal),
            StationSetting::RateControl(control) => wlan.set_rate_control(station, control),
            StationSetting::AdapterRate(limit) => wlan.air.set_limit(node, limit),
            StationSetting::Queue(kind) => wlan.set_queue(now, node, kind),
            StationSetting::Weight(weight) => wlan.set_weight(station, u32::from(weight)),
            StationSetting::LinkRate(_)
            | StationSetting::LinkDown(_)
            | StationSetting::LinkUp(_)
            | StationSetting::LinkDelay(_)
            | StationSetting::LinkLoss(_) => {}
        }
    }
}
