//! Results as text and Markdown.

use super::compare::{Comparison, compare, disagreements};
use super::known::CAUSES;
use super::metric::Metric;
use super::plan::{CrosscheckPlan, Transport};
use super::results::PlanResult;
use super::scenario::NEVER_DEFAULT;
use crate::sample::{Outcome, Sample};
use netburn_medium::config::Standard;
use std::fmt::Write as _;

/// Returns the number of plans with a value that differs without a known cause.
#[must_use]
pub fn unexplained(results: &[&PlanResult]) -> usize {
    let differs = |result: &&&PlanResult| {
        let plan = CrosscheckPlan::generate(result.plan);
        let differing = |comparison: &Comparison| comparison.outcome == Outcome::Differs && comparison.cause.is_none();
        compare(&plan, result).iter().any(differing)
    };
    results.iter().filter(differs).count()
}

/// Formats every plan whose values differ as text, with the largest difference first.
#[must_use]
pub fn text(results: &[&PlanResult]) -> String {
    let mut text = String::new();
    let mut all = disagreements(results.iter().copied());
    all.retain(|disagreement| disagreement.worst.outcome == Outcome::Differs);
    for disagreement in &all {
        let worst = &disagreement.worst;
        let _ = writeln!(
            text,
            "plan {}: {}: ns-3 {}, netburn {} ({:+.0} %){}, {} of its values beyond the tolerance{}\n    {}",
            disagreement.plan.number,
            worst.metric.name(),
            range(worst.ns3),
            range(worst.netburn),
            worst.relative() * 100.0,
            worst
                .kernel
                .map_or(String::new(), |kernel| format!(", kernel {}", range(kernel))),
            disagreement.metrics,
            worst
                .cause
                .map_or(String::new(), |cause| format!("; known: {}", cause.name)),
            disagreement.plan.summary(),
        );
    }
    let _ = writeln!(
        text,
        "{} plans, of which {} differ, {} without a known cause",
        results.len(),
        all.len(),
        unexplained(results)
    );
    text
}

/// Returns the page docs/results/crosscheck.md.
#[must_use]
pub fn markdown(results: &[&PlanResult]) -> String {
    let mut text = String::from(HEAD);
    let compared: Vec<(CrosscheckPlan, Vec<Comparison>)> = results
        .iter()
        .map(|result| {
            let plan = CrosscheckPlan::generate(result.plan);
            let values = compare(&plan, result);
            (plan, values)
        })
        .collect();
    outcome(&mut text, results, &compared);
    groups(&mut text, &compared);
    let all = disagreements(results.iter().copied());
    default_keys(&mut text, &compared);
    wired_homes(&mut text, &compared);
    let _ = write!(text, "\n## The ten largest differences\n\n");
    for (rank, disagreement) in all.iter().take(10).enumerate() {
        let worst = &disagreement.worst;
        let _ = writeln!(
            text,
            "{}. Plan {}: {}. The {} is {} in ns-3 and {} in netburn ({:+.0} %){}. {}",
            rank + 1,
            disagreement.plan.number,
            disagreement.plan.summary(),
            worst.metric.name(),
            range(worst.ns3),
            range(worst.netburn),
            worst.relative() * 100.0,
            worst.kernel.map_or(String::new(), |kernel| format!(
                "; with the kernel's TCP it is {}",
                range(kernel)
            )),
            match (worst.cause, worst.outcome) {
                (Some(cause), _) => format!("Cause: {}.", cause.name),
                (None, Outcome::WithinSpread) => "The ranges overlap.".to_owned(),
                (None, _) => "The cause is not known.".to_owned(),
            },
        );
    }
    let _ = write!(
        text,
        "\n## All plans with a difference beyond the tolerance\n\n| plan | largest difference | ns-3 | netburn | difference | kernel's TCP | values beyond the tolerance \
         | cause |\n|---|---|---|---|---|---|---|---|\n"
    );
    for disagreement in &all {
        let worst = &disagreement.worst;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:+.0} % | {} | {} | {} |",
            disagreement.plan.number,
            worst.metric.name(),
            range(worst.ns3),
            range(worst.netburn),
            worst.relative() * 100.0,
            worst.kernel.map_or("–".to_owned(), range),
            disagreement.metrics,
            word(worst),
        );
    }
    let _ = write!(text, "\n## Known causes\n\n");
    for cause in CAUSES {
        let of_cause = |disagreement: &&super::compare::Disagreement| disagreement.worst.cause == Some(cause);
        let plans = all.iter().filter(of_cause).count();
        let _ = writeln!(text, "- **{}** ({plans} plans): {}", cause.name, cause.why);
    }
    text
}

const HEAD: &str = "# netburn and ns-3, compared

<!-- Generated from validation/crosscheck/ns-3.jsonl: NETBURN_REGENERATE=1 cargo test -p netburn-dev --test crosscheck -->

Random plans run in [ns-3](https://www.nsnam.org/) (2008) and in netburn's simulator. [Comparison
with independent programs](../reference/crosscheck.md) describes the plans, the settings, the
tolerances, and what is not compared. A value is the median over the seeds. A range is its smallest
and largest value.

";

/// The plans with the default keys, each with its total, and the keys that are never at their default.
fn default_keys(text: &mut String, compared: &[(CrosscheckPlan, Vec<Comparison>)]) {
    let plans = || compared.iter().filter(|(plan, _)| plan.has_default_keys());
    if plans().next().is_none() {
        return;
    }
    let _ = write!(
        text,
        "\n## With the default keys of queues and hardware\n\nThese plans set no key of queues and hardware, except the \
         discipline of the access point's queue.\n\n| plan | | ns-3, Mbit/s | netburn, Mbit/s | difference | outcome |\n\
         |---|---|---|---|---|---|\n"
    );
    plans().for_each(|(plan, values)| total_row(text, plan, values));
    let _ = write!(
        text,
        "\nNo plan has these keys at their default:\n\n| key | reason |\n|---|---|\n"
    );
    for (key, why) in NEVER_DEFAULT {
        let _ = writeln!(text, "| `{key}` | {why} |");
    }
}

/// The wired homes, each with its total, and the outcomes of all their values.
fn wired_homes(text: &mut String, compared: &[(CrosscheckPlan, Vec<Comparison>)]) {
    let plans = || compared.iter().filter(|(plan, _)| plan.home.is_some());
    if plans().next().is_none() {
        return;
    }
    let count = |outcome: Outcome| {
        let values = plans().flat_map(|(_, values)| values);
        values.filter(|value| value.outcome == outcome).count()
    };
    let _ = write!(
        text,
        "\n## The wired parts of a home\n\nThese plans have a router with one line, wired stations, one or two access \
         points, and most of them a NAS. Of their values, {} agree, {} are within the spread, and {} differ.\n\n\
         | plan | | ns-3, Mbit/s | netburn, Mbit/s | difference | outcome |\n|---|---|---|---|---|---|\n",
        count(Outcome::Agrees),
        count(Outcome::WithinSpread),
        count(Outcome::Differs),
    );
    plans().for_each(|(plan, values)| total_row(text, plan, values));
}

/// A row with the goodput of all flows of a plan.
fn total_row(text: &mut String, plan: &CrosscheckPlan, values: &[Comparison]) {
    let Some(total) = values.iter().find(|value| value.metric == Metric::Total) else {
        return;
    };
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} | {:+.1} % | {} |",
        plan.number,
        plan.summary(),
        range(total.ns3),
        range(total.netburn),
        total.relative() * 100.0,
        word(total),
    );
}

/// Outcome of a comparison, or the cause of the difference.
fn word(comparison: &Comparison) -> &'static str {
    match (comparison.outcome, comparison.cause) {
        (Outcome::Agrees, _) => "agrees",
        (_, Some(cause)) => cause.name,
        (Outcome::WithinSpread, None) => "within the spread",
        _ => "not known",
    }
}

fn outcome(text: &mut String, results: &[&PlanResult], compared: &[(CrosscheckPlan, Vec<Comparison>)]) {
    let values = || compared.iter().flat_map(|(_, values)| values);
    let count = |which: &dyn Fn(&&Comparison) -> bool| values().filter(which).count();
    let differs = |comparison: &Comparison| comparison.outcome == Outcome::Differs;
    let plans = |which: &dyn Fn(&Comparison) -> bool| {
        let with = |(_, values): &&(CrosscheckPlan, Vec<Comparison>)| values.iter().any(which);
        compared.iter().filter(with).count()
    };
    let versions: std::collections::BTreeSet<&str> = results.iter().map(|result| result.version.as_str()).collect();
    let versions: Vec<&str> = versions.into_iter().collect();
    let rows = [
        ("all", values().count(), compared.len()),
        (
            "agree",
            count(&|comparison| comparison.outcome == Outcome::Agrees),
            compared.len() - plans(&|comparison| comparison.outcome != Outcome::Agrees),
        ),
        (
            "within the spread of both programs",
            count(&|comparison| comparison.outcome == Outcome::WithinSpread),
            plans(&|comparison| comparison.outcome == Outcome::WithinSpread),
        ),
        (
            "differ, cause known",
            count(&|comparison| differs(comparison) && comparison.cause.is_some()),
            plans(&|comparison| differs(comparison) && comparison.cause.is_some()),
        ),
        (
            "differ, cause not known",
            count(&|comparison| differs(comparison) && comparison.cause.is_none()),
            plans(&|comparison| differs(comparison) && comparison.cause.is_none()),
        ),
    ];
    let _ = write!(
        text,
        "ns-3 {}. A plan counts in every row that one of its values is in. It counts as *agree* only if all its \
         values agree.\n\n\
         | | values | plans |\n|---|---|---|\n",
        versions.join(" and ")
    );
    for (name, values, plans) in rows {
        let _ = writeln!(text, "| {name} | {values} | {plans} |");
    }
}

/// One row for each standard and transport.
fn groups(text: &mut String, compared: &[(CrosscheckPlan, Vec<Comparison>)]) {
    let _ = write!(
        text,
        "\n## By standard and transport\n\nThe differences are without their sign.\n\n\
         | standard | transport | plans | goodput of all, median difference | 95th percentile | round trip, median difference \
         | 95th percentile | plans that disagree |\n|---|---|---|---|---|---|---|---|\n"
    );
    let mut names: Vec<(Option<Standard>, &str)> = compared.iter().map(|(plan, _)| group(plan)).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of_group: Vec<&(CrosscheckPlan, Vec<Comparison>)> =
            compared.iter().filter(|(plan, _)| group(plan) == name).collect();
        let size = |which: &dyn Fn(Metric) -> bool, share: f64| {
            let values = of_group.iter().flat_map(|(_, values)| values);
            let mut all: Vec<f64> = values
                .filter(|comparison| which(comparison.metric))
                .map(|comparison| comparison.relative().abs())
                .collect();
            all.sort_by(f64::total_cmp);
            let place = (all.len() as f64 * share).ceil() as usize;
            all.get(place.saturating_sub(1))
                .map_or("–".to_owned(), |value| format!("{:.1} %", value * 100.0))
        };
        let total = |metric| metric == Metric::Total;
        let trip = |metric| matches!(metric, Metric::RoundTrip(_));
        let differ = |(_, values): &&&(CrosscheckPlan, Vec<Comparison>)| {
            values.iter().any(|comparison| comparison.outcome == Outcome::Differs)
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            name.0.map_or("wired homes", Standard::name),
            name.1,
            of_group.len(),
            size(&total, 0.5),
            size(&total, 0.95),
            size(&trip, 0.5),
            size(&trip, 0.95),
            of_group.iter().filter(differ).count(),
        );
    }
}

/// Standard and transport. The wired homes of all standards are one group.
fn group(plan: &CrosscheckPlan) -> (Option<Standard>, &'static str) {
    let transport = match plan.transport {
        Transport::Udp { .. } => "UDP",
        Transport::Cubic | Transport::Reno => "TCP",
    };
    (plan.home.is_none().then_some(plan.standard), transport)
}

/// Formats the median, and the range of several runs.
fn range(sample: Sample) -> String {
    if sample.min == sample.max {
        number(sample.median)
    } else {
        sample.show(number)
    }
}

/// Formats a value with three significant digits.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
