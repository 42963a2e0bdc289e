//! The kernel's side doors: timers, socket options, TCP_INFO, sendfile, processor time.
//!
//! All `unsafe` code of netburn lives here, behind safe functions. Every facility has a stand-in for other systems, so
//! that what stands on it compiles everywhere: a stand-in does the same more slowly, or says
//! [`Unsupported`](std::io::ErrorKind::Unsupported).
//!
//! - [`clock`]: [`Monotonic`], the kernel's own clock as a number that two processes of one machine share.
//! - [`timer`]: [`Timer`], microseconds where tokio's own timers round to a millisecond.
//! - [`tcp`]: [`tcp_info`], [`discard`], congestion control, and sending with more to come.
//! - [`memory`]: [`SealedMemory`], bytes that the kernel sends without copying; [`sendfile`].
//! - [`socket`]: binding to a device, DSCP.
//! - [`interface`]: interfaces by name, number and address.
//! - [`links`]: whether interfaces went down.
//! - [`nl80211`]: what a Wi-Fi driver tells of its link.
//! - [`datagram`]: datagrams with the address they were sent to, so that answers leave from it.
//! - [`cpu`]: processor time of threads, process and machine; [`sampler`]: the same in one-second windows.
//! - [`terminal`]: single keys, and putting a terminal back.
//! - [`process`]: children that don't outlive us, and the limit on open files.
//!
//! What a modelled network around real programs stands on is for Linux alone: `namespace` (worlds of one's own), `tun`
//! (interfaces that are files), `ethernet` (whole frames of an interface, where those can't be had), `route` (interfaces,
//! addresses, routes, queues), `diag` (connections of whatever program), `sockets` (which of them there are), `offload` (what an interface takes over from its
//! host), `raw` (sockets beneath IP), `pass` (messages with open files), `wait` (files and an absolute time on a thread of
//! one's own).

pub mod clock;
pub mod cpu;
pub mod datagram;
#[cfg(target_os = "linux")]
pub mod diag;
#[cfg(target_os = "linux")]
pub mod ethernet;
pub mod interface;
pub mod links;
pub mod memory;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
mod netlink;
pub mod nl80211;
#[cfg(target_os = "linux")]
pub mod offload;
#[cfg(target_os = "linux")]
pub mod pass;
pub mod process;
#[cfg(target_os = "linux")]
pub mod raw;
#[cfg(target_os = "linux")]
pub mod route;
pub mod sampler;
pub mod socket;
#[cfg(target_os = "linux")]
pub mod sockets;
pub mod tcp;
pub mod terminal;
pub mod timer;
#[cfg(target_os = "linux")]
pub mod tun;
#[cfg(target_os = "linux")]
pub mod wait;

pub use clock::Monotonic;
pub use memory::{SealedMemory, give_back_memory, sendfile};
pub use process::{die_with_parent, raise_open_files};
pub use sampler::{Sampler, Watch, Window};
pub use socket::{bind_to_device, set_dscp};
pub use tcp::{
    TcpInfo, available_congestion_controls, congestion_control, discard, send_more, set_congestion_control,
    set_unsent_limit, tcp_info,
};
pub use timer::{Timer, set_timer_slack};
