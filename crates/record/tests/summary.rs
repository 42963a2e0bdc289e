//! Rules of the summary, each with rows whose result is known by hand.

mod util;

use netburn_record::{
    Clock, Detail, EventKind, Health, Loss, LossCause, Moved, OperationRow, QualityIssue, Recorder, Role, Row,
    RunStatus, Sink, Summary,
};
use netburn_scenario::Plan;
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::config::Activity;
use netburn_workload::{Config, Direction, Failure, Goal, Outcome, PacketStream, RemoteTimestamps, Streams, Verdict};
use util::{event, good_rows, header, health, interval, ms, operation, sentences, station};

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
    run.summary().clone()
}

fn pages(rows: &[Row]) -> Summary {
    summary(plan("browsing", Config::browsing(), 60), rows, &RunStatus::Complete)
}

fn page(sequence: u64, outcome: Outcome, ms_taken: u64) -> Row {
    operation(0, 0, sequence, ms(1000 * sequence as i64), outcome, took(ms_taken))
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

/// Reasons that make a run or a station inconclusive, and their effect on other stations.
#[test]
fn quality_issues_make_a_verdict_inconclusive() {
    let run = |rows: &[Row], status: &RunStatus| {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(&dir.path().join("run"), header(util::plan())).unwrap();
        for row in rows {
            recorder.put(row).unwrap();
        }
        recorder.finish(status).unwrap().summary().clone()
    };
    let verdicts = |summary: &Summary| {
        (
            summary.verdict,
            summary.stations[0].verdict,
            summary.stations[1].verdict,
        )
    };
    use Verdict::{Fail, Inconclusive, Pass};

    let good = good_rows();
    assert_eq!(verdicts(&run(&good, &RunStatus::Complete)), (Pass, Pass, Pass));

    let mut lost = good.clone();
    lost.push(event(Some(1), None, 30_000, Duration::ZERO, EventKind::Lost));
    let summary = run(&lost, &RunStatus::Complete);
    assert_eq!(verdicts(&summary), (Inconclusive, Pass, Inconclusive));
    let missing = QualityIssue::ResultsMissing { cause: String::new() };
    assert_eq!(summary.stations[1].reasons, [missing]);

    // Another station's fail stays.
    let mut failed = lost;
    failed.extend((0..100).map(|n| page(400 + n, Outcome::TimedOut, 0)));
    assert_eq!(
        verdicts(&run(&failed, &RunStatus::Complete)),
        (Fail, Fail, Inconclusive)
    );

    let silent: Vec<Row> = good.iter().filter(|row| !names_agent_2(row)).cloned().collect();
    let summary = run(&silent, &RunStatus::Complete);
    assert_eq!(verdicts(&summary), (Inconclusive, Pass, Inconclusive));
    assert_eq!(
        sentences(&summary.self_check.reasons),
        ["no health report from the agent of hall-tv"]
    );

    // The server affects the results of all stations.
    let mut busy = good.clone();
    busy.push(changed_health(&health("server", Role::Server, &[]), |health| {
        health.cpu = 0.99
    }));
    assert_eq!(
        verdicts(&run(&busy, &RunStatus::Complete)),
        (Inconclusive, Inconclusive, Inconclusive)
    );

    // A lost server that served no station affects no results.
    let told = |station: Option<u16>, kind: EventKind| {
        let Row::Event(mut row) = event(station, None, 30_000, Duration::ZERO, kind) else {
            unreachable!()
        };
        row.detail = QualityIssue::ServerLost {
            member: Some("cellar".into()),
            loss: Loss::new(LossCause::Left, "it went to sleep"),
        }
        .into();
        Row::Event(row)
    };
    let (server, agents) = good.split_last().unwrap();
    assert_eq!(*server, health("server", Role::Server, &[]));
    let without = |event: Row| {
        let rows: Vec<Row> = agents.iter().cloned().chain([event]).collect();
        run(&rows, &RunStatus::Complete)
    };
    let summary = without(told(None, EventKind::UnusedServerLost));
    assert_eq!(verdicts(&summary), (Pass, Pass, Pass));
    assert!(summary.self_check.ok, "{:?}", summary.self_check.reasons);
    let summary = without(told(Some(1), EventKind::ServerLost));
    assert_eq!(verdicts(&summary), (Inconclusive, Pass, Inconclusive));
    let summary = without(told(None, EventKind::ServerLost));
    assert_eq!(verdicts(&summary), (Inconclusive, Inconclusive, Inconclusive));

    // Events of an agent affect only its own station: the server still affects all.
    for kind in [EventKind::Warning, EventKind::Incomplete] {
        let mut forged = busy.clone();
        forged.push(told(Some(1), kind));
        let summary = run(&forged, &RunStatus::Complete);
        assert_eq!(
            verdicts(&summary),
            (Inconclusive, Inconclusive, Inconclusive),
            "{kind:?}"
        );
        assert!(
            summary.stations[0].reasons[0]
                .to_string()
                .starts_with("the server used 99 % of one core"),
            "{kind:?}: {:?}",
            summary.stations[0].reasons
        );
    }
    let mut incomplete = good.clone();
    incomplete.push(told(Some(1), EventKind::Incomplete));
    let summary = run(&incomplete, &RunStatus::Complete);
    assert_eq!(verdicts(&summary), (Inconclusive, Pass, Inconclusive));

    let summary = run(&good[..200], &RunStatus::Interrupted);
    assert_eq!(verdicts(&summary), (Inconclusive, Inconclusive, Inconclusive));
    assert!(
        summary.reasons[0]
            .to_string()
            .starts_with("the run was interrupted after "),
        "{:?}",
        summary.reasons
    );
    assert_eq!(
        sentences(&summary.self_check.reasons),
        ["the run ended before any agent sent a health report"]
    );
    assert!(
        summary.stations[0].workloads[0].latency_ms.count > 0,
        "the values are shown"
    );

    let summary = run(&[], &RunStatus::Failed("the server did not start".into()));
    assert_eq!(
        sentences(&summary.reasons),
        ["the server did not start (before the load began)"]
    );
}

/// Bytes beyond the server's count make a station inconclusive and are excluded from the total.
#[test]
fn bytes_that_the_server_did_not_count_are_excluded_from_the_total() {
    let run = |served: &[(&str, u64)], extra: &[Row]| {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(&dir.path().join("run"), header(util::plan())).unwrap();
        let (server, rows) = good_rows().split_last().map(|(s, r)| (s.clone(), r.to_vec())).unwrap();
        let server = changed_health(&server, |health| {
            let moved = |bytes_down| Moved {
                bytes_down,
                bytes_up: 0,
            };
            health.served = served
                .iter()
                .map(|(name, down)| ((*name).to_owned(), moved(*down)))
                .collect();
        });
        for row in rows.iter().chain(extra).chain([&server]) {
            recorder.put(row).unwrap();
        }
        recorder.finish(&RunStatus::Complete).unwrap().summary().clone()
    };
    let bytes = |number: usize| -> u64 {
        let of = |row: &Row| match row {
            Row::Interval(row) if usize::from(row.station) == number => row.bytes_down,
            _ => 0,
        };
        good_rows().iter().map(of).sum()
    };
    let (laptop, tv) = (bytes(0), bytes(1));
    assert!(tv > 10 << 20, "{tv}");
    let honest = run(&[("laptop", laptop), ("hall-tv", tv)], &[]);
    assert!(honest.self_check.ok, "{:?}", honest.self_check.reasons);
    assert_eq!(honest.verdict, Verdict::Pass);
    // Without a count of the server there is no check: the station used another server.
    assert_eq!(run(&[("laptop", laptop)], &[]).stations, honest.stations);

    let forged = run(&[("laptop", laptop), ("hall-tv", tv / 2)], &[]);
    let reason = format!(
        "hall-tv reports {:.1} MB received, but the server counted {:.1} MB; its bytes are excluded from the total",
        tv as f64 / 1e6,
        (tv / 2) as f64 / 1e6
    );
    assert_eq!(sentences(&forged.self_check.reasons), std::slice::from_ref(&reason));
    assert_eq!(sentences(&forged.stations[1].reasons), [reason]);
    assert_eq!(forged.stations[1].verdict, Verdict::Inconclusive);
    assert_eq!(forged.stations[0], honest.stations[0]);
    let left = honest.totals.throughput_mbps - honest.stations[1].throughput_mbps;
    assert!(
        (forged.totals.throughput_mbps - left).abs() < 1e-5,
        "{:?}",
        forged.totals
    );
}

/// A station may have the server's name: the clocks are distinguished by the stations that they
/// drove.
#[test]
fn a_station_called_server_keeps_its_own_clock() {
    let clock = |stations: &[&str], error_ns: u64| {
        let clock = Clock {
            name: "server".into(),
            stations: stations.iter().map(|name| (*name).to_owned()).collect(),
            offset_ns: 0,
            error_ns,
            round_trip_ns: 0,
            exchanges: 60,
            drift_ppm: None,
            drift_error_ppm: None,
            compared_ns: 0,
            jump_ns: None,
        };
        let Row::Event(mut row) = event(None, None, 0, Duration::ZERO, EventKind::Clock) else {
            unreachable!()
        };
        row.detail = clock.into();
        Row::Event(row)
    };
    let plan = Plan {
        stations: vec![station("server", &[("browsing", Config::browsing())])],
        ..Plan::new("one")
    };
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&dir.path().join("run"), header(plan)).unwrap();
    let rows = [
        clock(&[], 1_000),
        clock(&["server"], 9_000_000),
        // Compared again, and the server again.
        clock(&["server"], 8_000_000),
        clock(&[], 2_000),
    ];
    for row in &rows {
        recorder.put(row).unwrap();
    }
    let run = recorder.finish(&RunStatus::Interrupted).unwrap();
    let kept: Vec<(usize, u64)> = run.clocks().iter().map(|c| (c.stations.len(), c.error_ns)).collect();
    assert_eq!(kept, [(1, 8_000_000), (0, 2_000)]);
    assert_eq!(
        sentences(&run.summary().self_check.reasons),
        [
            "the clock of server is uncertain by 8 ms; the limit is 5 ms",
            "the run ended before any agent sent a health report"
        ]
    );
}

fn names_agent_2(row: &Row) -> bool {
    matches!(row, Row::Event(event) if matches!(&event.detail, Detail::Health(health) if health.name == "agent-2"))
}

fn changed_health(row: &Row, change: impl FnOnce(&mut Health)) -> Row {
    let Row::Event(event) = row else { unreachable!() };
    let Detail::Health(health) = &event.detail else {
        unreachable!()
    };
    let mut health = (**health).clone();
    change(&mut health);
    let mut event = event.clone();
    event.detail = health.into();
    Row::Event(event)
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

/// Fewer than 300 samples make a pass provisional, fewer than 60 a fail; one firm fail is enough for the whole.
#[test]
fn a_verdict_of_few_samples_is_provisional() {
    let of = |count: u64, outcome: Outcome| {
        let rows: Vec<Row> = (0..count)
            .map(|n| operation(0, 0, n, ms(n as i64), outcome, took(1)))
            .collect();
        let summary = pages(&rows);
        (summary.verdict, summary.provisional)
    };
    assert_eq!(of(299, Outcome::Finished), (Verdict::Pass, true));
    assert_eq!(of(300, Outcome::Finished), (Verdict::Pass, false));
    assert_eq!(of(59, Outcome::TimedOut), (Verdict::Fail, true));
    assert_eq!(of(60, Outcome::TimedOut), (Verdict::Fail, false));
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

/// A call of `seconds`: both directions send every 20 ms. `taken` returns the delay of a packet in
/// µs by its direction and its number in this direction; `None` is lost.
fn call(seconds: u64, taken: impl Fn(Direction, u64) -> Option<u64>) -> Vec<Row> {
    let packets = (0..seconds * 100).map(|sequence| {
        let due = ms(10 * sequence as i64);
        let (outcome, taken) = match taken(Direction::of_packet(sequence), sequence / 2) {
            Some(us) => (Outcome::Finished, Duration::from_micros(us)),
            None => (Outcome::TimedOut, SECOND * 2),
        };
        operation(0, 0, sequence, due, outcome, taken)
    });
    packets.collect()
}

fn close(found: Option<f64>, expected: f64, within: f64) {
    assert!(
        found.is_some_and(|found| (found - expected).abs() <= within),
        "{found:?} is not {expected}"
    );
}

/// With 23.75 ms for the codec, 26.25 ms are 50 ms from mouth to ear: R 91.76, MOS 4.380. 276.25 ms
/// are 300 ms: R 72.67, MOS 3.719 (G.107, see the tests of `quality`). In 40 s, 31 windows of 10 s
/// begin in steps of 1 s; the direction down decides, and is 7.33 points below 80.
#[test]
fn the_directions_of_a_call_are_rated_apart() {
    let rows = call(40, |direction, _| match direction {
        Direction::Up => Some(26_250),
        Direction::Down => Some(276_250),
    });
    let summary = summary(plan("voice", Config::voice(), 40), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    let voice = workload.voice.as_ref().unwrap();
    assert_eq!(voice.codec, "G.711 with concealment");
    close(voice.up.rating, 91.76, 0.05);
    close(voice.up.mos, 4.380, 0.001);
    close(voice.down.rating, 72.67, 0.05);
    close(voice.down.mos, 3.719, 0.001);
    for (stream, taken) in [(&voice.up, 26.25), (&voice.down, 276.25)] {
        assert_eq!((stream.packets, stream.lost_share, stream.gaps), (2000, Some(0.0), 0));
        assert_eq!((stream.buffer_ms, stream.late_share), (Some(taken), Some(0.0)));
        assert_eq!(stream.delay_ms.unwrap().p99, Some(taken));
        assert_eq!((stream.jitter_ms, stream.mean_loss_packets), (Some(0.0), None));
    }
    // flent has no codec: G.711 at 26.25 ms is between the values of 20 and 50 ms, 4.396 and 4.380.
    close(voice.up.mos_flent, 4.392, 0.003);
    let goal = &workload.goals[0];
    assert_eq!(
        (goal.goal.as_str(), goal.samples, goal.met),
        ("every 10 s R ≥ 80", 31, Some(0.0))
    );
    close(goal.excess, 1.733, 0.005);
    assert_eq!((goal.verdict, summary.verdict), (Verdict::Fail, Verdict::Fail));
}

/// Of 2000 packets up, each 50th and the one after it are lost: 4 % in runs of 2, a burst ratio of
/// 2 · 0.96 = 1.92. R = 91.76 − 95 · 4 / (4/1.92 + 25.1) = 91.76 − 13.98 = 77.78. There are 200
/// windows of 200 ms, and each run is in one of them: 40 gaps.
#[test]
fn losses_of_a_call_lower_its_rating() {
    let rows = call(40, |direction, number| {
        (direction == Direction::Down || number % 50 > 1).then_some(26_250)
    });
    let summary = summary(plan("voice", Config::voice(), 40), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    assert_eq!((workload.operations, workload.timeouts), (4000, 80));
    let up = workload.voice.as_ref().unwrap().up;
    assert_eq!(
        (up.lost_share, up.longest_loss_packets, up.mean_loss_packets),
        (Some(0.04), 2, Some(2.0))
    );
    close(up.burst_ratio, 1.92, 1e-9);
    close(up.rating, 77.78, 0.05);
    assert_eq!((up.gaps, up.gap_share), (40, Some(0.2)));
    assert_eq!(up.delay_ms.unwrap().unbounded, 80);
    let down = workload.voice.as_ref().unwrap().down;
    close(down.rating, 91.76, 0.05);
    assert_eq!(
        (down.lost_share, down.mean_loss_packets, down.gaps),
        (Some(0.0), None, 0)
    );
    assert_eq!(workload.verdict, Verdict::Fail);
}

/// 310 s are 301 windows of each direction. A packet that was not sent is not lost, and packets of
/// the warm-up do not count.
#[test]
fn a_good_call_passes() {
    let mut rows = call(310, |_, number| (number > 20).then_some(30_000));
    rows.push(operation(
        0,
        0,
        31_000,
        ms(309_999),
        Outcome::NotStarted,
        Duration::ZERO,
    ));
    let plan = Plan {
        warmup: SECOND,
        ..plan("voice", Config::voice(), 311)
    };
    let summary = summary(plan, &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    let goal = &workload.goals[0];
    assert_eq!(
        (goal.verdict, goal.provisional, goal.met),
        (Verdict::Pass, false, Some(1.0))
    );
    assert_eq!(workload.voice.as_ref().unwrap().up.lost_share, Some(0.0));
}

#[test]
fn a_call_that_is_too_short_is_inconclusive() {
    let rows = call(9, |_, _| Some(30_000));
    let summary = summary(plan("voice", Config::voice(), 9), &rows, &RunStatus::Complete);
    assert_eq!(summary.verdict, Verdict::Inconclusive);
    assert_eq!(
        sentences(&summary.stations[0].reasons),
        ["voice has no samples for `every 10 s R ≥ 80`: the evaluated time has no complete window"]
    );
}

/// Datagrams of `seconds`: 100 packets a second up, 50 a second down. `taken` returns the delay of a packet in µs by its
/// direction and its number; `None` is lost.
fn datagrams(seconds: u64, taken: impl Fn(Direction, u64) -> Option<u64>) -> (Config, Vec<Row>) {
    let stream = |millis| PacketStream::single(SECOND / 1000 * millis, netburn_units::ByteSize::from_bytes(100));
    let config = Config {
        datagrams: Streams {
            up: Some(stream(10)),
            down: Some(stream(20)),
        },
        ..Config::datagrams()
    };
    let mut rows = Vec::new();
    for (direction, every) in [(Direction::Up, 10), (Direction::Down, 20)] {
        for number in 0..seconds * 1000 / every {
            let due = ms((number * every) as i64);
            let (outcome, taken) = match taken(direction, number) {
                Some(us) => (Outcome::Finished, Duration::from_micros(us)),
                None => (Outcome::TimedOut, SECOND * 2),
            };
            rows.push(operation(0, 0, direction.operation(number), due, outcome, taken));
        }
    }
    (config, rows)
}

/// 40 s: 4000 packets up, 2000 down. Down, numbers 100 to 119 are lost: 1 % of 2000 in one run of 20. They are due from 2.0
/// to 2.4 s. Of the 31 windows of 10 s with 500 packets each, those that begin at 0, 1 and 2 s have all 20: 4 %, four times
/// the limit. So 28 of 31 windows down meet the goal, and all up do.
#[test]
fn losses_of_datagrams_are_counted_for_each_direction() {
    let (config, rows) = datagrams(40, |direction, number| {
        (direction == Direction::Up || !(100..120).contains(&number)).then_some(12_500)
    });
    let summary = summary(plan("load", config, 40), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    let streams = workload.streams.as_ref().unwrap();
    let (up, down) = (streams.up.unwrap(), streams.down.unwrap());
    assert_eq!(
        (up.packets, up.lost_share, up.longest_loss_packets),
        (4000, Some(0.0), 0)
    );
    assert_eq!(
        (down.packets, down.lost_share, down.longest_loss_packets),
        (2000, Some(0.01), 20)
    );
    assert_eq!((up.mean_loss_packets, down.mean_loss_packets), (None, Some(20.0)));
    assert_eq!((up.delay_ms.unwrap().p99, up.jitter_ms), (Some(12.5), Some(0.0)));
    assert_eq!(down.delay_ms.unwrap().unbounded, 20);
    let goal = &workload.goals[0];
    assert_eq!((goal.goal.as_str(), goal.samples), ("every 10 s lost ≤ 1 %", 31));
    close(goal.met, 28.0 / 31.0, 1e-9);
    close(goal.excess, 4.0, 1e-9);
    assert_eq!((goal.verdict, workload.verdict), (Verdict::Fail, Verdict::Fail));
}

/// Datagrams from 5 s to 20 s of 40 s: the windows of 10 s begin at 5 to 10 s, which are six. Only the 15 s are judged: 25,000 B
/// in each of the 150 intervals are 2 Mbit/s.
#[test]
fn datagrams_are_judged_in_their_window() {
    let (mut config, rows) = datagrams(20, |_, _| Some(12_500));
    (config.activity.start, config.activity.stop) = (SECOND * 5, Some(SECOND * 20));
    let in_window = |row: &Row| !matches!(row, Row::Operation(row) if row.operation.due < ms(5_000));
    let mut rows: Vec<Row> = rows.into_iter().filter(in_window).collect();
    rows.extend((50..200).map(|bin| interval(0, 0, bin * 100, 25_000)));
    let summary = summary(plan("load", config, 40), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    let streams = workload.streams.as_ref().unwrap();
    assert_eq!(
        (streams.up.unwrap().packets, streams.down.unwrap().packets),
        (1500, 750)
    );
    let goal = &workload.goals[0];
    assert_eq!((goal.samples, goal.met, goal.verdict), (6, Some(1.0), Verdict::Pass));
    close(Some(workload.throughput_mbps), 2.0, 1e-9);
}

/// Up all packets take 60 ms, down 10 ms. The direction up decides: none of its 4000 packets has a delay of at most 50 ms,
/// and the worst has 1.2 times of it.
#[test]
fn the_delays_of_datagrams_are_judged_in_the_worse_direction() {
    let (config, rows) = datagrams(40, |direction, _| match direction {
        Direction::Up => Some(60_000),
        Direction::Down => Some(10_000),
    });
    let config = Config {
        goals: vec![Goal::Latency { limit: SECOND / 20 }],
        ..config
    };
    let summary = summary(plan("load", config, 40), &rows, &RunStatus::Complete);
    let goal = &summary.stations[0].workloads[0].goals[0];
    assert_eq!((goal.goal.as_str(), goal.samples), ("one-way delay ≤ 50 ms", 4000));
    assert_eq!((goal.met, goal.verdict), (Some(0.0), Verdict::Fail));
    close(goal.excess, 1.2, 1e-9);
}

/// A game of 40 s with 64 ticks per second, so 2560 packets in each direction. Both directions have the same due times.
fn game(taken: impl Fn(Direction, u64) -> Option<u64>) -> Vec<Row> {
    let mut rows = Vec::new();
    for direction in [Direction::Up, Direction::Down] {
        for number in 0..2560 {
            let due = Instant::ZERO + Duration::from_micros(15_625) * number;
            let (outcome, taken) = match taken(direction, number) {
                Some(us) => (Outcome::Finished, Duration::from_micros(us)),
                None => (Outcome::TimedOut, SECOND * 2),
            };
            rows.push(operation(0, 0, direction.operation(number), due, outcome, taken));
        }
    }
    rows
}

/// 20 ms up, 70 ms down: a round trip of 90 ms, without the wait for the tick. The quality of outcome by the median is
/// 1 − (90 − 30) / 120 = 0.5, by p95 1 − 25 / 135 = 0.815, by p99 1: 50 of 100. The inputs of the last 20 ms have no answer:
/// those of numbers 2558 and 2559 arrive after the last tick is due. So 2558 round trips.
#[test]
fn the_round_trips_of_a_game_have_no_wait_for_the_tick() {
    let rows = game(|direction, _| match direction {
        Direction::Up => Some(20_000),
        Direction::Down => Some(70_000),
    });
    let summary = summary(plan("game", Config::game(), 40), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    let streams = workload.streams.as_ref().unwrap();
    let trip = streams.round_trip_ms.unwrap();
    assert_eq!((trip.count, trip.p50, trip.max), (2558, Some(90.0), Some(90.0)));
    close(streams.qoo, 50.0, 1e-9);
    let goals: Vec<_> = workload
        .goals
        .iter()
        .map(|goal| (goal.goal.as_str(), goal.verdict, goal.met))
        .collect();
    assert_eq!(
        goals,
        [
            ("round trip ≤ 100 ms", Verdict::Pass, Some(1.0)),
            ("no gap of 100 ms", Verdict::Pass, Some(1.0)),
        ]
    );
    for stream in [streams.up.unwrap(), streams.down.unwrap()] {
        assert_eq!(stream.gaps.unwrap().count, 0);
    }
}

/// Numbers 1000 to 1006 are lost down. Between the arrivals of 999 and 1007 are 8 · 15.625 = 125 ms, of 2559 · 15.625 ms
/// = 39.98 s: 0.31 %, which is marginal. The seven inputs that these packets answer wait for number 1007, so the first of them
/// has a round trip of 20 + 20 + 7 · 15.625 = 149.375 ms.
#[test]
fn a_gap_of_a_game_is_a_time_without_an_arrival() {
    let rows =
        game(|direction, number| (direction == Direction::Up || !(1000..=1006).contains(&number)).then_some(20_000));
    let summary = summary(plan("game", Config::game(), 40), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    let streams = workload.streams.as_ref().unwrap();
    let gaps = streams.down.unwrap().gaps.unwrap();
    assert_eq!((gaps.count, gaps.longest_ms), (1, 125.0));
    close(Some(gaps.share), 125.0 / 39_984.375, 1e-9);
    assert_eq!(streams.round_trip_ms.unwrap().max, Some(149.375));
    let verdicts: Vec<Verdict> = workload.goals.iter().map(|goal| goal.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Marginal]);
}

/// Cloud gaming for 10 s: 600 frames of 43 packets, and 1250 inputs. All packets take 10 ms, so the last one of a frame arrives
/// 42 · 155.038 µs = 6.512 ms + 10 ms after the frame's due time, and at most 10 + 16.667 ms are in time. Packet 42 of frames 0
/// to 5 takes 10.2 ms longer: 26.712 ms is late. Packet 7 of frames 10 to 12 is lost. 9 of 600 frames are missed: 1.5 %.
#[test]
fn frames_are_late_or_incomplete() {
    let config = Config::cloud_gaming();
    let mut rows = Vec::new();
    for (direction, stream) in config.datagrams.all() {
        for number in 0..stream.packets_within(SECOND * 10) {
            let due = Instant::ZERO + stream.offset(number).unwrap();
            let (frame, place) = (number / 43, number % 43);
            let taken = match direction {
                Direction::Down if frame < 6 && place == 42 => Some(20_200),
                Direction::Down if (10..13).contains(&frame) && place == 7 => None,
                _ => Some(10_000),
            };
            let (outcome, taken) = match taken {
                Some(us) => (Outcome::Finished, Duration::from_micros(us)),
                None => (Outcome::TimedOut, SECOND * 2),
            };
            rows.push(operation(0, 0, direction.operation(number), due, outcome, taken));
        }
    }
    let summary = summary(plan("cloud", config, 10), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    let streams = workload.streams.as_ref().unwrap();
    assert_eq!(
        (streams.up.unwrap().frames, streams.up.unwrap().gaps, streams.qoo),
        (None, None, None)
    );
    let frames = streams.down.unwrap().frames.unwrap();
    assert_eq!(frames.frames, 600);
    assert_eq!((frames.late_share, frames.incomplete_share), (Some(0.01), Some(0.005)));
    assert_eq!((frames.missed_share, frames.delay_ms.unbounded), (Some(0.015), 3));
    close(frames.delay_ms.p50, 16.512, 1e-3);
    close(frames.delay_ms.max, 26.712, 1e-3);
    // 10 ms up, and a frame of 16.512 ms down.
    close(streams.round_trip_ms.unwrap().p50, 26.512, 1e-3);
    let goals: Vec<_> = workload
        .goals
        .iter()
        .map(|goal| (goal.goal.as_str(), goal.verdict, goal.samples))
        .collect();
    assert_eq!(goals[0], ("frames on time", Verdict::Marginal, 600));
    close(workload.goals[0].met, 0.985, 1e-9);
    assert_eq!((goals[1].0, goals[1].1), ("round trip ≤ 80 ms", Verdict::Pass));
}
