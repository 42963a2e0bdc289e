//! The pages of the verdicts, the causes and the statistics, from the constants of the program.

use crate::page::{check_generated, replace};
use netburn_analysis::explain::Kind;
use netburn_analysis::explain::causes::removals;
use netburn_analysis::format::{percent, short, span_us};
use netburn_record::metrics::{Comparison, Unit, run_quantities, station_quantities, workload_quantities};
use netburn_record::self_check::{
    CLOCK_ERROR_NS, CPU, DEFAULT_STANDSTILL_LIMIT, LAB_LATENESS_US, LATENESS_US, MACHINE_BUSY, MAX_STANDSTILL_LIMIT,
    MISSED_SENDS, SERVICE_US, STANDSTILL_SHARE, STEAL, WITHOUT_GOAL,
};
use netburn_stats::contrast::{LEVEL, SIGNIFICANCE, enough_pairs, min_p, runs_needed};
use netburn_stats::metric_change::MIN_RUNS;
use netburn_stats::{STANDARD, paired_shift, pairs, percentile, ranks, shift};
use netburn_workload::Verdict;
use netburn_workload::verdict::{MARGINAL_PERCENT, MAX_EXCESS, MAX_STALL_PERCENT, OPERATIONS_NEEDED, PASS_PERCENT};
use std::fmt::Write as _;

fn thresholds() -> String {
    let needed = |verdict: Verdict| verdict.windows_needed();
    format!(
        "| verdict | latency goal, rate goal | goal `no stall` | provisional, operations | provisional, windows and stalls |\n\
         |---|---|---|---|---|\n\
         | **pass** | {PASS_PERCENT} % of the samples or more met the goal, and the worst one is within {MAX_EXCESS} \
         times the limit | the player never stalled | below {OPERATIONS_NEEDED} | below {} |\n\
         | **marginal** | {MARGINAL_PERCENT} % or more met the goal | stalled for {MAX_STALL_PERCENT} % of the time or \
         less | below {OPERATIONS_NEEDED} | below {} |\n\
         | **fail** | less than {MARGINAL_PERCENT} % met the goal | stalled for more than {MAX_STALL_PERCENT} % of the \
         time | if the interval contains {MARGINAL_PERCENT} % | below {} |\n\
         | **inconclusive** | no samples | the player was not observed | – | – |\n",
        needed(Verdict::Pass),
        needed(Verdict::Marginal),
        needed(Verdict::Fail)
    )
}

fn percentiles() -> String {
    let mut table = "| percentile | samples |\n|---|---|\n".to_owned();
    for level in STANDARD {
        let needed = percentile::needed(level).unwrap();
        let _ = writeln!(table, "| p{} | {needed} |", level.as_ppb() / 10_000_000);
    }
    table
}

fn self_check() -> String {
    let clock = span_us(CLOCK_ERROR_NS as f64 / 1e3);
    let rows = [
        (
            "agent, server",
            "start delay at p99",
            format!("more than {}", span_us(LATENESS_US)),
        ),
        (
            "agent",
            "operations skipped because they were too late",
            format!("more than {}", percent(MISSED_SENDS)),
        ),
        (
            "agent, server",
            "busiest thread, of one core",
            format!("{} or more", percent(CPU)),
        ),
        (
            "lab",
            "forwarding thread, of one core",
            format!("{} or more", percent(CPU)),
        ),
        ("machine", "busy", format!("{} or more", percent(MACHINE_BUSY))),
        (
            "server",
            "time to start a response at p99",
            format!("more than {}", span_us(SERVICE_US)),
        ),
        (
            "server",
            "requests rejected because of internal errors",
            "one or more".to_owned(),
        ),
        ("agent", "uncertainty of the clock", format!("more than {clock}")),
        (
            "agent, server, lab",
            "longest standstill",
            format!(
                "more than a tenth of the strictest latency goal, from {DEFAULT_STANDSTILL_LIMIT} to \
                 {MAX_STANDSTILL_LIMIT}; {WITHOUT_GOAL} without a latency goal"
            ),
        ),
        (
            "lab",
            "sum of all standstills",
            format!(
                "more than {} of the time, and more than the limit of the longest standstill",
                percent(STANDSTILL_SHARE)
            ),
        ),
        (
            "lab",
            "delay of a delivery at p99",
            format!("more than {}", span_us(LAB_LATENESS_US)),
        ),
        (
            "lab",
            "longest delay of a delivery",
            "more than the limit of the longest standstill".to_owned(),
        ),
        (
            "lab",
            "time that the hypervisor takes",
            format!("more than {}", percent(STEAL)),
        ),
    ];
    let mut table = "| part | value | unreliable |\n|---|---|---|\n".to_owned();
    for (part, value, limit) in rows {
        let _ = writeln!(table, "| {part} | {value} | {limit} |");
    }
    table
}

fn causes() -> String {
    let mut table = "| cause | named when |\n|---|---|\n".to_owned();
    for kind in Kind::ALL {
        let _ = writeln!(table, "| `{}` | {} |", kind.name(), kind.criterion());
    }
    table
}

fn changes() -> String {
    let mut table = "| cause | changes that are simulated |\n|---|---|\n".to_owned();
    for kind in Kind::ALL {
        let _ = writeln!(table, "| `{}` | {} |", kind.name(), kind.changes());
    }
    table
}

fn factors() -> String {
    removals().iter().map(|without| format!("- {without}\n")).collect()
}

fn tolerances() -> String {
    let mut table = "| metric | better | the same within |\n|---|---|---|\n".to_owned();
    let quantities = workload_quantities()
        .chain(station_quantities())
        .chain(run_quantities());
    let mut words: Vec<&str> = Vec::new();
    for quantity in quantities {
        let Some(Comparison {
            words: name,
            better,
            tolerance,
            ..
        }) = quantity.comparison
        else {
            continue;
        };
        // Both directions, and all levels of the throughput, have one line.
        if words.contains(&name) {
            continue;
        }
        words.push(name);
        let unit = match quantity.unit {
            Unit::Ms => " ms",
            Unit::Points => " points",
            _ => "",
        };
        let share = (tolerance.share > 0.0).then(|| percent(tolerance.share));
        let least = (tolerance.least > 0.0).then(|| format!("{}{unit}", short_share(tolerance.least)));
        let parts: Vec<String> = share.into_iter().chain(least).collect();
        let _ = writeln!(table, "| {name} | {} | {} |", better.name(), parts.join(" or "));
    }
    table
}

/// Up to three decimals.
fn short_share(value: f64) -> String {
    if value >= 0.01 {
        short(value)
    } else {
        format!("{value:.3}")
    }
}

/// Two significant digits.
fn probability(value: f64) -> String {
    let digits = (1..).find(|digits| value * 10_f64.powi(*digits) >= 1.0).unwrap() as usize + 1;
    format!("{value:.digits$}")
}

fn fewest() -> String {
    let mut table =
        "| runs of each side | least p, rank-sum | confidence | least p, signed-rank (pairs) | confidence (pairs) |\n\
                     |---|---|---|---|---|\n"
            .to_owned();
    for runs in [3, 4, 5, 6, 8, 10, 12, 20] {
        // Values without ties. The level depends on the number of runs only.
        let first: Vec<f64> = (0..runs).map(f64::from).collect();
        let second: Vec<f64> = first.iter().map(|value| value + 0.37).collect();
        let differences: Vec<f64> = (0..runs).map(|run| 1.0 + f64::from(run).sqrt()).collect();
        let count = runs as usize;
        let level = |shift: Option<netburn_stats::Shift>| percent(shift.unwrap().level);
        let _ = writeln!(
            table,
            "| {runs} | {} | {} | {} | {} |",
            probability(min_p(count, count)),
            level(shift(&first, &second, LEVEL)),
            probability(pairs::min_p(count)),
            level(paired_shift(&differences, LEVEL))
        );
    }
    table
}

fn constants() -> String {
    let pairs_for = |metrics| (1..).find(|pairs| enough_pairs(*pairs, metrics)).unwrap();
    let mut text = format!(
        "- Fewest runs of each side: {MIN_RUNS}.\n\
         - Significance level: {SIGNIFICANCE}.\n\
         - The rank-sum test is exact up to {} runs in total, the signed-rank test up to {} pairs.\n",
        ranks::EXACT,
        pairs::EXACT
    );
    text.push_str("\n| metrics | runs of each side for a result | pairs for the signed-rank test |\n|---|---|---|\n");
    for metrics in [1, 5, 15, 18, 40, 80] {
        let _ = writeln!(
            text,
            "| {metrics} | {} | {} |",
            runs_needed(metrics),
            pairs_for(metrics)
        );
    }
    text
}

#[test]
fn the_page_of_the_verdicts_is_current() {
    check_generated("verdicts.md", |page| {
        let page = replace(page, "thresholds", &thresholds());
        let page = replace(&page, "percentiles", &percentiles());
        replace(&page, "self-check", &self_check())
    });
}

#[test]
fn the_page_of_the_causes_is_current() {
    check_generated("causes.md", |page| {
        let page = replace(page, "causes", &causes());
        let page = replace(&page, "factors", &factors());
        replace(&page, "changes", &changes())
    });
}

#[test]
fn the_page_of_the_statistics_is_current() {
    check_generated("statistics.md", |page| {
        let page = replace(page, "tolerances", &tolerances());
        let page = replace(&page, "fewest", &fewest());
        replace(&page, "constants", &constants())
    });
}
