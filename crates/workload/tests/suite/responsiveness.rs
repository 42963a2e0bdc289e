//! The client of a responsiveness test: stages, schedules and scores derived by hand, and laws.

use netburn_stats::rpm::Confidence;
use netburn_units::{BitRate, ByteSize, Duration, Instant, Probability, Seed};
use netburn_workload::Direction::{self, Down, Up};
use netburn_workload::responsiveness::schedule::{idle_gap, loaded_gap};
use netburn_workload::responsiveness::{Config, ConnectionId, End, ProbeKind, Stage, Stages, TestResult};
use netburn_workload::{Action, Connection, Failure, Request, RequestId, Workload};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

const START: Instant = Instant::ZERO;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn loading(directions: &[Direction]) -> Config {
    Config {
        idle: Duration::ZERO,
        ..Config::new(directions.to_vec())
    }
}

fn new(config: Config) -> Workload {
    let mut workload = Workload::responsiveness_test(config, START, Seed(1)).unwrap();
    workload.handle_timeout(START);
    workload
}

fn test(workload: &mut Workload) -> &mut Stages {
    workload.test_mut().unwrap()
}

/// Times of the parts of a probe: TCP, TLS and HTTP, or the whole time of a self probe.
type Times = Result<[Duration; 3], ()>;

fn foreign(tcp_ms: u64, tls_ms: u64, http_ms: u64) -> [Duration; 3] {
    [tcp_ms, tls_ms, http_ms].map(ms)
}

fn own(millis: u64) -> [Duration; 3] {
    [ms(0), ms(0), ms(millis)]
}

/// A path: bytes per second of the load at a time, and the times of a probe by its number.
struct Path<'a> {
    rate: &'a dyn Fn(Instant) -> u64,
    probe: &'a dyn Fn(u64, ProbeKind) -> Times,
}

const STEADY: fn(Instant) -> u64 = |_| 1_000_000;

/// Three parts of 30 ms, and 120 ms on the loaded connection.
fn even(_: u64, kind: ProbeKind) -> Times {
    Ok(match kind {
        ProbeKind::Foreign => foreign(30, 30, 30),
        ProbeKind::Own => own(120),
    })
}

/// A test that has ended, with all its requests.
struct Ran {
    result: TestResult,
    opened: Vec<(Instant, Option<Direction>)>,
    probes: Vec<(Instant, Option<u32>)>,
    ended: Instant,
}

/// Progress of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    Tcp,
    Connected,
    Finished,
    Failed,
}

impl Progress {
    fn apply(self, workload: &mut Workload, now: Instant, id: RequestId) {
        match self {
            Progress::Tcp => workload.handle_tcp_connected(now, id),
            Progress::Connected => workload.handle_connected(now, id),
            Progress::Finished => workload.handle_finished(now, id),
            Progress::Failed => workload.handle_failed(now, id, Failure::Connection),
        }
    }
}

/// The connection of a request, and the direction of its load: `None` for the connection without load.
fn load(request: &Request) -> Option<(u32, Option<Direction>)> {
    match (ProbeKind::from_sequence(request.id.operation), request.connection) {
        (None, Connection::Kept(slot)) => {
            let is_load = request.size > ByteSize::from_bytes(1);
            Some((slot, is_load.then_some(request.direction)))
        }
        _ => None,
    }
}

fn requests(workload: &mut Workload) -> Vec<Request> {
    let actions = std::iter::from_fn(|| workload.poll_action());
    let begun = actions.filter_map(|action| match action {
        Action::Begin(request) => Some(request),
        _ => None,
    });
    begun.collect()
}

/// Runs a test on a path. Connections open at once, and responses arrive after their times. Each timeout is handled
/// `delay` late.
fn run(config: Config, path: &Path<'_>, delay: Duration) -> Ran {
    let mut workload = new(config);
    let (mut opened, mut probes) = (Vec::new(), Vec::new());
    let mut loads: Vec<RequestId> = Vec::new();
    let mut pending: Vec<(Instant, RequestId, Progress)> = Vec::new();
    let mut now = START;
    let mut loaded = START;
    // Billionths of a byte.
    let mut rest = 0;
    loop {
        for request in requests(&mut workload) {
            let id = request.id;
            if let Some((_, direction)) = load(&request) {
                opened.push((now, direction));
                workload.handle_connected(now, id);
                match direction {
                    Some(_) => loads.push(id),
                    None => workload.handle_finished(now, id),
                }
                continue;
            }
            let on = match request.connection {
                Connection::Kept(slot) => Some(slot),
                Connection::New => None,
            };
            let kind = ProbeKind::from_sequence(id.operation).unwrap();
            match (path.probe)(probes.len() as u64, kind) {
                Ok([tcp, tls, http]) => {
                    if kind == ProbeKind::Foreign {
                        pending.push((now + tcp, id, Progress::Tcp));
                        pending.push((now + tcp + tls, id, Progress::Connected));
                    }
                    pending.push((now + tcp + tls + http, id, Progress::Finished));
                }
                Err(()) => pending.push((now + ms(1), id, Progress::Failed)),
            }
            probes.push((now, on));
        }
        if workload.is_settled() {
            return Ran {
                result: test(&mut workload).result(),
                opened,
                probes,
                ended: now,
            };
        }
        pending.sort_unstable();
        let wake = workload.poll_timeout().map(|(at, _)| at);
        let timeout = wake.map(|at| at + delay);
        let response = pending.first().map(|(at, ..)| *at);
        let next = netburn_units::earlier(timeout, response).expect("the test waits for something");
        now = now.max(next);
        // All load until the next event is on the first connection.
        let until = wake.map_or(now, |at| at.min(now)).max(loaded);
        let nanos = until.since(loaded).as_nanos();
        rest += u128::from((path.rate)(loaded)) * u128::from(nanos);
        let bytes = rest / 1_000_000_000;
        rest %= 1_000_000_000;
        for (number, id) in loads.iter().enumerate() {
            let bytes = if number == 0 { bytes as u64 } else { 0 };
            // One nanosecond earlier: the bytes belong to the time before.
            workload.handle_bytes(until - Duration::from_nanos(1), *id, bytes);
        }
        loaded = until;
        if Some(next) == response && timeout.is_none_or(|at| next <= at) {
            let (_, id, progress) = pending.remove(0);
            progress.apply(&mut workload, now, id);
        } else {
            workload.handle_timeout(now);
        }
    }
}

/// Handles each timeout until `until` at its time.
fn advance(workload: &mut Workload, until: Instant) {
    while let Some((at, _)) = workload.poll_timeout().filter(|(at, _)| *at <= until) {
        workload.handle_timeout(at);
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
    let changing = |probe: u64, kind: ProbeKind| match kind {
        ProbeKind::Foreign => Ok(foreign(10, 10, 10)),
        ProbeKind::Own if probe < 60 => Ok(own(10)),
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
            if probe >= 40 {
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
            if (probe / 2).is_multiple_of(10) {
                Err(())
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
        // No response at the time of a late timeout, which it would make less late.
        probe: &|_, kind| match kind {
            ProbeKind::Foreign => Ok(foreign(31, 31, 31)),
            ProbeKind::Own => Ok(own(121)),
        },
    };
    let ran = run(loading(&[Down]), &path, ms(11));
    let result = ran.result;
    assert_eq!((result.foreign.due, result.foreign.late), (167, 167));
    assert_eq!(result.foreign.answered, 167);
    assert_eq!(result.start_delay_max, ms(11));
    let prompt = run(loading(&[Down]), &path, ms(9)).result;
    assert_eq!((prompt.own.due, prompt.own.late), (167, 0));
}

/// Without responses, 1000 probes of both kinds are outstanding at most. From 10 s on there are 100 of each kind per second. The
/// probe time-out is 10 s, so that none ends before 20 s.
#[test]
fn outstanding_probes_are_limited() {
    let mut config = loading(&[Down]);
    config.probe_timeout = Duration::from_secs(10);
    config.interval = Duration::from_secs(10);
    config.time = Duration::from_secs(50);
    let mut workload = new(config);
    let [request] = requests(&mut workload)[..] else {
        panic!("one connection")
    };
    workload.handle_connected(START, request.id);
    workload.handle_bytes(Instant::from_millis(9_999), request.id, 10_000_000_000);
    advance(&mut workload, Instant::from_millis(19_990));
    let result = test(&mut workload).result();
    let counts = |counts: netburn_workload::responsiveness::Counts| (counts.due, counts.outstanding, counts.not_sent);
    // From 10 s to 19.99 s, and from 10.005 s to 19.985 s.
    assert_eq!(counts(result.foreign), (1000, 500, 500));
    assert_eq!(counts(result.own), (999, 500, 499));
}

#[test]
fn a_failed_load_connection_and_the_data_limit_end_the_test() {
    let mut workload = new(loading(&[Down]));
    let id = requests(&mut workload)[0].id;
    workload.handle_connected(START, id);
    workload.handle_failed(Instant::from_secs(1), id, Failure::Connection);
    workload.handle_timeout(Instant::from_secs(1));
    assert!(workload.is_settled() && workload.poll_action().is_none() && workload.poll_timeout().is_none());
    let result = test(&mut workload).result();
    assert_eq!(result.end, End::ConnectionFailed(ConnectionId(0)));
    assert_eq!(result.confidence(), Confidence::Low);

    let config = Config {
        data: Some(ByteSize::from_bytes(1000)),
        ..loading(&[Down])
    };
    let mut workload = new(config);
    let id = requests(&mut workload)[0].id;
    workload.handle_connected(START, id);
    workload.handle_bytes(Instant::from_secs(1), id, 1000);
    assert!(!test(&mut workload).is_finished());
    workload.handle_bytes(Instant::from_secs(1), id, 1);
    let test = test(&mut workload);
    assert_eq!((test.is_finished(), test.result().end), (true, End::DataLimit));
    assert_eq!(test.result().bytes, 1001);
}

/// A connection that does not open within the probe time-out has failed. An open one that pauses for this time has not: it
/// requests its object again.
#[test]
fn a_connection_that_does_not_open_ends_the_test_and_a_pause_does_not() {
    let mut workload = new(loading(&[Up]));
    requests(&mut workload);
    advance(&mut workload, Instant::from_secs(5));
    let end = test(&mut workload).result().end;
    assert_eq!(end, End::ConnectionFailed(ConnectionId(0)));

    let mut workload = new(loading(&[Up]));
    let id = requests(&mut workload)[0].id;
    workload.handle_connected(START, id);
    advance(&mut workload, Instant::from_secs(5));
    assert!(!test(&mut workload).is_finished());
    advance(&mut workload, Instant::from_secs(6));
    let again = requests(&mut workload);
    assert!(
        again.iter().any(|request| request.connection == Connection::Kept(0)),
        "{again:?}"
    );
}

/// The load can use the whole processor, which the driver reports as overload.
#[test]
fn an_overloaded_driver_sends_all_probes() {
    let mut workload = new(Config::new(vec![Down]));
    let id = requests(&mut workload)[0].id;
    workload.handle_connected(START, id);
    workload.handle_finished(START, id);
    workload.set_overloaded(true);
    advance(&mut workload, Instant::from_millis(1_999));
    let counts = test(&mut workload).result().idle_counts;
    assert_eq!((counts.due, counts.outstanding), (40, 40));
}

#[test]
fn a_cancelled_test_ends_at_once() {
    let mut workload = new(loading(&[Down]));
    let id = requests(&mut workload)[0].id;
    workload.handle_connected(START, id);
    workload.handle_stop(Instant::from_secs(1));
    assert!(workload.is_settled());
    assert_eq!(test(&mut workload).result().end, End::Cancelled);
}

#[test]
fn a_failed_idle_connection_ends_the_test() {
    let mut workload = new(Config::new(vec![Down]));
    let id = requests(&mut workload)[0].id;
    workload.handle_failed(START, id, Failure::Dial);
    let end = test(&mut workload).result().end;
    assert_eq!(end, End::ConnectionFailed(ConnectionId(0)));

    let mut workload = new(Config::new(vec![Down]));
    let id = requests(&mut workload)[0].id;
    workload.handle_connected(START, id);
    workload.handle_finished(START, id);
    // Idle probes without a response: two seconds, and five until the last ones time out.
    advance(&mut workload, Instant::from_secs(7));
    assert_eq!(test(&mut workload).stage(), Stage::Goodput);
    // The idle connection may fail later.
    workload.handle_failed(Instant::from_secs(7), id, Failure::Connection);
    assert!(!test(&mut workload).is_finished());

    // The server accepts the connection and never responds to the object of one byte.
    let mut workload = new(Config::new(vec![Down]));
    let id = requests(&mut workload)[0].id;
    workload.handle_connected(START, id);
    advance(&mut workload, Instant::from_secs(6));
    let end = test(&mut workload).result().end;
    assert_eq!(end, End::ConnectionFailed(ConnectionId(0)));
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
        counts[connection as usize] += 1;
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
    /// The failure of any request.
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

/// Requests without an end, and the connections that were opened.
#[derive(Default)]
struct Driver {
    loads: BTreeMap<u32, RequestId>,
    probes: Vec<RequestId>,
    opened: BTreeMap<u32, Option<Direction>>,
}

impl Driver {
    /// Takes all outputs. Returns their number.
    fn drain(&mut self, workload: &mut Workload) -> usize {
        let mut count = 0;
        while let Some(action) = workload.poll_action() {
            count += 1;
            match action {
                Action::Begin(request) => match load(&request) {
                    Some((slot, direction)) => {
                        self.loads.insert(slot, request.id);
                        assert_eq!(*self.opened.entry(slot).or_insert(direction), direction);
                    }
                    None => self.probes.push(request.id),
                },
                Action::Cancel(id) => {
                    self.loads.retain(|_, load| *load != id);
                    self.probes.retain(|probe| *probe != id);
                }
                other => panic!("{other:?}"),
            }
        }
        count += std::iter::from_fn(|| workload.poll_operation()).count();
        count + std::iter::from_fn(|| test(workload).poll_interval()).count()
    }

    fn opened_in(&self, direction: Direction) -> u32 {
        self.opened
            .values()
            .filter(|opened| **opened == Some(direction))
            .count() as u32
    }
}

proptest! {
    /// For any driver: a timeout makes progress, counts add up, limits hold, and timeouts alone end the test in its time.
    #[test]
    fn laws(config in config(), steps in proptest::collection::vec(step(), 0..400)) {
        let mut workload = new(config.clone());
        let mut now = START;
        let mut driver = Driver::default();
        driver.drain(&mut workload);
        let mut steps = steps.into_iter();
        let mut turns = 0;
        while !workload.is_settled() {
            // When the steps are used up, only timeouts remain, and all connections open.
            let step = steps.next().unwrap_or(if turns % 10 == 0 { Step::Timeout(0) } else { Step::Opened(turns % 10 - 1) });
            turns += 1;
            prop_assert!(turns < 200_000, "no end");
            match step {
                Step::Timeout(late) => {
                    let Some((at, wake)) = workload.poll_timeout() else { continue };
                    prop_assert_eq!(workload.poll_timeout(), Some((at, wake)));
                    now = now.max(at + Duration::from_nanos(late));
                    workload.handle_timeout(now);
                    let output = driver.drain(&mut workload);
                    let later = workload.poll_timeout().is_none_or(|(next, _)| next > at);
                    prop_assert!(output > 0 || later, "{:?} has no effect", wake);
                    prop_assert!(workload.poll_timeout().is_none_or(|(next, _)| next > now));
                }
                Step::Opened(slot) => if let Some(id) = driver.loads.get(&slot).copied() {
                    workload.handle_connected(now, id);
                    if driver.opened[&slot].is_none() {
                        driver.loads.remove(&slot);
                        workload.handle_finished(now, id);
                    }
                },
                Step::Failed(number) => if let Some(id) = driver.loads.remove(&(number % 10)) {
                    workload.handle_failed(now, id, Failure::Connection);
                },
                Step::Bytes(slot, bytes) => if let Some(id) = driver.loads.get(&slot) {
                    workload.handle_bytes(now, *id, bytes);
                },
                Step::Answer(time) => if !driver.probes.is_empty() {
                    let id = driver.probes.remove(0);
                    if let Some(time) = time {
                        now += ms(time);
                        workload.handle_tcp_connected(now, id);
                        workload.handle_connected(now, id);
                        workload.handle_finished(now, id);
                    } else {
                        workload.handle_failed(now, id, Failure::Answer);
                    }
                },
                Step::Unknown(operation) => {
                    let id = RequestId { operation: operation + 1_000_000_000, object: 0 };
                    workload.handle_failed(now, id, Failure::Answer);
                }
            }
            driver.drain(&mut workload);
            workload.handle_timeout(now);
            driver.drain(&mut workload);
            let result = test(&mut workload).result();
            for counts in [result.foreign, result.own, result.idle_counts] {
                prop_assert_eq!(counts.due, counts.answered + counts.lost() + counts.outstanding);
            }
            prop_assert!([Down, Up].iter().all(|direction| driver.opened_in(*direction) <= config.connections));
        }
        prop_assert!(workload.poll_timeout().is_none() && workload.poll_action().is_none());
        prop_assert!(test(&mut workload).is_finished());
        let result = test(&mut workload).result();
        for counts in [result.foreign, result.own, result.idle_counts] {
            prop_assert_eq!(counts.outstanding, 0);
        }
        // The idle stage and the last probes end with the time-out of a probe, the load at its limit. An answer can be late.
        prop_assert!(result.loaded <= config.time + config.probe_timeout + ms(2_060));
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
