//! Comparisons for scripts.

use netburn_analysis::compare::{Comparison, Matrix, MetricComparison, NotCompared, Ranking, Side, Undecided};
use netburn_stats::metric_change::Judgement;
use serde_json::{Map, Value, json};

/// The schema of a comparison.
pub(super) const COMPARISON: &str = "netburn.comparison/1";
/// The schema of a ranking.
pub(super) const RANKING: &str = "netburn.ranking/1";
/// The schema of a matrix.
pub(super) const MATRIX: &str = "netburn.matrix/1";

/// A comparison as JSON; unknown and infinite values are `null`.
#[must_use]
pub fn comparison(comparison: &Comparison) -> Value {
    let changed_keys = comparison.changed_keys.as_ref().map(|changed_keys| {
        let each = changed_keys.iter();
        each.map(|d| json!({ "key": d.key, "baseline": d.baseline, "value": d.value }))
            .collect::<Vec<_>>()
    });
    let [verdict, baseline_verdict] = comparison.verdicts();
    json!({
        "schema": COMPARISON,
        "judgement": comparison.judgement().name(),
        "counts": counts(comparison),
        "runs_needed": comparison.too_few(),
        "these": side(&comparison.these, verdict),
        "against": side(&comparison.against, baseline_verdict),
        "differing": changed_keys,
        "only": { "these": comparison.only[0], "against": comparison.only[1] },
        "not_compared": comparison.not_compared.iter().map(not_compared).collect::<Vec<_>>(),
        "paired": !comparison.pairing.pairs.is_empty(),
        "identical_runs": comparison.pairing.identical,
        "judged_with": comparison.judged_with,
        "metrics": comparison.metrics.iter().map(|metric| metric_comparison(comparison, metric)).collect::<Vec<_>>(),
    })
}

fn not_compared(not: &NotCompared) -> Value {
    json!({ "station": not.station, "workload": not.workload, "why": not.reason.to_string() })
}

/// One metric of a comparison as a document.
#[must_use]
pub fn metric_comparison(comparison: &Comparison, metric: &MetricComparison) -> Value {
    let contrast = metric.contrast();
    let never = metric
        .values
        .each_ref()
        .map(|values| values.iter().filter(|v| v.is_infinite()).count());
    let mut value = json!({
        "metric": metric.key.path(),
        "station": metric.key.station,
        "workload": metric.key.workload,
        "unit": metric.key.unit().name(),
        "better": metric.question.better.name(),
        "baseline": contrast.medians[0],
        "value": contrast.medians[1],
        "difference": contrast.difference,
        "share": metric.share(),
        "low": contrast.interval.map(|interval| interval.low),
        "high": contrast.interval.map(|interval| interval.high),
        "level": contrast.level,
        "paired": contrast.paired,
        "varies": contrast.varies,
        "test": metric.answer.test.name(),
        "p": metric.answer.p,
        "p_corrected": metric.answer.corrected,
        "effect": metric.is_decided().then(|| contrast.effect.size().name()),
        "delta": contrast.effect.delta,
        "higher_in": contrast.effect.larger(),
        "same_within": metric.question.same_within(),
        "runs": contrast.runs,
        "never": never,
        "judgement": metric.answer.judgement.name(),
        "why": match comparison.undecided(metric) {
            Some(Undecided::TooFew(_)) => Some("too few runs"),
            Some(Undecided::Between) => Some("between"),
            None => None,
        },
    });
    if let (Some((_, goal)), Some(fields)) = (&metric.key.goal, value.as_object_mut()) {
        fields.insert("goal".to_owned(), json!(goal));
    }
    value
}

/// A ranking as JSON.
#[must_use]
pub fn ranking(ranking: &Ranking) -> Value {
    let variants = ranking.standings.iter().map(|standing| {
        json!({
            "name": standing.name,
            "sources": ranking.sides[standing.side].sources,
            "runs": ranking.sides[standing.side].runs.len(),
            "mean_rank": standing.mean_rank,
            "low": standing.interval.map(|interval| interval.low),
            "high": standing.interval.map(|interval| interval.high),
            "best_in": standing.best_in,
        })
    });
    let metrics = ranking.metrics.iter().map(|ranked| {
        let each = ranked.order.iter().map(|side| {
            json!({
                "name": ranking.sides[*side].name,
                "median": ranked.medians[*side],
                "low": ranked.intervals[*side].map(|interval| interval.low),
                "high": ranked.intervals[*side].map(|interval| interval.high),
                "rank": ranked.ranks[*side],
                "against_best": ranked.against_best[*side].map(Judgement::name),
            })
        });
        json!({
            "metric": ranked.key.path(),
            "station": ranked.key.station,
            "workload": ranked.key.workload,
            "unit": ranked.key.unit().name(),
            "better": ranked.key.better().name(),
            "variants": each.collect::<Vec<_>>(),
        })
    });
    json!({
        "schema": RANKING,
        "variants": variants.collect::<Vec<_>>(),
        "draws": ranking.options.draws,
        "seed": ranking.options.seed.0,
        "level": 0.95,
        "judged_with": ranking.judged_with,
        "metrics": metrics.collect::<Vec<_>>(),
    })
}

/// A matrix as JSON: rows, worst first, and all comparisons, to which cells refer.
#[must_use]
pub fn matrix(matrix: &Matrix) -> Value {
    let rows = matrix.rows.iter().map(|row| {
        let cells = row.cells.iter().map(|cell| {
            cell.as_ref().map(|cell| {
                json!({
                    "variant": matrix.variants[cell.variant],
                    "comparison": cell.comparison,
                    "judgement": cell.judgement.name(),
                    "metric": cell.metric.map(|place| matrix.comparisons[cell.comparison].metrics[place].key.path()),
                    "share": cell.metric.and_then(|place| matrix.comparisons[cell.comparison].metrics[place].share()),
                })
            })
        });
        json!({ "scenario": row.scenario, "station": row.station, "cells": cells.collect::<Vec<_>>() })
    });
    json!({
        "schema": MATRIX,
        "baseline": matrix.baseline,
        "variants": matrix.variants,
        "rows": rows.collect::<Vec<_>>(),
        "comparisons": matrix.comparisons.iter().map(comparison).collect::<Vec<_>>(),
    })
}

fn counts(of: &Comparison) -> Value {
    let each = Judgement::ALL.into_iter();
    Value::Object(
        each.map(|judgement| {
            (
                judgement.name().replace('\'', "").replace(' ', "_"),
                json!(of.count(judgement)),
            )
        })
        .collect::<Map<_, _>>(),
    )
}

fn side(side: &Side, verdict: &str) -> Value {
    json!({
        "name": side.name,
        "sources": side.sources,
        "runs": side.runs.len(),
        "scenario": side.scenario(),
        "environment": side.environment().map(|environment| environment.name()),
        "verdict": verdict,
        "mixed": side.mixed,
    })
}
