//! Comparisons of summaries made by hand.

use super::{html, json as to_json, tables, text};
use netburn_analysis::compare::{Comparison, Matrix, Options, Ranking, Side, name};
use netburn_record::Summary;
use netburn_stats::metric_change::Judgement;
use serde_json::json;
use std::path::Path;

/// A run in which the laptop's pages took `p50` and `p95`, and met its goal in this share.
fn run(scenario: &str, environment: &str, p50: f64, p95: Option<f64>, met: f64) -> Summary {
    let unbounded = u64::from(p95.is_none());
    serde_json::from_value(json!({
        "schema": "netburn.summary/1", "run": "r", "scenario": scenario, "environment": environment, "seed": 1, "duration_s": 60.0,
        "verdict": "pass", "provisional": false,
        "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
        "totals": { "throughput_mbps": 50.0, "airtime_jain": null },
        "stations": [ { "name": "laptop", "verdict": "pass", "throughput_mbps": 3.4, "airtime_share": null, "idle_latency_ms": 2.0,
            "workloads": [ { "name": "browsing", "kind": "pages", "verdict": "pass", "provisional": false,
                "operations": 100, "goal_misses": 0, "failures": 0, "unfinished": 0, "throughput_mbps": 3.4,
                "latency_ms": { "count": 100, "min": 1.0, "p50": p50, "p75": p50, "p90": p50, "p95": p95, "p99": null, "max": 900.0,
                                "unbounded": unbounded * 10 },
                "goals": [ { "goal": "page load ≤ 500 ms", "kind": "latency", "met": met, "excess": 1.0, "verdict": "pass" } ] } ] } ],
        "repeats": [], "intervals": {} }))
    .unwrap()
}

fn side(name: &str, runs: impl IntoIterator<Item = Summary>) -> Side {
    let mut side = Side::new(name);
    for run in runs {
        side.add_summary(Path::new(name), &run, None);
    }
    side
}

/// Runs whose p50 is `around` and a little more each time.
fn around(name: &str, around: f64, runs: usize) -> Side {
    side(
        name,
        (0..runs).map(|i| run("home", "simulate", around + i as f64, Some(2.0 * around), 1.0)),
    )
}

fn judged(comparison: &Comparison, path: &str) -> Judgement {
    let metric = comparison
        .metrics
        .iter()
        .find(|metric| metric.key.path().ends_with(path));
    metric.unwrap_or_else(|| panic!("no {path}")).answer.judgement
}

#[test]
fn slower_metrics_are_worse_and_others_the_same() {
    let comparison = Comparison::new(around("new", 130.0, 8), around("old", 100.0, 8), Options::default());
    assert_eq!(judged(&comparison, "latency_ms.p50"), Judgement::Worse);
    // All values of either side are equal, and 200 against 260.
    assert_eq!(judged(&comparison, "latency_ms.p95"), Judgement::Worse);
    assert_eq!(judged(&comparison, "stations.laptop.throughput_mbps"), Judgement::Same);
    assert_eq!(judged(&comparison, "goals.0.met"), Judgement::Same);
    assert_eq!(comparison.judgement(), Judgement::Worse);
    assert_eq!(comparison.too_few(), None);
    let turned = Comparison::new(around("old", 100.0, 8), around("new", 130.0, 8), Options::default());
    assert_eq!(turned.judgement(), Judgement::Better);
    let text = text::comparison(&comparison, 100, false);
    assert!(text.contains("WORSE – new against old: 2 worse, 4 same"), "{text}");
    assert!(text.contains("+30.0 (+29 %)"), "{text}");
    assert!(text.contains("large, higher in 100 %"), "{text}");
    for line in text.lines() {
        assert!(crate::sanitise::width(line) <= 100, "{line}");
    }
}

#[test]
fn a_mixed_result_is_shown_as_mixed() {
    // Half as long for most, and the goal missed more often.
    let new = side("new", (0..8).map(|_| run("home", "simulate", 50.0, Some(100.0), 0.5)));
    let comparison = Comparison::new(new, around("old", 100.0, 8), Options::default());
    assert_eq!(comparison.judgement(), Judgement::Worse, "what is worse decides");
    assert_eq!(comparison.headline(), "mixed");
    let text = text::comparison(&comparison, 100, false);
    assert!(text.contains("MIXED – new against old: 1 worse, 2 better"), "{text}");
    let page = html::comparison(&comparison, &[], &[]);
    let (head, _) = page.split_once("<main>").unwrap();
    assert!(head.contains("</span> mixed</strong>"), "{head}");
}

#[test]
fn too_few_runs_report_the_required_number() {
    let comparison = Comparison::new(around("new", 400.0, 2), around("old", 100.0, 8), Options::default());
    assert_eq!(comparison.count(Judgement::CantTell), comparison.metrics.len());
    // 2 of 6 metrics vary: 5 runs of each, 2/252 × 2 < 0.05 < 2/70 × 2.
    assert_eq!((comparison.metrics.len(), comparison.too_few()), (6, Some(5)));
    assert!(text::comparison(&comparison, 100, false).contains("--repeat 5"));
    let three = Comparison::new(around("new", 400.0, 3), around("old", 100.0, 3), Options::default());
    assert_eq!(judged(&three, "latency_ms.p50"), Judgement::CantTell);
    assert_eq!(judged(&three, "goals.0.met"), Judgement::Same);
    assert!(text::comparison(&three, 100, false).contains("With 3 runs of each side, none of the 2 varying metrics"));
    // 2/35 × 2 > 0.05.
    let unequal = Comparison::new(around("new", 400.0, 3), around("old", 100.0, 4), Options::default());
    let text = text::comparison(&unequal, 100, false);
    assert!(
        text.contains("With 3 runs against 4, none of the 2 varying metrics"),
        "{text}"
    );
}

#[test]
fn pages_that_never_end_are_worse_than_any() {
    let never = side("new", (0..8).map(|_| run("home", "simulate", 100.0, None, 0.9)));
    let comparison = Comparison::new(never, around("old", 100.0, 8), Options::default());
    assert_eq!(judged(&comparison, "latency_ms.p95"), Judgement::Worse);
    assert!(text::comparison(&comparison, 100, false).contains("never"));
    let json = to_json::comparison(&comparison);
    let metric = json["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .find(|f| f["metric"].as_str().unwrap().ends_with("p95"))
        .unwrap();
    assert_eq!((&metric["value"], &metric["never"]), (&json!(null), &json!([0, 8])));
}

#[test]
fn other_environments_and_missing_stations_are_reported() {
    let lab = side("lab", (0..8).map(|_| run("home", "lab", 100.0, Some(200.0), 1.0)));
    let comparison = Comparison::new(lab, around("sim", 100.0, 8), Options::default());
    assert!(text::comparison(&comparison, 100, false).contains("different environments (lab, simulate)"));
    let mut other_station = run("home", "simulate", 100.0, Some(200.0), 1.0);
    other_station.stations[0].name = "desktop".to_owned();
    let comparison = Comparison::new(
        side("new", vec![other_station; 8]),
        around("old", 100.0, 8),
        Options::default(),
    );
    assert!(!comparison.shares_a_station());
    assert_eq!(comparison.only, [vec!["desktop".to_owned()], vec!["laptop".to_owned()]]);
    let text = text::comparison(&comparison, 100, false);
    assert!(
        text.contains("no station in common") && text.contains("Only in new: desktop"),
        "{text}"
    );
}

#[test]
fn a_summary_without_its_plan_mixes_nothing() {
    let mut side = Side::new("home");
    for plan in [Some(json!({ "a": 1 })), None, Some(json!({ "a": 1 }))] {
        side.add_summary(Path::new("home"), &run("home", "simulate", 100.0, None, 1.0), plan);
        assert!(!side.mixed);
    }
    let other = run("home", "simulate", 100.0, None, 1.0);
    side.add_summary(Path::new("home"), &other, Some(json!({ "a": 2 })));
    assert!(side.mixed);
}

#[test]
fn goals_are_matched_by_their_text() {
    let mut other = run("home", "simulate", 100.0, Some(200.0), 0.5);
    other.stations[0].workloads[0].goals[0].goal = "page load ≤ 100 ms".to_owned();
    let comparison = Comparison::new(side("new", vec![other; 8]), around("old", 100.0, 8), Options::default());
    assert!(!comparison.metrics.iter().any(|metric| metric.key.goal.is_some()));
}

#[test]
fn one_seed_gives_one_comparison() {
    let make = |seed| {
        let options = Options {
            seed: netburn_units::Seed(seed),
            ..Options::default()
        };
        let comparison = Comparison::new(around("new", 103.0, 8), around("old", 100.0, 8), options);
        to_json::comparison(&comparison)["metrics"].clone()
    };
    assert_eq!(make(1), make(1));
}

#[test]
fn names_are_as_short_as_they_can_be() {
    let mut sides = [("runs/a/x", "x"), ("runs/a/y", "y")].map(|(source, _)| {
        let mut side = around("", 1.0, 1);
        side.sources = vec![source.to_owned()];
        side
    });
    let [one, other] = &mut sides;
    name(&mut [one, other]);
    assert_eq!((one.name.as_str(), other.name.as_str()), ("x", "y"));
    other.sources = vec!["runs/b/x".to_owned(), "runs/b/z".to_owned()];
    name(&mut [one, other]);
    assert_eq!((one.name.as_str(), other.name.as_str()), ("runs/a/x", "runs/b/x +1"));
}

#[test]
fn three_variants_are_ranked() {
    let sides = vec![
        around("middle", 150.0, 8),
        around("slow", 200.0, 8),
        around("fast", 100.0, 8),
    ];
    let ranking = Ranking::new(
        sides,
        Options {
            draws: 200,
            ..Options::default()
        },
    );
    let names: Vec<&str> = ranking
        .standings
        .iter()
        .map(|standing| standing.name.as_str())
        .collect();
    assert_eq!(names, ["fast", "middle", "slow"]);
    // 2 of 6 metrics differ: (1 + 1 + 2 + 2 + 2 + 2) / 6, and 2 and 3 instead of 1.
    let means: Vec<f64> = ranking
        .standings
        .iter()
        .filter_map(|standing| standing.mean_rank)
        .collect();
    assert!(
        (means[0] - 10.0 / 6.0).abs() < 1e-12 && (means[1] - 2.0).abs() < 1e-12,
        "{means:?}"
    );
    let interval = ranking.standings[0].interval.unwrap();
    assert!(interval.low <= means[0] && means[0] <= interval.high);
    assert_eq!(
        ranking.standings.iter().map(|s| s.best_in).collect::<Vec<_>>(),
        [6, 4, 4]
    );
    let text = text::ranking(&ranking, 100, false);
    assert!(text.contains("3 variants, ranked by 6 common metrics"), "{text}");
    assert_eq!(to_json::ranking(&ranking)["variants"][0]["name"], "fast");
    assert!(ranking.shares_a_station() && html::ranking(&ranking, &[]).contains("3 variants: fast ranks first"));
}

#[test]
fn a_ranking_without_common_stations_has_warnings() {
    let mut other_station = run("home", "lab", 100.0, Some(200.0), 1.0);
    other_station.stations[0].name = "desktop".to_owned();
    let ranking = Ranking::new(
        vec![around("one", 100.0, 8), side("two", vec![other_station; 2])],
        Options::default(),
    );
    assert!(!ranking.shares_a_station());
    for said in [text::ranking(&ranking, 200, false), html::ranking(&ranking, &[])] {
        for warning in [
            "no station in common",
            "different environments (lab, simulate)",
            "fewer than three runs",
        ] {
            assert!(
                said.contains(warning) || said.contains(&warning.replace('\'', "&#39;")),
                "{warning}: {said}"
            );
        }
    }
}

#[test]
fn a_matrix_has_its_worst_row_first() {
    let scenarios = vec![
        (
            "calm".to_owned(),
            around("base", 100.0, 8),
            vec![Some(around("p1", 101.0, 8)), None],
        ),
        (
            "wild".to_owned(),
            around("base", 100.0, 8),
            vec![Some(around("p1", 80.0, 8)), Some(around("p2", 300.0, 8))],
        ),
    ];
    let variants = ["p1".to_owned(), "p2".to_owned()];
    let matrix = Matrix::new(
        "base",
        &variants,
        scenarios,
        Options {
            draws: 300,
            ..Options::default()
        },
    );
    assert_eq!(matrix.comparisons.len(), 3);
    // In each of three comparisons with six metrics, p50 and p95 vary.
    assert_eq!(matrix.comparisons[0].judged_with, 6);
    let first = &matrix.rows[0];
    assert_eq!(
        (first.scenario.as_str(), first.station.as_deref()),
        ("wild", Some("laptop"))
    );
    assert_eq!(first.cells[0].as_ref().unwrap().judgement, Judgement::Better);
    assert_eq!(first.cells[1].as_ref().unwrap().judgement, Judgement::Worse);
    let detail = tables::detail(&matrix, first.cells[1].as_ref().unwrap()).unwrap();
    assert!(detail.starts_with("browsing p95 ms (+200 %)"), "{detail}");
    let calm = matrix.rows.iter().find(|row| row.scenario == "calm").unwrap();
    assert!(calm.cells[1].is_none());
    let text = text::matrix(&matrix, 120, false);
    assert!(
        text.contains("netburn compare p1") && text.contains("--against base"),
        "{text}"
    );
    assert_eq!(to_json::matrix(&matrix)["rows"][0]["cells"][1]["comparison"], 2);
}

/// A run with that seed, that median page load time of the laptop, and that total throughput.
fn seeded(seed: u64, p50: f64, mbps: f64) -> Summary {
    let mut run = run("home", "simulate", p50, Some(2.0 * p50), 1.0);
    run.seed = seed;
    run.totals.throughput_mbps = mbps;
    run
}

/// Six runs against six whose pages take three times as long. Metrics that are the same in all runs
/// (met, throughput of the laptop, idle latency) do not count. For three varying metrics the least
/// probability is 3 × 2 / 924.
#[test]
fn constant_metrics_do_not_reduce_power() {
    let old = side(
        "old",
        (0..6).map(|i| seeded(1 + i, 4.0 + i as f64 / 10.0, 50.0 + i as f64)),
    );
    let new = side(
        "new",
        (0..6).map(|i| seeded(11 + i, 13.0 + i as f64 / 10.0, 50.5 + i as f64)),
    );
    let comparison = Comparison::new(new, old, Options::default());
    assert_eq!((comparison.metrics.len(), comparison.judged_with), (6, 3));
    let p50 = comparison
        .metrics
        .iter()
        .find(|metric| metric.key.quantity.name == "p50_ms")
        .unwrap();
    assert_eq!(p50.answer.judgement, Judgement::Worse);
    assert!((p50.answer.corrected - 3.0 * 2.0 / 924.0).abs() < 1e-12);
    // The effect size is shown only for better and worse.
    let text = text::comparison(&comparison, 140, false);
    let line = |words: &str| text.lines().find(|line| line.contains(words)).unwrap().to_owned();
    assert!(line("browsing p50 ms").contains("large, higher in 100 %"), "{text}");
    for quiet in ["met %", "(all)"] {
        assert!(!line(quiet).contains("higher in"), "{text}");
    }
    let json = to_json::comparison(&comparison);
    let effects = json["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|metric| &metric["effect"]);
    assert_eq!(effects.filter(|effect| effect.is_string()).count(), 2, "{json:#}");
    assert!(!text.contains("compared in pairs"), "{text}");
}

/// Fourteen very different seeds; the change adds a tenth to each. Without pairs nothing could be
/// decided.
#[test]
fn runs_with_the_same_seed_are_pairs() {
    let pages = |seed: u64| 50.0 * seed as f64;
    let old = || side("old", (1..=14).map(|seed| seeded(seed, pages(seed), 50.0)));
    // Not in the same order.
    let new = |first: u64| {
        side(
            "new",
            (0..14)
                .rev()
                .map(|i| seeded(first + i, 1.1 * pages(1 + i) + i as f64 / 100.0, 50.0)),
        )
    };
    let paired = Comparison::new(new(1), old(), Options::default());
    assert_eq!(paired.pairing.pairs.len(), 14);
    assert_eq!(judged(&paired, "latency_ms.p50"), Judgement::Worse);
    let text = text::comparison(&paired, 100, false);
    assert!(text.contains("Same seeds: the runs are compared in pairs."), "{text}");
    assert!(text.contains("signed-rank test"), "{text}");
    assert_eq!(to_json::comparison(&paired)["metrics"][0]["test"], "signed-rank");
    let other_seeds = Comparison::new(new(101), old(), Options::default());
    assert!(other_seeds.pairing.pairs.is_empty());
    assert_eq!(judged(&other_seeds, "latency_ms.p50"), Judgement::CantTell);
    // Seeds do not determine runs of other environments. A seed that occurs twice makes pairs
    // ambiguous.
    let lab = side(
        "lab",
        (1..=14).map(|seed| Summary {
            environment: netburn_record::Environment::Lab,
            ..seeded(seed, 60.0, 50.0)
        }),
    );
    assert!(Comparison::new(lab, old(), Options::default()).pairing.pairs.is_empty());
    let twice = side("twice", (1..=14).map(|seed| seeded(seed.max(2), 60.0, 50.0)));
    assert!(
        Comparison::new(twice, old(), Options::default())
            .pairing
            .pairs
            .is_empty()
    );
}

#[test]
fn identical_runs_are_reported() {
    let runs = || (1..=6).map(|seed| seeded(seed, 100.0 + 30.0 * seed as f64, 50.0));
    let itself = Comparison::new(side("a", runs()), side("b", runs()), Options::default());
    assert_eq!(itself.pairing.identical, 6);
    assert_eq!(itself.count(Judgement::Same), itself.metrics.len());
    assert!(text::comparison(&itself, 200, false).contains("Every run of one side is identical to a run of the other"));
    assert!(html::comparison(&itself, &[], &[]).contains("Every run of one side is identical"));
    // Measured runs, too: a folder compared with itself.
    let measured = || {
        side(
            "m",
            runs().map(|run| Summary {
                environment: netburn_record::Environment::Local,
                ..run
            }),
        )
    };
    let itself = Comparison::new(measured(), measured(), Options::default());
    assert_eq!((itself.pairing.identical, itself.judgement()), (6, Judgement::Same));
    // Two of them are on both sides.
    let others = side("c", (5..=9).map(|seed| seeded(seed, 100.0 + 30.0 * seed as f64, 50.0)));
    let some = Comparison::new(others, side("a", runs()), Options::default());
    assert!(text::comparison(&some, 200, false).contains("Both sides contain 2 identical runs"));
}

/// One run of each side, measured in another environment than the simulator, so that seeds make no pairs.
fn measured(name: &str, seed: u64, verdicts: [netburn_workload::Verdict; 2]) -> Side {
    let mut run = Summary {
        environment: netburn_record::Environment::Fleet,
        seed,
        verdict: verdicts[0],
        ..run("home", "simulate", 100.0 + seed as f64, Some(200.0), 0.9996)
    };
    run.stations[0].verdict = verdicts[1];
    let mut side = Side::new(name);
    side.add_summary(Path::new(name), &run, Some(json!({ "a": 1 })));
    side
}

#[test]
fn the_verdicts_of_both_sides_come_first() {
    use netburn_workload::Verdict::{Marginal, None, Pass};
    let (before, after) = (
        measured("before", 1, [Marginal, Marginal]),
        measured("after", 1, [Pass, Pass]),
    );
    let comparison = Comparison::new(after, before.clone(), Options::default());
    let sentence = "Verdict: marginal → pass (before → after). Stations: laptop marginal → pass.";
    let printed = text::comparison(&comparison, 200, false);
    assert_eq!(printed.lines().nth(3).map(str::trim_start), Some(sentence), "{printed}");
    assert!(html::comparison(&comparison, &[], &[]).contains(sentence));
    let same = Comparison::new(before.clone(), before, Options::default());
    assert!(text::comparison(&same, 200, false).contains("Verdict: marginal in both."));
    let without = || measured("x", 1, [None, None]);
    let without = Comparison::new(without(), without(), Options::default());
    assert!(!text::comparison(&without, 200, false).contains("Verdict:"));
}

/// Each side has as many runs as the sentence says; of different numbers it names none.
#[test]
fn the_worst_verdict_has_the_number_of_runs() {
    use netburn_workload::Verdict::Pass;
    let side = |runs: usize| {
        let mut side = measured("side", 1, [Pass, Pass]);
        side.runs = vec![side.runs[0].clone(); runs];
        side
    };
    let text = |these, against| {
        text::comparison(
            &Comparison::new(side(these), side(against), Options::default()),
            200,
            false,
        )
    };
    assert!(text(3, 3).contains("  Worst verdict of 3 runs: pass in both."));
    assert!(text(3, 1).contains("  Worst verdict of the runs: pass in both."));
    assert!(text(1, 1).contains("  Verdict: pass in both."));
}

#[test]
fn seeds_are_different_if_they_differ() {
    use netburn_workload::Verdict::Pass;
    let side = |seed| measured("side", seed, [Pass, Pass]);
    let text = |one, other| text::comparison(&Comparison::new(side(one), side(other), Options::default()), 200, false);
    // Without pairs, which measured runs do not have.
    let mut other = side(1);
    other.runs[0].totals.throughput_mbps = 51.0;
    let same = text::comparison(&Comparison::new(other, side(1), Options::default()), 200, false);
    assert!(
        same.contains("Same scenario and seeds.") && !same.contains("different seeds"),
        "{same}"
    );
    assert!(text(1, 2).contains("Same scenario, different seeds."));
}

/// The share that met the goal is 99.96 %. The report rounds it down, and so does the comparison.
#[test]
fn a_met_share_has_the_digits_of_the_report() {
    use netburn_workload::Verdict::Pass;
    let side = || measured("side", 1, [Pass, Pass]);
    let text = text::comparison(&Comparison::new(side(), side(), Options::default()), 200, false);
    let row = text.lines().find(|line| line.contains("met %")).unwrap();
    assert!(row.contains("99.9") && !row.contains("100"), "{row}");
    assert_eq!(netburn_analysis::format::met_percent(0.9996), "99.9 %");
}

/// From `never` to a value is a change beyond the scale: an arrow, and not the dot of a difference of 0.
#[test]
fn a_change_from_never_is_drawn_as_an_arrow() {
    let never = || side("never", (0..8).map(|_| run("home", "simulate", 100.0, None, 0.9)));
    for (these, against) in [(around("x", 100.0, 8), never()), (never(), around("x", 100.0, 8))] {
        let page = html::comparison(&Comparison::new(these, against, Options::default()), &[], &[]);
        let row = page
            .split("<tr>")
            .find(|row| row.contains("p95\u{a0}ms") && row.contains('∞'))
            .expect("a row");
        let picture = row.split("<svg").nth(1).unwrap();
        assert!(!picture.contains("<circle") && picture.contains("Z\"/>"), "{picture}");
    }
}
