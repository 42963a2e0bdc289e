//! Interface between a workload and its driver.

use crate::common::Marking;
use crate::direction::Direction;
use netburn_units::{ByteSize, Instant};

/// Command to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Fetch or send one object.
    Begin(Request),
    /// Send one datagram to be echoed.
    Send {
        /// Identifies the datagram in `handle_reply`.
        id: RequestId,
        /// Due time.
        due: Instant,
        /// Length.
        size: ByteSize,
    },
    /// Send one datagram that is not answered: from the station, or from the server to the station.
    /// Its arrival is [`handle_arrival`](crate::Workload::handle_arrival). For a `video-call` send one
    /// frame ([`VideoEnd::send_frame`](crate::kinds::video_call::video::VideoEnd::send_frame)), whose arrival is
    /// [`handle_frame`](crate::Workload::handle_frame).
    SendOneWay {
        /// Identifies the datagram.
        id: RequestId,
        /// Due time.
        due: Instant,
        /// Length of the UDP payload, for a frame that at the target rate.
        size: ByteSize,
        /// Direction.
        direction: Direction,
    },
    /// Abort a request and close its connection; later inputs about it are ignored. Never for a
    /// datagram.
    Cancel(RequestId),
}

/// Transfer of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Identifies the request in all inputs about it.
    pub id: RequestId,
    /// Due time.
    pub due: Instant,
    /// Connection to use.
    pub connection: Connection,
    /// Direction of the object's bytes.
    pub direction: Direction,
    /// Size of the object.
    pub size: ByteSize,
    /// Marking of its packets.
    pub marking: Marking,
}

/// An operation's number and the object's number within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    /// The operation's sequence number.
    pub operation: u64,
    /// The object's number within the operation.
    pub object: u32,
}

/// Connection of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Connection {
    /// A new one, closed after the object.
    New,
    /// The persistent connection of this number, dialled if it isn't open. It carries at most one
    /// request at a time; the lowest free number is used. After a failure or a cancel the number is
    /// free, and its next use dials a new connection.
    Kept(u32),
}

/// Reason of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// An operation is due.
    Due,
    /// An operation has made no progress for its timeout.
    Timeout,
    /// The player's buffer becomes empty.
    Stall,
    /// An interval or a stage of a responsiveness test ends.
    Stage,
    /// End of a window that is not the last one: no new operation begins before the next window.
    Pause,
    /// End of the last window: no new operation begins.
    End,
    /// End of the drain: operations in flight are settled.
    Settle,
}
