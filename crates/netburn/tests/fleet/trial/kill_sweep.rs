//! A sweep that is killed at random instants and restarted until it is complete.

use super::kill::{Kill, STARTED_AGAIN};
use super::random::Random;
use crate::support::finished_runs;
use crate::support::{Bench, finish, house, start};
use std::time::Duration;

/// Runs of the sweep.
const RUNS: usize = 40;
/// Maximum number of kills.
const KILLS: usize = 6;

/// Kills a sweep several times. Each finished run stays unchanged, and the result is that of a sweep without kills.
pub(super) fn of_a_sweep(random: &mut Random) -> Vec<Kill> {
    let bench = Bench::new();
    bench.write("house.toml", house("5 s", "500 ms"));
    let vary = format!("seed=1..{RUNS}");
    let sweep = |folder: &str| {
        let args = [
            "sweep",
            "house.toml",
            "--vary",
            &vary,
            "--out",
            folder,
            "--jobs",
            "2",
            "--format",
            "csv",
        ];
        bench.netburn(args)
    };
    let whole = finish(sweep("whole")).expect(0);
    let folder = bench.path("cut");
    let mut kills = Vec::new();
    for _ in 0..KILLS {
        let before = finished_runs(&folder);
        let mut running = start(sweep("cut"));
        std::thread::sleep(random.millis(0, 400));
        if running.has_ended() {
            running.finish().expect(0);
            break;
        }
        running.signal("KILL");
        // It may have ended at that instant.
        if running.finish().code() == 128 + 9 {
            kills.push(Kill {
                whom: "sweep".to_owned(),
                outcome: STARTED_AGAIN,
                lost: Duration::ZERO,
            });
        }
        let after = finished_runs(&folder);
        for (name, facts) in &before {
            assert_eq!(after.get(name), Some(facts), "{name} was finished before");
        }
    }
    let kept = finished_runs(&folder);
    let rest = finish(sweep("cut")).expect(0);
    let after = finished_runs(&folder);
    assert_eq!(after.len(), RUNS);
    for (name, facts) in &kept {
        assert_eq!(after[name], *facts, "{name} was run twice");
    }
    assert_eq!(rest.out(), whole.out());
    let files = |folder: &str| {
        let mut names: Vec<_> = std::fs::read_dir(bench.path(folder))
            .unwrap()
            .chain(std::fs::read_dir(bench.path(folder).join("runs")).unwrap())
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    assert_eq!(files("cut"), files("whole"), "nothing else is left");
    for name in ["rows.csv", "rows.parquet"] {
        let read = |folder: &str| std::fs::read(bench.path(folder).join(name)).unwrap();
        assert!(read("cut") == read("whole"), "{name} differs");
    }
    kills
}
