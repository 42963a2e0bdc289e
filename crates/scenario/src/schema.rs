//! JSON Schema of scenario documents, and the manual generated from it.

use crate::change::CHANGEABLE;
use crate::decode::SectionSchema;
use crate::enums::KINDS;
use crate::resolve::{SCHEMA, preset};
use crate::sections::{self, Scenario};
use netburn_tcp::config::TsqPreset;
use netburn_workload::{Config, Goal};
use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::fmt::Write as _;

/// Returns the JSON Schema (draft 2020-12) for TOML files read as JSON, and for the output of [`Plan::to_json`].
///
/// [`Plan::to_json`]: crate::Plan::to_json
#[must_use]
pub fn json_schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<SectionSchema<Scenario>>();
    schema.insert("title".to_owned(), SCHEMA.into());
    schema.to_value()
}

/// Returns the manual of the scenario file in Markdown.
#[must_use]
pub fn manual() -> String {
    let mut text = String::from(INTRODUCTION);
    for section in sections::all() {
        write_section(&mut text, &section);
    }
    text.push_str("\n## Settings that can change during a run\n\n");
    text.push_str("`set` in `[[at]]` accepts these paths; `*` stands for a name.\n\n");
    for changeable in CHANGEABLE {
        let _ = writeln!(text, "- `{}`", changeable.pattern);
    }
    write_workloads(&mut text);
    text.push_str(PRIORITY);
    write_presets(&mut text);
    text
}

const INTRODUCTION: &str = "\
# The scenario file

<!-- Generated from crates/scenario. To regenerate: NETBURN_REGENERATE=1 cargo test -p netburn-scenario --test schema -->

A scenario describes the network, the stations, their workloads and their goals. It is a TOML file of up
to 1 MiB. `docs/scenario.schema.json` is its JSON Schema, for editors. The smallest scenario:

```toml
[station.laptop]
workload = \"browsing\"
```

- Every quantity is a text with its unit: `\"60 s\"`, `\"5min\"`, `\"25 Mbit/s\"`, `\"128 KiB\"`, `\"-62 dBm\"`,
  `\"1 %\"`, `\"6 m\"`. 1 Mbit/s is 10⁶ bit/s, 1 KiB is 1024 bytes, and 1 kB is 1000 bytes.
- A name has 1 to 63 letters (a to z), digits or `-`. A radio is named after its band: `2g`, `5g`, `6g`, and
  `5g-2` for a second radio in a band.
- No station can have the name `server` or `localhost`.
- An unknown key or an invalid value is an error. The message shows the line, the value found and the value
  expected.
- Simulate and lab need the keys that describe the air (`ap`, `network`, `joins`, `signal` and others). On
  local and fleet they have no effect, and a note lists them.
- `--set KEY=VALUE` on the command line changes any key by its dotted path, such as
  `--set station.tv.signal='-80 dBm'`. A text needs no quotes of its own.
- You can run the built-in scenarios in `scenarios/` by their names.
";

const PRIORITY: &str = "
## Packet marking

The `priority` of a workload applies to its packets in both directions.

| environment | packets of the station | packets of the server |
|---|---|---|
| simulate | in the workload's class | in the workload's class |
| lab | marked by the kernel | marked with the connection's DSCP from the first packet on, then with the requested DSCP |
| local, fleet | marked by the kernel | marked with the requested DSCP (`?dscp=`, or a byte of a probe) |
| fleet, in a browser | unmarked, because a page cannot set the DSCP | marked with the requested DSCP |

- On local and fleet a request carries the DSCP. The server's packets before the first request are therefore
  unmarked: the TCP and TLS handshakes, and the acknowledgement of that request. On Linux 5.10 and later,
  `sysctl net.ipv4.tcp_reflect_tos=1` on the server's machine marks them too. Other servers, as with `fetch`,
  mark their responses as they choose.
- HTTP/2 multiplexes requests on one connection, so the most recently requested DSCP applies to all of them.
  Each workload has its own connections, so workloads do not affect each other.
- With WMM, an access point derives the access category of a packet from its DSCP. Most access points use the
  upper three bits: 8 is background, 40 video, 48 voice (RFC 8325).
- Towards the station, the access point uses the DSCP that arrives. Routers, switches and providers can clear
  it, and an access point can ignore it. A capture at the station shows the result.
- Linux's minstrel starts no aggregation in the voice category. Much traffic in this category therefore uses
  more airtime than as best effort.
";

fn write_section(text: &mut String, section: &sections::SectionEntry) {
    let _ = write!(text, "\n## `{}`\n\n{}\n\n", section.header, section.about);
    text.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    for key in (section.keys)() {
        let value = value_of(&(key.schema)(&mut generator).to_value());
        let default = match (key.default, key.default_note) {
            _ if key.required => "required".to_owned(),
            (Some(default), _) => format!("`{default}`"),
            (None, Some(note)) => note.to_owned(),
            (None, None) => "–".to_owned(),
        };
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            key.name,
            cell(&value),
            cell(&default),
            cell(key.about)
        );
    }
}

/// Short description of a key's valid values.
fn value_of(schema: &Value) -> String {
    let words = |list: &Vec<Value>| {
        let texts: Vec<String> = list
            .iter()
            .filter_map(Value::as_str)
            .map(|word| format!("`{word}`"))
            .collect();
        texts.join(", ")
    };
    if let Some(value) = schema.get("x-value").and_then(Value::as_str) {
        return value.to_owned();
    }
    if let Some(list) = schema.get("enum").and_then(Value::as_array) {
        return words(list);
    }
    if schema.get("$ref").is_some() {
        return "a section".to_owned();
    }
    if let Some(either) = schema.get("anyOf").and_then(|any| any.get(0)) {
        return format!("{}, or a list", value_of(either));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => match (&schema["minimum"], schema["maximum"].as_u64()) {
            (low, None | Some(u64::MAX)) => format!("a whole number from {low}"),
            (low, Some(high)) => format!("{low} to {high}"),
        },
        Some("array") => format!("a list: {}", value_of(&schema["items"])),
        Some("object") => "sections by name".to_owned(),
        _ => "a value".to_owned(),
    }
}

fn write_workloads(text: &mut String) {
    text.push_str("\n## Built-in workloads\n\n");
    text.push_str("| name | kind | objects | interval | in flight | goal |\n|---|---|---|---|---|---|\n");
    let names = ["browsing", "4kstream", "voip", "download", "upload", "probe"];
    for (name, (word, kind)) in names.iter().zip(KINDS) {
        let config = preset(*kind);
        let size = match config.objects {
            1 => config.object_size.to_string(),
            objects => format!("{objects} × {}", config.object_size),
        };
        let every = match (config.interval, config.jitter) {
            (None, _) => "none: one after another".to_owned(),
            (Some(every), jitter) if jitter.is_zero() => every.to_string(),
            (Some(every), jitter) => format!("{every} ± {jitter}"),
        };
        let goals: Vec<String> = config.goals.iter().map(goal).collect();
        let goals = if goals.is_empty() {
            "none".to_owned()
        } else {
            goals.join(", ")
        };
        let _ = writeln!(
            text,
            "| `{name}` | `{word}` | {size} | {every} | {} | {goals} |",
            config.outstanding
        );
    }
    let player = Config::stream_4k().player.unwrap_or_default();
    let _ = writeln!(
        text,
        "\nThe player of `4kstream` starts with {} of media, plays at {} and buffers up to {}. An operation is aborted after {} without progress, a probe after {}.",
        player.start,
        player.rate,
        player.max_buffer,
        Config::browsing().timeout,
        Config::probe().timeout,
    );
}

pub(crate) fn goal(goal: &Goal) -> String {
    match goal {
        Goal::Latency { limit } => format!("≤ {limit}"),
        Goal::Rate { at_least, window, .. } => format!("≥ {at_least} in every {window}"),
        Goal::NoStall => "no stall".to_owned(),
    }
}

fn write_presets(text: &mut String) {
    text.push_str("\n## Presets of `tsq`\n\n");
    text.push_str("Limit on one connection's data below TCP, as in Linux over Wi-Fi: max(2 packets, pacing rate ÷ 2^shift, minimum), up to the cap.\n\n");
    text.push_str("| preset | shift | minimum | cap |\n|---|---|---|---|\n");
    for preset in TsqPreset::ALL {
        let settings = preset.settings();
        let shift = settings.shift.map_or("–".to_owned(), |shift| shift.to_string());
        let cap = match (settings.cap, settings.caps_paced) {
            (None, _) => "–".to_owned(),
            (Some(cap), true) => cap.to_string(),
            (Some(cap), false) => format!("{cap}, not for paced connections"),
        };
        let minimum = match settings.minimum.as_bytes() {
            0 => "–".to_owned(),
            _ => settings.minimum.to_string(),
        };
        let _ = writeln!(text, "| `{}` | {shift} | {minimum} | {cap} |", preset.name());
    }
}
