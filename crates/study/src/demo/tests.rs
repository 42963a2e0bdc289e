//! The scenario, and the texts of results written by hand.

use super::text::{SCENE, Style, changes, lead, problem, result};
use super::{SETTINGS, changed, document};
use crate::whatif::{Answer, Answers, WhatIf};
use netburn_analysis::compare::{Comparison, Options, Side};
use netburn_analysis::explain::causes::Effort;
use netburn_analysis::explain::{Cause, Explanation, Kind, Severity};
use netburn_medium::queue::QueueKind;
use netburn_record::summary::PlayerSummary;
use netburn_record::{GoalKind, Summary};
use netburn_scenario::{Environment, load};
use netburn_workload::Verdict;
use serde_json::json;
use std::path::Path;

const STYLE: Style = Style {
    width: 90,
    colour: false,
};

/// A run in which `met` of 9 pages of the laptop met their goal.
fn summary(verdict: &str, met: u32) -> Summary {
    let latency = |p50: f64, max: f64| json!({ "count": 9, "min": 0.1, "p50": p50, "p75": null, "p90": null, "p95": null, "p99": null, "max": max, "unbounded": 0 });
    let workload = |name: &str, kind: &str, latency: serde_json::Value, goals: serde_json::Value| {
        json!({ "name": name, "kind": kind, "verdict": "none", "provisional": false, "operations": 9, "goal_misses": 0,
                "failures": 0, "unfinished": 0, "throughput_mbps": 1.0, "latency_ms": latency, "goals": goals })
    };
    let goal = json!([{ "goal": "page load ≤ 500 ms", "kind": "latency", "met": f64::from(met) / 9.0, "excess": 2.0,
                        "verdict": verdict, "samples": 9 }]);
    let workloads = json!([
        workload("browsing", "pages", latency(1_800.0, 4_670.0), goal),
        workload("probe", "probe", latency(312.0, 500.0), json!([])),
    ]);
    serde_json::from_value(json!({
        "schema": "netburn.summary/1", "run": "r", "scenario": "s", "environment": "simulate", "seed": 1, "duration_s": 27.0,
        "verdict": verdict, "provisional": true,
        "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
        "totals": { "throughput_mbps": 1.0, "airtime_jain": null },
        "stations": [{ "name": "laptop", "verdict": verdict, "provisional": true, "throughput_mbps": 1.0,
                       "airtime_share": null, "idle_latency_ms": 0.28, "workloads": workloads }],
        "repeats": [], "intervals": {} }))
    .unwrap()
}

#[test]
fn two_runs_have_less_than_a_minute_of_load() {
    for environment in [Environment::Simulate, Environment::Lab] {
        let (plan, notes) = document(None).unwrap().resolve_for(environment).unwrap();
        assert!(2 * plan.duration.as_millis() < 60_000, "{}", plan.duration);
        assert!(notes.is_empty(), "{notes:?}");
    }
}

#[test]
fn the_scenario_is_the_built_in_one_with_the_settings() {
    let mut built_in = load("slow-neighbour").unwrap();
    for (key, value) in SETTINGS {
        built_in.set(key, value).unwrap();
    }
    built_in.set("seed", "7").unwrap();
    let ours = document(Some(7)).unwrap().resolve().unwrap();
    assert_eq!(ours, built_in.resolve().unwrap());
    assert_ne!(ours, document(Some(8)).unwrap().resolve().unwrap());
}

#[test]
fn the_description_has_the_start_of_the_download() {
    let (_, start) = SETTINGS.iter().find(|(key, _)| *key == "station.tablet.start").unwrap();
    assert!(SCENE.contains(&format!("After {start} ")), "{SCENE}");
}

/// Another queue of the access point.
fn what_if(queue: &str) -> WhatIf {
    WhatIf {
        cause: Kind::SlowNeighbour,
        effort: Effort::Firmware,
        label: format!("home uses {queue}"),
        set: vec![("ap.home.queue".to_owned(), queue.to_owned())],
        plan: document(None).unwrap().resolve().unwrap(),
    }
}

/// A change with this verdict. It changes no metric.
fn answer(queue: &str, verdict: Verdict) -> Answer {
    let side = |name: &str| {
        let mut side = Side::new(name);
        side.add_summary(Path::new(name), &summary("fail", 2), None);
        side
    };
    Answer {
        what_if: what_if(queue),
        verdict,
        comparison: Comparison::new(side("with"), side("without"), Options::default()),
    }
}

fn answers(answers: Vec<Answer>) -> Answers {
    Answers {
        runs: 8,
        baseline: Vec::new(),
        verdict: Verdict::Fail,
        answers,
        interrupted: false,
    }
}

#[test]
fn the_best_change_is_marked() {
    let answers = answers(vec![
        answer("fq-codel", Verdict::Fail),
        answer("airtime", Verdict::Pass),
    ]);
    let text = changes(&answers, answers.answers.last(), STYLE);
    let rows: Vec<&str> = text.lines().skip(3).take(2).map(str::trim).collect();
    assert_eq!(
        rows,
        [
            "fail          0      0  home uses fq-codel",
            "pass          0      0  home uses airtime (best)"
        ]
    );
    assert!(!text.contains("None of these"), "{text}");
    let text = changes(&answers, None, STYLE);
    assert!(
        !text.contains("(best)") && text.ends_with("None of these changes helps.\n"),
        "{text}"
    );
}

#[test]
fn a_cause_without_a_change_is_reported() {
    let text = changes(&answers(Vec::new()), None, STYLE);
    assert!(
        text.ends_with("   The simulator has no change for this cause.\n"),
        "{text}"
    );
}

#[test]
fn the_result_names_the_setting_and_the_environment() {
    let applied = answer("airtime", Verdict::Pass);
    let (before, after) = (summary("fail", 2), summary("pass", 9));
    let text = result(&before, &after, &applied, &Explanation::default(), STYLE);
    assert_eq!(
        text.lines().nth(1),
        Some("4. Before and after --set 'ap.home.queue=airtime' (simulate)")
    );
    assert!(text.contains("2 of 9") && text.contains("9 of 9"), "{text}");
    assert!(text.ends_with("* provisional: a verdict from few samples.\n"), "{text}");
}

#[test]
fn a_change_sets_its_keys() {
    let original = document(None).unwrap();
    let plan = changed(&original, &what_if("airtime")).unwrap().resolve().unwrap();
    assert_eq!(plan.aps[0].queue, QueueKind::Airtime);
    assert!(
        changed(&original, &what_if("unknown"))
            .and_then(|changed| changed.resolve())
            .is_err()
    );
}

#[test]
fn the_problem_has_its_goal_its_round_trips_and_its_cause() {
    let cause = Cause {
        kind: Kind::SlowNeighbour,
        severity: Severity::Serious,
        title: "tablet is slow".to_owned(),
        evidence: "It used 96 % of the airtime.".to_owned(),
        advice: String::new(),
        stations: vec!["laptop".to_owned()],
        by: vec!["tablet".to_owned()],
    };
    let explanation = Explanation {
        causes: vec![cause],
        unexplained: Vec::new(),
    };
    let text = problem(&summary("fail", 2), &explanation, STYLE);
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "1. Problem laptop: 2 of 9 pages met the goal `page load ≤ 500 ms`; the slowest took 4.67 s.",
        "Median round trip: 312 ms (280 µs without load). The goal for a call is 150 ms.",
        "2. Cause tablet is slow. Stations share one radio channel",
        "Evidence: It used 96 % of the airtime.",
    ] {
        assert!(unwrapped.contains(part), "`{part}` is not in:\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= STYLE.width), "{text}");
}

/// The run with a stream instead of pages, whose player had this number of stalls.
fn with_stalls(mut summary: Summary, stalls: u64) -> Summary {
    let stream = &mut summary.stations[0].workloads[0];
    stream.kind = "stream".to_owned();
    stream.results.player = Some(PlayerSummary {
        stalls,
        ..PlayerSummary::default()
    });
    (stream.goals[0].goal, stream.goals[0].kind) = ("no stall".to_owned(), GoalKind::NoStall);
    summary
}

#[test]
fn stalls_are_counted_instead_of_samples() {
    let (before, after) = (with_stalls(summary("fail", 2), 3), with_stalls(summary("pass", 9), 0));
    let text = problem(&before, &Explanation::default(), STYLE);
    assert!(text.contains("laptop: 3 stalls; the goal is `no stall`.\n"), "{text}");
    let lead = lead(&before, &after, "home is fair");
    assert!(
        lead.ends_with(
            "A goal of the laptop is `no stall`. Before the change, it had 3 stalls. After the change, it had 0 \
             stalls."
        ),
        "{lead}"
    );
}

#[test]
fn the_first_of_equally_bad_stations_is_described() {
    let mut runs = [summary("fail", 2), summary("pass", 9)];
    for run in &mut runs {
        let mut other = run.stations[0].clone();
        other.name = "desktop".to_owned();
        run.stations.push(other);
    }
    let lead = lead(&runs[0], &runs[1], "home is fair");
    assert!(
        lead.contains("pages of the laptop") && !lead.contains("desktop"),
        "{lead}"
    );
}

#[test]
fn a_run_without_a_problem_says_so() {
    let text = problem(&summary("pass", 9), &Explanation::default(), STYLE);
    assert!(text.contains("1. Problem\n   Every station met its goals.\n"), "{text}");
    assert!(text.ends_with("2. Cause\n   No known cause matches.\n"), "{text}");
}

#[test]
fn the_page_begins_with_what_was_shown() {
    let mut runs = [summary("fail", 2), summary("pass", 9)];
    // Both runs meet another goal.
    for run in &mut runs {
        let goals = &mut run.stations[0].workloads[0].goals;
        let mut other = goals[0].clone();
        (other.goal, other.verdict) = ("page load ≤ 9 s".to_owned(), Verdict::Pass);
        goals.insert(0, other);
    }
    let lead = lead(&runs[0], &runs[1], "home is fair");
    assert!(
        lead.ends_with(
            "The change: home is fair. Before the change, 2 of 9 pages of the laptop met the goal `page load ≤ 500 ms`. After \
             the change, 9 of 9 did."
        ),
        "{lead}"
    );
}
