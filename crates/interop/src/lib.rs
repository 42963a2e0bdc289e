//! Formats of other tools, and archives of runs.
//!
//! - [`address`] – IP addresses of a plan's endpoints, in captures and in the lab.
//! - [`bundle`] – archives of a run for a bug report.
//! - [`export`] – writes runs as CSV, JSON, Parquet, JUnit, OpenMetrics and flent's data files.
//! - [`import`] – reads data files of flent as runs.
//! - [`pcapng`] – captures of packets, for Wireshark and tshark.

pub mod address;
pub mod bundle;
pub mod export;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod import;
pub mod pcapng;
