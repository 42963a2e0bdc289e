//! Agents whose clocks are set, stop or restart during a run.

use crate::support::clocks::Clocks;
use crate::support::fleet::{Fleet, end, operations, summary};
use crate::support::{start, station};
use netburn_record::{Clock, EventKind, Row, Run};
use std::time::Duration;

const SECOND: i64 = 1_000_000_000;

/// The record's entry on an agent's clock.
fn clock(fleet: &Fleet, name: &str) -> Clock {
    let run = Run::open(&fleet.bench.path("saved")).unwrap();
    run.clocks().iter().find(|clock| clock.name == name).unwrap().clone()
}

fn warnings(fleet: &Fleet) -> Vec<String> {
    let mut printed = Vec::new();
    let run = Run::open(&fleet.bench.path("saved")).unwrap();
    run.rows(&mut |row| match row {
        Row::Event(event) if event.kind == EventKind::Warning && !event.detail.text().contains("Wi-Fi") => {
            printed.push(event.detail.text().into_owned())
        }
        _ => {}
    })
    .unwrap();
    printed
}

/// A board without a battery starts in 1974. During the run its clock is set, and then set back by a day.
#[test]
fn setting_the_wall_clock_during_a_run_changes_nothing() {
    let fleet = Fleet::new();
    let clocks = Clocks::new(&fleet.bench);
    clocks.set_wall(-52 * 365 * 86_400 * SECOND);
    let (alpha, beta) = (clocks.agent(&fleet, "alpha"), fleet.agent("beta", &[]));
    let mut run = start(fleet.run(&["--out", "saved"]));
    run.wait_for_load();
    std::thread::sleep(Duration::from_millis(700));
    clocks.set_wall(0);
    std::thread::sleep(Duration::from_millis(700));
    clocks.set_wall(-86_400 * SECOND);
    let found = summary(&run.finish());
    for name in ["caller", "reader"] {
        assert!((29..=31).contains(&operations(&found, name)), "{found:#}");
        assert_eq!(clock(&fleet, name).jump_ns, None);
    }
    assert_eq!(warnings(&fleet), Vec::<String>::new());
    let printed = end(alpha).stderr;
    assert!(printed.contains("its results are delivered"), "{printed}");
    end(beta);
}

#[test]
fn a_device_that_sleeps_during_a_run_is_reported_and_unreliable() {
    let fleet = Fleet::new();
    let clocks = Clocks::new(&fleet.bench);
    let (alpha, _beta) = (clocks.agent(&fleet, "alpha"), fleet.agent("beta", &[]));
    // Long enough for the sleep to be within the load, also if each process of the test waits for a processor.
    let mut run = start(fleet.run(&["--out", "saved", "--set", "duration=\"15s\""]));
    run.wait_for_load();
    std::thread::sleep(Duration::from_millis(500));
    alpha.signal("STOP");
    std::thread::sleep(Duration::from_secs(2));
    clocks.slept(2 * SECOND);
    alpha.signal("CONT");
    let found = summary(&run.finish().expect(3));
    // It completes its workload by its own clock: a call every 131 ms for 15 s.
    for name in ["caller", "reader"] {
        assert!((113..=115).contains(&operations(&found, name)), "{found:#}");
    }
    let caller = station(&found, "caller");
    assert_eq!(caller["verdict"], "inconclusive", "{caller:#}");
    assert!(caller["reasons"].to_string().contains("jumped back by"), "{caller:#}");
    let reader = station(&found, "reader")["reasons"].to_string();
    assert!(!reader.contains("during the run"), "{reader}");
    let jump = clock(&fleet, "caller").jump_ns.unwrap();
    assert!((-2_100_000_000..=-1_900_000_000).contains(&jump), "{jump}");
    assert_eq!(clock(&fleet, "reader").jump_ns, None);
    let printed = warnings(&fleet);
    assert_eq!(printed.len(), 1, "{printed:?}");
    assert!(
        printed[0].starts_with("the device slept for 2 s: its clock stopped"),
        "{printed:?}"
    );
}

/// A device that was restarted has another monotonic clock, here in a time namespace.
#[test]
fn an_agent_delivers_its_spool_after_a_restart_of_the_device() {
    let fleet = Fleet::new();
    let (_alpha, beta) = (fleet.agent("alpha", &[]), fleet.agent("beta", &[]));
    let mut run = start(fleet.run(&["--out", "saved", "--set", "duration=\"15s\""]));
    run.wait_for_load();
    std::thread::sleep(Duration::from_secs(2));
    beta.signal("KILL");
    beta.finish().expect(128 + 9);
    let ahead = [
        "--time",
        "--fork",
        "--kill-child",
        "--monotonic",
        "500000",
        "--boottime",
        "500000",
    ];
    let join = ["fleet", "join", fleet.url(), "--name", "beta"];
    let mut again = fleet.bench.inside(&ahead, "exec \"$@\"", join);
    again.env("NETBURN_STATE", fleet.bench.path("beta"));
    let _beta = start(again);
    run.wait_for("the news", |run| {
        run.stderr_so_far()
            .contains("agent reader (beta) was lost: it ended before its part was done, and was started again")
    });
    let found = summary(&run.finish().expect(3));
    assert!((8..113).contains(&operations(&found, "reader")), "{found:#}");
    assert!((113..=115).contains(&operations(&found, "caller")), "{found:#}");
    assert_eq!(clock(&fleet, "caller").jump_ns, None);
    let mut latest = 0;
    let record = Run::open(&fleet.bench.path("saved")).unwrap();
    record
        .rows(&mut |row| {
            if let Row::Interval(row) = row {
                latest = latest.max(row.at.as_nanos());
            }
        })
        .unwrap();
    assert!(latest < 17 * SECOND, "nothing is placed by another clock: {latest}");
}
