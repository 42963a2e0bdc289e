//! Import of results of iperf3 3.12 over loopback (Linux 6.18): `iperf3 -c 127.0.0.1 -t 3 -b 20M -O 1 --json` with `-R`,
//! `--bidir` and `-u`, and the results of the server. Names and cookies are others.

use netburn_interop::import::iperf3::Iperf3Error;
use netburn_interop::import::{ImportError, Imported, read};
use netburn_record::row::{Row, Side};
use netburn_units::Instant;
use serde_json::Value;
use std::path::Path;

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/iperf3");
    std::fs::read(folder.join(format!("{name}.json"))).unwrap()
}

fn document(name: &str) -> Value {
    serde_json::from_slice(&file(name)).unwrap()
}

/// Bytes that an import moves up and down.
fn bytes(imported: &Imported) -> (u64, u64) {
    imported.rows.iter().fold((0, 0), |(up, down), row| match row {
        Row::Interval(row) => (up + row.bytes_up, down + row.bytes_down),
        _ => (up, down),
    })
}

fn workloads(imported: &Imported) -> Vec<&str> {
    let station = &imported.header.plan.stations[0];
    station
        .workloads
        .iter()
        .map(|workload| workload.name.as_str())
        .collect()
}

/// The sum that iperf3 prints at the end.
fn printed(name: &str, sum: &str) -> u64 {
    document(name)["end"][sum]["bytes"].as_u64().unwrap()
}

#[test]
fn the_bytes_are_those_that_iperf3_prints() {
    for (name, expected, up, down) in [
        ("up", &["upload"][..], Some("sum_sent"), None),
        ("down", &["download"], None, Some("sum_received")),
        (
            "both",
            &["upload", "download"],
            Some("sum_sent"),
            Some("sum_received_bidir_reverse"),
        ),
        ("udp", &["upload"], Some("sum_sent"), None),
        ("server-up", &["upload"], Some("sum_received"), None),
        ("server-down", &["download"], None, Some("sum_sent")),
    ] {
        let imported = read(&file(name), "result.json").unwrap();
        assert_eq!(workloads(&imported), expected, "{name}");
        let sum = |sum: Option<&str>| sum.map_or(0, |sum| printed(name, sum));
        assert_eq!(bytes(&imported), (sum(up), sum(down)), "{name}");
        // The throughput over the planned duration is the printed one, but for the last
        // milliseconds after the intervals.
        let seconds = imported.header.plan.duration.as_secs_f64();
        let printed = document(name)["end"][up.or(down).unwrap()]["seconds"].as_f64().unwrap();
        assert!((seconds - printed).abs() < 0.006, "{name}: {seconds} of {printed}");
    }
}

#[test]
fn the_sender_has_samples_of_its_connection() {
    let imported = read(&file("up"), "result.json").unwrap();
    let samples: Vec<_> = imported
        .rows
        .iter()
        .filter_map(|row| match row {
            Row::Connection(row) => Some(row),
            _ => None,
        })
        .collect();
    let document = document("up");
    let streams: Vec<&Value> = document["intervals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|interval| &interval["streams"][0])
        .filter(|stream| stream["omitted"] == false)
        .collect();
    assert_eq!(samples.len(), streams.len());
    for (sample, stream) in samples.iter().zip(&streams) {
        assert_eq!(u64::from(sample.rtt_us), stream["rtt"].as_u64().unwrap());
        assert_eq!(sample.side, Side::Station);
        assert!(sample.at > Instant::ZERO);
    }
    assert_eq!(
        u64::from(samples[0].port),
        document["start"]["connected"][0]["local_port"].as_u64().unwrap()
    );
    assert_eq!(samples.last().unwrap().bytes_acked, printed("up", "sum_sent"));
    // A client that receives has none. Of a server that sends, they are the server's.
    let sides = |name: &str| -> Vec<Side> {
        let imported = read(&file(name), "result.json").unwrap();
        let sides = imported.rows.iter().filter_map(|row| match row {
            Row::Connection(row) => Some(row.side),
            _ => None,
        });
        sides.collect()
    };
    assert_eq!(sides("down"), []);
    assert!(sides("server-down").iter().all(|side| *side == Side::Server));
    assert!(!sides("server-down").is_empty());
}

#[test]
fn the_header_tells_what_is_left_out() {
    let source = |name: &str| read(&file(name), "a.json").unwrap().header.source.unwrap();
    let up = source("up");
    assert_eq!(
        (up.program.as_str(), up.version.as_str(), up.test.as_str()),
        ("iperf3", "3.12", "TCP upload")
    );
    assert_eq!(up.left_out, ["1 interval that iperf3 omitted"]);
    let udp = source("udp").left_out;
    assert!(
        udp[1].starts_with("losses and jitter of the datagrams: 0 of 229 lost, jitter 0.03"),
        "{udp:?}"
    );
    assert_eq!(source("both").test, "TCP in both directions");
}

#[test]
fn results_without_values_and_invalid_ones_are_errors() {
    let changed = |change: fn(&mut Value)| {
        let mut document = document("up");
        change(&mut document);
        match read(document.to_string().as_bytes(), "a.json") {
            Err(ImportError::Iperf3(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let none = changed(|document| document["intervals"] = Value::Array(Vec::new()));
    assert_eq!(none, Iperf3Error::Empty);
    let failed = changed(|document| {
        document["intervals"] = Value::Array(Vec::new());
        document["error"] = "unable to connect to server\u{1b}[2J".into();
    });
    assert_eq!(
        failed,
        Iperf3Error::Failed("unable to connect to server [2J".to_owned())
    );
    let interval = |key: &str, value: Value| {
        let mut document = document("up");
        document["intervals"][1]["sum"][key] = value;
        read(document.to_string().as_bytes(), "a.json").unwrap_err()
    };
    for (key, value) in [
        ("start", (-1.0).into()),
        ("start", 5.0.into()),
        ("end", 1e12.into()),
        ("end", Value::Null),
        ("bytes", (-5).into()),
        ("bytes", 1e300.into()),
    ] {
        let error = interval(key, value.clone());
        assert!(matches!(error, ImportError::Iperf3(_)), "{key} {value}: {error}");
    }
}

#[test]
fn a_truncated_result_is_an_error() {
    let whole = file("up");
    for length in (0..whole.len() - 2).step_by(97) {
        assert!(read(&whole[..length], "a.json").is_err(), "{length}");
    }
}
