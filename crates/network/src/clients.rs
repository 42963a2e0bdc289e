//! The clients of moving stations on the air: their timers, their actions, and the packets that they affect.

use crate::layout::hundredths;
use crate::machine::Network;
use crate::output::{DropSite, Endpoint, Envelope, Headers, NetPacket};
use crate::roaming::{
    Action, BUSY, Client, ClientEvent, ClientEventKind, Frame, Losses, RoamEvent, Roaming, Surroundings,
};
use netburn_medium::config::LinkQuality;
use netburn_medium::geometry::Position;
use netburn_medium::packet::{DropReason, Ecn, MANAGEMENT, NodeId, Packet};
use netburn_medium::queue::StationState;
use netburn_scenario::plan::StationSetting;
use netburn_units::{Duration, Instant};

/// Time between two updates of a moving station's signal.
const MOTION: Duration = Duration::from_millis(100);
/// Packets that a station keeps while it has no link.
const HELD: usize = 256;
/// LLC and SNAP, which the model adds to every frame.
const LLC_SNAP: u32 = 8;

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Next event of a client.
    pub fn poll_client_event(&mut self) -> Option<ClientEvent> {
        self.roaming.events.pop_front()
    }

    /// Processes the clients' timers and motions that are due.
    pub(crate) fn roam(&mut self, now: Instant) {
        let mut client = 0;
        while let Some(index) = self.roaming.due(now, client) {
            client = index + 1;
            self.move_station(now, index);
            let mobile = &mut self.roaming.clients[index];
            if mobile.client.poll_timeout().is_some_and(|at| at <= now) {
                self.with_surroundings(now, index, |client, around| client.handle_timeout(now, around));
            }
            self.act(now, index);
        }
    }

    /// Lets a client process an event, with its observations at `now`.
    pub(crate) fn with_surroundings(
        &mut self,
        now: Instant,
        index: usize,
        event: impl FnOnce(&mut Client, &Surroundings<'_>),
    ) {
        if self.roaming.clients[index].client.is_scanning() {
            self.measure_others(index);
        }
        let mobile = &mut self.roaming.clients[index];
        let (signals, beacon) = mobile.listen(&self.air);
        let waiting = mobile
            .client
            .current()
            .is_some_and(|current| self.air.backlog(mobile.candidates[current].at.node) > 0);
        let around = Surroundings {
            signals: &signals,
            beacon,
            waiting,
            busy: now < mobile.busy_until,
        };
        event(&mut mobile.client, &around);
        mobile.heard = signals;
    }

    /// Updates the signals of the radios to which a client is not tuned.
    fn measure_others(&mut self, index: usize) {
        let Roaming {
            clients,
            building,
            positions,
            ..
        } = &mut self.roaming;
        clients[index].measure_others(building, positions, &self.radios);
    }

    /// Updates a station's signals.
    fn move_station(&mut self, now: Instant, index: usize) {
        let Roaming {
            clients,
            building,
            positions,
            ..
        } = &mut self.roaming;
        let mobile = &mut clients[index];
        let changed = mobile.measure(now, building, positions, &self.radios);
        if mobile.next_motion.is_some_and(|at| at <= now) {
            mobile.next_motion = mobile.after_motion(now, MOTION);
        }
        if !changed {
            return;
        }
        let tuned = mobile.tuned;
        self.set_snr(index, tuned);
        let mobile = &self.roaming.clients[index];
        if let Some(current) = mobile.client.current() {
            let at = &mobile.candidates[current].at;
            let radio = at.radio.index();
            self.wifi_stations[mobile.wifi_station].quality = at.quality;
            self.set_slow(radio);
        }
    }

    /// Places a Wi-Fi station at a position. A station that does not move keeps its radio.
    pub(crate) fn place_station(&mut self, now: Instant, wifi_station: usize, position: Position) {
        if let Some(client) = self.roaming.client_of(wifi_station) {
            self.roaming.place(now, client, position);
            return;
        }
        let radio = self.wifi_stations[wifi_station].radio.index();
        if let Some(dbm) = self.roaming.signal_dbm(&self.radios[radio], radio, position) {
            let quality = LinkQuality::Signal(hundredths(dbm));
            self.set_station(now, wifi_station, StationSetting::Quality(quality));
            self.roaming.places[wifi_station] = Some(position);
        }
    }

    /// Sets the signals between a client and a candidate on the air.
    fn set_snr(&mut self, index: usize, candidate: usize) {
        let at = &self.roaming.clients[index].candidates[candidate].at;
        self.air.set_snr(at.radio, at.node, at.link.snr_down(&at.quality));
        let up = at.link.snr_up(&at.quality, at.signal_up);
        self.air.set_snr(at.node, at.radio, up);
    }

    /// Performs the actions of a client, after a change of its state.
    pub(crate) fn act(&mut self, now: Instant, index: usize) {
        let wifi_station = self.roaming.clients[index].wifi_station;
        if self.roaming.clients[index].client.has_actions() {
            self.suspend_power_save(now, wifi_station);
        }
        while let Some(action) = self.roaming.clients[index].client.poll_action() {
            let mobile = &self.roaming.clients[index];
            let joined = mobile.client.current().map(|current| &mobile.candidates[current].at);
            match action {
                Action::Null { asleep } => {
                    if let Some(at) = joined {
                        let frame = if asleep { Frame::Asleep } else { Frame::Awake };
                        let (node, radio, station) = (at.node, at.radio, mobile.station);
                        self.send_frame(now, frame, (node, radio), station, 0);
                    }
                }
                Action::SetAway(away) => {
                    if let Some(at) = joined {
                        self.air.set_away(now, at.node, away);
                    }
                }
                Action::Tune(target) => {
                    self.measure_others(index);
                    self.roaming.clients[index].tuned = target;
                    self.set_snr(index, target);
                    let mobile = &self.roaming.clients[index];
                    let target = mobile.candidates[target].at.node;
                    let nodes: Vec<NodeId> = mobile.candidates.iter().map(|candidate| candidate.at.node).collect();
                    for node in nodes {
                        self.air.set_away(now, node, node != target);
                    }
                }
                Action::Frame {
                    target,
                    from_station,
                    bytes,
                } => {
                    let at = &mobile.candidates[target].at;
                    let path = if from_station {
                        (at.node, at.radio)
                    } else {
                        (at.radio, at.node)
                    };
                    let station = mobile.station;
                    self.send_frame(now, Frame::Exchange, path, station, bytes);
                }
                Action::Joined(target) => self.join(now, index, target),
                Action::Disconnected => {
                    let node = self.wifi_stations[mobile.wifi_station].node;
                    self.air.set_away(now, node, true);
                }
                Action::Probed(target) => {
                    let candidate = &mut self.roaming.clients[index].candidates[target];
                    candidate.known = candidate.signal.map(|signal| (signal, now));
                }
                Action::Answer { accepted } => {
                    self.roaming.clients[index].answer = Some(accepted);
                    self.send_to_ap(now, index, Frame::TransitionResponse);
                }
                Action::Report => self.send_to_ap(now, index, Frame::BeaconReport),
                Action::Event(event) => self.report(now, index, event),
            }
        }
        self.roaming.update_timer(index);
        if self.roaming.clients[index].client.is_connected() {
            self.resume_power_save(now, wifi_station);
        }
        self.drain_air();
    }

    pub(crate) fn send_frame(&mut self, now: Instant, frame: Frame, path: (NodeId, NodeId), station: u16, bytes: u32) {
        self.send_management(now, frame as u32, path, station, bytes);
    }

    /// Sends a management frame of `bytes` bytes. `flow` is its purpose.
    pub(crate) fn send_management(
        &mut self,
        now: Instant,
        flow: u32,
        (from, to): (NodeId, NodeId),
        station: u16,
        bytes: u32,
    ) {
        let packet = Packet {
            length: bytes.saturating_sub(LLC_SNAP),
            flow,
            tid: MANAGEMENT,
            ecn: Ecn::NotEct,
            payload: Envelope {
                from: Endpoint::Station(station),
                to: Endpoint::Station(station),
                headers: Headers::default(),
                payload: None,
            },
        };
        self.air.send_frame(now, from, to, packet);
    }

    /// Moves a station's link to a candidate.
    fn join(&mut self, now: Instant, index: usize, target: usize) {
        let mobile = &mut self.roaming.clients[index];
        let at = mobile.candidates[target].at.clone();
        let before = &mut self.wifi_stations[mobile.wifi_station];
        let (old_node, old_radio) = (before.node, before.radio);
        *before = at.clone();
        mobile.candidates[target].losses = Losses::new(now);
        mobile.uplink_losses = Losses::new(now);
        mobile.joined_at = Some(now);
        mobile.deferred.clear();
        let held: Vec<_> = mobile.held.drain(..).collect();
        if (old_node, old_radio) != (at.node, at.radio) {
            // mac80211 drops the packets of a station that leaves, and its rate control.
            self.air.disassociate(now, old_node, old_radio);
            self.air.end_rate_control(old_node, old_radio);
        }
        self.air.disassociate(now, at.radio, at.node);
        for (from, to, snr) in [
            (at.radio, at.node, at.link.snr_down(&at.quality)),
            (at.node, at.radio, at.link.snr_up(&at.quality, at.signal_up)),
        ] {
            let (vector, rate) = at.link.sending(&at.quality, at.control, snr);
            // The vector is one of the link's own.
            let _ = self.air.set_rate(from, to, vector, rate);
            self.air.set_snr(from, to, snr);
            self.air.associate(now, from, to);
        }
        for radio in [old_radio, at.radio] {
            self.set_slow(radio.index());
        }
        for packet in held {
            self.air.handle_packet(now, at.node, at.radio, packet);
        }
    }

    fn report(&mut self, now: Instant, index: usize, event: RoamEvent) {
        let name = |target: usize| self.radio_name(index, target);
        let (at, length, kind) = match event {
            RoamEvent::Scanned { since, away } => (since, now.since(since), ClientEventKind::Scanned { away }),
            RoamEvent::Roamed { from, to, since } => {
                let to_name = name(to);
                let kind = match from {
                    Some(from) if from != to => ClientEventKind::Roamed {
                        from: name(from),
                        to: to_name,
                    },
                    _ => ClientEventKind::Reconnected { to: to_name },
                };
                (since, now.since(since), kind)
            }
            RoamEvent::Failed { target } => (now, Duration::ZERO, ClientEventKind::JoinFailed { to: name(target) }),
            RoamEvent::LinkLost { target, since } => {
                let kind = ClientEventKind::LinkLost { from: name(target) };
                (since, now.since(since), kind)
            }
        };
        self.push_event(at, index, length, kind);
    }

    /// Name of a client's target.
    pub(crate) fn radio_name(&self, index: usize, target: usize) -> String {
        let radio = self.roaming.clients[index].candidates[target].at.radio;
        self.radios[radio.index()].name.to_string()
    }

    pub(crate) fn push_event(&mut self, at: Instant, index: usize, length: Duration, kind: ClientEventKind) {
        let station = self.roaming.clients[index].station;
        self.roaming.events.push_back(ClientEvent {
            station,
            at,
            length,
            kind,
        });
    }

    /// Processes a management frame that arrived, or that was lost after its last retry.
    pub(crate) fn handle_frame(&mut self, now: Instant, (from, to): (NodeId, NodeId), flow: u32, arrived: bool) {
        if self.handle_power_save_frame(now, (from, to), flow, arrived) {
            return;
        }
        let own = self
            .roaming
            .candidate_of(from)
            .or_else(|| self.roaming.candidate_of(to));
        let (Some((index, place)), Some(frame)) = (own, Frame::ALL.get(flow as usize)) else {
            return;
        };
        let mobile = &mut self.roaming.clients[index];
        match frame {
            Frame::Asleep | Frame::Awake => {
                let at = &mobile.candidates[place].at;
                if arrived {
                    self.air.set_asleep(now, at.radio, at.node, *frame == Frame::Asleep);
                }
                mobile.client.handle_null(now, *frame == Frame::Asleep, arrived);
                if arrived && *frame == Frame::Awake {
                    self.send_deferred(now, index);
                }
            }
            Frame::Exchange => mobile.client.handle_frame(now, arrived),
            _ if arrived => self.handle_steering_frame(now, index, place, *frame),
            _ => {}
        }
        self.act(now, index);
        self.invalidate_timeout();
    }

    /// Counts a packet that an access point delivered to a station, or lost after its last retry. After
    /// too many losses in a row hostapd disassociates the station (`hostapd_event_sta_low_ack`).
    pub(crate) fn count_loss(&mut self, now: Instant, radio: NodeId, node: NodeId, lost: bool) {
        let Some((index, place)) = self.roaming.candidate_of(node) else {
            return;
        };
        let mobile = &mut self.roaming.clients[index];
        let candidate = &mut mobile.candidates[place];
        if !lost {
            mobile.busy_until = now + BUSY;
        }
        if !candidate.losses.count(now, lost) {
            return;
        }
        if mobile.client.current() != Some(place) {
            self.air.disassociate(now, radio, node);
            self.air.end_rate_control(radio, node);
        } else if mobile.decides {
            self.disassociate(now, index);
        }
    }

    /// Counts a packet that a station delivered to its access point, or lost after its last retry. Returns
    /// the packet if the access point accepts it. One that does not know the station any more rejects its
    /// data by a disassociation (802.11-2020 clause 11.3.4.1, class 3 frames).
    pub(crate) fn count_uplink(&mut self, now: Instant, node: NodeId, radio: NodeId, lost: bool) -> bool {
        let Some((index, place)) = self.roaming.candidate_of(node) else {
            return true;
        };
        let mobile = &mut self.roaming.clients[index];
        if mobile.client.current() != Some(place) || !mobile.decides {
            return true;
        }
        if mobile.uplink_losses.count(now, lost) {
            self.with_surroundings(now, index, |client, around| client.handle_packet_loss(now, around));
            self.act(now, index);
            self.invalidate_timeout();
        }
        if !lost && self.air.station_state(radio, node) == StationState::Gone {
            self.send_to_client(now, index, Frame::Disassociation);
            return false;
        }
        true
    }

    /// Takes a packet of a station that has no link at the moment. Returns the packet if it has
    /// one.
    pub(crate) fn hold(&mut self, now: Instant, wifi_station: usize, packet: NetPacket<P>) -> Option<NetPacket<P>> {
        let Some(client) = self.roaming.client_of(wifi_station) else {
            return Some(packet);
        };
        let mobile = &mut self.roaming.clients[client];
        mobile.busy_until = now + BUSY;
        if mobile.client.current().is_some() {
            return Some(packet);
        }
        mobile.held.push_back(packet);
        if mobile.held.len() > HELD
            && let Some(oldest) = mobile.held.pop_front()
        {
            self.drop_packet(now, DropSite::Sender(DropReason::QueueFull), oldest);
        }
        None
    }
}
