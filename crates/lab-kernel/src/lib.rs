//! The Linux kernel below the lab: safe wrappers of what only a lab needs. On other systems this crate is empty.
//!
//! - [`namespace`] – user, network, mount and PID namespaces, and the processes in them.
//! - [`tun`] – TUN devices. [`ethernet`]: raw frames of an interface.
//! - [`route`] – interfaces, addresses, routes and qdiscs. [`offload`]: offload features of an interface.
//! - [`diag`] – state of TCP connections. [`sockets`]: list of TCP sockets.
//! - [`raw`] – raw sockets below IP.
//! - [`poller`] – waits on one thread for files and an absolute timeout; real-time priority.
//! - [`scm_rights`] – messages with file descriptors.
#![cfg(target_os = "linux")]

pub mod diag;
pub mod ethernet;
pub mod namespace;
pub mod offload;
pub mod poller;
pub mod raw;
pub mod route;
pub mod scm_rights;
pub mod sockets;
pub mod tun;
