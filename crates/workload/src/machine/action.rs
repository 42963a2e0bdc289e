//! What passes between a workload and its driver.

use crate::config::Priority;
use netburn_units::{ByteSize, Instant};

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
    /// Give up on a request: nothing more about it will be listened to; close its connection. Never for a datagram.
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
    /// The kept connection of this number, dialled if it isn't open. At most one request is on it at a time; always
    /// the lowest number that is free. After a failure or a cancel the number is free and dialled anew.
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
