//! The command as people use it: whole runs of the built program, good days and bad ones.
//!
//! Each test has a directory of its own and leaves no process behind. They run for seconds each and at low rates, so
//! that several at once don't disturb each other; what they assert is about the data, not about the machine.

mod bad_days;
mod browser;
mod clocks;
mod common;
mod compared;
mod comparing;
mod counts;
mod crosscheck;
mod damage;
mod dashboard;
mod decode;
mod environments;
mod explain;
mod exporting;
mod fetching;
mod fleet;
mod fleet_bad_days;
mod fleet_networks;
mod fleet_storm;
mod fleet_ways;
mod full_desk;
mod help;
mod input;
mod interface;
mod lab;
mod lab_bad_days;
mod lab_commands;
mod lab_users;
mod lab_warnings;
mod leaving;
mod machine;
mod marks;
mod odd_files;
mod output;
mod page;
mod places;
mod report_page;
mod service;
mod serving;
mod simulating;
mod ssh;
mod standstills;
mod sweeping;
mod trial;
mod verdicts;
