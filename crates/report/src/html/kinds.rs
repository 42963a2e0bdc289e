//! Tables of the workloads whose kind has results of its own: calls, streams of datagrams, responsiveness, video calls,
//! adaptive streaming.

use super::{cells, escaped, words};
use crate::text::{grades, responsiveness, segments, streams, video, voice};
use netburn_analysis::format::{fine_percent, mbps, short, span};
use netburn_analysis::view::View;
use netburn_record::summary::{DeliverySummary, LatencyMs};
use std::fmt::Write as _;

/// The tables of all kinds; empty without such a workload.
pub(super) fn all(view: &View) -> String {
    [
        calls(view),
        datagrams(view),
        probes(view),
        videos(view),
        streaming(view),
    ]
    .concat()
}

/// A time in ms, if it is known.
fn time(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), span)
}

/// Median, p95, p99 and maximum of a distribution.
fn times(of: &LatencyMs) -> Vec<String> {
    [of.p50, of.p95, of.p99, of.max].map(time).to_vec()
}

/// A share, if it is known.
fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), fine_percent)
}

/// A table below its heading, with a note; empty without rows.
fn titled(title: &str, head: &[&str], rows: &[Vec<String>], note: &str) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let table = cells(title, &words(head), rows);
    format!("<h3>{title}</h3>\n{table}\n<p class=\"note\">{}</p>\n", escaped(note))
}

/// Both directions of every call.
fn calls(view: &View) -> String {
    let number = |value: Option<f64>, decimals: usize| match value {
        Some(value) => format!("{value:.decimals$}"),
        None => "–".to_owned(),
    };
    let mut rows = Vec::new();
    for (station, workload, voice) in voice::calls(&view.summary) {
        for (direction, stream) in voice::directions(voice) {
            let delay = stream.delivery.delay_ms.unwrap_or_default();
            rows.push(
                [
                    vec![
                        format!("{station}, {workload}, {direction}"),
                        number(stream.rating, 1),
                        number(stream.mos, 2),
                        time(stream.buffer_ms),
                        number(stream.mos_flent, 2),
                    ],
                    times(&delay),
                    vec![
                        share(stream.delivery.lost_share),
                        stream.delivery.longest_loss_packets.to_string(),
                        share(stream.late_share),
                        time(stream.delivery.jitter_ms),
                        share(stream.gap_share),
                    ],
                ]
                .concat(),
            );
        }
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
    titled("Calls", &head, &rows, voice::NOTE)
}

/// A row about one direction of a stream: its packets or frames, their delay, and those that were lost.
fn stream_row(name: String, delivery: &DeliverySummary, rest: Vec<String>) -> Vec<String> {
    let delay = delivery.delay_ms.unwrap_or_default();
    let lost = share(delivery.lost_share);
    [
        vec![name, delivery.packets.to_string()],
        times(&delay),
        vec![lost],
        rest,
    ]
    .concat()
}

/// Both directions of every video call.
fn videos(view: &View) -> String {
    let mut rows = Vec::new();
    for (station, workload, both) in streams::all(&view.summary) {
        for (direction, stream) in streams::directions(both) {
            let Some(video) = stream.video else { continue };
            let rest = vec![
                video.freezes.to_string(),
                share(video.frozen_share),
                time((video.freezes > 0).then_some(video.longest_freeze_ms)),
                video.rate_mbps.map_or_else(|| "–".to_owned(), mbps),
                mbps(video.target_mbps),
                share(video.at_target_share),
            ];
            rows.push(stream_row(
                format!("{station}, {workload}, {direction}"),
                &stream.delivery,
                rest,
            ));
        }
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
    titled("Video calls", &head, &rows, video::NOTE)
}

/// Bit rates and player of every workload of adaptive streaming.
fn streaming(view: &View) -> String {
    let rate = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), mbps);
    let mut rows = Vec::new();
    for (station, workload, of, player) in segments::all(&view.summary) {
        let player = player.copied().unwrap_or_default();
        rows.push(vec![
            format!("{station}, {workload}"),
            of.complete.to_string(),
            rate(of.mean_mbps),
            rate(of.lowest_mbps),
            mbps(of.highest_mbps),
            share(of.at_highest_share),
            of.switches.to_string(),
            time(player.startup_ms),
            player.stalls.to_string(),
            time((player.stalls > 0).then_some(player.stalled_ms)),
        ]);
    }
    let head = [
        "stream",
        "segments",
        "mean Mbit/s",
        "lowest Mbit/s",
        "highest in the ladder Mbit/s",
        "at the highest",
        "changes of the bit rate",
        "start of playback",
        "stalls",
        "time stalled",
    ];
    titled("Adaptive streaming", &head, &rows, segments::NOTE)
}

/// Both directions of every workload with streams of datagrams.
fn datagrams(view: &View) -> String {
    let (mut rows, mut trips, mut frames) = (Vec::new(), Vec::new(), Vec::new());
    for (station, workload, both) in streams::all(&view.summary) {
        for (direction, stream) in streams::directions(both).filter(|(_, stream)| stream.video.is_none()) {
            let mean = stream.delivery.mean_loss_packets;
            let gaps = stream.gaps;
            let rest = vec![
                mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.1}")),
                stream.delivery.longest_loss_packets.to_string(),
                time(stream.delivery.jitter_ms),
                gaps.map_or_else(|| "–".to_owned(), |gaps| gaps.count.to_string()),
                time(gaps.map(|gaps| gaps.longest_ms)),
            ];
            rows.push(stream_row(
                format!("{station}, {workload}, {direction}"),
                &stream.delivery,
                rest,
            ));
        }
        if let Some(of) = both.down.and_then(|stream| stream.frames) {
            frames.push(
                [
                    vec![
                        format!("{station}, {workload}"),
                        of.frames.to_string(),
                        share(of.late_share),
                        share(of.incomplete_share),
                    ],
                    times(&of.delay_ms),
                ]
                .concat(),
            );
        }
        if let Some(trip) = &both.round_trip_ms {
            trips.push(
                [
                    vec![format!("{station}, {workload}")],
                    times(trip),
                    vec![
                        trip.unbounded.to_string(),
                        both.qoo.map_or_else(|| "–".to_owned(), grades::score),
                    ],
                ]
                .concat(),
            );
        }
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
    let mut out = titled("Datagrams", &head, &rows, streams::NOTE);
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
    if rows.is_empty() {
        return String::new();
    }
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
