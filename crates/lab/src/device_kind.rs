//! Kinds of devices.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// Kind of the nodes' devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceKind {
    /// TUN devices.
    Tun,
    /// Ethernet pairs with a packet socket on the lab's side. Used if /dev/net/tun cannot be opened.
    Pair,
}

impl Display for DeviceKind {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            DeviceKind::Tun => "TUN devices",
            DeviceKind::Pair => "Ethernet pairs (veth) with packet sockets",
        })
    }
}
