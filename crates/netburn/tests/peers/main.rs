//! The command with servers and readers of other projects: curl, nginx, iperf3, tshark, flent, DuckDB, sshd, systemd.
//!
//! Each test has its own directory and leaves no process. Tests take seconds and use low rates, so that concurrent ones
//! don't disturb each other. Assertions concern the data, not the speed of the machine.

mod access_point;
mod captures;
mod exporting;
mod fetching;
mod importing;
mod iperf3;
mod machine;
mod packages;
mod recording;
mod rpm;
mod service;
mod ssh;
#[path = "../support/mod.rs"]
mod support;
mod terminal;
