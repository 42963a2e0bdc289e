//! Every key of `keys.toml` reaches the lab. A changed key changes the modelled network, the kernels, the programs, or
//! the notes about what the lab does not support. The metrics of `keys.toml` need simulated time; this test needs none.
#![cfg(target_os = "linux")]

use netburn_lab::{Switch, kernel_settings, unsupported_settings};
use netburn_scenario::{Document, Environment, Plan};
use serde::Deserialize;
use std::collections::BTreeMap;

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

/// A key, and the two values that `keys.rs` compares.
#[derive(Deserialize)]
struct Acts {
    key: String,
    base: String,
    from: Vec<String>,
    to: Vec<String>,
}

impl Acts {
    /// Returns the plan with these changes.
    fn plan(&self, base: &str, changes: &[String]) -> Plan {
        let mut text = base.to_owned();
        for lines in changes.iter().filter_map(|change| change.strip_prefix('+')) {
            text.push_str(&format!("\n{lines}\n"));
        }
        let mut document = Document::from_toml("keys.toml", &text).unwrap();
        for change in changes.iter().filter(|change| !change.starts_with('+')) {
            let (key, value) = change.split_once('=').unwrap();
            document.set(key, value).unwrap();
        }
        let resolved = document.resolve_for(Environment::Lab);
        resolved.unwrap_or_else(|error| panic!("{}: {error}", self.key)).0
    }
}

/// Returns all that the lab takes from a plan: the network, the settings of the kernels, what the agents and the server
/// get, and what is not supported.
fn reached(plan: &Plan) -> String {
    let switch = Switch::new(plan).unwrap();
    let agents: Vec<_> = plan
        .stations
        .iter()
        .map(|station| {
            (
                &station.workloads,
                station.start,
                station.stop,
                &station.cc,
                station.idle_targets(),
            )
        })
        .collect();
    let server = (plan.server.http, plan.server.tls, &plan.server.cc);
    let times = (plan.duration, plan.warmup, plan.baseline, plan.drain);
    format!(
        "{switch:?} {:?} {agents:?} {server:?} {times:?} {:?}",
        kernel_settings(plan),
        unsupported_settings(plan)
    )
}

/// Returns whether a note reports that a key has no effect in the lab.
fn has_note(plan: &Plan, key: &str) -> bool {
    let name = key.split_once('.').map_or(key, |(_, name)| name);
    let found = plan.ineffective_on(Environment::Lab);
    let keys = found.iter().flat_map(|of| &of.keys);
    keys.filter_map(|key| key.rsplit('.').next()).any(|last| last == name)
}

#[test]
fn every_key_reaches_the_lab_or_has_a_note() {
    let table: Table = toml::from_str(include_str!("keys.toml")).unwrap();
    let mut lost = Vec::new();
    for act in &table.acts {
        let base = &table.base[&act.base].text;
        let (from, to) = (act.plan(base, &act.from), act.plan(base, &act.to));
        let noted = has_note(&from, &act.key) || has_note(&to, &act.key);
        if !noted && reached(&from) == reached(&to) {
            lost.push(format!("{}: {:?} and {:?}", act.key, act.from, act.to));
        }
    }
    assert!(lost.is_empty(), "without effect in the lab:\n{}", lost.join("\n"));
}

/// The network keeps only what it uses of a plan. If it kept the plan, the test above could not fail.
#[test]
fn the_network_does_not_contain_the_settings_of_kernels() {
    let network = |ecn: bool| {
        let text = format!(
            "[server]\necn = {ecn}\n[ap.a.radio.5g]\n[station.s]\njoins = \"a.5g\"\nsignal = \"-60 dBm\"\n\
             workload = \"upload\"\necn = {ecn}\n"
        );
        let document = Document::from_toml("s.toml", &text).unwrap();
        format!("{:?}", Switch::new(&document.resolve().unwrap()).unwrap())
    };
    assert_eq!(network(true), network(false));
}
