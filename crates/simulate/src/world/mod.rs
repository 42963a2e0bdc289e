//! Complete simulation: workloads at the stations, HTTP over TCP, the network, the server.
//!
//! [`World`] owns all state and has one current instant. The clock jumps to the next event: a
//! packet, a workload, an endpoint's timer, or the 100 ms sampling tick. Then all consequences of
//! this instant are processed. [`arrivals`] passes packets to endpoints, [`traffic`] executes the
//! workloads' actions and reports results to them, and endpoints send. [`observe`] produces rows
//! from samples.

mod arrivals;
mod capture;
mod clients;
mod completions;
mod connection;
mod exchange;
mod gro;
mod lane;
mod observe;
mod payload;
mod payload_pool;
mod ready;
mod rx_coalescing;
mod traffic;
mod unsent;
mod video;

use crate::capture::CaptureEvent;
use crate::error::SimulateError;
use clients::Client;
use completions::Completions;
use connection::Connection;
use exchange::Framing;
use gro::ReceiveQueue;
use netburn_network::Network;
use netburn_network_rows::Observer;
use netburn_record::Row;
use netburn_scenario::Plan;
use netburn_tcp::EndpointConfig;
use netburn_units::{Duration, Instant, earlier};
use netburn_workload::Deadlines;
use payload::End;
use payload_pool::{PayloadId, PayloadPool};
use ready::Ready;
use rx_coalescing::RxCoalescing;

/// Sampling period: the length of an interval.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Complete state of a simulation.
pub(crate) struct World {
    now: Instant,
    network: Network<PayloadId>,
    payloads: PayloadPool,
    clients: Vec<Client>,
    clients_due: Deadlines,
    /// By slot; a slot is reused after the end of its connection.
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// By number of the connection.
    numbered: Vec<Numbered>,
    /// By twice the slot plus the end.
    endpoints_due: Deadlines,
    ready: Ready,
    /// By slot: the next packet whose memory its server's endpoint waits for.
    freed_due: Deadlines,
    receive: ReceiveQueue,
    completions: Completions,
    rx_coalescing: RxCoalescing,
    /// By station: configuration of its endpoints; and the server's.
    stations: Vec<EndpointConfig>,
    server: Server,
    rows: Vec<Row>,
    observer: Observer,
    counters: Counters,
    /// Captured events, if capture is enabled.
    captured: Option<Vec<CaptureEvent>>,
}

/// Data of a connection that remain after its end.
struct Numbered {
    slot: u32,
    dscp: u8,
}

/// The server of all workloads.
struct Server {
    endpoint: EndpointConfig,
    tls: bool,
    framing: Framing,
}

/// Counters of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// TCP segments with content that were sent, including retransmissions.
    pub data_segments: u64,
    /// All packets that were sent.
    pub packets: u64,
    /// Opened connections.
    pub connections: u64,
}

impl World {
    /// Initial state of a plan, at `-baseline`.
    pub(crate) fn new(plan: &Plan) -> Result<Self, SimulateError> {
        let mut network = Network::new(plan)?;
        network.plan_sent();
        let (clients, begin) = clients::from_plan(plan);
        let mut clients_due = Deadlines::new(clients.len());
        for (index, client) in clients.iter().enumerate() {
            clients_due.set(index, client.recorded.machine().poll_timeout().map(|(at, _)| at));
        }
        let observer = Observer::new(&network, Instant::ZERO - plan.baseline);
        let rx_coalescing = RxCoalescing::new(plan, &network);
        Ok(World {
            now: begin,
            network,
            payloads: PayloadPool::default(),
            clients,
            clients_due,
            connections: Vec::new(),
            free: Vec::new(),
            numbered: Vec::new(),
            endpoints_due: Deadlines::new(0),
            ready: Ready::default(),
            freed_due: Deadlines::new(0),
            receive: ReceiveQueue::new(plan),
            completions: Completions::new(plan),
            rx_coalescing,
            stations: plan.stations.iter().map(clients::station_endpoint).collect(),
            server: Server {
                endpoint: clients::server_endpoint(plan),
                tls: plan.server.tls,
                framing: Framing::new(plan.server.http),
            },
            rows: Vec::new(),
            observer,
            counters: Counters::default(),
            captured: None,
        })
    }

    /// Current instant.
    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// Counters so far.
    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    /// Processes all events up to `until`.
    pub(crate) fn run_until(&mut self, until: Instant) {
        loop {
            let nics = earlier(self.completions.next(), self.rx_coalescing.next());
            let endpoints = earlier(self.endpoints_due.next(), self.freed_due.next());
            let hosts = earlier(endpoints, nics);
            let due = earlier(self.clients_due.next(), hosts).filter(|due| *due <= until);
            let limit = due.unwrap_or(until).max(self.now);
            match self.network.handle_until(limit) {
                Some(at) => {
                    self.now = self.now.max(at);
                    self.wake_freed();
                    self.take_arrivals();
                }
                None if due.is_none() => break,
                None => {
                    self.now = limit;
                    self.wake_freed();
                }
            }
            let now = self.now;
            while let Some(held) = self.completions.pop(now) {
                held.into_iter()
                    .for_each(|(flow, packets)| self.handle_sent(now, flow, packets));
            }
            self.take_coalesced();
            while let Some((_, place)) = self.endpoints_due.pop(now) {
                self.wake_endpoint(place);
            }
            while let Some((_, client)) = self.clients_due.pop(now) {
                self.clients[client].recorded.machine_mut().handle_timeout(now);
                self.wake_video(client);
                self.take_actions(client);
            }
            self.run_ready();
        }
        self.now = self.now.max(until);
    }

    /// Marks the endpoints of the server that can continue because a packet has left it.
    #[inline]
    fn wake_freed(&mut self) {
        while let Some((_, slot)) = self.freed_due.pop(self.now) {
            self.mark_ready(slot, End::Server);
        }
    }

    /// Services all ready endpoints of the current instant until none remain.
    fn run_ready(&mut self) {
        while let Some((slot, end)) = self.ready.pop() {
            self.service(slot, end);
        }
    }

    /// Rows since the last call.
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    /// Samples the state at the end of a 100 ms interval.
    pub(crate) fn sample(&mut self) {
        for client in &mut self.clients {
            client.recorded.interval_ended(self.now, &mut self.rows);
        }
        let span = (self.now - TICK, self.now);
        self.observer.sample(span, &mut self.network, &mut self.rows, |_| {});
        self.sample_connections();
    }

    /// Ends the run: produces rows for the rest.
    pub(crate) fn finish(&mut self) {
        for index in 0..self.clients.len() {
            let client = &mut self.clients[index];
            client.recorded.machine_mut().handle_timeout(self.now);
            client.recorded.finish(&mut self.rows);
        }
    }
}
