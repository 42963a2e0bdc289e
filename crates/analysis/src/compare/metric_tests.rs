use super::*;
use serde_json::{Value, json};

fn latency(count: u64, unbounded: u64, p50: f64, p95: Option<f64>) -> Value {
    json!({ "count": count, "unbounded": unbounded, "min": null, "p50": p50, "p75": null, "p90": null, "p95": p95,
            "p99": null, "max": null })
}

fn direction(lost: f64, delay: &Value, frozen: f64, at_target: f64) -> Value {
    json!({ "packets": 250, "delay_ms": delay, "lost_share": lost, "longest_loss_packets": 1, "mean_loss_packets": null,
            "jitter_ms": null,
            "video": { "freezes": 2, "total_freezes_ms": 1_320.0, "longest_freeze_ms": 1_010.0, "frozen_share": frozen,
                       "rate_mbps": 1.7, "target_mbps": 1.8, "at_target_share": at_target } })
}

/// A station with one workload.
fn summary(workload: &Value) -> Value {
    json!({ "schema": "netburn.summary/1", "run": "r", "scenario": "call", "environment": "local", "seed": 1,
            "duration_s": 10.0, "verdict": "pass", "provisional": false,
            "self_check": { "ok": true, "timer_lateness_us": { "p50": 10.0, "p99": 40.0, "max": 200.0 }, "reasons": [] },
            "totals": { "throughput_mbps": 3.5, "airtime_jain": 0.9 },
            "stations": [{ "name": "laptop", "verdict": "pass", "throughput_mbps": 3.5, "airtime_share": null,
                           "idle_latency_ms": 2.0, "workloads": [workload] }],
            "repeats": [], "intervals": {} })
}

fn video_call() -> Value {
    let mut workload = json!({ "name": "talk", "kind": "video-call", "verdict": "pass", "provisional": false, "operations": 500,
            "goal_misses": 0, "failures": 0, "unfinished": 0, "throughput_mbps": 3.5,
            "latency_ms": latency(500, 1, 31.0, Some(42.0)),
            "goals": [{ "goal": "no freeze", "kind": "no_freeze", "met": 0.87, "excess": null, "verdict": "fail", "samples": 99 }] });
    workload["streams"] = json!({
        "up": direction(0.0, &latency(250, 0, 30.0, Some(40.0)), 0.01, 0.8),
        // 20 of 250 were never complete, so the 95th percentile is among them.
        "down": direction(0.08, &latency(250, 20, 32.0, None), 0.12, 0.9),
    });
    summary(&workload)
}

/// The value at a path of a summary, with stations and workloads by name and goals by number.
fn at_path<'a>(document: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(document, |value, part| match value {
        Value::Array(items) => match part.parse::<usize>() {
            Ok(number) => &items[number],
            Err(_) => items.iter().find(|item| item["name"] == part).unwrap(),
        },
        value => &value[part],
    })
}

/// Direction of improvement and unit of a metric of the station.
fn better(document: &Value, path: &str) -> (Better, Unit) {
    let summary: Summary = serde_json::from_value(document.clone()).unwrap();
    let path = format!("stations.laptop.{path}");
    let (key, _) = metrics(&summary)
        .into_iter()
        .find(|(key, _)| key.path() == path)
        .unwrap();
    (key.better(), key.unit())
}

fn by_path(document: &Value) -> Vec<(String, f64)> {
    let summary: Summary = serde_json::from_value(document.clone()).unwrap();
    let metrics = metrics(&summary).into_iter();
    metrics.map(|(key, value)| (key.path(), value)).collect()
}

#[test]
fn a_video_call_has_metrics_of_both_directions() {
    let document = video_call();
    let found = by_path(&document);
    let talk = |rest: &str| format!("stations.laptop.workloads.talk.{rest}");
    let expected = [
        (talk("latency_ms.p50"), 31.0),
        (talk("latency_ms.p95"), 42.0),
        (talk("goals.0.met"), 0.87),
        (talk("streams.up.lost_share"), 0.0),
        (talk("streams.up.delay_ms.p95"), 40.0),
        (talk("streams.up.video.frozen_share"), 0.01),
        (talk("streams.up.video.at_target_share"), 0.8),
        (talk("streams.down.lost_share"), 0.08),
        (talk("streams.down.delay_ms.p95"), f64::INFINITY),
        (talk("streams.down.video.frozen_share"), 0.12),
        (talk("streams.down.video.at_target_share"), 0.9),
        ("stations.laptop.throughput_mbps".to_owned(), 3.5),
        ("stations.laptop.idle_latency_ms".to_owned(), 2.0),
        ("totals.throughput_mbps".to_owned(), 3.5),
        ("totals.airtime_jain".to_owned(), 0.9),
    ];
    assert_eq!(found, expected);
    // Each path is that of the value in the summary.
    for (path, value) in found.iter().filter(|(_, value)| value.is_finite()) {
        assert_eq!(at_path(&document, path).as_f64(), Some(*value), "{path}");
    }
}

/// Less delay and fewer freezes are better; more frames at the target rate are.
#[test]
fn metrics_of_a_video_call_have_a_direction_of_improvement() {
    for direction in ["up", "down"] {
        let better = |metric: &str| better(&video_call(), &format!("workloads.talk.streams.{direction}.{metric}"));
        assert_eq!(better("delay_ms.p95"), (Better::Lower, Unit::Ms));
        assert_eq!(better("video.frozen_share"), (Better::Lower, Unit::Share));
        assert_eq!(better("video.at_target_share"), (Better::Higher, Unit::Share));
    }
}

/// The bit rate of adaptive streaming is compared, and more is better. The times of its segments are not.
#[test]
fn adaptive_streaming_has_its_bit_rate() {
    let mut film = json!({ "name": "film", "kind": "dash", "verdict": "pass", "provisional": false, "operations": 8,
            "goal_misses": 0, "failures": 0, "unfinished": 0, "throughput_mbps": 2.9,
            "latency_ms": latency(8, 0, 900.0, None), "goals": [] });
    film["segments"] = json!({ "complete": 8, "mean_mbps": 2.75, "lowest_mbps": 1.0, "highest_mbps": 4.0,
            "at_highest_share": 0.5, "switches": 4 });
    let document = summary(&film);
    let found = by_path(&document);
    let film = "stations.laptop.workloads.film";
    assert!(
        found.contains(&(format!("{film}.segments.mean_mbps"), 2.75)),
        "{found:?}"
    );
    assert!(
        !found
            .iter()
            .any(|(path, _)| path.starts_with(&format!("{film}.latency_ms")))
    );
    assert_eq!(
        better(&document, "workloads.film.segments.mean_mbps"),
        (Better::Higher, Unit::Mbps)
    );
}
