//! A controller whose disk is full while results are delivered.

use crate::support::fleet::{Fleet, on_fleet};
use crate::support::namespaces::Namespaces;
use crate::support::{finish, start};
use netburn_record::{Row, Run};
use serde_json::Value;
use std::path::Path;

/// A thousand probes a second are about 60 kB of rows a second.
const OFTEN: &str = "duration = \"20 s\"\nbaseline = \"2 s\"\n[station.alpha]\nworkload = \"often\"\n\
                     [workload.often]\nkind = \"probe\"\ninterval = \"1ms\"\n";

/// The number of operations in a record.
fn rows(folder: &Path) -> usize {
    let mut rows = 0;
    let run = Run::open(folder).unwrap();
    run.rows(&mut |row| rows += usize::from(matches!(row, Row::Operation(_))))
        .unwrap();
    rows
}

#[test]
fn results_without_disk_space_stay_at_the_agents_and_arrive_later() {
    let mut fleet = Fleet::new();
    fleet.bench.write("often.toml", OFTEN);
    // The controller's machine: this folder of the run and the controller is soon full.
    let desk = Namespaces::new(
        &fleet.bench,
        &["--mount"],
        "mkdir full && mount -t tmpfs -o size=64k tmpfs full",
    );
    fleet.serve_as(desk.netburn(
        &fleet.bench,
        &["fleet", "serve", "--quiet", "--name", "home", "--listen", "127.0.0.1:0"],
    ));
    let mut alpha = fleet.agent("alpha", &[]);
    let at_the_desk = |args: &[&str]| {
        let mut command = desk.netburn(&fleet.bench, args);
        command.env("NETBURN_STATE", fleet.bench.path("owner"));
        command
    };
    let run = on_fleet("often.toml", "full/saved");
    let mut run = start(at_the_desk(&run));
    run.wait_for_load();
    let ended = run.finish().expect(3);
    assert_eq!(ended.stderr.matches("No space left").count(), 1, "{}", ended.stderr);
    for text in [
        "full/saved, and `netburn report",
        "the agents keep their results, and deliver them when there is space",
    ] {
        assert!(ended.stderr.contains(text), "{text}: {}", ended.stderr);
    }
    alpha.wait_for("the end of its workload", |agent| {
        agent
            .stderr_so_far()
            .contains("its results are kept until the controller requests them")
    });
    // The agent has more rows than were saved, and keeps them while there is no disk space.
    let spool = fleet.bench.path("alpha/fleet/agents/alpha");
    let spooled = || std::fs::read_dir(&spool).map_or(0, |entries| entries.count());
    let desk_folder = format!("/proc/{}/root{}", desk.id(), fleet.bench.path("full/saved").display());
    let copy = fleet.bench.path("copy");
    std::fs::create_dir(&copy).unwrap();
    std::fs::copy(format!("{desk_folder}/spool"), copy.join("spool")).unwrap();
    let kept = rows(&copy);
    assert!(kept > 200, "{kept}");
    assert_eq!(spooled(), 1);
    desk.run(&fleet.bench, "mount -o remount,size=64m full");
    alpha.wait_for("the delivery of its results", |agent| {
        agent.stderr_so_far().contains("were delivered")
    });
    let found: Value = finish(at_the_desk(&["report", "full/saved", "--format", "json"])).json();
    assert_eq!(found["verdict"], "inconclusive", "{found:#}");
    let home = rows(Path::new(&desk_folder));
    assert!(home > kept, "{kept} were kept, and there are {home}: {found:#}");
    alpha.wait_for("its spool to be empty", |_| spooled() == 0);
}
