//! The page of the built-in scenarios, from their plans.

use crate::page::check_generated;
use netburn_scenario::{Environment, Plan, built_in_scenarios, load};
use serde_json::Value;
use std::fmt::Write as _;

fn plan(name: &str) -> Plan {
    load(name).unwrap().resolve().unwrap()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Value of a station's key, as text; empty without the key.
fn text(station: &Value, key: &str) -> String {
    match &station[key] {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(list) => {
            let words: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            words.join(", ")
        }
        _ => String::new(),
    }
}

/// Connection of a station: Wi-Fi with its signal, distance or MCS, or a wire.
fn connection(station: &Value) -> String {
    if station["link"].is_object() {
        return "wire".to_owned();
    }
    let quality = ["signal", "distance", "mcs"].map(|key| (key, text(station, key)));
    let quality = quality.iter().find(|(_, value)| !value.is_empty());
    match quality {
        Some(("mcs", value)) => format!("`{}`, MCS {value}", text(station, "joins")),
        Some((_, value)) => format!("`{}`, {value}", text(station, "joins")),
        None => format!("`{}`", text(station, "joins")),
    }
}

fn section(page: &mut String, name: &str, plan: &Plan) {
    let _ = write!(
        page,
        "\n## `{name}`\n\n{}.\n\n*{}*\n\n",
        plan.title.as_deref().unwrap_or_default(),
        plan.question.as_deref().unwrap_or_default()
    );
    page.push_str("| station | connection | workloads | active |\n|---|---|---|---|\n");
    let document = plan.to_json();
    for station in &plan.stations {
        let keys = &document["station"][&station.name];
        let end = station.stop.unwrap_or(plan.duration);
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} to {end} |",
            station.name,
            cell(&connection(keys)),
            station
                .workloads
                .iter()
                .map(|workload| format!("`{}`", workload.name))
                .collect::<Vec<_>>()
                .join(", "),
            station.start,
        );
    }
    let environments: Vec<&str> = Environment::ALL
        .into_iter()
        .filter(|environment| plan.check_for(*environment).is_ok())
        .map(Environment::name)
        .collect();
    let _ = writeln!(page, "\nEnvironments: {}.", environments.join(", "));
    if !plan.assumptions.is_empty() {
        page.push_str("\nAssumptions:\n\n");
        for assumption in &plan.assumptions {
            let _ = writeln!(page, "- {assumption}");
        }
    }
}

#[test]
fn the_page_of_the_scenarios_is_current() {
    let mut page = "# Built-in scenarios\n\n\
        `netburn run NAME` runs one of these scenarios, and `netburn plan NAME` prints it with all defaults.\n\
        [Scenario file](scenario.md) describes the keys. A test generates this page.\n\n\
        | scenario | question | stations | duration |\n|---|---|---|---|\n"
        .to_owned();
    let scenarios: Vec<(&str, Plan)> = built_in_scenarios()
        .iter()
        .map(|(name, _)| (*name, plan(name)))
        .collect();
    for (name, plan) in &scenarios {
        let _ = writeln!(
            page,
            "| [`{name}`](#{name}) | {} | {} | {} |",
            cell(plan.question.as_deref().unwrap_or_default()),
            plan.stations.len(),
            plan.duration
        );
    }
    for (name, plan) in &scenarios {
        section(&mut page, name, plan);
    }
    check_generated("scenarios.md", |_| page.clone());
}
