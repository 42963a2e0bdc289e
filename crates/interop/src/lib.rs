//! Formats of other tools.
//!
//! - [`export`]: runs as CSV, JSON, Parquet, JUnit, OpenMetrics and flent's data files.
//! - [`import`]: other programs' files as runs.
//! - [`pcapng`]: captures of packets, for Wireshark and tshark.

pub mod export;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod import;
pub mod pcapng;
