//! Runs programs with the kernel's TCP over a modelled access point, on one Linux machine, without Wi-Fi hardware and
//! without root.
//!
//! Every station and the server is a network namespace whose device ends in the lab. Packets that a kernel sends pass
//! through [`netburn_network::Network`] in real time, the same model that the simulator uses, and are delivered to the
//! receiving kernel.
//!
//! Modules, from the top:
//!
//! - [`Lab`] (`lab`): the nodes, the network between them, and the programs. `nodes` creates the nodes, and `program`
//!   runs programs. [`Options`] configure a lab. [`kernel_settings`]: settings of the nodes' kernels.
//! - [`init`] – the helper process. It creates the namespaces and is the ancestor of all processes in them. `helper` is
//!   the connection to it. `host`: the host of a node, which starts its programs.
//! - `engine`: the forwarding thread. It drives the switch in real time.
//! - [`Switch`] (`switch`): the network between kernels, without clock and I/O.
//! - [`servers`] – servers that a lab starts by itself. `refused_connections`: connections that the server refuses, for
//!   which the lab starts a server.
//! - [`backpressure`] – mechanisms that limit how many bytes a station's kernel hands over. [`credit`]: computes the
//!   limit. `send_budget`: the part of TCP. With this limit, TCP Small Queues work as above a driver.
//!   `egress`: these mechanisms of one node, with their sockets.
//! - `device`: the lab's side of a node's device. [`packet`]: segmentation of bursts, coalescing of packets, ECN marks.
//! - [`address`](mod@address): IP addresses of the nodes.
//! - [`keyboard`] – keys that change settings while a lab runs.
//! - `observe`, `active_flows`: rows about the channel and the stations. `lateness`: how late the lab's own work was.
//!
//! On other systems than Linux this crate is empty.
#![cfg(target_os = "linux")]

mod active_flows;
pub mod backpressure;
pub mod credit;
mod device;
mod device_kind;
mod egress;
mod engine;
mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod helper;
mod host;
pub mod init;
mod kernel_settings;
pub mod keyboard;
mod lab;
mod lateness;
mod nodes;
mod observe;
mod options;
pub mod packet;
mod processes;
mod program;
mod refused_connections;
mod send_budget;
pub mod servers;
mod switch;
mod unsupported_settings;

pub use active_flows::TcpFlow;
pub use backpressure::Backpressure;
pub use device_kind::DeviceKind;
pub use error::{LabError, Requirement};
pub use kernel_settings::{Ecn, KernelSettings, kernel_settings};
pub use lab::{Lab, LabProcess, StartOptions};
pub use lateness::Lateness;
pub use netburn_interop::address;
pub use netburn_lab_kernel::{namespace::limits as namespace_limits, poller, scm_rights};
pub use observe::StationSnapshot;
pub use options::Options;
pub use program::{ProcessExit, Program};
pub use refused_connections::{RefusalReply, RefusedConnection};
pub use send_budget::ConnectionPacing;
pub use switch::{CapturedPacket, Delivery, ForwardingCounters, Switch};
pub use unsupported_settings::unsupported as unsupported_settings;
