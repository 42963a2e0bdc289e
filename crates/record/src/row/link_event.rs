//! Typed data of an event of a station's Wi-Fi link.
//!
//! A modelled station and an agent on a real device write the same fields. A modelled access point is
//! named by its radio (`hall.5g`), a real one by its BSSID.

use serde::{Deserialize, Serialize};

/// Event of a station's Wi-Fi link, with the sentence for people.
///
/// The document is an object with `code`, the fields of the variant, and the sentence as `text`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEvent {
    /// The event.
    #[serde(flatten)]
    pub change: LinkChange,
    /// The sentence for people.
    pub text: String,
}

/// Kinds of [`LinkEvent`]. `from` and `to` are radios or BSSIDs; `None`: unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum LinkChange {
    /// The station moved to another BSS. The event's length is the time in which nothing arrived.
    Roamed {
        /// BSS that it left.
        from: Option<String>,
        /// BSS that it joined.
        to: Option<String>,
    },
    /// It lost its link and joined the same BSS again.
    Reconnected {
        /// The BSS.
        to: Option<String>,
    },
    /// It lost its link. The event's length is the time until it detected that (simulate, lab), or until the end of the
    /// run (local, fleet).
    Disconnected {
        /// The BSS.
        from: Option<String>,
    },
    /// It could not join a BSS.
    JoinFailed {
        /// The BSS.
        to: Option<String>,
    },
    /// It scanned. The event's length includes the returns to its channel.
    Scanned {
        /// Time away from its channel, in nanoseconds; `None`: unknown, as on real devices.
        away: Option<u64>,
    },
    /// Its access point asked it to move (802.11v).
    TransitionRequested {
        /// Preferred BSS.
        to: Option<String>,
        /// Reason of the access point.
        reason: String,
    },
    /// It answered such a request.
    TransitionAnswered {
        /// True if it moves.
        accepted: bool,
    },
    /// Its access point disassociated it.
    Disassociated {
        /// BSS of the access point.
        from: Option<String>,
    },
}

impl LinkEvent {
    /// Lengths of the texts, in bytes.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let length = |name: &Option<String>| name.as_ref().map_or(0, String::len);
        let fields = match &self.change {
            LinkChange::Roamed { from, to } => length(from) + length(to),
            LinkChange::Reconnected { to } | LinkChange::JoinFailed { to } => length(to),
            LinkChange::Disconnected { from } | LinkChange::Disassociated { from } => length(from),
            LinkChange::TransitionRequested { to, reason } => length(to) + reason.len(),
            LinkChange::Scanned { .. } | LinkChange::TransitionAnswered { .. } => 0,
        };
        fields + self.text.len()
    }
}
