//! The shipped JSON Schema and the manual are those of the code, and the schema says yes and no rightly.

use netburn_scenario::{json_schema, load, manual, shipped};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn docs(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file)
}

fn current(file: &str, wanted: &str) {
    if std::env::var_os("NETBURN_REGENERATE").is_some() {
        std::fs::write(docs(file), wanted).expect("docs/ can be written");
    }
    let found = std::fs::read_to_string(docs(file)).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/{file} is out of date: NETBURN_REGENERATE=1 cargo test -p netburn-scenario"
    );
}

#[test]
fn the_shipped_schema_is_current() {
    current("scenario.schema.json", &format!("{:#}\n", json_schema()));
}

#[test]
fn the_manual_is_current() {
    current("SCENARIO.md", &manual());
}

fn as_json(text: &str) -> Value {
    let table: toml::Table = text.parse().expect("TOML");
    serde_json::to_value(table).expect("JSON")
}

#[test]
fn shipped_scenarios_and_their_plans_validate() {
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    for (name, text) in shipped() {
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
fn wrong_documents_do_not_validate() {
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

/// The value at a path, made if it isn't there.
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
