//! Import of `iperf3 --json`, of a client or a server.
//!
//! The client is the station. A test to the server is an upload, one with `--reverse` a download, and one with `--bidir`
//! both. The bytes are those of the intervals, so that the throughput is what iperf3 prints. Samples of TCP connections
//! (round-trip time, congestion window, retransmissions) exist where the file's machine sends and runs Linux.
//!
//! Intervals that iperf3 omits (`--omit`) are not in the run. Of UDP, bytes are imported; losses and jitter are described in
//! the header.

use super::common::{Transfer, check_plan, one_line, station_name};
use super::tool::Tool;
use super::unpack::sane;
use super::{ImportError, Imported};
use netburn_record::header::{Environment, Header, Host, Method, Source, WorkloadMethod};
use netburn_record::row::{ConnectionRow, Row, Side};
use netburn_record::utc::UnixTime;
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{Duration, Instant};
use netburn_workload::Config;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Longest test in seconds: a plan lasts 30 days at most.
const MAX_SECONDS: f64 = 30.0 * 86_400.0;
/// Longest interval in seconds.
const MAX_INTERVAL: f64 = 3600.0;
/// Most bytes of an interval: a terabit per second.
const MAX_RATE: f64 = 1.25e11;
/// Most streams in a direction (`MAX_STREAMS` of iperf3).
const MAX_STREAMS: usize = 128;

pub(super) const TOOL: Tool = Tool {
    files: "a result of iperf3 (`--json`)",
    recognises: |content| content.has_keys(&["start", "intervals"]),
    read: |content, file| read(&sane(content.bytes()), file).map_err(ImportError::from),
};

/// Reason for which a file of iperf3 cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Iperf3Error {
    /// Invalid JSON, or a value of another type.
    #[error("invalid result of iperf3: {0}")]
    Json(String),
    /// The test failed.
    #[error("iperf3 reports an error and no interval: {0}")]
    Failed(String),
    /// The test has no interval with bytes.
    #[error("the result of iperf3 has no interval with bytes")]
    Empty,
    /// A value is invalid.
    #[error("invalid value in the result of iperf3: {0}")]
    Invalid(String),
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    title: Option<String>,
    start: Start,
    #[serde(default)]
    intervals: Vec<Interval>,
    #[serde(default)]
    end: End,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct Start {
    #[serde(default)]
    connected: Vec<Connected>,
    #[serde(default)]
    version: String,
    #[serde(default)]
    system_info: String,
    #[serde(default)]
    timestamp: Timestamp,
    /// Only a server has it.
    #[serde(default)]
    accepted_connection: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    tcp_mss: Option<u64>,
    #[serde(default)]
    tcp_mss_default: Option<u64>,
    #[serde(default)]
    test_start: TestStart,
}

#[derive(Deserialize)]
struct Connected {
    socket: i64,
    #[serde(default)]
    local_port: u16,
    #[serde(default)]
    remote_port: u16,
}

#[derive(Deserialize, Default)]
struct Timestamp {
    #[serde(default)]
    timesecs: Option<i64>,
}

#[derive(Deserialize, Default)]
struct TestStart {
    #[serde(default)]
    protocol: String,
    #[serde(default)]
    num_streams: u64,
}

#[derive(Deserialize)]
struct Interval {
    #[serde(default)]
    streams: Vec<Stream>,
    sum: Sum,
    #[serde(default)]
    sum_bidir_reverse: Option<Sum>,
}

/// Sum over the streams of a direction.
#[derive(Deserialize)]
struct Sum {
    start: f64,
    end: f64,
    bytes: f64,
    #[serde(default)]
    omitted: bool,
    #[serde(default)]
    sender: bool,
}

/// A stream in an interval. Values of TCP exist where the file's machine sends.
#[derive(Deserialize)]
struct Stream {
    socket: i64,
    end: f64,
    bytes: f64,
    #[serde(default)]
    bits_per_second: f64,
    #[serde(default)]
    retransmits: Option<u32>,
    #[serde(default)]
    snd_cwnd: Option<u64>,
    #[serde(default)]
    rtt: Option<u32>,
    #[serde(default)]
    rttvar: Option<u32>,
    #[serde(default)]
    omitted: bool,
}

#[derive(Deserialize, Default)]
struct End {
    #[serde(default)]
    sum: Option<Datagrams>,
}

#[derive(Deserialize)]
struct Datagrams {
    #[serde(default)]
    jitter_ms: Option<f64>,
    #[serde(default)]
    lost_packets: Option<i64>,
    #[serde(default)]
    packets: Option<i64>,
}

/// Reads a result. `file` is its name, for the record.
///
/// # Errors
/// When the file is invalid, or has no interval with bytes.
pub fn read(text: &[u8], file: &str) -> Result<Imported, Iperf3Error> {
    let document: Document = serde_json::from_slice(text).map_err(|error| Iperf3Error::Json(error.to_string()))?;
    let is_server = document.start.accepted_connection.is_some();
    let mut transfers: BTreeMap<bool, Transfer> = BTreeMap::new();
    let (mut omitted, mut length, mut moved) = (0_u64, 0.0_f64, 0.0);
    for interval in &document.intervals {
        for sum in std::iter::once(&interval.sum).chain(&interval.sum_bidir_reverse) {
            check(sum.start, sum.end, sum.bytes)?;
            if sum.omitted {
                omitted += 1;
                continue;
            }
            length = length.max(sum.end);
            moved += sum.bytes;
            // What a client receives goes down; so does what a server sends.
            let down = sum.sender == is_server;
            transfers.entry(down).or_default().add(sum.start, sum.end, sum.bytes);
        }
    }
    if moved == 0.0 {
        return Err(match document.error.as_deref() {
            Some(error) => Iperf3Error::Failed(one_line(error)),
            None => Iperf3Error::Empty,
        });
    }
    let directions: Vec<bool> = transfers.keys().copied().collect();
    let header = header(&document, file, &directions, length, omitted);
    check_plan(&header.plan).map_err(Iperf3Error::Invalid)?;
    let mut rows = Vec::new();
    for ((down, transfer), workload) in transfers.into_iter().zip(0..) {
        rows.extend(transfer.rows(0, workload, down));
    }
    rows.extend(connections(&document, &directions, is_server));
    Ok(Imported { header, rows })
}

fn check(start: f64, end: f64, bytes: f64) -> Result<(), Iperf3Error> {
    let is_valid = (0.0..=MAX_SECONDS).contains(&end)
        && (0.0..end).contains(&start)
        && end - start <= MAX_INTERVAL
        && (0.0..=MAX_RATE * MAX_INTERVAL).contains(&bytes);
    if is_valid {
        Ok(())
    } else {
        Err(Iperf3Error::Invalid(format!(
            "an interval from {start} to {end} s with {bytes} bytes"
        )))
    }
}

fn header(document: &Document, file: &str, directions: &[bool], length: f64, omitted: u64) -> Header {
    let start = &document.start;
    let mut system = start.system_info.split_whitespace();
    let (os, name, kernel) = (system.next(), system.next(), system.next());
    let words = |word: Option<&str>| one_line(word.unwrap_or_default());
    let is_udp = start.test_start.protocol.eq_ignore_ascii_case("udp");
    let title = document
        .title
        .as_deref()
        .map(one_line)
        .filter(|title| !title.is_empty());
    let mut left_out = Vec::new();
    if omitted > 0 {
        let word = if omitted == 1 { "interval" } else { "intervals" };
        left_out.push(format!("{omitted} {word} that iperf3 omitted"));
    }
    if is_udp {
        left_out.push(datagrams(document.end.sum.as_ref()));
    }
    if let Some(error) = &document.error {
        left_out.push(format!("what came after the error `{}`", one_line(error)));
    }
    let protocol = if is_udp { "UDP" } else { "TCP" };
    let test = match directions {
        [false, true] => format!("{protocol} in both directions"),
        [true] => format!("{protocol} download"),
        _ => format!("{protocol} upload"),
    };
    let streams = start.test_start.num_streams;
    let test = if streams > 1 {
        format!("{test}, {streams} streams")
    } else {
        test
    };
    let plan_name = station_name(title.as_deref().unwrap_or("iperf3"), &mut BTreeSet::new()).to_lowercase();
    // iperf3 is a machine's program; the file of a server does not have the name of the client.
    let client = match start.accepted_connection {
        None => name.unwrap_or("client"),
        Some(_) => "client",
    };
    let mut station = Station::new(&station_name(client, &mut BTreeSet::new()));
    station.workloads = directions.iter().map(|down| workload(*down)).collect();
    let plan = Plan {
        title: Some(title.clone().unwrap_or_else(|| format!("iperf3, {test}"))),
        duration: Duration::from_millis(((length * 1e3).round() as u64).max(1)),
        baseline: Duration::ZERO,
        stations: vec![station],
        ..Plan::new(&plan_name)
    };
    Header {
        environment: Environment::Imported,
        seed: plan.seed,
        host: Host {
            name: words(name),
            os: words(os),
            kernel: words(kernel),
            ..Host::default()
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: start
            .timestamp
            .timesecs
            .and_then(|seconds| seconds.checked_mul(1_000_000_000))
            .map(UnixTime),
        source: Some(Source {
            program: "iperf3".to_owned(),
            version: one_line(start.version.trim_start_matches("iperf ")),
            test,
            file: one_line(file),
            title: title.unwrap_or_default(),
            left_out,
            methods: if is_udp { udp(directions.len()) } else { Vec::new() },
        }),
        plan,
    }
}

fn workload(down: bool) -> StationWorkload {
    if down {
        StationWorkload::new("download", Config::download())
    } else {
        StationWorkload::new("upload", Config::upload())
    }
}

/// The workloads of a test with UDP.
fn udp(workloads: usize) -> Vec<WorkloadMethod> {
    let method = |workload| WorkloadMethod {
        station: 0,
        workload,
        method: Method::Udp,
    };
    (0..workloads as u16).map(method).collect()
}

/// A text on what the run does not have of a test with UDP.
fn datagrams(sum: Option<&Datagrams>) -> String {
    let lost = sum.and_then(|sum| Some((sum.lost_packets?, sum.packets?)));
    let jitter = sum.and_then(|sum| sum.jitter_ms).filter(|jitter| jitter.is_finite());
    match (lost, jitter) {
        (Some((lost, all)), Some(jitter)) => {
            format!("losses and jitter of the datagrams: {lost} of {all} lost, jitter {jitter:.3} ms")
        }
        _ => "losses and jitter of the datagrams".to_owned(),
    }
}

/// Samples of the connections on which the file's machine sends.
fn connections(document: &Document, directions: &[bool], is_server: bool) -> Vec<Row> {
    let start = &document.start;
    let mss = start
        .tcp_mss
        .or(start.tcp_mss_default)
        .filter(|mss| *mss > 0)
        .unwrap_or(1448);
    // The file's machine sends up if it is the client.
    let Some(workload) = directions.iter().position(|down| *down == is_server) else {
        return Vec::new();
    };
    let ports: BTreeMap<i64, u16> = start
        .connected
        .iter()
        .take(2 * MAX_STREAMS)
        .map(|connected| {
            let port = if is_server {
                connected.remote_port
            } else {
                connected.local_port
            };
            (connected.socket, port)
        })
        .collect();
    let mut sums: BTreeMap<i64, (f64, u32)> = BTreeMap::new();
    let mut rows = Vec::new();
    for stream in document.intervals.iter().flat_map(|interval| &interval.streams) {
        let (Some(rtt_us), Some(port)) = (stream.rtt, ports.get(&stream.socket)) else {
            continue;
        };
        if stream.omitted || !(0.0..=MAX_SECONDS).contains(&stream.end) {
            continue;
        }
        let (bytes, retransmits) = sums.entry(stream.socket).or_default();
        *bytes += stream.bytes.max(0.0);
        *retransmits = retransmits.saturating_add(stream.retransmits.unwrap_or(0));
        rows.push(Row::Connection(ConnectionRow {
            station: 0,
            workload: workload as u16,
            side: if is_server { Side::Server } else { Side::Station },
            port: *port,
            at: Instant::from_nanos((stream.end * 1e9) as i64),
            rtt_us,
            rtt_var_us: stream.rttvar.unwrap_or(0),
            cwnd: u32::try_from(stream.snd_cwnd.unwrap_or(0) / mss).unwrap_or(u32::MAX),
            retransmits: *retransmits,
            delivery_rate_bps: stream.bits_per_second.max(0.0) as u64,
            bytes_acked: *bytes as u64,
            bytes_received: 0,
        }));
    }
    rows
}
