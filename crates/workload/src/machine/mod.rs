//! The schedule of one workload as a state machine.

use crate::config::{Config, Priority};
use crate::operation::{Failure, FarTimes, Operation, Stall};
use netburn_units::{ByteSize, Instant, Seed};

/// One workload of one station.
///
/// **Call order:** after every `handle_*`, drain [`poll_action`](Self::poll_action),
/// [`poll_operation`](Self::poll_operation) and [`poll_stall`](Self::poll_stall), then sleep until
/// [`poll_timeout`](Self::poll_timeout) or the next input.
#[derive(Debug)]
pub struct Workload {
    _private: (),
}

/// What the driver is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Fetch or send one object.
    Begin(Request),
    /// Send one datagram to be echoed.
    Send {
        /// Names it in `handle_reply`.
        id: RequestId,
        /// When it was due.
        due: Instant,
        /// Its length.
        size: ByteSize,
    },
    /// Give up on a request: nothing more about it will be listened to; close its connection.
    Cancel(RequestId),
}

/// One object to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Names it in all that follows.
    pub id: RequestId,
    /// When it was due.
    pub due: Instant,
    /// The connection to use.
    pub connection: Connection,
    /// Towards the station or away from it.
    pub direction: Direction,
    /// Its size.
    pub size: ByteSize,
    /// The class of its packets.
    pub priority: Priority,
}

/// An operation's number and the object's within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    /// The operation's sequence number.
    pub operation: u64,
    /// The object's number within it.
    pub object: u32,
}

/// Which connection a request goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Connection {
    /// One of its own, dialled now and closed after.
    New,
    /// The kept connection of this number, dialled if it isn't open. At most one request is on it at a time.
    Kept(u32),
}

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Server to station.
    Down,
    /// Station to server.
    Up,
}

/// Why a workload wants to be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// An operation falls due.
    Due,
    /// An operation has had no progress for its time-out.
    TimeOut,
    /// The player's buffer runs empty.
    Stall,
    /// Nothing new begins from here on.
    End,
    /// What is still under way is settled.
    Settle,
}

impl Workload {
    /// A workload that runs from `start` to `end` and then has until `settle` (`end` + drain) to finish what is under
    /// way. Its first due instant is a random phase within one period of `start`, and jitter comes from the same
    /// `seed`; `index` tells apart the workloads of one run.
    #[must_use]
    pub fn new(config: Config, start: Instant, end: Instant, settle: Instant, seed: Seed, index: u64) -> Self {
        let _ = (config, start, end, settle, seed, index);
        todo!()
    }

    /// Time has come to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
        todo!()
    }

    /// The request's connection is ready (dialled, TLS done). Not called for one that was open already.
    pub fn handle_connected(&mut self, now: Instant, id: RequestId) {
        let _ = (now, id);
        todo!()
    }

    /// `bytes` more of the object's content have arrived (or been sent); the first call marks the first byte.
    pub fn handle_bytes(&mut self, now: Instant, id: RequestId, bytes: u64) {
        let _ = (now, id, bytes);
        todo!()
    }

    /// The object is complete.
    pub fn handle_finished(&mut self, now: Instant, id: RequestId) {
        let _ = (now, id);
        todo!()
    }

    /// The object failed. The rest of its operation is cancelled.
    pub fn handle_failed(&mut self, now: Instant, id: RequestId, failure: Failure) {
        let _ = (now, id, failure);
        todo!()
    }

    /// The echo of a datagram came back.
    pub fn handle_reply(&mut self, now: Instant, id: RequestId, far: Option<FarTimes>) {
        let _ = (now, id, far);
        todo!()
    }

    /// The next thing for the driver to do.
    pub fn poll_action(&mut self) -> Option<Action> {
        todo!()
    }

    /// The next operation that has ended.
    pub fn poll_operation(&mut self) -> Option<Operation> {
        todo!()
    }

    /// The next stall that has ended.
    pub fn poll_stall(&mut self) -> Option<Stall> {
        todo!()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), and why; `None` once all is settled.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Instant, Wake)> {
        todo!()
    }

    /// Whether all is settled: nothing is under way and nothing will begin.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        todo!()
    }
}
