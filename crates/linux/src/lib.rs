//! Safe wrappers of kernel interfaces: timers, socket options, TCP_INFO, sendfile, processor time, namespaces.
//!
//! All `unsafe` code of netburn is in this crate. Facilities that other crates use on all systems have a fallback: it
//! does the same more slowly, or returns [`Unsupported`](std::io::ErrorKind::Unsupported).
//!
//! - [`clock`] – [`Monotonic`], the kernel's monotonic clock as an integer that all processes of a machine share.
//! - [`timer`] – [`Timer`], with microsecond resolution. tokio's timers have a resolution of 1 ms.
//! - [`tcp`] – [`tcp_info`], [`discard`], congestion control, and MSG_MORE.
//! - [`memory`] – [`SealedMemory`], sent without copying; [`sendfile`].
//! - [`socket`] – binding to a device, DSCP, buffer sizes.
//! - [`interface`] – interfaces by name, index and address.
//! - [`interrupts`] – whether a terminal or a process sent SIGINT.
//! - [`links`] – link-down events.
//! - [`nl80211`] – link state and statistics of Wi-Fi drivers.
//! - [`datagram`] – datagrams with their destination address.
//! - [`icmp`] – ICMP echo requests without privileges. [`gateway`]: the next hop towards an address.
//! - [`cpu`] – processor time of threads, process and machine; [`sampler`]: the same in windows of 1 s.
//! - [`terminal`] – key input without line editing, and restoring a terminal.
//! - [`process`] – child processes that end with their parent, and the limit of open files.
//! - [`private_folder`] – folders that only their user can read.
//! - [`scm_rights`] – messages with file descriptors.
//!
//! The following modules exist on Linux only:
//!
//! - `namespace`: user, network, mount and PID namespaces.
//! - `tun`: TUN devices. `ethernet`: raw frames of an interface.
//! - `route`: interfaces, addresses, routes and qdiscs. `offload`: offload features of an interface. `driver`: its
//!   driver and firmware.
//! - `diag`: state of TCP connections. `sockets`: list of TCP sockets.
//! - `raw`: raw sockets below IP.
//! - `poller`: waits on one thread for files and an absolute timeout.

pub mod clock;
pub mod cpu;
pub mod datagram;
#[cfg(target_os = "linux")]
pub mod diag;
#[cfg(target_os = "linux")]
pub mod driver;
#[cfg(target_os = "linux")]
pub mod ethernet;
#[cfg(target_os = "linux")]
mod ethtool;
pub mod gateway;
pub mod icmp;
pub mod interface;
pub mod interrupts;
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
pub mod poller;
pub mod private_folder;
pub mod process;
#[cfg(target_os = "linux")]
pub mod raw;
#[cfg(target_os = "linux")]
pub mod route;
pub mod sampler;
#[cfg_attr(not(target_os = "linux"), path = "scm_rights_unsupported.rs")]
pub mod scm_rights;
pub mod socket;
#[cfg(target_os = "linux")]
pub mod sockets;
pub mod tcp;
pub mod terminal;
pub mod timer;
#[cfg(target_os = "linux")]
pub mod tun;

pub use clock::Monotonic;
pub use memory::{SealedMemory, release_free_memory, sendfile};
pub use process::{die_with_parent, raise_open_files};
pub use sampler::{CpuMonitor, Sampler, Window};
pub use socket::{bind_to_device, set_dscp};
pub use tcp::{
    TcpInfo, available_congestion_controls, congestion_control, discard, send_alone, send_more, set_congestion_control,
    set_unsent_limit, tcp_info,
};
pub use timer::{Timer, set_timer_slack};
