use super::*;
use crate::whatif::WhatIf;
use netburn_analysis::compare::{Comparison, Options, Side};
use netburn_analysis::explain::causes::Effort;
use netburn_analysis::explain::{Kind, RemedyEffect};
use netburn_scenario::Document;
use netburn_workload::Verdict;
use serde_json::json;
use std::path::Path;

const HOUSE: &str = "[ap.home.radio.5g]\n\
    [station.laptop]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = \"browsing\"\n\
    [station.tv]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = [\"4kstream\", \"download\"]\n";

fn plan() -> Plan {
    Document::from_toml("house", HOUSE).unwrap().resolve().unwrap()
}

/// One run: share of the laptop's pages in time, of the tv's video at its rate, and the rate of the tv's download.
type Values = (f64, f64, f64);

fn verdict(met: f64) -> &'static str {
    match met {
        0.99.. => "pass",
        0.95.. => "marginal",
        _ => "fail",
    }
}

fn summary(seed: u64, (pages, video, mbps): Values) -> Summary {
    // Nine pages: the median is late if most are.
    let median = if pages > 0.5 { 200.0 } else { 700.0 };
    let latency = json!({ "count": 9, "min": null, "p50": median, "p75": null, "p90": null, "p95": null, "p99": null,
                          "max": 2_000.0 });
    let workload = |name: &str, kind: &str, mbps: f64, goals: serde_json::Value| {
        json!({ "name": name, "kind": kind, "verdict": "none", "provisional": false, "operations": 100, "goal_misses": 0,
                "failures": 0, "unfinished": 0, "throughput_mbps": mbps, "latency_ms": latency, "goals": goals })
    };
    let goal = |text: &str, kind: &str, met: f64| json!([{ "goal": text, "kind": kind, "met": met, "excess": 1.0, "verdict": verdict(met) }]);
    let station = |name: &str, mbps: f64, workloads: serde_json::Value| {
        json!({ "name": name, "verdict": "none", "throughput_mbps": mbps, "airtime_share": null, "idle_latency_ms": null,
                "workloads": workloads })
    };
    let laptop = json!([workload(
        "browsing",
        "pages",
        1.0,
        goal("page load ≤ 500 ms", "latency", pages)
    )]);
    let tv = json!([
        workload("4kstream", "stream", 25.0, goal("every 2 s ≥ 20 Mbit/s", "rate", video)),
        workload("download", "download", mbps, json!([]))
    ]);
    serde_json::from_value(json!({
        "schema": "netburn.summary/1", "run": "r", "scenario": "s", "environment": "simulate", "seed": seed, "duration_s": 27.0,
        "verdict": "none", "provisional": false,
        "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
        "totals": { "throughput_mbps": mbps, "airtime_jain": null },
        "stations": [station("laptop", 1.0, laptop), station("tv", mbps + 25.0, tv)],
        "repeats": [], "intervals": {} }))
    .unwrap()
}

fn runs(values: &[Values]) -> Vec<Summary> {
    values
        .iter()
        .zip(1..)
        .map(|(values, seed)| summary(seed, *values))
        .collect()
}

fn side(name: &str, runs: &[Summary]) -> Side {
    let mut side = Side::new(name);
    for run in runs {
        side.add_summary(Path::new(name), run, None);
    }
    side
}

/// Models without a change, and changes with their labels and efforts.
fn answers(baseline: &[Values], changes: &[(&str, Effort, Vec<Values>)]) -> Answers {
    let baseline = runs(baseline);
    let answer = |(label, effort, values): &(&str, Effort, Vec<Values>)| Answer {
        what_if: WhatIf {
            cause: Kind::DownloadBloat,
            effort: *effort,
            label: (*label).to_owned(),
            set: Vec::new(),
            plan: plan(),
        },
        verdict: Verdict::Fail,
        comparison: Comparison::unjudged(
            side(label, &runs(values)),
            side("baseline", &baseline),
            Options::default(),
        ),
    };
    Answers {
        runs: baseline.len(),
        verdict: Verdict::Fail,
        answers: changes.iter().map(answer).collect(),
        interrupted: false,
        baseline,
    }
}

/// `better` models in which the change helps, then `worse` ones in which it harms; the others stay.
fn mixed(better: usize, worse: usize) -> Vec<Values> {
    let one = |number: usize| match number {
        number if number < better => (1.0, 1.0, 40.0),
        // The pages are better, and the video is worse.
        number if number < better + worse => (1.0, 0.5, 40.0),
        _ => BAD,
    };
    (0..10).map(one).collect()
}

/// Pages are late, and the video is not.
const BAD: Values = (0.3, 1.0, 40.0);
const FINE: Values = (1.0, 1.0, 40.0);

fn judged(better: usize, worse: usize) -> Judgement {
    let answers = answers(&[BAD; 10], &[("change", Effort::Setting, mixed(better, worse))]);
    let effects = effects(&answers, &plan());
    let effect = &effects.effects[0];
    assert_eq!((effects.models, effects.missing), (10, 10));
    assert_eq!(
        (effect.better, effect.worse, effect.missing),
        (better, worse, 10 - better)
    );
    effect.judgement
}

#[test]
fn nine_of_ten_models_decide() {
    assert_eq!(judged(10, 0), Judgement::Better);
    assert_eq!(judged(9, 1), Judgement::Better);
    assert_eq!(judged(8, 0), Judgement::CantTell);
    assert_eq!(judged(8, 2), Judgement::CantTell);
    assert_eq!(judged(5, 5), Judgement::CantTell);
    assert_eq!(judged(1, 0), Judgement::Same);
    assert_eq!(judged(0, 0), Judgement::Same);
    assert_eq!(judged(1, 9), Judgement::Worse);
}

fn recommended(baseline: &[Values], changes: &[(&str, Effort, Vec<Values>)]) -> [Option<String>; 2] {
    let answers = answers(baseline, changes);
    let effects = effects(&answers, &plan());
    let label = |effect: Option<&Effect<'_>>| effect.map(|effect| effect.answer.what_if.label.clone());
    [label(effects.recommended()), label(effects.promising())]
}

#[test]
fn a_change_is_recommended_only_if_it_is_sure_to_help() {
    let one = |values| vec![("change", Effort::Setting, values)];
    let change = || Some("change".to_owned());
    assert_eq!(recommended(&[BAD; 10], &one(mixed(9, 1))), [change(), None]);
    assert_eq!(recommended(&[BAD; 10], &one(mixed(6, 1))), [None, change()]);
    // It harms in too many models, or it helps in too few.
    assert_eq!(recommended(&[BAD; 10], &one(mixed(8, 2))), [None, None]);
    assert_eq!(recommended(&[BAD; 10], &one(mixed(4, 0))), [None, None]);
    assert_eq!(recommended(&[BAD; 10], &[]), [None, None]);
}

/// Where nothing is missed, a change can't be sure to help, however much faster it makes a download.
#[test]
fn a_network_without_missed_goals_needs_no_change() {
    let faster = vec![(1.0, 1.0, 80.0); 10];
    assert_eq!(
        recommended(&[FINE; 10], &[("faster", Effort::Setting, faster)]),
        [None, None]
    );
    // One late page of nine is chance, in however many models.
    let late = [(0.89, 1.0, 40.0); 10];
    assert_eq!(
        recommended(&late, &[("change", Effort::Setting, vec![FINE; 10])]),
        [None, None]
    );
    let mut baseline = [FINE; 10];
    baseline[3] = BAD;
    assert_eq!(
        recommended(&baseline, &[("change", Effort::Setting, vec![FINE; 10])]),
        [None, None]
    );
    // Two of ten models are worth a change, which changes nothing in the others.
    baseline[4] = BAD;
    let change = vec![("change", Effort::Setting, vec![FINE; 10])];
    assert_eq!(recommended(&baseline, &change)[0].as_deref(), Some("change"));
}

/// Of changes that help equally, the one without costs is better, then the one with less effort.
#[test]
fn costs_and_effort_decide_between_equals() {
    let order = |changes: &[(&str, Effort, Vec<Values>)]| {
        let answers = answers(&[BAD; 10], changes);
        let effects = effects(&answers, &plan());
        let labels = effects.effects.iter().map(|effect| effect.answer.what_if.label.clone());
        labels.collect::<Vec<_>>()
    };
    let slow = || vec![(1.0, 1.0, 10.0); 10];
    let changes = [
        ("slow", Effort::Setting, slow()),
        ("purchase", Effort::Purchase, vec![FINE; 10]),
        ("firmware", Effort::Firmware, vec![FINE; 10]),
        ("half", Effort::Setting, mixed(5, 0)),
    ];
    assert_eq!(order(&changes), ["firmware", "purchase", "slow", "half"]);
}

#[test]
fn values_have_their_range_and_costs_are_named() {
    let mut with: Vec<Values> = (0..10)
        .map(|number| (0.9 + 0.01 * f64::from(number), 1.0, 20.0))
        .collect();
    with[0].2 = 15.0;
    let answers = answers(&[BAD; 10], &[("change", Effort::Setting, with)]);
    let effects = effects(&answers, &plan());
    let effect = &effects.effects[0];
    let pages = effect
        .values
        .iter()
        .find(|value| value.kind == "pages" && value.is_goal())
        .unwrap();
    assert_eq!((pages.before, pages.judgement), ([0.3; 3], Judgement::Better));
    assert_eq!((pages.better, pages.worse), (10, 0));
    assert!(
        (pages.after[0] - 0.9).abs() < 1e-9 && (pages.after[2] - 0.99).abs() < 1e-9,
        "{pages:?}"
    );
    let costs: Vec<_> = effect.costs().filter(|value| value.kind == "download").collect();
    assert!(!costs.is_empty());
    assert_eq!((costs[0].before[1], costs[0].after), (40.0, [15.0, 20.0, 20.0]));
}

/// A change that helps the pages at the cost of the download, and one that changes nothing: the one chosen by its caller comes
/// first, and only clear effects are listed.
#[test]
fn the_remedies_of_a_run_tell_what_clearly_changes() {
    let answers = answers(
        &[BAD; 10],
        &[
            ("limit", Effort::Program, vec![(1.0, 1.0, 10.0); 10]),
            ("nothing", Effort::Setting, vec![BAD; 10]),
        ],
    );
    let effects = effects(&answers, &plan());
    let told = |best: Option<&Answer>| crate::whatif::remedies(&answers, &effects, best);
    let found = told(Some(&answers.answers[0]));
    assert_eq!((found.runs, found.verdict), (10, Verdict::Fail));
    assert_eq!(found.best().map(|best| best.instruction.as_str()), Some("limit"));
    let effect = |station: &str, what: &str, medians: [&str; 2], is_better| RemedyEffect {
        station: station.to_owned(),
        what: what.to_owned(),
        medians: medians.map(str::to_owned),
        is_better,
    };
    assert_eq!(
        found.changes[0].effects,
        [
            effect("laptop", "pages in time", ["30 %", "100 %"], true),
            effect("tv", "download", ["40.0 Mbit/s", "10.0 Mbit/s"], false),
            effect("tv", "all traffic", ["65.0 Mbit/s", "35.0 Mbit/s"], false),
        ]
    );
    assert_eq!(found.changes[1].effects, []);
    assert_eq!(told(None).best(), None);
    assert_eq!(told(Some(&answers.answers[1])).changes[0].instruction, "nothing");
}
