//! Controllers, members and their runs, with faults. Needs namespaces, openssl and a C compiler.
//!
//! Each test has its own directory and leaves no process. Tests take seconds and use low rates, so that concurrent ones
//! don't disturb each other. Assertions concern the data, not the speed of the machine.

mod clocks;
mod disconnect;
mod disk_full;
mod faults;
mod flood;
mod join;
mod measure;
mod members;
mod networks;
mod served;
#[path = "../support/mod.rs"]
mod support;
mod trial;
mod watch;
