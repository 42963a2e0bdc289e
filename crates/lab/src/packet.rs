//! What stations' kernels send and receive, as bytes: read, split into packets of the air, joined again, marked.
//!
//! - [`header`]: the header before each packet of a TUN device.
//! - [`ethernet`]: what is different where the device is an Ethernet pair.
//! - [`ip`]: what an IP packet says of itself.
//! - [`burst`]: what a kernel sent at once, and the packets it stands for.
//! - [`join`]: consecutive packets of one connection into one for the receiving kernel, as GRO does.
//! - [`icmp`]: what a router says of a packet that it has no way for.
//! - [`port`]: a port in place of another.
//! - [`checksum`]: RFC 1071 and RFC 1624.

pub mod burst;
pub mod checksum;
pub mod ethernet;
pub mod header;
pub mod icmp;
pub mod ip;
pub mod join;
pub mod port;

pub use burst::{Burst, Segment};
pub use header::VnetHeader;
pub use ip::{Facts, Refused};
pub use join::Joiner;
