//! A connection between a station and the server: both endpoints, and its HTTP exchanges.

use super::exchange::{Exchange, Framing, Stage};
use super::lane::{Key, Lane};
use super::payload::End;
use super::unsent::UnsentLimit;
use netburn_tcp::Endpoint;
use netburn_units::Instant;
use netburn_workload::Marking;
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct Connection {
    /// Number; never reused.
    pub(crate) serial: u32,
    /// Index of its client.
    pub(crate) client: usize,
    pub(crate) station: u16,
    pub(crate) marking: Marking,
    pub(crate) framing: Framing,
    /// Number of the persistent connection in the workload, if it is persistent.
    pub(crate) kept: Option<u32>,
    pub(crate) stage: Stage,
    /// Exchanges in flight, and those that are queued.
    pub(crate) exchanges: Vec<Exchange>,
    /// Key of the next exchange.
    pub(crate) next: Key,
    /// True if the server has sent its flight of the TLS handshake.
    pub(crate) server_hello_sent: bool,
    /// By [`End::index`].
    pub(crate) ends: [Host; 2],
}

/// Host at one end.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) endpoint: Endpoint,
    /// Data of its application.
    pub(crate) lane: Lane,
    /// Limit of unsent data, on a connection with self probes.
    pub(crate) unsent: Option<UnsentLimit>,
    /// Bytes received in order.
    pub(crate) received: u64,
    /// Bytes acknowledged by the peer.
    pub(crate) acknowledged: u64,
    /// Truesizes of the packets in the host's queues, in order.
    weights: VecDeque<u32>,
    /// Times at which packets will have left the server's host, in order.
    sent_at: VecDeque<Instant>,
    /// True after the end of the connection: closed or broken.
    pub(crate) ended: bool,
}

impl Host {
    pub(crate) fn new(endpoint: Endpoint, lane: Lane, unsent: Option<UnsentLimit>) -> Self {
        Host {
            endpoint,
            lane,
            unsent,
            received: 0,
            acknowledged: 0,
            weights: VecDeque::new(),
            sent_at: VecDeque::new(),
            ended: false,
        }
    }

    /// Adds a packet to the host's queues. `sent_at`: when it will have left them, if that is known, as in the server.
    #[inline]
    pub(crate) fn on_queued(&mut self, truesize: u32, sent_at: Option<Instant>) {
        self.weights.push_back(truesize);
        if let Some(at) = sent_at {
            self.sent_at.push_back(at);
        }
    }

    /// Removes packets that left the host's queues. Returns their total truesize.
    pub(crate) fn on_sent(&mut self, packets: u32) -> u64 {
        let weights = (0..packets).map_while(|_| self.weights.pop_front());
        weights.map(u64::from).sum()
    }
}

/// Packets whose times of leaving the host are known: those of the server.
impl Host {
    /// Replaces the last times.
    pub(crate) fn plan_again(&mut self, sent_at: &[Instant]) {
        self.sent_at.truncate(self.sent_at.len().saturating_sub(sent_at.len()));
        self.sent_at.extend(sent_at);
    }

    /// The endpoint at `now`, after the packets that have left the host.
    #[inline]
    pub(crate) fn endpoint_at(&mut self, now: Instant) -> &mut Endpoint {
        self.free_sent(now);
        &mut self.endpoint
    }

    /// Frees the packets that have left the host.
    #[inline]
    pub(crate) fn free_sent(&mut self, now: Instant) {
        if self.sent_at.front().is_some_and(|at| *at <= now) {
            self.free_due(now);
        }
    }

    fn free_due(&mut self, now: Instant) {
        let (mut freed, mut last) = (0, now);
        while let Some(at) = self.sent_at.front().copied().filter(|at| *at <= now) {
            self.sent_at.pop_front();
            // A packet without content is not charged.
            if let Some(weight) = self.weights.pop_front().filter(|weight| *weight > 0) {
                freed += u64::from(weight);
                last = at;
            }
        }
        if freed > 0 {
            self.endpoint.handle_freed(last, freed);
        }
    }

    /// Time at which a packet leaves the host whose memory the endpoint waits for.
    pub(crate) fn wakes_at(&self) -> Option<Instant> {
        let wake = self.endpoint.wake_of_freed()?;
        let mut queued = self.endpoint.queued();
        let mut packets = self.weights.iter().zip(&self.sent_at);
        let met = packets.find(|(weight, at)| {
            queued = queued.saturating_sub(u64::from(**weight));
            **weight > 0 && wake.is_met(**at, queued)
        });
        met.map(|(_, at)| *at)
    }
}

impl Host {
    /// Passes data to TCP, as far as it has room.
    pub(crate) fn pump(&mut self, now: Instant) {
        let (endpoint, unsent) = (&mut self.endpoint, &mut self.unsent);
        self.lane.pump(|bytes| match unsent {
            Some(unsent) => unsent.write(now, endpoint, bytes),
            None if bytes == 0 => 0,
            None => endpoint.write(now, bytes),
        });
    }

    /// Passes more data to TCP, if the application waited for the limit of unsent data. Returns true if it did.
    pub(crate) fn pump_unsent(&mut self, now: Instant) -> bool {
        let endpoint = &self.endpoint;
        let writable = self
            .unsent
            .as_mut()
            .is_some_and(|unsent| unsent.take_writable(endpoint));
        if writable {
            self.pump(now);
        }
        writable
    }
}

impl Connection {
    pub(crate) fn exchange(&mut self, key: Key) -> Option<&mut Exchange> {
        self.exchanges.iter_mut().find(|exchange| exchange.key == key)
    }

    /// Removes an exchange that is complete or cancelled.
    pub(crate) fn remove(&mut self, key: Key) -> Option<Exchange> {
        let place = self.exchanges.iter().position(|exchange| exchange.key == key)?;
        Some(self.exchanges.remove(place))
    }

    /// Next request that may be written.
    pub(crate) fn next_request(&mut self) -> Option<&mut Exchange> {
        let requested = self.exchanges.iter().filter(|exchange| exchange.requested).count();
        let next = self.exchanges.iter_mut().find(|exchange| !exchange.requested);
        next.filter(|_| self.stage == Stage::Open && requested < self.framing.most)
    }

    pub(crate) fn host(&mut self, end: End) -> &mut Host {
        &mut self.ends[end.index()]
    }

    /// Returns true if both ends have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.ends.iter().all(|host| host.ended)
    }
}
