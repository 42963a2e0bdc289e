//! A run on one machine or in a lab, with one of its processes killed.

use super::LOAD_MS;
use super::kill::{CUT_SHORT, Delays, Kill, NO_FOLDER, NOT_STARTED, WENT_ON};
use super::random::Random;
use super::rows::{calls, operations};
use super::victims::{Victim, reach};
use crate::support::{Bench, Ended, finish, signal, start};
use std::path::Path;
use std::time::{Duration, Instant};

/// Files of a record that `report` writes: its tables and `run.json`, and its page.
const FILES: [&str; 8] = [
    "airtime.parquet",
    "connections.parquet",
    "events.parquet",
    "intervals.parquet",
    "link.parquet",
    "operations.parquet",
    "report.html",
    "run.json",
];

/// A bench with visible temporary files.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("calls.toml", calls());
    std::fs::create_dir(bench.path("temporary")).unwrap();
    bench
}

/// Checks that no temporary file is left. `finish` has waited for the processes.
#[track_caller]
pub(super) fn nothing_temporary(bench: &Bench) {
    let left: Vec<_> = std::fs::read_dir(bench.path("temporary")).unwrap().collect();
    assert!(left.is_empty(), "temporary files: {left:?}");
}

/// Opens a record twice and lists it. The first command may have to finish it. Both must print the same.
#[track_caller]
pub(super) fn readable(bench: &Bench, folder: &str) -> serde_json::Value {
    let report = || {
        finish(bench.netburn(["report", folder, "--format", "json"]))
            .expect(0)
            .json()
    };
    finish(bench.netburn(["runs", "."])).expect(0);
    let first = report();
    assert_eq!(first, report(), "the second report differs");
    for file in std::fs::read_dir(bench.path(folder)).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(FILES.contains(&name.as_str()), "{name} is left in {folder}");
    }
    first
}

/// Kills `netburn report` while it finishes a record, up to twice. The next one finishes it.
fn kill_reports(bench: &Bench, random: &mut Random) -> Vec<Kill> {
    let mut kills = Vec::new();
    for _ in 0..random.below(3) {
        let mut report = start(bench.netburn(["report", "kept"]));
        std::thread::sleep(random.millis(0, 60));
        if report.has_ended() {
            report.finish().expect(0);
            break;
        }
        report.signal("KILL");
        // It may have ended at that instant.
        let ended = report.finish();
        if ended.code() == 128 + 9 {
            kills.push(Kill {
                whom: "report".to_owned(),
                outcome: CUT_SHORT,
                lost: Duration::ZERO,
            });
        }
    }
    kills
}

/// Kills one process of a run at a random instant.
pub(super) fn on(environment: &str, random: &mut Random) -> Vec<Kill> {
    let victim = match environment {
        "local" => random.pick(&[Victim::Controller, Victim::Controller, Victim::Agent, Victim::Server]),
        "lab" => random.pick(&[Victim::Controller, Victim::Helper, Victim::Agent, Victim::Server]),
        _ => Victim::Controller,
    };
    let bench = bench();
    let args = [
        "run",
        "calls.toml",
        "--on",
        environment,
        "--out",
        "kept",
        "--format",
        "json",
    ];
    let mut command = bench.netburn(args);
    command.env("TMPDIR", bench.path("temporary"));
    if environment == "simulate" {
        // Long enough to be killed while it runs.
        command.args(["--set", "duration=\"10 min\""]);
    }
    let delays = Delays::watch();
    let mut run = start(command);
    let reached = match environment {
        "simulate" => {
            std::thread::sleep(random.millis(0, 1500));
            None
        }
        _ => reach(&mut run, random, Duration::from_millis(LOAD_MS + 1500)),
    };
    let killed = victim.find(&run, random).filter(|_| !run.has_ended());
    let at = Instant::now();
    if let Some(pid) = killed {
        signal_if_there(pid);
    }
    let ended = run.finish();
    nothing_temporary(&bench);
    let what = format!("{} on {environment}", victim.name());
    let kept = bench.path("kept");
    let mut kills = Vec::new();
    let mut kill = |outcome, lost| {
        kills.push(Kill {
            whom: what.clone(),
            outcome,
            lost,
        });
    };
    if killed.is_none() {
        return Vec::new();
    }
    if ended.code() == 128 + 9 && !kept.exists() {
        kill(NO_FOLDER, Duration::ZERO);
        return kills;
    }
    // The line on the running load is printed up to 100 ms after the start.
    let load = reached.and_then(|reached| reached.load);
    let until = load.map(|load| (at - load).as_nanos() as i64 + 100_000_000);
    if ended.code() == 128 + 9 {
        // It may have been killed after its last write.
        let finished = kept.join("run.json").exists();
        let reports = kill_reports(&bench, random);
        let found = readable(&bench, "kept");
        assert!(finished || found["verdict"] == "inconclusive", "{what}: {found:#}");
        kill(CUT_SHORT, lost(&kept, until, &what, &delays));
        kills.extend(reports);
    } else {
        let lost = if ended_by_itself(&bench, &ended, victim, &what) {
            lost(&kept, until, &what, &delays)
        } else {
            Duration::ZERO
        };
        kill(WENT_ON, lost);
    }
    kills
}

/// The age of the oldest row that was lost at `until`, in ns of the run. There is none before the load.
#[track_caller]
fn lost(folder: &Path, until: Option<i64>, what: &str, delays: &Delays) -> Duration {
    let Some(until) = until else { return Duration::ZERO };
    let stations = operations(folder);
    let ages = stations.iter().enumerate().map(|(number, of)| {
        let oldest = of.oldest_lost(until);
        let what = || format!("{what}, station {number} at {until} ns, {}", of.describe(folder));
        delays.expect(oldest, what);
        oldest
    });
    ages.max().unwrap_or_default()
}

/// Sends SIGKILL to a process that may have ended.
pub(super) fn signal_if_there(pid: u32) {
    if Path::new(&format!("/proc/{pid}")).exists() {
        let _ = std::panic::catch_unwind(|| signal(pid, "KILL"));
    }
}

/// Checks a run whose controller survived. Its output agrees with its record, and a station with a reliable verdict has
/// all of its rows. Returns whether there is a record.
#[track_caller]
fn ended_by_itself(bench: &Bench, ended: &Ended, victim: Victim, what: &str) -> bool {
    assert!([0, 3].contains(&ended.code()), "{what}: {ended:?}");
    assert!(!ended.stderr.contains("panicked"), "{what}: {}", ended.stderr);
    let kept = bench.path("kept");
    if !kept.exists() {
        assert_eq!(ended.code(), 3, "{what}: {ended:?}");
        return false;
    }
    let found = readable(bench, "kept");
    assert_eq!(found, ended.json(), "{what}");
    let stations = operations(&kept);
    let begun = stations.iter().any(|of| of.count() > 0);
    for (number, of) in stations.iter().enumerate() {
        // Without its server an agent continues to the end.
        let whole = begun && victim == Victim::Server;
        if whole || found["stations"][number]["verdict"] != "inconclusive" {
            of.expect_all(&format!("{what}, station {number}"));
        }
    }
    true
}

/// Kills `netburn lab` or its helper while programs run.
pub(super) fn of_a_lab(random: &mut Random) -> Vec<Kill> {
    let victim = random.pick(&[Victim::Controller, Victim::Helper]);
    let bench = bench();
    let daemon = "setsid sleep 600 & setsid setsid sleep 600 & curl -s http://server/bytes/1GiB >/dev/null & sleep 600";
    let mut command = bench.netburn(["lab", "calls.toml", "--at", "caller", "--", "sh", "-c", daemon]);
    command.env("TMPDIR", bench.path("temporary"));
    let mut lab = start(command);
    let wait = [50, 200, 1000][random.below(3)];
    std::thread::sleep(random.millis(0, wait));
    let mut killed = victim.find(&lab, random);
    if killed.is_none() {
        lab.wait_until_or_exit(|lab| {
            killed = victim.find(lab, random);
            killed.is_some()
        });
    }
    signal_if_there(killed.expect("a lab has a helper"));
    let ended = lab.finish();
    assert!(!ended.status.success(), "{ended:?}");
    assert!(!ended.stderr.contains("panicked"), "{ended:?}");
    nothing_temporary(&bench);
    vec![Kill {
        whom: format!("{} of `netburn lab`", victim.name()),
        outcome: NOT_STARTED,
        lost: Duration::ZERO,
    }]
}
