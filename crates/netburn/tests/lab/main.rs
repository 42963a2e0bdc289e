//! The command with namespaces: labs, and runs whose network or disk a test limits. Needs namespaces, iproute2, ping,
//! curl, Python and a C compiler.
//!
//! Each test has its own directory and leaves no process. Tests take seconds and use low rates, so that concurrent ones
//! don't disturb each other. Assertions concern the data, not the speed of the machine.

mod changed_marks;
mod commands;
mod counts;
mod demo;
mod dscp;
mod environments;
mod faults;
mod interface;
mod probe_targets;
mod roaming;
mod run_faults;
mod runs;
#[path = "../support/mod.rs"]
mod support;
mod suspension;
mod warnings;
