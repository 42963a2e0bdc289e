//! A connection between a station and the server: both endpoints, and the exchange that is on it.

use super::exchange::{Exchange, Framing, Stage};
use super::lane::{Key, Lane};
use super::load::End;
use netburn_tcp::Endpoint;
use netburn_units::Instant;
use std::collections::VecDeque;

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Its number, never used again.
    pub(crate) serial: u32,
    /// Whose it is.
    pub(crate) user: usize,
    pub(crate) station: u16,
    pub(crate) tid: u8,
    /// The number that the workload knows it by, if it is kept.
    pub(crate) kept: Option<u32>,
    pub(crate) stage: Stage,
    /// Those under way, and those that wait for their turn.
    pub(crate) exchanges: Vec<Exchange>,
    /// The next one's key.
    pub(crate) next: Key,
    /// The server has sent its part of TLS's handshake.
    pub(crate) greeted: bool,
    /// By [`End::index`].
    pub(crate) ends: [Host; 2],
}

/// One end's host.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) endpoint: Endpoint,
    /// What its application writes.
    pub(crate) lane: Lane,
    /// In order so far.
    pub(crate) received: u64,
    /// The peer's host has so much.
    pub(crate) acknowledged: u64,
    /// What the packets in the host's queues weigh, in their order.
    weights: VecDeque<u32>,
    /// It is over: closed, or broken.
    pub(crate) ended: bool,
}

impl Host {
    pub(crate) fn new(endpoint: Endpoint, lane: Lane) -> Self {
        Host {
            endpoint,
            lane,
            received: 0,
            acknowledged: 0,
            weights: VecDeque::new(),
            ended: false,
        }
    }

    /// A packet goes into the host's queues.
    pub(crate) fn handed(&mut self, truesize: u32) {
        self.weights.push_back(truesize);
    }

    /// So many packets have left the host's queues. What they weighed together.
    pub(crate) fn left(&mut self, packets: u32) -> u64 {
        let weights = (0..packets).map_while(|_| self.weights.pop_front());
        weights.map(u64::from).sum()
    }
}

impl Host {
    /// Hands TCP what it has room for.
    pub(crate) fn pump(&mut self, now: Instant) {
        let endpoint = &mut self.endpoint;
        self.lane.pump(|bytes| endpoint.write(now, bytes));
    }
}

impl Connection {
    pub(crate) fn exchange(&mut self, key: Key) -> Option<&mut Exchange> {
        self.exchanges.iter_mut().find(|exchange| exchange.key == key)
    }

    /// An exchange is over, or given up.
    pub(crate) fn forget(&mut self, key: Key) -> Option<Exchange> {
        let place = self.exchanges.iter().position(|exchange| exchange.key == key)?;
        Some(self.exchanges.remove(place))
    }

    /// The next request that may be written.
    pub(crate) fn next_to_ask(&mut self, framing: Framing) -> Option<&mut Exchange> {
        let asked = self.exchanges.iter().filter(|exchange| exchange.asked).count();
        let next = self.exchanges.iter_mut().find(|exchange| !exchange.asked);
        next.filter(|_| self.stage == Stage::Open && asked < framing.most)
    }

    pub(crate) fn host(&mut self, end: End) -> &mut Host {
        &mut self.ends[end.index()]
    }

    /// Whether both ends are over: nothing will come of it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.ends.iter().all(|host| host.ended)
    }
}
