//! Pages in Chromium and Firefox, and Chromium in a lab.
//!
//! Each test has its own directory and leaves no process. Tests take seconds and use low rates, so that concurrent ones
//! don't disturb each other. Assertions concern the data, not the speed of the machine.

mod comparison_page;
mod dashboard;
mod playground;
mod report_page;
mod shared_run;
mod station_page;
#[path = "../support/mod.rs"]
mod support;
mod users;
