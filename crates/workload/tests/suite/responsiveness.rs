//! The client of a responsiveness test: stages, schedules and scores derived by hand, and laws.

use netburn_stats::rpm::{Confidence, ForeignProbe, TlsHandshake};
use netburn_units::{BitRate, ByteSize, Duration, Instant, Probability, Seed};
use netburn_workload::Direction::{self, Down, Up};
use netburn_workload::responsiveness::schedule::{Schedule, idle_gap, loaded_gap};
use netburn_workload::responsiveness::{
    Action, Config, ConnectionId, End, Machine, ProbeFailure, ProbeId, ProbeKind, ProbeTimes, Stage, TestResult,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};

const START: Instant = Instant::ZERO;
const MS: u64 = 1_000_000;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn loading(directions: &[Direction]) -> Config {
    Config {
        idle: Duration::ZERO,
        ..Config::new(directions.to_vec())
    }
}

fn foreign(tcp_ms: u64, tls_ms: u64, http_ms: u64) -> ProbeTimes {
    ProbeTimes::Foreign(ForeignProbe {
        tcp_ns: tcp_ms * MS,
        tls: Some(TlsHandshake {
            total_ns: tls_ms * MS,
            round_trips: NonZeroU32::MIN,
        }),
        http_ns: http_ms * MS,
    })
}

fn own(millis: u64) -> ProbeTimes {
    ProbeTimes::Own(ms(millis))
}

/// A path: bytes per second of the load at a time, and the times of a probe.
struct Path<'a> {
    rate: &'a dyn Fn(Instant) -> u64,
    probe: &'a dyn Fn(ProbeId, ProbeKind) -> Result<ProbeTimes, ProbeFailure>,
}

const STEADY: fn(Instant) -> u64 = |_| 1_000_000;

/// Three parts of 30 ms, and 120 ms on the loaded connection.
fn even(_: ProbeId, kind: ProbeKind) -> Result<ProbeTimes, ProbeFailure> {
    Ok(match kind {
        ProbeKind::Foreign => foreign(30, 30, 30),
        ProbeKind::Own => own(120),
    })
}

/// A test that has ended, with all its actions.
struct Ran {
    result: TestResult,
    opened: Vec<(Instant, Option<Direction>)>,
    probes: Vec<(Instant, Option<ConnectionId>)>,
    ended: Instant,
}

/// Runs a test on a path. Connections open at once, and responses arrive after their times. Each timeout is handled
/// `delay` late.
fn run(config: Config, path: &Path<'_>, delay: Duration) -> Ran {
    let mut machine = Machine::new(config, START, Seed(1)).unwrap();
    let (mut opened, mut probes) = (Vec::new(), Vec::new());
    let mut loads: Vec<ConnectionId> = Vec::new();
    // Responses: (time, probe, result).
    let mut pending: Vec<(Instant, ProbeId, Result<ProbeTimes, ProbeFailure>)> = Vec::new();
    let mut now = START;
    let mut loaded = START;
    loop {
        while let Some(action) = machine.poll_action() {
            match action {
                Action::Open { connection, load } => {
                    opened.push((now, load));
                    if load.is_some() {
                        loads.push(connection);
                    }
                    machine.handle_opened(now, connection);
                }
                Action::Close(_) => {}
                Action::Probe { probe, on } => {
                    probes.push((now, on));
                    let kind = on.map_or(ProbeKind::Foreign, |_| ProbeKind::Own);
                    let result = (path.probe)(probe, kind);
                    let time = match result {
                        Ok(ProbeTimes::Own(time)) => time,
                        Ok(ProbeTimes::Foreign(times)) => {
                            Duration::from_nanos(times.tcp_ns + times.tls.map_or(0, |tls| tls.total_ns) + times.http_ns)
                        }
                        Err(_) => ms(1),
                    };
                    pending.push((now + time, probe, result));
                }
            }
        }
        if machine.is_finished() {
            return Ran {
                result: machine.result(),
                opened,
                probes,
                ended: now,
            };
        }
        pending.sort_by_key(|(at, probe, _)| (*at, *probe));
        let wake = machine.poll_timeout().map(|wake| wake.at);
        let timeout = wake.map(|at| at + delay);
        let response = pending.first().map(|(at, ..)| *at);
        let next = netburn_units::earlier(timeout, response).expect("the test waits for something");
        now = now.max(next);
        // All load until the next event is on the first connection.
        let until = wake.map_or(now, |at| at.min(now)).max(loaded);
        if let Some(connection) = loads.first() {
            let nanos = until.since(loaded).as_nanos();
            let bytes = u128::from((path.rate)(loaded)) * u128::from(nanos) / 1_000_000_000;
            // One nanosecond earlier: the bytes belong to the time before.
            machine.handle_bytes(until - Duration::from_nanos(1), *connection, bytes as u64);
        }
        loaded = until;
        if Some(next) == response && timeout.is_none_or(|at| next <= at) {
            let (_, probe, result) = pending.remove(0);
            machine.handle_probe(now, probe, result);
        } else {
            machine.handle_timeout(now);
        }
    }
}

/// 8 Mbit/s without a change. The first moving average of four intervals exists after 20 s, the fourth after 35 s: then
/// the goodput is stable. There is one connection at first, and one more after each of the intervals 1 to 6.
///
/// The score of each interval is 1250 (see the tests of the formulas), so that four of them are stable: 20 s later.
///
/// Probes may use 5 % of 8 Mbit/s = 400 kbit/s. A probe of each kind has 6000 bytes = 48 kbit, so that 120 ms are between
/// two of one kind. In 20 s, there are 167 foreign probes, at 0 to 19.92 s, and 167 self probes, at 0.06 to 19.98 s.
#[test]
fn a_path_without_changes_needs_eleven_intervals() {
    let path = Path {
        rate: &STEADY,
        probe: &even,
    };
    let ran = run(loading(&[Down]), &path, Duration::ZERO);
    let result = &ran.result;
    assert_eq!(result.end, End::Stable);
    assert_eq!(result.stage, Stage::Responsiveness);
    assert_eq!(result.confidence(), Confidence::High);
    assert_eq!(
        ran.opened.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
        [0, 5, 10, 15, 20, 25, 30].map(Instant::from_secs)
    );
    assert!(ran.opened.iter().all(|(_, load)| *load == Some(Down)));
    assert_eq!(result.goodput[0].connections, 7);
    assert_eq!(result.goodput[0].rate.unwrap().as_mbps_f64().round(), 8.0);
    assert_eq!(ran.probes.first().unwrap().0, Instant::from_secs(35));
    // The responses to the last probes take at most 120 ms.
    assert!(
        (Instant::from_secs(55)..=Instant::from_millis(55_100)).contains(&ran.ended),
        "{}",
        ran.ended
    );
    assert_eq!((result.foreign.due, result.foreign.answered), (167, 167));
    assert_eq!((result.own.due, result.own.answered), (167, 167));
    let scores = result.scores;
    assert_eq!((scores.foreign_count, scores.own_count), (167, 167));
    for score in [scores.draft, scores.median, scores.p90, scores.p95] {
        let score = score.unwrap();
        assert_eq!((score.foreign, score.loaded, score.score), (2000.0, 500.0, 1250.0));
    }
    for score in [scores.goresponsiveness, scores.goresponsiveness_p90] {
        assert_eq!(score.unwrap().score, 800.0);
    }
    assert_eq!(result.idle, None);
}

/// The goodput doubles in each interval, and is never stable. The score needs four intervals, so the goodput stage ends
/// after 60 − 20 = 40 s = 8 intervals, the last of which adds no connection. The times change after
/// three more intervals, so that the score is not stable at 60 s.
#[test]
fn an_unstable_path_ends_at_the_time_limit_with_medium_confidence() {
    let doubling = |at: Instant| 1_000 << (at.as_nanos() / 5_000_000_000);
    // 24, 48, 96 and 192 kbit/s are the probes' shares in the last four intervals: 5, 10, 20 and 40 probes. The times
    // change in the last one.
    let changing = |probe: ProbeId, kind: ProbeKind| match kind {
        ProbeKind::Foreign => Ok(foreign(10, 10, 10)),
        ProbeKind::Own if probe.0 < 60 => Ok(own(10)),
        ProbeKind::Own => Ok(own(800)),
    };
    let path = Path {
        rate: &doubling,
        probe: &changing,
    };
    let ran = run(loading(&[Down]), &path, Duration::ZERO);
    assert_eq!(ran.result.end, End::TimeLimit);
    assert_eq!(ran.result.goodput_confidence, Confidence::Medium);
    assert_eq!(ran.result.score_confidence, Confidence::Medium);
    assert_eq!(ran.opened.len(), 8);
    assert_eq!(ran.probes.first().unwrap().0, Instant::from_secs(40));
    assert!(
        (Instant::from_secs(60)..=Instant::from_secs(61)).contains(&ran.ended),
        "{}",
        ran.ended
    );
}

/// With 25 s, the goodput stage has one interval, and the score four.
#[test]
fn a_short_test_has_low_confidence() {
    let path = Path {
        rate: &STEADY,
        probe: &even,
    };
    let config = Config {
        time: Duration::from_secs(25),
        ..loading(&[Up])
    };
    let ran = run(config, &path, Duration::ZERO);
    assert_eq!(ran.result.goodput_confidence, Confidence::Low);
    assert_eq!(ran.result.score_confidence, Confidence::High);
    assert_eq!(ran.result.confidence(), Confidence::Low);
    assert_eq!(ran.result.goodput[0].connections, 1);
    assert_eq!(ran.probes.first().unwrap().0, Instant::from_secs(5));
}

#[test]
fn connections_are_limited_and_both_directions_have_their_own() {
    let path = Path {
        rate: &STEADY,
        probe: &even,
    };
    let config = Config {
        first: 2,
        added: 3,
        connections: 6,
        ..loading(&[Down, Up])
    };
    let ran = run(config, &path, Duration::ZERO);
    // 2, then 5, then 6 of each direction.
    for direction in [Down, Up] {
        let opened: Vec<Instant> = ran
            .opened
            .iter()
            .filter(|(_, load)| *load == Some(direction))
            .map(|(at, _)| *at)
            .collect();
        assert_eq!(opened, [0, 0, 5, 5, 5, 10].map(Instant::from_secs));
    }
    assert_eq!(ran.result.goodput.len(), 2);
}

/// 2 s with 10 probes of each kind per second, on a connection without load. Three parts of 10 ms and 10 ms: 6000 RPM.
#[test]
fn idle_probes_are_before_the_load() {
    let path = Path {
        rate: &STEADY,
        probe: &|probe, kind| {
            // 20 of each kind are before the load.
            if probe.0 >= 40 {
                return even(probe, kind);
            }
            Ok(match kind {
                ProbeKind::Foreign => foreign(10, 10, 10),
                ProbeKind::Own => own(10),
            })
        },
    };
    let ran = run(Config::new(vec![Down]), &path, Duration::ZERO);
    let idle = ran.result.idle.unwrap();
    assert_eq!((idle.foreign_count, idle.own_count), (20, 20));
    assert_eq!(idle.draft.unwrap().score, 6000.0);
    assert_eq!(ran.result.idle_counts.answered, 40);
    assert_eq!(ran.result.scores.draft.unwrap().score, 1250.0);
    assert_eq!(ran.opened[0], (START, None));
    // The last self probe is due at 1.95 s, and answered before 2 s.
    assert_eq!(ran.opened[1], (Instant::from_secs(2), Some(Down)));
}

/// Each tenth probe of both kinds fails. In the trimmed mean they count with the time-out of 5 s. The 95th percentile is among them: its time
/// is unlimited, and its rate zero. The 50th percentile is not.
#[test]
fn failed_probes_are_counted_and_bound_the_percentiles() {
    let path = Path {
        rate: &STEADY,
        probe: &|probe, kind| {
            if (probe.0 / 2).is_multiple_of(10) {
                Err(ProbeFailure::Failed)
            } else {
                even(probe, kind)
            }
        },
    };
    let ran = run(loading(&[Down]), &path, Duration::ZERO);
    // 167 of each kind, numbers 0 to 166: 17 are multiples of ten.
    for counts in [ran.result.foreign, ran.result.own] {
        assert_eq!((counts.due, counts.answered, counts.failed), (167, 150, 17));
        assert_eq!(counts.lost(), 17);
    }
    let scores = ran.result.scores;
    assert_eq!((scores.foreign_count, scores.own_count), (150, 150));
    // 95 % of 167 are 158: 150 of 30 ms and 8 of 5 s for a foreign probe, 150 of 120 ms and 8 of 5 s for a self probe.
    // (60 s ÷ 281.65 ms + 60 s ÷ 367.09 ms) ÷ 2 = 188.2.
    assert!(
        (scores.draft.unwrap().score - 188.24).abs() < 0.01,
        "{:?}",
        scores.draft
    );
    assert_eq!(scores.median.unwrap().score, 1250.0);
    assert!(scores.p95.unwrap().score < 1e-3, "{:?}", scores.p95);
}

#[test]
fn late_probes_are_counted_and_not_dropped() {
    let path = Path {
        rate: &STEADY,
        probe: &even,
    };
    let ran = run(loading(&[Down]), &path, ms(10));
    let result = ran.result;
    assert_eq!((result.foreign.due, result.foreign.late), (167, 167));
    assert_eq!(result.foreign.answered, 167);
    assert_eq!(result.start_delay_max, ms(10));
    let prompt = run(loading(&[Down]), &path, ms(9)).result;
    assert_eq!((prompt.own.due, prompt.own.late), (167, 0));
}

/// Without responses, 512 probes of a kind are outstanding at most. At 100 per second and a probe time-out of 10 s, 1000 are due.
#[test]
fn outstanding_probes_are_limited() {
    let mut config = loading(&[Down]);
    config.probe_timeout = Duration::from_secs(10);
    config.interval = Duration::from_secs(10);
    config.time = Duration::from_secs(50);
    let mut machine = Machine::new(config, START, Seed(1)).unwrap();
    machine.handle_opened(START, ConnectionId(0));
    machine.handle_bytes(START, ConnectionId(0), 10_000_000_000);
    machine.handle_timeout(Instant::from_millis(20_000));
    let counts = machine.result().foreign;
    // From 10 s to 20 s, both ends included.
    assert_eq!((counts.due, counts.outstanding, counts.not_sent), (1001, 512, 489));
}

#[test]
fn a_failed_load_connection_and_the_data_limit_end_the_test() {
    let mut machine = Machine::new(loading(&[Down]), START, Seed(1)).unwrap();
    machine.handle_opened(START, ConnectionId(0));
    machine.handle_failed(Instant::from_secs(1), ConnectionId(0));
    assert!(machine.is_finished() && machine.poll_action().is_none() && machine.poll_timeout().is_none());
    assert_eq!(machine.result().end, End::ConnectionFailed(ConnectionId(0)));
    assert_eq!(machine.result().confidence(), Confidence::Low);

    let config = Config {
        data: Some(ByteSize::from_bytes(1000)),
        ..loading(&[Down])
    };
    let mut machine = Machine::new(config, START, Seed(1)).unwrap();
    machine.handle_opened(START, ConnectionId(0));
    machine.handle_bytes(Instant::from_secs(1), ConnectionId(0), 1000);
    assert!(!machine.is_finished());
    machine.handle_bytes(Instant::from_secs(1), ConnectionId(0), 1);
    assert_eq!((machine.is_finished(), machine.result().end), (true, End::DataLimit));
    assert_eq!(machine.result().bytes, 1001);
}

/// The idle connection of a test that has begun its load may fail.
#[test]
fn a_failed_idle_connection_ends_the_idle_stage_only() {
    let mut machine = Machine::new(Config::new(vec![Down]), START, Seed(1)).unwrap();
    machine.handle_failed(START, ConnectionId(0));
    assert_eq!(machine.result().end, End::ConnectionFailed(ConnectionId(0)));

    let mut machine = Machine::new(Config::new(vec![Down]), START, Seed(1)).unwrap();
    machine.handle_opened(START, ConnectionId(0));
    // Idle probes without a response: two seconds, and five until the last ones time out.
    machine.handle_timeout(Instant::from_secs(7));
    assert_eq!(machine.stage(), Stage::Goodput);
    machine.handle_failed(Instant::from_secs(7), ConnectionId(0));
    assert!(!machine.is_finished());
}

/// 4 connections, 1000 choices: the mean is 250 of each, the standard deviation √(1000 · ¼ · ¾) = 13.7. The bounds are five
/// of them away.
#[test]
fn self_probes_use_each_connection_equally_often() {
    let fast: fn(Instant) -> u64 = |_| 100_000_000;
    let config = Config {
        first: 4,
        added: 0,
        intervals: NonZeroUsize::new(2).unwrap(),
        ..loading(&[Down])
    };
    let path = Path {
        rate: &fast,
        probe: &even,
    };
    let ran = run(config, &path, Duration::ZERO);
    let mut counts = [0; 4];
    for connection in ran.probes.iter().filter_map(|(_, on)| *on) {
        counts[connection.0 as usize] += 1;
    }
    // Two intervals with 100 per second.
    assert_eq!(counts.iter().sum::<u32>(), 1000);
    assert!(counts.iter().all(|count| (182..=318).contains(count)), "{counts:?}");
}

/// At most 5 % of the goodput. 96 Mbit/s: 4.8 Mbit/s are 100 probes of 48 kbit. 9.6 Mbit/s: 10. No goodput: one for each
/// interval. More goodput than that of 100 probes per second adds none.
#[test]
fn the_probes_share_of_the_goodput_is_limited() {
    let config = loading(&[Down]);
    for (rate, gap) in [
        (BitRate::from_mbps(10_000), ms(10)),
        (BitRate::from_mbps(96), ms(10)),
        (BitRate::from_bps(9_600_000), ms(100)),
        (BitRate::from_mbps(1), ms(960)),
        (BitRate::from_bps(1), Duration::from_secs(5)),
        (BitRate::from_bps(0), Duration::from_secs(5)),
    ] {
        assert_eq!(loaded_gap(&config, rate), gap, "{rate}");
    }
    assert_eq!(idle_gap(&config), ms(100));
}

/// Both kinds alternate. A probe after a change of the distance has the new distance to the probe before it.
#[test]
fn a_schedule_with_a_change() {
    let mut schedule = Schedule::new(START, ms(100));
    let mut due = Vec::new();
    for step in 0..6 {
        if step == 3 {
            schedule.set_gap(Instant::from_millis(110), ms(200));
        }
        due.push(schedule.next());
        schedule.advance();
    }
    use ProbeKind::{Foreign, Own};
    let expected = [
        (0, Foreign),
        (50, Own),
        (100, Foreign),
        (200, Own),
        (300, Foreign),
        (400, Own),
    ];
    assert_eq!(due, expected.map(|(at, kind)| (Instant::from_millis(at), kind)));
    // A shorter distance is not in the past.
    schedule.set_gap(Instant::from_millis(450), ms(20));
    assert_eq!(schedule.next().0, Instant::from_millis(450));
}

#[test]
fn parameters_out_of_range_are_named() {
    let error = |change: fn(&mut Config)| {
        let mut config = Config::new(vec![Down]);
        change(&mut config);
        config.check().unwrap_err().to_string()
    };
    assert_eq!(Config::new(vec![Down]).check(), Ok(()));
    assert_eq!(
        error(|c| c.time = Duration::from_secs(24)),
        "time: found 24 s, expected 25 s to 10 min (at least MAD + 1 intervals)"
    );
    assert_eq!(
        error(|c| c.interval = ms(99)),
        "id: found 99 ms, expected 100 ms to 10 min"
    );
    assert_eq!(
        error(|c| c.idle = Duration::from_secs(601)),
        "idle: found 601 s, expected at most 10 min"
    );
    assert_eq!(error(|c| c.connections = 0), "mnp: found 0, expected 1 to 64");
    assert_eq!(
        error(|c| c.probes_per_second = 1001),
        "mps: found 1001, expected 1 to 1000"
    );
    assert_eq!(
        error(|c| c.probe_share = Probability::ZERO),
        "ptc: found 0, expected more than 0 %, at most 100 %"
    );
    assert_eq!(
        error(|c| c.directions.push(Down)),
        "directions: found 2 directions, expected one direction, or both"
    );
    assert_eq!(
        error(|c| c.intervals = NonZeroUsize::new(101).unwrap()),
        "mad: found 101, expected 1 to 100"
    );
}

/// Step of a random driver.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Handles the next timeout this late.
    Timeout(u64),
    /// A connection opens, or fails.
    Opened(u32),
    Failed(u32),
    Bytes(u32, u64),
    /// The oldest outstanding probe, with its time in ms, or a failure.
    Answer(Option<u64>),
    /// An answer to any number.
    Unknown(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => prop_oneof![Just(0), 0..30_000_000_u64].prop_map(Step::Timeout),
        4 => (0..10_u32).prop_map(Step::Opened),
        1 => (40..60_u32).prop_map(Step::Failed),
        4 => (0..10_u32, 0..100_000_000_u64).prop_map(|(connection, bytes)| Step::Bytes(connection, bytes)),
        8 => proptest::option::weighted(0.8, 1..2_000_u64).prop_map(Step::Answer),
        1 => (0..10_000_u64).prop_map(Step::Unknown),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    let directions = prop_oneof![Just(vec![Down]), Just(vec![Up]), Just(vec![Down, Up])];
    (
        directions,
        0..3_000_u64,
        100..2_000_u64,
        1..6_usize,
        1..4_u32,
        0..4_u32,
        3..8_u32,
        1..100_u32,
    )
        .prop_map(
            |(directions, idle, interval, intervals, first, added, connections, probes)| {
                let config = Config {
                    idle: ms(idle),
                    interval: ms(interval),
                    intervals: NonZeroUsize::new(intervals).unwrap(),
                    first,
                    added,
                    connections,
                    probes_per_second: probes,
                    ..Config::new(directions)
                };
                Config {
                    time: (config.window() + config.interval) + ms(idle),
                    ..config
                }
            },
        )
}

proptest! {
    /// For any driver: a timeout makes progress, counts add up, limits hold, and timeouts alone end the test in its time.
    #[test]
    fn laws(config in config(), steps in proptest::collection::vec(step(), 0..400)) {
        let mut machine = Machine::new(config.clone(), START, Seed(3)).unwrap();
        let mut now = START;
        let mut outstanding: BTreeSet<ProbeId> = BTreeSet::new();
        let mut opened = [0_u32; 2];
        let drained = |machine: &mut Machine, outstanding: &mut BTreeSet<ProbeId>, opened: &mut [u32; 2]| {
            let mut count = 0;
            while let Some(action) = machine.poll_action() {
                count += 1;
                match action {
                    Action::Open { load, .. } => if let Some(direction) = load {
                        opened[usize::from(direction == Up)] += 1;
                    },
                    Action::Close(_) => {}
                    Action::Probe { probe, .. } => assert!(outstanding.insert(probe), "{probe:?} twice"),
                }
            }
            count + std::iter::from_fn(|| machine.poll_interval()).count()
        };
        drained(&mut machine, &mut outstanding, &mut opened);
        let mut steps = steps.into_iter();
        let mut turns = 0;
        while !machine.is_finished() {
            // When the steps are used up, only timeouts remain, and the first connection opens.
            let step = steps.next().unwrap_or(if turns % 2 == 0 { Step::Opened(0) } else { Step::Timeout(0) });
            turns += 1;
            prop_assert!(turns < 200_000, "no end");
            match step {
                Step::Timeout(late) => {
                    let Some(wake) = machine.poll_timeout() else { continue };
                    prop_assert_eq!(machine.poll_timeout(), Some(wake));
                    let before = machine.result();
                    now = now.max(wake.at + Duration::from_nanos(late));
                    machine.handle_timeout(now);
                    let output = drained(&mut machine, &mut outstanding, &mut opened);
                    let later = machine.poll_timeout().is_none_or(|next| next.at > wake.at);
                    let counted = machine.result() != before;
                    prop_assert!(output > 0 || later || counted, "{:?} has no effect", wake);
                    prop_assert!(machine.poll_timeout().is_none_or(|next| next.at > now));
                }
                Step::Opened(number) => machine.handle_opened(now, ConnectionId(number)),
                Step::Failed(number) => machine.handle_failed(now, ConnectionId(number)),
                Step::Bytes(number, bytes) => machine.handle_bytes(now, ConnectionId(number), bytes),
                Step::Answer(time) => if let Some(probe) = outstanding.pop_first() {
                    // One of the two kinds fits; the machine ignores the other one.
                    match time {
                        None => machine.handle_probe(now, probe, Err(ProbeFailure::TimedOut)),
                        Some(time) => {
                            machine.handle_probe(now, probe, Ok(own(time)));
                            machine.handle_probe(now, probe, Ok(foreign(time, time, time)));
                        }
                    }
                },
                Step::Unknown(number) => {
                    if !outstanding.contains(&ProbeId(number)) {
                        machine.handle_probe(now, ProbeId(number), Err(ProbeFailure::Failed));
                    }
                }
            }
            drained(&mut machine, &mut outstanding, &mut opened);
            let result = machine.result();
            for counts in [result.foreign, result.own, result.idle_counts] {
                prop_assert_eq!(counts.due, counts.answered + counts.lost() + counts.outstanding);
            }
            prop_assert!(opened.iter().all(|count| *count <= config.connections));
        }
        prop_assert!(machine.poll_timeout().is_none() && machine.poll_action().is_none());
        let result = machine.result();
        for counts in [result.foreign, result.own, result.idle_counts] {
            prop_assert_eq!(counts.outstanding, 0);
        }
        // The idle stage and the last probes end with the time-out of a probe, the load at its limit.
        prop_assert!(result.loaded <= config.time + config.probe_timeout + ms(60));
        // A kind has at most MPS probes per second, and one more.
        let seconds = config.time.as_secs_f64() + 0.1;
        let most = seconds * f64::from(config.probes_per_second) + 2.0;
        prop_assert!(result.foreign.due as f64 <= most, "{} of {most}", result.foreign.due);
        prop_assert!(result.own.due as f64 <= most);
    }

    /// The same inputs cause the same test.
    #[test]
    fn a_test_depends_on_its_inputs_only(config in config()) {
        let path = Path { rate: &STEADY, probe: &even };
        let [one, other] = [(); 2].map(|()| run(config.clone(), &path, Duration::ZERO));
        prop_assert_eq!(one.result, other.result);
        prop_assert_eq!(one.probes, other.probes);
    }
}
