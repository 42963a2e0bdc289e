use super::*;
use crate::compare::{Comparison, Options, Origin, Ranking};
use netburn_record::Summary;
use serde_json::{Value, json};
use std::path::Path;

/// A workload of a kind with a throughput.
fn workload(name: &str, kind: &str, mbps: f64) -> Value {
    json!({ "name": name, "kind": kind, "verdict": "none", "provisional": false, "operations": 100, "goal_misses": 0,
            "failures": 0, "unfinished": 0, "throughput_mbps": mbps, "goals": [],
            "latency_ms": { "count": 100, "min": 1.0, "p50": 2.0, "p75": 2.0, "p90": 2.0, "p95": 3.0, "p99": null,
                            "max": 9.0, "unbounded": 0 } })
}

fn side(name: &str, environment: &str, workloads: &[Value]) -> Side {
    let mbps: f64 = workloads
        .iter()
        .filter_map(|workload| workload["throughput_mbps"].as_f64())
        .sum();
    let summary: Summary = serde_json::from_value(json!({
        "schema": "netburn.summary/1", "run": "r", "scenario": "s", "environment": environment, "seed": 1,
        "duration_s": 10.0, "verdict": "none", "provisional": false,
        "self_check": { "ok": true, "timer_lateness_us": { "p50": 10.0, "p99": 40.0, "max": 200.0 }, "reasons": [] },
        "totals": { "throughput_mbps": mbps, "airtime_jain": null },
        "stations": [{ "name": "laptop", "verdict": "none", "throughput_mbps": mbps, "airtime_share": null,
                       "idle_latency_ms": 2.0, "workloads": workloads }],
        "repeats": [], "intervals": {} }))
    .unwrap();
    let mut side = Side::new(name);
    let origin = match environment {
        "imported" => Origin::Program("program".to_owned()),
        _ => Origin::Netburn,
    };
    side.add_summary_of(Path::new(name), &summary, None, origin);
    side
}

/// Paths of what is compared, and names with reasons of what is not.
fn compared(these: &Side, against: &Side) -> (Vec<String>, Vec<(String, Incomparable)>) {
    let comparison = Comparison::new(these.clone(), against.clone(), Options::default());
    let paths = comparison.metrics.iter().map(|metric| metric.key.path()).collect();
    let name = |not: &NotCompared| {
        let parts: Vec<&str> = [&not.station, &not.workload]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        (parts.join("."), not.reason)
    };
    (paths, comparison.not_compared.iter().map(name).collect())
}

#[test]
fn throughput_of_tcp_is_not_compared_with_that_of_udp() {
    let tcp = side("tcp", "imported", &[workload("upload", "upload", 20.0)]);
    let mut udp = tcp.clone();
    udp.methods.insert("laptop", "upload", Method::Udp);
    let (paths, not) = compared(&tcp, &udp);
    let throughput = |path: &&String| path.contains("throughput");
    assert_eq!(paths.iter().find(throughput), None, "{paths:?}");
    let reason = Incomparable::Methods([Method::Tcp, Method::Udp]);
    assert!(not.contains(&("laptop".to_owned(), reason)), "{not:?}");
    assert!(not.contains(&(String::new(), reason)), "{not:?}");
    // The same program and protocol.
    assert_eq!(compared(&udp, &udp).1, []);
    let (paths, not) = compared(&tcp, &tcp);
    assert!(paths.iter().any(|path| path.contains("throughput")) && not.is_empty());
    // A side that measured none.
    let idle = side("irtt", "imported", &[workload("probe", "probe", 0.0)]);
    let (paths, not) = compared(&tcp, &idle);
    assert!(!paths.iter().any(|path| path.contains("throughput")), "{paths:?}");
    assert!(not.contains(&(String::new(), Incomparable::NoThroughput)), "{not:?}");
}

#[test]
fn round_trips_are_compared_by_protocol_and_load() {
    let udp = side("irtt", "imported", &[workload("probe", "probe", 0.0)]);
    let mut icmp = udp.clone();
    icmp.methods.insert("laptop", "probe", Method::Icmp);
    let (paths, not) = compared(&icmp, &udp);
    assert!(!paths.iter().any(|path| path.contains("latency_ms.p50")), "{paths:?}");
    let reason = Incomparable::Methods([Method::Icmp, Method::Udp]);
    assert!(not.contains(&("laptop.probe".to_owned(), reason)), "{not:?}");
    assert!(
        not.contains(&("laptop".to_owned(), Incomparable::NoThroughput)),
        "{not:?}"
    );
    // With a load, and without.
    let loaded = side(
        "crusader",
        "imported",
        &[workload("probe", "probe", 0.0), workload("download", "download", 30.0)],
    );
    let (_, not) = compared(&loaded, &udp);
    assert!(
        not.contains(&("laptop.probe".to_owned(), Incomparable::Load)),
        "{not:?}"
    );
    assert_eq!(compared(&loaded, &loaded).1, []);
}

#[test]
fn runs_of_netburn_are_always_compared() {
    let idle = side("a", "fleet", &[workload("probe", "probe", 0.0)]);
    let loaded = side(
        "b",
        "fleet",
        &[workload("probe", "probe", 0.0), workload("download", "download", 30.0)],
    );
    assert_eq!(compared(&idle, &loaded).1, []);
}

#[test]
fn a_ranking_leaves_out_the_same_metrics() {
    let tcp = side("tcp", "imported", &[workload("upload", "upload", 20.0)]);
    let mut udp = tcp.clone();
    udp.methods.insert("laptop", "upload", Method::Udp);
    let ranking = Ranking::new(vec![tcp.clone(), tcp, udp], Options::default());
    assert!(!ranking.keys().any(|key| key.path().contains("throughput")));
    assert!(!ranking.not_compared.is_empty());
}

/// Runs of netburn are always compared with each other, so that the imported side has to be compared with each of them.
#[test]
fn a_ranking_does_not_depend_on_the_order_of_its_sides() {
    let probe = || workload("probe", "probe", 0.0);
    let idle = side("idle", "fleet", &[probe()]);
    let loaded = side("loaded", "fleet", &[probe(), workload("download", "download", 30.0)]);
    let imported = side("imported", "imported", &[probe()]);
    let ranked = |sides: [&Side; 3]| {
        let ranking = Ranking::new(sides.map(Clone::clone).to_vec(), Options::default());
        let paths: Vec<String> = ranking.keys().map(Key::path).collect();
        (paths, ranking.not_compared)
    };
    let first = ranked([&idle, &loaded, &imported]);
    let named = |not: &NotCompared| not.workload.as_deref() == Some("probe") && not.reason == Incomparable::Load;
    assert!(first.1.iter().any(named), "{first:?}");
    for sides in [
        [&imported, &idle, &loaded],
        [&loaded, &imported, &idle],
        [&loaded, &idle, &imported],
    ] {
        assert_eq!(ranked(sides), first);
    }
}

#[test]
fn a_ranking_without_metrics_has_no_mean_rank() {
    let mut unknown = side("unknown", "imported", &[workload("probe", "probe", 0.0)]);
    unknown.origins.insert(Origin::Unknown);
    let ranking = Ranking::new(vec![unknown.clone(), unknown.clone(), unknown], Options::default());
    assert_eq!(ranking.metrics, []);
    assert!(ranking.standings.iter().all(|standing| standing.mean_rank.is_none()));
}

#[test]
fn runs_of_different_protocols_on_one_side_are_mixed() {
    let tcp = side(
        "tcp",
        "imported",
        &[workload("upload", "upload", 20.0), workload("ping", "probe", 0.0)],
    );
    let mut mixed = tcp.clone();
    mixed.methods.insert("laptop", "upload", Method::Tcp);
    mixed.methods.insert("laptop", "upload", Method::Udp);
    let mut udp = tcp.clone();
    udp.methods.insert("laptop", "upload", Method::Udp);
    for other in [&tcp, &udp, &mixed] {
        let (paths, not) = compared(&mixed, other);
        assert!(!paths.iter().any(|path| path.contains("throughput")), "{paths:?}");
        for name in ["", "laptop"] {
            assert!(not.contains(&(name.to_owned(), Incomparable::Mixed)), "{name}: {not:?}");
        }
    }
}

#[test]
fn idle_latencies_of_different_programs_are_not_compared() {
    let one = side("crusader", "imported", &[workload("probe", "probe", 0.0)]);
    let mut other = one.clone();
    other.origins = [Origin::Program("networkQuality".to_owned())].into();
    let (paths, not) = compared(&one, &other);
    assert!(!paths.iter().any(|path| path.ends_with("idle_latency_ms")), "{paths:?}");
    assert!(not.contains(&("laptop".to_owned(), Incomparable::Programs)), "{not:?}");
    let (paths, _) = compared(&one, &one);
    assert!(paths.iter().any(|path| path.ends_with("idle_latency_ms")), "{paths:?}");
    // netburn is another program, too.
    let own = side("own", "fleet", &[workload("probe", "probe", 0.0)]);
    let (_, not) = compared(&own, &one);
    assert!(not.contains(&("laptop".to_owned(), Incomparable::Programs)), "{not:?}");
}

#[test]
fn a_summary_that_does_not_name_its_program_is_not_compared() {
    let known = side("run", "imported", &[workload("upload", "upload", 20.0)]);
    let mut unknown = known.clone();
    unknown.origins = [Origin::Unknown].into();
    for (these, against) in [(&known, &unknown), (&unknown, &known)] {
        let (paths, not) = compared(these, against);
        assert_eq!(paths, [""; 0]);
        assert!(
            not.contains(&("laptop".to_owned(), Incomparable::UnknownProgram)),
            "{not:?}"
        );
    }
    let mut read = Side::new("file");
    read.add_summary(Path::new("file"), &known.runs[0], None);
    assert_eq!(read.origins, unknown.origins);
}

/// A table with probes of a test of responsiveness has no load, although they ran beside one.
#[test]
fn probes_of_responsiveness_are_under_load() {
    let table = side("table", "imported", &[workload("self-down", "pages", 0.0)]);
    let document = side(
        "document",
        "imported",
        &[
            workload("self-down", "pages", 0.0),
            workload("download", "download", 30.0),
        ],
    );
    let (paths, not) = compared(&table, &document);
    assert!(
        paths.iter().any(|path| path.contains("self-down.latency_ms")),
        "{paths:?}"
    );
    assert!(!not.iter().any(|(_, reason)| *reason == Incomparable::Load), "{not:?}");
}
