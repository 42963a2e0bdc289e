//! The lab with real programs in it. Needs namespaces and /dev/net/tun, as CI has them; and iperf3, curl and Python.

mod carries;
mod common;
mod devices;
