//! Tables of metrics, Wi-Fi links, the self-check and the machines.

use super::{cells, escaped};
use crate::text::{delivery, dscp, grades, responsiveness, split, streams, video, voice, wifi};
use netburn_analysis::format::{mbps, percent, short, span, span_us};
use netburn_analysis::view::View;
use netburn_record::summary::verdict_name;
use netburn_record::{Role, RunStatus};
use std::fmt::Write as _;

fn words(head: &[&str]) -> Vec<String> {
    head.iter().map(|word| (*word).to_owned()).collect()
}

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
    out.push_str(&calls(view));
    out.push_str(&datagrams(view));
    out.push_str(&probes(view));
    out.push_str(&videos(view));
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

/// Both directions of every call.
fn calls(view: &View) -> String {
    let time = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), span);
    let share = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), delivery::loss);
    let number = |value: Option<f64>, decimals: usize| match value {
        Some(value) => format!("{value:.decimals$}"),
        None => "–".to_owned(),
    };
    let mut rows = Vec::new();
    for (station, workload, voice) in voice::calls(&view.summary) {
        for (direction, stream) in voice::directions(voice) {
            let delay = stream.delivery.delay_ms.unwrap_or_default();
            rows.push(vec![
                format!("{station}, {workload}, {direction}"),
                number(stream.rating, 1),
                number(stream.mos, 2),
                time(stream.buffer_ms),
                number(stream.mos_flent, 2),
                time(delay.p50),
                time(delay.p95),
                time(delay.p99),
                time(delay.max),
                share(stream.delivery.lost_share),
                stream.delivery.longest_loss_packets.to_string(),
                share(stream.late_share),
                time(stream.delivery.jitter_ms),
                share(stream.gap_share),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let head = [
        "call",
        "R",
        "MOS (playout)",
        "playout buffer",
        "MOS (flent)",
        "one-way p50",
        "p95",
        "p99",
        "max",
        "lost",
        "longest loss, packets",
        "late",
        "jitter",
        "gaps",
    ];
    format!(
        "<h3>Calls</h3>\n{}\n<p class=\"note\">{}</p>\n",
        cells("Calls", &words(&head), &rows),
        escaped(voice::NOTE)
    )
}

/// Both directions of every video call.
fn videos(view: &View) -> String {
    let time = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), span);
    let share = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), delivery::loss);
    let mut rows = Vec::new();
    for (station, workload, both) in streams::all(&view.summary) {
        for (direction, stream) in streams::directions(both) {
            let Some(video) = stream.video else { continue };
            let delay = stream.delivery.delay_ms.unwrap_or_default();
            rows.push(vec![
                format!("{station}, {workload}, {direction}"),
                stream.delivery.packets.to_string(),
                time(delay.p50),
                time(delay.p95),
                time(delay.p99),
                time(delay.max),
                share(stream.delivery.lost_share),
                video.freezes.to_string(),
                share(video.frozen_share),
                time((video.freezes > 0).then_some(video.longest_freeze_ms)),
                video.rate_mbps.map_or_else(|| "–".to_owned(), mbps),
                mbps(video.target_mbps),
                share(video.at_target_share),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let head = [
        "video call",
        "frames",
        "frame delay p50",
        "p95",
        "p99",
        "max",
        "frames lost",
        "freezes",
        "time in freezes",
        "longest freeze",
        "Mbit/s",
        "target Mbit/s",
        "time at the target",
    ];
    format!(
        "<h3>Video calls</h3>\n{}\n<p class=\"note\">{}</p>\n",
        cells("Video calls", &words(&head), &rows),
        escaped(video::NOTE)
    )
}

/// Both directions of every workload with streams of datagrams.
fn datagrams(view: &View) -> String {
    let time = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), span);
    let share = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), delivery::loss);
    let (mut rows, mut trips, mut frames) = (Vec::new(), Vec::new(), Vec::new());
    for (station, workload, both) in streams::all(&view.summary) {
        for (direction, stream) in streams::directions(both).filter(|(_, stream)| stream.video.is_none()) {
            let delay = stream.delivery.delay_ms.unwrap_or_default();
            let mean = stream.delivery.mean_loss_packets;
            rows.push(vec![
                format!("{station}, {workload}, {direction}"),
                stream.delivery.packets.to_string(),
                time(delay.p50),
                time(delay.p95),
                time(delay.p99),
                time(delay.max),
                share(stream.delivery.lost_share),
                mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.1}")),
                stream.delivery.longest_loss_packets.to_string(),
                time(stream.delivery.jitter_ms),
                stream
                    .gaps
                    .map_or_else(|| "–".to_owned(), |gaps| gaps.count.to_string()),
                time(stream.gaps.map(|gaps| gaps.longest_ms)),
            ]);
        }
        if let Some(of) = both.down.and_then(|stream| stream.frames) {
            frames.push(vec![
                format!("{station}, {workload}"),
                of.frames.to_string(),
                share(of.late_share),
                share(of.incomplete_share),
                time(of.delay_ms.p50),
                time(of.delay_ms.p95),
                time(of.delay_ms.p99),
                time(of.delay_ms.max),
            ]);
        }
        if let Some(trip) = &both.round_trip_ms {
            trips.push(vec![
                format!("{station}, {workload}"),
                time(trip.p50),
                time(trip.p95),
                time(trip.p99),
                time(trip.max),
                trip.unbounded.to_string(),
                both.qoo.map_or_else(|| "–".to_owned(), grades::score),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let head = [
        "stream",
        "packets",
        "one-way p50",
        "p95",
        "p99",
        "max",
        "lost",
        "mean loss, packets",
        "longest loss, packets",
        "jitter",
        "gaps",
        "longest gap",
    ];
    let mut out = format!(
        "<h3>Datagrams</h3>\n{}\n<p class=\"note\">{}</p>\n",
        cells("Datagrams", &words(&head), &rows),
        escaped(streams::NOTE)
    );
    if !frames.is_empty() {
        let head = [
            "workload",
            "frames",
            "late",
            "incomplete",
            "frame delay p50",
            "p95",
            "p99",
            "max",
        ];
        out.push_str(&cells("Frames", &words(&head), &frames));
        out.push('\n');
    }
    if !trips.is_empty() {
        let head = [
            "workload",
            "round trip p50",
            "p95",
            "p99",
            "max",
            "lost",
            "quality of outcome",
        ];
        out.push_str(&cells("Round trips", &words(&head), &trips));
        out.push('\n');
    }
    out
}

/// Scores and times of every workload of kind `responsiveness`, and its scores by period.
fn probes(view: &View) -> String {
    let time = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), span);
    let score = responsiveness::score;
    let (mut rows, mut parts, mut periods) = (Vec::new(), Vec::new(), Vec::new());
    for (station, workload, of) in responsiveness::all(&view.summary) {
        let name = format!("{station}, {workload}");
        rows.push(vec![
            name.clone(),
            score(of.rpm),
            of.band.clone().unwrap_or_else(|| "–".to_owned()),
            score(of.foreign_rpm),
            if of.foreign_only {
                "no load".to_owned()
            } else {
                score(of.loaded_rpm)
            },
            score(of.median_rpm),
            score(of.p90_rpm),
            score(of.goresponsiveness_rpm),
            of.load_failures.to_string(),
        ]);
        for (part, times, counts) in [
            ("foreign, TCP", of.tcp_ms, of.foreign_probes),
            ("foreign, TLS", of.tls_ms, of.foreign_probes),
            ("foreign, HTTP", of.http_ms, of.foreign_probes),
            ("self", of.self_ms, of.self_probes),
        ] {
            let Some(times) = times else { continue };
            parts.push(vec![
                format!("{name}, {part}"),
                time(times.p50),
                time(times.p90),
                time(times.p95),
                time(times.p99),
                time(times.max),
                counts.due.to_string(),
                counts.lost.to_string(),
                counts.late.to_string(),
            ]);
        }
        periods.extend(of.periods.iter().map(|period| {
            vec![
                format!("{name}, from {} s", short(period.start_s)),
                score(period.rpm),
                score(period.foreign_rpm),
                score(period.loaded_rpm),
            ]
        }));
    }
    if rows.is_empty() {
        return String::new();
    }
    let head = [
        "workload",
        "RPM",
        "class",
        "foreign",
        "self",
        "from medians",
        "from p90",
        "goresponsiveness",
        "failures of the load",
    ];
    let mut out = format!(
        "<h3>Responsiveness</h3>\n{}\n",
        cells("Responsiveness", &words(&head), &rows)
    );
    let head = [
        "probe",
        "median",
        "p90",
        "p95",
        "p99",
        "max",
        "due",
        "without a response",
        "late",
    ];
    out.push_str(&cells("Probes", &words(&head), &parts));
    if !periods.is_empty() {
        let head = ["period of 5 s", "RPM", "foreign", "self"];
        out.push_str(&cells("RPM over time", &words(&head), &periods));
    }
    let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(responsiveness::NOTE));
    out
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
    } else if self_check.ok {
        let _ = writeln!(
            out,
            "<p>Passed: operations started within {} of schedule at p99 (worst {}).</p>",
            span_us(late.p99),
            span_us(late.max)
        );
    } else {
        out.push_str("<p class=\"warning\">Failed. The results above may reflect the test machine rather than the network:</p>\n<ul>\n");
        for reason in &self_check.reasons {
            let _ = writeln!(out, "<li>{}</li>", escaped(&reason.to_string()));
        }
        out.push_str("</ul>\n");
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
                percent(health.cpu),
                percent(health.machine_busy),
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
