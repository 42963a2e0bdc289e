//! Steering on the air: the access points' views of the stations, and the frames of their decisions.

use crate::machine::Network;
use crate::roaming::{BUSY, ClientEventKind, Frame, TransitionRequest};
use crate::steering::{Decision, Order, StationView, TargetView};
use netburn_medium::config::{Band, Standard};
use netburn_medium::packet::NodeId;
use netburn_medium::queue::StationState;
use netburn_units::{BitRate, Duration, Instant};

/// Rate of management frames and null frames.
const BASIC_RATE: BitRate = BitRate::from_mbps(6);

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Processes the steering's timers that are due.
    pub(crate) fn steer(&mut self, now: Instant) {
        if self.steering.poll_timeout().is_none_or(|at| at > now) {
            return;
        }
        if self.steering.steerers.iter().any(|steerer| steerer.needs_view(now)) {
            self.measure_loads(now);
        }
        for number in 0..self.steering.steerers.len() {
            for (client, target) in self.steering.steerers[number].handle_timers(now) {
                if self.roaming.clients[client].client.current() == Some(target) {
                    self.disassociate(now, client);
                }
            }
            if self.steering.steerers[number].needs_view(now) {
                let views = self.views(now, number);
                let decisions = self.steering.steerers[number].handle_view(now, &views);
                for decision in decisions {
                    self.carry_out(now, decision);
                }
            }
        }
        self.drain_air();
    }

    /// Share of time in which each channel was busy since the last view.
    fn measure_loads(&mut self, now: Instant) {
        let span = now.since(self.steering.viewed).as_nanos().max(1) as f64;
        self.steering.viewed = now;
        for channel in 0..self.steering.busy.len() {
            let busy = self.air.channel_account(channel).busy;
            let gain = busy.saturating_sub(self.steering.busy[channel]);
            self.steering.loads[channel] = (gain.as_nanos() as f64 / span).min(1.0);
            self.steering.busy[channel] = busy;
        }
    }

    fn views(&mut self, now: Instant, steerer: usize) -> Vec<StationView> {
        let mut views = Vec::new();
        for client in 0..self.roaming.clients.len() {
            let mobile = &self.roaming.clients[client];
            let (Some(current), true) = (mobile.client.current(), mobile.steerer == Some(steerer)) else {
                continue;
            };
            let Some(signal) = mobile.candidates[current].signal else {
                continue;
            };
            let at = &mobile.candidates[current].at;
            let idle = (now + BUSY).since(mobile.busy_until);
            let uplink = self.air.rate(at.node, at.radio).filter(|_| idle < BUSY);
            let account = self.account(usize::from(mobile.station));
            let airtime = account.sent + account.received;
            let view = StationView {
                client,
                current,
                signal,
                connected: mobile.joined_at.map_or(Duration::from_secs(86_400), |at| now.since(at)),
                idle,
                uplink_rate: uplink.unwrap_or(BASIC_RATE),
                airtime: airtime.saturating_sub(mobile.airtime),
                reports: mobile.reports,
                transitions: mobile.transitions,
                targets: mobile
                    .candidates
                    .iter()
                    .map(|candidate| self.target_view(now, mobile.standard, candidate.at.radio, candidate.known))
                    .collect(),
            };
            self.roaming.clients[client].airtime = airtime;
            views.push(view);
        }
        views
    }

    fn target_view(
        &self,
        now: Instant,
        own: Option<Standard>,
        radio: NodeId,
        known: Option<(f64, Instant)>,
    ) -> TargetView {
        let placed = &self.radios[radio.index()];
        let standard = own.map_or(placed.config.standard, |own| own.min(placed.config.standard));
        TargetView {
            radio: radio.index(),
            ap: placed.ap,
            band: placed.config.band,
            ht: standard >= Standard::N,
            vht: standard >= Standard::Ac && placed.config.band != Band::Ghz2_4,
            load: self.steering.loads[self.channel_of[radio.index()]],
            known: known.map(|(signal, at)| (signal, now.since(at))),
        }
    }

    fn carry_out(&mut self, now: Instant, decision: Decision) {
        let Decision { client, order } = decision;
        match order {
            Order::Measure => self.send_to_client(now, client, Frame::BeaconRequest),
            Order::Request {
                candidates,
                imminent,
                reason,
            } => {
                if let Some(first) = candidates.first() {
                    let to = self.radio_name(client, *first);
                    self.push_event(now, client, Duration::ZERO, ClientEventKind::Asked { to, reason });
                }
                self.roaming.clients[client].request = Some(TransitionRequest { candidates, imminent });
                self.send_to_client(now, client, Frame::TransitionRequest);
            }
            Order::Disassociate => self.disassociate(now, client),
        }
    }

    /// Disassociates a client: its access point forgets it, with or without an acknowledgement.
    pub(crate) fn disassociate(&mut self, now: Instant, client: usize) {
        let mobile = &self.roaming.clients[client];
        let Some(current) = mobile.client.current() else { return };
        let at = &mobile.candidates[current].at;
        let (node, radio) = (at.node, at.radio);
        let from = self.radio_name(client, current);
        self.push_event(now, client, Duration::ZERO, ClientEventKind::Disassociated { from });
        self.send_to_client(now, client, Frame::Disassociation);
        self.air.disassociate(now, radio, node);
    }

    /// Sends a management frame to a client, once it is awake.
    pub(crate) fn send_to_client(&mut self, now: Instant, client: usize, frame: Frame) {
        let mobile = &mut self.roaming.clients[client];
        let Some(current) = mobile.client.current() else { return };
        let at = &mobile.candidates[current].at;
        if self.air.station_state(at.radio, at.node) == StationState::Asleep {
            let node = at.node;
            mobile.deferred.push(frame);
            self.count_waiting(node);
            return;
        }
        let (path, station) = ((at.radio, at.node), mobile.station);
        self.send_frame(now, frame, path, station, frame.body());
    }

    /// Sends the frames that waited until a client was awake.
    pub(crate) fn send_deferred(&mut self, now: Instant, client: usize) {
        let mobile = &mut self.roaming.clients[client];
        let deferred = std::mem::take(&mut mobile.deferred);
        let node = mobile
            .client
            .current()
            .map(|current| mobile.candidates[current].at.node);
        for frame in deferred {
            if let Some(node) = node.filter(|node| self.power_saves.of_node(*node).is_some()) {
                self.power_saves.remove_waiting(node);
            }
            self.send_to_client(now, client, frame);
        }
    }

    /// Sends a management frame of a client to its access point.
    pub(crate) fn send_to_ap(&mut self, now: Instant, client: usize, frame: Frame) {
        let mobile = &self.roaming.clients[client];
        if let Some(current) = mobile.client.current() {
            let at = &mobile.candidates[current].at;
            let (path, station) = ((at.node, at.radio), mobile.station);
            self.send_frame(now, frame, path, station, frame.body());
        }
    }

    /// Processes a frame of the steering that arrived.
    pub(crate) fn handle_steering_frame(&mut self, now: Instant, index: usize, place: usize, frame: Frame) {
        let mobile = &mut self.roaming.clients[index];
        let is_current = mobile.client.current() == Some(place);
        match frame {
            Frame::TransitionRequest if is_current => {
                let willing = mobile.is_willing();
                if let Some(request) = mobile.request.take() {
                    self.with_surroundings(now, index, |client, around| {
                        client.handle_request(now, request, willing, around);
                    });
                }
            }
            Frame::BeaconRequest if is_current => {
                self.with_surroundings(now, index, |client, around| client.handle_beacon_request(now, around));
            }
            Frame::Disassociation if is_current => {
                self.with_surroundings(now, index, |client, around| client.handle_disassociated(now, around));
            }
            Frame::BeaconReport => {
                for (target, signal) in mobile.client.results() {
                    mobile.candidates[*target].known = Some((*signal, now));
                }
            }
            Frame::TransitionResponse => {
                if let (Some(accepted), Some(steerer)) = (mobile.answer.take(), mobile.steerer) {
                    self.steering.steerers[steerer].handle_answer(now, index, accepted);
                    self.push_event(now, index, Duration::ZERO, ClientEventKind::Answered { accepted });
                }
            }
            _ => {}
        }
    }
}
