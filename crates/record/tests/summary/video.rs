//! Results of a video call.

use super::util::operation;
use super::{SECOND, close, plan, summary};
use netburn_record::{Row, RunStatus};
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use netburn_workload::kinds::VideoCall;
use netburn_workload::{Config, Direction, Outcome, PacketStream, Streams, Verdict};

/// 25 frames per second, at the target of 1.8 Mbit/s of 9000 B.
fn config() -> Config {
    let every = Duration::from_millis(40);
    let frames = PacketStream::adaptive(every, BitRate::from_bps(1_800_000), ByteSize::from_bytes(1000));
    Config {
        timeout: SECOND,
        ..Config::with(|call: &mut VideoCall| call.streams = Streams::both(frames))
    }
}

/// Frames of 10 s. `frame` returns the delay in ms (`None`: never complete) and the bytes of a frame, by direction
/// and number.
fn rows(frame: impl Fn(Direction, u64) -> (Option<u64>, u64)) -> Vec<Row> {
    let mut rows = Vec::new();
    for direction in [Direction::Up, Direction::Down] {
        for number in 0..250 {
            let due = Instant::ZERO + Duration::from_millis(40) * number;
            let (delay, bytes) = frame(direction, number);
            let (outcome, taken) = match delay {
                Some(ms) => (Outcome::Finished, Duration::from_millis(ms)),
                None => (Outcome::TimedOut, SECOND),
            };
            let mut row = operation(0, 0, direction.operation(number), due, outcome, taken);
            if let Row::Operation(row) = &mut row {
                row.operation.bytes = delay.map_or(0, |_| bytes);
            }
            rows.push(row);
        }
    }
    rows
}

/// Up, the first 50 frames have half of the target, all take 30 ms: 200 of 250 frames are at the target, and
/// (50 · 4500 + 200 · 9000) B in 10 s are 1.62 Mbit/s.
///
/// Down, frame 100 takes 300 ms. The frame before it is shown at 3990 ms, so it is shown 310 ms later, which is a
/// freeze: the limit is max(120, 190) ms. Frame 200 is lost. The frame before it is shown at 7990 ms, and the next
/// one after the time-out, at 9000 ms: a freeze of 1010 ms. Observed are 30 ms to 9990 ms. 249 of 250 frames have
/// 9000 B: 1.7928 Mbit/s. 248 of 250 take at most 150 ms: 99.2 %, and the worst has twice the limit.
#[test]
fn freezes_and_rates_are_those_of_each_direction() {
    let rows = rows(|direction, number| match (direction, number) {
        (Direction::Up, 0..50) => (Some(30), 4_500),
        (Direction::Down, 100) => (Some(300), 9_000),
        (Direction::Down, 200) => (None, 9_000),
        _ => (Some(30), 9_000),
    });
    let summary = summary(plan("talk", config(), 10), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    let streams = workload.streams.as_ref().unwrap();
    let (up, down) = (streams.up.unwrap(), streams.down.unwrap());
    assert_eq!((up.delivery.packets, up.delivery.lost_share), (250, Some(0.0)));
    assert_eq!((down.delivery.packets, down.delivery.lost_share), (250, Some(0.004)));
    assert_eq!((up.delivery.jitter_ms, up.gaps, up.frames), (None, None, None));
    close(up.delivery.delay_ms.unwrap().p50, 30.0, 1e-9);
    let (up, down) = (up.video.unwrap(), down.video.unwrap());
    assert_eq!((up.freezes, up.total_freezes_ms, up.frozen_share), (0, 0.0, Some(0.0)));
    assert_eq!(
        (down.freezes, down.total_freezes_ms, down.longest_freeze_ms),
        (2, 1320.0, 1010.0)
    );
    close(down.frozen_share, 1320.0 / 9960.0, 1e-9);
    assert_eq!((up.at_target_share, down.at_target_share), (Some(0.8), Some(0.996)));
    close(up.rate_mbps, 1.62, 1e-9);
    close(down.rate_mbps, 1.7928, 1e-9);
    close(Some(down.target_mbps), 1.8, 1e-9);
    let goals: Vec<_> = workload
        .goals
        .iter()
        .map(|goal| (goal.goal.as_str(), goal.verdict, goal.samples))
        .collect();
    // 9.96 s are 99 tenths of a second.
    assert_eq!(
        goals,
        [
            ("no freeze", Verdict::Fail, 99),
            ("frame delay ≤ 150 ms", Verdict::Pass, 250)
        ]
    );
    close(workload.goals[0].met, 1.0 - 1320.0 / 9960.0, 1e-9);
    assert_eq!(workload.goals[1].excess, Some(2.0));
}

/// Without freezes the goal passes: 9.96 s without any.
#[test]
fn a_steady_call_passes() {
    let rows = rows(|_, _| (Some(30), 9_000));
    let summary = summary(plan("talk", config(), 10), &rows, &RunStatus::Complete);
    let workload = &summary.stations[0].workloads[0];
    assert!(
        workload.goals.iter().all(|goal| goal.verdict == Verdict::Pass),
        "{:?}",
        workload.goals
    );
}
