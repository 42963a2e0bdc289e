//! Health reports of agents and servers, the input of the [`self_check`](crate::self_check).

use crate::quality_issue::QualityIssue;
use netburn_units::Instant;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Role of the sender of a health report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Drives stations.
    Agent,
    /// Answers their requests.
    Server,
}

/// Health report of one agent or of the server, at the end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Name.
    pub name: String,
    /// Role in the run.
    pub role: Role,
    /// The stations it drove, by name; empty for a server.
    pub stations: Vec<String>,
    /// Start delay of operations (scheduled to actual): 50th percentile in µs.
    pub lateness_us_p50: f64,
    /// The 99th percentile in µs.
    pub lateness_us_p99: f64,
    /// The worst in µs.
    pub lateness_us_max: f64,
    /// Number of times it acted.
    pub lateness_count: u64,
    /// Longest [standstill](crate::standstill) of a driving (agent) or serving (server) thread, in
    /// µs; `None` if not measured, as in browsers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standstill_us_max: Option<f64>,
    /// Number of due operations that it skipped because it was too late.
    pub missed_sends: u64,
    /// Processor time of the busiest thread as a share of one core, 0 to 1: 95th percentile over
    /// windows of one second. `None` if not measured, as in browsers.
    #[serde(default)]
    pub cpu: Option<f64>,
    /// The machine's busy share over the run, 0 to 1; `None` if not measured, as in browsers.
    #[serde(default)]
    pub machine_busy: Option<f64>,
    /// For a server: 99th percentile of the time from the request's last header byte to the
    /// response's first byte in the kernel. In µs, without the delays of its rate limit.
    pub service_us_p99: f64,
    /// For a server: requests rejected or failed because of internal errors.
    pub rejected: u64,
    /// Bytes of content it moved down (server to station).
    pub bytes_down: u64,
    /// Bytes of content it moved up.
    pub bytes_up: u64,
    /// Operations (agent), those that it missed included; or requests (server) completed.
    pub operations: u64,
    /// For a server: content of each station's requests, by station name, idle-latency probe
    /// included. Stations that use another server are omitted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub served: BTreeMap<String, Moved>,
}

impl Health {
    /// A report of an agent or a server that did nothing: every counter is 0.
    #[must_use]
    pub fn new(name: &str, role: Role) -> Self {
        Health {
            name: name.to_owned(),
            role,
            stations: Vec::new(),
            lateness_us_p50: 0.0,
            lateness_us_p99: 0.0,
            lateness_us_max: 0.0,
            lateness_count: 0,
            standstill_us_max: None,
            missed_sends: 0,
            cpu: None,
            machine_busy: None,
            service_us_p99: 0.0,
            rejected: 0,
            bytes_down: 0,
            bytes_up: 0,
            operations: 0,
            served: BTreeMap::new(),
        }
    }

    /// Operations that were due: those that were missed are among an agent's [`operations`](Self::operations).
    #[must_use]
    pub fn operations_due(&self) -> u64 {
        self.operations.max(self.missed_sends)
    }
}

/// Content that was moved for one station.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Moved {
    /// Bytes sent to it.
    pub bytes_down: u64,
    /// Bytes taken from it.
    pub bytes_up: u64,
}

/// Result of the self-check: the reliability of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelfCheck {
    /// True if no verdict is inconclusive because of the self-check. There can be `reasons` all the same: they can
    /// only have made results worse, and all goals of the affected stations were met.
    pub ok: bool,
    /// The worst lateness of the agents and the server.
    pub timer_lateness_us: Lateness,
    /// The longest [standstill](crate::standstill) of an agent, the server or the lab, in µs; `None` where none was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standstill_us_max: Option<f64>,
    /// Values beyond their limits.
    pub reasons: Vec<QualityIssue>,
}

/// A lateness distribution in µs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Lateness {
    /// 50th percentile.
    #[serde(default)]
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Worst.
    #[serde(default)]
    pub max: f64,
}

/// One agent's clock against the controller's: the detail of an event of kind `Clock`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Name of the agent or server.
    pub name: String,
    /// The stations it drove, by name.
    pub stations: Vec<String>,
    /// Clock minus the controller's, in nanoseconds.
    pub offset_ns: i64,
    /// Uncertainty of the offset, in nanoseconds.
    pub error_ns: u64,
    /// The shortest round trip of the exchanges, in nanoseconds.
    pub round_trip_ns: u64,
    /// Number of exchanges on which the comparison is based.
    pub exchanges: u64,
    /// Drift against the controller's clock over the run, in parts per million. `None` if the clock
    /// was compared only once, if the drift is below the uncertainty, or if the clock jumped.
    #[serde(default)]
    pub drift_ppm: Option<f64>,
    /// Uncertainty of the drift, in parts per million; `None` if the clock was compared only once
    /// or jumped.
    #[serde(default)]
    pub drift_error_ppm: Option<f64>,
    /// Time of the first comparison, in nanoseconds of the run (negative: before the load).
    #[serde(default)]
    pub compared_ns: i64,
    /// Jump against the controller's clock during the run, in nanoseconds, if it exceeds any drift:
    /// negative if the device slept.
    #[serde(default)]
    pub jump_ns: Option<i64>,
}

impl Clock {
    /// Converts a time of this clock to the controller's clock; both count from the beginning of
    /// the run.
    ///
    /// `d` is the drift, and `z` is the time of the first comparison, at which the start was
    /// agreed. This clock shows `t + d · (t − z)` when the controller's shows `t`. Without a known
    /// drift both show the same.
    #[must_use]
    pub fn to_common(&self, at: Instant) -> Instant {
        let Some(drift) = self.drift_ppm else { return at };
        let since = at.as_nanos().saturating_sub(self.compared_ns) as f64;
        let gained = since * (drift / (1e6 + drift));
        Instant::from_nanos(at.as_nanos().saturating_sub(gained.round() as i64))
    }
}

impl Default for SelfCheck {
    /// Passed, without measurements.
    fn default() -> Self {
        SelfCheck {
            ok: true,
            timer_lateness_us: Lateness::default(),
            standstill_us_max: None,
            reasons: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(drift_ppm: Option<f64>) -> Clock {
        Clock {
            name: "a".into(),
            stations: vec!["laptop".into()],
            offset_ns: 5,
            error_ns: 0,
            round_trip_ns: 0,
            exchanges: 20,
            drift_ppm,
            drift_error_ppm: Some(0.0),
            compared_ns: -10_000_000_000,
            jump_ns: None,
        }
    }

    /// The clocks were compared 10 s before the start, and this one is 100 ppm fast. At 290 s it has gained 300 s × 100
    /// ppm = 30 ms, and at the start 1 ms.
    #[test]
    fn clock_conversion_matches_a_calculation_by_hand() {
        let fast = clock(Some(100.0));
        let at = |nanos| fast.to_common(Instant::from_nanos(nanos)).as_nanos();
        assert_eq!(at(290_030_000_000), 290_000_000_000);
        assert_eq!(at(1_000_000), 0);
        assert_eq!(at(-10_000_000_000), -10_000_000_000);
        // 200 ppm slow: it shows 58.986 s at 59 s, after 69 s.
        let slow = clock(Some(-200.0));
        let common = slow.to_common(Instant::from_nanos(58_986_200_000));
        assert_eq!(common.as_nanos(), 59_000_000_000);
        assert_eq!(clock(None).to_common(Instant::from_nanos(7)).as_nanos(), 7);
        assert_eq!(fast.to_common(Instant::from_nanos(i64::MAX)).as_nanos().signum(), 1);
        assert_eq!(fast.to_common(Instant::from_nanos(i64::MIN)).as_nanos().signum(), -1);
    }
}
