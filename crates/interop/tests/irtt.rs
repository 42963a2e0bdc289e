//! Import of results of irtt 0.9.0 (Debian 12) over loopback: `irtt client -i 20ms -o FILE.json.gz`. Those of `lossy` went through a
//! proxy that lost, delayed and duplicated packets. The others have `--tstamp=none`, `--tstamp=midpoint` and
//! `--clock=monotonic`. The expected values are irtt's own statistics in the files.

use netburn_interop::import::{FileError, ImportError, Imported, read, record};
use netburn_record::row::Row;
use netburn_workload::{Operation, Outcome};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/irtt");
    std::fs::read(folder.join(format!("{name}.json.gz"))).unwrap()
}

fn document(name: &str) -> Value {
    let mut text = String::new();
    flate2::read::GzDecoder::new(&file(name)[..])
        .read_to_string(&mut text)
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

fn imported(document: &Value) -> Result<Imported, ImportError> {
    read(document.to_string().as_bytes(), "a.json")
}

fn operations(imported: &Imported) -> Vec<Operation> {
    let operation = |row: &Row| match row {
        Row::Operation(row) => row.operation,
        other => panic!("{other:?}"),
    };
    imported.rows.iter().map(operation).collect()
}

#[test]
fn round_trips_and_losses_are_those_that_irtt_prints() {
    for name in ["lossy", "none", "monotonic", "midpoint"] {
        let stats = document(name)["stats"].clone();
        let imported = read(&file(name), "a.json.gz").unwrap();
        let operations = operations(&imported);
        assert_eq!(
            operations.len() as u64,
            stats["packets_sent"].as_u64().unwrap(),
            "{name}"
        );
        let round_trips: Vec<u64> = operations
            .iter()
            .filter(|operation| operation.outcome == Outcome::Finished)
            .map(|operation| operation.latency().unwrap().as_nanos())
            .collect();
        let printed = |key: &str| stats["rtt"][key].as_u64().unwrap();
        assert_eq!(round_trips.len() as u64, printed("n"), "{name}");
        assert_eq!(round_trips.iter().sum::<u64>(), printed("total"), "{name}");
        assert_eq!(round_trips.iter().min().copied(), Some(printed("min")), "{name}");
        assert_eq!(round_trips.iter().max().copied(), Some(printed("max")), "{name}");
        let lost = operations.len() - round_trips.len();
        let percent = 100.0 * lost as f64 / operations.len() as f64;
        assert!(
            (percent - stats["packet_loss_percent"].as_f64().unwrap()).abs() < 1e-9,
            "{name}: {percent}"
        );
    }
}

/// The one-way delays are differences of both ends' clocks.
#[test]
fn one_way_delays_are_those_that_irtt_prints() {
    for name in ["lossy", "midpoint"] {
        let stats = document(name)["stats"].clone();
        let operations = operations(&read(&file(name), "a").unwrap());
        let (mut up, mut down, mut count) = (0, 0, 0);
        for operation in &operations {
            if let Some(far) = operation.far {
                up += far.received - operation.started.unwrap().as_nanos();
                down += operation.finished.unwrap().as_nanos() - far.sent;
                count += 1;
            }
        }
        assert_eq!(stats["send_delay"]["n"], json!(count), "{name}");
        assert_eq!(stats["send_delay"]["total"], json!(up), "{name}");
        assert_eq!(stats["receive_delay"]["total"], json!(down), "{name}");
    }
    // Without stamps of wall clocks there are none.
    for name in ["none", "monotonic"] {
        let operations = operations(&read(&file(name), "a").unwrap());
        assert!(operations.iter().all(|operation| operation.far.is_none()), "{name}");
    }
}

#[test]
fn the_summary_has_the_losses_and_late_answers() {
    let stats = document("lossy")["stats"].clone();
    let folder = tempfile::tempdir().unwrap();
    let run = record(
        &folder.path().join("run"),
        &read(&file("lossy"), "lossy.json.gz").unwrap(),
    )
    .unwrap();
    let station = &run.summary().stations[0];
    assert_eq!(station.name, "laptop");
    let workload = &station.workloads[0];
    let probe = workload.probe.unwrap();
    let lost = stats["packet_loss_percent"].as_f64().unwrap() / 100.0;
    assert!((probe.lost_share.unwrap() - lost).abs() < 1e-9, "{probe:?}");
    assert_eq!(json!(probe.reordered), stats["late_packets"]);
    assert_eq!(workload.latency_ms.count, 100);
    // irtt's median is that of 87 answers, its 44th value. The run's median also ranks the 13 losses, so that it is the 50th.
    let mut answers: Vec<u64> = document("lossy")["round_trips"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|packet| packet["delay"]["rtt"].as_u64())
        .collect();
    answers.sort_unstable();
    assert_eq!(json!(answers[43]), stats["rtt"]["median"]);
    let p50 = workload.latency_ms.p50.unwrap();
    assert!((p50 - answers[49] as f64 / 1e6).abs() < 0.001, "{p50}");
    // The delays above the smallest one; the medians of the 87 answers.
    let queued = |delay: &str| {
        let printed = |key: &str| stats[delay][key].as_f64().unwrap() / 1e6;
        printed("median") - printed("min")
    };
    let up = probe.queued_up_ms.unwrap().p50.unwrap();
    assert!((up - queued("send_delay")).abs() < 0.001, "{up}");
    let down = probe.queued_down_ms.unwrap().p50.unwrap();
    assert!((down - queued("receive_delay")).abs() < 0.001, "{down}");
}

#[test]
fn the_header_has_the_origin() {
    let imported = read(&file("lossy"), "lossy.json.gz").unwrap();
    let source = imported.header.source.unwrap();
    assert_eq!(
        (source.program.as_str(), source.version.as_str(), source.test.as_str()),
        ("irtt", "0.9.0", "UDP round trips of 172 B every 20 ms")
    );
    assert_eq!(
        source.left_out,
        [
            "the direction of the losses: 6 packets were lost on the way to the server, 7 on the way back",
            "4 duplicate answers"
        ]
    );
    let config = &imported.header.plan.stations[0].workloads[0].config;
    assert_eq!(config.interval().unwrap().as_millis(), 20);
    assert_eq!(config.operation_size().unwrap().as_bytes(), 172);
}

/// The place of the error in a file with another value.
fn place(path: &str, value: Value) -> String {
    let mut document = document("none");
    *document.pointer_mut(path).unwrap() = value;
    match imported(&document) {
        Err(ImportError::File {
            tool: "irtt",
            error: FileError::Value { place, .. },
        }) => place,
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn invalid_values_are_named() {
    let rtt = "/round_trips/3/delay/rtt";
    for value in [json!(-1), json!(600_000_000_001_i64), Value::Null] {
        assert_eq!(place(rtt, value), "round_trips[3].delay.rtt");
    }
    let sent = "/round_trips/3/timestamps/client/send/monotonic";
    for value in [json!(0), json!(i64::MAX), json!(i64::MIN)] {
        assert_eq!(place(sent, value), "round_trips[3].timestamps.client.send");
    }
    assert_eq!(place("/round_trips/3/lost", json!("perhaps")), "round_trips[3].lost");
}

#[test]
fn other_documents_of_irtt_are_errors() {
    let changed = |path: &str, value: Value| {
        let mut document = document("none");
        *document.pointer_mut(path).unwrap() = value;
        imported(&document).unwrap_err().to_string()
    };
    let newer = changed("/version/json_format", json!(2));
    assert_eq!(
        newer,
        "file of irtt: unsupported version of the format: found 2, expected 1"
    );
    for empty in [json!([]), Value::Null] {
        let error = changed("/round_trips", empty);
        assert_eq!(error, "file of irtt: no value to import: the file has no packet");
    }
    let wrong = changed("/round_trips/2/seqno", json!("two"));
    assert!(wrong.starts_with("file of irtt: invalid format"), "{wrong}");
    // A file that ends anywhere after its first key is one of irtt, and is truncated.
    let whole = document("none").to_string();
    for length in (whole.find("round_trips").unwrap() + 20..whole.len()).step_by(37) {
        let error = read(&whole.as_bytes()[..length], "a").unwrap_err();
        let truncated = matches!(
            error,
            ImportError::File {
                tool: "irtt",
                error: FileError::Truncated(_)
            }
        );
        assert!(truncated, "{length}: {error}");
    }
}
