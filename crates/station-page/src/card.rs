//! Values of a workload as displayed: a main value, and a line below it.

use crate::event::Card;
use crate::result::Values;
use netburn_units::Duration;
use netburn_workload::{Config, Goal, Workload};

/// No-break space between a number and its unit.
const SPACE: char = '\u{a0}';

/// Returns the card of a workload that does not run.
pub(crate) fn skipped(name: &str, config: &Config, reason: &str) -> Card {
    Card {
        label: config.kind().label,
        name: name.to_owned(),
        verdict: "none",
        value: "–".to_owned(),
        unit: String::new(),
        line: format!("Not measured: {reason}"),
    }
}

/// Returns the card of a workload. `machine` is present during the run. `unconnected` is true if the data channel was closed.
pub(crate) fn measured(
    name: &str,
    config: &Config,
    values: &Values<'_>,
    machine: Option<&Workload>,
    unconnected: bool,
) -> Card {
    let ((value, unit), line) = if config.kind().is_datagram() {
        datagrams(config, values, unconnected)
    } else if config.playback().is_some() {
        player(config, values, machine)
    } else if config.kind().is_bulk {
        let line = format!("{} transferred{}", size(values.bytes), problems(values));
        (mbps(values.rate), line)
    } else {
        requests(values, machine.is_some())
    };
    Card {
        label: config.kind().label,
        name: name.to_owned(),
        verdict: values.verdict,
        value,
        unit,
        line,
    }
}

type Value = (String, String);

fn requests(values: &Values<'_>, live: bool) -> (Value, String) {
    let shown = if live { values.last } else { values.median };
    if values.samples == 0 {
        return (split(shown, millis), "No data yet".to_owned());
    }
    let limit = values.goals.iter().find_map(|(result, tally)| match result.goal {
        Goal::Latency { limit } => Some((limit, tally)),
        _ => None,
    });
    let within = match limit {
        Some((limit, tally)) => format!("{} of {} within {}", tally.met, values.samples, millis(limit)),
        None => format!("{} operations", values.samples),
    };
    let slowest = values.slowest.map(|slowest| format!(", slowest {}", millis(slowest)));
    let statistic = match (shown, live) {
        (None, _) => "",
        (Some(_), true) => "Latest; ",
        (Some(_), false) => "Median; ",
    };
    let line = format!("{statistic}{within}{}{}", slowest.unwrap_or_default(), problems(values));
    (split(shown, millis), line)
}

fn player(config: &Config, values: &Values<'_>, machine: Option<&Workload>) -> (Value, String) {
    let shown = match machine {
        Some(machine) => {
            let level = machine.buffered().map(|buffered| buffered.as_nanos() as f64 / 1e9);
            let level = level.map_or("–".to_owned(), |level| format!("{level:.1}"));
            (level, "s buffered".to_owned())
        }
        None if config.dash().is_some() => {
            let mean =
                values.segments.iter().map(|rate| *rate as f64).sum::<f64>() / values.segments.len().max(1) as f64;
            mbps(mean)
        }
        None => mbps(values.rate),
    };
    if values.bytes == 0 {
        return (shown, "No data yet".to_owned());
    }
    let stalled = match values.stalls.stalls {
        0 => "Never stalled".to_owned(),
        1 => format!("Stalled once, {} total", seconds(values.stalls.stalled)),
        many => format!("Stalled {many} times, {} total", seconds(values.stalls.stalled)),
    };
    let part = if config.dash().is_some() {
        "of the segments"
    } else {
        "of the time"
    };
    let met = values.goals.iter().find_map(|(result, _)| match result.goal {
        Goal::Rate { .. } => result.met,
        _ => None,
    });
    let enough = met.map(|met| format!(", fast enough {} {part}", share(met)));
    (shown, format!("{stalled}{}", enough.unwrap_or_default()))
}

fn datagrams(config: &Config, values: &Values<'_>, unconnected: bool) -> (Value, String) {
    let unit = if config.video().is_some() {
        "frames"
    } else {
        "datagrams"
    };
    let mut line = if values.samples > 0 {
        let lost = share(values.timeouts as f64 / values.samples as f64);
        format!(
            "Median delay; this device counted {lost} of {} {unit} as lost",
            values.samples
        )
    } else {
        "No data yet".to_owned()
    };
    if unconnected {
        line.push_str("; ended early: the data channel is closed");
    }
    let tenths = |delay: Duration| format!("{:.1}{SPACE}ms", delay.as_nanos() as f64 / 1e6);
    (split(values.median, tenths), line)
}

fn problems(values: &Values<'_>) -> String {
    let not_started = (values.not_started > 0).then(|| format!("{} not started", values.not_started));
    let failed = (values.failures > 0).then(|| format!("{} failed", values.failures));
    let list: Vec<String> = not_started.into_iter().chain(failed).collect();
    if list.is_empty() {
        String::new()
    } else {
        format!("; {}", list.join(", "))
    }
}

fn split(value: Option<Duration>, write: impl Fn(Duration) -> String) -> Value {
    let text = value.map(write);
    match text.as_deref().and_then(|text| text.split_once(SPACE)) {
        Some((number, unit)) => (number.to_owned(), unit.to_owned()),
        None => ("–".to_owned(), String::new()),
    }
}

fn mbps(rate: f64) -> Value {
    let value = rate / 1e6;
    let value = if value >= 10.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    };
    (value, "Mbit/s".to_owned())
}

fn millis(time: Duration) -> String {
    if time < Duration::from_secs(10) {
        format!("{}{SPACE}ms", (time.as_nanos() as f64 / 1e6).round())
    } else {
        seconds(time)
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1}{SPACE}s", time.as_nanos() as f64 / 1e9)
}

fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    if bytes >= 1e9 {
        format!("{:.1}{SPACE}GB", bytes / 1e9)
    } else {
        format!("{}{SPACE}MB", (bytes / 1e6).round())
    }
}

fn share(met: f64) -> String {
    let percent = met * 100.0;
    if percent > 99.0 && percent < 100.0 {
        format!("{percent:.1}{SPACE}%")
    } else {
        format!("{}{SPACE}%", percent.floor())
    }
}
