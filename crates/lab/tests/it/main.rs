//! The lab with real programs in it. Needs namespaces and /dev/net/tun, as CI has them; and iperf3, curl and Python.

mod bad_days;
mod calls;
mod carries;
mod common;
mod devices;
mod standstills;
