//! Marking of packets.

use super::{Config, Priority};
use netburn_units::DscpMapping;

/// Marking of a workload's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marking {
    /// DSCP (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// TID, 0 to 7: that of the priority, or the user priority to which RFC 8325 maps the DSCP.
    pub tid: u8,
}

impl Config {
    /// Marking of the packets: that of `dscp`, or else of `priority`.
    #[must_use]
    pub const fn marking(&self) -> Marking {
        match self.dscp {
            Some(dscp) => Marking {
                dscp: dscp.value(),
                tid: DscpMapping::Rfc8325.user_priority(dscp.value()),
            },
            None => self.priority.marking(),
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
