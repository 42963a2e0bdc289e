//! A run on a fleet: its controller, its members, the run process and its server are killed and restarted.

use super::LOAD_MS;
use super::kill::{CUT_SHORT, Delays, Kill, NO_FOLDER, WENT_ON};
use super::kill_run::readable;
use super::random::Random;
use super::rows::{calls, operations};
use super::victims::{Victim, reach};
use crate::support::fleet::Fleet;
use crate::support::{Running, finish, start};
use std::path::Path;
use std::time::{Duration, Instant};

/// The processes that one round kills, one after the other.
const ROUNDS: [&[Victim]; 7] = [
    &[Victim::Controller],
    &[Victim::Controller, Victim::FleetController],
    &[Victim::FleetController],
    &[Victim::FleetController, Victim::FleetController],
    &[Victim::Agent],
    &[Victim::Agent, Victim::FleetController],
    &[Victim::Server],
];

const NAMES: [&str; 2] = ["alpha", "beta"];

/// The spools in an agent's state: undelivered results.
fn spools(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(spools(&path)),
            path if path.extension().is_some_and(|extension| extension == "spool") => found.push(path),
            _ => {}
        }
    }
    found
}

/// Kills processes of a run on a fleet at random instants, and restarts those that a service manager would restart.
pub(super) fn in_a_fleet(random: &mut Random) -> Vec<Kill> {
    let victims = random.pick(&ROUNDS);
    let mut fleet = Fleet::new();
    fleet.bench.write("calls.toml", calls());
    let mut agents: Vec<Option<Running>> = NAMES.iter().map(|name| Some(fleet.agent(name, &[]))).collect();
    let args = [
        "run",
        "calls.toml",
        "--on",
        "fleet",
        "--out",
        "kept",
        "--format",
        "json",
    ];
    let delays = Delays::watch();
    let mut run = Some(start(fleet.command(&args)));
    let mut ended = None;
    // The start of the load, as far as it is known; the instants at which each agent and the run were killed.
    let (mut load, mut gone, mut cut) = (None, [None, None], None);
    let (mut kills, mut server, mut early) = (Vec::new(), false, false);
    for victim in victims {
        if let Some(run) = &mut run {
            match reach(run, random, Duration::from_millis(LOAD_MS + 1000)) {
                Some(reached) => load = load.or(reached.load),
                None => break,
            }
        } else {
            std::thread::sleep(random.millis(0, 2000));
        }
        match victim {
            Victim::Controller => {
                let Some(killed) = run.take() else { break };
                cut = Some(Instant::now());
                killed.signal("KILL");
                let how = killed.finish();
                assert_eq!(how.code(), 128 + 9, "{how:?}");
                ended = Some(how);
            }
            Victim::FleetController => {
                early |= load.is_none();
                let (at, serve) = (fleet.at(), fleet.serve.take().unwrap());
                serve.signal("KILL");
                serve.finish().expect(128 + 9);
                fleet.serve(&at.to_string());
            }
            Victim::Agent => {
                let number = random.below(2);
                gone[number] = Some(Instant::now());
                let agent = agents[number].take().unwrap();
                agent.signal("KILL");
                agent.finish().expect(128 + 9);
                agents[number] = Some(fleet.agent(NAMES[number], &[]));
            }
            Victim::Server => {
                let found = run.as_ref().and_then(|run| victim.find(run, random));
                let Some(pid) = found else { break };
                server = true;
                super::kill_run::signal_if_there(pid);
            }
            Victim::Helper => unreachable!("a fleet has no lab"),
        }
        kills.push(*victim);
    }
    let ended = match run.take() {
        Some(run) => run.finish(),
        None => ended.unwrap(),
    };
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    let kept = fleet.bench.path("kept");
    // All results are delivered: agents have no spool, and the record has no folder of late results.
    let delivered = |fleet: &Fleet| {
        let waiting = NAMES.iter().flat_map(|name| spools(&fleet.bench.path(name))).count();
        waiting == 0 && spools(&kept).is_empty() && !kept.join("late").exists()
    };
    let begun = Instant::now();
    while !delivered(&fleet) {
        let printed = || {
            agents
                .iter()
                .flatten()
                .map(Running::stderr_so_far)
                .collect::<Vec<_>>()
                .join("---\n")
        };
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{victims:?}: results are not home: {:?}, {:?}\n{}",
            spools(fleet.bench.path("").as_path()),
            std::fs::read_dir(&kept).map(|all| all.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()),
            printed()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let watched = agents[0].as_mut().unwrap();
    let outcome = match (kept.exists(), cut.is_some()) {
        (false, _) => NO_FOLDER,
        (true, true) => CUT_SHORT,
        (true, false) => WENT_ON,
    };
    let mut lost = Duration::ZERO;
    if kept.exists() {
        let mut found = None;
        watched.wait_for("the report", |_| {
            // The controller may be adding results at this moment.
            let ended = finish(fleet.command(&["report", "kept", "--format", "json"]));
            found = (ended.code() == 0).then(|| ended.json());
            found.is_some()
        });
        let found = readable(&fleet.bench, "kept");
        if cut.is_some() {
            assert_eq!(found["verdict"], "inconclusive", "{found:#}");
        } else {
            assert!([0, 3].contains(&ended.code()), "{ended:?}");
        }
        let stations = operations(&kept);
        let begun = stations.iter().any(|of| of.count() > 0);
        for (number, of) in stations.iter().enumerate() {
            let what = || format!("{victims:?} of a fleet, station {number}, {}", of.describe(&kept));
            let killed = [cut, gone[number]].into_iter().flatten().min();
            match (killed, load) {
                (Some(at), Some(load)) => {
                    let until = at.saturating_duration_since(load).as_nanos() as i64 + 100_000_000;
                    let oldest = of.oldest_lost(until);
                    delays.expect(oldest, what);
                    lost = lost.max(oldest);
                }
                // A member that was away during the clock comparison could not start. The record has the reason.
                (None, _) if of.count() == 0 && early => {
                    assert_eq!(found["stations"][number]["verdict"], "inconclusive", "{found:#}");
                }
                (None, _) if begun && (!server || load.is_some()) => of.expect_all(&what()),
                _ => {}
            }
        }
    }
    for agent in agents.into_iter().flatten() {
        crate::support::fleet::end(agent);
    }
    let whom = |victim: Victim| match victim {
        Victim::Controller => "run of a fleet".to_owned(),
        Victim::Agent | Victim::Server => format!("{} of a fleet", victim.name()),
        other => other.name().to_owned(),
    };
    kills
        .into_iter()
        .map(|victim| Kill {
            whom: whom(victim),
            outcome,
            lost,
        })
        .collect()
}
