//! Choice of the change that helps most.

use super::{Answer, Answers};
use netburn_stats::metric_change::Judgement;
use netburn_workload::Verdict;

/// Returns the change that helps most, which is the first that helps; `None` if none helps.
///
/// A change helps if the worst verdict of its runs is better than without it. It also helps if the verdict stays, some metric
/// is better and none is worse.
#[must_use]
pub fn best(answers: &Answers) -> Option<&Answer> {
    let helps = |answer: &&Answer| {
        let safe = answer.comparison.count(Judgement::Better) > 0 && answer.comparison.count(Judgement::Worse) == 0;
        answer.verdict != Verdict::Inconclusive
            && (answer.verdict < answers.verdict || answer.verdict == answers.verdict && safe)
    };
    answers.answers.iter().find(helps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whatif::WhatIf;
    use crate::whatif::answer::sort;
    use netburn_analysis::compare::{Comparison, Options, Side, judge_together};
    use netburn_analysis::explain::Kind;
    use netburn_analysis::explain::causes::Effort;
    use netburn_record::Summary;
    use netburn_record::summary::verdict_name;
    use serde_json::json;
    use std::path::Path;

    /// Values of a run: the laptop's median page load in ms, and the tablet's throughput in Mbit/s.
    type Values = (f64, f64);

    const BASELINE: Values = (2_000.0, 20.0);

    fn summary(seed: u64, (pages, tablet): Values) -> Summary {
        // Runs differ a little.
        let pages = pages * (1.0 + seed as f64 / 1_000.0);
        let station = |name: &str, mbps: f64, workload: &str, kind: &str, p50: Option<f64>| {
            let latency = json!({ "count": 20, "min": null, "p50": p50, "p75": null, "p90": null, "p95": null, "p99": null,
                                  "max": p50 });
            let workload = json!({ "name": workload, "kind": kind, "verdict": "none", "provisional": false, "operations": 20,
                                   "goal_misses": 0, "failures": 0, "unfinished": 0, "throughput_mbps": mbps,
                                   "latency_ms": latency, "goals": [] });
            json!({ "name": name, "verdict": "none", "throughput_mbps": mbps, "airtime_share": null, "idle_latency_ms": null,
                    "workloads": [workload] })
        };
        serde_json::from_value(json!({
            "schema": "netburn.summary/1", "run": "r", "scenario": "s", "environment": "simulate", "seed": seed, "duration_s": 27.0,
            "verdict": "none", "provisional": false,
            "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
            "totals": { "throughput_mbps": 3.5, "airtime_jain": null },
            "stations": [station("laptop", 3.5, "browsing", "pages", Some(pages)),
                         station("tablet", tablet, "download", "download", None)],
            "repeats": [], "intervals": {} }))
        .unwrap()
    }

    fn side(name: &str, values: Values) -> Side {
        let mut side = Side::new(name);
        for seed in 1..=8 {
            side.add_summary(Path::new(name), &summary(seed, values), None);
        }
        side
    }

    /// Eight runs of each change, whose values are as given, compared with runs of [`BASELINE`] that fail.
    fn answers(changes: &[(&str, Verdict, Values)]) -> Answers {
        let plan = netburn_scenario::load("slow-neighbour").unwrap().resolve().unwrap();
        let mut answers: Vec<Answer> = changes
            .iter()
            .map(|(label, verdict, values)| Answer {
                what_if: WhatIf {
                    cause: Kind::SlowNeighbour,
                    effort: Effort::Firmware,
                    label: (*label).to_owned(),
                    set: Vec::new(),
                    plan: plan.clone(),
                },
                verdict: *verdict,
                comparison: Comparison::unjudged(side(label, *values), side("baseline", BASELINE), Options::default()),
            })
            .collect();
        judge_together(
            &mut answers
                .iter_mut()
                .map(|answer| &mut answer.comparison)
                .collect::<Vec<_>>(),
        );
        sort(&mut answers);
        Answers {
            runs: 8,
            baseline: Vec::new(),
            verdict: Verdict::Fail,
            answers,
            interrupted: false,
        }
    }

    /// Number of metrics that become better, and of those that become worse.
    fn better_and_worse(answer: &Answer) -> [usize; 2] {
        [Judgement::Better, Judgement::Worse].map(|judgement| answer.comparison.count(judgement))
    }

    #[track_caller]
    fn check(changes: &[(&str, Verdict, Values)], expected: Option<&str>) {
        let answers = answers(changes);
        let counts: Vec<_> = answers
            .answers
            .iter()
            .map(|answer| (verdict_name(answer.verdict), better_and_worse(answer)))
            .collect();
        let label = best(&answers).map(|answer| answer.what_if.label.as_str());
        assert_eq!(label, expected, "{counts:?}");
    }

    const FAST: Values = (200.0, 20.0);
    /// The laptop gains what the tablet loses.
    const TRADED: Values = (200.0, 10.0);
    const BOTH_GAIN: Values = (200.0, 40.0);

    #[test]
    fn the_metrics_of_the_examples_are_judged_as_intended() {
        let answers = answers(&[
            ("fast", Verdict::Pass, FAST),
            ("traded", Verdict::Pass, TRADED),
            ("both", Verdict::Pass, BOTH_GAIN),
            ("same", Verdict::Fail, BASELINE),
        ]);
        let counts = |label: &str| {
            let answer = answers
                .answers
                .iter()
                .find(|answer| answer.what_if.label == label)
                .unwrap();
            better_and_worse(answer)
        };
        assert_eq!(
            ["fast", "traded", "both", "same"].map(counts),
            [[1, 0], [1, 1], [2, 0], [0, 0]]
        );
    }

    /// A change that harms another station comes behind those that do not, and one that changes nothing behind those that help.
    #[test]
    fn changes_are_in_the_order_of_what_they_improve() {
        let answers = answers(&[
            ("same", Verdict::Fail, BASELINE),
            ("unknown", Verdict::Inconclusive, FAST),
            ("traded", Verdict::Pass, TRADED),
            ("fast", Verdict::Pass, FAST),
            ("both", Verdict::Pass, BOTH_GAIN),
            ("marginal", Verdict::Marginal, BOTH_GAIN),
        ]);
        let order: Vec<&str> = answers
            .answers
            .iter()
            .map(|answer| answer.what_if.label.as_str())
            .collect();
        assert_eq!(order, ["both", "fast", "traded", "marginal", "unknown", "same"]);
    }

    #[test]
    fn the_verdict_decides_first() {
        check(
            &[
                ("marginal", Verdict::Marginal, BOTH_GAIN),
                ("pass", Verdict::Pass, TRADED),
            ],
            Some("pass"),
        );
    }

    #[test]
    fn a_change_that_makes_another_station_worse_comes_last() {
        check(
            &[("traded", Verdict::Pass, TRADED), ("fast", Verdict::Pass, FAST)],
            Some("fast"),
        );
        check(&[("traded", Verdict::Pass, TRADED)], Some("traded"));
    }

    #[test]
    fn more_better_metrics_decide_then_the_order() {
        check(
            &[("fast", Verdict::Pass, FAST), ("both", Verdict::Pass, BOTH_GAIN)],
            Some("both"),
        );
        check(
            &[("first", Verdict::Pass, FAST), ("second", Verdict::Pass, FAST)],
            Some("first"),
        );
    }

    #[test]
    fn a_change_that_still_fails_helps_only_without_harm() {
        check(&[("fast", Verdict::Fail, FAST)], Some("fast"));
        check(&[("traded", Verdict::Fail, TRADED)], None);
    }

    #[test]
    fn no_change_helps() {
        check(&[], None);
        check(&[("same", Verdict::Fail, BASELINE)], None);
        check(&[("unknown", Verdict::Inconclusive, FAST)], None);
    }
}
