//! Effect of an issue on results: a goal that was met in spite of a delay is met.

use super::{LimitExceeded, QualityIssue, Quantity};
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
        // While a thread stands still it offers no load. TCP senders wait for a packet that the lab holds.
        let longest_held = longest.min(load.as_nanos() as f64 / 1e3 * MISSING_LOAD);
        let delayed = match self {
            QualityIssue::LimitExceeded(LimitExceeded { quantity, value, .. }) => match quantity {
                // Latency counts from the due time, so a late start is a part of it.
                Quantity::StartDelay | Quantity::SlowResponses => *value <= longest,
                Quantity::LabPacketLate => *value <= longest_held,
                // A thread or a machine without processor time may have offered less load for the whole run. Failed
                // requests, lost packets and many late packets make TCP senders slower. Times of a wrong clock are wrong.
                Quantity::StandstillShare
                | Quantity::ProcessorBusy
                | Quantity::MachineBusy
                | Quantity::LabMachineBusy
                | Quantity::HypervisorSteal
                | Quantity::MachineSuspended
                | Quantity::RequestsFailed
                | Quantity::LabDeliveryDelay
                | Quantity::LabPacketsDropped
                | Quantity::LabFramesFailed
                | Quantity::ClockUncertain => false,
            },
            QualityIssue::Standstill { longest_us, .. } => *longest_us <= longest_held,
            QualityIssue::OfRun { issue, .. } => return issue.disturbance(load),
            // A skipped operation or a lost participant is missing load. A stopped program may have offered less load for
            // the whole run.
            QualityIssue::OperationsSkipped { .. }
            | QualityIssue::AgentLost { .. }
            | QualityIssue::ServerLost { .. }
            | QualityIssue::ProgramStopped { .. }
            | QualityIssue::InterfaceDown { .. }
            | QualityIssue::LabStopped { .. }
            // Times or counts are wrong.
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

    fn exceeded(quantity: Quantity, value: f64, limit: f64) -> QualityIssue {
        QualityIssue::LimitExceeded(LimitExceeded {
            quantity,
            who: "agent laptop".into(),
            value,
            limit,
        })
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
        let late = |p99_us| exceeded(Quantity::StartDelay, p99_us, 10_000.0);
        assert_eq!(late(12_000.0).disturbance(load), Disturbance::Delay);
        assert_eq!(late(250_000.0).disturbance(load), Disturbance::Unknown);
        let skipped = QualityIssue::OperationsSkipped {
            who: "agent laptop".into(),
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
        let one = exceeded(Quantity::LabPacketLate, 16_000.0, 15_000.0);
        assert_eq!(one.disturbance(load), Disturbance::Delay);
        let many = exceeded(Quantity::LabDeliveryDelay, 16_000.0, 500.0);
        assert_eq!(many.disturbance(load), Disturbance::Unknown);
    }
}
