//! Schemas of the types of `netburn_record` that messages contain.

use schemars::JsonSchema;
use std::collections::BTreeMap;

/// Role in a run.
#[derive(JsonSchema)]
#[schemars(rename = "Role", rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is of use")]
pub(super) enum RoleSchema {
    /// Drives stations.
    Agent,
    /// Answers the stations.
    Server,
}

/// Self-report on the measurement at the end of a run.
#[derive(JsonSchema)]
#[schemars(rename = "Health")]
#[expect(dead_code, reason = "only its schema is of use")]
pub(super) struct HealthSchema {
    /// Name of the agent or server.
    name: String,
    /// Role.
    role: RoleSchema,
    /// Names of the stations that it drove; empty for a server.
    stations: Vec<String>,
    /// Start delay (due time to actual time): 50th percentile in µs.
    lateness_us_p50: f64,
    /// Start delay: 99th percentile in µs.
    lateness_us_p99: f64,
    /// Start delay: maximum in µs.
    lateness_us_max: f64,
    /// Number of operations in the start delay statistics.
    lateness_count: u64,
    /// Longest time in µs in which a runnable thread that sends or answers did not run; absent if not
    /// measured.
    #[serde(default)]
    standstill_us_max: Option<f64>,
    /// Number of due sends that were skipped because they were too late.
    missed_sends: u64,
    /// CPU time of the busiest thread as a share of one core, 0 to 1; absent or null if not measured, as in browsers.
    #[serde(default)]
    cpu: Option<f64>,
    /// Busy share of the machine over the run, 0 to 1; absent or null if not measured, as in browsers.
    #[serde(default)]
    machine_busy: Option<f64>,
    /// For a server: 99th percentile of the time from a request's head to the first byte of its response,
    /// in µs.
    service_us_p99: f64,
    /// For a server: number of requests that it rejected or failed.
    rejected: u64,
    /// Bytes of content moved down (server to station).
    bytes_down: u64,
    /// Bytes of content moved up (station to server).
    bytes_up: u64,
    /// Number of completed operations (agent) or requests (server).
    operations: u64,
    /// For a server: content moved for each station, by name.
    #[serde(default)]
    served: BTreeMap<String, MovedSchema>,
}

/// Content moved for one station.
#[derive(JsonSchema)]
#[schemars(rename = "Moved")]
#[expect(dead_code, reason = "only its schema is of use")]
struct MovedSchema {
    /// Bytes sent to the station.
    bytes_down: u64,
    /// Bytes received from the station.
    bytes_up: u64,
}
