//! Runs of the built command that need no root, no namespace and no other program.
//!
//! Each test has its own directory and leaves no process. Tests take seconds and use low rates, so that concurrent ones
//! don't disturb each other. Assertions concern the data, not the speed of the machine.

mod bundle;
mod comparing;
mod damage;
mod decode;
mod demo;
mod explain;
mod exporting;
mod faults;
mod fit;
mod input;
mod output;
mod responsiveness;
mod scenarios;
mod serving;
mod simulating;
mod special_files;
mod sqm;
#[path = "../support/mod.rs"]
mod support;
mod sweeping;
mod verdicts;
