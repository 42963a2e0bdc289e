//! Steering on the air: the access points' views of the stations, and the frames of their decisions.

use super::{Decision, Order, StationView, Steering, TargetView};
use crate::output::Payload;
use crate::roaming::{
    BUSY, Candidate, ClientBody, ClientEventKind, ClientFrame, Context, Roaming, TransitionAnswer, TransitionRequest,
};
use crate::wlan::Wlan;
use netburn_medium::config::{Band, Standard};
use netburn_units::{BitRate, Duration, Instant};

/// Rate of management frames and null frames.
const BASIC_RATE: BitRate = BitRate::from_mbps(6);

impl Steering {
    /// Processes the timers that are due.
    pub(crate) fn handle_timeout<B: ClientBody>(&mut self, cx: &mut Context<'_, B>, roaming: &mut Roaming<B>) {
        let now = cx.now;
        if self.steerers.iter().any(|steerer| steerer.needs_view(now)) {
            self.measure_loads(now, cx.wlan);
        }
        for number in 0..self.steerers.len() {
            for (client, target) in self.steerers[number].handle_timers(now) {
                if roaming.clients[client].client.current() == Some(target) {
                    roaming.disassociate(cx, client);
                }
            }
            if self.steerers[number].needs_view(now) {
                let views = self.views(now, cx.wlan, roaming, number);
                for decision in self.steerers[number].handle_view(now, &views) {
                    carry_out(cx, roaming, decision);
                }
            }
        }
    }

    /// Reports a client's answer to a request.
    pub(crate) fn handle_answer(&mut self, now: Instant, answer: &TransitionAnswer) {
        if let Some(steerer) = self.steerer_of[usize::from(answer.station)] {
            self.steerers[steerer].handle_answer(now, answer.client, answer.accepted);
        }
    }

    /// Share of time in which each channel was busy since the last view.
    fn measure_loads<B: Payload>(&mut self, now: Instant, wlan: &Wlan<B>) {
        let span = now.since(self.viewed).as_nanos().max(1) as f64;
        self.viewed = now;
        for (channel, (before, load)) in self.busy.iter_mut().zip(&mut self.loads).enumerate() {
            let busy = wlan.air.channel_account(channel).busy;
            let gain = busy.saturating_sub(*before);
            *load = (gain.as_nanos() as f64 / span).min(1.0);
            *before = busy;
        }
    }

    fn views<B: Payload>(
        &mut self,
        now: Instant,
        wlan: &Wlan<B>,
        roaming: &Roaming<B>,
        steerer: usize,
    ) -> Vec<StationView> {
        let mut views = Vec::new();
        for (client, station) in roaming.clients.iter().enumerate() {
            let number = usize::from(station.station);
            let (Some(current), true) = (station.client.current(), self.steerer_of[number] == Some(steerer)) else {
                continue;
            };
            let Some(signal) = station.candidates[current].signal else {
                continue;
            };
            let at = &station.candidates[current].at;
            let idle = (now + BUSY).since(station.busy_until);
            let uplink = wlan.air.rate(at.node, at.radio).filter(|_| idle < BUSY);
            let account = roaming.account(wlan, station.wifi_station);
            let airtime = account.sent + account.received;
            let targets = station.candidates.iter();
            views.push(StationView {
                client,
                current,
                signal,
                connected: station
                    .joined_at
                    .map_or(Duration::from_secs(86_400), |at| now.since(at)),
                idle,
                uplink_rate: uplink.unwrap_or(BASIC_RATE),
                airtime: airtime.saturating_sub(self.airtimes[number]),
                reports: station.capabilities.reports,
                transitions: station.capabilities.transitions,
                targets: targets
                    .map(|target| self.target_view(now, wlan, station.capabilities.standard, target))
                    .collect(),
            });
            self.airtimes[number] = airtime;
        }
        views
    }

    fn target_view<B: Payload>(
        &self,
        now: Instant,
        wlan: &Wlan<B>,
        own: Option<Standard>,
        target: &Candidate,
    ) -> TargetView {
        let radio = target.at.radio.index();
        let placed = &wlan.radios[radio];
        let standard = own.map_or(placed.config.standard, |own| own.min(placed.config.standard));
        TargetView {
            radio,
            ap: placed.ap,
            band: placed.config.band,
            ht: standard >= Standard::N,
            vht: standard >= Standard::Ac && placed.config.band != Band::Ghz2_4,
            load: self.loads[wlan.channel_of[radio]],
            known: target.known.map(|(signal, at)| (signal, now.since(at))),
        }
    }
}

fn carry_out<B: ClientBody>(cx: &mut Context<'_, B>, roaming: &mut Roaming<B>, Decision { client, order }: Decision) {
    match order {
        Order::Measure => roaming.send_to_client(cx, client, ClientFrame::BeaconRequest),
        Order::Request {
            candidates,
            imminent,
            reason,
        } => {
            if let Some(first) = candidates.first() {
                let to = roaming.radio_name(cx.wlan, client, *first);
                roaming.push_event(cx.now, client, Duration::ZERO, ClientEventKind::Asked { to, reason });
            }
            roaming.clients[client].request = Some(TransitionRequest { candidates, imminent });
            roaming.send_to_client(cx, client, ClientFrame::TransitionRequest);
        }
        Order::Disassociate => roaming.disassociate(cx, client),
    }
}
