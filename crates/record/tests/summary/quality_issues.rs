//! Quality issues, and their effect on verdicts and totals.

use super::page;
use super::util::{self, event, good_rows, header, health, sentences, station};
use netburn_record::{
    Clock, Detail, EventKind, Health, IntervalRow, Loss, LossCause, Moved, QualityIssue, Recorder, Role, Row,
    RunStatus, Sink, Summary,
};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::{Config, Outcome, Verdict};

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
        health.cpu = Some(0.99);
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

    // The server does not count datagrams: workload 1 of the television is a probe.
    let datagrams = Row::Interval(IntervalRow {
        station: 1,
        workload: 1,
        at: Instant::from_secs(1),
        bytes_down: 100 << 20,
        bytes_up: 0,
    });
    let probed = run(&[("laptop", laptop), ("hall-tv", tv)], &[datagrams]);
    assert!(probed.self_check.ok, "{:?}", probed.self_check.reasons);

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

/// A standstill delays, so a goal that was met in spite of it is met, and one that was missed may be missed because of it. While
/// it is long enough to leave out 0.1 % of the load, other operations may have been faster: then nothing is certain.
#[test]
fn a_goal_that_was_met_in_spite_of_a_delay_is_met() {
    let run = |extra: &[Row], change: &dyn Fn(&mut Health)| {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(&dir.path().join("run"), header(util::plan())).unwrap();
        for row in good_rows().iter().chain(extra) {
            recorder.put(row).unwrap();
        }
        let laptop = health("agent-1", Role::Agent, &["laptop"]);
        recorder.put(&changed_health(&laptop, change)).unwrap();
        recorder.finish(&RunStatus::Complete).unwrap().summary().clone()
    };
    let stood = |us: f64| move |health: &mut Health| health.standstill_us_max = Some(us);

    // 0.027 % of 60 s, as on a laptop that saves power. The limit of the self-check is 15 ms.
    let summary = run(&[], &stood(16_180.0));
    let laptop = &summary.stations[0];
    assert_eq!((summary.verdict, laptop.verdict), (Verdict::Pass, Verdict::Pass));
    assert!(laptop.reasons.is_empty());
    let note = "agent agent-1 had a standstill of 16.18 ms; the limit is 15 ms";
    assert_eq!(sentences(&laptop.notes), [note]);
    assert_eq!(sentences(&summary.self_check.reasons), [note]);
    assert!(summary.self_check.ok);
    let read: Summary = serde_json::from_str(&serde_json::to_string(&summary).unwrap()).unwrap();
    assert_eq!(read, summary);

    // 20 of 420 pages are late: 95.2 %, so the goal is not passed.
    let late: Vec<Row> = (400..420).map(|n| page(n, Outcome::TimedOut, 0)).collect();
    let summary = run(&late, &stood(16_180.0));
    let laptop = &summary.stations[0];
    assert_eq!(laptop.workloads[0].verdict, Verdict::Marginal);
    assert_eq!(laptop.verdict, Verdict::Inconclusive);
    assert!(laptop.notes.is_empty() && !summary.self_check.ok);

    // 0.17 % of 60 s without load; and skipped operations.
    let skipped = |health: &mut Health| health.missed_sends = 5;
    for change in [&stood(100_000.0) as &dyn Fn(&mut Health), &skipped] {
        let summary = run(&[], change);
        assert_eq!(summary.stations[0].verdict, Verdict::Inconclusive);
        assert_eq!(summary.verdict, Verdict::Inconclusive);
    }
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

/// A workload without operations is inconclusive. The reason is the first warning of its agent, if there is one.
#[test]
fn an_excluded_workload_has_the_reason_of_its_agent() {
    let voice = || {
        let phone = util::station("phone", &[("voice", Config::voice()), ("voip", Config::voip())]);
        Plan {
            stations: vec![phone],
            ..util::plan()
        }
    };
    let run = |warnings: &[&str]| {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(&dir.path().join("run"), header(voice())).unwrap();
        for text in warnings {
            let Row::Event(mut row) = event(Some(0), Some(0), 0, Duration::ZERO, EventKind::Warning) else {
                unreachable!()
            };
            row.detail = (*text).into();
            recorder.put(&Row::Event(row)).unwrap();
        }
        recorder.put(&health("agent", Role::Agent, &["phone"])).unwrap();
        recorder.put(&health("server", Role::Server, &[])).unwrap();
        let summary = recorder.finish(&RunStatus::Complete).unwrap().summary().clone();
        assert_eq!(summary.stations[0].workloads[0].verdict, Verdict::Inconclusive);
        sentences(&summary.stations[0].reasons)
    };
    let voip = "voip has no samples for `latency ≤ 150 ms`: no counted operation was due in the evaluated time";
    let without = "voice has no samples for `every 10 s R ≥ 80`: the evaluated time has no complete window";
    assert_eq!(run(&[]), [without, voip]);
    assert_eq!(
        run(&["skipped: this browser has no WebRTC", "another warning"]),
        ["voice has no operations: skipped: this browser has no WebRTC", voip]
    );
}
