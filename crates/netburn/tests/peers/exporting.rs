//! Exports, each opened by an independent tool.

use crate::support::{Bench, SMALL, export, finish, house, simulated, station, test_tools};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The columns of the original netburn, in its order.
const KNOWN: [&str; 28] = [
    "hostname",
    "timestamp",
    "interface",
    "ESSID",
    "frequency",
    "AP",
    "bitrate before",
    "bitrate after",
    "link quality before",
    "link quality after",
    "link warning",
    "elapsed s",
    "concurrency",
    "pages fetched",
    "data fetched MB",
    "mean page length KB",
    "percent OK",
    "page length deviation KB",
    "throughput Mbit/s",
    "max latency ms",
    "99% latency ms",
    "95% latency ms",
    "90% latency ms",
    "75% latency ms",
    "median latency ms",
    "min latency ms",
    "mean latency ms",
    "jitter interval ms",
];

/// The path of a program in the Python environment of `scripts/install-test-needs`.
pub(crate) fn tool(name: &str) -> PathBuf {
    let path = test_tools().join("bin").join(name);
    assert!(
        path.exists(),
        "{} is missing: scripts/install-test-needs",
        path.display()
    );
    path
}

/// Runs a Python script that prints a JSON document.
#[track_caller]
fn python(bench: &Bench, script: &str, args: &[&Path]) -> Value {
    let mut command = Command::new(tool("python"));
    command.arg("-c").arg(script).args(args);
    finish(bench.prepared(command)).expect(0).json()
}

#[test]
fn a_csv_file_has_the_columns_of_the_original_netburn() {
    let bench = Bench::new();
    let summary = simulated(&bench, SMALL, &[]);
    export(&bench, "csv", &["--out", "run.csv"]);
    let read = "import csv, json, sys; print(json.dumps(list(csv.reader(open(sys.argv[1], newline='')))))";
    let rows = python(&bench, read, &[&bench.path("run.csv")]);
    let row = |number: usize| rows[number].as_array().unwrap();
    let heading: Vec<&str> = row(0).iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(heading[..KNOWN.len()], KNOWN);
    let cell = |number: usize, name: &str| {
        let place = heading.iter().position(|known| *known == name).unwrap();
        row(number)[place].as_str().unwrap()
    };
    assert_eq!(rows.as_array().unwrap().len(), 1 + 2);
    for (number, name) in [(1, "caller"), (2, "reader")] {
        let of = &station(&summary, name)["workloads"][0];
        assert_eq!((cell(number, "hostname"), cell(number, "run")), (name, "run"));
        assert_eq!(cell(number, "timestamp"), "", "virtual time has no date");
        let near = |column: &str, expected: &Value| {
            let got: f64 = cell(number, column).parse().unwrap();
            let expected = expected.as_f64().unwrap();
            assert!(
                (got - expected).abs() <= 0.0005 + 1e-9,
                "{name} {column}: {got} and {expected}"
            );
        };
        near("throughput Mbit/s", &of["throughput_mbps"]);
        near("max latency ms", &of["latency_ms"]["max"]);
        near("median latency ms", &of["latency_ms"]["p50"]);
        near("min latency ms", &of["latency_ms"]["min"]);
        near("pages fetched", &of["latency_ms"]["count"]);
        near("percent OK", &100.0.into());
        near("elapsed s", &3.0.into());
    }
    // Objects of 16 KiB, one every 131 ms: 22 or 23 of them in 3 s. Mbit/s are the MB of 3 s, times 8, divided by 3.
    assert_eq!(cell(1, "mean page length KB"), "16.384");
    assert_eq!(
        (cell(1, "page length deviation KB"), cell(1, "concurrency")),
        ("0.000", "8")
    );
    let (data, rate): (f64, f64) = (
        cell(1, "data fetched MB").parse().unwrap(),
        cell(1, "throughput Mbit/s").parse().unwrap(),
    );
    assert!((data * 8.0 / 3.0 - rate).abs() < 0.002, "{data} MB at {rate} Mbit/s");
    // −60 dBm is 50 of 70.
    assert_eq!(
        (cell(1, "link quality before"), cell(1, "link quality after")),
        ("50.000", "50.000")
    );
}

/// A call that fills a hop of 1 Mbit/s and fails, with names that XML has to quote.
const HOPELESS: &str = r#"
title = "<b>\"hopeless\"</b> & slow"
duration = "10 s"
baseline = "1 s"
drain = "1 s"
[server]
link = { rate = "900 kbit/s" }
[ap.home]
[ap.home.radio.5g]
standard = "802.11n"
[station.caller]
joins = "home.5g"
signal = "-60 dBm"
workload = ["voip", "probe"]
[station.idler]
joins = "home.5g"
signal = "-60 dBm"
"#;

#[test]
fn goals_become_junit_test_cases() {
    let bench = Bench::new();
    let summary = simulated(&bench, HOPELESS, &[]);
    assert_eq!(summary["verdict"], "fail");
    export(&bench, "junit", &["--out", "run.xml"]);
    let read = "
import json, sys
from junitparser import JUnitXml
print(json.dumps([[s.name, s.tests, s.failures, s.errors, s.skipped,
                   [[c.classname, c.name, [type(r).__name__ for r in c.result]] for c in s]] for s in JUnitXml.fromfile(sys.argv[1])]))";
    let suites = python(&bench, read, &[&bench.path("run.xml")]);
    let expected = serde_json::json!([
        ["scenario", 1, 0, 0, 0, [["scenario", "measurement is reliable", []]]],
        [
            "scenario.caller",
            1,
            1,
            0,
            0,
            [["scenario.caller.voip", "latency ≤ 150 ms", ["Failure"]]]
        ],
        ["scenario.idler", 1, 0, 0, 1, [["scenario.idler", "goals", ["Skipped"]]]],
    ]);
    assert_eq!(suites, expected);
}

#[test]
fn an_independent_parser_reads_the_metrics_and_the_dashboard_uses_them() {
    let bench = Bench::new();
    let hostile = house("3 s", "1 s").replace("duration", "title = \"a \\\"b\\\" \\\\ c\"\nduration");
    let summary = simulated(&bench, &hostile, &[]);
    export(&bench, "openmetrics", &["--out", "run.txt"]);
    let read = "
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = text_string_to_metric_families(open(sys.argv[1]).read())
print(json.dumps([[s.name, s.labels, s.value] for f in families for s in f.samples]))";
    let samples = python(&bench, read, &[&bench.path("run.txt")]);
    let samples = samples.as_array().unwrap();
    let value = |name: &str, labels: &[(&str, &str)]| {
        let found: Vec<f64> = samples
            .iter()
            .filter(|s| s[0] == name && labels.iter().all(|(label, value)| s[1][label] == *value))
            .map(|s| s[2].as_f64().unwrap())
            .collect();
        assert_eq!(found.len(), 1, "{name} {labels:?}");
        found[0]
    };
    let caller = station(&summary, "caller");
    let near = |got: f64, expected: &Value, scale: f64| {
        let expected = expected.as_f64().unwrap() * scale;
        assert!(
            (got - expected).abs() <= 1e-9 * expected.abs().max(1.0),
            "{got} and {expected}"
        );
    };
    let of = [
        ("station", "caller"),
        ("scenario", "scenario"),
        ("environment", "simulate"),
    ];
    near(
        value("netburn_station_throughput_bits_per_second", &of),
        &caller["throughput_mbps"],
        1e6,
    );
    near(
        value("netburn_station_idle_latency_seconds", &of),
        &caller["idle_latency_ms"],
        1e-3,
    );
    let voip = [("workload", "voip"), ("quantile", "0.5")];
    near(
        value("netburn_operation_latency_seconds", &voip),
        &caller["workloads"][0]["latency_ms"]["p50"],
        1e-3,
    );
    near(
        value("netburn_goal_met_ratio", &[]),
        &caller["workloads"][0]["goals"][0]["met"],
        1.0,
    );
    let verdict = caller["verdict"].as_str().unwrap();
    assert_eq!(
        value("netburn_station_verdict", &[("netburn_station_verdict", verdict)]),
        1.0
    );
    // Each metric of the dashboard occurs in some run.
    let page = include_str!("../../../../docs/grafana/netburn.json");
    let dashboard: Value = serde_json::from_str(page).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().len() > 5);
    // The families of a run itself, and those of the catalogue of metrics.
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/src");
    let mut source = include_str!("../../../interop/src/export/openmetrics.rs").to_owned();
    let mut open = vec![record.join("metrics"), record.join("kinds")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            source += &std::fs::read_to_string(path).unwrap();
        }
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let asked: Vec<&str> = page
        .match_indices("netburn_")
        .map(|(at, _)| page[at..].split(|c| !is_name(c)).next().unwrap())
        .collect();
    assert!(asked.len() > 8);
    for name in asked {
        let family = name.trim_end_matches("_total").trim_end_matches("_info");
        assert!(source.contains(&format!("\"{family}\"")), "{name} is not exported");
    }
}

/// The text and the chart of flent. It exits with 0 after errors too, so the files are examined.
fn flent(bench: &Bench, args: &[&str]) -> String {
    let mut command = Command::new(tool("flent"));
    // Its settings and the cache of matplotlib stay in the test's folder.
    command
        .args(args)
        .env("MPLBACKEND", "Agg")
        .env("HOME", bench.path("home"));
    let ended = finish(bench.prepared(command)).expect(0);
    ended.out() + &ended.stderr
}

#[test]
fn flent_plots_an_exported_run_and_netburn_imports_it() {
    let bench = Bench::new();
    let scenario = house("20 s", "2 s").replace("[\"voip\", \"probe\"]", "[\"voip\", \"probe\", \"download\"]");
    let summary = simulated(&bench, &scenario, &[]);
    std::fs::create_dir(bench.path("home")).unwrap();
    let mut files = Vec::new();
    for (test, plots) in [
        ("rtt_fair_var_down", &["totals", "ping_cdf", "box_combine"][..]),
        ("tcp_ndown", &["totals", "ping_cdf", "box_totals"]),
    ] {
        export(&bench, "flent", &["--test", test, "--out", test]);
        let mut made = std::fs::read_dir(bench.path(test))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let file = made.next().unwrap();
        assert!(made.next().is_none());
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(name, format!("{test}-2000-01-01T000000.000000Z.scenario.flent.gz"));
        let file = file.to_string_lossy().into_owned();
        for plot in plots {
            let drawn = format!("{test}-{plot}.png");
            let printed = flent(&bench, &["-i", &file, "-p", plot, "-o", &drawn, "--fallback-layout"]);
            let size = std::fs::metadata(bench.path(&drawn)).map_or(0, |facts| facts.len());
            // An empty frame with its heading and axes is about 15 kB.
            assert!(size > 20_000, "{drawn} has {size} bytes: {printed}");
        }
        let printed = flent(&bench, &["-i", &file]);
        for wanted in ["Ping (ms) ICMP", "TCP download", "Mbits/s"] {
            assert!(printed.contains(wanted), "{printed}");
        }
        files.push(file);
    }
    // The imported rates, round trips and losses are those of the run.
    let folder = finish(bench.netburn(["import", &files[0], "--out", "again"]))
        .expect(0)
        .out();
    assert_eq!(folder.trim_end(), "again");
    let again = finish(bench.netburn(["report", "again", "--format", "json"]))
        .expect(0)
        .json();
    assert_eq!(
        (&again["environment"], &again["duration_s"]),
        (&"imported".into(), &20.0.into())
    );
    let (was, is) = (station(&summary, "caller"), station(&again, "caller"));
    let near = |one: &Value, other: &Value, what: &str| {
        let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
        assert!(
            (one - other).abs() <= 1e-3 * one.abs() + 1e-3,
            "{what}: {one} and {other}"
        );
    };
    let of = |station: &Value, kind: &str| {
        let all = station["workloads"].as_array().unwrap();
        all.iter().find(|workload| workload["kind"] == kind).unwrap().clone()
    };
    near(&was["throughput_mbps"], &is["throughput_mbps"], "throughput");
    near(&was["idle_latency_ms"], &is["idle_latency_ms"], "idle");
    let (was, is) = (of(was, "probe"), of(is, "probe"));
    for metric in ["p50", "p90", "p99", "max", "count"] {
        near(&was["latency_ms"][metric], &is["latency_ms"][metric], metric);
    }
    // Text and JSON name the source of an import.
    let report = finish(bench.netburn(["report", "again"])).expect(0).out();
    assert!(report.starts_with("imported: measured by another program"), "{report}");
}

/// A caller, and a station that browses and downloads, share a hop of 20 Mbit/s.
fn busy(duration: &str) -> String {
    let reader =
        "\n[station.reader]\njoins = \"home.5g\"\nsignal = \"-65 dBm\"\nworkload = [\"browsing\", \"download\"]\n";
    house(duration, "1 s") + reader
}

/// The queries of the page.
fn queries() -> Vec<&'static str> {
    let page = include_str!("../../../../docs/how-to/export-and-import.md");
    let blocks = page.split("```sql\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    blocks
        .flat_map(|block| block.split_inclusive(";\n"))
        .map(str::trim)
        .filter(|query| !query.is_empty())
        .collect()
}

#[test]
fn duckdb_runs_the_queries_of_the_page() {
    let bench = Bench::new();
    let summary = simulated(&bench, &busy("8 s"), &["--repeat", "2"]);
    export(&bench, "parquet", &["--out", "tables"]);
    let asked = serde_json::to_string(&queries()).unwrap();
    bench.write("queries.json", asked);
    let ask = "
import duckdb, json, os, sys
os.chdir(sys.argv[2])
answers = []
for query in json.load(open(sys.argv[1])):
    answer = duckdb.sql(query)
    answers.append([answer.columns, answer.fetchall()])
count = duckdb.sql(\"select count(*), count(distinct run) from 'tables/operations.parquet'\").fetchall()
print(json.dumps([answers, count]))";
    let answers = python(&bench, ask, &[&bench.path("queries.json"), &bench.path("")]);
    let (answers, count) = (&answers[0], &answers[1][0]);
    assert_eq!(answers.as_array().unwrap().len(), 4);
    let rows = |query: usize| answers[query][1].as_array().unwrap();
    // One line for each of two runs and four workloads. The median is that of the run's summary.
    let lines = rows(0);
    assert_eq!(lines.len(), 2 * 4);
    for run in summary["repeats"].as_array().unwrap() {
        let probe = &station(run, "caller")["workloads"][1];
        let found = |line: &&Value| line[1] == "probe" && line[3] == probe["latency_ms"]["p50"];
        assert!(lines.iter().any(|line| found(&line)), "{lines:?}");
    }
    // The hop's rate limits the bytes of a second. A burst may have been queued before it.
    let seconds = rows(1);
    assert!(seconds.len() >= 2 * 2 * 8, "{seconds:?}");
    for second in seconds {
        let rate = second[3].as_f64().unwrap();
        assert!((0.0..25.0).contains(&rate), "{second}");
    }
    assert_eq!(rows(2).len(), 2 * 3, "downloads of 1 GiB don't end");
    // Pages that took longer than half a second, the slowest first.
    let pages = rows(3);
    assert!(
        pages
            .iter()
            .all(|page| page[1] == "reader" && page[3].as_f64().unwrap() > 500.0),
        "{pages:?}"
    );
    // No row is lost.
    let mut kept = 0;
    for run in ["run/1", "run/2"] {
        let document = std::fs::read(bench.path(run).join("run.json")).unwrap();
        let document: Value = serde_json::from_slice(&document).unwrap();
        kept += document["tables"]["operations"]["rows"].as_u64().unwrap();
    }
    assert_eq!((&count[0], &count[1]), (&kept.into(), &2.into()));
    let itself = finish(bench.netburn(["export", "run/1", "--to", "parquet", "--out", "run/1"])).expect(2);
    assert!(itself.stderr.contains("is the record itself"), "{}", itself.stderr);
}

/// Fields of a capture's packets, read by tshark.
fn tshark(bench: &Bench, file: &str, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.env("HOME", bench.path("home"));
    command.args(["-r", file, "-Y", filter, "-T", "fields"]);
    command.args(["-o", "ip.check_checksum:TRUE"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let ended = finish(bench.prepared(command)).expect(0);
    let line = |line: &str| line.split('\t').map(str::to_owned).collect();
    ended.out().lines().map(line).collect()
}

#[test]
fn tshark_reads_the_packets_of_a_simulated_run() {
    let bench = Bench::new();
    simulated(&bench, &busy("3 s"), &[]);
    std::fs::create_dir(bench.path("home")).unwrap();
    let printed = export(&bench, "pcapng", &["--out", "packets"]).stderr;
    assert!(
        !printed.contains("note:"),
        "the run is simulated again as it was: {printed}"
    );
    let document: Value = export(&bench, "json", &[]).json();
    let run = &document["runs"][0];
    // Every answered probe is two datagrams at the station. Their distance is the recorded round trip.
    let probes = tshark(
        &bench,
        "packets/station-caller.pcapng",
        "udp",
        &["frame.time_epoch", "ip.src", "frame.len", "ip.checksum.status"],
    );
    let mut latency: Vec<i64> = run["operations"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["station"] == "caller" && row["outcome"] == "finished" && row["remote_sent"].is_i64())
        .map(|row| row["finished"].as_i64().unwrap() - row["due"].as_i64().unwrap())
        .collect();
    assert_eq!(probes.len(), 2 * latency.len());
    assert!(latency.len() > 20);
    let seconds = |packet: &[String]| packet[0].parse::<f64>().unwrap();
    let mut sent: std::collections::VecDeque<f64> = std::collections::VecDeque::new();
    let mut took: Vec<i64> = Vec::new();
    for packet in &probes {
        assert_eq!(
            (packet[2].as_str(), packet[3].as_str()),
            ("92", "1"),
            "64 bytes in a good packet"
        );
        match packet[1].as_str() {
            "198.18.0.1" => took.push(((seconds(packet) - sent.pop_front().unwrap()) * 1e6).round() as i64),
            _ => sent.push_back(seconds(packet)),
        }
    }
    latency.sort_unstable();
    took.sort_unstable();
    for (got, expected) in took.iter().zip(&latency) {
        assert!((got - expected / 1000).abs() <= 2, "{got} and {expected}");
    }
    // An independent reader finds valid connections: handshakes, and no gap without a loss.
    let opened = tshark(
        &bench,
        "packets/station-reader.pcapng",
        "tcp.flags.syn == 1",
        &["tcp.stream", "tcp.flags.ack"],
    );
    assert!(opened.len() >= 2 * 11, "a page of ten and a download: {}", opened.len());
    let content = tshark(
        &bench,
        "packets/station-reader.pcapng",
        "tcp.len > 0 && ip.src == 198.18.0.1",
        &["tcp.len"],
    );
    let bytes: u64 = content.iter().map(|packet| packet[0].parse::<u64>().unwrap()).sum();
    let moved: u64 = run["intervals"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["station"] == "reader")
        .filter_map(|row| row["bytes_down"].as_u64())
        .sum();
    // Headers of answers and retransmissions are added to the content.
    assert!(
        bytes >= moved && bytes < moved + moved / 10,
        "{bytes} on the wire, {moved} of content"
    );
    let bad = "tcp.analysis.ack_lost_segment || _ws.malformed";
    assert_eq!(tshark(&bench, "packets/server.pcapng", bad, &["frame.number"]).len(), 0);
    // The airtime agrees with the record.
    let air = tshark(
        &bench,
        "packets/air.pcapng",
        "wlan",
        &["wlan.ta", "wlan.ra", "radiotap.length"],
    );
    let sent: u64 = run["airtime"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["transmissions"].as_u64())
        .sum();
    // One may be in flight at the end.
    assert!(
        (air.len() as u64..=air.len() as u64 + 1).contains(&sent),
        "{} of {sent}",
        air.len()
    );
    assert!(
        air.iter()
            .all(|frame| frame[0].starts_with("02:00:00:00:") && frame[0] != frame[1])
    );
}

/// Six seconds of the built-in scenarios. Each plot of these tests names its series in the configuration of flent.
#[test]
fn flent_plots_its_own_load_as_its_own_test() {
    for (test, scenario) in [
        ("rrul", include_str!("../../../../scenarios/rrul.toml")),
        ("rrul_be", include_str!("../../../../scenarios/rrul-be.toml")),
        ("rrul_be", include_str!("../../../../scenarios/rrul-house.toml")),
    ] {
        let bench = Bench::new();
        let scenario = scenario
            .replace("duration = \"60 s\"", "duration = \"6 s\"")
            .replace("baseline = \"5 s\"", "baseline = \"1 s\"");
        simulated(&bench, &scenario, &[]);
        std::fs::create_dir(bench.path("home")).unwrap();
        export(&bench, "flent", &["--test", test, "--out", "plots"]);
        let mut made = std::fs::read_dir(bench.path("plots"))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let file = made.next().unwrap().to_string_lossy().into_owned();
        for plot in ["all_scaled", "totals", "ping_cdf", "box_combine"] {
            let drawn = format!("{plot}.png");
            let printed = flent(&bench, &["-i", &file, "-p", plot, "-o", &drawn, "--fallback-layout"]);
            let size = std::fs::metadata(bench.path(&drawn)).map_or(0, |facts| facts.len());
            // An empty frame with its heading and axes is about 15 kB.
            assert!(size > 20_000, "{test}: {drawn} has {size} bytes: {printed}");
        }
        let printed = flent(&bench, &["-i", &file]);
        for wanted in [
            "TCP download sum",
            "TCP upload sum",
            "TCP totals",
            "Ping (ms) ICMP",
            "Ping (ms) avg",
        ] {
            assert!(printed.contains(wanted), "{test}: {printed}");
        }
    }
}

/// flent's MOS of a file, computed from its packets.
const MOS: &str = "
import json, sys
from flent.combiners import MosReducer
from flent.resultset import load
print(json.dumps(MosReducer(None, None, None).reduce(load(sys.argv[1]), {'data': 'VoIP'})))
";

/// A caller uploads beside another station. flent's MOS of the call is the one of netburn's summary, which uses the same
/// formula.
#[test]
fn flent_plots_uploads_and_a_call() {
    let bench = Bench::new();
    let scenario = house("20 s", "1 s").replace("[\"voip\", \"probe\"]", "[\"voice\", \"probe\", \"upload\"]")
        + "\n[station.sender]\njoins = \"home.5g\"\nsignal = \"-65 dBm\"\nworkload = \"upload\"\n";
    let summary = simulated(&bench, &scenario, &[]);
    std::fs::create_dir(bench.path("home")).unwrap();
    for (test, plots, wanted) in [
        (
            "tcp_nup",
            &["totals", "upload", "box_totals", "voip_mos_upload"][..],
            &["TCP upload sum", "TCP upload::2", "VoIP::delay"][..],
        ),
        (
            "voip",
            &["voip_delay", "voip_delay_cdf", "voip_loss", "voip_induced_delay"],
            &["VoIP::delay", "VoIP::jitter", "VoIP::loss", "VoIP::bitrate"],
        ),
    ] {
        export(&bench, "flent", &["--test", test, "--out", test]);
        let mut made = std::fs::read_dir(bench.path(test))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let path = made.next().unwrap();
        let file = path.to_string_lossy().into_owned();
        for plot in plots {
            let drawn = format!("{test}-{plot}.png");
            let printed = flent(&bench, &["-i", &file, "-p", plot, "-o", &drawn, "--fallback-layout"]);
            let size = std::fs::metadata(bench.path(&drawn)).map_or(0, |facts| facts.len());
            assert!(size > 12_000, "{drawn} has {size} bytes: {printed}");
        }
        let printed = flent(&bench, &["-i", &file]);
        for wanted in wanted {
            assert!(printed.contains(wanted), "{test}: {printed}");
        }
        let mos = python(&bench, MOS, &[&path]).as_f64().unwrap();
        let workloads = station(&summary, "caller")["workloads"].as_array().unwrap();
        let call = workloads.iter().find(|workload| workload["kind"] == "voice").unwrap();
        let own = call["voice"]["up"]["mos_flent"].as_f64().unwrap();
        assert!((mos - own).abs() <= 1e-3, "{test}: flent {mos}, netburn {own}");
    }
}
