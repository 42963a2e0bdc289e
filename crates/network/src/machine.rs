//! A plan's network, from the server to the stations and back.

mod ways;

use crate::change::Changes;
use crate::error::NetworkError;
use crate::layout::{Layout, Place, PlacedRadio, Seat};
use crate::observe::{LinkSeen, RadioSeen, StationSeen, Traffic, others};
use crate::output::{Endpoint, Output, Parcel, wrap};
use crate::queue::QueueConfig;
use crate::sockets::Sockets;
use crate::wired::Wired;
use crate::wires::{Wire, Wires};
use netburn_medium::air::{Air, Transmission, Wake as AirWake};
use netburn_medium::packet::{NodeId, Packet};
use netburn_scenario::Plan;
use netburn_units::{BitRate, Instant};
use std::collections::VecDeque;

/// A plan's network.
///
/// **Call order:** after every `handle_*`, drain [`poll_output`](Self::poll_output), then come back with a packet or at
/// [`poll_timeout`](Self::poll_timeout). Time 0 is when the load begins; a baseline before it has negative times.
#[derive(Debug)]
pub struct Network<P> {
    pub(crate) air: Air<Parcel<P>>,
    pub(crate) wires: Wires<P>,
    pub(crate) radios: Vec<PlacedRadio>,
    /// The stations on the air.
    pub(crate) places: Vec<Place>,
    pub(crate) wired: Wired<P>,
    /// By station.
    pub(crate) seats: Vec<Seat>,
    /// By node.
    pub(crate) queues: Vec<QueueConfig>,
    /// By node.
    pub(crate) channel_of: Vec<usize>,
    pub(crate) changes: Changes,
    /// Flow and bytes of what the server has handed to its hop and that hasn't been sent.
    at_server: VecDeque<(u32, u32)>,
    sockets: Sockets<P>,
    down: Vec<Traffic>,
    up: Vec<Traffic>,
    outputs: VecDeque<Output<P>>,
    /// What is due next, since it was last reckoned: nothing has happened since then.
    pub(crate) due: Option<Option<(Instant, Wake)>>,
}

/// Why the network wants to be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// A setting changes.
    Change,
    /// Something on a wire.
    Wire,
    /// Something on the air.
    Air(AirWake),
}

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// The network of a plan.
    ///
    /// # Errors
    /// When the plan's network can't be: what is wrong and what would be right.
    pub fn new(plan: &Plan) -> Result<Self, NetworkError> {
        let layout = Layout::of(plan)?;
        let mut wires = Wires::new(plan, &layout);
        wires.hop(Wire::LinkDown).tell_sent();
        let queues = layout.queues.iter().map(QueueConfig::build).collect();
        let whose = |node: usize| match layout.radios.get(node) {
            Some(radio) => radio.name.to_string(),
            None => {
                let station = layout.places[node - layout.radios.len()].station;
                format!("station.{}", plan.stations[station].name)
            }
        };
        let air = Air::beginning(Instant::ZERO - plan.baseline, &layout.air, queues).map_err(|why| {
            let links =
                |node: &netburn_medium::air::NodeConfig| node.links.iter().any(|link| link.vector.format().is_err());
            NetworkError::Phy {
                whose: layout.air.nodes.iter().position(links).map(whose).unwrap_or_default(),
                why,
            }
        })?;
        let changes = Changes::of(plan, &layout)?;
        Ok(Network {
            air,
            wires,
            channel_of: layout.air.nodes.iter().map(|node| node.channel).collect(),
            queues: layout.queues,
            changes,
            at_server: VecDeque::new(),
            sockets: Sockets::new(),
            down: vec![Traffic::default(); layout.seats.len()],
            up: vec![Traffic::default(); layout.seats.len()],
            wired: Wired::new(plan)?,
            seats: layout.seats,
            radios: layout.radios,
            places: layout.places,
            outputs: VecDeque::new(),
            due: None,
        })
    }

    /// A packet leaves one end for another.
    ///
    /// # Panics
    /// When an end isn't in the plan.
    pub fn handle_packet(&mut self, now: Instant, from: Endpoint, to: Endpoint, packet: Packet<P>) {
        self.handle_timeout(now);
        let packet = wrap(from, to, packet);
        if let Endpoint::Station(station) = to {
            self.down[usize::from(station)].offered += 1;
        }
        match from {
            Endpoint::Server => self.send(now, packet),
            Endpoint::Station(station) => {
                self.up[usize::from(station)].offered += 1;
                match self.seats[usize::from(station)] {
                    Seat::Air(place) => {
                        let place = &self.places[place];
                        self.air.handle_packet(now, place.node, place.radio, packet);
                    }
                    Seat::Wire(host) => self.wired.send(now, host, packet),
                }
            }
        }
        self.drain_air();
        self.drain_wires(now);
        self.due = None;
    }

    /// The server's kernel hands over next what its TCP sent as one burst of a flow, so many bytes, and would hand over more at once
    /// than a card would take: of this flow no more than three bursts wait for the link, and the rest where it is in nobody's way, as
    /// TCP Small Queues have it. Flows that this isn't said of aren't held back.
    pub fn expect_burst(&mut self, flow: u32, bytes: u64) {
        self.sockets.expect(flow, bytes);
    }

    /// Time has come to `now`: everything that happens until then happens, in its order.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((at, wake)) = self.poll_timeout().filter(|(at, _)| *at <= now) {
            self.step(at, wake);
        }
    }

    /// What is due at `at` happens.
    fn step(&mut self, at: Instant, wake: Wake) {
        match wake {
            Wake::Change => self.change(at),
            Wake::Wire => {}
            Wake::Air(_) => self.air.handle_timeout(at),
        }
        self.drain_air();
        self.drain_wires(at);
        self.due = None;
    }

    /// The next thing that happened.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    /// Lets happen what happens until `limit`, but for what comes after the first instant at which something came out. That instant, if
    /// there is one. For callers who have nothing to do while nothing comes out.
    pub fn handle_until(&mut self, mut limit: Instant) -> Option<Instant> {
        let mut first = None;
        while let Some((at, wake)) = self.poll_timeout().filter(|(at, _)| *at <= limit) {
            self.step(at, wake);
            if !self.outputs.is_empty() {
                // The rest of this instant, and no more.
                (first, limit) = (Some(at), at);
            }
        }
        first
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), and why.
    pub fn poll_timeout(&mut self) -> Option<(Instant, Wake)> {
        if let Some(due) = self.due {
            return due;
        }
        let mut due = self.air.poll_timeout().map(|(at, wake)| (at, Wake::Air(wake)));
        // Of one instant the change comes first, then the wire.
        let mut before = |other: Option<Instant>, wake| {
            if let Some(at) = other
                && due.is_none_or(|(first, _)| at <= first)
            {
                due = Some((at, wake));
            }
        };
        before(self.wires.poll_timeout(), Wake::Wire);
        before(self.wired.poll_timeout(), Wake::Wire);
        before(self.changes.next(), Wake::Change);
        self.due = Some(due);
        due
    }

    /// Something has happened: what is due next must be reckoned anew.
    pub(crate) fn forget_due(&mut self) {
        self.due = None;
    }

    /// From now on data transmissions are kept for [`poll_transmission`](Self::poll_transmission).
    pub fn trace(&mut self) {
        self.air.trace();
    }

    /// The next data transmission that ended, with the station it was for or from.
    pub fn poll_transmission(&mut self) -> Option<(u16, Transmission)> {
        let transmission = self.air.poll_transmission()?;
        let station = self
            .station(transmission.to)
            .or_else(|| self.station(transmission.from));
        Some((
            station.expect("one end of a link on the air is a station"),
            transmission,
        ))
    }

    /// How many stations there are.
    #[must_use]
    pub fn stations(&self) -> usize {
        self.seats.len()
    }

    /// The name of the radio that a station joined, `home.5g`; `None` for one on a wire.
    #[must_use]
    pub fn joined(&self, station: u16) -> Option<String> {
        let place = self.place(station)?;
        Some(self.radios[place.radio.index()].name.to_string())
    }

    /// A station, as it is seen.
    #[must_use]
    pub fn station_seen(&self, station: u16) -> StationSeen {
        let index = usize::from(station);
        let place = self.place(station);
        let channel = place.map(|place| self.air.channel_account(self.channel_of[place.radio.index()]));
        StationSeen {
            down: self.down[index],
            up: self.up[index],
            air: place.map(|place| self.air.account(place.node)).unwrap_or_default(),
            others: channel.map(|channel| others(&channel)),
        }
    }

    /// A station's link, as it is seen.
    #[must_use]
    pub fn link_seen(&self, station: u16) -> LinkSeen {
        match self.seats[usize::from(station)] {
            Seat::Air(place) => {
                let place = &self.places[place];
                let rate = |from, to| self.air.rate(from, to).unwrap_or(BitRate::from_bps(0));
                LinkSeen {
                    signal: place.link.signal(&place.quality),
                    rate_down: rate(place.radio, place.node),
                    rate_up: rate(place.node, place.radio),
                }
            }
            Seat::Wire(host) => {
                let link = self.wired.link(host);
                LinkSeen {
                    signal: None,
                    rate_down: link.down,
                    rate_up: link.max_up(),
                }
            }
        }
    }

    /// The access points' radios, as they are seen.
    #[must_use]
    pub fn radios_seen(&self) -> Vec<RadioSeen> {
        let seen = |(index, radio): (usize, &PlacedRadio)| {
            let node = NodeId(index as u16);
            RadioSeen {
                name: radio.name.to_string(),
                air: self.air.account(node),
                backlog: self.air.backlog(node),
                channel: self.channel_of[index],
                time: self.air.channel_account(self.channel_of[index]),
            }
        };
        self.radios.iter().enumerate().map(seen).collect()
    }

    /// The station behind a node, if it isn't a radio of an access point.
    fn station(&self, node: NodeId) -> Option<u16> {
        let index = node.index().checked_sub(self.radios.len())?;
        Some(self.places[index].station as u16)
    }

    /// A station's place on the air, if it is there.
    fn place(&self, station: u16) -> Option<&Place> {
        match self.seats[usize::from(station)] {
            Seat::Air(place) => Some(&self.places[place]),
            Seat::Wire(_) => None,
        }
    }
}
