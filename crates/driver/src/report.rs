//! Statistics of a driver.

use netburn_record::{Health, Role};
use serde::{Deserialize, Serialize};

/// Statistics of the driver itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DriveReport {
    /// Time from the due time until the driver started the operation: 50th percentile, in µs.
    pub lateness_us_p50: f64,
    /// The same, 99th percentile, in µs.
    pub lateness_us_p99: f64,
    /// The same, maximum, in µs.
    pub lateness_us_max: f64,
    /// Number of due times.
    pub lateness_count: u64,
    /// Longest standstill of the driving thread, in µs.
    pub standstill_us_max: f64,
    /// Operations that were due and never sent, because the driver was late or the socket's buffer was full.
    pub missed_sends: u64,
    /// Processor time of the driving thread as a share of the time, 0 to 1: the 95th percentile of one-second windows.
    pub cpu: f64,
    /// Bytes of content towards the stations.
    pub bytes_down: u64,
    /// Bytes of content from the stations.
    pub bytes_up: u64,
    /// Operations that ended, with any outcome.
    pub operations: u64,
    /// Operations that finished.
    pub finished: u64,
    /// Cause of the first failure on a load connection of `responsiveness`.
    pub load_failure: Option<String>,
}

impl DriveReport {
    /// Returns the report as an agent's health. `machine_busy` is the busy share of the machine over the run, 0 to 1;
    /// `None` if it was not measured.
    #[must_use]
    pub fn health(&self, name: &str, stations: Vec<String>, machine_busy: Option<f64>) -> Health {
        Health {
            name: name.to_owned(),
            role: Role::Agent,
            stations,
            lateness_us_p50: self.lateness_us_p50,
            lateness_us_p99: self.lateness_us_p99,
            lateness_us_max: self.lateness_us_max,
            lateness_count: self.lateness_count,
            standstill_us_max: Some(self.standstill_us_max),
            missed_sends: self.missed_sends,
            cpu: Some(self.cpu),
            machine_busy,
            service_us_p99: 0.0,
            rejected: 0,
            bytes_down: self.bytes_down,
            bytes_up: self.bytes_up,
            operations: self.operations,
            served: Default::default(),
        }
    }
}
