//! The operating system below an agent: clocks, timers, sockets, processor time, processes, interfaces and Wi-Fi links.
//!
//! Every module works on all systems. Where a system has no such facility, its function does the same more slowly or
//! returns [`Unsupported`](std::io::ErrorKind::Unsupported). The code of the systems is side by side: `tcp/linux.rs` and
//! `tcp/portable.rs` below `tcp.rs`. [`netlink`], [`ethtool`] and [`system_call`] exist on Linux only, [`terminal`] on Unix.
//!
//! - [`clock`] – [`Monotonic`], the kernel's monotonic clock as an integer that all processes of a machine share.
//! - [`timer`] – [`Timer`], with microsecond resolution. tokio's timers have a resolution of 1 ms.
//! - [`tcp`] – [`tcp_info`], [`discard`], congestion control, and MSG_MORE.
//! - [`memory`] – [`SealedMemory`], sent without copying.
//! - [`socket`] – binding to a device, DSCP, buffer sizes.
//! - [`datagram`] – datagrams with their destination address.
//! - [`icmp`] – ICMP echo requests without privileges. [`gateway`]: the next hop towards an address.
//! - [`interface`] – interfaces by name, index and address. [`links`]: link-down events.
//! - [`wifi`] – state, statistics and events of Wi-Fi links.
//! - [`cpu`] – processor time of threads, process and machine; [`sampler`]: the same in windows of 1 s.
//! - [`process`] – child processes that end with their parent, and the limit of open files.
//! - [`interrupts`] – whether a terminal or a process sent SIGINT.
//! - [`terminal`] – key input without line editing, and restoring a terminal.
//! - [`systems`] – the sources of values on each system, as a table.
//! - [`private_folder`] – folders that only their user can read.

pub mod clock;
#[cfg(target_os = "linux")]
mod control;
pub mod cpu;
pub mod datagram;
#[cfg(target_os = "linux")]
pub mod ethtool;
pub mod gateway;
pub mod icmp;
pub mod interface;
pub mod interrupts;
pub mod links;
pub mod local_time;
pub mod memory;
#[cfg(target_os = "linux")]
pub mod netlink;
pub mod private_folder;
pub mod process;
pub mod sampler;
pub mod socket;
#[cfg(target_os = "linux")]
pub mod system_call;
pub mod systems;
pub mod tcp;
#[cfg(unix)]
pub mod terminal;
pub mod timer;
pub mod wifi;

pub use clock::Monotonic;
pub use memory::{SealedMemory, release_free_memory};
pub use process::{die_with_parent, raise_open_files};
pub use sampler::{CpuMonitor, Sampler, Window};
pub use socket::{bind_to_device, set_dscp};
pub use tcp::{
    TcpInfo, available_congestion_controls, congestion_control, discard, send_alone, send_more, set_congestion_control,
    set_unsent_limit, tcp_info,
};
pub use timer::{Timer, set_timer_slack};
