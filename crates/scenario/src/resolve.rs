//! Resolution of a document into a plan: defaults are filled in, and references and combinations are checked.

mod air;
mod change;
mod station;
mod wire;
mod workload;

pub use station::is_reserved_station_name;
pub use workload::built_in_workload;
pub(crate) use workload::{operation_size, preset};

use crate::decode::{Context, Named, Spanned};
use crate::node::{Node, Place};
use crate::plan::{DEFAULT_INTERRUPT_INTERVAL, Hop, Plan, Server};
use crate::problem::Problem;
use crate::scalars::is_name;
use crate::sections::{LinkSection, Scenario, ServerSection};
use netburn_units::Seed;
use std::collections::BTreeSet;

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
pub(crate) fn resolve(root: &Node, name: &str, resolved: bool) -> Result<Plan, Vec<Problem>> {
    let mut cx = Context {
        resolved,
        ..Context::default()
    };
    let scenario: Option<Spanned<Scenario>> = cx.at(root);
    let plan = scenario.map(|scenario| plan(root, &scenario.value, name, &mut cx));
    match plan {
        Some(plan) if cx.problems.is_empty() => Ok(plan),
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
    plan.title = file.title.as_ref().map(|at| at.0.clone());
    plan.question = file.question.as_ref().map(|at| at.0.clone());
    if let Some(assumptions) = &file.assumptions {
        plan.assumptions = assumptions.0.iter().map(|at| at.0.clone()).collect();
    }
    times(&mut plan, file, cx);
    if let Some(seed) = &file.seed {
        plan.seed = Seed(seed.0);
    }
    if let Some(repeat) = &file.repeat {
        plan.repeat = u32::try_from(repeat.0).unwrap_or(u32::MAX);
    }
    if let Some(section) = &file.server {
        plan.server = server(section);
    }
    if let Some(aps) = &file.ap
        && !too_many(aps, MAX_SECTIONS, "access points", cx)
    {
        plan.aps = aps.0.iter().map(|(name, ap)| air::ap(name, ap, cx)).collect();
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
    let own = workload::definitions(defined, cx);
    if let Some(stations) = &file.station
        && !too_many(stations, MAX_STATIONS, "stations", cx)
    {
        let read = stations.0.iter();
        plan.stations = read
            .map(|(name, section)| station::station(name, section, &plan, &own, &names, cx))
            .collect();
    }
    count_stations(names.stations.len(), file, cx);
    if let Some(changes) = &file.at {
        plan.changes = change::changes(changes, &plan, &names, cx);
    }
    plan
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

fn times(plan: &mut Plan, file: &Scenario, cx: &mut Context) {
    plan.duration = file.duration.as_ref().map_or(plan.duration, |at| at.0);
    plan.warmup = file.warmup.as_ref().map_or(plan.warmup, |at| at.0);
    plan.baseline = file.baseline.as_ref().map_or(plan.baseline, |at| at.0);
    plan.drain = file.drain.as_ref().map_or(plan.drain, |at| at.0);
    if let Some(warmup) = &file.warmup
        && plan.warmup >= plan.duration
    {
        let message = format!("`warmup` is not shorter than `duration` ({})", plan.duration);
        cx.problem_at(warmup, message, "use a shorter `warmup`".to_owned());
    }
}

fn server(section: &ServerSection) -> Server {
    Server {
        link: section.link.as_ref().map(|link| hop(link)).unwrap_or_default(),
        http: section.http.as_ref().map(|at| at.value).unwrap_or_default(),
        tls: section.tls.as_ref().is_some_and(|at| at.0),
        cc: section.cc.as_ref().map(|at| at.value.clone()),
        ecn: section.ecn.as_ref().is_none_or(|at| at.0),
        interrupt_interval: section
            .interrupt_interval
            .as_ref()
            .map_or(DEFAULT_INTERRUPT_INTERVAL, |at| at.0),
    }
}

fn hop(link: &LinkSection) -> Hop {
    let default = Hop::default();
    Hop {
        rate: link.rate.as_ref().map(|at| at.0),
        delay: link.delay.as_ref().map_or(default.delay, |at| at.0),
        loss: link.loss.as_ref().map_or(default.loss, |at| at.0),
        queue: link.queue.as_ref().map(|at| at.0),
    }
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
