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
//! - [`hold`]: how kernels are kept to that.
//! - [`address`]: who has which address.
//! - `calls`: connections that the server refuses.
//! - [`capture`]: what was seen, as pcapng.
//! - [`Switch`]: frames in, frames out, without a clock or a file.
//! - [`Lab`]: the nodes, the thread that carries packets between them, and programs at them.
//! - [`init`]: the helper process that makes the namespaces and is the ancestor of what runs in them.
//!
//! On other systems than Linux all but the last two is there, and [`Lab::open`] says that there is no lab.

pub mod address;
mod ahead;
mod calls;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "what is captured is a lab's"))]
pub mod capture;
pub mod credit;
#[cfg(target_os = "linux")]
mod device;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod engine;
mod error;
#[cfg(target_os = "linux")]
#[doc(hidden)]
pub mod fuzz;
#[cfg(target_os = "linux")]
mod helper;
pub mod hold;
#[cfg(target_os = "linux")]
pub mod init;
#[cfg(target_os = "linux")]
mod lab;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "the work is a lab's"))]
mod lateness;
#[cfg(target_os = "linux")]
mod nodes;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "what is seen is a lab's"))]
mod observe;
mod options;
pub mod packet;
#[cfg(target_os = "linux")]
mod present;
mod program;
mod senders;
mod switch;
#[cfg(target_os = "linux")]
mod wishes;

pub use ahead::Pace;
pub use calls::{Call, Reply};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Begin, Guest, Lab, init};
pub use error::LabError;
pub use hold::Hold;
#[cfg(target_os = "linux")]
pub use lab::{Begin, Guest, Lab};
pub use lateness::Lateness;
pub use observe::StationLook;
pub use options::{DeviceKind, Options};
pub use program::{Ended, Program};
pub use senders::Ends;
pub use switch::{Counted, Delivery, Switch, Tapped};
