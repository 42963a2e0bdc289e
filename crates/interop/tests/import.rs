//! Import of flent's files: values by hand, real files if available, and invalid files.

use flate2::Compression;
use flate2::write::GzEncoder;
use netburn_interop::import::UnpackError;
use netburn_interop::import::flent::{FlentError, read};
use netburn_interop::import::record;
use netburn_record::{Environment, Run};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::PathBuf;

/// 2025-10-09T08:53:20Z.
const T0: f64 = 1_760_000_000.0;

/// Two hosts in three phases: five seconds idle, ten seconds of load, five seconds idle. Each host uploads at 8 Mbit/s
/// in stretches of 0.25 s. Each sends a ping every 0.5 s; the answer takes 10 ms idle and 40 ms under load. The fourth
/// loaded ping of `b` is lost.
fn small() -> Value {
    let pings = |host: &str| -> Vec<Value> {
        (0..40)
            .filter(|number| !(host == "b" && *number == 13))
            .map(|number| {
                let due = f64::from(number) * 0.5;
                let ms = if (5.0..15.0).contains(&due) { 40.0 } else { 10.0 };
                json!({ "t": T0 + due + ms / 1e3, "val": ms, "seq": f64::from(number + 1) })
            })
            .collect()
    };
    let upload: Vec<Value> = (1..=40)
        .map(|number| json!({ "t": T0 + 5.0 + f64::from(number) * 0.25, "val": 8.0, "dur": 0.25 }))
        .collect();
    let x: Vec<f64> = (0..=100).map(|step| f64::from(step) * 0.2).collect();
    let nothing: Vec<Value> = vec![Value::Null; x.len()];
    json!({
        "version": 4,
        "metadata": {
            "NAME": "rtt_fair_up", "TITLE": "Two hosts", "T0": "2025-10-09T08:53:20.000000Z", "TIME": "2025-10-09T08:53:20.000000Z",
            "HOST": "a", "HOSTS": ["b", "a"], "LOCAL_HOST": "box", "LENGTH": 10, "TOTAL_LENGTH": 20, "STEP_SIZE": 0.2,
            "FLENT_VERSION": "1.2", "KERNEL_NAME": "Linux", "KERNEL_RELEASE": "4.4", "SERIES_META": {},
        },
        "x_values": x,
        "results": { "TCP upload BE1 b": nothing, "TCP upload sum": nothing },
        "raw_values": {
            "TCP upload BE1 b": upload, "TCP upload BE2 a": upload, "Ping (ms) ICMP1 b": pings("b"), "Ping (ms) ICMP2 a": pings("a"),
            "cpu_stats_a": [{ "t": T0, "val": 0.5, "load": 0.1 }],
        },
    })
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

#[test]
fn values_match_a_calculation_by_hand() {
    let bytes = packed(small().to_string().as_bytes());
    let imported = read(&bytes, "small.flent.gz").unwrap();
    assert_eq!(
        imported,
        read(small().to_string().as_bytes(), "small.flent.gz").unwrap(),
        "packed or not"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    record(&path, &imported).unwrap();
    let run = Run::open(&path).unwrap();
    let source = run.header().source.clone().unwrap();
    assert_eq!(
        (source.program.as_str(), source.test.as_str(), source.version.as_str()),
        ("flent", "rtt_fair_up", "1.2")
    );
    assert_eq!(source.left_out[0], "the series `cpu_stats_a`");
    // Ten of each host's pings are due after the load: 30 to 39.
    assert_eq!(source.left_out[1], "20 values after the end of the load");
    assert_eq!(run.header().environment, Environment::Imported);
    assert_eq!(run.header().started.unwrap().0, 1_760_000_005_000_000_000);
    let summary = run.summary();
    assert!(summary.self_check.ok && summary.reasons.is_empty());
    assert_eq!(
        (summary.title.as_deref(), summary.duration_s),
        (Some("Two hosts"), 10.0)
    );
    let names: Vec<&str> = summary.stations.iter().map(|station| station.name.as_str()).collect();
    assert_eq!(names, ["b", "a"], "in the order of HOSTS");
    for (station, lost) in summary.stations.iter().zip([0.05, 0.0]) {
        assert_eq!(station.idle_latency_ms, Some(10.0));
        assert_eq!(station.throughput_mbps, 8.0);
        let [probe, upload] = &station.workloads[..] else {
            panic!("{:?}", station.workloads);
        };
        assert_eq!((probe.name.as_str(), upload.name.as_str()), ("probe", "upload"));
        assert_eq!((probe.operations, probe.latency_ms.p50), (20, Some(40.0)));
        assert_eq!(probe.probe.unwrap().lost_share, Some(lost));
    }
}

#[test]
fn interpolated_values_replace_missing_raw_values() {
    let mut file = small();
    file["raw_values"] = json!({});
    let rate: Vec<Value> = (0..=100)
        .map(|step| {
            if (25..75).contains(&step) {
                json!(6.0)
            } else {
                Value::Null
            }
        })
        .collect();
    file["results"] = json!({ "TCP download::1": rate });
    let imported = read(file.to_string().as_bytes(), "f").unwrap();
    let source = imported.header.source.clone().unwrap();
    assert!(source.left_out[0].contains("interpolated"), "{:?}", source.left_out);
    let folder = tempfile::tempdir().unwrap();
    let run = record(&folder.path().join("run"), &imported).unwrap();
    // 50 steps of 0.2 s, the first of which lies before the load: 49 × 1.2 Mbit in 10 s.
    let got = run.summary().stations[0].throughput_mbps;
    assert!((got - 5.88).abs() < 1e-6, "{got}");
    assert_eq!(run.summary().stations[0].name, "box");
}

#[test]
fn unreadable_files_have_an_error() {
    let text = small().to_string();
    let told = |text: &str| read(text.as_bytes(), "f").unwrap_err().to_string();
    assert!(told("").contains("incomplete JSON"));
    assert!(told("{]}").contains("invalid JSON: "));
    assert!(!told("{]}").contains("truncated"));
    assert!(told("[1]").contains("not a flent data file"));
    assert!(told("{}").contains("missing `metadata`"));
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut file = small();
        change(&mut file);
        told(&file.to_string())
    };
    assert!(changed(&|file| file["version"] = json!(5)).contains("found 5"));
    assert!(changed(&|file| file["metadata"]["LENGTH"] = json!("ten")).contains("missing `metadata.LENGTH`"));
    assert!(changed(&|file| file["metadata"]["LENGTH"] = json!(-1)).contains("LENGTH is -1 s"));
    assert!(changed(&|file| file["results"]["TCP upload BE1 b"] = json!([1])).contains("1 values, expected 101"));
    let other = changed(&|file| {
        file["metadata"]["NAME"] = json!("qdisc-stats");
        file["results"] = json!({});
        file["raw_values"] = json!({ "qdisc_stats": [] });
    });
    assert!(
        other.contains("`qdisc-stats`") && other.contains("`qdisc_stats`"),
        "{other}"
    );
    // A file that is truncated at any byte, compressed or not, is rejected.
    for cut in (0..text.len()).step_by(97) {
        read(&text.as_bytes()[..cut], "f").unwrap_err();
    }
    let bytes = packed(text.as_bytes());
    for cut in 1..bytes.len() {
        let error = read(&bytes[..cut], "f").unwrap_err();
        assert!(
            cut < 3 || matches!(error, FlentError::Unpack(UnpackError::Packed { .. })),
            "{cut}: {error}"
        );
    }
}

/// The file with another text for its start, imported.
fn started_at(t0: &str, version: u64) -> Result<netburn_interop::import::Imported, FlentError> {
    let mut file = small();
    file["version"] = json!(version);
    file["metadata"]["T0"] = json!(t0);
    read(file.to_string().as_bytes(), "f")
}

/// Format 2 has local time. The same instants in UTC and in other time zones are the same run.
#[test]
fn a_start_in_local_time_is_converted_to_utc() {
    let utc = started_at("2025-10-09T08:53:20.000000Z", 4).unwrap();
    // UTC, Berlin in summer (+2 h), Kathmandu (+5:45), St. John's in summer (-2:30) and Honolulu (-10 h).
    for local in [
        "09T08:53:20",
        "09T10:53:20",
        "09T14:38:20",
        "09T06:23:20",
        "08T22:53:20",
    ] {
        let imported = started_at(&format!("2025-10-{local}.000000"), 2).unwrap();
        assert_eq!(imported, utc, "{local}");
    }
}

/// T0 has a date that is far from all values.
#[test]
fn a_file_whose_values_are_all_outside_the_run_is_an_error() {
    // Two hosts with 40 rates each, and 79 pings.
    for (t0, side) in [
        ("2025-10-11T08:53:20Z", "found 159 values before the start of the run"),
        ("2025-10-07T08:53:20Z", "found 159 values after the end of the load"),
    ] {
        let error = started_at(t0, 4).unwrap_err();
        assert!(matches!(error, FlentError::Empty { .. }), "{error}");
        assert!(error.to_string().contains(side), "{error}");
    }
    let mut file = small();
    file["raw_values"] = json!({});
    let error = read(file.to_string().as_bytes(), "f").unwrap_err().to_string();
    assert!(error.ends_with("found no value"), "{error}");
}

#[test]
fn values_on_both_sides_of_the_run_are_counted() {
    let mut file = small();
    let far = |t: f64| json!({ "t": t, "val": 8.0, "dur": 0.25 });
    let mut rates = vec![far(T0 - 100.0), far(T0 - 90.0), far(T0 + 99.0)];
    rates.push(json!({ "t": T0 + 6.0, "val": -1.0, "dur": 0.25 }));
    rates.push(json!({ "t": T0 + 6.0, "val": 8.0, "dur": 0.25 }));
    file["raw_values"]["TCP upload BE1 b"] = json!(rates);
    let left_out = read(file.to_string().as_bytes(), "f")
        .unwrap()
        .header
        .source
        .unwrap()
        .left_out;
    // Twenty pings are due after the load.
    assert_eq!(
        left_out[1..],
        [
            "2 values before the start of the run",
            "21 values after the end of the load",
            "1 value outside the plausible range"
        ]
    );
}

#[test]
fn files_of_other_programs_are_named() {
    let speedtest = json!({ "type": "result", "ping": {}, "download": {}, "upload": {}, "isp": "" });
    for (bytes, expected) in [
        (speedtest.to_string().into_bytes(), "a result of Ookla's speedtest"),
        (
            packed(speedtest.to_string().as_bytes()),
            "a result of Ookla's speedtest",
        ),
        (b"a;b;c\n1;2;3\n".to_vec(), "a CSV table"),
        (b"Dear reader,\n".to_vec(), "text of another program"),
        (b"[1, 2]".to_vec(), "JSON of another program"),
        (b"\x0a\x0d\x0d\x0a\x1c\0\0\0".to_vec(), "a packet capture"),
        (b"\x89PNG\r\n\x1a\n\0\0\0".to_vec(), "binary data"),
        (b"".to_vec(), "an empty file"),
        (b" \n".to_vec(), "an empty file"),
    ] {
        let error = netburn_interop::import::read(&bytes, "f").unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("this is {expected}; netburn imports ")),
            "{error}"
        );
        assert!(error.contains("a data file of flent"), "{error}");
    }
}

/// Files that others made with flent in 2016, if they are next to the checkout.
fn real() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("../../../shared/data/flent");
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".flent.gz"));
    paths.sort();
    paths
}

/// Medians and rates compared with those that this test computes from the file itself.
#[test]
fn real_files_have_their_documented_values() {
    for path in real() {
        let bytes = std::fs::read(&path).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let imported = read(&bytes, &path.file_name().unwrap().to_string_lossy()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let run = record(&folder.path().join("run"), &imported).unwrap();
        // T0 is close to the time at which the first ping with number 1 was sent, according to the
        // second host's first one.
        let zero = imported.header.started.unwrap().0 as f64 / 1e9;
        let hosts = file["metadata"]["HOSTS"].as_array().unwrap();
        assert_eq!(
            run.summary().stations.len(),
            2,
            "each of the two hosts stands twice in {hosts:?}"
        );
        for (station, host) in run.summary().stations.iter().zip(hosts) {
            // `server` is a reserved name, so that the import numbers it.
            let host = host.as_str().unwrap();
            let expected = if host == "server" { "server-2" } else { host };
            assert_eq!(station.name, expected, "in the order of HOSTS");
            let number = |point: &Value, key: &str| point[key].as_f64().unwrap();
            for (kind, prefix) in [("probe", "Ping (ms) ICMP"), ("upload", "TCP upload BE")] {
                let mut names: Vec<&String> = file["raw_values"].as_object().unwrap().keys().collect();
                names.retain(|name| name.starts_with(prefix) && name.ends_with(&format!(" {host}")));
                let ours: Vec<_> = station.workloads.iter().filter(|w| w.kind == kind).collect();
                assert_eq!((names.len(), ours.len()), (2, 2), "{kind} of {}", station.name);
                names.sort();
                for (name, got) in names.iter().zip(ours) {
                    let points = file["raw_values"][*name].as_array().unwrap();
                    if kind == "probe" {
                        let loaded = |point: &&Value| {
                            let due = number(point, "t") - number(point, "val") / 1e3 - zero;
                            (0.0..30.0).contains(&((due * 1e6).round() / 1e6))
                        };
                        let mut ms: Vec<f64> = points.iter().filter(loaded).map(|point| number(point, "val")).collect();
                        ms.sort_by(f64::total_cmp);
                        assert_eq!(
                            got.latency_ms.count - got.latency_ms.unbounded,
                            ms.len() as u64,
                            "{name}"
                        );
                        let median = ms[ms.len().div_ceil(2) - 1];
                        let p50 = got.latency_ms.p50.unwrap();
                        // Losses rank above all, so that the median is at most a few places off.
                        assert!(
                            p50 >= median - 1e-3 && p50 <= median * 1.2 + 1e-3,
                            "{name}: {p50} and {median}"
                        );
                    } else {
                        let mbit: f64 = points
                            .iter()
                            .map(|point| {
                                let (to, dur) = (number(point, "t") - zero, number(point, "dur"));
                                let inside = to.min(30.0) - (to - dur).max(0.0);
                                number(point, "val") * inside.max(0.0)
                            })
                            .sum();
                        let rate = got.throughput_mbps;
                        assert!(
                            (rate - mbit / 30.0).abs() < 0.01 * rate + 0.01,
                            "{name}: {rate} and {}",
                            mbit / 30.0
                        );
                    }
                }
            }
        }
    }
}
