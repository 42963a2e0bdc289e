//! What an endpoint tells: of the connection, of its timers, of what it can't do.

use crate::config::CongestionControl;
use std::fmt;

/// What an endpoint tells the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The handshake is over.
    Connected,
    /// This many bytes have come in order so far, and have been read.
    Received(u64),
    /// The peer's host has this many bytes of ours so far.
    Acknowledged(u64),
    /// After a [`write`](crate::Endpoint::write) that was cut short: there is room again.
    Writable,
    /// The peer sends no more.
    Finished,
    /// Both directions are finished and acknowledged, or this side aborted.
    Closed,
    /// The connection broke.
    Failed(Failure),
}

/// Why a connection broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// The peer never answered the SYN.
    Unreachable,
    /// The peer answered the SYN with a reset.
    Refused,
    /// The peer sent a reset.
    Reset,
    /// Fifteen time-outs in a row (`tcp_retries2`).
    TimedOut,
}

/// What a [`poll_timeout`](crate::Endpoint::poll_timeout) is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The SYN, or its answer, goes again.
    Handshake,
    /// The retransmission time-out (RFC 6298).
    Retransmission,
    /// The tail loss probe (RFC 8985 §7).
    TailLossProbe,
    /// What may be reordered is lost by then (RFC 8985 §6.2).
    Reordering,
    /// The peer's window is closed: ask (RFC 9293 §3.8.6.1).
    Persist,
    /// The next packet may go.
    Pacing,
    /// An acknowledgement was delayed.
    DelayedAck,
}

/// A congestion control that only a system has can't be modelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmodelled(pub CongestionControl);

impl fmt::Display for Unmodelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there is no model of the congestion control `{}`: `reno`, `cubic` or `bbr`",
            self.0
        )
    }
}

impl std::error::Error for Unmodelled {}
