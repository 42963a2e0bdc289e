//! What every participant says of its own measuring. The [`self_check`](crate::self_check) is made of it.

use netburn_units::Instant;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Who a participant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It drives stations.
    Agent,
    /// It answers them.
    Server,
}

/// One participant's report on its own measuring, at the end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Its name.
    pub name: String,
    /// What it did.
    pub role: Role,
    /// The stations it drove, by name; empty for a server.
    pub stations: Vec<String>,
    /// How late it acted on what was due: the 50th percentile in µs.
    pub lateness_us_p50: f64,
    /// The 99th percentile in µs.
    pub lateness_us_p99: f64,
    /// The worst in µs.
    pub lateness_us_max: f64,
    /// How many times it acted.
    pub lateness_count: u64,
    /// The longest [standstill](crate::standstill) of a thread that acts (agent) or answers (server), in µs; `None` where it isn't
    /// measured, as in browsers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standstill_us_max: Option<f64>,
    /// Things due that it never did because it was too late.
    pub missed_sends: u64,
    /// Its busiest thread's processor time as a share of the run, 0 to 1 (taken over one-second windows, the 95th
    /// percentile of them).
    pub cpu: f64,
    /// The machine's busy share over the run, 0 to 1.
    pub machine_busy: f64,
    /// For a server: the 99th percentile of the time from a request's last header byte to the first byte of its
    /// answer being handed to the kernel, in µs, waits of its rate cap not counted.
    pub service_us_p99: f64,
    /// For a server: requests refused or failed by its own fault.
    pub refused: u64,
    /// Bytes of content it moved down (server to station).
    pub bytes_down: u64,
    /// Bytes of content it moved up.
    pub bytes_up: u64,
    /// Operations (agent), those that it missed included; or requests (server) completed.
    pub operations: u64,
    /// For a server: the content of each station's requests, by the station's name, the idle-latency probe included.
    /// Stations that measure against another server are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub served: BTreeMap<String, Moved>,
}

impl Health {
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

/// Whether the figures can be believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelfCheck {
    /// Nothing is in doubt.
    pub ok: bool,
    /// The worst participant's lateness.
    pub timer_lateness_us: Lateness,
    /// The longest [standstill](crate::standstill) of a participant, or of the lab, in µs; `None` where none was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standstill_us_max: Option<f64>,
    /// What is in doubt, in plain sentences.
    pub reasons: Vec<String>,
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

/// One agent's clock against the controller's: the text of an event of kind `Clock`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// The participant's name.
    pub name: String,
    /// The stations it drove, by name.
    pub stations: Vec<String>,
    /// Its clock minus the controller's, in nanoseconds.
    pub offset_ns: i64,
    /// How far off that may be, in nanoseconds.
    pub error_ns: u64,
    /// The shortest round trip of the exchanges, in nanoseconds.
    pub round_trip_ns: u64,
    /// How many exchanges it is made of.
    pub exchanges: u64,
    /// How much its clock gained on the controller's over the run, in parts per million; `None` when it was compared
    /// only once, when it gained less than the comparisons can tell, and when it jumped.
    #[serde(default)]
    pub drift_ppm: Option<f64>,
    /// How far off the drift may be, in parts per million; `None` when it was compared only once, or jumped.
    #[serde(default)]
    pub drift_error_ppm: Option<f64>,
    /// When it was first compared, in nanoseconds of the run (negative: before the load).
    #[serde(default)]
    pub compared_ns: i64,
    /// How far it moved against the controller's during the run, in nanoseconds, where that is more than any clock
    /// drifts: it was set, or stood still while the device slept.
    #[serde(default)]
    pub jump_ns: Option<i64>,
}

impl Clock {
    /// When, by the controller's clock, it was `at` by this one, both in time since the run began.
    ///
    /// With the drift `d` and the instant `z` of the first comparison, at which the start was agreed, this clock says
    /// `t + d · (t − z)` when the controller's says `t`. Without a known drift, they say the same.
    #[must_use]
    pub fn to_common(&self, at: Instant) -> Instant {
        let Some(drift) = self.drift_ppm else { return at };
        let since = at.as_nanos().saturating_sub(self.compared_ns) as f64;
        let gained = since * (drift / (1e6 + drift));
        Instant::from_nanos(at.as_nanos().saturating_sub(gained.round() as i64))
    }
}

impl Default for SelfCheck {
    /// Nothing in doubt, nothing measured.
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

    /// Compared 10 s before the start, and 100 ppm fast: at 290 s it has gained 300 s × 100 ppm = 30 ms, and at the start
    /// 1 ms.
    #[test]
    fn raw_times_become_common_ones_by_hand() {
        let fast = clock(Some(100.0));
        let at = |nanos| fast.to_common(Instant::from_nanos(nanos)).as_nanos();
        assert_eq!(at(290_030_000_000), 290_000_000_000);
        assert_eq!(at(1_000_000), 0);
        assert_eq!(at(-10_000_000_000), -10_000_000_000);
        // 200 ppm slow: it says 58.986 s at 59 s, after 69 s.
        let slow = clock(Some(-200.0));
        let common = slow.to_common(Instant::from_nanos(58_986_200_000));
        assert_eq!(common.as_nanos(), 59_000_000_000);
        assert_eq!(clock(None).to_common(Instant::from_nanos(7)).as_nanos(), 7);
        assert_eq!(fast.to_common(Instant::from_nanos(i64::MAX)).as_nanos().signum(), 1);
        assert_eq!(fast.to_common(Instant::from_nanos(i64::MIN)).as_nanos().signum(), -1);
    }
}
