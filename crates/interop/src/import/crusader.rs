//! Import of results of crusader (`.crr`), of its three formats.
//!
//! The client is the station. Its pings are a `probe`, and each part of the test is a `download` or an `upload` that runs
//! during this part only. If a peer measured latency too, it is a second station. Time 0 of the run is the start of the
//! first load, so that earlier pings are idle latency.
//!
//! A ping is lost if its answer did not arrive. Its one-way delays are those of the file, whose clocks crusader
//! synchronised; version 0 has none.

mod document;
mod msgpack;
mod snappy;

use super::common::{Transfer, check_plan, header, station_name};
use super::file_error::FileError;
use super::round_trips::{Answer, MAX_ROUND_TRIP, RoundTrip, operation};
use super::tool::{Content, Tool};
use super::{ImportError, Imported};
use document::{Document, Group, MAGIC, Ping, Span};
use netburn_record::header::{Host, Source};
use netburn_record::row::{BASELINE, OperationRow, Row};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::Duration;
use netburn_workload::Config;
use netburn_workload::config::{Activity, Grid};
use netburn_workload::kinds::Probe;
use netburn_workload::operation::RemoteTimestamps;
use std::collections::BTreeSet;

pub(super) const TOOL: Tool = Tool {
    files: "a result of crusader (`.crr`)",
    recognises: |content| content.bytes().starts_with(&MAGIC),
    read: |content, file| read(content, file).map_err(|error| ImportError::file("crusader", error)),
};

/// Longest test in seconds: 6 h.
const MAX_SECONDS: u64 = 6 * 3600;
/// Most streams of a direction.
const MAX_STREAMS: usize = 256;
/// Most groups of streams: both directions, alone and together.
const MAX_GROUPS: usize = 4;
/// Most bytes of a stream.
const MAX_BYTES: u64 = 1 << 50;

fn read(content: &Content<'_>, file: &str) -> Result<Imported, FileError> {
    let document = document::read(content.bytes())?;
    let test = Test::new(&document)?;
    let mut stations = vec![station("client", &document)?];
    let mut rows = Vec::new();
    let mut lost = [0; 2];
    rows.extend(test.pings("pings", &document.pings, 0, &mut lost)?);
    if document.stream_groups.len() > MAX_GROUPS {
        return Err(FileError::TooMany {
            what: "groups of streams",
            most: MAX_GROUPS,
        });
    }
    for (place, group) in document.stream_groups.iter().enumerate() {
        if let Some(load) = test.load(place, group)? {
            let workloads = &mut stations[0].workloads;
            rows.extend(load.transfer.rows(0, workloads.len() as u16, group.download));
            workloads.push(load.workload);
        }
    }
    if let Some(pings) = &document.peer_pings {
        stations.push(station("peer", &document)?);
        rows.extend(test.pings("peer_pings", pings, 1, &mut lost)?);
    }
    if rows.is_empty() {
        return Err(FileError::Empty("the file has no ping and no stream".to_owned()));
    }
    let directions = describe(&document.stream_groups);
    let plan = Plan {
        title: Some(format!("crusader, {directions}")),
        duration: nanos(test.end - test.zero),
        baseline: nanos(test.zero - test.start),
        stations,
        ..Plan::new("crusader")
    };
    check_plan(&plan).map_err(FileError::Format)?;
    let source = Source {
        program: "crusader".to_owned(),
        version: document.generated_by.trim_start_matches("Crusader ").to_owned(),
        test: directions,
        file: file.to_owned(),
        left_out: left_out(&document, lost),
        ..Source::default()
    };
    Ok(Imported {
        header: header(plan, Host::default(), None, source),
        rows,
    })
}

/// The plan takes whole milliseconds.
fn nanos(nanos: i64) -> Duration {
    Duration::from_millis(nanos.max(0).unsigned_abs().div_ceil(1_000_000))
}

fn describe(groups: &[Group]) -> String {
    let has = |download, both| {
        groups
            .iter()
            .any(|group| group.download == download && group.both == both)
    };
    let parts = [
        (has(true, false), "download"),
        (has(false, false), "upload"),
        (has(true, true) || has(false, true), "both directions"),
    ];
    let parts: Vec<&str> = parts.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect();
    match parts[..] {
        [] => "latency without load".to_owned(),
        _ => format!("TCP {} with UDP round trips", parts.join(", ")),
    }
}

/// A station with a probe.
fn station(name: &str, document: &Document) -> Result<Station, FileError> {
    let interval = document
        .config
        .ping_interval
        .nanos(3600)
        .filter(|interval| *interval >= 100_000);
    let Some(interval) = interval else {
        return Err(FileError::value("config.ping_interval", "expected 0.1 ms to 1 h"));
    };
    let mut station = Station::new(&station_name(name, &mut BTreeSet::new()));
    let config = Config::with(|probe: &mut Probe| {
        probe.grid = Grid::regular(Duration::from_nanos(interval.unsigned_abs()));
    });
    station.workloads = vec![StationWorkload::new("probe", config)];
    Ok(station)
}

/// Content of the file that the run does not have, as texts. `lost`: packets lost up, and down.
fn left_out(document: &Document, lost: [u64; 2]) -> Vec<String> {
    let mut left_out = Vec::new();
    if lost[1] > 0 {
        left_out.push(format!(
            "the direction of the losses: {} packets were lost on the way to the server, {} on the way back",
            lost[0], lost[1]
        ));
    }
    if document.server_overload {
        left_out
            .push("crusader's warning that the server was overloaded, and the result should be discarded".to_owned());
    }
    if document.load_termination_timeout {
        left_out.push("crusader's warning that a load did not end in time".to_owned());
    }
    left_out
}

/// Times of the test in ns since the client began.
struct Test {
    /// Start of the measurement.
    start: i64,
    /// Time 0 of the run: start of the first load.
    zero: i64,
    end: i64,
}

/// A part of the test, as a workload.
struct Load {
    workload: StationWorkload,
    transfer: Transfer,
}

impl Test {
    fn new(document: &Document) -> Result<Self, FileError> {
        let start = time("start", document.start)?;
        let end = start + time("duration", document.duration)?;
        let mut zero = None;
        let mut earliest = |at: i64| zero = Some(zero.map_or(at, |zero: i64| zero.min(at)));
        for (place, test) in document.test_data.iter().enumerate() {
            earliest(time(&format!("test_data[{place}].start"), test.start)?);
            time(&format!("test_data[{place}].end"), test.end)?;
        }
        for stream in document.stream_groups.iter().flat_map(|group| &group.streams) {
            if let Some(first) = stream.data.first() {
                earliest(time("the first point of a stream", first.time)?);
            }
        }
        let zero = zero.unwrap_or(start);
        if start <= zero && zero < end {
            Ok(Test { start, zero, end })
        } else {
            Err(FileError::value(
                "start",
                "expected the start before the first load, and a duration that includes it",
            ))
        }
    }

    /// The rows of a station's pings. Those before the load are idle latency.
    fn pings(&self, list: &str, pings: &[Ping], station: u16, lost: &mut [u64; 2]) -> Result<Vec<Row>, FileError> {
        let mut operations = Vec::with_capacity(pings.len());
        let (mut idle, mut loaded) = (0, 0);
        for (place, ping) in pings.iter().enumerate() {
            let place = |key: &str| format!("{list}[{place}].{key}");
            let sent = time(&place("sent"), ping.sent)? - self.zero;
            let total = ping.latency.as_ref().and_then(|latency| latency.total);
            let up = ping.latency.as_ref().and_then(|latency| latency.up);
            match (&ping.latency, total) {
                (None, _) => lost[0] += 1,
                (Some(_), None) => lost[1] += 1,
                (Some(_), Some(_)) => {}
            }
            let took = total.map(|total| time(&place("latency.total"), total)).transpose()?;
            if took.is_some_and(|took| took > MAX_ROUND_TRIP) {
                return Err(FileError::value(place("latency.total"), "expected at most 10 min"));
            }
            let up = up.map(|up| time(&place("latency.up"), up)).transpose()?;
            let trip = RoundTrip {
                sent,
                outcome: took.map_or(Answer::Lost, |took| Answer::After(took.unsigned_abs())),
                // crusader's server answers at once.
                far: up.filter(|_| took.is_some()).map(|up| RemoteTimestamps {
                    received: sent + up,
                    sent: sent + up,
                }),
            };
            let (workload, number) = if sent < 0 {
                (BASELINE, &mut idle)
            } else {
                (0, &mut loaded)
            };
            operations.push((workload, operation(&trip, *number)));
            *number += 1;
        }
        operations.sort_by_key(|(_, operation)| operation.finished.unwrap_or(operation.due));
        let row = |(workload, operation)| {
            Row::Operation(OperationRow {
                station,
                workload,
                operation,
            })
        };
        Ok(operations.into_iter().map(row).collect())
    }

    /// The workload of a group of streams; `None` if it has no bytes.
    fn load(&self, place: usize, group: &Group) -> Result<Option<Load>, FileError> {
        if group.streams.len() > MAX_STREAMS {
            return Err(FileError::TooMany {
                what: "streams",
                most: MAX_STREAMS,
            });
        }
        let mut transfer = Transfer::default();
        let (mut from, mut to, mut moved) = (i64::MAX, 0, false);
        for (number, stream) in group.streams.iter().enumerate() {
            let mut before: Option<(i64, u64)> = None;
            for (point, value) in stream.data.iter().enumerate() {
                let place = || format!("stream_groups[{place}].streams[{number}].data[{point}]");
                let at = time(&place(), value.time)? - self.zero;
                let (last, bytes) = before.unwrap_or((at, 0));
                if at < last || value.bytes < bytes || value.bytes > MAX_BYTES {
                    return Err(FileError::value(
                        place(),
                        "expected times and bytes that do not decrease",
                    ));
                }
                if value.bytes > bytes {
                    let seconds = |nanos: i64| nanos as f64 / 1e9;
                    // Bytes of a moment belong to the microsecond before.
                    let last = last.min(at - 1000);
                    transfer.add(seconds(last), seconds(at), (value.bytes - bytes) as f64);
                    (from, to, moved) = (from.min(last), to.max(at), true);
                }
                before = Some((at, value.bytes));
            }
        }
        Ok(moved.then(|| Load {
            workload: workload(group, from.max(0), to),
            transfer,
        }))
    }
}

/// The workload of a group, which runs between two times of the run in ns.
fn workload(group: &Group, from: i64, to: i64) -> StationWorkload {
    let (name, config) = if group.download {
        ("download", Config::download())
    } else {
        ("upload", Config::upload())
    };
    let name = if group.both {
        format!("{name}-both")
    } else {
        name.to_owned()
    };
    let start = Duration::from_millis(from.unsigned_abs() / 1_000_000);
    let activity = Activity {
        start,
        stop: Some(nanos(to).max(start + Duration::from_secs(1))),
        repeat: None,
    };
    StationWorkload::new(&name, Config { activity, ..config })
}

/// A time in ns, at most [`MAX_SECONDS`].
fn time(place: &str, span: Span) -> Result<i64, FileError> {
    let wrong = || FileError::value(place, "expected a time of at most 6 h");
    span.nanos(MAX_SECONDS).ok_or_else(wrong)
}
