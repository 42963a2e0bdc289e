//! Tables of the workloads whose kind has results of its own: calls, streams of datagrams, responsiveness, video calls,
//! adaptive streaming.

use super::{noted, table, titled};
use crate::table::Table;
use crate::text::responsiveness::score;
use crate::text::{grades, responsiveness, segments, streams, video, voice};
use netburn_analysis::format::{fine_percent, mbps, short, span};
use netburn_analysis::view::View;
use netburn_record::summary::{DeliverySummary, LatencyMs, ResponsivenessSummary, StreamSummary};
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

/// A value in words, if it is known.
pub(super) fn known<T>(value: Option<T>, words: fn(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), words)
}

/// A time in ms, if it is known.
pub(super) fn time(value: Option<f64>) -> String {
    known(value, span)
}

/// A share, if it is known.
fn share(value: Option<f64>) -> String {
    known(value, fine_percent)
}

/// A direction of a workload, with its name.
struct OfDirection<'a, T> {
    name: String,
    of: &'a T,
    delivery: &'a DeliverySummary,
    delay: LatencyMs,
}

fn of_direction<'a, T>(
    (station, workload, direction): (&str, &str, &str),
    of: &'a T,
    delivery: &'a DeliverySummary,
) -> OfDirection<'a, T> {
    OfDirection {
        name: format!("{station}, {workload}, {direction}"),
        of,
        delivery,
        delay: delivery.delay_ms.unwrap_or_default(),
    }
}

/// Both directions of every call.
fn calls(view: &View) -> String {
    let directions = voice::calls(&view.summary).flat_map(|(station, workload, voice)| {
        let both = voice::directions(voice).into_iter();
        both.map(move |(direction, of)| of_direction((station, workload, direction), of, &of.delivery))
    });
    let calls = Table::for_items(
        "Calls",
        directions,
        &[
            ("call", |row| row.name.clone()),
            ("R", |row| known(row.of.rating, |rating| format!("{rating:.1}"))),
            ("MOS (playout)", |row| known(row.of.mos, |mos| format!("{mos:.2}"))),
            ("playout buffer", |row| time(row.of.buffer_ms)),
            ("MOS (flent)", |row| known(row.of.mos_flent, |mos| format!("{mos:.2}"))),
            ("one-way p50", |row| time(row.delay.p50)),
            ("p95", |row| time(row.delay.p95)),
            ("p99", |row| time(row.delay.p99)),
            ("max", |row| time(row.delay.max)),
            ("lost", |row| share(row.delivery.lost_share)),
            ("longest loss, packets", |row| {
                row.delivery.longest_loss_packets.to_string()
            }),
            ("late", |row| share(row.of.late_share)),
            ("jitter", |row| time(row.delivery.jitter_ms)),
            ("gaps", |row| share(row.of.gap_share)),
        ],
    );
    titled(&calls, voice::NOTE)
}

/// Every direction of every workload with streams.
fn stream_directions(view: &View) -> impl Iterator<Item = OfDirection<'_, StreamSummary>> {
    streams::all(&view.summary).flat_map(|(station, workload, both)| {
        let both = streams::directions(both);
        both.map(move |(direction, of)| of_direction((station, workload, direction), of, &of.delivery))
    })
}

/// Both directions of every video call.
fn videos(view: &View) -> String {
    let directions = stream_directions(view).filter_map(|row| Some((row.of.video?, row)));
    let videos = Table::for_items(
        "Video calls",
        directions,
        &[
            ("video call", |(_, row)| row.name.clone()),
            ("frames", |(_, row)| row.delivery.packets.to_string()),
            ("frame delay p50", |(_, row)| time(row.delay.p50)),
            ("p95", |(_, row)| time(row.delay.p95)),
            ("p99", |(_, row)| time(row.delay.p99)),
            ("max", |(_, row)| time(row.delay.max)),
            ("frames lost", |(_, row)| share(row.delivery.lost_share)),
            ("freezes", |(video, _)| video.freezes.to_string()),
            ("time in freezes", |(video, _)| share(video.frozen_share)),
            ("longest freeze", |(video, _)| {
                time((video.freezes > 0).then_some(video.longest_freeze_ms))
            }),
            ("Mbit/s", |(video, _)| known(video.rate_mbps, mbps)),
            ("target Mbit/s", |(video, _)| mbps(video.target_mbps)),
            ("time at the target", |(video, _)| share(video.at_target_share)),
        ],
    );
    titled(&videos, video::NOTE)
}

/// Bit rates and player of every workload of adaptive streaming.
fn streaming(view: &View) -> String {
    let all = segments::all(&view.summary);
    let all = all.map(|(station, workload, of, player)| {
        (
            format!("{station}, {workload}"),
            of,
            player.copied().unwrap_or_default(),
        )
    });
    let streams = Table::for_items(
        "Adaptive streaming",
        all,
        &[
            ("stream", |(name, ..)| name.clone()),
            ("segments", |(_, of, _)| of.complete.to_string()),
            ("mean Mbit/s", |(_, of, _)| known(of.mean_mbps, mbps)),
            ("lowest Mbit/s", |(_, of, _)| known(of.lowest_mbps, mbps)),
            ("highest in the ladder Mbit/s", |(_, of, _)| mbps(of.highest_mbps)),
            ("at the highest", |(_, of, _)| share(of.at_highest_share)),
            ("changes of the bit rate", |(_, of, _)| of.switches.to_string()),
            ("start of playback", |(.., player)| time(player.startup_ms)),
            ("stalls", |(.., player)| player.stalls.to_string()),
            ("time stalled", |(.., player)| {
                time((player.stalls > 0).then_some(player.stalled_ms))
            }),
        ],
    );
    titled(&streams, segments::NOTE)
}

/// Both directions of every workload with streams of datagrams, its frames, and its round trips.
fn datagrams(view: &View) -> String {
    let directions = stream_directions(view).filter(|row| row.of.video.is_none());
    let packets = Table::for_items(
        "Datagrams",
        directions,
        &[
            ("stream", |row| row.name.clone()),
            ("packets", |row| row.delivery.packets.to_string()),
            ("one-way p50", |row| time(row.delay.p50)),
            ("p95", |row| time(row.delay.p95)),
            ("p99", |row| time(row.delay.p99)),
            ("max", |row| time(row.delay.max)),
            ("lost", |row| share(row.delivery.lost_share)),
            ("mean loss, packets", |row| {
                known(row.delivery.mean_loss_packets, |mean| format!("{mean:.1}"))
            }),
            ("longest loss, packets", |row| {
                row.delivery.longest_loss_packets.to_string()
            }),
            ("jitter", |row| time(row.delivery.jitter_ms)),
            ("gaps", |row| known(row.of.gaps, |gaps| gaps.count.to_string())),
            ("longest gap", |row| time(row.of.gaps.map(|gaps| gaps.longest_ms))),
        ],
    );
    let mut out = titled(&packets, streams::NOTE);
    let all = || {
        let all = streams::all(&view.summary);
        all.map(|(station, workload, of)| (format!("{station}, {workload}"), of))
    };
    let frames = Table::for_items(
        "Frames",
        all().filter_map(|(name, of)| Some((name, of.down.as_ref()?.frames?))),
        &[
            ("workload", |(name, _)| name.clone()),
            ("frames", |(_, of)| of.frames.to_string()),
            ("late", |(_, of)| share(of.late_share)),
            ("incomplete", |(_, of)| share(of.incomplete_share)),
            ("frame delay p50", |(_, of)| time(of.delay_ms.p50)),
            ("p95", |(_, of)| time(of.delay_ms.p95)),
            ("p99", |(_, of)| time(of.delay_ms.p99)),
            ("max", |(_, of)| time(of.delay_ms.max)),
        ],
    );
    let round_trips = Table::for_items(
        "Round trips",
        all().filter_map(|(name, of)| Some((name, of.round_trip_ms?, of.qoo))),
        &[
            ("workload", |(name, ..)| name.clone()),
            ("round trip p50", |(_, trip, _)| time(trip.p50)),
            ("p95", |(_, trip, _)| time(trip.p95)),
            ("p99", |(_, trip, _)| time(trip.p99)),
            ("max", |(_, trip, _)| time(trip.max)),
            ("lost", |(_, trip, _)| trip.unbounded.to_string()),
            ("quality of outcome", |(.., qoo)| known(*qoo, grades::score)),
        ],
    );
    for further in [frames, round_trips] {
        if !further.rows.is_empty() {
            let _ = writeln!(out, "{}", table(&further));
        }
    }
    out
}

/// Scores and times of every workload of kind `responsiveness`, and its scores by period.
fn probes(view: &View) -> String {
    let all: Vec<(String, &ResponsivenessSummary)> = responsiveness::all(&view.summary)
        .map(|(station, workload, of)| (format!("{station}, {workload}"), of))
        .collect();
    if all.is_empty() {
        return String::new();
    }
    let scores = Table::for_items(
        "Responsiveness",
        &all,
        &[
            ("workload", |(name, _)| name.clone()),
            ("RPM", |(_, of)| score(of.rpm)),
            ("class", |(_, of)| of.band.clone().unwrap_or_else(|| "–".to_owned())),
            ("foreign", |(_, of)| score(of.foreign_rpm)),
            ("self", |(_, of)| {
                if of.foreign_only {
                    "no load".to_owned()
                } else {
                    score(of.loaded_rpm)
                }
            }),
            ("from medians", |(_, of)| score(of.median_rpm)),
            ("from p90", |(_, of)| score(of.p90_rpm)),
            ("goresponsiveness", |(_, of)| score(of.goresponsiveness_rpm)),
            ("failures of the load", |(_, of)| of.load_failures.to_string()),
        ],
    );
    let parts = all.iter().flat_map(|(name, of)| {
        let parts = [
            ("foreign, TCP", of.tcp_ms, of.foreign_probes),
            ("foreign, TLS", of.tls_ms, of.foreign_probes),
            ("foreign, HTTP", of.http_ms, of.foreign_probes),
            ("self", of.self_ms, of.self_probes),
        ];
        let parts = parts.into_iter();
        parts.filter_map(move |(part, times, counts)| Some((format!("{name}, {part}"), times?, counts)))
    });
    let parts = Table::for_items(
        "Probes",
        parts,
        &[
            ("probe", |(name, ..)| name.clone()),
            ("median", |(_, times, _)| time(times.p50)),
            ("p90", |(_, times, _)| time(times.p90)),
            ("p95", |(_, times, _)| time(times.p95)),
            ("p99", |(_, times, _)| time(times.p99)),
            ("max", |(_, times, _)| time(times.max)),
            ("due", |(.., counts)| counts.due.to_string()),
            ("without a response", |(.., counts)| counts.lost.to_string()),
            ("late", |(.., counts)| counts.late.to_string()),
        ],
    );
    let periods = all
        .iter()
        .flat_map(|(name, of)| of.periods.iter().map(move |period| (name, period)));
    let periods = Table::for_items(
        "RPM over time",
        periods,
        &[
            ("period of 5 s", |(name, period)| {
                format!("{name}, from {} s", short(period.start_s))
            }),
            ("RPM", |(_, period)| score(period.rpm)),
            ("foreign", |(_, period)| score(period.foreign_rpm)),
            ("self", |(_, period)| score(period.loaded_rpm)),
        ],
    );
    let mut out = format!("<h3>Responsiveness</h3>\n{}\n{}", table(&scores), table(&parts));
    if !periods.rows.is_empty() {
        out.push_str(&table(&periods));
    }
    out + &noted(responsiveness::NOTE)
}
