//! Runs in which an agent's clock is set, or stops while its device sleeps.

use super::*;

/// A whole run with clocks that jump at the given times by the given offsets.
fn whole(jumps: &[(i64, ConnectionId, i64)]) -> Rig {
    let mut rig = Rig::with(Timeouts::for_fleet(Duration::from_secs(30)));
    let begun = rig.now;
    rig.jumps = jumps.iter().map(|(at, id, by)| (begun.offset(*at), *id, *by)).collect();
    rig.start();
    rig.say(LAPTOP, rows(1, 0));
    rig.pass(27 * SECOND);
    rig.report();
    rig.pass(5 * SECOND);
    rig
}

fn clock(rig: &Rig, name: &str) -> Clock {
    let all = rig.details(EventKind::Clock);
    // Once at the start, and once at the end.
    let mut read = all.into_iter().filter_map(|(_, detail)| match detail {
        Detail::Clock(clock) => Some((**clock).clone()),
        _ => None,
    });
    read.rfind(|clock| clock.name == name).unwrap()
}

/// Difference between an agent's start time, on its clock at that time, and the start.
fn off(rig: &Rig, id: ConnectionId) -> i64 {
    let told = rig.sent.iter().find_map(|(to, message)| match message {
        ToAgent::Start(start) if *to == id => Some(start.at),
        _ => None,
    });
    rig.theirs(id, rig.coordinator.start.unwrap()) - told.unwrap()
}

#[test]
fn a_clock_jump_during_the_run_is_recorded_and_changes_no_start() {
    let calm = whole(&[]);
    let ended = calm.now;
    for name in ["laptop", "tv", "server"] {
        assert_eq!(clock(&calm, name).jump_ns, None);
    }
    // Clock synchronisation takes the first half second, the run begins about 2 s later and lasts 20 s.
    for at in [SECOND / 2, 5 * SECOND, 15 * SECOND, 22 * SECOND] {
        for by in [-3 * SECOND, 3 * SECOND, -86_400 * SECOND, 40 * 365 * 86_400 * SECOND] {
            let rig = whole(&[(at, LAPTOP, by)]);
            assert_eq!(clock(&rig, "laptop").jump_ns, Some(by), "after {at} ns");
            for other in ["tv", "server"] {
                assert_eq!(clock(&rig, other).jump_ns, None);
            }
            assert_eq!(rig.now, ended, "the round ends when it would have");
            assert_eq!((rig.events(EventKind::Lost), &rig.rejected), (vec![], &vec![]));
            assert_eq!(rig.finish().unwrap().health.len(), 3);
        }
    }
}

/// 100 µs forward and 300 µs back result in an error of 100 µs, independent of the clock before it was set.
#[test]
fn a_clock_that_is_set_during_synchronisation_is_estimated_after_the_change() {
    for at in [5, 20, 50, 80, 110, 130] {
        for by in [-SECOND, 2_000_000, SECOND, 3600 * SECOND] {
            let rig = whole(&[(at * 1_000_000, LAPTOP, by)]);
            assert_eq!(off(&rig, LAPTOP), 100_000, "set by {by} ns after {at} ms");
            assert_eq!(off(&rig, TV), 100_000);
            assert_eq!(clock(&rig, "laptop").jump_ns, None, "it was over before the start");
            rig.finish().unwrap();
        }
    }
}

#[test]
fn all_clocks_may_jump_and_the_run_ends_in_time() {
    let ended = whole(&[]).now;
    let jumps = [SERVER, LAPTOP, TV].map(|id| [(6 * SECOND, id, -SECOND), (9 * SECOND, id, 5 * SECOND)]);
    let rig = whole(&jumps.concat());
    for name in ["laptop", "tv", "server"] {
        assert_eq!(clock(&rig, name).jump_ns, Some(4 * SECOND));
    }
    assert_eq!(rig.now, ended);
    rig.finish().unwrap();
}
