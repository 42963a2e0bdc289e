//! Parts that the imports of several programs share.

use netburn_record::header::{Environment, Header, Host, Source};
use netburn_record::row::{IntervalRow, OperationRow, Row};
use netburn_record::utc::UnixTime;
use netburn_scenario::{Plan, is_reserved_station_name};
use netburn_units::Instant;
use netburn_workload::config::BIN;
use netburn_workload::{Operation, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// A station name for a host: letters, digits and `-`. The name is neither `taken` nor reserved.
pub(super) fn station_name(host: &str, taken: &mut BTreeSet<String>) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let fitted: String = host.chars().take(50).map(fit).collect();
    let parts: Vec<&str> = fitted.split('-').filter(|part| !part.is_empty()).collect();
    let fitted = match parts.join("-") {
        empty if empty.is_empty() => "station".to_owned(),
        fitted => fitted,
    };
    let mut numbers = 2..;
    let mut name = fitted.clone();
    while is_reserved_station_name(&name) || !taken.insert(name.clone()) {
        let number: u32 = numbers.next().unwrap_or_default();
        name = format!("{fitted}-{number}");
    }
    name
}

/// Foreign text on one line, at most 200 characters.
pub(super) fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().take(200).map(plain).collect();
    text.trim().to_owned()
}

/// Checks that a plan can be read again after it was stored. The error is a clause.
pub(super) fn check_plan(plan: &Plan) -> Result<(), String> {
    let invalid = "the names do not form a valid scenario";
    match Plan::from_json(&plan.to_json()) {
        Ok(again) if again == *plan => Ok(()),
        Ok(_) => Err(invalid.to_owned()),
        Err(error) => Err(format!("{invalid}: {error}")),
    }
}

/// Header of an imported run. Foreign texts become one line each.
pub(super) fn header(plan: Plan, host: Host, started: Option<UnixTime>, source: Source) -> Header {
    Header {
        environment: Environment::Imported,
        seed: plan.seed,
        host: Host {
            name: one_line(&host.name),
            os: one_line(&host.os),
            kernel: one_line(&host.kernel),
            ..host
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        source: Some(Source {
            program: one_line(&source.program),
            version: one_line(&source.version),
            test: one_line(&source.test),
            file: one_line(&source.file),
            title: one_line(&source.title),
            left_out: source.left_out.iter().map(|what| one_line(what)).collect(),
            methods: source.methods,
        }),
        plan,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar, by years that begin in March.
pub(super) fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + in_year - 719_468
}

/// A time in ns since 1970, as if its text were in UTC. The numbers of the text are year, month, day, hour, minute and second
/// in the order of `order`, then the fraction. `None` if the text has other numbers.
pub(super) fn local_nanos(text: &str, order: [usize; 3]) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| -> Option<i64> {
        let is_number = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten()
    };
    let parts: Option<Vec<i64>> = whole.split(['-', ' ', ':', 'T']).map(digits).collect();
    let parts: [i64; 6] = parts?.try_into().ok()?;
    let [year, month, day] = order.map(|place| parts[place]);
    let is_time = (1970..=2261).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..=23).contains(&parts[3])
        && (0..=59).contains(&parts[4])
        && (0..=60).contains(&parts[5]);
    if !is_time {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + parts[3] * 3600 + parts[4] * 60 + parts[5];
    let fraction = digits(fraction)? * 10_i64.pow(9 - fraction.len() as u32);
    Some(seconds * 1_000_000_000 + fraction)
}

/// Bytes of a transfer in tenths of a second.
#[derive(Debug, Default)]
pub(super) struct Transfer {
    bins: BTreeMap<i64, f64>,
    total: f64,
}

impl Transfer {
    /// Adds bytes that moved between two times, in seconds of the run. The times are finite, and `from` is before `to`.
    pub(super) fn add(&mut self, from: f64, to: f64, bytes: f64) {
        let bin = BIN.as_secs_f64();
        self.total += bytes;
        let mut at = (from / bin).floor() as i64;
        while (at as f64) * bin < to {
            let inside = ((at + 1) as f64 * bin).min(to) - (at as f64 * bin).max(from);
            *self.bins.entry(at).or_default() += bytes * (inside / (to - from)).max(0.0);
            at += 1;
        }
    }

    /// The rows of the transfer: its bytes, and one operation without an end.
    pub(super) fn rows(self, station: u16, workload: u16, down: bool) -> Vec<Row> {
        // Rounded so that the sum is exact.
        let (mut sum, mut emitted) = (0.0, 0_u64);
        let mut rows = Vec::new();
        for (at, bytes) in self.bins {
            sum += bytes;
            let upto = sum.round().max(0.0) as u64;
            let bytes = upto.saturating_sub(emitted);
            emitted = emitted.max(upto);
            if bytes > 0 {
                rows.push(Row::Interval(IntervalRow {
                    station,
                    workload,
                    at: Instant::from_millis(at * 100),
                    bytes_down: if down { bytes } else { 0 },
                    bytes_up: if down { 0 } else { bytes },
                }));
            }
        }
        rows.push(Row::Operation(OperationRow {
            station,
            workload,
            operation: operation(0, Instant::ZERO, None, Outcome::Cut, self.total as u64),
        }));
        rows
    }
}

/// An operation that began when it was due.
pub(super) fn operation(
    sequence: u64,
    due: Instant,
    finished: Option<Instant>,
    outcome: Outcome,
    bytes: u64,
) -> Operation {
    Operation {
        sequence,
        due,
        started: Some(due),
        connected: None,
        first_byte: finished,
        finished,
        bytes,
        outcome,
        far: None,
        tcp_connected: None,
    }
}
