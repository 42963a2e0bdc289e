//! The page of the built-in workloads, from their configuration.

use crate::page::{check_generated, replace};
use netburn_units::ByteSize;
use netburn_workload::config::{LOAD_OBJECT, PRESETS};
use netburn_workload::kinds::{DashClient, VideoCall};
use netburn_workload::{Config, Connections, Direction, KindSettings, PacketStream, Priority};
use std::fmt::Write as _;

/// A row of the table: a property, and its text for each workload.
type Property = (&'static str, fn(&Config) -> String);

const PROPERTIES: [Property; 14] = [
    ("traffic pattern", |config| format!("`{}`", config.kind())),
    ("transport", |config| {
        let transport = if config.kind().is_datagram() {
            "UDP"
        } else {
            "HTTP over TCP"
        };
        transport.to_owned()
    }),
    ("request", |config| {
        let size = size(config).as_bytes();
        match &config.settings {
            KindSettings::Probe(_) => format!("a datagram of {size} B"),
            KindSettings::VideoCall(call) => format!("none: {}", frames(call)),
            KindSettings::Packets(_) => format!("none: {}", packets(config)),
            KindSettings::Bulk(bulk) if bulk.direction == Direction::Up => format!("`POST /sink` with {size} B"),
            KindSettings::Responsiveness(_) => {
                let load = LOAD_OBJECT.as_bytes();
                format!("probes: `GET /bytes/{size}`; load: `GET /bytes/{load}` and `POST /sink` with {load} B")
            }
            KindSettings::DashClient(client) => {
                let [least, most] = segment_sizes(client);
                format!("`GET /bytes/{}` to `GET /bytes/{}`", least.as_bytes(), most.as_bytes())
            }
            _ => format!("`GET /bytes/{size}`"),
        }
    }),
    ("response", |config| match &config.settings {
        KindSettings::Probe(probe) => format!("a datagram of {} B", probe.size.as_bytes()),
        KindSettings::Packets(_) | KindSettings::VideoCall(_) => "none".to_owned(),
        KindSettings::Bulk(bulk) if bulk.direction == Direction::Up => "a receipt".to_owned(),
        KindSettings::Responsiveness(_) => "1 B; the load, or a receipt".to_owned(),
        KindSettings::DashClient(client) => {
            let [least, most] = segment_sizes(client);
            format!("{least} to {most}")
        }
        _ => size(config).to_string(),
    }),
    ("requests in an operation", |config| {
        match config.requests().map_or(1, |requests| requests.objects) {
            1 => "1".to_owned(),
            objects => format!("{objects}, in parallel"),
        }
    }),
    ("interval", |config| {
        if config.kind().has_stream_keys {
            return intervals(config);
        }
        if let Some(probes) = config.responsiveness() {
            return format!("{} for each kind of probe; none for the load", probes.interval);
        }
        if config.dash().is_some() {
            return "none: when the buffer has room".to_owned();
        }
        config
            .interval()
            .map_or("none: one after another".to_owned(), |interval| interval.to_string())
    }),
    ("jitter", |config| match config.jitter() {
        jitter if jitter.is_zero() => "none".to_owned(),
        jitter => format!("± {jitter}"),
    }),
    ("content", |config| {
        config.mean_rate().map_or("as fast as possible".to_owned(), |rate| {
            if config.video().is_some() || config.dash().is_some() {
                format!("up to {rate}")
            } else {
                rate.to_string()
            }
        })
    }),
    ("operations in flight", |config| {
        if config.kind().is_one_way() {
            "no limit".to_owned()
        } else if config.responsiveness().is_some() {
            format!("up to {} probes", config.max_in_flight())
        } else {
            format!("up to {}", config.max_in_flight())
        }
    }),
    ("connections", |config| {
        if config.responsiveness().is_some() {
            let load = config.load();
            return format!(
                "{} with load down, {} with load up; a new one for each foreign probe",
                load.down, load.up
            );
        }
        let text = match config.requests().map(|requests| requests.connections) {
            None => "–",
            Some(Connections::New) => "a new one for each request",
            Some(Connections::Keep) => "kept open and reused",
        };
        text.to_owned()
    }),
    ("direction of the content", |config| {
        let text = match config.direction() {
            Direction::Up => "to the server",
            Direction::Down if config.kind().is_datagram() || config.responsiveness().is_some() => "both",
            Direction::Down => "to the station",
        };
        text.to_owned()
    }),
    ("DSCP", |config| config.priority.dscp().to_string()),
    ("goal", |config| {
        let goals: Vec<String> = config.goals.iter().map(|goal| goal.describe(config.kind())).collect();
        if goals.is_empty() {
            "none".to_owned()
        } else {
            goals.join("; ")
        }
    }),
    ("time-out without progress", |config| config.timeout.to_string()),
];

/// Joins a text of each stream, or has one text if both are the same.
fn of_streams(config: &Config, text: fn(&PacketStream) -> String) -> String {
    let texts: Vec<(Direction, String)> = config
        .packet_streams()
        .all()
        .map(|(direction, stream)| (direction, text(&stream)))
        .collect();
    match &texts[..] {
        [(_, up), (_, down)] if up == down => format!("{up} in each direction"),
        texts => {
            let named = texts.iter().map(|(direction, text)| match direction {
                Direction::Up => format!("up {text}"),
                Direction::Down => format!("down {text}"),
            });
            named.collect::<Vec<_>>().join(", ")
        }
    }
}

fn packets(config: &Config) -> String {
    of_streams(config, |stream| match stream.burst {
        1 => format!("a datagram of {} B", stream.size.as_bytes()),
        burst => format!("{burst} datagrams of {} B", stream.size.as_bytes()),
    })
}

fn frames(call: &VideoCall) -> String {
    let streams = call.streams;
    let text = |stream: &PacketStream| {
        let (burst, size) = (stream.burst, stream.size.as_bytes());
        format!("a frame of up to {burst} datagrams of {size} B")
    };
    let texts: Vec<String> = streams.all().map(|(_, stream)| text(&stream)).collect();
    format!("{} in each direction", texts[0])
}

fn intervals(config: &Config) -> String {
    of_streams(config, |stream| stream.interval.to_string())
}

fn properties() -> String {
    let workloads: Vec<(&str, Config)> = PRESETS
        .iter()
        .map(|name| (*name, Config::preset(name).unwrap()))
        .collect();
    let mut table = "| |".to_owned();
    for (name, _) in &workloads {
        let _ = write!(table, " `{name}` |");
    }
    let _ = write!(table, "\n|{}\n", "---|".repeat(workloads.len() + 1));
    for (property, text) in PROPERTIES {
        let _ = write!(table, "| {property} |");
        for (_, config) in &workloads {
            let _ = write!(table, " {} |", text(config));
        }
        table.push('\n');
    }
    table
}

/// Size of a packet, or of an object of an operation.
fn size(config: &Config) -> ByteSize {
    let object = config.requests().map(|requests| requests.object_size);
    object.or(config.operation_size()).unwrap()
}

/// Sizes of the segments with the lowest and the highest bit rate.
fn segment_sizes(client: &DashClient) -> [ByteSize; 2] {
    let dash = &client.dash;
    [dash.lowest(), dash.highest()].map(|rate| dash.segment_size(rate))
}

fn player() -> String {
    let config = Config::stream_4k();
    let player = config.playback().unwrap();
    format!(
        "The player of `4kstream` starts with {} of media, plays at {} and buffers up to {}.",
        player.start, player.rate, player.max_buffer
    )
}

fn voip() -> String {
    let config = Config::voip();
    format!(
        "`voip` requests {} over HTTP every {}. It sends no RTP.",
        size(&config),
        config.interval().unwrap()
    )
}

fn voice() -> String {
    let config = Config::voice();
    let packets: Vec<String> = [size(&config).as_bytes(), size(&config).as_bytes() + 28]
        .map(|bytes| format!("{bytes} B"))
        .into();
    format!(
        "`voice` is a call. The station and the server each send a packet of {} every {}, with UDP and IP headers {}. \
         This is the packet of G.711 over RTP.",
        packets[0],
        config.interval().unwrap(),
        packets[1]
    )
}

fn priorities() -> String {
    let mut table = "| `priority` | DSCP | TID | access category |\n|---|---|---|---|\n".to_owned();
    for priority in Priority::ALL {
        let category = match priority {
            Priority::Background => "AC_BK",
            Priority::BestEffort => "AC_BE",
            Priority::Video => "AC_VI",
            Priority::Voice => "AC_VO",
        };
        let _ = writeln!(
            table,
            "| `{priority}` | {} | {} | {category} |",
            priority.dscp(),
            priority.tid()
        );
    }
    table
}

#[test]
fn the_page_of_the_workloads_is_current() {
    check_generated("workloads.md", |page| {
        let page = replace(page, "properties", &properties());
        let page = replace(&page, "voip", &voip());
        let page = replace(&page, "voice", &voice());
        let page = replace(&page, "player", &player());
        replace(&page, "priorities", &priorities())
    });
}
