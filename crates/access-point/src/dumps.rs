//! Files with the output of `iw dev NAME station dump`, `iw dev NAME survey dump` and `tc -s -j qdisc` as runs.
//!
//! A file has one or several samples. A line that consists of seconds since 1970, as `date +%s` or `date +%s.%N` prints
//! it, begins a sample. In a file without such lines, a sample begins with the first output that the current one already
//! has. The time between two such samples is unknown, so that bytes and airtime, which are shown as rates, are left out.

use crate::names::is_interface;
use crate::parse::{iw, tc};
use crate::snapshot::Snapshot;
use crate::telemetry::{AccessPointTelemetry, Addresses};
use netburn_record::header::Source;
use netburn_record::{Bssid, Environment, Header, Observable, Row, UnixTime};
use netburn_scenario::{Plan, Station};
use netburn_units::{Duration, Instant};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Files that are read, as the object of a sentence.
pub const FILES: &str = "dumps of `iw` (`station dump`, `survey dump`) or of `tc -s -j qdisc`";

/// Longest file in bytes, decompressed: a day of a small network is about 200 MB.
const MAX_BYTES: usize = 256 << 20;
/// Longest list of queues in bytes. A queue has about 1 kB.
const MAX_LIST_BYTES: usize = 1 << 20;
/// Most samples of a file: a day with one sample per second.
const MAX_SAMPLES: usize = 86_400;
/// Most stations and queues of a sample.
const MAX_PARTS: usize = 512;
/// Most rows of a run.
const MAX_ROWS: usize = 5_000_000;
/// Longest run in ns: a plan lasts 30 days at most.
const MAX_RUN: i64 = 30 * 86_400 * NANOS;
/// Length of the run after the last sample in ns.
const AFTER: i64 = NANOS;
const NANOS: i64 = 1_000_000_000;
/// Seconds since 1970 that are a time: from 2001 to 2286.
const TIMES: std::ops::Range<i64> = 1_000_000_000..10_000_000_000;

/// Reason for which dumps cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DumpError {
    /// A line or a document is invalid.
    #[error("dump of an access point: line {line}: {why}")]
    Invalid {
        /// Number of the line, from 1.
        line: usize,
        /// Clause.
        why: String,
    },
    /// More values than netburn reads.
    #[error("dump of an access point: too many {what}, expected at most {most}")]
    TooMany {
        /// Values that are counted.
        what: &'static str,
        /// Limit.
        most: usize,
    },
    /// No value.
    #[error("dump of an access point: no value to import: the file has no station, no channel in use and no queue")]
    Empty,
}

/// Returns true for the beginning of a file with dumps.
#[must_use]
pub fn recognises(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines().take(50);
    // Lists of other programs have other keys.
    let has_kind = || text.lines().take(50).any(|line| line.contains("\"kind\""));
    lines.any(|line| {
        let line = line.trim_end();
        let is_text = station(line).is_some() || line.starts_with(SURVEY) || line.starts_with("qdisc ");
        is_text || line.starts_with('[') && has_kind()
    })
}

/// Beginning of the output for a channel.
const SURVEY: &str = "Survey data from ";

/// Address and interface of `Station 02:00:00:00:01:00 (on wlan0)`.
fn station(line: &str) -> Option<(&str, &str)> {
    let (address, rest) = line.strip_prefix("Station ")?.split_once(" (on ")?;
    Some((address, rest.strip_suffix(')')?))
}

/// A sample as its text.
#[derive(Default)]
struct Sample {
    /// Nanoseconds since 1970.
    time: Option<i64>,
    /// Texts of stations and of channels, by interface.
    stations: BTreeMap<String, String>,
    surveys: BTreeMap<String, String>,
    queues: Option<String>,
    /// Stations with their interface.
    seen: BTreeSet<(String, Bssid)>,
    /// Frequencies of channels in MHz, with the interface.
    channels: BTreeSet<(String, u32)>,
}

/// Reads dumps. `file` is the name of the file, for the record.
///
/// # Errors
/// When an output is invalid, or the file has no value.
pub fn read(text: &str, file: &str) -> Result<(Header, Vec<Row>), DumpError> {
    if text.len() > MAX_BYTES {
        return Err(DumpError::TooMany {
            what: "bytes",
            most: MAX_BYTES,
        });
    }
    let samples = samples(text)?;
    let mut telemetry = AccessPointTelemetry::new("access-point", Addresses::default());
    let facts = BTreeMap::from([("system".to_owned(), "from dumps of its programs".to_owned())]);
    telemetry.handle_description(Instant::ZERO, facts, Vec::new());
    let mut rows = Vec::new();
    let (mut has_value, mut uses) = (false, [false; 2]);
    let first = samples.first().and_then(|sample| sample.time);
    let is_timed = samples.iter().all(|sample| sample.time.is_some());
    let mut last = 0;
    for (sample, number) in samples.iter().zip(0_i64..) {
        let snapshot = snapshot(sample);
        uses[0] |= !snapshot.stations.is_empty() || !snapshot.surveys.is_empty();
        uses[1] |= !snapshot.queues.is_empty();
        has_value |= uses != [false; 2];
        last = match sample.time.zip(first) {
            Some((time, first)) if is_timed => time - first,
            _ => number * NANOS,
        };
        telemetry.handle_sample(Instant::from_nanos(last), snapshot, Duration::ZERO);
        let new = std::iter::from_fn(|| telemetry.poll_row());
        rows.extend(new.filter(|row| is_timed || !is_rate(row)));
        if rows.len() > MAX_ROWS {
            return Err(DumpError::TooMany {
                what: "values",
                most: MAX_ROWS,
            });
        }
    }
    if !has_value {
        return Err(DumpError::Empty);
    }
    let program = match uses {
        [true, true] => "iw and tc",
        [true, false] => "iw",
        _ => "tc",
    };
    let started = first.filter(|_| is_timed).map(UnixTime);
    Ok((header(program, file, samples.len(), last, started), rows))
}

/// Returns true for an increase that is divided by the time that it covers.
fn is_rate(row: &Row) -> bool {
    use Observable as Q;
    let rates = [Q::BytesDown, Q::BytesUp, Q::AirtimeDown, Q::AirtimeUp, Q::QueueSent];
    matches!(row, Row::Observed(row) if rates.contains(&row.quantity))
}

/// `last` is the time of the last sample in ns.
fn header(program: &str, file: &str, samples: usize, last: i64, started: Option<UnixTime>) -> Header {
    let mut left_out = Vec::new();
    if samples == 1 {
        left_out.push("counters, whose increase needs two samples".to_owned());
    } else if started.is_none() {
        left_out.push(
            "the times of the samples, which the file does not have; the run has one per second, without bytes and airtime"
                .to_owned(),
        );
    }
    let word = if samples == 1 { "sample" } else { "samples" };
    let test = format!("{samples} {word} of an access point");
    let plan = Plan {
        title: Some(format!("{program}, {test}")),
        // The last sample is within the run.
        duration: Duration::from_millis(last.saturating_add(AFTER).unsigned_abs().div_ceil(1_000_000)),
        baseline: Duration::ZERO,
        stations: vec![Station::new("access-point")],
        ..Plan::new("access-point")
    };
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    Header {
        environment: Environment::Imported,
        seed: plan.seed,
        host: netburn_record::header::Host::default(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        source: Some(Source {
            program: program.to_owned(),
            test,
            file: file.chars().take(200).map(plain).collect(),
            left_out,
            ..Source::default()
        }),
        plan,
    }
}

fn snapshot(sample: &Sample) -> Snapshot {
    let stations = sample.stations.iter();
    let surveys = sample.surveys.iter();
    Snapshot {
        stations: stations
            .flat_map(|(interface, text)| iw::stations(interface, text))
            .collect(),
        surveys: surveys
            .flat_map(|(interface, text)| iw::surveys(interface, text))
            .collect(),
        queues: sample.queues.as_deref().and_then(tc::queues).unwrap_or_default(),
        ..Snapshot::default()
    }
}

/// Block to which a line belongs.
enum Block {
    None,
    Station(String),
    Survey(String),
}

/// Splits a file into samples.
fn samples(text: &str) -> Result<Vec<Sample>, DumpError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = Reader {
        samples: Vec::new(),
        block: Block::None,
    };
    let (mut rest, mut line) = (text, 1);
    while !rest.is_empty() {
        let (first, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if first.starts_with('[') {
            let length = json(rest).map_err(|why| DumpError::Invalid { line, why })?;
            reader.queues(&rest[..length])?;
            line += rest[..length].matches('\n').count();
            rest = &rest[length..];
        } else {
            reader
                .line(first.trim_end())
                .map_err(|why| DumpError::Invalid { line, why })?;
            line += 1;
            rest = after;
        }
        if reader.samples.len() > MAX_SAMPLES {
            return Err(DumpError::TooMany {
                what: "samples",
                most: MAX_SAMPLES,
            });
        }
    }
    let seen = reader
        .samples
        .iter()
        .map(|sample| sample.seen.len().max(sample.channels.len()))
        .max();
    if seen > Some(MAX_PARTS) {
        return Err(DumpError::TooMany {
            what: "stations or channels of a sample",
            most: MAX_PARTS,
        });
    }
    Ok(reader.samples)
}

/// A JSON list of at most [`MAX_PARTS`] elements, which are not kept.
struct List;

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Elements;
        impl<'de> Visitor<'de> for Elements {
            type Value = List;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List, A::Error> {
                let mut count = 0;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                    if count > MAX_PARTS {
                        return Err(A::Error::custom(format_args!("more than {MAX_PARTS} queues")));
                    }
                }
                Ok(List)
            }
        }
        from.deserialize_seq(Elements)
    }
}

/// Length of the JSON list at the beginning of a text. The error is a clause.
fn json(text: &str) -> Result<usize, String> {
    let mut lists = serde_json::Deserializer::from_str(text).into_iter::<List>();
    match lists.next() {
        Some(Ok(List)) if lists.byte_offset() > MAX_LIST_BYTES => {
            Err(format!("the output of `tc -j` exceeds {} MB", MAX_LIST_BYTES >> 20))
        }
        Some(Ok(List)) => Ok(lists.byte_offset()),
        Some(Err(error)) => Err(format!("invalid output of `tc -j`: {error}")),
        None => Err("empty output of `tc -j`".to_owned()),
    }
}

struct Reader {
    samples: Vec<Sample>,
    block: Block,
}

impl Reader {
    /// The current sample, or a new one if `is_full` returns true for the current one.
    fn sample(&mut self, is_full: impl Fn(&Sample) -> bool) -> &mut Sample {
        // A file that has times separates its samples by them.
        let is_full = self
            .samples
            .last()
            .is_none_or(|sample| sample.time.is_none() && is_full(sample));
        if is_full {
            self.samples.push(Sample::default());
        }
        let place = self.samples.len() - 1;
        &mut self.samples[place]
    }

    fn queues(&mut self, text: &str) -> Result<(), DumpError> {
        self.block = Block::None;
        let sample = self.sample(|sample| sample.queues.is_some());
        sample.queues = Some(text.to_owned());
        Ok(())
    }

    /// A line that is not JSON. The error is a clause.
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(time) = time(line) {
            return self.time(time);
        }
        if let Some((address, interface)) = station(line) {
            let address: Bssid = address.parse().map_err(|_| "invalid address of a station".to_owned())?;
            let interface = checked(interface)?;
            let key = (interface.clone(), address);
            let sample = self.sample(|sample| sample.seen.contains(&key));
            if !sample.seen.insert(key) {
                return Err(format!("the station {address} is there twice in a sample"));
            }
            self.block = Block::Station(interface);
        } else if let Some(interface) = line.strip_prefix(SURVEY) {
            let interface = checked(interface)?;
            self.block = Block::Survey(interface);
        } else if let (Block::Survey(interface), Some(frequency)) = (&self.block, frequency(line)) {
            let key = (interface.clone(), frequency);
            let sample = self.sample(|sample| sample.channels.contains(&key));
            if !sample.channels.insert(key) {
                return Err(format!("the channel of {frequency} MHz is there twice in a sample"));
            }
        } else if line.starts_with("qdisc ") {
            return Err("found the text of tc, expected JSON (`tc -s -j qdisc`)".to_owned());
        } else if !line.starts_with(char::is_whitespace) {
            // A line of another program, such as the command.
            self.block = Block::None;
        }
        let (texts, interface) = match (&self.block, self.samples.last_mut()) {
            (Block::Station(interface), Some(sample)) => (&mut sample.stations, interface),
            (Block::Survey(interface), Some(sample)) => (&mut sample.surveys, interface),
            _ => return Ok(()),
        };
        let text = texts.entry(interface.clone()).or_default();
        text.push_str(line);
        text.push('\n');
        Ok(())
    }

    /// A line with a time begins a sample.
    fn time(&mut self, time: i64) -> Result<(), String> {
        self.block = Block::None;
        let first = self.samples.first().and_then(|sample| sample.time);
        let last = self.samples.last().and_then(|sample| sample.time);
        if self.samples.last().is_some_and(|sample| sample.time.is_none()) {
            return Err("found a time after a sample without one".to_owned());
        }
        if last.is_some_and(|last| time <= last) || first.is_some_and(|first| time - first > MAX_RUN - AFTER) {
            return Err("expected a time after that of the previous sample, within 30 days".to_owned());
        }
        self.samples.push(Sample {
            time: Some(time),
            ..Sample::default()
        });
        Ok(())
    }
}

/// Frequency in MHz of a line such as `frequency: 2437 MHz [in use]`.
fn frequency(line: &str) -> Option<u32> {
    let value = line.trim_start().strip_prefix("frequency:")?;
    value.split_whitespace().next()?.parse().ok()
}

/// Time in ns since 1970 of a line such as `1796093900` or `1796093900.123456789`.
fn time(line: &str) -> Option<i64> {
    let (seconds, fraction) = line.trim().split_once('.').unwrap_or((line.trim(), "0"));
    let seconds: i64 = seconds.parse().ok().filter(|seconds| TIMES.contains(seconds))?;
    let is_fraction = (1..=9).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let fraction: i64 = is_fraction.then(|| format!("{fraction:0<9}").parse().ok())??;
    // The times reach to 2286, and nanoseconds of 64 bits to 2262.
    seconds.checked_mul(NANOS)?.checked_add(fraction)
}

fn checked(interface: &str) -> Result<String, String> {
    if is_interface(interface) {
        Ok(interface.to_owned())
    } else {
        Err("invalid name of an interface".to_owned())
    }
}
