//! Tables of metrics, Wi-Fi links, the self-check and the machines.

use super::{cells, escaped, kinds, words};
use crate::text::{dscp, self_check_advice, split, wifi};
use netburn_analysis::format::{mbps, percent, short, span, span_us};
use netburn_analysis::view::View;
use netburn_record::summary::verdict_name;
use netburn_record::{Role, RunStatus};
use std::fmt::Write as _;

/// Every workload's values and goals.
pub(super) fn metrics(view: &View) -> String {
    let maybe = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), span);
    let mut rows = Vec::new();
    let mut goals = Vec::new();
    for station in &view.summary.stations {
        for workload in &station.workloads {
            let latency = &workload.latency_ms;
            rows.push(vec![
                format!("{}, {}", station.name, workload.name),
                mbps(workload.throughput_mbps),
                workload.operations.to_string(),
                workload.goal_misses.to_string(),
                workload.failures.to_string(),
                workload.unfinished.to_string(),
                maybe(latency.min),
                maybe(latency.p50),
                maybe(latency.p75),
                maybe(latency.p90),
                maybe(latency.p95),
                maybe(latency.p99),
                maybe(latency.max),
            ]);
            for goal in &workload.goals {
                goals.push(vec![
                    format!("{}, {}", station.name, workload.name),
                    goal.goal.clone(),
                    verdict_name(goal.verdict).to_owned(),
                    goal.met.map_or_else(|| "–".to_owned(), percent),
                    goal.samples.to_string(),
                    goal.excess.map_or_else(|| "–".to_owned(), short),
                ]);
            }
        }
    }
    let head = [
        "workload",
        "Mbit/s",
        "operations",
        "goal misses",
        "failed",
        "unfinished",
        "min",
        "p50",
        "p75",
        "p90",
        "p95",
        "p99",
        "max",
    ];
    let mut out = cells("Latency of the operations", &words(&head), &rows);
    out.push_str("<p class=\"note\">A percentile is shown only if there are enough operations for it. Operations that never finished rank above all others.</p>\n");
    if !goals.is_empty() {
        let head = ["workload", "goal", "verdict", "met", "samples", "worst ÷ goal"];
        let _ = write!(out, "<h3>Goals</h3>\n{}\n", cells("Goals", &words(&head), &goals));
    }
    out.push_str(&kinds::all(view));
    out
}

/// Delays of Wi-Fi, internet line and server.
pub(super) fn split(view: &View) -> String {
    let parts = split::parts(&view.summary);
    if parts.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = parts
        .iter()
        .map(|part| {
            let name = format!("{}, {}", part.station, part.name);
            std::iter::once(name).chain(part.values()).collect()
        })
        .collect();
    let head = [
        "part of the path",
        "idle",
        "median",
        "p95",
        "added, median",
        "added, p95",
    ];
    let table = cells("Delay of Wi-Fi, line and server", &words(&head), &rows);
    format!("{table}<p class=\"note\">{}</p>\n", escaped(split::NOTE))
}

/// Packets whose DSCP the path changed.
pub(super) fn dscp(view: &View) -> String {
    let lines = dscp::lines(&view.summary);
    lines.iter().map(|line| format!("<p>{}</p>\n", escaped(line))).collect()
}

/// A line for each station's Wi-Fi.
pub(super) fn wifi(view: &View) -> String {
    let lines = wifi::lines(&view.summary);
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines
        .iter()
        .map(|line| format!("<li>{}</li>\n", escaped(line)))
        .collect();
    format!("<ul>\n{lines}</ul>\n")
}

/// Returns true if the results are reliable.
pub(super) fn self_check(view: &View) -> String {
    let self_check = &view.summary.self_check;
    let mut out = String::new();
    let late = self_check.timer_lateness_us;
    if !view.summary.environment.is_real() {
        out.push_str(
            "<p>Simulated time: there is no measurement error. The accuracy of the model is a separate question.</p>\n",
        );
    } else if self_check.ok && self_check.reasons.is_empty() {
        let _ = writeln!(
            out,
            "<p>Passed: operations started within {} of schedule at p99 (worst {}).</p>",
            span_us(late.p99),
            span_us(late.max)
        );
    } else {
        let heading = if self_check.ok {
            "<p>The test machine delayed operations:</p>\n<ul>\n"
        } else {
            "<p class=\"warning\">Failed:</p>\n<ul>\n"
        };
        out.push_str(heading);
        for reason in &self_check.reasons {
            let _ = writeln!(out, "<li>{}</li>", escaped(&reason.to_string()));
        }
        let _ = writeln!(out, "</ul>\n<p>{}</p>", self_check_advice(&view.summary));
    }
    if let Some(lab) = &view.lab {
        let _ = writeln!(
            out,
            "<p>The lab delivered packets {} late at p99 (worst {}). The forwarding thread had {} real-time priority, a longest standstill of {}, and used {} of one core.</p>",
            span_us(lab.lateness_us_p99),
            span_us(lab.lateness_us_max),
            if lab.real_time { "a" } else { "no" },
            span_us(lab.standstill_us_max),
            percent(lab.cpu)
        );
    }
    if !view.health.is_empty() {
        let head = [
            "agent or server",
            "lateness, p99",
            "lateness, max",
            "standstill, max",
            "missed sends",
            "busiest thread",
            "machine busy",
            "service time, p99",
            "rejected",
        ];
        let rows = view.health.iter().map(|health| {
            let server = health.role == Role::Server;
            vec![
                health.name.clone(),
                span_us(health.lateness_us_p99),
                span_us(health.lateness_us_max),
                health.standstill_us_max.map_or_else(String::new, span_us),
                health.missed_sends.to_string(),
                health.cpu.map_or_else(String::new, percent),
                health.machine_busy.map_or_else(String::new, percent),
                if server {
                    span_us(health.service_us_p99)
                } else {
                    String::new()
                },
                if server {
                    health.rejected.to_string()
                } else {
                    String::new()
                },
            ]
        });
        out.push_str(&cells("Health reports", &words(&head), &rows.collect::<Vec<_>>()));
        out.push('\n');
    }
    if !view.clocks.is_empty() {
        let head = ["clock of", "offset to the controller", "uncertainty", "drift"];
        let rows = view.clocks.iter().map(|clock| {
            let drift = match (clock.jump_ns, clock.drift_ppm, clock.drift_error_ppm) {
                (Some(jump), ..) => format!("jumped by {}", span(jump as f64 / 1e6)),
                (None, Some(ppm), _) => format!("{} ppm", short(ppm)),
                (None, None, Some(error)) => format!("none above {} ppm", short(error)),
                (None, None, None) => "unknown".to_owned(),
            };
            vec![
                clock.name.clone(),
                format!("{} ms", short(clock.offset_ns as f64 / 1e6)),
                span(clock.error_ns as f64 / 1e6),
                drift,
            ]
        });
        out.push_str(&cells("Clocks", &words(&head), &rows.collect::<Vec<_>>()));
        out.push('\n');
    }
    out
}

/// The machine, the version, and how the run ended.
pub(super) fn environment(view: &View) -> String {
    let host = &view.host;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut fact = |name: &str, value: String| {
        if !value.is_empty() {
            rows.push(vec![name.to_owned(), value]);
        }
    };
    fact("netburn", view.version.clone());
    fact("started", view.started.clone().unwrap_or_default());
    fact(
        "ended",
        match &view.status {
            RunStatus::Complete => "as planned".to_owned(),
            RunStatus::Interrupted => "interrupted".to_owned(),
            RunStatus::Failed(why) => why.clone(),
        },
    );
    fact("machine", host.name.clone());
    fact("system", host.os.clone());
    fact("kernel", host.kernel.clone());
    fact("processor", host.cpu.clone());
    if host.cores > 0 {
        fact("processors", host.cores.to_string());
    }
    if host.memory_bytes > 0 {
        fact("memory", format!("{} GB", short(host.memory_bytes as f64 / 1e9)));
    }
    fact("seed", view.summary.seed.to_string());
    let mut out = cells("Environment", &words(&["property", "value"]), &rows);
    if !view.summary.environment.is_real() {
        out.push_str("<p class=\"note\">A simulation's results do not depend on the machine or the time.</p>");
    }
    out.push('\n');
    out
}
