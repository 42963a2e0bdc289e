//! Effect of an issue on results: a goal that was met in spite of a delay is met.

use super::QualityIssue;
use netburn_units::Duration;

/// Possible effect of a disturbance of the test machine on results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Disturbance {
    /// Operations can only have taken longer, and each station still had the whole load of the others. A goal that
    /// was met would have been met without the disturbance too.
    Delay,
    /// Results can also be better than without the disturbance: times or losses are wrong, rows are missing, or
    /// a part of the load was not offered, which helps all other operations.
    Unknown,
}

/// Longest delay that lets no TCP sender reduce its rate: the minimum retransmission timeout of Linux (`TCP_RTO_MIN`,
/// include/net/tcp.h). Longer ones can reduce the load, which makes the results of others better.
pub const MAX_DELAY: Duration = Duration::from_millis(200);

/// Largest share of the load that may be missing while results count as not improved: a tenth of the 1 % of
/// misses that a pass allows.
pub const MISSING_LOAD: f64 = 0.001;

impl QualityIssue {
    /// Possible effect of the issue on the results of a run whose load lasted for `load`.
    #[must_use]
    pub fn disturbance(&self, load: Duration) -> Disturbance {
        let longest = MAX_DELAY.as_nanos() as f64 / 1e3;
        let delayed = match self {
            // Latency counts from the due time, so a late start is a part of it.
            QualityIssue::StartDelay { p99_us, .. } | QualityIssue::SlowResponses { p99_us, .. } => *p99_us <= longest,
            // While a thread stands still it offers no load. TCP senders wait for a packet that the lab holds.
            QualityIssue::Standstill { longest_us: held_us, .. } | QualityIssue::LabPacketLate { max_us: held_us, .. } => {
                *held_us <= longest.min(load.as_nanos() as f64 / 1e3 * MISSING_LOAD)
            }
            QualityIssue::OfRun { issue, .. } => return issue.disturbance(load),
            // A skipped operation or a lost participant is missing load. A program, a thread or a machine without
            // processor time may have offered less load for the whole run.
            QualityIssue::OperationsSkipped { .. }
            | QualityIssue::AgentLost { .. }
            | QualityIssue::ServerLost { .. }
            | QualityIssue::StandstillShare { .. }
            | QualityIssue::ProcessorBusy { .. }
            | QualityIssue::MachineBusy { .. }
            | QualityIssue::LabMachineBusy { .. }
            | QualityIssue::HypervisorSteal { .. }
            | QualityIssue::MachineSuspended { .. }
            | QualityIssue::ProgramStopped { .. }
            | QualityIssue::InterfaceDown { .. }
            | QualityIssue::LabStopped { .. }
            // Failed requests, lost packets and many late packets make TCP senders slower.
            | QualityIssue::RequestsFailed { .. }
            | QualityIssue::LabDeliveryDelay { .. }
            | QualityIssue::LabPacketsDropped { .. }
            | QualityIssue::LabFramesFailed { .. }
            // Times or counts are wrong.
            | QualityIssue::ClockUncertain { .. }
            | QualityIssue::ClockJumped { .. }
            | QualityIssue::BytesUnconfirmed { .. }
            // Results or reports are missing.
            | QualityIssue::ResultsMissing { .. }
            | QualityIssue::RowsRejected { .. }
            | QualityIssue::NoHealthReports
            | QualityIssue::NoAgentReport { .. }
            | QualityIssue::NoServerReport
            | QualityIssue::RunInterrupted { .. }
            | QualityIssue::RunFailed { .. }
            | QualityIssue::RunsMissing { .. }
            | QualityIssue::NoSamples { .. }
            | QualityIssue::WorkloadExcluded { .. }
            | QualityIssue::Unknown { .. } => false,
        };
        if delayed {
            Disturbance::Delay
        } else {
            Disturbance::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standstill(longest_us: f64) -> QualityIssue {
        QualityIssue::Standstill {
            who: "agent laptop".into(),
            count: 1,
            longest_us,
            total_us: longest_us,
            limit: 15_000.0,
        }
    }

    /// 0.1 % of 60 s are 60 ms. 0.1 % of 300 s are 300 ms, but 200 ms is the limit.
    #[test]
    fn a_short_standstill_only_delays() {
        for (seconds, longest_us, expected) in [
            (60, 16_180.0, Disturbance::Delay),
            (60, 60_000.0, Disturbance::Delay),
            (60, 60_001.0, Disturbance::Unknown),
            (300, 200_000.0, Disturbance::Delay),
            (300, 200_001.0, Disturbance::Unknown),
            (60, f64::NAN, Disturbance::Unknown),
        ] {
            let issue = standstill(longest_us);
            let load = Duration::from_secs(seconds);
            assert_eq!(issue.disturbance(load), expected, "{longest_us} µs of {seconds} s");
            assert_eq!(issue.of_run(2).disturbance(load), expected);
        }
    }

    #[test]
    fn late_starts_delay_and_missing_load_does_not() {
        let load = Duration::from_secs(60);
        let (who, limit) = ("agent laptop".to_owned(), 10_000.0);
        let late = |p99_us| QualityIssue::StartDelay {
            who: who.clone(),
            p99_us,
            limit,
        };
        assert_eq!(late(12_000.0).disturbance(load), Disturbance::Delay);
        assert_eq!(late(250_000.0).disturbance(load), Disturbance::Unknown);
        let skipped = QualityIssue::OperationsSkipped {
            who,
            skipped: 2,
            due: 1000,
            limit: 0.001,
        };
        assert_eq!(skipped.disturbance(load), Disturbance::Unknown);
        assert_eq!(QualityIssue::NoServerReport.disturbance(load), Disturbance::Unknown);
    }

    /// One packet that the lab holds for 16 ms is no more than a standstill of 16 ms. If one packet of 100 is that late, the
    /// TCP senders of all stations offer less load.
    #[test]
    fn many_late_packets_are_missing_load() {
        let load = Duration::from_secs(60);
        let one = QualityIssue::LabPacketLate {
            max_us: 16_000.0,
            limit: 15_000.0,
        };
        assert_eq!(one.disturbance(load), Disturbance::Delay);
        let many = QualityIssue::LabDeliveryDelay {
            p99_us: 16_000.0,
            limit: 500.0,
        };
        assert_eq!(many.disturbance(load), Disturbance::Unknown);
    }
}
