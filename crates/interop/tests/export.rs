//! Exports of a run whose values are all known.

#[path = "../../record/tests/util/mod.rs"]
mod util;

use netburn_interop::export::csv_rows::{COLUMNS, Cell, csv_rows};
use netburn_interop::export::flent::{Test, files};
use netburn_interop::export::{csv, json, junit, openmetrics, parquet};
use netburn_record::{Bssid, IntervalRow, LinkRow, Recorder, Row, Run, RunStatus, Sink, recover};
use netburn_scenario::Plan;
use netburn_units::{Dscp, Duration};
use netburn_workload::{Config, Outcome};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use util::{good_rows, header, ms, plan};

/// Every page takes 200 ms, every voice frame 20 ms, every probe 3 ms. The laptop receives 4 Mbit/s. The television
/// receives 25 Mbit/s and moves from one access point to another.
fn run(folder: &Path) -> Run {
    let mut recorder = Recorder::create(&folder.join("run"), header(plan())).unwrap();
    let link = |at, mbps: u64, last| {
        Row::Link(LinkRow {
            station: 1,
            at: ms(at),
            signal: Some(-6149),
            tx_rate_bps: Some(mbps * 1_000_000),
            ssid: Some("=my \"net\", home".to_owned()),
            bssid: Some(Bssid([2, 0, 0, 0, 1, last])),
            frequency_mhz: Some(5180),
            ..LinkRow::default()
        })
    };
    for row in good_rows()
        .iter()
        .chain(&[link(0, 300, 1), link(30_000, 6, 1), link(59_000, 150, 2)])
    {
        recorder.put(row).unwrap();
    }
    recorder.finish(&RunStatus::Complete).unwrap()
}

fn written(export: impl FnOnce(&mut dyn std::io::Write)) -> String {
    let mut text = Vec::new();
    export(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn every_workload_is_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path());
    let lines = csv_rows(&run).unwrap();
    let cell = |line: usize, name: &str| {
        let place = COLUMNS.iter().position(|(_, known)| *known == name).unwrap();
        lines[line].cells[place].clone()
    };
    let text = |text: &str| Cell::Text(text.to_owned());
    let number = |number: f64| Cell::Number(Some(number));
    assert_eq!(lines.len(), 4);
    for (line, station, workload, latency, fetched) in [
        (0, "laptop", "browsing", 200.0, 400),
        (1, "laptop", "voip", 20.0, 400),
        (2, "hall-tv", "4kstream", 80.0, 400),
        (3, "hall-tv", "probe", 3.0, 400),
    ] {
        assert_eq!(
            (cell(line, "hostname"), cell(line, "workload")),
            (text(station), text(workload))
        );
        for name in [
            "latency_min_ms",
            "latency_p50_ms",
            "latency_p99_ms",
            "latency_max_ms",
            "latency_mean_ms",
        ] {
            assert_eq!(cell(line, name), number(latency), "{workload} {name}");
        }
        assert_eq!(cell(line, "fetched"), Cell::Count(fetched));
        assert_eq!(cell(line, "ok_percent"), number(100.0));
        assert_eq!(
            (cell(line, "length_mean_kb"), cell(line, "length_deviation_kb")),
            (number(1.0), number(0.0))
        );
        assert_eq!(
            (cell(line, "elapsed_s"), cell(line, "seed")),
            (number(60.0), Cell::Count(1))
        );
    }
    // 600 tenths of 50 kB, and of 312.5 kB.
    assert_eq!(
        (cell(0, "data_mb"), cell(0, "throughput_mbps")),
        (number(30.0), number(4.0))
    );
    assert_eq!(
        (cell(2, "data_mb"), cell(2, "throughput_mbps")),
        (number(187.5), number(25.0))
    );
    assert_eq!(
        (cell(0, "concurrency"), cell(1, "concurrency")),
        (Cell::Count(10), Cell::Count(8))
    );
    assert_eq!(
        (cell(0, "jitter_ms"), cell(0, "idle_latency_ms")),
        (number(500.0), number(2.0))
    );
    // First and last link sample; −61.49 dBm is −61, and 49 of 70.
    assert_eq!(
        (cell(0, "essid"), cell(0, "bitrate_before_mbps")),
        (text(""), Cell::Number(None))
    );
    assert_eq!(
        (cell(2, "bitrate_before_mbps"), cell(2, "bitrate_after_mbps")),
        (number(300.0), number(150.0))
    );
    assert_eq!(
        (cell(2, "link_quality_before"), cell(2, "frequency_ghz")),
        (number(49.0), number(5.18))
    );
    assert_eq!(cell(2, "ap"), text("02:00:00:00:01:02"));
    assert_eq!(
        cell(2, "link_warning"),
        text("the access point changed; bitrate changed from 300 to 150 Mbit/s")
    );
    let sheet = written(|to| csv::write(&run, to).unwrap());
    assert!(
        sheet.contains(r#""'=my ""net"", home","#),
        "a formula is text, and one field: {sheet}"
    );
    assert_eq!(sheet.matches("\r\n").count(), 1 + 4);
    let document: Value = serde_json::from_str(&written(|to| json::write(&run, to).unwrap())).unwrap();
    assert_eq!(document["lines"][2]["throughput_mbps"], 25.0);
    assert_eq!(
        document["runs"][0]["operations"].as_array().unwrap().len(),
        40 + 4 * 400
    );
    assert_eq!(document["runs"][0]["link"][2]["signal_cdbm"], -6149);
}

/// Pages and streams are no pings, and neither are probes that stop where the load begins.
#[test]
fn a_station_without_a_probe_or_a_call_has_no_ping() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan();
    plan.stations[0].workloads.truncate(1);
    let mut recorder = Recorder::create(&folder.path().join("run"), header(plan)).unwrap();
    let is_call = |row: &Row| matches!(row, Row::Operation(row) if row.station == 0 && row.workload == 1);
    for row in good_rows().iter().filter(|row| !is_call(row)) {
        recorder.put(row).unwrap();
    }
    let run = recorder.finish(&RunStatus::Complete).unwrap();
    for test in [Test::Fair, Test::Downloads] {
        let packed = files(&run, Some(test)).unwrap().remove(0).bytes;
        let file: Value = serde_json::from_reader(flate2::read::GzDecoder::new(&packed[..])).unwrap();
        let names = file["results"].as_object().unwrap().keys();
        let pings: Vec<&str> = names.map(String::as_str).filter(|name| name.contains("ICMP")).collect();
        assert!(
            !pings.is_empty() && !pings.iter().any(|name| name.contains("laptop")),
            "{pings:?}"
        );
        let note = file["metadata"]["NOTE"].as_str().unwrap();
        assert!(note.contains("ping of laptop: none"), "{note}");
    }
}

#[test]
fn flent_series_match_a_calculation_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path());
    let all = files(&run, None).unwrap();
    assert_eq!(all.len(), 1);
    // 1 795 285 800 s since 1970 are 2026-11-21T18:30:00Z.
    assert_eq!(
        all[0].name,
        "rtt_fair_var_down-2026-11-21T183000.000000Z.two-stations.flent.gz"
    );
    let parsed = |test| {
        let mut text = String::new();
        let packed = files(&run, test).unwrap().remove(0).bytes;
        flate2::read::GzDecoder::new(&packed[..])
            .read_to_string(&mut text)
            .unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let fair = parsed(None);
    assert_eq!(fair["version"], 4);
    let metadata = &fair["metadata"];
    assert_eq!(
        (&metadata["LENGTH"], &metadata["DELAY"], &metadata["TOTAL_LENGTH"]),
        (&60.0.into(), &3.0.into(), &66.0.into())
    );
    assert_eq!(
        (&metadata["STEP_SIZE"], &metadata["HOSTS"]),
        (&0.2.into(), &serde_json::json!(["laptop", "hall-tv"]))
    );
    let x = fair["x_values"].as_array().unwrap();
    assert_eq!((x.len(), &x[0], &x[330]), (331, &0.0.into(), &66.0.into()));
    for (name, values) in fair["results"].as_object().unwrap() {
        assert_eq!(values.as_array().unwrap().len(), x.len(), "{name}");
        assert!(!name.contains(':') && fair["raw_values"][name].is_array(), "{name}");
    }
    let down = &fair["results"]["TCP download BE hall-tv"];
    assert_eq!(
        (&down[14], &down[15], &down[314], &down[315]),
        (&Value::Null, &25.0.into(), &25.0.into(), &Value::Null)
    );
    let raw = fair["raw_values"]["TCP download BE laptop"].as_array().unwrap();
    // The first step ends 3.2 s after the file's beginning.
    let first = serde_json::json!({ "t": 1_795_285_803.2, "val": 4.0, "dur": 0.2 });
    assert_eq!((raw.len(), &raw[0]), (300, &first));
    // The laptop's ping is its call: 40 idle probes of 2 ms, then 400 frames of 20 ms, which are not numbered.
    let pings = fair["raw_values"]["Ping (ms) ICMP laptop"].as_array().unwrap();
    assert_eq!(
        (pings.len(), &pings[0]["val"], &pings[40]["val"]),
        (440, &2.0.into(), &20.0.into())
    );
    assert!(pings[40].get("seq").is_none());
    assert!(
        metadata["NOTE"]
            .as_str()
            .unwrap()
            .contains("ping of laptop: latency of its voip")
    );
    // The television's are probes; it had none before the load.
    let pings = fair["raw_values"]["Ping (ms) ICMP hall-tv"].as_array().unwrap();
    let last = serde_json::json!({ "t": 1_795_285_803.0 + 0.1 + 0.14 * 399.0 + 0.003, "val": 3.0, "seq": 399 });
    assert_eq!(pings.len(), 400);
    assert_eq!((&pings[399]["val"], &pings[399]["seq"]), (&last["val"], &last["seq"]));
    assert!((pings[399]["t"].as_f64().unwrap() - last["t"].as_f64().unwrap()).abs() < 1e-5);
    let streams = parsed(Some(Test::Downloads));
    assert_eq!(streams["metadata"]["TEST_PARAMETERS"]["download_streams"], "2");
    assert_eq!(
        streams["raw_values"]["Ping (ms) ICMP"].as_array().unwrap().len(),
        440 + 400
    );
    assert_eq!(streams["raw_values"]["HTTP latency"][0]["val"], 200.0);
    assert_eq!(parsed(Some(Test::Fair))["results"]["TCP upload BE laptop"][15], 0.0);
}

/// Two workloads with the mark EF and one without receive 10, 20 and 5 Mbit/s, one with CS1 sends 8. Steps have 200 ms, so
/// 10 Mbit/s are 250 kB. The probes take 2 ms (EF), 4 ms (first unmarked one) and 9 ms (the second one, as ICMP).
#[test]
fn series_of_rrul_have_the_names_of_their_marks() {
    let marked = |config: Config, dscp| Config {
        dscp: Dscp::new(dscp),
        ..config
    };
    let workloads = [
        ("down-ef", marked(Config::download(), 46)),
        ("more-ef", marked(Config::download(), 46)),
        ("down", Config::download()),
        ("up-bk", marked(Config::upload(), 8)),
        ("probe-ef", marked(Config::probe(), 46)),
        ("probe", Config::probe()),
        ("ping", Config::probe()),
    ];
    let plan = Plan {
        duration: Duration::from_secs(1),
        baseline: Duration::from_secs(1),
        stations: vec![util::station("laptop", &workloads)],
        ..Plan::new("rrul")
    };
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&folder.path().join("run"), header(plan)).unwrap();
    for bin in 0..10 {
        for (workload, mbps) in [(0, 10), (1, 20), (2, 5)] {
            recorder
                .put(&util::interval(0, workload, bin * 100, mbps * 12_500))
                .unwrap();
        }
        recorder
            .put(&Row::Interval(IntervalRow {
                station: 0,
                workload: 3,
                at: ms(bin * 100),
                bytes_down: 0,
                bytes_up: 8 * 12_500,
            }))
            .unwrap();
        for (workload, took) in [(4, 2), (5, 4), (6, 9)] {
            let took = Duration::from_millis(took);
            let row = util::operation(0, workload, bin as u64, ms(bin * 100 + 10), Outcome::Finished, took);
            recorder.put(&row).unwrap();
        }
    }
    let run = recorder.finish(&RunStatus::Complete).unwrap();
    for (test, names) in [
        (
            Test::Rrul,
            [
                ("TCP download EF", 30.0),
                ("TCP download BE", 5.0),
                ("TCP download avg", 17.5),
                ("TCP download sum", 35.0),
                ("TCP upload BK", 8.0),
                ("TCP upload sum", 8.0),
                ("TCP totals", 43.0),
                ("Ping (ms) UDP EF", 2.0),
                ("Ping (ms) UDP BE", 4.0),
                ("Ping (ms) ICMP", 9.0),
                ("Ping (ms) avg", 5.0),
            ],
        ),
        (
            Test::RrulBe,
            [
                ("TCP download BE", 10.0),
                ("TCP download BE2", 20.0),
                ("TCP download BE3", 5.0),
                ("TCP download sum", 35.0),
                ("TCP upload BE", 8.0),
                ("TCP upload avg", 8.0),
                ("TCP totals", 43.0),
                ("Ping (ms) UDP BE1", 2.0),
                ("Ping (ms) UDP BE2", 4.0),
                ("Ping (ms) UDP BE3", 9.0),
                ("Ping (ms) avg", 5.0),
            ],
        ),
    ] {
        let mut text = String::new();
        let packed = files(&run, Some(test)).unwrap().remove(0).bytes;
        flate2::read::GzDecoder::new(&packed[..])
            .read_to_string(&mut text)
            .unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(file["metadata"]["NAME"], test.name());
        for (name, value) in names {
            // The load begins 1 s after the file, and has five steps.
            let values = file["results"][name]
                .as_array()
                .unwrap_or_else(|| panic!("{name}: {text}"));
            let found: Vec<f64> = values[5..10].iter().map(|value| value.as_f64().unwrap()).collect();
            assert_eq!(found, [value; 5], "{name}");
            assert!(values[..5].iter().chain(&values[10..]).all(Value::is_null), "{name}");
        }
    }
}

#[test]
fn an_unreliable_run_is_an_error_and_not_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&folder.path().join("run"), header(plan())).unwrap();
    for row in good_rows() {
        recorder.put(&row).unwrap();
    }
    let run = recorder.finish(&RunStatus::Interrupted).unwrap();
    let text = written(|to| junit::write(&run, to).unwrap());
    assert!(
        text.contains("<testsuites name=\"two-stations\" tests=\"5\" skipped=\"0\" failures=\"0\" errors=\"5\""),
        "{text}"
    );
    assert!(text.contains("timestamp=\"2026-11-21T18:30:00\""), "{text}");
    let metrics = written(|to| openmetrics::write(&run, to).unwrap());
    assert!(
        metrics.contains("netburn_run_verdict=\"inconclusive\"} 1\n"),
        "{metrics}"
    );
    assert!(metrics.ends_with("# EOF\n"));
}

/// An unfinished run is exported from its spool, which gives the same as its finished record.
#[test]
fn an_unfinished_run_is_exported_without_finishing_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut recorder = Recorder::create(&path, header(plan())).unwrap();
    for row in good_rows() {
        recorder.put(&row).unwrap();
    }
    recorder.sync().unwrap();
    drop(recorder);
    let exported = |name: &str| {
        let run = Run::open(&path).unwrap();
        let mut all = vec![
            written(|to| csv::write(&run, to).unwrap()).into_bytes(),
            written(|to| json::write(&run, to).unwrap()).into_bytes(),
            written(|to| junit::write(&run, to).unwrap()).into_bytes(),
            written(|to| openmetrics::write(&run, to).unwrap()).into_bytes(),
        ];
        all.extend(files(&run, None).unwrap().into_iter().map(|file| file.bytes));
        let tables = parquet::write(&run, &folder.path().join(name)).unwrap();
        all.extend(tables.iter().map(|table| std::fs::read(table).unwrap()));
        all
    };
    let before = exported("before");
    assert!(!path.join("run.json").exists());
    assert!(recover(&path).unwrap());
    assert!(exported("after") == before);
}

/// The document of the first file of a run.
fn flent_document(run: &Run, test: Test) -> Value {
    let mut text = String::new();
    let packed = files(run, Some(test)).unwrap().remove(0).bytes;
    flate2::read::GzDecoder::new(&packed[..])
        .read_to_string(&mut text)
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Two stations upload 10 and 30 Mbit/s for a second: steps of 200 ms with 250 and 750 kB. The third one only downloads.
/// Jain's index is 40² / (2 · (10² + 30²)) = 0.8.
#[test]
fn uploads_are_streams_with_their_sum_and_fairness() {
    let up = |name: &str| util::station(name, &[("up", Config::upload())]);
    let plan = Plan {
        duration: Duration::from_secs(1),
        baseline: Duration::from_secs(1),
        stations: vec![
            up("one"),
            util::station("other", &[("down", Config::download())]),
            up("two"),
        ],
        ..Plan::new("uploads")
    };
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&folder.path().join("run"), header(plan)).unwrap();
    for bin in 0..10 {
        for (station, down, up) in [(0, 0, 10), (1, 5, 0), (2, 0, 30)] {
            let row = IntervalRow {
                station,
                workload: 0,
                at: ms(bin * 100),
                bytes_down: down * 12_500,
                bytes_up: up * 12_500,
            };
            recorder.put(&Row::Interval(row)).unwrap();
        }
    }
    let file = flent_document(&recorder.finish(&RunStatus::Complete).unwrap(), Test::Uploads);
    let metadata = &file["metadata"];
    assert_eq!(metadata["NAME"], "tcp_nup");
    assert_eq!(metadata["TEST_PARAMETERS"]["upload_streams"], "2");
    for (name, units, value) in [
        ("TCP upload::1", "Mbits/s", 10.0),
        ("TCP upload::2", "Mbits/s", 30.0),
        ("TCP upload sum", "Mbits/s", 40.0),
        ("TCP upload avg", "Mbits/s", 20.0),
        ("TCP upload fairness", "Idx", 0.8),
    ] {
        let values = file["results"][name].as_array().unwrap();
        assert_eq!(values[5..10], vec![Value::from(value); 5], "{name}");
        assert!(values[..5].iter().chain(&values[10..]).all(Value::is_null), "{name}");
        assert_eq!(metadata["SERIES_META"][name]["UNITS"], units, "{name}");
    }
    let names = file["results"].as_object().unwrap().keys();
    assert!(names.into_iter().all(|name| !name.contains("download")));
}

/// A packet up every 20 ms for 400 ms: 20 packets in two steps. Even ones take 10 ms and odd ones 14 ms, so each
/// consecutive pair differs by 4 ms. Packets 10 to 12 are lost. Packets 0 to 9 arrive within the first 200 ms.
/// Their mean delay is 12 ms. Later arrive 13 to 19: four take 14 ms and three 10 ms, which are 86/7 ms. Of
/// these, 13 has no pair. A packet has 172 bytes: ten in 200 ms are 68.8 kbit/s, seven 48.16. Lost packets count at their
/// due time.
#[test]
fn a_call_has_the_series_of_voip() {
    let call = Config::voice();
    let plan = Plan {
        duration: Duration::from_millis(400),
        baseline: Duration::from_secs(1),
        stations: vec![util::station(
            "laptop",
            &[("browsing", Config::browsing()), ("talk", call)],
        )],
        ..Plan::new("call")
    };
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&folder.path().join("run"), header(plan)).unwrap();
    for number in 0..20_u64 {
        let lost = (10..13).contains(&number);
        let outcome = if lost { Outcome::TimedOut } else { Outcome::Finished };
        let took = Duration::from_millis(if number % 2 == 0 { 10 } else { 14 });
        let due = ms(20 * number as i64);
        // Packets down have odd numbers and don't count.
        for (sequence, took) in [(2 * number, took), (2 * number + 1, Duration::from_millis(50))] {
            let mut row = util::operation(0, 1, sequence, due, outcome, took);
            if let Row::Operation(row) = &mut row {
                row.operation.bytes = if lost { 0 } else { 172 };
            }
            recorder.put(&row).unwrap();
        }
    }
    let run = recorder.finish(&RunStatus::Complete).unwrap();
    let file = flent_document(&run, Test::Voip);
    assert_eq!(file["metadata"]["NAME"], "voip");
    for (name, units, values) in [
        ("VoIP::delay", "ms", [12.0, 86.0 / 7.0]),
        ("VoIP::induced_delay", "ms", [0.0, 86.0 / 7.0 - 12.0]),
        ("VoIP::jitter", "ms", [4.0, 4.0]),
        ("VoIP::loss", "count", [0.0, 3.0]),
        ("VoIP::bitrate", "Kbits/s", [68.8, 48.16]),
    ] {
        // The load begins 1 s after the file.
        let found: Vec<f64> = file["results"][name]
            .as_array()
            .unwrap_or_else(|| panic!("{name} is missing"))
            .iter()
            .filter_map(Value::as_f64)
            .collect();
        assert!(
            !file["results"][name][5].is_null() && !file["results"][name][6].is_null(),
            "{name}"
        );
        assert_eq!(found.len(), 2, "{name}");
        for (found, expected) in found.iter().zip(values) {
            assert!((found - expected).abs() < 1e-6, "{name}: {found}, not {expected}");
        }
        assert_eq!(file["metadata"]["SERIES_META"][name]["UNITS"], units, "{name}");
    }
    let raw = file["raw_values"]["VoIP"].as_array().unwrap();
    assert_eq!(raw.len(), 20);
    // The file begins at 1 795 285 800 s; packet 1 is due 1.02 s later.
    let second = serde_json::json!({ "t": 1_795_285_801.034, "val": 14.0, "seq": 1, "owd_up": 14.0 });
    let lost = serde_json::json!({ "t": 1_795_285_801.2, "seq": 10, "lost": true });
    assert_eq!((&raw[1], &raw[10]), (&second, &lost));
    // The tests with streams have the call, too.
    for test in [Test::Downloads, Test::Uploads, Test::Rrul] {
        let other = flent_document(&run, test);
        assert_eq!(other["metadata"]["TEST_PARAMETERS"]["voip_host"], "server");
        assert_eq!(other["results"]["VoIP::delay"], file["results"]["VoIP::delay"]);
    }
}
