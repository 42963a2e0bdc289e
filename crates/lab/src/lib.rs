//! Real programs and kernel TCP through a modelled access point, on one Linux machine, without Wi-Fi and without root.
//!
//! Every station, and the server, is a network namespace with a device whose other end is ours. What a kernel sends there goes
//! through [`netburn_network::Network`], the very machine that the simulator drives, in real time, and comes out at the kernel it is
//! for.
//!
//! From the bottom:
//!
//! - [`packet`]: bytes: bursts split into packets of the air, packets joined again, marks and checksums.
//! - [`credit`]: how much a kernel may hand over ahead of the air, so that TCP Small Queues keep working.
//! - [`address`]: who has which address.
//! - [`capture`]: what was seen, as pcapng.
//! - [`Switch`]: frames in, frames out, without a clock or a file.
//! - [`Lab`]: the nodes, the thread that carries packets between them, and programs at them.
//! - [`init`]: the helper process that makes the namespaces and is the ancestor of what runs in them.

pub mod address;
pub mod capture;
pub mod credit;
mod engine;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod helper;
pub mod init;
mod lab;
mod lateness;
mod observe;
pub mod packet;
mod switch;
mod wishes;

pub use error::LabError;
pub use helper::Ended;
pub use lab::{Guest, Lab, Program};
pub use lateness::{LIMIT, LabHealth, Lateness};
pub use observe::StationLook;
pub use switch::{Counted, Delivery, Switch, Tapped};
