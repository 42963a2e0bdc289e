//! The workload `responsiveness`: due times of probes and load, and scores of windows by hand.

use crate::util::ms;
use netburn_stats::P50;
use netburn_stats::rpm::{Estimator, ForeignProbe, KEPT, TlsHandshake};
use netburn_units::{ByteSize, Duration, Instant, Seed};
use netburn_workload::config::{Activity, LOAD_OBJECT};
use netburn_workload::fuzz::{Checked, Input};
use netburn_workload::kinds::Responsiveness;

use netburn_workload::kinds::responsiveness::Part;
use netburn_workload::responsiveness::{ProbeKind, ProbeTimes, ScoredProbe, Scoring};
use netburn_workload::{
    Action, BACKOFF, Config, Connection, Direction, Failure, Goal, LoadConnections, Outcome, Request, RequestId,
    Verdict, judge, rpm_windows,
};
use std::num::NonZeroU32;

const MS: u64 = 1_000_000;

fn config(down: u32, up: u32) -> Config {
    Config::with(|probes: &mut Responsiveness| probes.load = LoadConnections { down, up })
}

fn checked(config: Config, seconds: i64) -> Checked {
    let end = Instant::from_secs(seconds);
    Checked::new(config, Instant::ZERO, end, end + Duration::from_secs(5), Seed(1))
}

fn requests(actions: &[Action]) -> Vec<Request> {
    let requests = actions.iter().filter_map(|action| match action {
        Action::Begin(request) => Some(*request),
        _ => None,
    });
    requests.collect()
}

/// Load starts at once on each connection: two down, one up. Each is an object of 8 GiB.
#[test]
fn the_load_starts_with_the_workload() {
    let mut run = checked(config(2, 1), 10);
    let begun = requests(&run.handle(Instant::ZERO, Input::Timeout));
    let of = |request: &Request| (request.connection, request.direction, request.size, request.due);
    let expected = |slot, direction| (Connection::Kept(slot), direction, LOAD_OBJECT, Instant::ZERO);
    let begun: Vec<_> = begun.iter().map(of).collect();
    assert_eq!(
        begun,
        [
            expected(0, Direction::Down),
            expected(1, Direction::Down),
            expected(2, Direction::Up)
        ]
    );
    run.finish();
}

/// With load, the probes of each kind are due every 100 ms, and alternate every 50 ms. In 10 s there are 100 of each kind.
/// Self probes use the connection whose load moves; without one they are not started.
#[test]
fn probes_alternate_on_a_fixed_grid() {
    let mut run = checked(config(1, 0), 10);
    let load = requests(&run.handle(Instant::ZERO, Input::Timeout))[0].id;
    let mut probes = Vec::new();
    while let Some((at, _)) = run.workload().poll_timeout().filter(|(at, _)| *at < ms(10_000)) {
        probes.extend(requests(&run.handle(at, Input::Timeout)));
        if at > ms(1_000) {
            run.handle(at, Input::Bytes(load, 1000));
        }
        for request in probes.iter().filter(|request| request.due == at) {
            run.handle(at, Input::Finished(request.id));
        }
    }
    run.finish();
    let of = |part| {
        run.ended
            .values()
            .filter(move |o| Part::from_sequence(o.sequence) == part)
    };
    assert_eq!((of(Part::Foreign).count(), of(Part::Own).count()), (100, 100));
    let first = run.ended[&Part::Foreign.operation(0)].due;
    assert!(first.since(Instant::ZERO) < Duration::from_millis(50));
    assert_eq!(
        run.ended[&Part::Own.operation(0)].due,
        first + Duration::from_millis(50)
    );
    assert_eq!(
        run.ended[&Part::Foreign.operation(7)].due,
        first + Duration::from_millis(700)
    );
    // The connection counts as open from the first bytes after 1 s on.
    for own in of(Part::Own) {
        let expected = if own.due < ms(1_051) {
            Outcome::NotStarted
        } else {
            Outcome::Finished
        };
        assert_eq!(own.outcome, expected, "{own:?}");
    }
    assert!(of(Part::Foreign).all(|probe| probe.outcome == Outcome::Finished));
    let begun = probes.iter().map(|request| {
        (
            Part::from_sequence(request.id.operation),
            request.connection,
            request.size,
        )
    });
    for (part, connection, size) in begun {
        let expected = if part == Part::Own {
            Connection::Kept(0)
        } else {
            Connection::New
        };
        assert_eq!((connection, size), (expected, ByteSize::from_bytes(1)));
    }
    // The load was running at the end: it is cut, which is no failure.
    let loads: Vec<_> = of(Part::Load).collect();
    assert_eq!((loads.len(), loads[0].outcome), (1, Outcome::Cut));
}

/// Without load there are only foreign probes, every 100 ms.
#[test]
fn without_load_there_are_only_foreign_probes() {
    let mut run = checked(config(0, 0), 10);
    while run.wake().is_some() {}
    run.finish();
    assert_eq!(run.ended.len(), 100);
    assert!(
        run.ended
            .keys()
            .all(|number| Part::from_sequence(*number) == Part::Foreign)
    );
    // None had a response, and each failed after 5 s. Those of the last 5 s too, because the drain is as long.
    assert!(run.ended.values().all(|probe| probe.outcome == Outcome::TimedOut));
}

/// A load connection that failed continues a second later. Self probes do not use it until its load moves again.
#[test]
fn a_failed_load_continues_after_a_second() {
    let mut run = checked(config(1, 0), 10);
    let load = requests(&run.handle(Instant::ZERO, Input::Timeout))[0].id;
    run.handle(ms(20), Input::Connected(load));
    while let Some((at, _)) = run.workload().poll_timeout().filter(|(at, _)| *at < ms(2_000)) {
        run.handle(at, Input::Timeout);
    }
    run.handle(ms(2_000), Input::Failed(load, Failure::Connection));
    let mut next = None;
    while let Some((at, _)) = run.workload().poll_timeout().filter(|(at, _)| *at < ms(4_000)) {
        let begun = requests(&run.handle(at, Input::Timeout));
        next = next.or(begun
            .into_iter()
            .find(|request| Part::from_sequence(request.id.operation) == Part::Load));
    }
    let next = next.unwrap();
    assert_eq!((next.due, next.connection), (ms(2_000) + BACKOFF, Connection::Kept(0)));
    run.finish();
    let own = run
        .ended
        .values()
        .filter(|o| Part::from_sequence(o.sequence) == Part::Own && o.due > ms(2_000));
    assert!(own.clone().count() > 50);
    assert!(own.into_iter().all(|probe| probe.outcome == Outcome::NotStarted));
}

/// Windows of 2 s every 4 s: the load is cancelled at the end of each, and starts again with the next one.
#[test]
fn the_load_runs_in_the_windows() {
    let repeated = Config {
        activity: Activity {
            start: Duration::ZERO,
            stop: Some(Duration::from_secs(2)),
            repeat: Some(Duration::from_secs(4)),
        },
        ..config(1, 1)
    };
    let mut run = checked(repeated, 10);
    let (mut loads, mut cancelled) = (Vec::new(), 0);
    while let Some((at, _)) = run.workload().poll_timeout() {
        let actions = run.handle(at, Input::Timeout);
        let is_load = |id: &RequestId| Part::from_sequence(id.operation) == Part::Load;
        loads.extend(
            requests(&actions)
                .into_iter()
                .filter(|request| is_load(&request.id))
                .map(|request| request.due),
        );
        cancelled += actions
            .iter()
            .filter(|action| matches!(action, Action::Cancel(id) if is_load(id)))
            .count();
    }
    run.finish();
    let [zero, four, eight] = [0, 4_000, 8_000].map(ms);
    assert_eq!(loads, [zero, zero, four, four, eight, eight]);
    assert_eq!(cancelled, 6);
}

fn foreign(due: Instant, part_ms: u64) -> ScoredProbe {
    let times = ForeignProbe {
        tcp_ns: part_ms * MS,
        tls: Some(TlsHandshake {
            total_ns: part_ms * MS,
            round_trips: NonZeroU32::MIN,
        }),
        http_ns: part_ms * MS,
    };
    ScoredProbe {
        due,
        kind: ProbeKind::Foreign,
        times: Some(ProbeTimes::Foreign(times)),
    }
}

fn own(due: Instant, millis: u64) -> ScoredProbe {
    ScoredProbe {
        due,
        kind: ProbeKind::Own,
        times: Some(ProbeTimes::Own(Duration::from_millis(millis))),
    }
}

const SCORING: Scoring = Scoring {
    tls: true,
    has_load: true,
    timeout: Duration::from_secs(5),
};

const GOAL: Goal = Goal::Rpm {
    at_least: 1000,
    window: Duration::from_secs(5),
    step: Duration::from_secs(1),
};

/// Parts of 30 ms and self probes of 120 ms: (2000 + 500) / 2 = 1250, and 60 s / 75 ms = 800 by goresponsiveness. Foreign
/// probes alone: 2000.
#[test]
fn scores_by_hand() {
    let probes = [foreign(ms(0), 30), own(ms(50), 120)];
    let mean = Estimator::TrimmedMean(KEPT);
    let score = SCORING.draft(&probes, mean).unwrap();
    assert_eq!((score.rpm, score.foreign, score.loaded), (1250.0, 2000.0, Some(500.0)));
    assert_eq!(SCORING.goresponsiveness(&probes), Some(800.0));
    let alone = Scoring {
        has_load: false,
        ..SCORING
    };
    let score = alone.draft(&probes[..1], mean).unwrap();
    assert_eq!((score.rpm, score.foreign, score.loaded), (2000.0, 2000.0, None));
    // Without self probes there is no score of both.
    assert_eq!(SCORING.draft(&probes[..1], mean), None);
    assert_eq!(SCORING.draft(&[], mean), None);
}

/// Ten foreign probes, one without a response. The trimmed mean keeps ⌊9.5⌋ = 9 of them, which is none of the lost. With two
/// lost it keeps one of 5 s: (8 · 30 + 5000) / 9 = 582.2 ms, 103 RPM. The median of the ten is unaffected.
#[test]
fn lost_probes_count_with_the_timeout() {
    let scoring = Scoring {
        has_load: false,
        ..SCORING
    };
    let lost = ScoredProbe {
        times: None,
        ..foreign(ms(0), 30)
    };
    let mut probes = vec![foreign(ms(0), 30); 10];
    probes[3] = lost;
    let score = |probes: &[ScoredProbe], estimator| scoring.draft(probes, estimator).unwrap().rpm;
    assert_eq!(score(&probes, Estimator::TrimmedMean(KEPT)), 2000.0);
    probes[5] = lost;
    let rpm = score(&probes, Estimator::TrimmedMean(KEPT));
    assert!((rpm - 60_000.0 / (5_240.0 / 9.0)).abs() < 1e-6, "{rpm}");
    assert_eq!(score(&probes, Estimator::Percentile(P50)), 2000.0);
}

/// Probes every 100 ms for 20 s. From 10 s on self probes take 300 ms instead of 60 ms: the score falls from
/// (2000 + 1000) / 2 = 1500 to (2000 + 200) / 2 = 1100. Of the 16 windows of 5 s, those that begin before 10 s contain fast
/// ones. A window with k slow seconds of five: the trimmed mean keeps 47 of 50 self probes, without three slow ones. So it is
/// (60 · (50 − 10k) + 300 · (10k − 3)) / 47 ms. All scores are at least 1100, which meets 1000 and not 1200.
#[test]
fn windows_have_scores_of_their_own() {
    let mut probes = Vec::new();
    for number in 0..200 {
        let due = ms(number * 100);
        probes.push(foreign(due, 30));
        probes.push(own(due, if number < 100 { 60 } else { 300 }));
    }
    let tally = rpm_windows(&probes, &SCORING, GOAL, ms(0), ms(20_000));
    assert_eq!((tally.samples, tally.met), (16, 16));
    let worst = tally.worst.unwrap();
    assert!((worst - 1000.0 / 1100.0).abs() < 1e-9, "{worst}");
    assert_eq!(judge(GOAL, &tally).verdict, Verdict::Pass);
    // k = 0: 1500. k = 1: (60 · 40 + 300 · 7) / 47 = 95.74 ms, 1313. k = 2: (60 · 30 + 300 · 17) / 47 = 146.8 ms, 1204.
    // k = 3: (60 · 20 + 300 · 27) / 47 = 197.9 ms, 1152. So windows that begin at 0 to 7 s meet 1200: 8 of 16.
    let goal = Goal::Rpm {
        at_least: 1200,
        window: Duration::from_secs(5),
        step: Duration::from_secs(1),
    };
    let tally = rpm_windows(&probes, &SCORING, goal, ms(0), ms(20_000));
    assert_eq!((tally.samples, tally.met), (16, 8));
    assert_eq!(judge(goal, &tally).verdict, Verdict::Fail);
    // A window without probes does not count, and one without a score has none: the excess is infinite.
    assert_eq!(rpm_windows(&[], &SCORING, GOAL, ms(0), ms(20_000)).samples, 0);
    let tally = rpm_windows(&probes[..1], &SCORING, GOAL, ms(0), ms(5_000));
    assert_eq!((tally.samples, tally.met, tally.worst), (1, 0, Some(f64::INFINITY)));
}

#[test]
fn impossible_values_are_rejected() {
    let problem = |change: fn(&mut Responsiveness)| Config::with(change).validate().unwrap_err().to_string();
    assert_eq!(problem(|c| c.load.down = 17), "`load_down` is 17; 0 to 16");
    assert_eq!(
        problem(|c| c.interval = Duration::from_millis(9)),
        "`interval` is 9 ms; 10 ms to 1 s"
    );
    let latency = Config {
        goals: Config::browsing().goals,
        ..config(1, 1)
    };
    assert_eq!(
        latency.validate().unwrap_err().to_string(),
        format!(
            "`goal` is not supported on kind `responsiveness`; {}",
            latency.goals[0].supporting_kinds()
        )
    );
    let other = Config {
        goals: vec![GOAL],
        ..Config::download()
    };
    assert_eq!(
        other.validate().unwrap_err().to_string(),
        "`goal` is not supported on kind `download`; round trips per minute are a goal for `responsiveness`"
    );
}
