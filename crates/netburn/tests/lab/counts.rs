//! Counters of a run, compared with those of the kernel.

use crate::support::{Bench, Ended, LOOPBACK_UP, finish};
use netburn_record::row::BASELINE;
use netburn_record::{Row, Run};
use netburn_units::Instant;
use netburn_workload::Outcome;
use serde_json::Value;
use std::collections::BTreeMap;

/// Runs a scenario in its own network namespace, without other traffic. Afterwards it prints the kernel's counters to
/// standard output.
fn counted(bench: &Bench, args: &[&str]) -> (Ended, Kernel) {
    let script = format!("{LOOPBACK_UP} \"$@\" >out; code=$?; cat /proc/net/dev /proc/net/snmp; exit $code");
    let ended = finish(bench.inside(&["--net"], &script, args));
    assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
    let kernel = Kernel::read(&ended.out());
    (ended, kernel)
}

/// The kernel's counters of a network namespace: `/proc/net/dev` of `lo`, and `/proc/net/snmp`.
#[derive(Debug)]
struct Kernel {
    bytes: u64,
    packets: u64,
    snmp: BTreeMap<String, u64>,
}

impl Kernel {
    fn read(text: &str) -> Self {
        let lo = text.lines().find_map(|line| line.trim().strip_prefix("lo:")).unwrap();
        let lo: Vec<u64> = lo.split_whitespace().map(|n| n.parse().unwrap()).collect();
        let mut snmp = BTreeMap::new();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2) {
            // A line of names, then a line of values. Both begin with the protocol.
            let (names, values) = (pair[0].split_whitespace(), pair[1].split_whitespace());
            let protocol = pair[0].split(':').next().unwrap();
            if pair[1].starts_with(&format!("{protocol}:")) {
                for (name, value) in names.zip(values).skip(1) {
                    if let Ok(value) = value.parse() {
                        snmp.insert(format!("{protocol}{name}"), value);
                    }
                }
            }
        }
        // Loopback receives the bytes that it sends.
        Kernel {
            bytes: lo[0],
            packets: lo[1],
            snmp,
        }
    }

    /// Payload bytes: bytes on the interface minus the headers of IPv4 (20) and of TCP with timestamps (32). UDP
    /// headers are 24 bytes shorter and SYNs 8 bytes longer: a difference of less than 1 % here.
    fn payload(&self) -> f64 {
        self.bytes as f64 - 52.0 * self.packets as f64
    }
}

#[test]
fn four_workloads_move_as_many_bytes_as_the_kernel_counts_within_1_percent() {
    let bench = Bench::new();
    let set = "server.link.rate=60 Mbit/s";
    let args = [
        "run",
        "four-uses",
        "--on",
        "local",
        "--duration",
        "5s",
        "--format",
        "json",
        "--out",
        "saved",
        "--set",
        set,
    ];
    let (ended, kernel) = counted(&bench, &args);
    let summary: Value = serde_json::from_slice(&std::fs::read(bench.path("out")).unwrap()).unwrap();
    // A machine that is too busy moves less, and the self-check reports it.
    let reliable = ended.code() == 0;
    check_summary(&summary, reliable);

    let mut bytes = 0;
    Run::open(&bench.path("saved"))
        .unwrap()
        .rows(&mut |row| {
            if let Row::Interval(row) = row {
                bytes += row.bytes_down + row.bytes_up;
            }
        })
        .unwrap();
    // Content is nearly all of it. Requests and answers have headers of some hundred bytes for each 16 KiB and more,
    // and the results add some hundred kB. At 60 Mbit/s, 5 s are up to 37.5 MB. The 5 s of `drain` are as much.
    let ratio = bytes as f64 / kernel.payload();
    assert!(bytes > 10_000_000 || !reliable, "{bytes} bytes");
    // 1 % of 10 MB is the bound for the rest if less was moved.
    let rest = kernel.payload() - bytes as f64;
    assert!(
        ratio <= 1.001 && (ratio >= 0.99 || rest <= 100_000.0),
        "{bytes} bytes of content, {kernel:?}: {ratio}"
    );
}

/// Checks the fields of the summary that users rely on.
fn check_summary(summary: &Value, reliable: bool) {
    assert_eq!(summary["schema"], "netburn.summary/1");
    assert_eq!(
        (&summary["scenario"], &summary["environment"]),
        (&"four-uses".into(), &"local".into())
    );
    assert_eq!(summary["duration_s"], 5.0);
    assert!(["pass", "marginal", "fail", "inconclusive"].contains(&summary["verdict"].as_str().unwrap()));
    assert!(summary["self_check"]["ok"].is_boolean() && summary["self_check"]["timer_lateness_us"]["p99"].is_number());
    assert!(summary["totals"]["throughput_mbps"].as_f64().unwrap() > 20.0 || !reliable);
    let stations = summary["stations"].as_array().unwrap();
    let uses: Vec<&str> = stations
        .iter()
        .map(|s| s["workloads"][0]["name"].as_str().unwrap())
        .collect();
    for name in ["browsing", "4kstream", "voip", "download"] {
        assert!(uses.contains(&name), "{uses:?}");
    }
    for station in stations {
        assert!(
            station["idle_latency_ms"].as_f64().is_some_and(|ms| ms > 0.0),
            "{station:#}"
        );
        let workload = &station["workloads"][0];
        for field in [
            "kind",
            "verdict",
            "provisional",
            "operations",
            "goal_misses",
            "failures",
            "unfinished",
        ] {
            assert!(!workload[field].is_null(), "{field}: {workload:#}");
        }
        for field in ["count", "min", "p50", "p75", "p90", "p95", "p99", "max"] {
            assert!(workload["latency_ms"].get(field).is_some(), "{field}: {workload:#}");
        }
    }
    // A call falls due every 131 ms: 38 calls in 5 s, or 39 with an early phase.
    let voip = stations.iter().find(|s| s["workloads"][0]["name"] == "voip").unwrap();
    let operations = voip["workloads"][0]["operations"].as_u64().unwrap();
    assert!((37..=39).contains(&operations), "{operations} calls");
}

#[test]
fn operations_are_as_many_as_the_kernel_counts_within_1_percent() {
    let bench = Bench::new();
    bench.write(
        "many.toml",
        r#"
        duration = "5s"
        baseline = "2s"
        [server]
        link = { rate = "100 Mbit/s" }
        [workload.pages]
        kind = "pages"
        objects = 10
        object_size = "1KiB"
        interval = "50ms"
        jitter = "0s"
        connections = "new"
        [workload.echo]
        kind = "probe"
        interval = "5ms"
        [station.reader]
        workload = ["pages", "echo"]
        "#,
    );
    let (ended, kernel) = counted(&bench, &["run", "many.toml", "--out", "saved"]);
    let (mut objects, mut datagrams) = (0, 0);
    Run::open(&bench.path("saved"))
        .unwrap()
        .rows(&mut |row| {
            if let Row::Operation(row) = row
                && row.operation.started.is_some()
                && !matches!(row.operation.outcome, Outcome::NotStarted)
            {
                match row.workload {
                    0 => objects += 10,
                    1 | BASELINE => datagrams += 1,
                    other => panic!("workload {other}"),
                }
            }
        })
        .unwrap();
    // Each object opens a connection, and so do the agent and the server to the controller. Each probe is one datagram
    // in each direction, after a handshake. The bound is 1 % of the 1,000 that are due. A busy machine does fewer, and the
    // self-check reports it.
    let dialled = kernel.snmp["TcpActiveOpens"] as f64;
    let enough = objects >= 300 && datagrams >= 300;
    assert!(
        objects <= 1010 && (enough || ended.code() == 3),
        "{objects} objects, {datagrams} probes"
    );
    let objects = f64::from(objects);
    assert!(
        (objects - dialled).abs() <= 10.0,
        "{objects} objects, {dialled} connections"
    );
    // A datagram that finds a full receive buffer is counted as sent, and has no echo.
    let (sent, dropped) = (kernel.snmp["UdpOutDatagrams"], kernel.snmp["UdpRcvbufErrors"]);
    let (least, most) = (sent as f64 / 2.0 - 10.0, (sent + dropped) as f64 / 2.0 + 10.0);
    assert!(
        (least..=most).contains(&f64::from(datagrams)),
        "{datagrams} probes, {sent} datagrams sent, {dropped} dropped"
    );
}

/// Of 1538 bytes on the wire (with Ethernet's preamble, FCS and gap), 1448 are content: IPv4 has 20 bytes, and TCP with
/// timestamps has 32. So 6 Mbit/s carry 5.65 Mbit/s. What waits in the station does not count.
#[test]
fn uploads_count_no_faster_than_their_line() {
    let bench = Bench::new();
    let text = |http: &str, tls: bool| {
        format!(
            "duration = \"5 s\"\nbaseline = \"2 s\"\ndrain = \"1 s\"\nserver = {{ http = \"{http}\", tls = {tls} }}\n\
             [station.s]\nlink = {{ rate = \"6 Mbit/s\", delay = \"6 ms\" }}\nworkload = \"up\"\n\
             [workload.up]\nkind = \"upload\"\nstreams = 4\n"
        )
    };
    for (http, tls) in [("1.1", false), ("1.1", true), ("2", false), ("2", true)] {
        let folder = format!("saved-{http}-{tls}");
        bench.write("up.toml", text(http, tls));
        let ended = finish(bench.netburn(["run", "up.toml", "--on", "lab", "--out", &folder]));
        assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
        let mut bytes = 0;
        let run = Run::open(&bench.path(&folder)).unwrap();
        run.rows(&mut |row| {
            // The uploads continue while the run drains.
            if let Row::Interval(row) = row
                && row.at < Instant::from_millis(5_000)
            {
                bytes += row.bytes_up;
            }
        })
        .unwrap();
        let most = 6e6 / 8.0 * 5.0 * 1448.0 / 1538.0;
        let share = bytes as f64 / most;
        assert!(
            share <= 1.0 && (share >= 0.8 || ended.code() == 3),
            "HTTP/{http}, TLS {tls}: {bytes} bytes of {most}"
        );
    }
}
