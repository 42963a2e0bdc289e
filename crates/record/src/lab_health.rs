//! The lab's report on its own work: detail of an event of kind [`Lab`](crate::EventKind::Lab), and `lab` in `run.json`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The lab's report on its own work, from when it began to carry packets to when the report was made.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LabHealth {
    /// The time that the report covers, in µs.
    pub span_us: f64,
    /// True if the thread that carries packets had real-time priority.
    pub real_time: bool,
    /// Delivery delay (due to delivered): 50th percentile in µs.
    pub lateness_us_p50: f64,
    /// The 99th percentile in µs.
    pub lateness_us_p99: f64,
    /// The longest in µs.
    pub lateness_us_max: f64,
    /// Number of deliveries.
    pub lateness_count: u64,
    /// Longest [standstill](crate::standstill) of the forwarding thread, in µs. No packet was
    /// queued longer before it was read.
    pub standstill_us_max: f64,
    /// Sum of the standstills of 0.5 ms and longer, in µs.
    pub standstill_us_total: f64,
    /// Number of the standstills of 0.5 ms and longer.
    pub standstills: u64,
    /// The time for which the machine was suspended (CLOCK_BOOTTIME less CLOCK_MONOTONIC), in µs.
    pub suspended_us: f64,
    /// Packets that kernels sent and that were dropped before the lab read them.
    pub ring_drops: u64,
    /// Frames that could not be delivered.
    pub write_errors: u64,
    /// Processor time of the thread that carries packets as a share of one core, 0 to 1.
    pub cpu: f64,
    /// The machine's busy share, 0 to 1.
    pub machine_busy: f64,
    /// The share of the machine's time that the hypervisor took, 0 to 1.
    pub steal: f64,
    /// The longest time for which the helper process, which starts the programs, did not answer, in µs.
    pub helper_us_max: f64,
    /// Packets that were not carried, by reason.
    pub not_carried: BTreeMap<String, u64>,
    /// Programs that a signal stopped (SIGSTOP, SIGTSTP), in the order of their first stop.
    pub stopped: Vec<Stopped>,
}

/// A program that a signal stopped.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Stopped {
    /// The station where it ran, or `server`.
    pub station: String,
    /// Name.
    pub program: String,
    /// Time for which it was stopped in all, in µs.
    pub us: f64,
}
