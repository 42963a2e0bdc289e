//! The page of the built-in workloads, from their configuration.

use crate::page::{check_generated, replace};
use netburn_units::ByteSize;
use netburn_workload::config::{LOAD_OBJECT, PRESETS};
use netburn_workload::{Config, Connections, Direction, Kind, PacketStream, Priority};
use std::fmt::Write as _;

/// A row of the table: a property, and its text for each workload.
type Property = (&'static str, fn(&Config) -> String);

const PROPERTIES: [Property; 14] = [
    ("traffic pattern", |config| format!("`{}`", config.kind)),
    ("transport", |config| {
        let transport = if config.kind.is_datagram() {
            "UDP"
        } else {
            "HTTP over TCP"
        };
        transport.to_owned()
    }),
    ("request", |config| {
        let size = config.object_size.as_bytes();
        match config.kind {
            Kind::Probe => format!("a datagram of {size} B"),
            Kind::Voice => format!("none: a datagram of {size} B in each direction"),
            kind if kind.is_adaptive() => format!("none: {}", frames(config)),
            kind if kind.is_one_way() => format!("none: {}", packets(config)),
            Kind::Upload => format!("`POST /sink` with {size} B"),
            Kind::Responsiveness => {
                let load = LOAD_OBJECT.as_bytes();
                format!("probes: `GET /bytes/{size}`; load: `GET /bytes/{load}` and `POST /sink` with {load} B")
            }
            Kind::Dash => {
                let [least, most] = segment_sizes(config);
                format!("`GET /bytes/{}` to `GET /bytes/{}`", least.as_bytes(), most.as_bytes())
            }
            _ => format!("`GET /bytes/{size}`"),
        }
    }),
    ("response", |config| match config.kind {
        Kind::Probe => format!("a datagram of {} B", config.object_size.as_bytes()),
        kind if kind.is_one_way() => "none".to_owned(),
        Kind::Upload => "a receipt".to_owned(),
        Kind::Responsiveness => "1 B; the load, or a receipt".to_owned(),
        Kind::Dash => {
            let [least, most] = segment_sizes(config);
            format!("{least} to {most}")
        }
        _ => config.object_size.to_string(),
    }),
    ("requests in an operation", |config| match config.objects {
        1 => "1".to_owned(),
        objects => format!("{objects}, in parallel"),
    }),
    ("interval", |config| {
        if config.kind.has_streams() {
            return intervals(config);
        }
        if config.kind == Kind::Responsiveness {
            let interval = config.interval.unwrap_or_default();
            return format!("{interval} for each kind of probe; none for the load");
        }
        if config.kind == Kind::Dash {
            return "none: when the buffer has room".to_owned();
        }
        config
            .interval
            .map_or("none: one after another".to_owned(), |interval| interval.to_string())
    }),
    ("jitter", |config| match config.jitter {
        jitter if jitter.is_zero() => "none".to_owned(),
        jitter => format!("± {jitter}"),
    }),
    ("content", |config| {
        config.mean_rate().map_or("as fast as possible".to_owned(), |rate| {
            if config.kind.is_adaptive() || config.kind == Kind::Dash {
                format!("up to {rate}")
            } else {
                rate.to_string()
            }
        })
    }),
    ("operations in flight", |config| {
        if config.kind.is_one_way() {
            "no limit".to_owned()
        } else if config.kind == Kind::Responsiveness {
            format!("up to {} probes", config.max_in_flight())
        } else {
            format!("up to {}", config.max_in_flight())
        }
    }),
    ("connections", |config| match (config.kind, config.connections) {
        (kind, _) if kind.is_datagram() => "–".to_owned(),
        (Kind::Responsiveness, _) => {
            let load = config.load;
            format!(
                "{} with load down, {} with load up; a new one for each foreign probe",
                load.down, load.up
            )
        }
        (_, Connections::New) => "a new one for each request".to_owned(),
        (_, Connections::Keep) => "kept open and reused".to_owned(),
    }),
    ("direction of the content", |config| match config.kind {
        Kind::Upload => "to the server".to_owned(),
        Kind::Responsiveness => "both".to_owned(),
        kind if kind.is_datagram() => "both".to_owned(),
        _ => "to the station".to_owned(),
    }),
    ("DSCP", |config| config.priority.dscp().to_string()),
    ("goal", |config| {
        let goals: Vec<String> = config.goals.iter().map(|goal| goal.describe(config.kind)).collect();
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

fn frames(config: &Config) -> String {
    let streams = &config.datagrams;
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
    let workloads = PRESETS.map(|name| (name, Config::preset(name).unwrap()));
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

/// Sizes of the segments with the lowest and the highest bit rate.
fn segment_sizes(config: &Config) -> [ByteSize; 2] {
    let dash = config.dash.as_ref().unwrap();
    [dash.lowest(), dash.highest()].map(|rate| dash.segment_size(rate))
}

fn player() -> String {
    let config = Config::stream_4k();
    let player = config.player.unwrap();
    format!(
        "The player of `4kstream` starts with {} of media, plays at {} and buffers up to {}.",
        player.start, player.rate, player.max_buffer
    )
}

fn voip() -> String {
    let config = Config::voip();
    format!(
        "`voip` requests {} over HTTP every {}. It sends no RTP.",
        config.object_size,
        config.interval.unwrap()
    )
}

fn voice() -> String {
    let config = Config::voice();
    let packets: Vec<String> = [config.object_size.as_bytes(), config.object_size.as_bytes() + 28]
        .map(|bytes| format!("{bytes} B"))
        .into();
    format!(
        "`voice` is a call. The station and the server each send a packet of {} every {}, with UDP and IP headers {}. \
         This is the packet of G.711 over RTP.",
        packets[0],
        config.interval.unwrap(),
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
