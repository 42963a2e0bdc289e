//! Stations that move and roam.
//!
//! - [`motion`] – shadowing along the path of a station
//! - [`policy`] – constants of the client policies
//! - [`client`] – when a client scans, moves, and gives up
//! - [`scan`] – the schedule of a scan; [`choose`]: the choice after it
//! - [`exchange`] – the frames with which it joins
//! - [`losses`] – packets lost in a row
//! - [`timers`] – the next timer of each client
//! - [`on_air`] – the clients on the air: their frames, and the packets that they affect
//! - [`event`] – events of the clients
//! - [`validation`] – entry points for validation cases
//!
//! A station has one node of the air for each radio that it can join. All but one of them are away,
//! so a station receives on one channel only. The access point that it has left gets no notification. It
//! continues to send until 50 packets in a row are lost, as hostapd does.

mod choose;
mod client;
mod event;
mod exchange;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod losses;
mod motion;
mod on_air;
mod policy;
mod scan;
mod timers;
pub mod validation;

use crate::beacon;
use crate::layout::{Control, Layout, MobileStation, PlacedRadio, WifiStation, hundredths};
use crate::output::Payload;
use crate::wlan::Wlan;
pub use event::{ClientEvent, ClientEventKind, SteeringReason};
pub use policy::roaming_trigger;

pub(crate) use client::TransitionRequest;
use client::{Client, Settings, Target, scan_channel};
use exchange::{FastTransition, Method};
use losses::Losses;
use motion::{Motion, Shadowing};
use netburn_medium::air::{Account, Air};
use netburn_medium::config::{Band, LinkQuality, Roaming as RoamingConfig, Standard, SteeringPolicy};
use netburn_medium::fading::{Fading, FadingModel};
use netburn_medium::geometry::{Building, Position};
use netburn_medium::packet::{NodeId, Packet};
use netburn_medium::phy::TxVector;
use netburn_medium::queue::StationState;
use netburn_medium::signal;
use netburn_scenario::Plan;
use netburn_scenario::plan::{DEFAULT_RADIUS_DELAY, Joins, Network as Ssid};
use netburn_units::{Duration, Instant, RandomStream};
pub(crate) use on_air::{ClientBody, Context};
use std::collections::VecDeque;
use timers::Timers;

/// Time without packets after which a station counts as idle.
pub(crate) const BUSY: Duration = Duration::from_secs(1);
/// Speed of light in MHz · m.
const MHZ_METRES: f64 = 299.792_458;

/// All clients that can move.
#[derive(Debug)]
pub(crate) struct Roaming<B> {
    pub(crate) clients: Vec<RoamingStation<B>>,
    /// Client of each Wi-Fi station; `None`: it does not move.
    client_of: Vec<Option<usize>>,
    /// Client and candidate of each node of the air.
    candidate_of_node: Vec<Option<(usize, usize)>>,
    timers: Timers,
    building: Building,
    /// Position of each radio.
    positions: Vec<Option<Position>>,
    /// Position of each Wi-Fi station that is not a client here; `None`: the plan has another quality.
    fixed_positions: Vec<Option<Position>>,
    events: VecDeque<ClientEvent>,
}

/// A station that can move.
#[derive(Debug)]
pub(crate) struct RoamingStation<B> {
    pub(crate) station: u16,
    pub(crate) wifi_station: usize,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) client: Client,
    /// It has a roaming policy, so that the loss of packets can end its link.
    decides: bool,
    /// Packets of the station to its access point.
    uplink_losses: Losses,
    /// `None`: its signals are fixed.
    motion: Option<Motion>,
    /// Position for which the signal of the candidate to which it is tuned was computed.
    measured: Option<Position>,
    /// Buffer for [`listen`](Self::listen).
    signals_buffer: Vec<f64>,
    /// Candidate whose channel it listens to. The air needs the signals of no other one.
    tuned: usize,
    /// Time of the next update of the signals.
    next_motion: Option<Instant>,
    /// For the reception of beacons.
    beacon_rng: RandomStream,
    /// For the acceptance of transition requests.
    acceptance_rng: RandomStream,
    acceptance: f64,
    /// Time at which it joined its radio; `None`: before the run.
    pub(crate) joined_at: Option<Instant>,
    pub(crate) capabilities: Capabilities,
    /// Request on its way to the station.
    pub(crate) request: Option<TransitionRequest>,
    /// Answer on its way to the access point.
    pub(crate) answer: Option<bool>,
    pub(crate) busy_until: Instant,
    /// Packets that it keeps while it has no link.
    held: VecDeque<Packet<B>>,
}

/// Features that a station and its network have in common.
#[derive(Debug)]
pub(crate) struct Capabilities {
    /// Standard of the station, if it is limited.
    pub(crate) standard: Option<Standard>,
    /// Beacon reports (802.11k).
    pub(crate) reports: bool,
    /// BSS transition management (802.11v).
    pub(crate) transitions: bool,
}

/// A radio that a station can join.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) at: WifiStation,
    shadowing: Shadowing,
    /// Fast fading; `None`: none.
    fading: Option<Fading>,
    /// Signal without fading in dBm, at the position measured last.
    mean: f64,
    /// Position for which the signal was computed.
    measured: Option<Position>,
    /// Signal in dBm; `None` if the plan has an MCS instead.
    pub(crate) signal: Option<f64>,
    /// Packets of the access point to the station.
    losses: Losses,
    /// Last signal of the station at this radio that the access points have received, and its time.
    pub(crate) known: Option<(f64, Instant)>,
}

/// Answer of a client to a transition request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransitionAnswer {
    /// Station's number in the plan.
    pub(crate) station: u16,
    /// Number of the client.
    pub(crate) client: usize,
    pub(crate) accepted: bool,
}

/// A management frame or null frame of a client, or of its access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientFrame {
    /// Announces power save.
    Asleep,
    /// Ends power save, or probes the access point.
    Awake,
    /// Part of joining.
    Exchange,
    /// Beacon request and report (802.11k).
    BeaconRequest,
    BeaconReport,
    /// BSS transition management request and response (802.11v).
    TransitionRequest,
    TransitionResponse,
    Disassociation,
}

impl ClientFrame {
    /// Length of its body in bytes: with the elements that hostapd and wpa_supplicant send for two or
    /// three neighbours.
    fn body(self) -> u32 {
        match self {
            ClientFrame::Asleep | ClientFrame::Awake | ClientFrame::Exchange => 0,
            ClientFrame::BeaconRequest => 22,
            ClientFrame::BeaconReport => 96,
            ClientFrame::TransitionRequest => 45,
            ClientFrame::TransitionResponse => 12,
            ClientFrame::Disassociation => 2,
        }
    }
}

impl<B: Payload> Roaming<B> {
    pub(crate) fn new(plan: &Plan, layout: &Layout, begin: Instant) -> Self {
        let building = plan.building.clone().unwrap_or_default();
        let mut weakest = Vec::new();
        let mobile = |mobile: &MobileStation| RoamingStation::new(plan, layout, mobile, &mut weakest, begin);
        let clients: Vec<RoamingStation<B>> = layout.mobile.iter().map(mobile).collect();
        let mut client_of = vec![None; layout.wifi_stations.len()];
        let mut candidate_of_node = vec![None; layout.air.nodes.len()];
        let mut timers = Timers::new(clients.len());
        for (index, mobile) in clients.iter().enumerate() {
            client_of[mobile.wifi_station] = Some(index);
            for (place, candidate) in mobile.candidates.iter().enumerate() {
                candidate_of_node[candidate.at.node.index()] = Some((index, place));
            }
            timers.set(index, mobile.poll_timeout());
        }
        let stands_at = |(at, client): (&WifiStation, &Option<usize>)| {
            let position = plan.stations[at.station].air.path.first().copied();
            position.filter(|_| client.is_none())
        };
        Roaming {
            fixed_positions: layout.wifi_stations.iter().zip(&client_of).map(stands_at).collect(),
            clients,
            client_of,
            candidate_of_node,
            timers,
            building: building.model.clone(),
            positions: layout.radios.iter().map(|radio| plan.aps[radio.ap].position).collect(),
            events: VecDeque::new(),
        }
    }

    /// Prepares the air: a station listens to one channel, and only that access point knows it.
    pub(crate) fn prepare(&self, now: Instant, air: &mut Air<B>) {
        for mobile in &self.clients {
            let joined = mobile.client.current();
            for (index, candidate) in mobile.candidates.iter().enumerate() {
                if Some(index) != joined {
                    let (radio, node) = (candidate.at.radio, candidate.at.node);
                    air.set_away(now, node, true);
                    air.disassociate(now, radio, node);
                    air.disassociate(now, node, radio);
                }
            }
        }
    }

    /// True if no station moves or roams.
    pub(crate) fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.timers.first()
    }

    /// Updates the timer of a client after a change of its state.
    fn update_timer(&mut self, client: usize) {
        self.timers.set(client, self.clients[client].poll_timeout());
    }

    /// Number of the client of a Wi-Fi station; `None` if it does not move.
    pub(crate) fn client_of(&self, wifi_station: usize) -> Option<usize> {
        self.client_of.get(wifi_station).copied().flatten()
    }

    /// The next update computes the signals of all stations again, also of those that do not move.
    fn forget_signals(&mut self) {
        for mobile in &mut self.clients {
            mobile.measured = None;
            for candidate in &mut mobile.candidates {
                candidate.measured = None;
            }
        }
    }

    /// Places a client at a position. Its walk ends.
    fn place(&mut self, now: Instant, client: usize, position: Position) {
        let mobile = &mut self.clients[client];
        mobile.motion = Some(Motion::standing(position));
        mobile.measured = None;
        mobile.next_motion = Some(now);
        self.update_timer(client);
    }

    /// Position of a Wi-Fi station at its last update; `None`: it has none.
    pub(crate) fn position(&self, wifi_station: usize) -> Option<Position> {
        let Some(client) = self.client_of(wifi_station) else {
            return self.fixed_positions.get(wifi_station).copied().flatten();
        };
        let mobile = &self.clients[client];
        match &mobile.motion {
            Some(Motion::Path(way)) => Some(mobile.measured.unwrap_or_else(|| way.first())),
            _ => None,
        }
    }

    /// Sets the quality of a Wi-Fi station's links with all radios. It has no position from now on.
    fn fix_quality(&mut self, wifi_station: usize, quality: LinkQuality) {
        self.fixed_positions[wifi_station] = None;
        let Some(client) = self.client_of(wifi_station) else {
            return;
        };
        let mobile = &mut self.clients[client];
        mobile.motion = None;
        mobile.next_motion = None;
        for candidate in &mut mobile.candidates {
            // As in `Wlan::set_quality`.
            if let (LinkQuality::Mcs(mcs), Control::Mcs(_)) = (quality, candidate.at.control) {
                candidate.at.control = Control::Mcs(mcs);
                continue;
            }
            candidate.at.quality = quality;
            let signal = candidate.at.link.signal(&quality);
            candidate.signal = signal.map(netburn_units::Dbm::as_dbm_f64);
        }
        self.update_timer(client);
    }

    /// Signal of a radio at a position in dBm, without shadowing; `None` if its access point has no position.
    fn signal_dbm(&self, radio: &PlacedRadio, number: usize, position: Position) -> Option<f64> {
        let from = (*self.positions.get(number)?)?;
        let loss = self.building.loss_db(radio.config.band, from, position);
        Some(radio.config.power.as_dbm_f64() - loss)
    }

    /// Nodes of a Wi-Fi station that moves; none for others.
    fn nodes(&self, wifi_station: usize) -> impl Iterator<Item = NodeId> {
        let station = self.client_of(wifi_station).map(|client| &self.clients[client]);
        station
            .into_iter()
            .flat_map(|station| station.candidates.iter().map(|candidate| candidate.at.node))
    }

    /// Sum of the accounts of all nodes of a Wi-Fi station.
    pub(crate) fn account(&self, wlan: &Wlan<B>, wifi_station: usize) -> Account {
        let node = wlan.stations[wifi_station].node;
        let others = self.nodes(wifi_station).filter(|other| *other != node);
        wlan.account(std::iter::once(node).chain(others))
    }

    /// Client and candidate of a node.
    fn candidate_of(&self, node: NodeId) -> Option<(usize, usize)> {
        self.candidate_of_node.get(node.index()).copied().flatten()
    }

    /// Node of the air over which a packet reaches a Wi-Fi station from an access point, and the
    /// radio. `None` if the station is not one that moves.
    pub(crate) fn route(&self, wifi_station: usize, ap: usize, air: &Air<B>) -> Option<(NodeId, NodeId)> {
        let mobile = &self.clients[self.client_of(wifi_station)?];
        let joined = mobile.client.current().map(|joined| &mobile.candidates[joined]);
        if let Some(candidate) = joined.filter(|candidate| candidate.at.ap == ap) {
            return Some((candidate.at.radio, candidate.at.node));
        }
        let here = mobile.candidates.iter().filter(|other| other.at.ap == ap);
        let known =
            |candidate: &&Candidate| air.station_state(candidate.at.radio, candidate.at.node) != StationState::Gone;
        let candidate = here.max_by_key(known)?;
        Some((candidate.at.radio, candidate.at.node))
    }
}

impl<B: Payload> RoamingStation<B> {
    /// `weakest`: buffer for signals that were computed already.
    fn new(
        plan: &Plan,
        layout: &Layout,
        mobile: &MobileStation,
        weakest: &mut Vec<(TxVector, f64)>,
        begin: Instant,
    ) -> Self {
        let number = layout.wifi_stations[mobile.wifi_station].station as u16;
        let station = &plan.stations[usize::from(number)];
        let ssid = match &station.air.joins {
            Some(Joins::Network(name)) => plan.networks.iter().find(|network| network.name == *name),
            _ => None,
        };
        let config = station.air.roaming.unwrap_or_default();
        let constants = policy::Constants::new(&config);
        let targets = mobile.candidates.iter().map(|at| target(layout, at, weakest));
        let settings = Settings {
            constants,
            smoothing: config.beacon_smoothing,
            method: method(&config, ssid),
            neighbour_reports: constants.reads_reports && config.k && ssid.is_some_and(|ssid| ssid.k),
            every_channel: scan::all_channels(),
            targets: targets.collect(),
            key_caching: ssid.is_some_and(|ssid| ssid.key_caching),
            shared_keys: ssid.is_some_and(|ssid| ssid.okc),
            transition: config.transition,
            probe_suppression: ssid.is_some_and(|ssid| ssid.steering.policy == SteeringPolicy::ProbeSuppression),
        };
        let candidates = mobile.candidates.iter();
        let names = candidates.clone().map(|at| &layout.radios[at.radio.index()].name);
        let motion = Motion::new(&station.air, names);
        let next_motion = motion.as_ref().map(|_| begin);
        RoamingStation {
            station: number,
            wifi_station: mobile.wifi_station,
            candidates: candidates.map(|at| Candidate::new(plan, number, at, begin)).collect(),
            client: Client::new(begin, settings, mobile.first),
            decides: station.air.roaming.is_some(),
            uplink_losses: Losses::new(begin),
            motion,
            measured: None,
            signals_buffer: Vec::new(),
            tuned: mobile.first,
            next_motion,
            beacon_rng: plan.seed.stream("beacons", u64::from(number)),
            acceptance_rng: plan.seed.stream("transition requests", u64::from(number)),
            acceptance: config.acceptance.as_f64(),
            joined_at: None,
            capabilities: Capabilities {
                standard: station.air.standard,
                reports: config.k && ssid.is_some_and(|ssid| ssid.k),
                transitions: config.v && ssid.is_some_and(|ssid| ssid.v),
            },
            request: None,
            answer: None,
            busy_until: begin,
            held: VecDeque::new(),
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match (self.client.poll_timeout(), self.next_motion) {
            (Some(client), Some(motion)) => Some(client.min(motion)),
            (client, motion) => client.or(motion),
        }
    }

    /// Updates the signals for `now`: with positions, of the radio to which it is tuned, and of all others if they
    /// are random. Returns whether one has changed.
    fn measure(
        &mut self,
        now: Instant,
        building: &Building,
        positions: &[Option<Position>],
        radios: &[PlacedRadio],
    ) -> bool {
        let mut changed = false;
        let way = match &self.motion {
            Some(Motion::Path(way)) => way,
            Some(Motion::Signals(signals)) => {
                for (candidate, signal) in self.candidates.iter_mut().zip(signals) {
                    candidate.mean = signal.at(now.as_nanos());
                    changed |= candidate.fade(radios[candidate.at.radio.index()].config.band, 0.0);
                }
                return changed;
            }
            None => return false,
        };
        let position = way.at(now);
        if self.measured.replace(position) == Some(position) {
            return false;
        }
        let travelled = way.travelled(now);
        for (index, candidate) in self.candidates.iter_mut().enumerate() {
            if index == self.tuned || candidate.is_random() {
                changed |= candidate.measure(position, travelled, building, positions, radios);
            }
        }
        changed
    }

    /// Updates the signals of the radios to which it is not tuned, for the position of the last
    /// [`measure`](Self::measure).
    fn measure_others(&mut self, building: &Building, positions: &[Option<Position>], radios: &[PlacedRadio]) {
        let Some(position) = self.measured else { return };
        for candidate in &mut self.candidates {
            if candidate.measured != Some(position) && !candidate.is_random() {
                // Without fading, the distance travelled has no effect.
                candidate.measure(position, 0.0, building, positions, radios);
            }
        }
    }

    /// Returns whether the station accepts the next transition request, if it can.
    fn is_willing(&mut self) -> bool {
        self.acceptance >= 1.0 || draw(&mut self.acceptance_rng) < self.acceptance
    }

    /// Time of the next update of the signals, if it moves at `now`. With fast fading they change
    /// within a wavelength.
    fn after_motion(&self, now: Instant, usual: Duration) -> Option<Instant> {
        let motion = self.motion.as_ref().filter(|motion| motion.is_moving(now))?;
        let fades = self.candidates.iter().any(|candidate| candidate.fading.is_some());
        let interval = match motion {
            Motion::Path(way) if fades => usual.min(way.fading_interval()),
            _ => usual,
        };
        Some(now + interval)
    }

    /// Signal of each candidate, and whether the serving access point's beacon arrives. The caller returns the
    /// vector to `signals_buffer`.
    fn listen(&mut self, air: &Air<B>) -> (Vec<f64>, bool) {
        let mut signals = std::mem::take(&mut self.signals_buffer);
        signals.clear();
        // Without a signal the link loses nothing to noise.
        let all = self.candidates.iter();
        signals.extend(all.map(|candidate| candidate.signal.unwrap_or(0.0)));
        let beacon = self.client.current().is_some_and(|current| {
            let sent = !air.is_away(self.candidates[current].at.radio);
            beacon::arrives(signals[current], &mut self.beacon_rng) && sent
        });
        (signals, beacon)
    }
}

/// A number from 0 to 1.
fn draw(stream: &mut RandomStream) -> f64 {
    (stream.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

impl Candidate {
    /// A radio that station number `station` of the plan can join.
    fn new(plan: &Plan, station: u16, at: &WifiStation, begin: Instant) -> Self {
        let default = Default::default();
        let building = plan.building.as_ref().unwrap_or(&default);
        let index = u64::from(station) << 32 | u64::from(at.radio.0);
        let shadowing = plan.seed.stream("shadowing", index);
        // Signals of the plan have no distance that a station travels.
        let model = if plan.stations[usize::from(station)].air.signals.is_empty() {
            building.fading
        } else {
            FadingModel::None
        };
        let signal = at.link.signal(&at.quality).map(netburn_units::Dbm::as_dbm_f64);
        Candidate {
            at: at.clone(),
            shadowing: Shadowing::new(building.shadowing, building.shadowing_distance, shadowing),
            fading: Fading::new(model, building.rician_factor, plan.seed.stream("fading", index)),
            mean: 0.0,
            measured: None,
            signal,
            losses: Losses::new(begin),
            // It scanned before it joined.
            known: signal.map(|signal| (signal, begin)),
        }
    }

    /// Returns true if the signal is more than a function of the position: each position draws random numbers.
    fn is_random(&self) -> bool {
        self.fading.is_some() || self.shadowing.is_random()
    }

    /// Updates the signal for a position, after a distance of this many metres. Returns whether it has changed.
    fn measure(
        &mut self,
        position: Position,
        travelled: f64,
        building: &Building,
        positions: &[Option<Position>],
        radios: &[PlacedRadio],
    ) -> bool {
        self.measured = Some(position);
        let radio = self.at.radio.index();
        let Some(from) = positions[radio] else { return false };
        let config = &radios[radio].config;
        let loss = building.loss_db(config.band, from, position);
        self.mean = config.power.as_dbm_f64() - loss + self.shadowing.at(position);
        self.fade(config.band, travelled)
    }

    /// Updates the signal after a distance of this many metres. Returns whether it has changed.
    fn fade(&mut self, band: Band, metres: f64) -> bool {
        let wavelengths = metres * signal::frequency_mhz(band) / MHZ_METRES;
        let gain = self.fading.as_ref().map_or(0.0, |fading| fading.gain_db(wavelengths));
        let signal = self.mean + gain;
        self.signal = Some(signal);
        let quality = LinkQuality::Signal(hundredths(signal));
        std::mem::replace(&mut self.at.quality, quality) != quality
    }
}

/// Method by which a station joins a network's radios.
fn method(config: &RoamingConfig, ssid: Option<&Ssid>) -> Method {
    let security = ssid.map(|ssid| ssid.security).unwrap_or_default();
    Method {
        security,
        fast_transition: match ssid.filter(|ssid| ssid.r && config.r) {
            Some(ssid) if ssid.r_over_ds => FastTransition::OverTheDs,
            Some(_) => FastTransition::OverTheAir,
            None => FastTransition::Off,
        },
        cached: false,
        radius: ssid.and_then(|ssid| ssid.radius_delay).unwrap_or(DEFAULT_RADIUS_DELAY),
        processing: config.frame_processing,
    }
}

/// Target of a candidate. `known`: weakest signals that were computed before, by vector.
fn target(layout: &Layout, at: &WifiStation, known: &mut Vec<(TxVector, f64)>) -> Target {
    let slowest = at.link.slowest();
    let found = known.iter().find(|(vector, _)| *vector == slowest);
    let weakest = found.map_or_else(|| signal::weakest_dbm(&slowest), |(_, weakest)| *weakest);
    if found.is_none() {
        known.push((slowest, weakest));
    }
    let config = &layout.radios[at.radio.index()].config;
    let (band, channel): (Band, u16) = (config.band, config.channel);
    Target {
        channel: scan_channel(band, channel),
        width: at.link.width(),
        weakest,
        ap: at.ap,
    }
}
