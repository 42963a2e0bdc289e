//! Tables of metrics, Wi-Fi links, the self-check and the machines.

use super::kinds::{self, known};
use super::{cells, escaped, noted, table};
use crate::access_points;
use crate::table::{Cell, Column, Table, numbers, right, words};
use crate::tables;
use crate::text::{dscp, self_check_advice, wifi};
use netburn_analysis::format::{percent, short, span, span_us};
use netburn_analysis::view::View;
use netburn_record::metrics::{self, Unit};
use netburn_record::summary::verdict_name;
use netburn_record::{Clock, Health, Role, RunStatus};
use std::fmt::Write as _;

/// Every workload's values and goals.
pub(super) fn metrics(view: &View) -> String {
    let stations = &view.summary.stations;
    let workloads = || {
        stations
            .iter()
            .flat_map(|station| station.workloads.iter().map(move |of| (station, of)))
    };
    let order = [Unit::Mbps, Unit::Count, Unit::Ms];
    let columns = tables::columns(metrics::Table::Workloads, metrics::workload_quantities(), &order);
    let (times, others): (Vec<_>, Vec<_>) = columns.into_iter().partition(|(_, unit)| *unit == Unit::Ms);
    let rows = workloads().map(|(station, of)| {
        let measured = metrics::of_workload(of);
        let values = |(heading, _): &(&str, Unit)| tables::values(metrics::Table::Workloads, heading, &measured);
        let mut cells = vec![Cell::from(format!("{}, {}", station.name, of.name))];
        cells.extend(others.iter().map(values));
        cells.push(of.unfinished.to_string().into());
        cells.extend(times.iter().map(values));
        cells
    });
    let rows = rows.collect();
    let headings = |columns: &[(&'static str, Unit)]| columns.iter().map(|(heading, _)| right(heading)).collect();
    let columns: [Vec<Column<'static>>; 4] = [
        vec![words("workload")],
        headings(&others),
        vec![numbers("unfinished")],
        headings(&times),
    ];
    let latencies = Table {
        caption: "Latency of the operations",
        columns: columns.into_iter().flatten().collect(),
        keys: 1,
        rows,
    };
    let goals = workloads().flat_map(|(station, of)| of.goals.iter().map(move |goal| (station, of, goal)));
    let goals = Table::for_items(
        "Goals",
        goals,
        &[
            ("workload", |(station, of, _)| format!("{}, {}", station.name, of.name)),
            ("goal", |(.., goal)| goal.goal.clone()),
            ("verdict", |(.., goal)| verdict_name(goal.verdict).to_owned()),
            ("met", |(.., goal)| known(goal.met, percent)),
            ("samples", |(.., goal)| goal.samples.to_string()),
            ("worst ÷ goal", |(.., goal)| known(goal.excess, short)),
        ],
    );
    let mut out = table(&latencies);
    out.push_str("<p class=\"note\">A percentile is shown only if there are enough operations for it. Operations that never finished rank above all others.</p>\n");
    if !goals.rows.is_empty() {
        let _ = write!(out, "<h3>Goals</h3>\n{}\n", table(&goals));
    }
    out.push_str(&kinds::all(view));
    out
}

/// Delays of Wi-Fi, internet line and server.
pub(super) fn split(view: &View) -> String {
    let split = tables::split(&view.summary);
    if split.rows.is_empty() {
        return String::new();
    }
    table(&split) + &noted(tables::SPLIT_NOTE)
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

/// Reports of observed access points.
pub(super) fn access_points(view: &View) -> String {
    let lines = access_points::lines(&view.summary);
    if lines.is_empty() {
        return String::new();
    }
    let mut out: String = lines.iter().map(|line| format!("<p>{}</p>\n", escaped(line))).collect();
    for part in [
        access_points::devices(&view.summary),
        access_points::queues(&view.summary),
        access_points::events(&view.summary.access_points),
    ] {
        if !part.rows.is_empty() {
            out += &table(&part);
        }
    }
    out + &noted(access_points::NOTE)
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
        out.push_str(&table(&health(&view.health)));
        out.push('\n');
    }
    if !view.clocks.is_empty() {
        out.push_str(&table(&clocks(&view.clocks)));
        out.push('\n');
    }
    out
}

/// Health reports of agents and servers.
fn health(reports: &[Health]) -> Table {
    fn of_server(health: &Health, value: String) -> String {
        match health.role {
            Role::Server => value,
            _ => String::new(),
        }
    }
    Table::for_items(
        "Health reports",
        reports,
        &[
            ("agent or server", |of| of.name.clone()),
            ("lateness, p99", |of| span_us(of.lateness_us_p99)),
            ("lateness, max", |of| span_us(of.lateness_us_max)),
            ("standstill, max", |of| {
                of.standstill_us_max.map_or_else(String::new, span_us)
            }),
            ("missed sends", |of| of.missed_sends.to_string()),
            ("busiest thread", |of| of.cpu.map_or_else(String::new, percent)),
            ("machine busy", |of| of.machine_busy.map_or_else(String::new, percent)),
            ("service time, p99", |of| of_server(of, span_us(of.service_us_p99))),
            ("rejected", |of| of_server(of, of.rejected.to_string())),
        ],
    )
}

/// Clocks of the machines, compared with that of the controller.
fn clocks(clocks: &[Clock]) -> Table {
    Table::for_items(
        "Clocks",
        clocks,
        &[
            ("clock of", |of| of.name.clone()),
            ("offset to the controller", |of| {
                format!("{} ms", short(of.offset_ns as f64 / 1e6))
            }),
            ("uncertainty", |of| span(of.error_ns as f64 / 1e6)),
            ("drift", |of| match (of.jump_ns, of.drift_ppm, of.drift_error_ppm) {
                (Some(jump), ..) => format!("jumped by {}", span(jump as f64 / 1e6)),
                (None, Some(ppm), _) => format!("{} ppm", short(ppm)),
                (None, None, Some(error)) => format!("none above {} ppm", short(error)),
                (None, None, None) => "unknown".to_owned(),
            }),
        ],
    )
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
    let mut out = cells("Environment", &["property", "value"].map(str::to_owned), &rows);
    if !view.summary.environment.is_real() {
        out.push_str("<p class=\"note\">A simulation's results do not depend on the machine or the time.</p>");
    }
    out.push('\n');
    out
}
