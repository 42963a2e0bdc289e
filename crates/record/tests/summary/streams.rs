//! Results of streams of datagrams.

use super::util::{interval, ms, operation};
use super::{SECOND, close, plan, summary};
use netburn_record::{DscpArrivals, EventKind, EventRow, Row, RunStatus};
use netburn_units::{Duration, Instant};
use netburn_workload::kinds::Packets;
use netburn_workload::{Config, Direction, Goal, Outcome, PacketStream, Streams, Verdict};

/// Datagrams of `seconds`: 100 packets a second up, 50 a second down. `taken` returns the delay of a packet in µs by its
/// direction and its number; `None` is lost.
fn datagrams(seconds: u64, taken: impl Fn(Direction, u64) -> Option<u64>) -> (Config, Vec<Row>) {
    let stream = |millis| PacketStream::single(SECOND / 1000 * millis, netburn_units::ByteSize::from_bytes(100));
    let streams = Streams {
        up: Some(stream(10)),
        down: Some(stream(20)),
    };
    let config = Config::with(|packets: &mut Packets| packets.streams = streams);
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
        (
            up.delivery.packets,
            up.delivery.lost_share,
            up.delivery.longest_loss_packets
        ),
        (4000, Some(0.0), 0)
    );
    assert_eq!(
        (
            down.delivery.packets,
            down.delivery.lost_share,
            down.delivery.longest_loss_packets
        ),
        (2000, Some(0.01), 20)
    );
    assert_eq!(
        (up.delivery.mean_loss_packets, down.delivery.mean_loss_packets),
        (None, Some(20.0))
    );
    assert_eq!(
        (up.delivery.delay_ms.unwrap().p99, up.delivery.jitter_ms),
        (Some(12.5), Some(0.0))
    );
    assert_eq!(down.delivery.delay_ms.unwrap().unbounded, 20);
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
        (
            streams.up.unwrap().delivery.packets,
            streams.down.unwrap().delivery.packets
        ),
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
    for (direction, stream) in config.packet_streams().all() {
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

/// An agent can report packets in several events. Those with another DSCP than that of the workload are not its packets.
#[test]
fn the_marks_of_packets_that_arrived_are_added_for_each_direction() {
    let (mut config, mut rows) = datagrams(10, |_, _| Some(12_500));
    config.dscp = netburn_units::Dscp::new(46);
    let arrivals = |direction, sent, arrived: [(u8, u64); 1]| DscpArrivals::new(direction, sent, arrived).unwrap();
    let reported = [
        arrivals(Direction::Up, 46, [(0, 900)]),
        arrivals(Direction::Down, 46, [(46, 500)]),
        arrivals(Direction::Up, 46, [(0, 100)]),
        arrivals(Direction::Up, 48, [(0, 7)]),
    ];
    rows.extend(reported.map(|arrivals| {
        Row::Event(EventRow {
            station: Some(0),
            workload: Some(0),
            at: ms(10_000),
            length: 0,
            kind: EventKind::Dscp,
            detail: arrivals.into(),
        })
    }));
    let summary = summary(plan("load", config, 10), &rows, &RunStatus::Complete);
    let expected = [
        arrivals(Direction::Up, 46, [(0, 1000)]),
        arrivals(Direction::Down, 46, [(46, 500)]),
    ];
    assert_eq!(summary.stations[0].workloads[0].dscp, expected);
}
