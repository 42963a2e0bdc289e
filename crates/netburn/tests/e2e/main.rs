//! Whole runs of the built command, with and without faults.
//!
//! Each test has its own directory and leaves no process. Tests take seconds and use low rates, so that concurrent ones
//! don't disturb each other. Assertions concern the data, not the speed of the machine.

mod browser;
mod clocks;
mod common;
mod comparing;
mod comparison_page;
mod counts;
mod crosscheck;
mod damage;
mod dashboard;
mod decode;
mod disconnect;
mod disk_full;
mod dscp;
mod environments;
mod explain;
mod exporting;
mod faults;
mod fetching;
mod fleet;
mod fleet_faults;
mod fleet_flood;
mod fleet_join;
mod fleet_networks;
mod help;
mod input;
mod interface;
mod lab;
mod lab_commands;
mod lab_faults;
mod lab_users;
mod lab_warnings;
mod machine;
mod namespaces;
mod output;
mod report_page;
mod service;
mod serving;
mod simulating;
mod special_files;
mod ssh;
mod station_page;
mod suspension;
mod sweeping;
mod trial;
mod verdicts;
