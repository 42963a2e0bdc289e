//! A connection between a station and the server: both endpoints, and the exchange that is on it.

use super::exchange::{Exchange, Stage};
use super::load::End;
use netburn_tcp::Endpoint;
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
    pub(crate) exchange: Option<Exchange>,
    /// By [`End::index`].
    pub(crate) ends: [Host; 2],
}

/// One end's host.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) endpoint: Endpoint,
    /// What is still to be handed to the endpoint, which had no room.
    pub(crate) unwritten: u64,
    /// Handed over or still to be, in all: where the stream will have got to.
    pub(crate) stream: u64,
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
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Host {
            endpoint,
            unwritten: 0,
            stream: 0,
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

impl Connection {
    pub(crate) fn host(&mut self, end: End) -> &mut Host {
        &mut self.ends[end.index()]
    }

    /// Whether both ends are over: nothing will come of it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.ends.iter().all(|host| host.ended)
    }
}
