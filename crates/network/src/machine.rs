//! A plan's network, from the server to the stations and back.

mod forwarding;
mod next_hop;
mod reflect;

use crate::backhaul::{Backhaul, HopId};
use crate::broadcasts::Broadcasts;
use crate::change_schedule::ChangeSchedule;
use crate::error::NetworkError;
use crate::layout::{Attachment, Layout, PlacedRadio, UnitLink, WifiStation};
use crate::mappings::Mappings;
use crate::meshes::Meshes;
use crate::observe::{BackhaulHop, LinkStats, RadioStats, StationStats, Traffic, others};
use crate::out_of_range::OutOfRange;
use crate::output::{Endpoint, Envelope, Headers, Output, wrap};
use crate::power_save::PowerSaves;
use crate::relay::Relays;
use crate::roaming::Roaming;
use crate::small_queues::SmallQueues;
use crate::steering::Steering;
use crate::wired_stations::WiredStations;
use crate::wiring::Wiring;
use netburn_medium::air::{Account, Air, Transmission, Wake as AirWake};
use netburn_medium::geometry::Position;
use netburn_medium::packet::{NodeId, Packet};
use netburn_medium::queue::QueueConfig;
use netburn_scenario::{Associations, Plan};
use netburn_units::{BitRate, Instant};
use std::collections::VecDeque;

/// A plan's network.
///
/// **Call order:** after every `handle_*`, drain [`poll_output`](Self::poll_output), then wait for
/// a packet or for [`poll_timeout`](Self::poll_timeout). Time 0 is the start of the load; the
/// baseline before it has negative times.
#[derive(Debug)]
pub struct Network<P> {
    pub(crate) air: Air<Envelope<P>>,
    pub(crate) backhaul: Backhaul<P>,
    pub(crate) radios: Vec<PlacedRadio>,
    /// Wi-Fi stations.
    pub(crate) wifi_stations: Vec<WifiStation>,
    pub(crate) roaming: Roaming<P>,
    pub(crate) steering: Steering,
    pub(crate) power_saves: PowerSaves,
    pub(crate) relays: Relays<P>,
    pub(crate) wiring: Wiring,
    pub(crate) meshes: Meshes<P>,
    pub(crate) broadcasts: Broadcasts,
    /// Station of each node after the radios.
    station_of_node: Vec<u16>,
    pub(crate) wired: WiredStations<P>,
    mappings: Option<Mappings>,
    /// By station.
    pub(crate) attachments: Vec<Attachment>,
    /// By node.
    pub(crate) queues: Vec<QueueConfig>,
    /// By node.
    pub(crate) channel_of: Vec<usize>,
    pub(crate) changes: ChangeSchedule,
    /// Flow and bytes of the packets that the server has queued on its hop and that are not sent
    /// yet.
    at_server: VecDeque<(u32, u32)>,
    small_queues: SmallQueues<P>,
    down: Vec<Traffic>,
    up: Vec<Traffic>,
    outputs: VecDeque<Output<P>>,
    /// Cached result of `poll_timeout`; outer `None`: invalidated by a state change.
    pub(crate) cached_timeout: Option<Option<(Instant, Wake)>>,
    /// A station moves, dozes or leaves its channel, or an access point scans, broadcasts, steers, or sends packets on over the air. Most
    /// plans have nothing of this, and each event of the air would ask for its timers.
    has_timers: bool,
}

/// Bytes of the fourth address in frames between access points (802.11-2020 clause 9.3.2.1).
const FOURTH_ADDRESS: u32 = 6;

/// Bytes of the mesh control field without proxied addresses (802.11-2020 clause 9.2.4.7.3).
pub(crate) const MESH_CONTROL: u32 = 6;

/// Reason of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// A setting changes.
    Change,
    /// An event of a wired hop.
    Wire,
    /// The forwarding delay of an access point has passed.
    Relay,
    /// A timer of a mesh's path selection.
    Mesh,
    /// A broadcast packet arrives, or a DTIM beacon is sent.
    Broadcast,
    /// A client's timer, or the motion of a station.
    Roaming,
    /// A timer of the access points that ask stations to move.
    Steering,
    /// A station dozes or wakes, or an access point leaves its channel or returns.
    Presence,
    /// An event on the air.
    Air(AirWake),
}

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Creates the network of a plan.
    ///
    /// # Errors
    /// If the plan's network is invalid.
    pub fn new(plan: &Plan) -> Result<Self, NetworkError> {
        let layout = Layout::from_plan(plan)?;
        let mut backhaul = Backhaul::new(plan, &layout);
        backhaul.hop(HopId::LinkDown).report_sent();
        let queues = layout.queues.iter().filter_map(QueueConfig::build).collect();
        let subject = |node: usize| match layout.radios.get(node) {
            Some(radio) => radio.name.to_string(),
            None => {
                let station = usize::from(layout.station_of_node[node - layout.radios.len()]);
                format!("station.{}", plan.stations[station].name)
            }
        };
        let begin = Instant::ZERO - plan.baseline;
        let mut air = Air::starting_at(begin, &layout.air, queues).map_err(|reason| {
            let links =
                |node: &netburn_medium::air::NodeConfig| node.links.iter().any(|link| link.vector.format().is_err());
            NetworkError::Phy {
                subject: layout.air.nodes.iter().position(links).map(subject).unwrap_or_default(),
                reason,
            }
        })?;
        let changes = ChangeSchedule::from_plan(plan, &layout)?;
        let mut roaming = Roaming::new(plan, &layout, begin);
        roaming.prepare(begin, &mut air);
        for at in layout.wifi_stations.iter().filter(|at| at.is_out_of_range) {
            air.set_away(begin, at.node, true);
            air.disassociate(begin, at.radio, at.node);
            air.disassociate(begin, at.node, at.radio);
        }
        let channels = layout.air.nodes.iter().map(|node| node.channel + 1).max().unwrap_or(0);
        let (steering, steerers) = Steering::new(plan, begin, channels);
        for mobile in &mut roaming.clients {
            mobile.steerer = steerers[usize::from(mobile.station)];
        }
        let power_saves = PowerSaves::new(plan, &layout, begin)?;
        let relays = Relays::new(plan, &layout);
        let wiring = Wiring::new(plan, &layout, &relays);
        for link in &relays.links {
            air.set_extra_header(link.own, link.parent, FOURTH_ADDRESS);
            air.set_extra_header(link.parent, link.own, FOURTH_ADDRESS);
        }
        for (.., link) in layout.meshes.iter().flat_map(|mesh| &mesh.links) {
            air.set_extra_header(link.own, link.parent, FOURTH_ADDRESS + MESH_CONTROL);
            air.set_extra_header(link.parent, link.own, FOURTH_ADDRESS + MESH_CONTROL);
        }
        let meshes = Meshes::new(plan, &layout, begin);
        let broadcasts = Broadcasts::new(plan, &layout, begin);
        let has_timers = !(power_saves.is_empty()
            && relays.is_empty()
            && meshes.meshes.is_empty()
            && broadcasts.sources.is_empty()
            && roaming.clients.is_empty()
            && steering.poll_timeout().is_none());
        let mut network = Network {
            air,
            has_timers,
            mappings: Mappings::from_plan(plan),
            roaming,
            steering,
            power_saves,
            relays,
            wiring,
            meshes,
            broadcasts,
            station_of_node: layout.station_of_node,
            backhaul,
            channel_of: layout.air.nodes.iter().map(|node| node.channel).collect(),
            queues: layout.queues,
            changes,
            at_server: VecDeque::new(),
            small_queues: SmallQueues::new(),
            down: vec![Traffic::default(); layout.attachments.len()],
            up: vec![Traffic::default(); layout.attachments.len()],
            wired: WiredStations::new(plan)?,
            attachments: layout.attachments,
            radios: layout.radios,
            wifi_stations: layout.wifi_stations,
            outputs: VecDeque::new(),
            cached_timeout: None,
        };
        network.start_presence(begin);
        Ok(network)
    }

    /// Sends a packet from one endpoint to another.
    ///
    /// # Panics
    /// If an endpoint isn't in the plan.
    pub fn handle_packet(&mut self, now: Instant, from: Endpoint, to: Endpoint, packet: Packet<P>) {
        self.handle_packet_with(now, from, to, Headers::of_tid(packet.tid), packet);
    }

    /// Sends a packet whose header fields are known.
    ///
    /// # Panics
    /// If an endpoint isn't in the plan.
    pub fn handle_packet_with(
        &mut self,
        now: Instant,
        from: Endpoint,
        to: Endpoint,
        headers: Headers,
        packet: Packet<P>,
    ) {
        self.handle_timeout(now);
        let mut packet = wrap(from, to, headers, packet);
        if let Endpoint::Station(station) = to {
            self.down[usize::from(station)].offered += 1;
        }
        match from {
            Endpoint::Server => self.send(now, packet),
            Endpoint::Station(station) => {
                self.up[usize::from(station)].offered += 1;
                match self.attachments[usize::from(station)] {
                    Attachment::Air(index) => {
                        if let Some(mappings) = &self.mappings {
                            mappings.at_station(station, &mut packet);
                        }
                        if let Some(packet) = self.hold(now, index, packet) {
                            self.wake_to_send(now, index);
                            let at = &self.wifi_stations[index];
                            self.air.handle_packet(now, at.node, at.radio, packet);
                        }
                    }
                    Attachment::Wire(host) => self.wired.send(now, host, packet),
                }
            }
        }
        self.drain_air();
        self.drain_wires(now);
        self.cached_timeout = None;
    }

    /// Announces a TSO burst of `bytes` on `flow`: the server's kernel passes it on at once, faster
    /// than a network card would accept it. At most three bursts of a flow are queued on the link.
    /// Further ones wait in the socket without delaying other flows, as with TCP Small Queues.
    /// Flows without an announcement are not limited.
    pub fn expect_burst(&mut self, flow: u32, bytes: u64) {
        self.small_queues.expect(flow, bytes);
    }

    /// Processes all events up to `now`, in the order of time.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((at, wake)) = self.poll_timeout().filter(|(at, _)| *at <= now) {
            self.step(at, wake);
        }
    }

    /// Processes the events of one hop, of the air, or a change, at `at`.
    fn step(&mut self, at: Instant, wake: Wake) {
        match wake {
            Wake::Change => self.change(at),
            Wake::Wire => {}
            Wake::Relay => self.relay(at),
            Wake::Mesh => self.handle_meshes(at),
            Wake::Broadcast => self.handle_broadcasts(at),
            Wake::Roaming => self.roam(at),
            Wake::Steering => self.steer(at),
            Wake::Presence => self.handle_presence(at),
            Wake::Air(_) => self.air.handle_timeout(at),
        }
        self.drain_air();
        self.drain_wires(at);
        self.cached_timeout = None;
    }

    /// Next output.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    /// Processes events up to `limit`, or up to and including the first instant with an output.
    /// Returns that instant, if any. For callers that have nothing to do without outputs.
    pub fn handle_until(&mut self, mut limit: Instant) -> Option<Instant> {
        let mut first = None;
        while let Some((at, wake)) = self.poll_timeout().filter(|(at, _)| *at <= limit) {
            self.step(at, wake);
            if !self.outputs.is_empty() {
                // The rest of this instant only.
                (first, limit) = (Some(at), at);
            }
        }
        first
    }

    /// Time of the next [`handle_timeout`](Self::handle_timeout), and its reason.
    pub fn poll_timeout(&mut self) -> Option<(Instant, Wake)> {
        if let Some(due) = self.cached_timeout {
            return due;
        }
        let mut due = self.air.poll_timeout().map(|(at, wake)| (at, Wake::Air(wake)));
        // At one instant, a change precedes the wired hops.
        earlier(&mut due, self.backhaul.poll_timeout(), Wake::Wire);
        earlier(&mut due, self.wired.poll_timeout(), Wake::Wire);
        if self.has_timers {
            self.poll_timers(&mut due);
        }
        earlier(&mut due, self.changes.next(), Wake::Change);
        self.cached_timeout = Some(due);
        due
    }

    /// Replaces `due` by the timers of [`has_timers`](Self::has_timers) that are not later. A function of its own, because
    /// most plans have none.
    #[inline(never)]
    fn poll_timers(&mut self, due: &mut Option<(Instant, Wake)>) {
        earlier(due, self.power_saves.poll_timeout(), Wake::Presence);
        earlier(due, self.relays.poll_timeout(), Wake::Relay);
        earlier(due, self.meshes.poll_timeout(), Wake::Mesh);
        earlier(due, self.broadcasts.poll_timeout(), Wake::Broadcast);
        earlier(due, self.roaming.poll_timeout(), Wake::Roaming);
        earlier(due, self.steering.poll_timeout(), Wake::Steering);
    }

    /// Invalidates the cached timeout after a state change.
    pub(crate) fn invalidate_timeout(&mut self) {
        self.cached_timeout = None;
    }

    /// Enables [`poll_transmission`](Self::poll_transmission).
    pub fn trace(&mut self) {
        self.air.trace();
    }

    /// Next data transmission that ended, with its station as sender or receiver; `None` as station
    /// for a transmission between two access points.
    pub fn poll_transmission(&mut self) -> Option<(Option<u16>, Transmission)> {
        let transmission = self.air.poll_transmission()?;
        let station = self
            .station(transmission.to)
            .or_else(|| self.station(transmission.from));
        Some((station, transmission))
    }

    /// Number of stations.
    #[must_use]
    pub fn stations(&self) -> usize {
        self.attachments.len()
    }

    /// Name of the radio that a station joined, as `home.5g`; `None` for a wired station.
    #[must_use]
    pub fn joined(&self, station: u16) -> Option<String> {
        let wifi_station = self.wifi_station(station)?;
        Some(self.radios[wifi_station.radio.index()].name.to_string())
    }

    /// Radios and parents at this time, for a description of the plan.
    #[must_use]
    pub fn associations(&self) -> Associations {
        let radio = |attachment: &Attachment| match *attachment {
            Attachment::Air(index) => {
                let radio = self.wifi_stations[index].radio;
                Some(self.radios[radio.index()].name.clone())
            }
            Attachment::Wire(_) => None,
        };
        let mut parents = vec![None; self.changes.aps.len()];
        let mut backhaul_signals = vec![None; self.changes.aps.len()];
        for link in &self.relays.links {
            parents[link.ap] = Some(link.parent_ap);
            backhaul_signals[link.ap] = link.signals().0;
        }
        let signals = (0..self.attachments.len()).map(|station| self.link_stats(station as u16).signal);
        Associations {
            radios: self.attachments.iter().map(radio).collect(),
            parents,
            signals: signals.collect(),
            backhaul_signals,
        }
    }

    /// True if hosts between a station and the server return its probes (`Reflector`): it has joined an access point, or
    /// has a cable to one or to a router.
    #[must_use]
    pub fn has_reflectors(&self, station: u16) -> bool {
        self.box_of(Endpoint::Station(station)).is_some()
    }

    /// Stations that can't join, because their signal is too weak for the slowest rate.
    #[must_use]
    pub fn out_of_range(&self) -> Vec<OutOfRange> {
        let stations = self.wifi_stations.iter().filter(|at| at.is_out_of_range);
        let out_of_range = stations.filter_map(|at| {
            Some(OutOfRange {
                station: self.changes.stations.get(at.station)?.clone(),
                radio: self.radios[at.radio.index()].name.to_string(),
                band: at.link.band(),
                reason: at.link.too_weak(&at.quality, at.signal_up)?,
            })
        });
        out_of_range.collect()
    }

    /// Statistics of a station.
    #[must_use]
    pub fn station_stats(&self, station: u16) -> StationStats {
        let index = usize::from(station);
        let wifi_station = self.wifi_station(station);
        let channel =
            wifi_station.map(|wifi_station| self.air.channel_account(self.channel_of[wifi_station.radio.index()]));
        StationStats {
            down: self.down[index],
            up: self.up[index],
            air: self.account(index),
            others: channel.map(|channel| others(&channel)),
        }
    }

    /// Account of a station's radio: of all its nodes, if it moves.
    pub(crate) fn account(&self, station: usize) -> Account {
        let Attachment::Air(wifi_station) = self.attachments[station] else {
            return Account::default();
        };
        let node = self.wifi_stations[wifi_station].node;
        let others = self.roaming.nodes(wifi_station).filter(|other| *other != node);
        others.fold(self.air.account(node), |sum, other| sum + self.air.account(other))
    }

    /// Statistics of a station's link.
    #[must_use]
    pub fn link_stats(&self, station: u16) -> LinkStats {
        match self.attachments[usize::from(station)] {
            Attachment::Air(wifi_station) => {
                let wifi_station = &self.wifi_stations[wifi_station];
                let rate = |from, to| self.air.rate(from, to).unwrap_or(BitRate::from_bps(0));
                LinkStats {
                    signal: wifi_station.link.signal(&wifi_station.quality),
                    rate_down: rate(wifi_station.radio, wifi_station.node),
                    rate_up: rate(wifi_station.node, wifi_station.radio),
                }
            }
            Attachment::Wire(host) => {
                let link = self.wired.link(host);
                LinkStats {
                    signal: None,
                    rate_down: link.down,
                    rate_up: link.max_up(),
                }
            }
        }
    }

    /// Wireless links of access points with their parents, in the order of the plan. Links of meshes are not among them.
    #[must_use]
    pub fn backhaul_hops(&self) -> Vec<BackhaulHop> {
        let hop = |link: &UnitLink| BackhaulHop {
            ap: link.ap,
            parent: link.parent_ap,
            channel: self.channel_of[link.own.index()],
            rate: BitRate::from_bps(link.expected_bps() as u64),
        };
        self.relays.links.iter().map(hop).collect()
    }

    /// Position of a station at the last update of its signals, which is at most 100 ms old; `None` if its signals do
    /// not follow from a position.
    #[must_use]
    pub fn position(&self, station: u16) -> Option<Position> {
        match *self.attachments.get(usize::from(station))? {
            Attachment::Air(wifi_station) => self.roaming.position(wifi_station),
            Attachment::Wire(_) => None,
        }
    }

    /// Statistics of the access points' radios.
    #[must_use]
    pub fn radio_stats(&self) -> Vec<RadioStats> {
        let stats = |(index, radio): (usize, &PlacedRadio)| {
            let node = NodeId(index as u16);
            RadioStats {
                name: radio.name.to_string(),
                air: self.air.account(node),
                backlog: self.air.backlog(node),
                channel: self.channel_of[index],
                time: self.air.channel_account(self.channel_of[index]),
            }
        };
        self.radios.iter().enumerate().map(stats).collect()
    }

    /// Station of a node; `None` for a radio of an access point.
    fn station(&self, node: NodeId) -> Option<u16> {
        let index = node.index().checked_sub(self.radios.len())?;
        self.station_of_node.get(index).copied()
    }

    /// Wi-Fi station, if the station is not wired.
    fn wifi_station(&self, station: u16) -> Option<&WifiStation> {
        match self.attachments[usize::from(station)] {
            Attachment::Air(wifi_station) => Some(&self.wifi_stations[wifi_station]),
            Attachment::Wire(_) => None,
        }
    }
}

/// Replaces `due` by another timeout that is not later.
fn earlier(due: &mut Option<(Instant, Wake)>, other: Option<Instant>, wake: Wake) {
    if let Some(at) = other
        && due.is_none_or(|(first, _)| at <= first)
    {
        *due = Some((at, wake));
    }
}
