//! What stations' kernels send and receive, as bytes: read, split into packets of the air, joined again, marked.
//!
//! - [`header`]: the header before each packet of a TUN device.
//! - [`ethernet`]: what is different where the device is an Ethernet pair.
//! - [`ip`]: what an IP packet says of itself.
//! - [`burst`]: what a kernel sent at once, and the packets it stands for.
//! - [`join`]: consecutive packets of one connection into one for the receiving kernel, as GRO does.
//! - [`checksum`]: RFC 1071 and RFC 1624.

pub mod burst;
pub mod checksum;
pub mod ethernet;
pub mod header;
pub mod ip;
pub mod join;

pub use burst::{Burst, Segment};
pub use header::VnetHeader;
pub use ip::{Facts, Refused};
pub use join::Joiner;
