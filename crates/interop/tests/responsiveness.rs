//! Import of tables of goresponsiveness and of `networkQuality -c`. The tables have the format of the results in
//! goresponsiveness's repository (December 2022), the document the keys of macOS 14 and 27. The values are chosen by hand.

use netburn_interop::import::{FileError, ImportError, read, record};
use netburn_record::Run;
use serde_json::{Value, json};

const PROBES: &str = "Time of the generation of the data point., The number of round trips measured by this data point., \
    The duration for this measurement., The underlying connection's RTT at probe time., \
    The underlying connection's congestion window at probe time., The type of the probe., \n";
const RATES: &str =
    "Time of the generation of the data point., Instantaneous throughput (B/s)., Number of parallel connections., \n";

fn run(bytes: &[u8], file: &str) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    let run = record(&folder.path().join("run"), &read(bytes, file).unwrap()).unwrap();
    (folder, run)
}

/// Median latency of each workload in ms.
fn medians(run: &Run) -> Vec<(String, f64)> {
    let workloads = run.summary().stations[0].workloads.iter();
    workloads
        .map(|workload| (workload.name.clone(), workload.latency_ms.p50.unwrap_or(f64::NAN)))
        .collect()
}

#[test]
fn probes_have_their_times_by_type() {
    let row =
        |second: &str, seconds: &str, kind: &str| format!("12-21-2022-22-27-{second},1, {seconds},0.018,10, {kind},\n");
    let mut table = PROBES.to_owned();
    // Not in the order of their times, as goresponsiveness writes them.
    for (second, seconds, kind) in [
        ("04.637", "0.020", "SelfUp"),
        ("04.637", "0.050", "SelfDown"),
        ("06.738", "0.040", "SelfUp"),
        ("05.738", "0.030", "SelfUp"),
        ("04.838", "0.070", "SelfDown"),
        ("04.938", "0.060", "SelfDown"),
    ] {
        // A percentile needs several values.
        table += &row(second, seconds, kind).repeat(7);
    }
    let (_folder, run) = run(table.as_bytes(), "self.csv");
    assert_eq!(
        medians(&run),
        [("self-down".to_owned(), 60.0), ("self-up".to_owned(), 30.0)]
    );
    // Older tables have no type; a foreign probe has three round trips.
    let old: String = PROBES.replace(" The type of the probe.,", "");
    let row = "12-21-2022-22-27-04.637,3, 0.09,0.018,10,\n".repeat(21);
    let table = format!("{old}{row}");
    let (_folder, run) = self::run(table.as_bytes(), "foreign.csv");
    assert_eq!(medians(&run), [("foreign".to_owned(), 90.0)]);
}

#[test]
fn a_rate_covers_the_time_since_the_previous_row() {
    // 1 s of 1 MB/s, 2 s of 2 MB/s, 1 s of 4 MB/s: 9 MB in 4 s are 18 Mbit/s.
    let table = format!(
        "{RATES}12-31-2022-23-59-58.500,1e+06, 1, \n01-01-2023-00-00-00.500,2e+06, 2, \n01-01-2023-00-00-01.500,4.0e+06, 3, \n"
    );
    for (file, name) in [
        ("x-throughput-download-1.csv", "download"),
        ("x-throughput-upload-1.csv", "upload"),
    ] {
        let (_folder, run) = run(table.as_bytes(), file);
        let workload = &run.summary().stations[0].workloads[0];
        assert_eq!(workload.name, name);
        assert!(
            (workload.throughput_mbps - 18.0).abs() < 1e-6,
            "{}",
            workload.throughput_mbps
        );
    }
    let error = read(table.as_bytes(), "rates.csv").unwrap_err().to_string();
    assert!(
        error.contains("expected `throughput-download` or `throughput-upload`"),
        "{error}"
    );
}

fn error(bytes: &[u8], file: &str) -> (&'static str, FileError) {
    match read(bytes, file) {
        Err(ImportError::File { tool, error }) => (tool, error),
        other => panic!("{other:?}"),
    }
}

#[test]
fn invalid_rows_are_named() {
    let row = "12-21-2022-22-27-04.637,1, 0.02,0.018,10, SelfUp,\n";
    for (wrong, right) in [
        ("12-21-2022-22-27-04.637", "2022-12-21-22-27-04.637"),
        ("12-21-2022", "13-21-2022"),
        ("0.02,", "-0.02,"),
        ("0.02,", "NaN,"),
        ("0.02,", "1e9,"),
        ("0.02,", ","),
        ("SelfUp", "Other"),
        ("1, 0.02,0.018,10, SelfUp,", ""),
        ("22-27-04.637", "99-27-04.637"),
    ] {
        let table = format!("{PROBES}{row}{}", row.replace(wrong, right));
        let found = error(table.as_bytes(), "self.csv");
        assert!(
            matches!(&found, ("goresponsiveness", FileError::Value { place, .. }) if place == "line 3"),
            "{right}: {found:?}"
        );
    }
    assert!(matches!(error(PROBES.as_bytes(), "self.csv"), (_, FileError::Empty(_))));
    let other = "Time of the generation of the data point., Other., \n";
    assert!(matches!(error(other.as_bytes(), "self.csv"), (_, FileError::Format(_))));
    // Far apart: the second row is two days later.
    let table = format!("{PROBES}{row}{}", row.replace("12-21", "12-23"));
    assert!(matches!(
        error(table.as_bytes(), "self.csv"),
        (_, FileError::Value { .. })
    ));
}

fn document() -> Value {
    json!({
        "base_rtt": 17.8, "responsiveness": 215.5, "dl_flows": 10, "ul_flows": 14,
        "dl_throughput": 361_439_456, "ul_throughput": 319_803_552,
        "start_date": "2026-10-07 04:25:59.000", "end_date": "2026-10-07 04:26:20.500",
        "il_h2_req_resp": [12.0, 14.0, 16.0], "il_tcp_handshake_443": [13, 12], "il_tls_handshake": [19, 23],
        "lud_foreign_h2_req_resp": [40, 62, 31], "lud_foreign_tcp_handshake_443": [14, 42],
        "lud_self_h2_req_resp": [29, 66, 21], "os_version": "Version 27.2 (Build 26B5101f)",
        "test_endpoint": "edge.example.com", "other": {"protocols_seen": {"h2": 457}},
    })
}

#[test]
fn network_quality_has_its_rates_and_latencies() {
    let mut document = document();
    for key in ["lud_foreign_h2_req_resp", "lud_self_h2_req_resp", "il_h2_req_resp"] {
        // A percentile needs several values.
        let values = vec![document[key].as_array().unwrap().clone(); 7].concat();
        document[key] = Value::Array(values);
    }
    let (_folder, run) = run(document.to_string().as_bytes(), "nq.json");
    let station = &run.summary().stations[0];
    for (name, rate) in [("download", 361.439456), ("upload", 319.803552)] {
        let workload = station.workloads.iter().find(|workload| workload.name == name).unwrap();
        assert!(
            (workload.throughput_mbps - rate).abs() < 1e-3,
            "{name}: {}",
            workload.throughput_mbps
        );
    }
    assert_eq!(
        medians(&run)[2..],
        [("foreign-request".to_owned(), 40.0), ("self".to_owned(), 29.0)]
    );
    assert_eq!(station.idle_latency_ms, Some(14.0));
    let source = run.header().source.as_ref().unwrap();
    assert!(
        source
            .left_out
            .iter()
            .any(|what| what.contains("216 round trips per minute")),
        "{source:?}"
    );
    assert_eq!(run.header().host.os, "macOS 27.2 (Build 26B5101f)");
}

/// With `-s`, the upload follows the download. The test has 21.5 s, of which the download has 8 s, or half in whole tenths.
#[test]
fn sequential_loads_follow_each_other() {
    let sequential = |length: Option<f64>| {
        let mut document = document();
        let values = vec![document["lud_foreign_h2_req_resp"].take().as_array().unwrap().clone(); 7].concat();
        for key in [
            "lud_foreign_dl_h2_req_resp",
            "lud_foreign_ul_h2_req_resp",
            "lud_self_dl_h2",
            "lud_self_ul_h2",
        ] {
            document[key] = json!(values);
        }
        document["lud_foreign_h2_req_resp"] = json!([]);
        document["dl_phase_duration"] = json!(length);
        run(document.to_string().as_bytes(), "nq.json")
    };
    for (length, split) in [(Some(8.0), 8.0), (None, 10.8)] {
        let (_folder, run) = sequential(length);
        let plan = &run.header().plan;
        assert_eq!(plan.duration.as_millis_f64(), 21_500.0);
        for workload in &plan.stations[0].workloads {
            let (activity, name) = (workload.config.activity, workload.name.as_str());
            let window = [activity.start, activity.stop.unwrap_or(plan.duration)].map(|at| at.as_millis_f64() / 1e3);
            let expected = match name {
                "download" | "foreign-request-down" | "self-down" => [0.0, split],
                "upload" | "foreign-request-up" | "self-up" => [split, 21.5],
                _ => [0.0, 21.5],
            };
            assert_eq!(window, expected, "{name}");
        }
        for (name, rate) in [("download", 361.439456), ("upload", 319.803552)] {
            let workloads = &run.summary().stations[0].workloads;
            let workload = workloads.iter().find(|workload| workload.name == name).unwrap();
            assert!(
                (workload.throughput_mbps - rate).abs() < 1e-3,
                "{name}: {}",
                workload.throughput_mbps
            );
        }
        let medians = medians(&run);
        for name in ["foreign-request-down", "foreign-request-up", "self-down", "self-up"] {
            assert!(medians.contains(&(name.to_owned(), 40.0)), "{medians:?}");
        }
        let left_out = &run.header().source.as_ref().unwrap().left_out;
        let has_note = left_out.iter().any(|what| what.starts_with("the end of the download"));
        assert_eq!(has_note, length.is_none(), "{left_out:?}");
    }
}

#[test]
fn invalid_values_of_network_quality_are_named() {
    let changed = |key: &str, value: Value| {
        let mut document = document();
        document[key] = value;
        error(document.to_string().as_bytes(), "nq.json")
    };
    for (key, value, expected) in [
        ("dl_throughput", json!(-1), "dl_throughput"),
        ("ul_throughput", json!(1e300), "ul_throughput"),
        ("lud_self_h2_req_resp", json!([1, -1]), "lud_self_h2_req_resp[1]"),
        ("end_date", json!("2026-10-07 04:25:58.000"), "start_date and end_date"),
    ] {
        let found = changed(key, value);
        assert!(
            matches!(&found, ("networkQuality", FileError::Value { place, .. }) if place == expected),
            "{found:?}"
        );
    }
    assert!(matches!(
        changed("dl_throughput", json!("fast")),
        (_, FileError::Format(_))
    ));
    let long = changed("lud_self_h2_req_resp", json!(vec![1; 100_001]));
    assert!(long.1.to_string().contains("more than 100000 values"), "{long:?}");
    let failed =
        json!({"end_date": "2024-07-25 20:40:27.073", "error_code": -1009, "error_domain": "NSURLErrorDomain"});
    let (_, failed) = error(failed.to_string().as_bytes(), "nq.json");
    assert_eq!(
        failed.to_string(),
        "no value to import: networkQuality reports the error -1009"
    );
}
