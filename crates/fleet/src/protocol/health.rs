//! The schemas of what `record` defines and messages carry.

use schemars::JsonSchema;
use std::collections::BTreeMap;

/// What a participant does.
#[derive(JsonSchema)]
#[schemars(rename = "Role", rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is of use")]
pub(super) enum RoleSchema {
    /// It drives stations.
    Agent,
    /// It answers them.
    Server,
}

/// One participant's report on its own measuring, at the end of a run.
#[derive(JsonSchema)]
#[schemars(rename = "Health")]
#[expect(dead_code, reason = "only its schema is of use")]
pub(super) struct HealthSchema {
    /// Its name.
    name: String,
    /// What it did.
    role: RoleSchema,
    /// The stations it drove, by name; empty for a server.
    stations: Vec<String>,
    /// How late it acted on what was due: the 50th percentile in µs.
    lateness_us_p50: f64,
    /// The 99th percentile in µs.
    lateness_us_p99: f64,
    /// The worst in µs.
    lateness_us_max: f64,
    /// How many times it acted.
    lateness_count: u64,
    /// The longest time in which a thread that acts or answers did not run although it should have, in µs; left out where it isn't
    /// measured.
    #[serde(default)]
    standstill_us_max: Option<f64>,
    /// Things due that it never did because it was too late.
    missed_sends: u64,
    /// Its busiest thread's processor time as a share of the run, 0 to 1.
    cpu: f64,
    /// The machine's busy share over the run, 0 to 1.
    machine_busy: f64,
    /// For a server: the 99th percentile of the time from a request's head to the first byte of its answer, in µs.
    service_us_p99: f64,
    /// For a server: requests refused or failed by its own fault.
    refused: u64,
    /// Bytes of content it moved down (server to station).
    bytes_down: u64,
    /// Bytes of content it moved up.
    bytes_up: u64,
    /// Operations (agent) or requests (server) completed.
    operations: u64,
    /// For a server: the content of each station's requests, by the station's name.
    #[serde(default)]
    served: BTreeMap<String, MovedSchema>,
}

/// Content that was moved for one station.
#[derive(JsonSchema)]
#[schemars(rename = "Moved")]
#[expect(dead_code, reason = "only its schema is of use")]
struct MovedSchema {
    /// Bytes sent to it.
    bytes_down: u64,
    /// Bytes taken from it.
    bytes_up: u64,
}
