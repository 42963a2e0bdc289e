//! Options of a lab.

use crate::backpressure::Backpressure;
use std::fmt::{self, Display, Formatter};

/// Options for creating a lab's nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Kind of devices. Default `None`: TUN devices, or Ethernet pairs if TUN devices are unavailable.
    pub device: Option<DeviceKind>,
    /// Backpressure mechanism of stations. Default `None`: the best mechanism of this kernel.
    pub backpressure: Option<Backpressure>,
    /// True if kernels may leave the segmentation of datagrams to the lab, if they support it. Default `true`.
    pub segments_udp: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            device: None,
            backpressure: None,
            segments_udp: true,
        }
    }
}

/// Kind of the nodes' devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
