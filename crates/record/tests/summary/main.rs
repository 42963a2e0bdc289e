//! Rules of the summary, each with rows whose result is known by hand.

mod quality_issues;
mod responsiveness;
mod segments;
mod streams;
#[path = "../util/mod.rs"]
mod util;
mod video;
mod voice;

use netburn_record::metrics::{self, Measured, Quantity, Unit};
use netburn_record::{EventKind, OperationRow, Recorder, Role, Row, RunStatus, Sink, Summary};
use netburn_scenario::Plan;
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::config::Activity;
use netburn_workload::{Config, Failure, Goal, Outcome, RemoteTimestamps, Verdict};
use util::{event, header, health, interval, ms, operation, sentences, station};

const SECOND: Duration = Duration::from_secs(1);

fn took(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn plan(workload: &str, config: Config, seconds: u64) -> Plan {
    Plan {
        duration: Duration::from_secs(seconds),
        stations: vec![station("laptop", &[(workload, config)])],
        ..Plan::new("one")
    }
}

/// The summary of a run with healthy participants.
fn summary(plan: Plan, rows: &[Row], status: &RunStatus) -> Summary {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&dir.path().join("run"), header(plan)).unwrap();
    for row in rows {
        recorder.put(row).unwrap();
    }
    recorder.put(&health("agent", Role::Agent, &["laptop"])).unwrap();
    recorder.put(&health("server", Role::Server, &[])).unwrap();
    let run = recorder.finish(status).unwrap();
    assert_eq!(run.summarise().unwrap(), *run.summary());
    metrics_are_at_their_paths(run.summary());
    run.summary().clone()
}

/// Metrics that are computed from several values of the document, and have no place of their own in it.
const COMPUTED: [&str; 2] = ["lost_probes", "lost_probes_share"];

/// The path of a metric leads to its value in the document. Verdicts are words there, and a percentile among operations
/// that never ended is `null`.
fn metrics_are_at_their_paths(summary: &Summary) {
    let check = |document: &serde_json::Value, all: Vec<Measured>| {
        for measured in all {
            let Quantity { name, path, unit, .. } = measured.quantity;
            let place = match measured.goal {
                Some(goal) => format!("/goals/{goal}/{path}"),
                None => format!("/{}", path.replace('.', "/")),
            };
            if *unit != Unit::Verdict && !COMPUTED.contains(name) {
                let found = document.pointer(&place).and_then(serde_json::Value::as_f64);
                let value = measured.value.filter(|value| value.is_finite());
                assert_eq!(found, value, "the metric `{name}` is not at `{path}` of the summary");
            }
        }
    };
    for station in &summary.stations {
        check(&serde_json::to_value(station).unwrap(), metrics::of_station(station));
        for workload in &station.workloads {
            check(&serde_json::to_value(workload).unwrap(), metrics::of_workload(workload));
        }
    }
}

fn pages(rows: &[Row]) -> Summary {
    summary(plan("browsing", Config::browsing(), 60), rows, &RunStatus::Complete)
}

fn page(sequence: u64, outcome: Outcome, ms_taken: u64) -> Row {
    operation(0, 0, sequence, ms(1000 * sequence as i64), outcome, took(ms_taken))
}

fn close(found: Option<f64>, expected: f64, within: f64) {
    assert!(
        found.is_some_and(|found| (found - expected).abs() <= within),
        "{found:?} is not {expected}"
    );
}

/// 100 pages, of which 88 are loaded in 200 ms and 10 in 600 ms. One fails and one never ends. The goal of 500 ms is
/// met by 88 of 100. Of those that ended, the worst took 1.2 times as long.
#[test]
fn failed_and_unfinished_operations_are_misses_and_rank_last() {
    let mut rows: Vec<Row> = (0..88).map(|n| page(n, Outcome::Finished, 200)).collect();
    rows.extend((88..98).map(|n| page(n, Outcome::Finished, 600)));
    rows.push(page(98, Outcome::Failed(Failure::Connection), 0));
    rows.push(page(99, Outcome::Unfinished, 0));
    let plan = plan("browsing", Config::browsing(), 100);
    let summary = summary(plan, &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    assert_eq!(
        (
            workload.operations,
            workload.goal_misses,
            workload.failures,
            workload.unfinished
        ),
        (100, 12, 1, 1)
    );
    let latency = workload.latency_ms;
    assert_eq!((latency.count, latency.unbounded), (100, 2));
    assert_eq!(
        (latency.p50, latency.p75, latency.p90),
        (Some(200.0), Some(200.0), Some(600.0))
    );
    assert_eq!(
        (latency.p95, latency.p99),
        (Some(600.0), None),
        "100 don't support a 99th percentile"
    );
    assert_eq!((latency.min, latency.max), (Some(200.0), Some(600.0)));
    let goal = &workload.goals[0];
    assert_eq!((goal.met, goal.excess, goal.samples), (Some(0.88), Some(1.2), 100));
    assert_eq!((goal.verdict, summary.verdict), (Verdict::Fail, Verdict::Fail));
    assert_eq!(goal.goal, "page load ≤ 500 ms");
    assert_eq!(summary.totals.goal_misses, 12);
}

/// The 95th percentile of 60, of which 4 never ended, falls among those 4.
#[test]
fn a_percentile_among_the_unbounded_is_unknown() {
    let mut rows: Vec<Row> = (0..56).map(|n| page(n, Outcome::Finished, 100)).collect();
    rows.extend((56..60).map(|n| page(n, Outcome::TimedOut, 0)));
    let summary = pages(&rows);
    let workload = &summary.stations[0].workloads[0];
    assert_eq!((workload.latency_ms.p90, workload.latency_ms.p95), (Some(100.0), None));
    assert_eq!(
        (workload.latency_ms.unbounded, workload.timeouts, workload.failures),
        (4, 4, 4)
    );
}

#[test]
fn censored_and_warm_up_operations_do_not_count() {
    let rows = [
        page(1, Outcome::Finished, 9000),
        page(4, Outcome::TimedOut, 0),
        page(5, Outcome::Finished, 100),
        page(6, Outcome::Cut, 0),
        page(7, Outcome::NotStarted, 0),
    ];
    let plan = Plan {
        warmup: SECOND * 5,
        ..plan("browsing", Config::browsing(), 60)
    };
    let summary = summary(plan, &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    assert_eq!(
        (workload.operations, workload.goal_misses, workload.not_started),
        (2, 1, 1)
    );
    assert_eq!(workload.goals[0].met, Some(0.5));
}

#[test]
fn without_a_latency_goal_misses_are_operations_that_never_started() {
    let rows = [
        page(1, Outcome::Finished, 9000),
        page(2, Outcome::NotStarted, 0),
        page(3, Outcome::TimedOut, 0),
    ];
    let summary = summary(plan("download", Config::download(), 60), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    assert_eq!(
        (workload.operations, workload.goal_misses, workload.failures),
        (3, 1, 1)
    );
    assert_eq!((summary.verdict, workload.verdict), (Verdict::None, Verdict::None));
}

/// 1 MB in each tenth of a second is 80 Mbit/s; in the judged part of the time only.
#[test]
fn throughput_is_content_over_the_evaluated_time() {
    let rows: Vec<Row> = (0..120).map(|n| interval(0, 0, n * 100, 1_000_000)).collect();
    let download = || plan("download", Config::download(), 10);
    assert_eq!(
        summary(download(), &rows, &RunStatus::Complete).totals.throughput_mbps,
        80.0
    );
    let warm = Plan {
        warmup: took(2_500),
        ..download()
    };
    assert_eq!(summary(warm, &rows, &RunStatus::Complete).totals.throughput_mbps, 80.0);
    let mut part = download();
    part.stations[0].start = SECOND * 4;
    part.stations[0].stop = Some(SECOND * 6);
    let part = summary(part, &rows, &RunStatus::Complete);
    assert_eq!(part.stations[0].throughput_mbps, 80.0);
    // 20 MB, but over the whole ten seconds.
    assert_eq!(part.totals.throughput_mbps, 16.0);
}

/// A download from 5 s to 10 s, again from 25 s and 45 s on, with 10 Mbit/s in these times (125 kB in 100 ms) and nothing
/// between. The warm-up ends at 6 s: 4 + 5 + 5 = 14 s are judged, with 10 Mbit/s. The goal of 8 Mbit/s holds in every
/// window of 2 s in steps of 100 ms: 21 + 31 + 31 windows.
#[test]
fn only_the_time_in_which_a_workload_runs_is_judged() {
    let mut config = Config::download();
    config.goals = vec![Goal::Rate {
        at_least: BitRate::from_mbps(8),
        window: Duration::from_secs(2),
        step: took(100),
    }];
    config.activity = Activity {
        start: Duration::from_secs(5),
        stop: Some(Duration::from_secs(10)),
        repeat: Some(Duration::from_secs(20)),
    };
    let mut plan = plan("download", config, 60);
    plan.warmup = Duration::from_secs(6);
    let mut rows = Vec::new();
    for (sequence, begin) in (0..).zip([5000, 25_000, 45_000]) {
        rows.push(operation(0, 0, sequence, ms(begin), Outcome::Cut, Duration::ZERO));
        rows.extend((0..50).map(|bin| interval(0, 0, begin + bin * 100, 125_000)));
        // Bytes on the way when the window ended.
        rows.push(interval(0, 0, begin + 5000, 7_000_000));
    }
    let summary = summary(plan, &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    assert!(
        (workload.throughput_mbps - 10.0).abs() < 1e-9,
        "{}",
        workload.throughput_mbps
    );
    let goal = &workload.goals[0];
    assert_eq!((goal.samples, goal.met, goal.verdict), (83, Some(1.0), Verdict::Pass));
}

fn stream(rows: &[Row]) -> Summary {
    summary(plan("4kstream", Config::stream_4k(), 20), rows, &RunStatus::Complete)
}

/// 20 s of 25 Mbit/s with a gap of one second from 10 s. There are 181 windows of 2 s. Those with
/// five tenths or more of the gap have less than 20 Mbit/s: 500 ms × 25 > 2 s × 5. They begin from
/// 8.5 s to 10.5 s: 21 windows.
#[test]
fn a_hole_in_a_stream_fails_the_windows_around_it() {
    let mut rows = vec![operation(0, 0, 0, ms(0), Outcome::Finished, took(300))];
    let bytes = |tenth| if (100..110).contains(&tenth) { 0 } else { 312_500 };
    rows.extend((0..200).map(|tenth| interval(0, 0, tenth * 100, bytes(tenth))));
    let summary = stream(&rows);
    let goal = &summary.stations[0].workloads[0].goals[0];
    assert_eq!(goal.goal, "every 2 s ≥ 20 Mbit/s");
    assert_eq!(goal.samples, 181);
    assert_eq!(goal.met, Some(160.0 / 181.0));
    // The worst window is half full.
    assert_eq!(goal.excess, Some(1.6));
    assert_eq!(summary.verdict, Verdict::Fail);
}

#[test]
fn windows_begin_with_the_first_operation() {
    let mut rows = vec![operation(0, 0, 0, ms(5_050), Outcome::Finished, took(300))];
    rows.extend((51..200).map(|tenth| interval(0, 0, tenth * 100, 312_500)));
    let goal = stream(&rows).stations[0].workloads[0].goals[0].clone();
    // From 5.1 s to 18 s.
    assert_eq!((goal.samples, goal.met), (130, Some(1.0)));
}

/// Three stalls of 100 ms in 20 s are 1.5 % of the time: the stream fails. One of them is marginal.
#[test]
fn stalls_are_counted_and_timed() {
    let mut rows = vec![operation(0, 0, 0, ms(0), Outcome::Finished, took(300))];
    rows.extend((0..200).map(|tenth| interval(0, 0, tenth * 100, 312_500)));
    rows.push(event(Some(0), Some(0), 0, took(700), EventKind::Startup));
    rows.push(event(Some(0), Some(0), 3_000, took(100), EventKind::Stall));
    let marginal = stream(&rows);
    assert_eq!(marginal.verdict, Verdict::Marginal);
    rows.push(event(Some(0), Some(0), 5_000, took(120), EventKind::Stall));
    rows.push(event(Some(0), Some(0), 7_000, took(80), EventKind::Stall));
    let failed = stream(&rows);
    assert_eq!(failed.verdict, Verdict::Fail);
    let player = failed.stations[0].workloads[0].player.unwrap();
    assert_eq!(
        (player.stalls, player.stalled_ms, player.longest_stall_ms),
        (3, 300.0, 120.0)
    );
    assert_eq!((player.startup_ms, player.stalled_share), (Some(700.0), 0.015));
}

/// After a warm-up of 10 s, 1.5 s of the second stall count and nothing of the first.
#[test]
fn stalls_count_in_the_evaluated_time_only() {
    let rows = [
        operation(0, 0, 0, ms(0), Outcome::Finished, took(300)),
        event(Some(0), Some(0), 3_000, took(4_000), EventKind::Stall),
        event(Some(0), Some(0), 8_000, took(3_500), EventKind::Stall),
    ];
    let plan = Plan {
        warmup: SECOND * 10,
        ..plan("4kstream", Config::stream_4k(), 20)
    };
    let summary = summary(plan, &rows, &RunStatus::Complete);
    let player = summary.stations[0].workloads[0].player.unwrap();
    assert_eq!(
        (player.stalls, player.stalled_ms, player.longest_stall_ms),
        (1, 1_500.0, 1_500.0)
    );
}

#[test]
fn a_probe_measures_loss_reordering_and_queueing() {
    let probe = |sequence: u64, up: i64, down: i64| {
        let due = ms(50 * sequence as i64);
        // The clock of the other end is 7 s ahead.
        let received = due.as_nanos() + 7_000_000_000 + up * 1_000_000;
        let row = operation(0, 0, sequence, due, Outcome::Finished, took((up + down) as u64));
        let Row::Operation(mut row) = row else { unreachable!() };
        row.operation.far = Some(RemoteTimestamps {
            received,
            sent: received,
        });
        Row::Operation(row)
    };
    let mut rows: Vec<Row> = (0..10).map(|n| probe(n, 3, 5)).collect();
    rows.extend([probe(11, 13, 5), probe(10, 3, 45)]);
    rows.extend((12..16).map(|n| operation(0, 0, n, ms(50 * n as i64), Outcome::TimedOut, took(0))));
    let summary = summary(plan("probe", Config::probe(), 60), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    let probe = workload.probe.unwrap();
    assert_eq!((probe.lost_share, probe.reordered), (Some(0.25), 1));
    let (up, down) = (probe.queued_up_ms.unwrap(), probe.queued_down_ms.unwrap());
    assert_eq!((up.count, up.min, up.max), (12, Some(0.0), Some(10.0)));
    assert_eq!((down.min, down.max), (Some(0.0), Some(40.0)));
    assert_eq!(workload.latency_ms.p50, Some(8.0));
}

#[test]
fn dial_times_and_first_bytes_are_separate() {
    let rows: Vec<Row> = (0..10)
        .map(|n| {
            let Row::Operation(OperationRow { mut operation, .. }) = page(n, Outcome::Finished, 200) else {
                unreachable!()
            };
            operation.started = Some(operation.due + took(10));
            operation.connected = Some(operation.due + took(40));
            operation.first_byte = Some(operation.due + took(90));
            Row::Operation(OperationRow {
                station: 0,
                workload: 0,
                operation,
            })
        })
        .chain([page(10, Outcome::Failed(Failure::Dial), 0)])
        .collect();
    let summary = pages(&rows);
    let workload = &summary.stations[0].workloads[0];
    let (dial, first) = (workload.dial_ms.unwrap(), workload.first_byte_ms.unwrap());
    assert_eq!((dial.count, dial.p50, dial.unbounded), (11, Some(30.0), 1));
    assert_eq!((first.count, first.p50, first.unbounded), (11, Some(90.0), 1));
}

#[test]
fn idle_latency_is_the_median_before_the_load() {
    let idle = |n: u64, ms_taken| {
        let due = Instant::from_millis(-2_000 + 50 * n as i64);
        operation(
            0,
            netburn_record::row::BASELINE,
            n,
            due,
            Outcome::Finished,
            took(ms_taken),
        )
    };
    let rows: Vec<Row> = [9, 1, 4, 2, 8, 3, 7]
        .into_iter()
        .zip(0..)
        .map(|(taken, n)| idle(n, taken))
        .collect();
    assert_eq!(pages(&rows).stations[0].idle_latency_ms, Some(4.0));
    assert_eq!(pages(&rows[..5]).stations[0].idle_latency_ms, None, "six are needed");
    assert_eq!(pages(&rows).totals.operations, 0, "they are no operations of the load");
}

/// A run that was stopped after 10 of 20 s is not blamed for the windows that it never had.
#[test]
fn an_interrupted_stream_is_judged_up_to_there() {
    let mut rows = vec![operation(0, 0, 0, ms(0), Outcome::Finished, took(300))];
    rows.extend((0..100).map(|tenth| interval(0, 0, tenth * 100, 312_500)));
    let summary = summary(
        plan("4kstream", Config::stream_4k(), 20),
        &rows,
        &RunStatus::Interrupted,
    );
    let workload = &summary.stations[0].workloads[0];
    assert_eq!((workload.goals[0].samples, workload.goals[0].met), (81, Some(1.0)));
    assert_eq!(workload.throughput_mbps, 25.0);
    assert_eq!(
        sentences(&summary.reasons),
        ["the run was interrupted after 10 s of 20 s"]
    );
    assert_eq!(
        (workload.verdict, summary.verdict),
        (Verdict::Pass, Verdict::Inconclusive)
    );
}

/// Fewer than 59 operations make a pass provisional: 0.95⁵⁸ is above 5 %. Two misses of two exclude 95 % (0.25 %), and one of one
/// does not (5 %). One firm fail is enough for the whole.
#[test]
fn a_verdict_of_few_samples_is_provisional() {
    let of = |count: u64, outcome: Outcome| {
        let rows: Vec<Row> = (0..count)
            .map(|n| operation(0, 0, n, ms(n as i64), outcome, took(1)))
            .collect();
        let summary = pages(&rows);
        (summary.verdict, summary.provisional)
    };
    assert_eq!(of(58, Outcome::Finished), (Verdict::Pass, true));
    assert_eq!(of(59, Outcome::Finished), (Verdict::Pass, false));
    assert_eq!(of(1, Outcome::TimedOut), (Verdict::Fail, true));
    assert_eq!(of(2, Outcome::TimedOut), (Verdict::Fail, false));
}

/// Goal misses are those of the strictest latency goal.
#[test]
fn each_of_several_goals_is_judged() {
    let config = Config {
        goals: [200, 1000].map(|limit| Goal::Latency { limit: took(limit) }).into(),
        ..Config::browsing()
    };
    let rows: Vec<Row> = (0..10).map(|n| page(n, Outcome::Finished, 100 * (n + 1))).collect();
    let summary = summary(plan("browsing", config, 60), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    assert_eq!(workload.goal_misses, 8);
    assert_eq!((workload.goals[0].met, workload.goals[1].met), (Some(0.2), Some(1.0)));
    assert_eq!(
        (workload.goals[0].excess, workload.goals[1].excess),
        (Some(5.0), Some(1.0))
    );
}

/// A station without samples has a reason, in the document and in the text.
#[test]
fn a_goal_without_samples_has_a_reason() {
    let reasons = |name: &str, config: Config| {
        let summary = summary(plan(name, config, 60), &[], &RunStatus::Complete);
        assert_eq!(summary.verdict, Verdict::Inconclusive);
        sentences(&summary.stations[0].reasons)
    };
    assert_eq!(
        reasons("browsing", Config::browsing()),
        ["browsing has no samples for `page load ≤ 500 ms`: no counted operation was due in the evaluated time"]
    );
    let stream = reasons("4kstream", Config::stream_4k());
    assert_eq!(stream.len(), 2, "{stream:?}");
    assert!(
        stream[0].ends_with("the evaluated time has no complete window"),
        "{stream:?}"
    );
    assert!(
        stream[1].ends_with("playback did not start in the evaluated time"),
        "{stream:?}"
    );
}

/// If another goal fails, the verdict is fail and not inconclusive.
#[test]
fn a_goal_without_samples_does_not_change_a_fail() {
    let both = Plan {
        stations: vec![station(
            "laptop",
            &[("browsing", Config::browsing()), ("voip", Config::voip())],
        )],
        ..plan("browsing", Config::browsing(), 60)
    };
    let rows: Vec<Row> = (0..10).map(|n| page(n, Outcome::TimedOut, 0)).collect();
    let summary = summary(both, &rows, &RunStatus::Complete);
    assert_eq!(summary.stations[0].verdict, Verdict::Fail);
    assert!(summary.stations[0].reasons.is_empty());
}
