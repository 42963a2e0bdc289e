//! Events, timers and errors of an endpoint.

use crate::config::CongestionControl;
use std::fmt;

/// Event for the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Connected,
    /// Total bytes received in order and read.
    Received(u64),
    /// Total bytes acknowledged by the peer.
    Acknowledged(u64),
    /// After a partial [`write`](crate::Endpoint::write): there is room again.
    Writable,
    /// The peer has finished sending.
    Finished,
    /// Both directions are finished and acknowledged, or this side aborted.
    Closed,
    /// The connection broke.
    Failed(Failure),
}

/// Reason of a broken connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// The peer did not answer the SYN.
    Unreachable,
    /// The peer answered the SYN with a reset.
    Refused,
    /// The peer sent a reset.
    Reset,
    /// Fifteen consecutive timeouts (`tcp_retries2`).
    TimedOut,
}

/// Timer of a [`poll_timeout`](crate::Endpoint::poll_timeout).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// Retry of the SYN or SYN-ACK.
    Handshake,
    /// Retransmission timeout (RFC 6298).
    Retransmission,
    /// Tail loss probe (RFC 8985 §7).
    TailLossProbe,
    /// End of the reordering window: missing segments are then lost (RFC 8985 §6.2).
    Reordering,
    /// Probe of the peer's closed window (RFC 9293 §3.8.6.1).
    Persist,
    /// The next packet may be sent.
    Pacing,
    /// A delayed acknowledgement is due.
    DelayedAck,
}

/// A congestion control without a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedCongestionControl(pub CongestionControl);

impl fmt::Display for UnsupportedCongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unsupported congestion control: found `{}`, expected `reno`, `cubic` or `bbr`",
            self.0
        )
    }
}

impl std::error::Error for UnsupportedCongestionControl {}
