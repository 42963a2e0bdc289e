//! Resolution of a document into a plan: defaults are filled in, and references and combinations are checked.

mod absence;
mod air;
mod change;
mod line;
mod mesh;
mod multicast;
mod reach;
mod router;
mod signals;
mod station;
mod wire;
mod workload;

pub use station::is_reserved_station_name;
pub use workload::built_in_workload;

use crate::decode::{Context, Named, Section, Spanned};
use crate::file::{FILE_KEYS, Scenario};
use crate::kit;
use crate::node::{Node, Place};
use crate::path::is_name;
use crate::plan::Plan;
use crate::plan::check_floor;
use crate::problem::Problem;
use std::collections::BTreeSet;
use std::path::Path;

/// Maximum number of stations in a scenario.
pub const MAX_STATIONS: usize = 4096;
/// Maximum number of access points, of networks, and of workloads in a scenario.
pub const MAX_SECTIONS: usize = 256;
/// Maximum number of `[[at]]` sections in a scenario.
pub const MAX_CHANGES: usize = 10_000;
/// Version of the scenario format.
pub const SCHEMA: &str = "netburn.scenario/1";

/// Names in a document, including those of invalid sections.
#[derive(Debug, Default)]
struct Names {
    stations: BTreeSet<String>,
    networks: BTreeSet<String>,
    aps: BTreeSet<String>,
    workloads: BTreeSet<String>,
}

/// Resolves a document. `resolved`: it is the output of [`Plan::to_json`], which may define the built-in workloads.
/// `directory`: that of the file, to which paths are relative.
pub(crate) fn resolve(root: &Node, name: &str, resolved: bool, directory: Option<&Path>) -> Result<Plan, Vec<Problem>> {
    let mut cx = Context {
        resolved,
        directory: directory.map(Path::to_owned),
        file: Some(FILE_KEYS),
        ..Context::default()
    };
    let expanded = kit::expand(root, &mut cx);
    if !cx.problems.is_empty() {
        return Err(cx.problems);
    }
    let root = expanded.as_ref().unwrap_or(root);
    let scenario: Option<Spanned<Scenario>> = cx.at(root);
    let plan = scenario.map(|scenario| plan(root, &scenario.value, name, &mut cx));
    match plan {
        Some(plan) if cx.problems.is_empty() => Ok(plan),
        _ if expanded.is_some() => Err(without_repeats(cx.problems)),
        _ => Err(cx.problems),
    }
}

fn plan(root: &Node, file: &Scenario, name: &str, cx: &mut Context) -> Plan {
    let names = Names {
        stations: names_in(root, "station"),
        networks: names_in(root, "network"),
        aps: names_in(root, "ap"),
        workloads: names_in(root, "workload"),
    };
    let mut plan = Plan::new(
        &file
            .name
            .as_ref()
            .map_or_else(|| name_from_stem(name), |at| at.0.clone()),
    );
    if let Some(schema) = &file.schema
        && schema.0 != SCHEMA
    {
        let help = format!("expected `{SCHEMA}`");
        cx.problem_at(
            schema,
            format!("unsupported schema version `{}`", schema.0.escape_debug()),
            help,
        );
    }
    file.apply(&mut plan);
    if let Some(warmup) = &file.warmup
        && plan.warmup >= plan.duration
    {
        let message = format!("`warmup` is not shorter than `duration` ({})", plan.duration);
        cx.problem_at(warmup, message, "use a shorter `warmup`".to_owned());
    }
    if let Some(aps) = &file.ap
        && !too_many(aps, MAX_SECTIONS, "access points", cx)
    {
        plan.aps = aps.0.iter().map(|(name, ap)| air::ap(name, ap, cx)).collect();
        for at in aps.0.iter().filter_map(|(_, ap)| ap.position.as_ref()) {
            check_floor(at, plan.building.as_ref(), cx);
        }
        router::router(file, &mut plan, cx);
        air::check_backhauls(aps, &plan, &names, cx);
    } else {
        router::router(file, &mut plan, cx);
    }
    if let Some(meshes) = &file.mesh
        && !too_many(meshes, MAX_SECTIONS, "meshes", cx)
    {
        for (name, section) in &meshes.0 {
            let mesh = mesh::mesh(name, section, &plan, &names, cx);
            plan.meshes.push(mesh);
        }
    }
    if let Some(networks) = &file.network
        && !too_many(networks, MAX_SECTIONS, "networks", cx)
    {
        let read = networks
            .0
            .iter()
            .map(|(name, network)| air::network(name, network, &plan.aps, &names, cx));
        plan.networks = read.collect();
    }
    let defined = file.workload.as_ref();
    let defined = defined.filter(|defined| !too_many(defined, MAX_SECTIONS, "workloads", cx));
    let own = workload::definitions(defined, plan.duration, &names, cx);
    if let Some(stations) = &file.station
        && !too_many(stations, MAX_STATIONS, "stations", cx)
    {
        let read = stations.0.iter();
        plan.stations = read
            .map(|(name, section)| station::station(name, section, &plan, &own, &names, cx))
            .collect();
    }
    multicast::check(file, &plan, &names, cx);
    count_stations(names.stations.len(), file, cx);
    if let Some(changes) = &file.at {
        plan.changes = change::changes(changes, &plan, &names, cx);
    }
    plan
}

/// Removes repeats of a problem with the settings of a kit, which each of its units has.
fn without_repeats(problems: Vec<Problem>) -> Vec<Problem> {
    let mut kept: Vec<Problem> = Vec::new();
    for problem in problems {
        if !kept.iter().any(|known| known.repeats(&problem)) {
            kept.push(problem);
        }
    }
    kept
}

fn count_stations(count: usize, file: &Scenario, cx: &mut Context) {
    if count == 0 && file.station.as_ref().is_none_or(|at| at.0.is_empty()) {
        // Do not report this after a problem with the stations themselves.
        if cx
            .problems
            .iter()
            .any(|problem| problem.path == "station" || problem.path.is_empty())
        {
            return;
        }
        let help = "add at least one: `[station.laptop]` and below it `workload = \"browsing\"`";
        cx.problem(&Place::Whole, "no station", help.to_owned());
    }
}

/// Reports a number of sections above `max`.
fn too_many<T>(named: &Spanned<Named<T>>, max: usize, what: &str, cx: &mut Context) -> bool {
    let Some((name, _)) = named.0.get(max) else {
        return false;
    };
    let count = named.0.len();
    cx.problems.push(Problem::new(
        name.place.clone(),
        &named.path,
        format!("too many {what}: found {count}"),
        Some(format!("expected up to {max}")),
    ));
    true
}

fn names_in(root: &Node, section: &str) -> BTreeSet<String> {
    let table = root.table().and_then(|top| top.get(section)).and_then(Node::table);
    table
        .map(|table| table.entries.iter().map(|entry| entry.key.clone()).collect())
        .unwrap_or_default()
}

/// Converts a file's stem to a valid name.
fn name_from_stem(name: &str) -> String {
    let kept: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(63)
        .collect();
    let kept = kept.trim_matches('-');
    if is_name(kept) {
        kept.to_owned()
    } else {
        "scenario".to_owned()
    }
}
