//! Import of results of irtt (`irtt client -o FILE`), compressed or not.
//!
//! The client is the station, and each packet is an operation of a `probe`. Its round-trip time is irtt's: without the
//! server's processing time. If both ends stamped packets with their wall clocks, the operations have the one-way delays, too.
//! A packet that irtt reports as lost in either direction is lost.

use super::bounded::Bounded;
use super::file_error::FileError;
use super::round_trips::{Answer, MAX_ROUND_TRIP, MAX_RUN, RoundTrip, Session};
use super::tool::{Content, Tool};
use super::{ImportError, Imported};
use netburn_record::header::{Host, Source};
use netburn_record::utc::UnixTime;
use netburn_workload::operation::RemoteTimestamps;
use serde::Deserialize;

pub(super) const TOOL: Tool = Tool {
    files: "a result of irtt (`irtt client -o`)",
    recognises: |content| {
        content.has_keys(&["round_trips"]) || content.has_keys(&["version", "system_info", "config", "stats"])
    },
    read: |content, file| read(content, file).map_err(|error| ImportError::file("irtt", error)),
};

/// The version of the format that is read.
const JSON_FORMAT: u64 = 1;
/// Most packets: irtt writes about 500 B for each, and a file has at most 1 GiB.
const MAX_PACKETS: usize = 2_000_000;
/// Most extreme one-way delay in ns: clocks that differ by 100 years.
const MAX_ONE_WAY: i64 = 100 * 365 * 86_400 * 1_000_000_000;

#[derive(Deserialize)]
struct Document {
    version: Version,
    #[serde(default)]
    system_info: SystemInfo,
    #[serde(default)]
    config: Config,
    #[serde(default)]
    stats: Stats,
    /// `null` if no packet was sent.
    #[serde(default)]
    round_trips: Option<Bounded<Packet, MAX_PACKETS>>,
}

#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    irtt: String,
    json_format: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SystemInfo {
    os: String,
    hostname: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Config {
    params: Params,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Params {
    /// In ns.
    interval: Option<u64>,
    length: Option<u64>,
    dscp: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Stats {
    duplicates: u64,
}

#[derive(Deserialize)]
struct Packet {
    seqno: u64,
    /// `false`, `true`, `true_up` or `true_down`.
    lost: Box<str>,
    #[serde(default)]
    timestamps: Timestamps,
    #[serde(default)]
    delay: Delay,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Timestamps {
    client: Client,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Client {
    send: Stamp,
}

/// In ns. Clocks that were not requested are missing.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct Stamp {
    wall: Option<i64>,
    monotonic: Option<i64>,
}

/// In ns.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct Delay {
    rtt: Option<i64>,
    send: Option<i64>,
    receive: Option<i64>,
}

fn read(content: &Content<'_>, file: &str) -> Result<Imported, FileError> {
    let document: Document = serde_json::from_slice(content.bytes())?;
    if document.version.json_format != JSON_FORMAT {
        return Err(FileError::Version {
            found: document.version.json_format.to_string(),
            expected: "1",
        });
    }
    let packets = document.round_trips.as_ref().map_or(&[][..], |list| &list.0);
    let params = &document.config.params;
    let interval = params.interval.unwrap_or(1_000_000_000);
    let mut times = Times::new(packets.first(), interval);
    let mut lost = [0_u64; 3];
    let mut round_trips = Vec::with_capacity(packets.len());
    for (place, packet) in packets.iter().enumerate() {
        let sent = times.sent(place, packet)?;
        round_trips.push(round_trip(place, packet, sent)?);
        match &*packet.lost {
            "true" => lost[0] += 1,
            "true_up" => lost[1] += 1,
            "true_down" => lost[2] += 1,
            _ => {}
        }
    }
    let size = params.length.map_or(String::new(), |size| format!(" of {size} B"));
    let dscp = match params.dscp {
        0 => String::new(),
        dscp => format!(", DSCP byte {dscp}"),
    };
    let wall = packets.first().and_then(|packet| packet.timestamps.client.send.wall);
    Session {
        workload: "probe",
        station: match document.system_info.hostname.as_str() {
            "" => "client".to_owned(),
            name => name.to_owned(),
        },
        interval,
        size: params.length,
        host: Host {
            name: document.system_info.hostname,
            os: document.system_info.os,
            ..Host::default()
        },
        started: wall.map(UnixTime),
        round_trips,
        source: Source {
            program: "irtt".to_owned(),
            version: document.version.irtt,
            test: format!("UDP round trips{size} every {} ms{dscp}", interval as f64 / 1e6),
            file: file.to_owned(),
            left_out: left_out(lost, document.stats.duplicates),
            ..Source::default()
        },
    }
    .imported()
}

/// Content of the file that the run does not have, as texts. `lost`: packets lost in an unknown direction, up, and down.
fn left_out(lost: [u64; 3], duplicates: u64) -> Vec<String> {
    let mut left_out = Vec::new();
    if lost[1] + lost[2] > 0 {
        left_out.push(format!(
            "the direction of the losses: {} packets were lost on the way to the server, {} on the way back",
            lost[1], lost[2]
        ));
    }
    if duplicates > 0 {
        let word = if duplicates == 1 { "answer" } else { "answers" };
        left_out.push(format!("{duplicates} duplicate {word}"));
    }
    left_out
}

/// Times at which packets were sent, from the clock that the file has.
struct Times {
    first: Stamp,
    interval: u64,
    last: i64,
}

impl Times {
    fn new(first: Option<&Packet>, interval: u64) -> Self {
        Times {
            first: first.map(|packet| packet.timestamps.client.send).unwrap_or_default(),
            interval,
            last: 0,
        }
    }

    /// Time since the first packet, in ns. Without timestamps it follows from the interval.
    fn sent(&mut self, place: usize, packet: &Packet) -> Result<i64, FileError> {
        let stamp = packet.timestamps.client.send;
        let clocks = [(stamp.monotonic, self.first.monotonic), (stamp.wall, self.first.wall)];
        let sent = match clocks.into_iter().find_map(|(now, first)| now.zip(first)) {
            Some((now, first)) => now.checked_sub(first),
            None => {
                let planned = packet.seqno.checked_mul(self.interval);
                planned.and_then(|planned| i64::try_from(planned).ok())
            }
        };
        match sent {
            Some(sent) if (self.last..=MAX_RUN).contains(&sent) => {
                self.last = sent;
                Ok(sent)
            }
            _ => Err(FileError::value(
                format!("round_trips[{place}].timestamps.client.send"),
                "expected a time after the previous packet, within 30 days",
            )),
        }
    }
}

fn round_trip(place: usize, packet: &Packet, sent: i64) -> Result<RoundTrip, FileError> {
    let lost = match &*packet.lost {
        "false" => false,
        "true" | "true_up" | "true_down" => true,
        other => {
            return Err(FileError::value(
                format!("round_trips[{place}].lost"),
                format!(
                    "found `{}`, expected `false`, `true`, `true_up` or `true_down`",
                    super::common::one_line(other)
                ),
            ));
        }
    };
    if lost {
        return Ok(RoundTrip {
            sent,
            outcome: Answer::Lost,
            far: None,
        });
    }
    let rtt = packet.delay.rtt.filter(|rtt| (0..=MAX_ROUND_TRIP).contains(rtt));
    let Some(rtt) = rtt else {
        return Err(FileError::value(
            format!("round_trips[{place}].delay.rtt"),
            match packet.delay.rtt {
                Some(rtt) => format!("found {rtt} ns, expected 0 ns to 10 min"),
                None => "missing, although the packet was not lost".to_owned(),
            },
        ));
    };
    let one_way = |delay: Option<i64>| delay.filter(|delay| delay.unsigned_abs() <= MAX_ONE_WAY.unsigned_abs());
    // In the sender's time plus the offset of the clocks. The server's processing time is not part of the round trip.
    let far = one_way(packet.delay.send)
        .zip(one_way(packet.delay.receive))
        .map(|(up, down)| RemoteTimestamps {
            received: sent + up,
            sent: sent + rtt - down,
        });
    Ok(RoundTrip {
        sent,
        outcome: Answer::After(rtt.unsigned_abs()),
        far,
    })
}
