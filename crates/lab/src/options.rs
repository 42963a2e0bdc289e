//! How a lab's nodes are made.

use crate::hold::Hold;
use std::fmt::{self, Display, Formatter};

/// How a lab's nodes are to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What their devices are; `None`: TUN devices, or Ethernet pairs where those can't be had.
    pub device: Option<DeviceKind>,
    /// How stations' kernels are kept from handing over all that they have; `None`: as this kernel does it best.
    pub hold: Option<Hold>,
    /// Whether kernels may leave the segmentation of datagrams to the lab, where they know how to.
    pub segments_udp: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: None,
            hold: None,
            segments_udp: true,
        }
    }
}

/// What nodes' devices are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// TUN devices.
    Tun,
    /// Ethernet pairs with a packet socket at our end: where /dev/net/tun can't be opened.
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
