//! The JSON Schema of scenario documents, and the manual made from it.

use crate::change::CHANGEABLE;
use crate::decode::SectionSchema;
use crate::resolve::{SCHEMA, preset};
use crate::sections::{self, Scenario};
use crate::enums::KINDS;
use netburn_tcp::config::TsqPreset;
use netburn_workload::{Config, Goal};
use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::fmt::Write as _;

/// The JSON Schema (draft 2020-12) of scenario documents: of TOML files read as JSON, and of [`Plan::to_json`].
///
/// [`Plan::to_json`]: crate::Plan::to_json
#[must_use]
pub fn json_schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<SectionSchema<Scenario>>();
    schema.insert("title".to_owned(), SCHEMA.into());
    schema.to_value()
}

/// The manual of the scenario file, in Markdown.
#[must_use]
pub fn manual() -> String {
    let mut text = String::from(INTRODUCTION);
    for section in sections::all() {
        write_section(&mut text, &section);
    }
    text.push_str("\n## What may change while it runs\n\n");
    text.push_str("The paths that `set` of `[[at]]` takes; `*` is a name.\n\n");
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

<!-- Made from the code of crates/scenario. To make it anew: NETBURN_REGENERATE=1 cargo test -p netburn-scenario -->

A scenario says who is on the network, what each does, and what counts as good. It is a TOML file of up to 1 MiB; `docs/scenario.schema.json` describes
the same for editors. The smallest one:

```toml
[station.laptop]
workload = \"browsing\"
```

- Every quantity is a text with its unit: `\"60 s\"`, `\"5min\"`, `\"25 Mbit/s\"`, `\"128 KiB\"`, `\"-62 dBm\"`, `\"1 %\"`, `\"6 m\"`. Mbit/s are 10⁶ bit/s, KiB 1024 bytes, kB 1000.
- Names hold 1 to 63 letters (a to z), digits and `-`. A radio is named after its band: `2g`, `5g`, `6g`, a second one in a band `5g-2`.
- No station is called `server` or `localhost`.
- A key that isn't known is an error, and so is a value that can't be: with the line, what was found, and what would be right.
- What describes the air (`ap`, `network`, `joins`, `signal` …) is needed where the air is modelled, on simulate and lab, and is a note on local and fleet.
- On the command line `--set KEY=VALUE` changes any key by its dotted path, such as `--set station.tv.signal='-80 dBm'`; a text needs no quotes of its own.
- The built-in scenarios in `scenarios/` run by their names.
";

const PRIORITY: &str = "
## Who marks which packets

A `priority` is of a use's packets both ways.

| environment | what the station sends | what the server sends |
|---|---|---|
| simulate | in its class | in its class |
| lab | its kernel marks it | marked as the connection was begun, the first packet included, and as the request wishes |
| local, fleet | its kernel marks it | marked as the request wishes (`?dscp=`, a byte of a probe) |
| fleet, in a browser | unmarked: a page can't | marked as the request wishes |

- On local and fleet a wish comes with a request, so what comes before the first one is unmarked from the server: the handshakes of TCP and TLS, and the acknowledgement of that request.
  `sysctl net.ipv4.tcp_reflect_tos=1` on the server's machine (Linux 5.10 and later) marks these, too. The answers of other servers than netburn's, such as those of `fetch`, are theirs.
- A connection of HTTP/2 is one to the network: the last wish holds for all of it. Each use has connections of its own, so nothing is mixed.
- What a real access point makes of it: with WMM the DSCP of a packet decides its access category, each way where it is sent. Most take the upper three bits: 8 is background, 40 video, 48 voice, as RFC 8325 has
  it. Towards the station that is the access point's decision, from what the server's packet still carries when it arrives: routers, switches and providers may clear it, an access point may ignore it. A
  capture at the station shows what arrived. In the voice category Linux's minstrel begins no aggregation, so much traffic there takes more air
  than as best effort.
";

fn write_section(text: &mut String, section: &sections::Placed) {
    let _ = write!(text, "\n## `{}`\n\n{}\n\n", section.header, section.about);
    text.push_str("| key | value | default | what it says |\n|---|---|---|---|\n");
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    for key in (section.keys)() {
        let value = value_of(&(key.schema)(&mut generator).to_value());
        let default = match (key.default, key.required) {
            (_, true) => "must be there".to_owned(),
            (Some(default), _) => format!("`{default}`"),
            (None, false) => "–".to_owned(),
        };
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| `{}` | {} | {default} | {} |",
            key.name,
            cell(&value),
            cell(key.about)
        );
    }
}

/// What a value looks like, in a few words.
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
    text.push_str("\n## The built-in workloads\n\n");
    text.push_str("| name | kind | asks for | every | at once | goal |\n|---|---|---|---|---|---|\n");
    let names = ["browsing", "4kstream", "voip", "download", "upload", "probe"];
    for (name, (word, kind)) in names.iter().zip(KINDS) {
        let config = preset(*kind);
        let size = match config.objects {
            1 => config.object_size.to_string(),
            objects => format!("{objects} × {}", config.object_size),
        };
        let every = match (config.interval, config.jitter) {
            (None, _) => "when the last ends".to_owned(),
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
        "\nThe player of `4kstream` starts with {}, plays {} and holds {}. An operation without any progress for {} is given up, a probe after {}.",
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
    text.push_str("\n## The presets of `tsq`\n\n");
    text.push_str("What one connection may keep waiting below TCP, as Linux did it over Wi-Fi: max(2 packets, pacing rate ÷ 2^shift, minimum), and no more than the cap.\n\n");
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
