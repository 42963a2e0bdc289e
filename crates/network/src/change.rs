//! What changes while it runs: a plan's `[[at]]`.

use crate::error::NetworkError;
use crate::hop::HopConfig;
use crate::layout::{self, Layout, Seat};
use crate::machine::Network;
use crate::wires::Wire;
use netburn_medium::config::{Quality, QueueKind};
use netburn_medium::packet::NodeId;
use netburn_scenario::Plan;
use netburn_scenario::plan::{ApSetting, LinkSetting, RadioSetting, Setting, StationSetting};
use netburn_units::{BitRate, Duration, Instant, Probability};
use std::collections::VecDeque;

/// Settings that have got other values.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// When.
    pub at: Instant,
    /// Which, with their values.
    pub settings: Vec<Setting>,
}

/// What is still to change, in order.
#[derive(Debug)]
pub(crate) struct Changes {
    due: Vec<Changed>,
    done: usize,
    /// What took effect and hasn't been told.
    told: VecDeque<Changed>,
    aps: Vec<String>,
    stations: Vec<String>,
}

impl Changes {
    pub(crate) fn of(plan: &Plan, layout: &Layout) -> Result<Self, NetworkError> {
        let changes = Changes {
            due: plan
                .changes
                .iter()
                .map(|change| Changed {
                    at: Instant::ZERO + change.time,
                    settings: change.settings.clone(),
                })
                .collect(),
            done: 0,
            told: VecDeque::new(),
            aps: plan.aps.iter().map(|ap| ap.name.clone()).collect(),
            stations: plan.stations.iter().map(|station| station.name.clone()).collect(),
        };
        for setting in changes.due.iter().flat_map(|changed| &changed.settings) {
            let there = match setting {
                Setting::Link(_) => true,
                Setting::Ap(name, _) => changes.aps.contains(name),
                Setting::Radio(name, _) => layout.radios.iter().any(|radio| radio.name == *name),
                Setting::Station(name, _) => changes.stations.contains(name),
            };
            if !there {
                let what = match setting {
                    Setting::Link(_) => "server.link".to_owned(),
                    Setting::Ap(name, _) => format!("ap.{name}"),
                    Setting::Radio(name, _) => format!("ap.{}.radio.{}", name.ap, name.radio),
                    Setting::Station(name, _) => format!("station.{name}"),
                };
                return Err(NetworkError::NoSuchSetting { what });
            }
            if let Setting::Station(name, StationSetting::Quality(Quality::Mcs(mcs))) = setting
                && let Some(station) = changes.stations.iter().position(|station| station == name)
            {
                let Seat::Air(place) = layout.seats[station] else {
                    continue;
                };
                let link = &layout.places[place].link;
                link.check_mcs(*mcs).map_err(|why| NetworkError::Phy {
                    whose: format!("[[at]] station.{name}.mcs with {}", link.standard.name()),
                    why,
                })?;
            }
        }
        Ok(changes)
    }

    /// When the next change is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.due.get(self.done).map(|changed| changed.at)
    }
}

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Makes the changes that are due.
    pub(crate) fn change(&mut self, now: Instant) {
        while self.changes.next().is_some_and(|at| at <= now) {
            let changed = self.changes.due[self.changes.done].clone();
            self.changes.done += 1;
            for setting in &changed.settings {
                self.apply(now, setting);
            }
            self.changes.told.push_back(changed);
        }
    }

    /// The next change that took effect, the plan's or one by hand.
    pub fn poll_change(&mut self) -> Option<Changed> {
        self.changes.told.pop_front()
    }

    /// One setting gets another value, now. What isn't in the plan is left alone.
    pub fn set(&mut self, now: Instant, setting: &Setting) {
        self.handle_timeout(now);
        self.apply(now, setting);
        self.forget_due();
        self.changes.told.push_back(Changed {
            at: now,
            settings: vec![setting.clone()],
        });
    }

    fn apply(&mut self, now: Instant, setting: &Setting) {
        match setting {
            Setting::Link(setting) => {
                for wire in [Wire::LinkDown, Wire::LinkUp] {
                    self.set_hop(wire, |config| match setting {
                        LinkSetting::Rate(rate) => config.rate = Some(*rate),
                        LinkSetting::Delay(delay) => config.delay = *delay,
                        LinkSetting::Loss(loss) => config.loss = *loss,
                        LinkSetting::Queue(size) => config.queue = *size,
                    });
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
                    match self.seats[station] {
                        Seat::Air(place) => self.set_station(now, place, *setting),
                        Seat::Wire(host) => self.wired.set(now, host, *setting),
                    }
                }
            }
        }
        self.drain_air();
        self.drain_wires(now);
        self.due = None;
    }

    fn set_hop(&mut self, wire: Wire, change: impl FnOnce(&mut HopConfig)) {
        let hop = self.wires.hop(wire);
        let mut config = hop.config();
        change(&mut config);
        hop.set_config(config);
    }

    fn set_ap(&mut self, now: Instant, ap: usize, setting: ApSetting) {
        let index = ap as u16;
        let both = [Wire::WanDown(index), Wire::WanUp(index)];
        let rate = |rate: BitRate| move |config: &mut HopConfig| config.rate = Some(rate);
        match setting {
            ApSetting::Queue(kind) => {
                for radio in (0..self.radios.len())
                    .filter(|radio| self.radios[*radio].ap == ap)
                    .collect::<Vec<_>>()
                {
                    self.set_queue(now, radio, kind);
                }
            }
            ApSetting::Forwarding(forwarding) => self.set_hop(Wire::Forwarding(index), |config| {
                // A queue that followed the rate goes on doing so.
                if config.queue == HopConfig::usual_queue(config.rate) {
                    config.queue = HopConfig::usual_queue(Some(forwarding));
                }
                config.rate = Some(forwarding);
            }),
            ApSetting::WanDown(down) => self.set_hop(both[0], rate(down)),
            ApSetting::WanUp(up) => self.set_hop(both[1], rate(up)),
            ApSetting::WanDelay(delay) => both.into_iter().for_each(|wire| self.set_delay(wire, delay)),
            ApSetting::WanLoss(loss) => both.into_iter().for_each(|wire| self.set_loss(wire, loss)),
        }
    }

    fn set_delay(&mut self, wire: Wire, delay: Duration) {
        self.set_hop(wire, |config| config.delay = delay);
    }

    fn set_loss(&mut self, wire: Wire, loss: Probability) {
        self.set_hop(wire, |config| config.loss = loss);
    }

    fn set_queue(&mut self, now: Instant, node: usize, kind: QueueKind) {
        let config = &mut self.queues[node];
        // A limit that was the discipline's usual one goes on being that; one that was chosen stays.
        if config.limit == config.kind.default_limit() {
            config.limit = kind.default_limit();
        }
        config.kind = kind;
        let queue = config.build();
        self.air.set_queue(now, NodeId(node as u16), queue);
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
                for station in 0..self.places.len() {
                    if self.places[station].radio.index() == radio {
                        self.places[station].link.set_power(power);
                        self.set_signal(station);
                    }
                }
            }
        }
    }

    fn set_station(&mut self, now: Instant, station: usize, setting: StationSetting) {
        let place = &mut self.places[station];
        match setting {
            StationSetting::Quality(quality) => {
                let was_mcs = matches!(place.quality, Quality::Mcs(_));
                place.quality = quality;
                if was_mcs || matches!(quality, Quality::Mcs(_)) {
                    self.set_rate(station);
                }
                self.set_signal(station);
            }
            StationSetting::SignalUp(signal) => {
                place.signal_up = Some(signal);
                self.set_signal(station);
            }
            StationSetting::RateControl(control) => {
                place.control = control;
                self.set_rate(station);
            }
            StationSetting::AdapterRate(limit) => {
                let node = place.node;
                self.air.set_limit(node, limit);
            }
            StationSetting::Queue(kind) => {
                let node = place.node.index();
                self.set_queue(now, node, kind);
            }
            StationSetting::LinkRate(_)
            | StationSetting::LinkDown(_)
            | StationSetting::LinkUp(_)
            | StationSetting::LinkDelay(_)
            | StationSetting::LinkLoss(_) => {}
            StationSetting::Weight(weight) => {
                let (radio, node, weight) = (place.radio, place.node, u32::from(weight));
                let weights = &mut self.queues[radio.index()].weights;
                weights.retain(|(known, _)| *known != node);
                weights.push((node, weight));
                self.air.set_weight(radio, node, weight);
            }
        }
    }

    /// Which stations of a radio are slow now, where that matters.
    fn set_slow(&mut self, radio: usize) {
        if !self.radios[radio].slow_stations {
            return;
        }
        let slow = layout::slow_stations(radio, &self.places);
        for place in self.places.iter().filter(|place| place.radio.index() == radio) {
            let codel = self.queues[radio].codel(slow.contains(&place.node));
            self.air.set_codel(place.radio, place.node, codel);
        }
        self.queues[radio].slow = slow;
    }

    /// The links' signals as they are now.
    fn set_signal(&mut self, station: usize) {
        let place = &self.places[station];
        let down = place.link.snr_down(&place.quality);
        let up = place.link.snr_up(&place.quality, place.signal_up);
        self.air.set_snr(place.radio, place.node, down);
        self.air.set_snr(place.node, place.radio, up);
        self.set_slow(self.places[station].radio.index());
    }

    /// The links' rate choice as it is now.
    fn set_rate(&mut self, station: usize) {
        let place = &self.places[station];
        let link = &place.link;
        let down = link.sending(&place.quality, place.control, link.snr_down(&place.quality));
        let up = link.sending(
            &place.quality,
            place.control,
            link.snr_up(&place.quality, place.signal_up),
        );
        let ways = [(place.radio, place.node, down), (place.node, place.radio, up)];
        for (from, to, (vector, rate)) in ways {
            // An MCS that the link doesn't have leaves it as it was.
            let _ = self.air.set_rate(from, to, vector, rate);
        }
    }
}
