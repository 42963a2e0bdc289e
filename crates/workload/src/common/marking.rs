//! Traffic class and marking of packets.

use super::named;
use netburn_units::{Dscp, DscpMapping};

/// Marking of a workload's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marking {
    /// DSCP (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// TID, 0 to 7: that of the priority, or the user priority to which RFC 8325 maps the DSCP.
    pub tid: u8,
}

/// Traffic class: DSCP, 802.11 access category, band of `pfifo-fast`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Priority {
    /// CS1 (8), AC_BK, band 2.
    Background,
    /// CS0 (0), AC_BE, band 1.
    #[default]
    BestEffort,
    /// CS5 (40), AC_VI, band 0.
    Video,
    /// CS6 (48), AC_VO, band 0.
    Voice,
}

impl Priority {
    /// DSCP (RFC 2474, six bits) of this class's packets. RFC 8325 §4 maps these to the same access
    /// categories as their three highest bits do.
    #[must_use]
    pub const fn dscp(self) -> u8 {
        match self {
            Priority::Background => 8,
            Priority::BestEffort => 0,
            Priority::Video => 40,
            Priority::Voice => 48,
        }
    }

    /// TID of this class's packets: the client priority of its DSCP (RFC 8325).
    #[must_use]
    pub const fn tid(self) -> u8 {
        match self {
            Priority::Background => 1,
            Priority::BestEffort => 0,
            Priority::Video => 5,
            Priority::Voice => 6,
        }
    }
}

impl Priority {
    /// DSCP and TID of this class's packets.
    #[must_use]
    pub const fn marking(self) -> Marking {
        Marking {
            dscp: self.dscp(),
            tid: self.tid(),
        }
    }
}

impl Marking {
    /// Marking with this DSCP, or else with that of the priority.
    pub(crate) const fn new(dscp: Option<Dscp>, priority: Priority) -> Self {
        match dscp {
            Some(dscp) => Marking {
                dscp: dscp.value(),
                tid: DscpMapping::Rfc8325.user_priority(dscp.value()),
            },
            None => priority.marking(),
        }
    }
}

named!(
    Priority,
    "priority",
    Background = "background",
    BestEffort = "best-effort",
    Video = "video",
    Voice = "voice",
);
