//! Formats of other tools.
//!
//! - [`export`] – writes runs as CSV, JSON, Parquet, JUnit, OpenMetrics and flent's data files.
//! - [`import`] – reads data files of flent as runs.
//! - [`pcapng`] – captures of packets, for Wireshark and tshark.

pub mod export;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod import;
pub mod pcapng;
