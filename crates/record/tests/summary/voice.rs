//! Results of calls.

use super::util::{ms, operation, sentences};
use super::{SECOND, close, plan, summary};
use netburn_record::{Row, RunStatus};
use netburn_scenario::Plan;
use netburn_units::Duration;
use netburn_workload::{Config, Direction, Outcome, Verdict};

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
        assert_eq!(
            (stream.delivery.packets, stream.delivery.lost_share, stream.gaps),
            (2000, Some(0.0), 0)
        );
        assert_eq!((stream.buffer_ms, stream.late_share), (Some(taken), Some(0.0)));
        assert_eq!(stream.delivery.delay_ms.unwrap().p99, Some(taken));
        assert_eq!(
            (stream.delivery.jitter_ms, stream.delivery.mean_loss_packets),
            (Some(0.0), None)
        );
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
        (
            up.delivery.lost_share,
            up.delivery.longest_loss_packets,
            up.delivery.mean_loss_packets
        ),
        (Some(0.04), 2, Some(2.0))
    );
    close(up.burst_ratio, 1.92, 1e-9);
    close(up.rating, 77.78, 0.05);
    assert_eq!((up.gaps, up.gap_share), (40, Some(0.2)));
    assert_eq!(up.delivery.delay_ms.unwrap().unbounded, 80);
    let down = workload.voice.as_ref().unwrap().down;
    close(down.rating, 91.76, 0.05);
    assert_eq!(
        (down.delivery.lost_share, down.delivery.mean_loss_packets, down.gaps),
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
    assert_eq!(workload.voice.as_ref().unwrap().up.delivery.lost_share, Some(0.0));
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
