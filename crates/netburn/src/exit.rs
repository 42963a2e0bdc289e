//! Exit statuses: the only place that maps results and errors to them.

use crate::args::Check;
use netburn_record::Summary;
use netburn_study::twin::NoDiagnosis;
use netburn_workload::Verdict;
use std::process::ExitCode;

/// Result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only labs run commands"))]
pub(crate) enum ExitStatus {
    /// The command ran: 0.
    Success,
    /// `--check`, and a goal failed: 1.
    GoalFailed,
    /// `--fail-on worse`, and a metric is worse: 1.
    Worse,
    /// No reliable measurement: 3.
    NotMeasured,
    /// Exit status of a command of `netburn lab`.
    Command(u8),
    /// Number of the signal that ended `netburn lab`: 128 and the number.
    Signal(u8),
    /// `--bisect`, and the result is unknown: 125, which `git bisect run` skips.
    BisectSkip,
}

/// Error that ends a command, with its message.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only labs run commands"))]
pub(crate) enum CliError {
    /// Invalid input: 2.
    Usage(String),
    /// No measurement: 3.
    Failed(String),
    /// A command of `netburn lab` can't be started or ended too early: this status.
    Command(u8, String),
    /// The reader of standard output has closed the pipe: 0.
    BrokenPipe,
}

impl From<NoDiagnosis> for CliError {
    fn from(error: NoDiagnosis) -> Self {
        CliError::Failed(error.to_string())
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(ended: ExitStatus) -> ExitCode {
        ExitCode::from(match ended {
            ExitStatus::Success => 0,
            ExitStatus::GoalFailed | ExitStatus::Worse => 1,
            ExitStatus::NotMeasured => 3,
            ExitStatus::Command(status) => status,
            ExitStatus::Signal(signal) => 128 + signal,
            ExitStatus::BisectSkip => 125,
        })
    }
}

impl CliError {
    /// Exit status of the error.
    pub(crate) const fn status(&self) -> u8 {
        match self {
            CliError::BrokenPipe => 0,
            CliError::Usage(_) => 2,
            CliError::Failed(_) => 3,
            CliError::Command(status, _) => *status,
        }
    }

    /// Text of the error.
    pub(crate) fn into_message(self) -> String {
        match self {
            CliError::Usage(why) | CliError::Failed(why) | CliError::Command(_, why) => why,
            CliError::BrokenPipe => "a pipe was closed".to_owned(),
        }
    }
}

/// Returns the exit status of a run with this summary.
///
/// An interrupted run counts as not measured. With `--check`, a failed goal takes precedence over stations that could not
/// be measured, because further measurements could not change it.
pub(crate) fn of_run(summary: &Summary, interrupted: bool, check: Option<Check>) -> ExitStatus {
    let any = |verdict: Verdict| summary.stations.iter().any(|station| station.verdict == verdict);
    let failed = match check {
        None => false,
        Some(Check::Fail) => any(Verdict::Fail),
        Some(Check::Marginal) => any(Verdict::Fail) || any(Verdict::Marginal),
    };
    if interrupted {
        ExitStatus::NotMeasured
    } else if failed {
        ExitStatus::GoalFailed
    } else if summary.verdict == Verdict::Inconclusive || any(Verdict::Inconclusive) {
        ExitStatus::NotMeasured
    } else {
        ExitStatus::Success
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(verdicts: &[&str]) -> Summary {
        let station = |verdict: &&str| {
            serde_json::json!({ "name": "s", "verdict": verdict, "throughput_mbps": 0.0, "airtime_share": null,
                                "idle_latency_ms": null, "workloads": [] })
        };
        let order = ["fail", "inconclusive", "marginal", "pass", "none"];
        let whole = order.iter().find(|v| verdicts.contains(v)).unwrap_or(&"none");
        serde_json::from_value(serde_json::json!({
            "schema": "netburn.summary/1", "run": "r", "scenario": "s", "environment": "local", "seed": 1, "duration_s": 1.0,
            "verdict": whole, "provisional": false,
            "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
            "totals": { "throughput_mbps": 0.0, "airtime_jain": null },
            "stations": verdicts.iter().map(station).collect::<Vec<_>>(), "repeats": [], "intervals": {} }))
        .unwrap()
    }

    #[test]
    fn each_combination_has_its_exit_status() {
        use ExitStatus::{GoalFailed, NotMeasured, Success};
        let (no, fail, marginal) = (None, Some(Check::Fail), Some(Check::Marginal));
        for (verdicts, interrupted, check, ended) in [
            (&["pass", "none"][..], false, no, Success),
            (&["pass"], false, marginal, Success),
            (&[], false, fail, Success),
            (&["pass", "fail"], false, no, Success),
            (&["pass", "fail"], false, fail, GoalFailed),
            (&["marginal"], false, fail, Success),
            (&["marginal"], false, marginal, GoalFailed),
            (&["inconclusive"], false, no, NotMeasured),
            (&["inconclusive"], false, fail, NotMeasured),
            (&["inconclusive", "marginal"], false, fail, NotMeasured),
            (&["inconclusive", "marginal"], false, marginal, GoalFailed),
            (&["inconclusive", "fail"], false, no, NotMeasured),
            (&["inconclusive", "fail"], false, fail, GoalFailed),
            (&["pass"], true, no, NotMeasured),
            (&["fail"], true, fail, NotMeasured),
        ] {
            assert_eq!(
                of_run(&summary(verdicts), interrupted, check),
                ended,
                "{verdicts:?} {check:?}"
            );
        }
    }
}
