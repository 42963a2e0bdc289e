//! Windows in which a workload runs.

use crate::util::script::play;
use netburn_units::{Duration, Instant, Seed};
use netburn_workload::config::{Activity, Window};
use netburn_workload::kinds::{Bulk, Periodic};
use netburn_workload::{Config, Direction, Outcome, Workload};
use proptest::prelude::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn at(ms: i64) -> Instant {
    Instant::from_millis(ms)
}

fn activity(start: u64, stop: Option<u64>, repeat: Option<u64>) -> Activity {
    Activity {
        start: ms(start),
        stop: stop.map(ms),
        repeat: repeat.map(ms),
    }
}

fn windows(activity: Activity, from: i64, to: i64) -> Vec<(i64, i64)> {
    let millis = |at: Instant| at.as_nanos() / 1_000_000;
    let windows = activity.windows(at(from), at(to));
    let last = windows.last_window();
    let all: Vec<Window> = windows.collect();
    assert_eq!(last, all.last().copied());
    all.iter()
        .map(|window| (millis(window.from), millis(window.to)))
        .collect()
}

/// From 5 s on, 2 s in every 6 s: 5 to 7, 11 to 13, 17 to 19.
#[test]
fn windows_are_limited_by_the_load_of_the_station() {
    let square = activity(5000, Some(7000), Some(6000));
    for (from, to, expected) in [
        (0, 19_000, &[(5000, 7000), (11_000, 13_000), (17_000, 19_000)][..]),
        // A window that would begin at the end is none; others are cut.
        (0, 17_000, &[(5000, 7000), (11_000, 13_000)]),
        (0, 17_001, &[(5000, 7000), (11_000, 13_000), (17_000, 17_001)]),
        (6000, 12_000, &[(6000, 7000), (11_000, 12_000)]),
        (7000, 12_000, &[(11_000, 12_000)]),
        (7000, 11_000, &[]),
        (0, 5000, &[]),
    ] {
        assert_eq!(windows(square, from, to), expected, "{from} to {to}");
    }
}

#[test]
fn without_stop_or_repeat_there_is_one_window() {
    assert_eq!(windows(Activity::default(), 0, 60_000), [(0, 60_000)]);
    // The idle latency is measured before the start of the load.
    assert_eq!(windows(Activity::default(), -5000, 0), [(-5000, 0)]);
    assert_eq!(windows(activity(10_000, None, None), 0, 60_000), [(10_000, 60_000)]);
    assert_eq!(
        windows(activity(10_000, Some(20_000), None), 0, 60_000),
        [(10_000, 20_000)]
    );
    assert_eq!(
        windows(activity(10_000, Some(20_000), None), 15_000, 18_000),
        [(15_000, 18_000)]
    );
    assert_eq!(windows(activity(10_000, None, None), 0, 10_000), []);
}

proptest! {
    /// The windows are those instants of the load at which (t − start) mod repeat < stop − start.
    #[test]
    fn windows_contain_the_instants_of_the_closed_form(
        start in 0_u64..5000,
        length in 100_u64..4000,
        gap in 0_u64..4000,
        from in 0_i64..6000,
        load in 1_i64..20_000,
        probe in 0_i64..30_000,
    ) {
        let repeat = (length + gap).max(1000);
        let found = windows(activity(start, Some(start + length), Some(repeat)), from, from + load);
        let since = probe - start as i64;
        let active = since >= 0 && since % (repeat as i64) < length as i64 && probe >= from && probe < from + load;
        prop_assert_eq!(found.iter().any(|(from, to)| (*from..*to).contains(&probe)), active);
        prop_assert!(found.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
}

/// One stream from 1 s to 2 s, again from 4 s on. Times in the list count from 1 s. The object is cancelled at the end of
/// the window, and the next window begins with a new connection. The last window ends with the load, where the object
/// has the drain to finish.
#[test]
fn a_download_stops_at_the_end_of_each_window() {
    let config = Config {
        activity: activity(1000, Some(2000), Some(3000)),
        ..Config::download()
    };
    let operations = play(
        &config,
        3500,
        500,
        &[
            ("it begins", 0, "wake", "begin 0.0 on 0"),
            ("bytes move", 900, "bytes 0.0 5000", ""),
            ("it is cancelled", 1000, "wake", "cancel 0.0, 0 cut"),
            ("late bytes don't count", 1100, "bytes 0.0 5000", ""),
            ("nothing is due in the gap", 2999, "wake", ""),
            ("the next window", 3000, "wake", "begin 1.0 on 0"),
            ("the end of the load", 3500, "wake", ""),
            (
                "the object is complete in the drain",
                3600,
                "finished 1.0",
                "1 finished in 600 ms",
            ),
        ],
    );
    assert_eq!(operations[0].bytes, 5000);
}

/// A failure shortly before the end of the window does not delay the start of the next one.
#[test]
fn a_backoff_ends_with_the_window() {
    let config = Config {
        activity: activity(0, Some(1000), Some(2000)),
        ..Config::from(Bulk {
            streams: 2,
            ..Bulk::new(Direction::Up)
        })
    };
    play(
        &config,
        2500,
        0,
        &[
            ("both begin", 0, "wake", "begin 0.0 on 0, begin 1.0 on 1"),
            ("one fails", 900, "failed 0.0", "0 failed"),
            ("the other is cancelled", 1000, "wake", "cancel 1.0, 1 cut"),
            ("not after the backoff", 1900, "wake", ""),
            ("both again", 2000, "wake", "begin 2.0 on 0, begin 3.0 on 1"),
        ],
    );
}

/// Calls every 300 ms in windows of 1 s, every 2 s. Each window has the phase of the first one. A call in flight at the
/// end of a window finishes.
#[test]
fn a_grid_begins_again_in_each_window() {
    let config = Config {
        activity: activity(0, Some(1000), Some(2000)),
        ..Config::with(|calls: &mut Periodic| calls.grid.interval = ms(300))
    };
    let end = at(4000);
    let mut workload = Workload::new(config.clone(), at(0), end, end + ms(1000), Seed(3), 0);
    let phase = workload.first_due().unwrap().since(at(0));
    let mut dues = Vec::new();
    while let Some((now, _)) = workload.poll_timeout() {
        workload.handle_timeout(now);
        while let Some(action) = workload.poll_action() {
            if let netburn_workload::Action::Begin(request) = action {
                dues.push(request.due);
                // Each takes 250 ms, which is beyond the end of the window for the last one.
                workload.handle_finished(request.due + ms(250), request.id);
            }
        }
    }
    let operations: Vec<_> = std::iter::from_fn(|| workload.poll_operation()).collect();
    assert!(
        operations
            .iter()
            .all(|operation| operation.outcome == Outcome::Finished)
    );
    let mut expected = Vec::new();
    for window in [0, 2000] {
        let mut due = at(window) + phase;
        while due < at(window + 1000) {
            expected.push(due);
            due += ms(300);
        }
    }
    assert_eq!(dues, expected);
}

/// The drain begins at the `stop` of the workload.
#[test]
fn a_workload_that_stops_early_settles_early() {
    let config = Config {
        activity: activity(0, Some(1000), None),
        ..Config::voip()
    };
    let end = at(60_000);
    let mut workload = Workload::new(config, at(0), end, end + ms(5000), Seed(1), 0);
    assert_eq!(workload.end_of_load(), at(1000));
    workload.handle_timeout(at(1000));
    assert_eq!(
        workload.poll_timeout(),
        Some((at(6000), netburn_workload::Wake::Settle))
    );
}
