//! The JSON Schema and the manual in docs/ match the code, and the schema accepts exactly the valid documents.

use netburn_medium::config::Standard;
use netburn_medium::queue::{Place, QueueKind};
use netburn_scenario::{built_in_scenarios, json_schema, load, manual};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn docs(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/reference")
        .join(file)
}

fn current(file: &str, wanted: &str) {
    if std::env::var_os("NETBURN_REGENERATE").is_some() {
        std::fs::write(docs(file), wanted).expect("docs/ can be written");
    }
    let found = std::fs::read_to_string(docs(file)).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/reference/{file} is out of date: NETBURN_REGENERATE=1 cargo test -p netburn-scenario --test schema"
    );
}

#[test]
fn the_json_schema_is_current() {
    current("scenario.schema.json", &format!("{:#}\n", json_schema()));
}

#[test]
fn the_manual_is_current() {
    let page = std::fs::read_to_string(docs("scenario.md")).expect("the page");
    current("scenario.md", &manual(&page).unwrap());
}

fn as_json(text: &str) -> Value {
    let table: toml::Table = text.parse().expect("TOML");
    serde_json::to_value(table).expect("JSON")
}

#[test]
fn built_in_scenarios_and_their_plans_validate() {
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    for (name, text) in built_in_scenarios() {
        for (form, document) in [
            ("file", as_json(text)),
            ("plan", load(name).unwrap().resolve().unwrap().to_json()),
        ] {
            let wrong: Vec<String> = validator
                .iter_errors(&document)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(wrong.is_empty(), "{name} as a {form}: {wrong:?}");
        }
    }
}

#[test]
fn invalid_documents_do_not_validate() {
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    let good = json!({ "station": { "tv": { "workload": "4kstream", "signal": "-62 dBm" } } });
    assert!(validator.is_valid(&good));
    for (path, value) in [
        ("/duration", json!(60)),
        ("/duration", json!("60")),
        ("/durration", json!("60 s")),
        ("/seed", json!(-1)),
        ("/repeat", json!(0)),
        ("/station/tv/signal", json!("-62 dB")),
        ("/station/tv/streams", json!(9)),
        ("/station/tv/workload", json!(["a b"])),
        ("/station/living room", json!({})),
        ("/server/http", json!("3")),
        ("/ap/c7/rating", json!("AD1750")),
        ("/ap/c7/queue_limit", json!("0x10 packets")),
        ("/workload/mine/goal", json!("soon")),
        ("/workload/mine/goal", json!("500 ms")), // `kind` is missing
        ("/at/0/set", json!({ "station.tv.streams": 2 })),
        ("/network/home/steering", json!(true)),
    ] {
        let mut document = good.clone();
        *slot(&mut document, path) = value.clone();
        assert!(!validator.is_valid(&document), "{path} = {value}");
        assert!(
            netburn_scenario::Plan::from_json(&document).is_err(),
            "{path} = {value}"
        );
    }
}

/// Returns the value at a path, creating it if needed.
fn slot<'v>(document: &'v mut Value, path: &str) -> &'v mut Value {
    path.split('/').skip(1).fold(document, |value, part| match part {
        "0" => {
            *value = json!([{ "time": "1 s" }]);
            &mut value[0]
        }
        _ => {
            if value.is_null() {
                *value = json!({});
            }
            &mut value[part]
        }
    })
}

/// Defaults of a section in the schema.
fn defaults(schema: &Value, section: &str) -> Value {
    let properties = match section {
        "" => &schema["properties"],
        name => &schema["$defs"][name]["properties"],
    };
    let keys = properties.as_object().expect("a section").iter();
    keys.filter_map(|(key, about)| Some((key.clone(), about.get("default")?.clone())))
        .collect()
}

#[test]
fn explicit_defaults_change_nothing() {
    let schema = json_schema();
    let of = |section| defaults(&schema, section);
    let bare = json!({
        "server": { "link": {} },
        "ap": { "c7": { "wan": {}, "radio": { "5g": {} } } },
        "station": { "tv": { "tsq": {}, "workload": "mine" }, "desk": { "link": {} } },
        "workload": { "mine": { "kind": "stream", "player": {} }, "talk": { "kind": "video-call", "adaptation": {} }, "film": { "kind": "dash", "dash": {} } },
    });
    let mut stated = bare.clone();
    for (path, section) in [
        ("", ""),
        ("/server", "ServerSection"),
        ("/server/link", "LinkSection"),
        ("/ap/c7", "ApSection"),
        ("/ap/c7/wan", "WanSection"),
        ("/ap/c7/radio/5g", "RadioSection"),
        ("/station/tv", "StationSection"),
        ("/station/tv/tsq", "TsqSection"),
        ("/station/desk/link", "StationLinkSection"),
        ("/workload/mine", "WorkloadSection"),
        ("/workload/mine/player", "PlayerSection"),
        ("/workload/talk/adaptation", "AdaptationSection"),
        ("/workload/film/dash", "DashSection"),
    ] {
        let Value::Object(keys) = of(section) else {
            unreachable!()
        };
        assert!(!keys.is_empty(), "{section}");
        let into = stated
            .pointer_mut(path)
            .expect("a section")
            .as_object_mut()
            .expect("a table");
        into.extend(keys);
    }
    let resolve =
        |document: &Value| netburn_scenario::Plan::from_json(document).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(resolve(&stated), resolve(&bare));
    let aql = |value| {
        let mut document = bare.clone();
        document["ap"]["c7"]["aql"] = value;
        resolve(&document)
    };
    assert_eq!(aql(of("AqlSection")), aql(json!(true)));
}

/// Default column of a key on the page.
fn default_cell(section: &str, key: &str) -> String {
    let page = std::fs::read_to_string(docs("scenario.md")).expect("the page");
    let (_, rest) = page.split_once(&format!("\n## `{section}`\n")).expect("the section");
    let row = rest.lines().find(|line| line.starts_with(&format!("| `{key}` |")));
    let cells: Vec<&str> = row.expect("the key").split(" | ").collect();
    cells[2].to_owned()
}

/// Resolved value of a key, as on the page: a list as its parts.
fn resolved(document: &Value, pointer: &str) -> Vec<String> {
    let plan = netburn_scenario::Plan::from_json(document).unwrap_or_else(|error| panic!("{error}"));
    let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
    match plan.to_json().pointer(pointer) {
        Some(Value::Array(values)) => values.iter().map(text).collect(),
        Some(value) => vec![text(value)],
        None => vec!["none".to_owned()],
    }
}

#[test]
fn every_key_has_a_default_on_the_page() {
    let page = std::fs::read_to_string(docs("scenario.md")).expect("the page");
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| `") && line.matches(" | ").count() >= 4);
    let mut count = 0;
    for row in rows {
        let default = row.split(" | ").nth(2).unwrap_or_default();
        assert!(!matches!(default.trim(), "" | "–"), "{row}");
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[test]
fn defaults_that_depend_on_the_band_or_standard_are_those_of_the_resolver() {
    let with_radio =
        |name: &str, radio: Value| json!({ "ap": { "a": { "radio": { name: radio } } }, "station": { "s": {} } });
    for (name, band) in [("2g", "2.4 GHz"), ("5g", "5 GHz"), ("6g", "6 GHz")] {
        for key in ["standard", "channel", "width"] {
            let value = &resolved(&with_radio(name, json!({})), &format!("/ap/a/radio/{name}/{key}"))[0];
            let cell = default_cell("[ap.NAME.radio.RADIO]", key);
            assert!(cell.contains(&format!("{value} on {band}")), "{value}: {cell}");
        }
    }
    for (standard, name) in [
        (Standard::A, "5g"),
        (Standard::B, "2g"),
        (Standard::G, "2g"),
        (Standard::N, "5g"),
        (Standard::Ac, "5g"),
        (Standard::Ax, "5g"),
        (Standard::Be, "6g"),
    ] {
        let window = standard.block_ack_window();
        let standard = standard.name();
        let document = with_radio(name, json!({ "standard": standard }));
        let of = |key: &str| resolved(&document, &format!("/ap/a/radio/{name}/{key}"))[0].clone();
        let streams = default_cell("[ap.NAME.radio.RADIO]", "streams");
        let expected = if of("streams") == "1" {
            "1 for 802.11a, b and g".to_owned()
        } else {
            format!("{};", of("streams"))
        };
        assert!(streams.contains(&expected), "{standard}: {streams}");
        if window > 1 {
            let cell = default_cell("[ap.NAME.radio.RADIO]", "guard");
            assert!(cell.contains(&of("guard")), "{standard}: {cell}");
            let cell = default_cell("[ap.NAME.radio.RADIO]", "aggregate_frames");
            assert!(cell.contains(&format!("{window} for")), "{standard}: {cell}");
        }
    }
    for queue in QueueKind::all_on(Place::Radio).into_iter().map(QueueKind::name) {
        let document = json!({ "ap": { "a": { "queue": queue, "radio": { "5g": {} } } }, "station": { "s": {} } });
        let limit = resolved(&document, "/ap/a/queue_limit")[0].replace(" packets", "");
        let cell = default_cell("[ap.NAME]", "queue_limit");
        assert!(cell.contains(&limit), "{queue}: {cell}");
    }
}

#[test]
fn defaults_of_workloads_are_those_of_the_resolver() {
    let keys: [(&str, &[&str]); 6] = [
        (
            "pages",
            &[
                "objects",
                "object_size",
                "interval",
                "jitter",
                "connections",
                "goal",
                "timeout",
            ],
        ),
        ("stream", &["object_size", "connections", "goal", "timeout"]),
        (
            "calls",
            &["object_size", "connections", "outstanding", "goal", "timeout"],
        ),
        ("download", &["object_size", "connections", "streams", "timeout"]),
        ("upload", &["object_size", "connections", "streams", "timeout"]),
        ("probe", &["object_size", "interval", "outstanding", "timeout"]),
    ];
    for (kind, keys) in keys {
        let document = json!({ "station": { "s": { "workload": "mine" } }, "workload": { "mine": { "kind": kind } } });
        for key in keys {
            let cell = default_cell("[workload.NAME]", key);
            for value in resolved(&document, &format!("/workload/mine/{key}")) {
                assert!(cell.contains(&value), "{kind}.{key} is {value}: {cell}");
            }
        }
    }
    // The interval of these kinds follows from the default rate.
    for (kind, rate, bits) in [
        ("stream", "25 Mbit/s", 8.0 * 1_048_576.0),
        ("calls", "1 Mbit/s", 8.0 * 16_384.0),
    ] {
        let document = json!({ "station": { "s": { "workload": "mine" } }, "workload": { "mine": { "kind": kind } } });
        let interval = &resolved(&document, "/workload/mine/interval")[0];
        let mbps: f64 = rate.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(*interval, format!("{} ms", bits / mbps / 1e3), "{kind}");
        assert!(default_cell("[workload.NAME]", "rate").contains(&format!("`{rate}` for `{kind}`")));
    }
}

/// Fuzzers start from this file, so its keys should be valid.
#[test]
fn the_scenario_with_most_keys_is_valid() {
    let text = include_str!("../corpus/scenario/everything.toml");
    let document = netburn_scenario::Document::from_toml("everything.toml", text).unwrap();
    if let Err(error) = document.resolve() {
        panic!("{error}");
    }
}
