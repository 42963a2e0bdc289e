//! Events of stations' clients.

use netburn_units::{Duration, Instant};

/// An event of a station's client.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientEvent {
    /// Station's number in the plan.
    pub station: u16,
    /// Start.
    pub at: Instant,
    /// Duration.
    pub length: Duration,
    /// Kind, with its radios.
    pub kind: ClientEventKind,
}

/// Kinds of [`ClientEvent`], with names of radios such as `home.5g`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEventKind {
    /// It moved; the length is the time without a link.
    Roamed {
        /// Radio that it left.
        from: String,
        /// Radio that it joined.
        to: String,
    },
    /// It lost its link and joined the same radio again.
    Reconnected {
        /// The radio.
        to: String,
    },
    /// It scanned; the length includes the returns to its channel.
    Scanned {
        /// Time away from its channel.
        away: Duration,
    },
    /// It could not join a radio.
    JoinFailed {
        /// The radio.
        to: String,
    },
    /// No beacons and no answers to its probes arrive; the length is the time from the last beacon until
    /// the station has detected that.
    LinkLost {
        /// Radio that it had joined.
        from: String,
    },
    /// Its access point asked it to move.
    Asked {
        /// Preferred radio.
        to: String,
        /// Reason.
        reason: SteeringReason,
    },
    /// It answered such a request.
    Answered {
        /// True if it moves.
        accepted: bool,
    },
    /// Its access point disassociated it.
    Disassociated {
        /// Radio of the access point.
        from: String,
    },
}

impl std::fmt::Display for ClientEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let millis = self.length.as_millis();
        match &self.kind {
            ClientEventKind::Roamed { from, to } => write!(f, "moved from {from} to {to}; no link for {millis} ms"),
            ClientEventKind::Reconnected { to } => {
                write!(f, "lost {to} and reconnected to it; no link for {millis} ms")
            }
            ClientEventKind::Scanned { away } => {
                write!(f, "scanned; away from its channel for {} ms", away.as_millis())
            }
            ClientEventKind::JoinFailed { to } => write!(f, "could not join {to}"),
            ClientEventKind::LinkLost { from } => {
                write!(f, "lost the link to {from}; detected {millis} ms after the last beacon")
            }
            ClientEventKind::Asked { to, reason } => write!(f, "asked to move to {to}: {reason}"),
            ClientEventKind::Answered { accepted: true } => write!(f, "accepted the request to move"),
            ClientEventKind::Answered { accepted: false } => write!(f, "rejected the request to move"),
            ClientEventKind::Disassociated { from } => write!(f, "disassociated by {from}"),
        }
    }
}

/// Reason of a transition request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteeringReason {
    /// The signal is weak, in dBm.
    WeakSignal(i32),
    /// Another radio has a higher score: the own score, and the other one.
    Score(i32, i32),
    /// The signal is strong enough for a higher band, in dBm.
    StrongSignal(i32),
    /// The channel is busy, in percent of time.
    BusyChannel(u32),
}

impl std::fmt::Display for SteeringReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SteeringReason::WeakSignal(dbm) => write!(f, "weak signal ({dbm} dBm)"),
            SteeringReason::Score(own, other) => write!(f, "score {other}, here {own}"),
            SteeringReason::StrongSignal(dbm) => write!(f, "strong signal ({dbm} dBm)"),
            SteeringReason::BusyChannel(percent) => write!(f, "channel busy for {percent} % of the time"),
        }
    }
}
