//! A plan's network, from the server to the stations and back.

mod change;
mod change_schedule;
mod delivery_bound;
mod features;
mod forwarding;
mod mappings;
mod next_hop;
mod reflect;
mod wiring;

use crate::broadcast::BroadcastStats;
use crate::error::NetworkError;
use crate::frame::FrameBody;
use crate::layout::{Attachment, Layout, PlacedRadio, WifiStation};
use crate::mesh::MeshEvent;
use crate::multicast::MulticastStats;
use crate::observe::{JoinedRadio, LinkStats, RadioStats, StationStats, Traffic, others};
use crate::out_of_range::OutOfRange;
use crate::output::{Endpoint, Headers, Output, Payload, wrap};
use crate::roaming::ClientEvent;
use crate::wires::backhaul::Backhaul;
use crate::wires::small_queues::SmallQueues;
use crate::wires::stations::WiredStations;
use crate::wlan::Wlan;
pub use change_schedule::AppliedChange;
use change_schedule::ChangeSchedule;
pub use features::Feature;
use features::{Features, PlanWlan};
use mappings::Mappings;
use netburn_medium::air::{Account, Transmission};
use netburn_medium::geometry::Position;
use netburn_medium::packet::{NodeId, Packet};
use netburn_scenario::Plan;
use netburn_units::{BitRate, Duration, Instant};
use std::collections::VecDeque;
use wiring::Wiring;

/// A plan's network.
///
/// **Call order:** after every `handle_*`, drain [`poll_output`](Self::poll_output), then wait for
/// a packet or for [`poll_timeout`](Self::poll_timeout). Time 0 is the start of the load; the
/// baseline before it has negative times.
#[derive(Debug)]
pub struct Network<P> {
    wlan: PlanWlan<P>,
    features: Features<P>,
    backhaul: Backhaul<P>,
    wired: WiredStations<P>,
    wiring: Wiring,
    mappings: Option<Mappings>,
    /// True without features and mappings.
    is_plain: bool,
    /// By station.
    attachments: Vec<Attachment>,
    changes: ChangeSchedule,
    /// True if no output reports the packets that leave the server.
    plans_sent: bool,
    /// Flow and bytes of the packets that the server has queued on its hop and that are not sent yet. Empty if
    /// `plans_sent`.
    at_server: VecDeque<(u32, u32)>,
    small_queues: SmallQueues<P>,
    down: Vec<Traffic>,
    up: Vec<Traffic>,
    outputs: VecDeque<Output<P>>,
    /// Cached result of `poll_timeout`; outer `None`: invalidated by a state change.
    cached_timeout: Option<Option<(Instant, Wake)>>,
}

/// Reason of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// A setting changes.
    Change,
    /// An event of a wired hop.
    Wire,
    /// A timer of a feature.
    Feature(Feature),
    /// An event on the air, whose own reason nothing outside the air needs.
    Air,
}

impl<P: Payload> Network<P> {
    /// Creates the network of a plan.
    ///
    /// # Errors
    /// If the plan's network is invalid.
    pub fn new(plan: &Plan) -> Result<Self, NetworkError> {
        let layout = Layout::from_plan(plan)?;
        let backhaul = Backhaul::new(plan, &layout);
        let begin = Instant::ZERO - plan.baseline;
        let mut wlan = Wlan::new(plan, &layout, begin)?;
        let changes = ChangeSchedule::from_plan(plan, &layout)?;
        let features = Features::new(plan, &layout, begin, &mut wlan)?;
        let mappings = Mappings::from_plan(plan);
        Ok(Network {
            wiring: Wiring::new(plan, &layout, &features.relays),
            is_plain: features.is_empty() && mappings.is_none(),
            mappings,
            wired: WiredStations::new(plan)?,
            down: vec![Traffic::default(); layout.attachments.len()],
            up: vec![Traffic::default(); layout.attachments.len()],
            attachments: layout.attachments,
            plans_sent: false,
            at_server: VecDeque::new(),
            small_queues: SmallQueues::new(),
            outputs: VecDeque::new(),
            cached_timeout: None,
            wlan,
            features,
            backhaul,
            changes,
        })
    }

    /// Sends a packet from one endpoint to another.
    ///
    /// # Panics
    /// If an endpoint isn't in the plan.
    pub fn handle_packet(&mut self, now: Instant, from: Endpoint, to: Endpoint, packet: Packet<P>) {
        self.handle_packet_with(now, from, to, Headers::of_tid(packet.tid), packet);
    }

    /// Sends a packet whose header fields are known. Returns the time at which it will have left the server's host, if
    /// these times are [planned](Self::plan_sent).
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
    ) -> Option<Instant> {
        self.handle_timeout(now);
        let mut sent = None;
        let mut packet = wrap(from, to, headers, packet);
        if let Endpoint::Station(station) = to {
            self.down[usize::from(station)].offered += 1;
        }
        match from {
            Endpoint::Server => {
                sent = self.send(now, packet);
                if self.backhaul.poll_timeout().is_none_or(|at| at > now) {
                    // All its events are later.
                    self.cache_wire_timeout();
                    return sent;
                }
            }
            Endpoint::Station(station) => {
                self.up[usize::from(station)].offered += 1;
                match self.attachments[usize::from(station)] {
                    Attachment::Air(index) => {
                        if let Some(mappings) = &self.mappings {
                            mappings.at_station(station, &mut packet);
                        }
                        let packet = packet.map(FrameBody::Data);
                        let (features, wlan) = (&mut self.features, &mut self.wlan);
                        if features.is_empty() || features.prepare_uplink(now, wlan, index) {
                            let at = &wlan.stations[index];
                            wlan.air.handle_packet(now, at.node, at.radio, packet);
                        } else {
                            features.roaming.hold(now, wlan, index, packet);
                        }
                    }
                    Attachment::Wire(host) => self.wired.send(now, host, packet),
                }
            }
        }
        self.drain_air();
        self.drain_wires(now);
        self.cached_timeout = None;
        sent
    }

    /// Disables [`Output::Sent`] for packets of the server, and [`expect_burst`](Self::expect_burst).
    /// [`handle_packet_with`](Self::handle_packet_with) returns their times instead. [`Output::SentTimesChanged`] invalidates
    /// them.
    pub fn plan_sent(&mut self) {
        self.plans_sent = true;
        self.backhaul.report_nothing_sent();
        self.cached_timeout = None;
    }

    /// Flows of the packets that have not left the server at `now`, in order, each with the time at which it will.
    #[must_use]
    pub fn planned_sent(&self, now: Instant) -> Vec<(Instant, u32)> {
        let planned = self.backhaul.planned_from_server(now).into_iter();
        planned.map(|(at, packet)| (at, packet.flow)).collect()
    }

    /// Announces a TSO burst of `bytes` on `flow`: the server's kernel passes it on at once, faster
    /// than a network card would accept it. At most three bursts of a flow are queued on the link.
    /// Further ones wait in the socket without delaying other flows, as with TCP Small Queues.
    /// Flows without an announcement are not limited.
    pub fn expect_burst(&mut self, flow: u32, bytes: u64) {
        if !self.plans_sent {
            self.small_queues.expect(flow, bytes);
        }
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
            Wake::Air => self.wlan.air.handle_timeout(at),
            Wake::Feature(Feature::Relay) => {
                while let Some((ap, packet)) = self.features.poll_relayed(at, &mut self.wlan) {
                    self.forward(at, ap, packet);
                }
            }
            Wake::Feature(feature) => self.features.handle_timeout(at, &mut self.wlan, feature),
        }
        self.drain_air();
        self.drain_wires(at);
        self.cached_timeout = None;
    }

    /// Next output.
    #[inline]
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    /// Returns true if [`poll_output`](Self::poll_output) returns an output.
    #[must_use]
    #[inline]
    pub fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Processes events up to `limit`, or up to and including the first instant with an output.
    /// Returns that instant, if any. For callers that have nothing to do without outputs.
    pub fn handle_until(&mut self, mut limit: Instant) -> Option<Instant> {
        let mut first = None;
        while let Some((mut at, wake)) = self.poll_timeout().filter(|(at, _)| *at <= limit) {
            if wake == Wake::Wire {
                at = self.run_wires(at, limit);
            } else {
                self.step(at, wake);
            }
            if !self.outputs.is_empty() {
                // The rest of this instant only.
                (first, limit) = (Some(at), at);
            }
        }
        first
    }

    /// Processes the events of wired hops at `at`, and in a plain network those of the link from the server up to the first
    /// output, another event, or `limit`. Returns the last instant.
    fn run_wires(&mut self, at: Instant, limit: Instant) -> Instant {
        if self.is_plain {
            // At one instant, a change precedes the wired hops.
            let others = [self.wired.poll_timeout(), self.changes.next()];
            let first = others.into_iter().flatten().min();
            let before = first.map_or(limit, |at| limit.min(at - Duration::from_nanos(1)));
            if let Some(last) = self.run_from_server(before) {
                self.cached_timeout = None;
                return last;
            }
        }
        self.step(at, Wake::Wire);
        at
    }

    /// Time of the next [`handle_timeout`](Self::handle_timeout), and its reason.
    #[inline]
    pub fn poll_timeout(&mut self) -> Option<(Instant, Wake)> {
        match self.cached_timeout {
            Some(due) => due,
            None => self.next_timeout(),
        }
    }

    #[inline(never)]
    fn next_timeout(&mut self) -> Option<(Instant, Wake)> {
        let mut due = self.wlan.air.poll_timeout().map(|(at, _)| (at, Wake::Air));
        // At one instant, a change precedes the wired hops.
        earlier(&mut due, self.backhaul.poll_timeout(), Wake::Wire);
        earlier(&mut due, self.wired.poll_timeout(), Wake::Wire);
        if !self.features.is_empty() {
            for (feature, at) in self.features.timeouts() {
                earlier(&mut due, at, Wake::Feature(feature));
            }
        }
        earlier(&mut due, self.changes.next(), Wake::Change);
        self.cached_timeout = Some(due);
        due
    }

    /// Updates the cached timeout after a packet that only a wired hop of the backhaul has.
    fn cache_wire_timeout(&mut self) {
        let Some(due) = &mut self.cached_timeout else { return };
        let wire = self.backhaul.poll_timeout();
        // At one instant, a wire precedes the air only.
        let precedes = match (wire, *due) {
            (Some(wire), Some((at, Wake::Air))) => wire <= at,
            (Some(wire), Some((at, _))) => wire < at,
            (wire, None) => wire.is_some(),
            (None, Some(_)) => false,
        };
        if precedes {
            *due = wire.map(|at| (at, Wake::Wire));
        }
    }

    /// Next event of a client.
    pub fn poll_client_event(&mut self) -> Option<ClientEvent> {
        self.features.roaming.poll_event()
    }

    /// Next event of a mesh.
    pub fn poll_mesh_event(&mut self) -> Option<MeshEvent> {
        self.features.meshes.poll_event()
    }

    /// Enables [`poll_transmission`](Self::poll_transmission).
    pub fn trace(&mut self) {
        self.wlan.air.trace();
    }

    /// Next data transmission that ended, with its station as sender or receiver; `None` as station
    /// for a transmission between two access points.
    pub fn poll_transmission(&mut self) -> Option<(Option<u16>, Transmission)> {
        let transmission = self.wlan.air.poll_transmission()?;
        let station_of = |node| self.wlan.station_of(node);
        let station = transmission.to.and_then(station_of);
        Some((station.or_else(|| station_of(transmission.from)), transmission))
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
        Some(self.wlan.radio_name(wifi_station.radio))
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
        let stations = self.wlan.stations.iter().filter(|at| at.is_out_of_range);
        let out_of_range = stations.filter_map(|at| {
            Some(OutOfRange {
                station: self.changes.stations.get(at.station)?.clone(),
                radio: self.wlan.radio_name(at.radio),
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
        let channel = wifi_station.map(|at| {
            let channel = self.wlan.channel_of[at.radio.index()];
            self.wlan.air.channel_account(channel)
        });
        StationStats {
            down: self.down[index],
            up: self.up[index],
            air: self.account(index),
            others: channel.map(|channel| others(&channel)),
        }
    }

    /// Account of a station's radio: of all its nodes, if it moves.
    fn account(&self, station: usize) -> Account {
        match self.attachments[station] {
            Attachment::Air(index) => self.features.roaming.account(&self.wlan, index),
            Attachment::Wire(_) => Account::default(),
        }
    }

    /// Counters of the broadcast traffic of a network, by its index in the plan; `None` if it has none.
    #[must_use]
    pub fn broadcast_stats(&self, network: usize) -> Option<BroadcastStats> {
        self.features.broadcasts.stats(network)
    }

    /// Counters of the multicast of an access point, by its index in the plan; `None` if it has none.
    #[must_use]
    pub fn multicast_stats(&self, ap: usize) -> Option<&MulticastStats> {
        self.features.multicasts.stats(ap)
    }

    /// Statistics of a station's link.
    #[must_use]
    pub fn link_stats(&self, station: u16) -> LinkStats {
        match self.attachments[usize::from(station)] {
            Attachment::Air(wifi_station) => {
                let wifi_station = &self.wlan.stations[wifi_station];
                let rate = |from, to| self.wlan.air.rate(from, to).unwrap_or(BitRate::from_bps(0));
                LinkStats {
                    signal: wifi_station.link.signal(&wifi_station.quality),
                    rate_down: rate(wifi_station.radio, wifi_station.node),
                    rate_up: rate(wifi_station.node, wifi_station.radio),
                    radio: Some(JoinedRadio {
                        number: wifi_station.radio.index(),
                        frequency_mhz: self.wlan.radios[wifi_station.radio.index()].config.frequency_mhz(),
                    }),
                }
            }
            Attachment::Wire(host) => {
                let link = self.wired.link(host);
                LinkStats {
                    signal: None,
                    rate_down: link.down,
                    rate_up: link.max_up(),
                    radio: None,
                }
            }
        }
    }

    /// Position of a station at the last update of its signals, which is at most 100 ms old; `None` if its signals do
    /// not follow from a position.
    #[must_use]
    pub fn position(&self, station: u16) -> Option<Position> {
        match *self.attachments.get(usize::from(station))? {
            Attachment::Air(wifi_station) => self.features.roaming.position(wifi_station),
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
                air: self.wlan.air.account(node),
                backlog: self.wlan.air.backlog(node),
                channel: self.wlan.channel_of[index],
                time: self.wlan.air.channel_account(self.wlan.channel_of[index]),
            }
        };
        self.wlan.radios.iter().enumerate().map(stats).collect()
    }

    /// Wi-Fi station, if the station is not wired.
    fn wifi_station(&self, station: u16) -> Option<&WifiStation> {
        match self.attachments[usize::from(station)] {
            Attachment::Air(wifi_station) => Some(&self.wlan.stations[wifi_station]),
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
