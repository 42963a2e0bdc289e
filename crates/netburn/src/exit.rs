//! How a command ends: the one place where an exit status is decided.

use crate::args::Check;
use netburn_record::Summary;
use netburn_workload::Verdict;
use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It did what it was asked: 0.
    Ran,
    /// `--check`, and a goal failed: 1.
    GoalFailed,
    /// A figure is beyond its tolerance: 1.
    BeyondTolerance,
    /// `--fail-on worse`, and something is: 1.
    Worse,
    /// It could not be measured: 3.
    NotMeasured,
    /// `lab`, and a command ended with this status.
    Command(u8),
    /// `lab`, and a signal of this number ended netburn: 128 and the number.
    Signal(u8),
    /// `--bisect`, and it can't be told: 125, which `git bisect run` skips.
    Skipped,
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The input is wrong: 2. What, where, and what would be right.
    Wrong(String),
    /// It could not be measured: 3. Why.
    NotMeasured(String),
    /// A command of `lab` can't be started, or ended too early: this status. Why.
    Command(u8, String),
    /// Nobody reads standard output any more, which is no fault: 0.
    Unread,
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> ExitCode {
        ExitCode::from(match ended {
            Ended::Ran => 0,
            Ended::GoalFailed | Ended::BeyondTolerance | Ended::Worse => 1,
            Ended::NotMeasured => 3,
            Ended::Command(status) => status,
            Ended::Signal(signal) => 128 + signal,
            Ended::Skipped => 125,
        })
    }
}

impl Stop {
    /// The status it ends with.
    pub(crate) const fn status(&self) -> u8 {
        match self {
            Stop::Unread => 0,
            Stop::Wrong(_) => 2,
            Stop::NotMeasured(_) => 3,
            Stop::Command(status, _) => *status,
        }
    }
}

/// How a run ended that left `summary`.
///
/// An interrupted one was not measured, whatever it says. With `--check` a goal that failed decides over stations that
/// could not be measured: more of them would not mend it.
pub(crate) fn of_run(summary: &Summary, interrupted: bool, check: Option<Check>) -> Ended {
    let any = |verdict: Verdict| summary.stations.iter().any(|station| station.verdict == verdict);
    let failed = match check {
        None => false,
        Some(Check::Fail) => any(Verdict::Fail),
        Some(Check::Marginal) => any(Verdict::Fail) || any(Verdict::Marginal),
    };
    if interrupted {
        Ended::NotMeasured
    } else if failed {
        Ended::GoalFailed
    } else if summary.verdict == Verdict::Inconclusive || any(Verdict::Inconclusive) {
        Ended::NotMeasured
    } else {
        Ended::Ran
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
    fn every_case_has_its_status() {
        use Ended::{GoalFailed, NotMeasured, Ran};
        let (no, fail, marginal) = (None, Some(Check::Fail), Some(Check::Marginal));
        for (verdicts, interrupted, check, ended) in [
            (&["pass", "none"][..], false, no, Ran),
            (&["pass"], false, marginal, Ran),
            (&[], false, fail, Ran),
            (&["pass", "fail"], false, no, Ran),
            (&["pass", "fail"], false, fail, GoalFailed),
            (&["marginal"], false, fail, Ran),
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
