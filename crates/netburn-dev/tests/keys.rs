//! Every key of the scenario file has an effect. Each key runs with two values in a scenario, and a metric must change in the
//! direction that theory predicts (`keys.toml`). A key without an entry fails the test.

use netburn_dev::experiment::{Formula, Grid};
use netburn_record::{EventKind, Row};
use netburn_scenario::reason::Reason;
use netburn_scenario::{Document, Environment, Plan};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::{iter, thread};

/// Content of `keys.toml`.
#[derive(Deserialize)]
struct Table {
    base: BTreeMap<String, Base>,
    acts: Vec<Acts>,
}

#[derive(Deserialize)]
struct Base {
    text: String,
}

/// A key, as section and name in the JSON Schema, and the test of its effect on simulate.
#[derive(Deserialize)]
struct Acts {
    key: String,
    base: String,
    from: Vec<String>,
    to: Vec<String>,
    metric: String,
    moves: Moves,
}

/// Direction in which a metric changes from the first value to the second, by more than 2 %.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Moves {
    Up,
    Down,
}

fn table() -> Table {
    toml::from_str(include_str!("keys.toml")).unwrap()
}

impl Table {
    fn text(&self, base: &str) -> &str {
        &self.base[base].text
    }
}

/// Keys without effect on the results of a run, with reasons.
const EXEMPT: &[(&str, &str)] = &[
    ("Scenario.schema", "version of the file format"),
    ("Scenario.name", "a name"),
    ("Scenario.title", "a text"),
    ("Scenario.question", "a text"),
    ("Scenario.assumptions", "texts"),
    ("Scenario.seed", "random seed; tested below"),
    ("Scenario.repeat", "number of runs; tested with the command"),
    ("Scenario.baseline", "duration of the baseline; tested below"),
    ("Scenario.server", "a section"),
    ("Scenario.building", "a section"),
    (
        "BuildingSection.floors",
        "a limit of positions; tested in scenario/tests/bad_input",
    ),
    ("Scenario.router", "a section"),
    ("RouterSection.wan", "a section"),
    ("Scenario.network", "sections"),
    ("Scenario.ap", "sections"),
    ("Scenario.kit", "sections"),
    ("Scenario.mesh", "sections"),
    (
        "MeshSection.root_mode",
        "path selection; tested in network/tests/mesh.rs",
    ),
    ("MeshSection.timers", "path selection; tested in network/tests/mesh.rs"),
    ("Scenario.station", "sections"),
    ("Scenario.workload", "sections"),
    ("Scenario.at", "sections"),
    ("ServerSection.link", "a section"),
    ("ApSection.radio", "sections"),
    ("ApSection.wan", "a section"),
    ("ApSection.multicast", "a section"),
    ("WanSection.cake", "a section"),
    ("WanSection.policer_down", "a section"),
    ("WanSection.policer_up", "a section"),
    ("WanSection.outages", "sections"),
    (
        "WorkloadSection.server",
        "an error where it does not act; tested in simulate/tests/topology.rs",
    ),
    ("ApSection.observe", "has a note on simulate"),
    ("StationSection.agent", "has a note on simulate"),
    ("StationSection.label", "has a note on simulate"),
];

/// The scenario `base` with changed keys. Settings that start with `+` are appended to the text.
fn changed(base: &str, set: &[impl AsRef<str>]) -> Grid {
    let mut grid = Grid::new(base);
    for change in set {
        let change = change.as_ref();
        match change.strip_prefix('+') {
            Some(lines) => grid.scenario = format!("{}\n{lines}\n", grid.scenario),
            None => {
                let (key, value) = change.split_once('=').unwrap();
                grid.set.push((key.to_owned(), value.to_owned()));
            }
        }
    }
    grid
}

/// Returns a metric of `base` with changed keys.
fn measure(base: &str, set: &[impl AsRef<str>], metric: &str) -> f64 {
    let grid = changed(base, set);
    if metric == "air.drops" {
        return drops(&grid) as f64;
    }
    if let Some(name) = metric.strip_prefix("roam.") {
        return roams(&grid, name);
    }
    let runs = grid.run(1).unwrap_or_else(|error| panic!("{:?}: {error}", grid.set));
    Formula::parse(metric).unwrap().evaluate(&runs, &[])
}

/// Packets dropped by the queues of a run.
fn drops(grid: &Grid) -> u64 {
    let plan = &grid.runs().unwrap()[0].plan;
    let mut drops = 0;
    let done = netburn_simulate::run(plan, |_, rows| {
        drops += rows
            .iter()
            .map(|row| if let Row::Air(row) = row { row.drops } else { 0 })
            .sum::<u64>();
        ControlFlow::Continue(())
    });
    done.unwrap();
    drops
}

/// Number of moves of a run, the longest or the shortest one in ms, or the start of the first one in s.
fn roams(grid: &Grid, metric: &str) -> f64 {
    let plan = &grid.runs().unwrap()[0].plan;
    let mut roams = Vec::new();
    let done = netburn_simulate::run(plan, |_, rows| {
        roams.extend(rows.iter().filter_map(|row| match row {
            Row::Event(row) if row.kind == EventKind::Roam => Some((row.at.as_nanos() as f64, row.length as f64)),
            _ => None,
        }));
        ControlFlow::Continue(())
    });
    done.unwrap();
    match metric {
        "count" => roams.len() as f64,
        "longest_ms" => roams.iter().map(|(_, length)| length / 1e6).fold(f64::NAN, f64::max),
        "shortest_ms" => roams.iter().map(|(_, length)| length / 1e6).fold(f64::NAN, f64::min),
        "begins_s" => roams.first().map_or(f64::NAN, |(at, _)| at / 1e9),
        _ => panic!("unknown metric `{metric}`"),
    }
}

/// The fault of a key whose metric does not change as expected; `None` without one.
fn no_effect(table: &Table, act: &Acts) -> Option<String> {
    let measure = |set: &[String]| measure(table.text(&act.base), set, &act.metric);
    let (from, to) = (measure(&act.from), measure(&act.to));
    let moved = match act.moves {
        Moves::Down => to < 0.98 * from,
        Moves::Up => to > 1.02 * from,
    };
    (!moved).then(|| {
        format!(
            "{}: {} is {from} with {:?} and {to} with {:?}",
            act.key, act.metric, act.from, act.to
        )
    })
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn every_key_has_an_effect() {
    let table = table();
    let next = AtomicUsize::new(0);
    // Threads take the next entry, because some simulations take much longer than others.
    let work = || -> Vec<String> {
        let acts = iter::from_fn(|| table.acts.get(next.fetch_add(1, Relaxed)));
        acts.filter_map(|act| no_effect(&table, act)).collect()
    };
    let workers = thread::available_parallelism().map_or(1, Into::into);
    let faults: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The document of a plan has every key that differs from its default, so that a record contains it.
#[test]
fn every_value_survives_a_round_trip() {
    let table = table();
    for act in &table.acts {
        for set in [&act.from, &act.to] {
            for run in changed(table.text(&act.base), set).runs().unwrap() {
                let read = Plan::from_json(&run.plan.to_json()).unwrap();
                assert_eq!(read, run.plan, "{}: {set:?}", act.key);
            }
        }
    }
}

/// Every key of the schema has an entry, and every entry belongs to a key.
#[test]
fn every_key_has_an_entry() {
    let schema = netburn_scenario::json_schema();
    let keys = |section: &str, of: &serde_json::Value| -> Vec<String> {
        let properties = of["properties"].as_object();
        properties
            .into_iter()
            .flatten()
            .map(|(key, _)| format!("{section}.{key}"))
            .collect()
    };
    let mut known: BTreeSet<String> = keys("Scenario", &schema).into_iter().collect();
    for (section, of) in schema["$defs"].as_object().unwrap() {
        known.extend(keys(section, of));
    }
    let table = table();
    let acts = table.acts.iter().map(|act| act.key.as_str());
    let exempt = EXEMPT.iter().map(|(key, _)| *key);
    let listed: BTreeSet<String> = acts.chain(exempt).map(str::to_owned).collect();
    assert_eq!(
        known.difference(&listed).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "without an entry"
    );
    assert_eq!(
        listed.difference(&known).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "unknown key"
    );
}

#[test]
fn the_baseline_is_measured() {
    let idle = |baseline: &str| measure(table().text("wire"), &[baseline], "station.s.idle_ms");
    assert!(idle("baseline=0.5s") > 20.0);
    assert!(idle("baseline=0s").is_nan());
}

/// Keys without effect in an environment have a note there, and keys with effect have none.
#[test]
fn keys_without_effect_have_a_note() {
    use Environment::{Fleet, Lab, Local, Simulate};
    let table = table();
    let cases: &[(&str, &str, &str, &[Environment], Reason)] = &[
        (
            "up",
            "station.s.gro=false",
            "station.s.gro",
            &[Lab, Local, Fleet],
            Reason::RealHosts,
        ),
        (
            "up",
            "station.s.gso=false",
            "station.s.gso",
            &[Local, Fleet],
            Reason::RealHosts,
        ),
        (
            "up",
            "station.s.tx_completion_delay=1ms",
            "station.s.tx_completion_delay",
            &[Lab, Local, Fleet],
            Reason::RealHosts,
        ),
        (
            "up",
            "station.s.rx_interrupt_delay=1ms",
            "station.s.rx_interrupt_delay",
            &[Lab, Local, Fleet],
            Reason::RealHosts,
        ),
        (
            "up",
            "ap.x.rx_interrupt_delay=1ms",
            "ap.x.rx_interrupt_delay",
            &[Lab],
            Reason::RealHosts,
        ),
        (
            "up",
            "station.s.tsq=2013",
            "station.s.tsq",
            &[Local, Fleet],
            Reason::SystemSettings,
        ),
        (
            "up",
            "station.s.ecn=true",
            "station.s.ecn",
            &[Local, Fleet],
            Reason::SystemSettings,
        ),
        (
            "up",
            "server.interrupt_interval=0s",
            "server.interrupt_interval",
            &[Local, Fleet],
            Reason::RealHosts,
        ),
        (
            "up",
            "server.ecn=false",
            "server.ecn",
            &[Local, Fleet],
            Reason::SystemSettings,
        ),
        (
            "air",
            "ap.x.observe=local",
            "ap.x.observe",
            &[Simulate, Lab],
            Reason::RealAccessPoint,
        ),
        (
            "up",
            "station.s.label=x",
            "station.s.label",
            &[Simulate, Lab, Local],
            Reason::FleetOnly,
        ),
        (
            "up",
            "station.s.agent=x",
            "station.s.agent",
            &[Simulate, Lab, Local],
            Reason::FleetOnly,
        ),
        (
            "air",
            "station.s.cc=bbr",
            "station.s.cc",
            &[Simulate, Lab, Local, Fleet],
            Reason::OnlyReceives,
        ),
        (
            "air",
            "ap.x.ecn=false",
            "ap.x.ecn",
            &[Simulate, Lab],
            Reason::NeverMarks,
        ),
        (
            "air",
            "ap.x.slow_stations=true",
            "ap.x.slow_stations",
            &[Simulate, Lab],
            Reason::NoStationCodel,
        ),
        (
            "air",
            "ap.x.aql=true",
            "ap.x.aql",
            &[Simulate, Lab],
            Reason::NotByAirtime,
        ),
        (
            "air",
            "station.s.weight=512",
            "station.s.weight",
            &[Simulate, Lab],
            Reason::NotByAirtime,
        ),
        (
            "air",
            "ap.x.forwarding_queue=64 kB",
            "ap.x.forwarding_queue",
            &[Simulate, Lab],
            Reason::ForwardsAll,
        ),
        (
            "wire",
            "server.link.delay=10ms",
            "server.link.delay",
            &[Local, Fleet],
            Reason::RealPath,
        ),
        (
            "air",
            "station.s.signal=-50 dBm",
            "station.*.signal",
            &[Local],
            Reason::NoAir,
        ),
        (
            "air",
            "station.s.signal=-50 dBm",
            "station.*.signal",
            &[Fleet],
            Reason::RealAir,
        ),
    ];
    for (base, set, key, environments, reason) in cases {
        let mut document = Document::from_toml("keys.toml", table.text(base)).unwrap();
        let (path, value) = set.split_once('=').unwrap();
        document.set(path, value).unwrap();
        for environment in Environment::ALL {
            let plan = document.resolve_for(environment).unwrap().0;
            let found = plan.ineffective_on(environment);
            let named = found
                .iter()
                .any(|of| of.reason == *reason && of.keys.iter().any(|known| known == key));
            assert_eq!(
                named,
                environments.contains(&environment),
                "{key} on {environment}: {found:?}"
            );
            for of in &found {
                assert!(
                    document.resolve_for(environment).unwrap().1.contains(&of.to_string()),
                    "{of} is printed"
                );
            }
        }
    }
}

/// Hardware that accepts all packets leaves no choice to the scheduler: a weight has no effect, with airtime queue limits
/// (as in Linux) and without. A note reports this.
#[test]
fn unlimited_hardware_ignores_weights() {
    for (aql, reason) in [("true", Reason::LimitedAlike), ("false", Reason::NothingWaits)] {
        let aql = format!("ap.x.aql={aql}");
        let set = [
            "ap.x.queue=airtime",
            &aql,
            "ap.x.hardware_queue=unlimited",
            "station.t.mcs=7",
            "station.t.streams=2",
            "station.s.weight=1024",
        ];
        let share = measure(table().text("pair"), &set, "station.s.airtime_share");
        assert!((share - 0.5).abs() < 0.05, "{share}");
        let mut document = Document::from_toml("keys.toml", table().text("pair")).unwrap();
        for change in set {
            let (path, value) = change.split_once('=').unwrap();
            document.set(path, value).unwrap();
        }
        let plan = document.resolve_for(Environment::Simulate).unwrap().0;
        let found = plan.ineffective_on(Environment::Simulate);
        assert_eq!(found[0].reason, reason);
        assert_eq!(found[0].keys, ["station.s.weight"]);
    }
}

/// The same seed gives the same results, and another seed gives different ones.
#[test]
fn the_seed_determines_the_results() {
    let rate = |seed: u64| {
        let mut grid = Grid::new(table().text("pair"));
        grid.seeds = (seed, 1);
        let runs = grid.run(1).unwrap();
        Formula::parse("totals.throughput_mbps").unwrap().evaluate(&runs, &[])
    };
    assert_eq!(rate(1).to_bits(), rate(1).to_bits());
    assert_ne!(rate(1).to_bits(), rate(2).to_bits());
}
