//! A plan as text: what would run, the bytes it may move, what it takes for granted.

use crate::paint::{Tone, paint};
use crate::plain::{sanitise, wrap};
use crate::table::{Cell, Column, left, render, right};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::Duration;
use netburn_workload::{Config, Connections, Kind};

const COLUMNS: [Column; 6] = [
    left("STATION"),
    left("USE"),
    left("ASKS FOR"),
    right("EVERY"),
    left("GOAL").apart(),
    left("WHEN"),
];

/// `plan` as lines of at most `width` columns where words allow. `may_move` says how many bytes in words,
/// `notes` what `local` takes no notice of.
#[must_use]
pub fn text(plan: &Plan, may_move: &str, notes: &[String], width: usize, colour: bool) -> String {
    let width = width.max(40);
    let mut lines = vec!["Nothing was run; this is what would be.".to_owned(), String::new()];
    let title = sanitise(plan.title.as_deref().unwrap_or(&plan.name));
    lines.extend(
        wrap(&title, width, "  ")
            .iter()
            .map(|l| paint(l, Tone::Heading, colour)),
    );
    if let Some(question) = &plan.question {
        lines.extend(wrap(&sanitise(question), width, "  "));
    }
    let rounds = match plan.repeat {
        1 => String::new(),
        n => format!(", {n} times"),
    };
    lines.extend(wrap(
        &format!(
            "{} of idle latency, {} of load{}, {} to finish{rounds}; seed {}",
            plan.baseline,
            plan.duration,
            match plan.warmup.is_zero() {
                true => String::new(),
                false => format!(" (the first {} not judged)", plan.warmup),
            },
            plan.drain,
            plan.seed.0
        ),
        width,
        "  ",
    ));
    lines.extend(wrap(&server(plan), width, "  "));
    lines.push(String::new());
    let rows: Vec<Vec<Cell>> = plan.stations.iter().flat_map(|s| rows(plan, s)).collect();
    lines.extend(render(&COLUMNS, &rows, 2, width, colour));
    lines.push(String::new());
    lines.push(format!("It may move up to {may_move}."));
    for (heading, list) in [("It takes for granted:", &plan.assumptions[..]), ("On local:", notes)] {
        if !list.is_empty() {
            lines.extend([String::new(), heading.to_owned()]);
            let wrapped = list
                .iter()
                .map(|item| wrap(&format!("- {}", sanitise(item)), width, "  "));
            lines.extend(wrapped.flatten());
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn server(plan: &Plan) -> String {
    let rate = match plan.server.link.rate {
        Some(rate) => rate.to_string(),
        None => "1 Gbit/s (not said)".to_owned(),
    };
    let tls = if plan.server.tls { " over TLS" } else { "" };
    format!("Server: {rate}, HTTP/{}{tls}", plan.server.http.name())
}

fn rows(plan: &Plan, station: &Station) -> Vec<Vec<Cell>> {
    let when = match (station.start.is_zero(), station.stop) {
        (true, None) => String::new(),
        _ => format!("{} to {}", station.start, station.end(plan.duration)),
    };
    let mut rows: Vec<Vec<Cell>> = station.workloads.iter().map(row).collect();
    if rows.is_empty() {
        rows.push(vec![Cell::EMPTY; COLUMNS.len()]);
        rows[0][2] = Cell::new("nothing", Tone::Quiet);
    }
    rows[0][0] = sanitise(&station.name).into();
    rows[0][5] = when.into();
    rows
}

fn row(workload: &StationWorkload) -> Vec<Cell> {
    let config = &workload.config;
    let goals: Vec<String> = config.goals.iter().map(|g| g.describe(config.kind)).collect();
    vec![
        Cell::EMPTY,
        sanitise(&workload.name).into(),
        asks_for(config).into(),
        every(config).into(),
        match goals.is_empty() {
            true => Cell::new("none", Tone::Quiet),
            false => goals.join(", ").into(),
        },
        Cell::EMPTY,
    ]
}

fn asks_for(config: &Config) -> String {
    let size = config.object_size;
    let new = match config.connections {
        Connections::New => ", new connections",
        Connections::Keep => "",
    };
    match config.kind {
        Kind::Probe => format!("a datagram of {size}"),
        Kind::Upload => format!("to send {size}{new}"),
        _ if config.objects > 1 => format!("{} × {size}{new}", config.objects),
        _ => format!("{size}{new}"),
    }
}

fn every(config: &Config) -> String {
    match config.every {
        None => "last ends".to_owned(),
        Some(every) if config.jitter.is_zero() => span(every),
        Some(every) => format!("{} ± {}", span(every), span(config.jitter)),
    }
}

/// A period to a tenth of a millisecond: one that stands for a rate has endless digits.
fn span(of: Duration) -> String {
    let tenths = of.as_nanos().saturating_add(50_000) / 100_000;
    Duration::from_micros(tenths * 100).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_like_its_scenario() {
        let use_ = |name: &str, config: Config| StationWorkload {
            name: name.into(),
            config,
        };
        let mut plan = Plan::new("house");
        plan.question = Some("Who \x1bsuffers?".into());
        plan.assumptions = vec!["server.link.rate is not said: 1 Gbit/s".into()];
        plan.stations = vec![
            Station {
                workloads: vec![use_("browsing", Config::browsing()), use_("probe", Config::probe())],
                ..Station::new("laptop")
            },
            Station {
                workloads: vec![use_("4kstream", Config::stream_4k())],
                start: Duration::from_secs(10),
                ..Station::new("tv")
            },
            Station {
                workloads: vec![use_("download", Config::download())],
                ..Station::new("desktop")
            },
            Station::new("idle"),
        ];
        insta::assert_snapshot!(text(&plan, "8.1 GB", &["nothing changes by `[[at]]` on local".into()], 120, false), @"
        Nothing was run; this is what would be.

        house
        Who �suffers?
        3 s of idle latency, 1 min of load, 5 s to finish; seed 1
        Server: 1 Gbit/s (not said), HTTP/1.1

        STATION  USE       ASKS FOR                              EVERY  GOAL                             WHEN
        laptop   browsing  10 × 128 KiB, new connections  3 s ± 500 ms  page load ≤ 500 ms
                 probe     a datagram of 64 B                    50 ms  none
        tv       4kstream  1 MiB                              335.5 ms  every 2 s ≥ 20 Mbit/s, no stall  10 s to 1 min
        desktop  download  1 GiB                             last ends  none
        idle               nothing

        It may move up to 8.1 GB.

        It takes for granted:
        - server.link.rate is not said: 1 Gbit/s

        On local:
        - nothing changes by `[[at]]` on local
        ");
    }
}
