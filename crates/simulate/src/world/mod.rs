//! The whole path in virtual time: workloads at the stations, HTTP over TCP, the network, the server.
//!
//! [`World`] owns everything and knows one instant. What is due next decides how far the clock jumps: a packet, a workload, an
//! endpoint's timer, or the tenth of a second at which things are looked at. Then what came is worked off until nothing moves at this
//! instant any more: [`arrivals`] puts packets into endpoints, [`traffic`] does what workloads ask for and tells them what came of it,
//! and endpoints send. [`observe`] makes rows of what can be seen from outside.

mod arrivals;
mod completions;
mod connection;
mod exchange;
mod gathering;
mod gro;
mod lane;
mod load;
mod loads;
mod observe;
mod seen;
mod traffic;
mod users;

use crate::error::SimulateError;
use crate::seen::Seen;
use completions::Completions;
use connection::Connection;
use exchange::Framing;
use gathering::Gathering;
use gro::Joined;
use load::End;
use loads::{Loads, Ticket};
use netburn_network::Network;
use netburn_record::Row;
use netburn_scenario::Plan;
use netburn_tcp::EndpointConfig;
use netburn_units::{Duration, Instant};
use netburn_workload::Deadlines;
use observe::Observer;
use std::collections::VecDeque;
use users::User;

/// How often what can be seen from outside is looked at: the length of an interval.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Everything.
pub(crate) struct World {
    now: Instant,
    network: Network<Ticket>,
    loads: Loads,
    users: Vec<User>,
    users_due: Deadlines,
    /// By slot; a slot is used again when its connection is over.
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// By a connection's number: its slot.
    slots: Vec<u32>,
    /// By twice the slot and the end.
    endpoints_due: Deadlines,
    /// Endpoints that may have something to send or to tell, each once.
    restless: Vec<(usize, End)>,
    is_restless: Vec<[bool; 2]>,
    /// What hosts have received, and whether it is being passed on.
    received: VecDeque<Joined>,
    passing_on: bool,
    /// Whether the last segment in `received` may be joined with the next one (generic receive offload).
    is_joining: bool,
    /// By station: whether its host joins what comes at once.
    joins: Vec<bool>,
    completions: Completions,
    gathering: Gathering,
    /// By station: how its endpoints and the server's behave.
    stations: Vec<EndpointConfig>,
    server: EndpointConfig,
    tls: bool,
    framing: Framing,
    rows: Vec<Row>,
    observer: Observer,
    counted: Counted,
    /// Where somebody looks.
    seen: Option<Vec<Seen>>,
}

/// What it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// TCP segments with content that were sent, retransmissions included.
    pub data_segments: u64,
    /// All packets that were sent.
    pub packets: u64,
    /// Connections that were opened.
    pub connections: u64,
}

impl World {
    /// A plan's world, before anything has happened: at `-baseline`.
    pub(crate) fn new(plan: &Plan) -> Result<Self, SimulateError> {
        let network = Network::new(plan)?;
        let (users, begin) = users::of(plan);
        let mut users_due = Deadlines::new(users.len());
        for (index, user) in users.iter().enumerate() {
            users_due.set(index, user.watched.machine().poll_timeout().map(|(at, _)| at));
        }
        let stations = plan.stations.iter().map(users::station_endpoint).collect::<Vec<_>>();
        let observer = Observer::new(plan, &network);
        let gathering = Gathering::new(plan, &network);
        Ok(World {
            now: begin,
            network,
            loads: Loads::default(),
            users,
            users_due,
            connections: Vec::new(),
            free: Vec::new(),
            slots: Vec::new(),
            endpoints_due: Deadlines::new(0),
            restless: Vec::new(),
            is_restless: Vec::new(),
            received: VecDeque::new(),
            passing_on: false,
            is_joining: false,
            joins: plan.stations.iter().map(|station| station.gro).collect(),
            completions: Completions::new(plan),
            gathering,
            stations,
            server: users::server_endpoint(plan),
            tls: plan.server.tls,
            framing: Framing::new(plan.server.http),
            rows: Vec::new(),
            observer,
            counted: Counted::default(),
            seen: None,
        })
    }

    /// The instant it has come to.
    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// What it took so far.
    pub(crate) fn counted(&self) -> Counted {
        self.counted
    }

    /// Lets everything happen until `until`.
    pub(crate) fn run_until(&mut self, until: Instant) {
        loop {
            let cards = earlier(self.completions.next(), self.gathering.next());
            let hosts = earlier(self.endpoints_due.next(), cards);
            let due = earlier(self.users_due.next(), hosts).filter(|due| *due <= until);
            let limit = due.unwrap_or(until).max(self.now);
            match self.network.handle_until(limit) {
                Some(at) => {
                    self.now = self.now.max(at);
                    self.take_arrivals();
                }
                None if due.is_none() => break,
                None => self.now = limit,
            }
            let now = self.now;
            while let Some(held) = self.completions.pop(now) {
                held.into_iter().for_each(|(flow, packets)| self.left(flow, packets));
            }
            self.take_gathered();
            while let Some((_, place)) = self.endpoints_due.pop(now) {
                self.wake_endpoint(place);
            }
            while let Some((_, user)) = self.users_due.pop(now) {
                self.users[user].watched.machine_mut().handle_timeout(now);
                self.take_actions(user);
            }
            self.settle();
        }
        self.now = self.now.max(until);
    }

    /// Works off what is to happen at this instant.
    fn settle(&mut self) {
        while let Some((slot, end)) = self.restless.pop() {
            self.is_restless[slot][end.index()] = false;
            self.serve(slot, end);
        }
    }

    /// The rows since the last call.
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    /// A tenth of a second has ended.
    pub(crate) fn look(&mut self) {
        for user in &mut self.users {
            user.watched.interval_ended(self.now, &mut self.rows);
        }
        self.observer.look(self.now, &mut self.network, &mut self.rows);
        self.look_at_connections();
    }

    /// The run is over: what is left becomes rows.
    pub(crate) fn finish(&mut self) {
        for index in 0..self.users.len() {
            let user = &mut self.users[index];
            user.watched.machine_mut().handle_timeout(self.now);
            user.watched.finish(&mut self.rows);
        }
    }
}

/// The earlier of two instants, either of which there may not be.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
