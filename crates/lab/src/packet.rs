//! Frames that kernels send and receive: parsing, segmentation, coalescing and marking.
//!
//! - [`header`] – the `virtio_net_hdr` before each packet of a TUN device.
//! - [`ethernet`] – differences of Ethernet pairs.
//! - [`ip`] – properties of an IP packet.
//! - [`burst`] – a GSO packet and its segments.
//! - [`gro`] – coalescing of consecutive segments for the receiving kernel.
//! - [`icmp`] – destination unreachable messages. [`hop`]: answers of hosts between station and server.
//! - [`port`] – replacement of ports.
//! - [`reorder`] – grouping of packets by flow before they are coalesced.

pub mod burst;
pub mod ethernet;
pub mod gro;
pub mod header;
pub mod hop;
pub mod icmp;
pub mod ip;
pub mod port;
pub mod reorder;

pub use burst::{Burst, Segment};
pub use gro::GroCoalescer;
pub use header::VnetHeader;
pub use ip::{IpPacketInfo, RejectReason};
