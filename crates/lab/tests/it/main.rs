//! Tests of the lab with real programs. They need namespaces, /dev/net/tun, iperf3, curl and Python.

mod common;
mod devices;
mod faults;
mod forwarding;
mod refused_connections;
mod standstills;
