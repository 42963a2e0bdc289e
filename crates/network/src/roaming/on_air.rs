//! The clients of moving stations on the air: their timers, their actions, and the packets that they affect.

use super::client::{Action, Client, Observation, RoamEvent};
use super::{BUSY, ClientEvent, ClientEventKind, ClientFrame, Losses, Roaming, TransitionAnswer};
use crate::layout::hundredths;
use crate::output::{DropSite, Payload};
use crate::power_save::{PowerSaveFrame, PowerSaves};
use crate::wlan::Wlan;
use netburn_medium::config::LinkQuality;
use netburn_medium::geometry::Position;
use netburn_medium::packet::{DropReason, NodeId, Packet};
use netburn_medium::queue::StationState;
use netburn_units::{Dbm, Duration, Instant};

/// Time between two updates of a moving station's signal.
const MOTION: Duration = Duration::from_millis(100);
/// Packets that a station keeps while it has no link.
const HELD: usize = 256;

/// An instant, and what clients act on.
#[derive(Debug)]
pub(crate) struct Context<'a, B> {
    pub(crate) now: Instant,
    pub(crate) wlan: &'a mut Wlan<B>,
    pub(crate) power_saves: &'a mut PowerSaves<B>,
}

/// Bodies of frames that carry those of clients.
pub(crate) trait ClientBody: Payload + From<ClientFrame> + From<PowerSaveFrame> {}

impl<B: Payload + From<ClientFrame> + From<PowerSaveFrame>> ClientBody for B {}

impl<B: ClientBody> Roaming<B> {
    /// Next event of a client.
    pub(crate) fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// Processes the clients' timers and motions that are due.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_, B>) {
        let mut client = 0;
        while let Some(index) = self.timers.due(cx.now, client) {
            client = index + 1;
            self.move_station(cx, index);
            let station = &mut self.clients[index];
            if station.client.poll_timeout().is_some_and(|at| at <= cx.now) {
                self.with_observation(cx, index, |client, observed| client.handle_timeout(cx.now, observed));
            }
            self.act(cx, index);
        }
    }

    /// Lets a client process an event, with its observations at `now`.
    fn with_observation(
        &mut self,
        cx: &Context<'_, B>,
        index: usize,
        event: impl FnOnce(&mut Client, &Observation<'_>),
    ) {
        if self.clients[index].client.is_scanning() {
            self.measure_others(cx.wlan, index);
        }
        let station = &mut self.clients[index];
        let (signals, beacon) = station.listen(&cx.wlan.air);
        let current = station.client.current();
        let waiting = current.is_some_and(|current| cx.wlan.air.backlog(station.candidates[current].at.node) > 0);
        let observed = Observation {
            signals: &signals,
            beacon,
            waiting,
            busy: cx.now < station.busy_until,
        };
        event(&mut station.client, &observed);
        station.signals_buffer = signals;
    }

    /// Updates the signals of the radios to which a client is not tuned.
    fn measure_others(&mut self, wlan: &Wlan<B>, index: usize) {
        self.clients[index].measure_others(&self.building, &self.positions, &wlan.radios);
    }

    /// Updates a station's signals.
    fn move_station(&mut self, cx: &mut Context<'_, B>, index: usize) {
        let station = &mut self.clients[index];
        let changed = station.measure(cx.now, &self.building, &self.positions, &cx.wlan.radios);
        if station.next_motion.is_some_and(|at| at <= cx.now) {
            station.next_motion = station.after_motion(cx.now, MOTION);
        }
        if !changed {
            return;
        }
        self.set_snr(cx.wlan, index, self.clients[index].tuned);
        let station = &self.clients[index];
        if let Some(current) = station.client.current() {
            let at = &station.candidates[current].at;
            cx.wlan.stations[station.wifi_station].quality = at.quality;
            cx.wlan.set_slow(at.radio);
        }
    }

    /// Places a Wi-Fi station at a position. A station that does not move keeps its radio.
    pub(crate) fn place_station(&mut self, now: Instant, wlan: &mut Wlan<B>, wifi_station: usize, position: Position) {
        if let Some(client) = self.client_of(wifi_station) {
            self.place(now, client, position);
            return;
        }
        let radio = wlan.stations[wifi_station].radio.index();
        if let Some(dbm) = self.signal_dbm(&wlan.radios[radio], radio, position) {
            wlan.set_quality(now, wifi_station, LinkQuality::Signal(hundredths(dbm)));
            self.fixed_positions[wifi_station] = Some(position);
        }
    }

    /// Sets the quality of a Wi-Fi station's links with all radios. It has no position from now on.
    pub(crate) fn set_quality(&mut self, now: Instant, wlan: &mut Wlan<B>, wifi_station: usize, quality: LinkQuality) {
        self.fix_quality(wifi_station, quality);
        wlan.set_quality(now, wifi_station, quality);
    }

    /// Updates the signals of all stations after the power of a radio has changed.
    pub(crate) fn set_power(&mut self, now: Instant, wlan: &mut Wlan<B>, radio: NodeId, power: Dbm) {
        self.forget_signals();
        for station in 0..wlan.stations.len() {
            if wlan.stations[station].radio == radio {
                wlan.stations[station].link.set_power(power);
                match self.fixed_positions[station] {
                    Some(position) => self.place_station(now, wlan, station, position),
                    None => wlan.set_signal(now, station),
                }
            }
        }
    }

    /// Sets the signals between a client and a candidate on the air.
    fn set_snr(&self, wlan: &mut Wlan<B>, index: usize, candidate: usize) {
        let at = &self.clients[index].candidates[candidate].at;
        wlan.air.set_snr(at.radio, at.node, at.link.snr_down(&at.quality));
        let up = at.link.snr_up(&at.quality, at.signal_up);
        wlan.air.set_snr(at.node, at.radio, up);
    }

    /// Performs the actions of a client, after a change of its state.
    fn act(&mut self, cx: &mut Context<'_, B>, index: usize) {
        let wifi_station = self.clients[index].wifi_station;
        if self.clients[index].client.current().is_none() {
            cx.power_saves.forget_deferred(wifi_station);
        }
        if self.clients[index].client.has_actions() {
            cx.power_saves.suspend(cx.now, cx.wlan, wifi_station);
        }
        while let Some(action) = self.clients[index].client.poll_action() {
            let station = &mut self.clients[index];
            match action {
                Action::Null { asleep } => {
                    let frame = if asleep {
                        ClientFrame::Asleep
                    } else {
                        ClientFrame::Awake
                    };
                    self.send_to_ap(cx, index, frame);
                }
                Action::SetAway(away) => {
                    if let Some(current) = station.client.current() {
                        cx.wlan.air.set_away(cx.now, station.candidates[current].at.node, away);
                    }
                }
                Action::Tune(target) => {
                    station.measure_others(&self.building, &self.positions, &cx.wlan.radios);
                    station.tuned = target;
                    self.set_snr(cx.wlan, index, target);
                    let candidates = &self.clients[index].candidates;
                    for (candidate, other) in candidates.iter().enumerate() {
                        cx.wlan.air.set_away(cx.now, other.at.node, candidate != target);
                    }
                }
                Action::Frame {
                    target,
                    from_station,
                    bytes,
                } => {
                    let at = &station.candidates[target].at;
                    let (from, to) = if from_station {
                        (at.node, at.radio)
                    } else {
                        (at.radio, at.node)
                    };
                    cx.wlan
                        .air
                        .send_frame(cx.now, from, to, bytes, ClientFrame::Exchange.into());
                }
                Action::Joined(target) => self.join(cx, index, target),
                Action::Disconnected => cx.wlan.air.set_away(cx.now, cx.wlan.stations[wifi_station].node, true),
                Action::Probed(target) => {
                    let candidate = &mut station.candidates[target];
                    candidate.known = candidate.signal.map(|signal| (signal, cx.now));
                }
                Action::Answer { accepted } => {
                    station.answer = Some(accepted);
                    self.send_to_ap(cx, index, ClientFrame::TransitionResponse);
                }
                Action::Report => self.send_to_ap(cx, index, ClientFrame::BeaconReport),
                Action::Event(event) => self.report(cx, index, event),
            }
        }
        self.update_timer(index);
        if self.clients[index].client.is_connected() {
            cx.power_saves.resume(cx.now, cx.wlan, wifi_station);
        }
    }

    /// Moves a station's link to a candidate.
    fn join(&mut self, cx: &mut Context<'_, B>, index: usize, target: usize) {
        let station = &mut self.clients[index];
        let at = station.candidates[target].at.clone();
        let before = &mut cx.wlan.stations[station.wifi_station];
        let (old_node, old_radio) = (before.node, before.radio);
        *before = at.clone();
        station.candidates[target].losses = Losses::new(cx.now);
        station.uplink_losses = Losses::new(cx.now);
        station.joined_at = Some(cx.now);
        cx.power_saves.forget_deferred(station.wifi_station);
        if (old_node, old_radio) != (at.node, at.radio) {
            // mac80211 drops the packets of a station that leaves, and its rate control.
            cx.wlan.air.disassociate(cx.now, old_node, old_radio);
            cx.wlan.air.end_rate_control(old_node, old_radio);
        }
        cx.wlan.air.disassociate(cx.now, at.radio, at.node);
        for (from, to, snr) in [
            (at.radio, at.node, at.link.snr_down(&at.quality)),
            (at.node, at.radio, at.link.snr_up(&at.quality, at.signal_up)),
        ] {
            let (vector, rate) = at.link.sending(&at.quality, at.control, snr);
            // The vector is one of the link's own.
            let _ = cx.wlan.air.set_rate(from, to, vector, rate);
            cx.wlan.air.set_snr(from, to, snr);
            cx.wlan.air.associate(cx.now, from, to);
        }
        for radio in [old_radio, at.radio] {
            cx.wlan.set_slow(radio);
        }
        for packet in station.held.drain(..) {
            cx.wlan.air.handle_packet(cx.now, at.node, at.radio, packet);
        }
    }

    fn report(&mut self, cx: &Context<'_, B>, index: usize, event: RoamEvent) {
        let name = |target: usize| self.radio_name(cx.wlan, index, target);
        let (at, length, kind) = match event {
            RoamEvent::Scanned { since, away } => (since, cx.now.since(since), ClientEventKind::Scanned { away }),
            RoamEvent::Roamed { from, to, since } => {
                let to_name = name(to);
                let kind = match from {
                    Some(from) if from != to => ClientEventKind::Roamed {
                        from: name(from),
                        to: to_name,
                    },
                    _ => ClientEventKind::Reconnected { to: to_name },
                };
                (since, cx.now.since(since), kind)
            }
            RoamEvent::Failed { target } => (cx.now, Duration::ZERO, ClientEventKind::JoinFailed { to: name(target) }),
            RoamEvent::LinkLost { target, since } => {
                let kind = ClientEventKind::LinkLost { from: name(target) };
                (since, cx.now.since(since), kind)
            }
        };
        self.push_event(at, index, length, kind);
    }

    /// Name of a client's target.
    pub(crate) fn radio_name(&self, wlan: &Wlan<B>, index: usize, target: usize) -> String {
        wlan.radio_name(self.clients[index].candidates[target].at.radio)
    }

    pub(crate) fn push_event(&mut self, at: Instant, index: usize, length: Duration, kind: ClientEventKind) {
        let station = self.clients[index].station;
        self.events.push_back(ClientEvent {
            station,
            at,
            length,
            kind,
        });
    }

    /// Processes a frame that arrived, or that was lost after its last retry. Returns the
    /// answer to a transition request that arrived.
    pub(crate) fn handle_frame(
        &mut self,
        cx: &mut Context<'_, B>,
        (from, to): (NodeId, NodeId),
        frame: ClientFrame,
        arrived: bool,
    ) -> Option<TransitionAnswer> {
        let (index, candidate) = self.candidate_of(from).or_else(|| self.candidate_of(to))?;
        let station = &mut self.clients[index];
        let is_current = station.client.current() == Some(candidate);
        let mut answer = None;
        match frame {
            ClientFrame::Asleep | ClientFrame::Awake => {
                let asleep = frame == ClientFrame::Asleep;
                let at = &station.candidates[candidate].at;
                if arrived {
                    cx.wlan.air.set_asleep(cx.now, at.radio, at.node, asleep);
                }
                station.client.handle_null(cx.now, asleep, arrived);
                if arrived && !asleep {
                    cx.power_saves.send_deferred(cx.now, cx.wlan, station.wifi_station);
                }
            }
            ClientFrame::Exchange => station.client.handle_frame(cx.now, arrived),
            _ if !arrived => {}
            ClientFrame::TransitionRequest if is_current => {
                let willing = station.is_willing();
                if let Some(request) = station.request.take() {
                    self.with_observation(cx, index, |client, observed| {
                        client.handle_request(cx.now, request, willing, observed);
                    });
                }
            }
            ClientFrame::BeaconRequest if is_current => {
                self.with_observation(cx, index, |client, observed| {
                    client.handle_beacon_request(cx.now, observed);
                });
            }
            ClientFrame::Disassociation if is_current => {
                self.with_observation(cx, index, |client, observed| {
                    client.handle_disassociated(cx.now, observed)
                });
            }
            ClientFrame::BeaconReport => {
                for (target, signal) in station.client.results() {
                    station.candidates[*target].known = Some((*signal, cx.now));
                }
            }
            ClientFrame::TransitionResponse => {
                if let Some(accepted) = station.answer.take() {
                    answer = Some(TransitionAnswer {
                        station: station.station,
                        client: index,
                        accepted,
                    });
                    self.push_event(cx.now, index, Duration::ZERO, ClientEventKind::Answered { accepted });
                }
            }
            ClientFrame::TransitionRequest | ClientFrame::BeaconRequest | ClientFrame::Disassociation => {}
        }
        self.act(cx, index);
        answer
    }

    /// Sends a frame of a client to its access point.
    fn send_to_ap(&mut self, cx: &mut Context<'_, B>, index: usize, frame: ClientFrame) {
        let station = &self.clients[index];
        if let Some(current) = station.client.current() {
            let at = &station.candidates[current].at;
            cx.wlan
                .air
                .send_frame(cx.now, at.node, at.radio, frame.body(), frame.into());
        }
    }

    /// Sends a management frame to a client, once it is awake.
    pub(crate) fn send_to_client(&mut self, cx: &mut Context<'_, B>, index: usize, frame: ClientFrame) {
        let station = &self.clients[index];
        if station.client.current().is_some() {
            cx.power_saves
                .send_when_awake(cx.now, cx.wlan, station.wifi_station, frame.body(), frame.into());
        }
    }

    /// Disassociates a client: its access point forgets it, with or without an acknowledgement.
    pub(crate) fn disassociate(&mut self, cx: &mut Context<'_, B>, index: usize) {
        let station = &self.clients[index];
        let Some(current) = station.client.current() else {
            return;
        };
        let at = &station.candidates[current].at;
        let (node, radio) = (at.node, at.radio);
        let from = cx.wlan.radio_name(radio);
        self.push_event(cx.now, index, Duration::ZERO, ClientEventKind::Disassociated { from });
        self.send_to_client(cx, index, ClientFrame::Disassociation);
        cx.wlan.air.disassociate(cx.now, radio, node);
    }

    /// Counts a packet that an access point delivered to a station, or lost after its last retry. After
    /// too many losses in a row hostapd disassociates the station (`hostapd_event_sta_low_ack`).
    pub(crate) fn count_downlink(&mut self, cx: &mut Context<'_, B>, (radio, node): (NodeId, NodeId), lost: bool) {
        let Some((index, candidate)) = self.candidate_of(node) else {
            return;
        };
        let station = &mut self.clients[index];
        if !lost {
            station.busy_until = cx.now + BUSY;
        }
        if !station.candidates[candidate].losses.count(cx.now, lost) {
            return;
        }
        if station.client.current() != Some(candidate) {
            cx.wlan.air.disassociate(cx.now, radio, node);
            cx.wlan.air.end_rate_control(radio, node);
        } else if station.decides {
            self.disassociate(cx, index);
        }
    }

    /// Counts a packet that a station delivered to its access point, or lost after its last retry. Returns
    /// true if the access point accepts it. One that does not know the station any more rejects its
    /// data by a disassociation (802.11-2020 clause 11.3.4.1, class 3 frames).
    pub(crate) fn count_uplink(
        &mut self,
        cx: &mut Context<'_, B>,
        (node, radio): (NodeId, NodeId),
        lost: bool,
    ) -> bool {
        let Some((index, candidate)) = self.candidate_of(node) else {
            return true;
        };
        let station = &mut self.clients[index];
        if station.client.current() != Some(candidate) || !station.decides {
            return true;
        }
        if station.uplink_losses.count(cx.now, lost) {
            self.with_observation(cx, index, |client, observed| {
                client.handle_packet_loss(cx.now, observed)
            });
            self.act(cx, index);
        }
        if !lost && cx.wlan.air.station_state(radio, node) == StationState::Gone {
            self.send_to_client(cx, index, ClientFrame::Disassociation);
            return false;
        }
        true
    }

    /// A station is about to send a packet. Returns false if it has no link at the moment.
    pub(crate) fn handle_uplink(&mut self, now: Instant, wifi_station: usize) -> bool {
        let Some(client) = self.client_of(wifi_station) else {
            return true;
        };
        let station = &mut self.clients[client];
        station.busy_until = now + BUSY;
        station.client.current().is_some()
    }

    /// Keeps a packet of a station until it has a link.
    pub(crate) fn hold(&mut self, now: Instant, wlan: &mut Wlan<B>, wifi_station: usize, packet: Packet<B>) {
        let Some(client) = self.client_of(wifi_station) else {
            return;
        };
        let held = &mut self.clients[client].held;
        held.push_back(packet);
        if held.len() > HELD
            && let Some(oldest) = held.pop_front()
        {
            wlan.drop_packet(now, DropSite::Sender(DropReason::QueueFull), oldest);
        }
    }
}
