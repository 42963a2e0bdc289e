//! The same homes as a fleet would measure them: the rules see rows of real devices, and neither the scenario of the
//! access points and lines nor a simulation.

use super::{Home, homes};
use netburn_analysis::explain::{Cause, Evidence, Kind, Severity, likely_causes};
use netburn_parallel::pool::{map, processors};
use netburn_record::summary::Summariser;
use netburn_record::{Environment, Header, Row, RunStatus, Sink as _};
use netburn_scenario::{Document, Plan};
use std::ops::ControlFlow;

/// Parts of a scenario that a run on a fleet does not have.
const MODELLED: [&str; 4] = ["ap", "network", "server", "at"];

/// The home with probes on each station, simulated and as a fleet plans it.
fn plans(home: &Home, seed: u64) -> (Plan, Plan) {
    let mut scenario: toml::Table = home.scenario.parse().unwrap();
    let stations = scenario["station"].as_table_mut().unwrap();
    for (_, station) in stations.iter_mut() {
        let station = station.as_table_mut().unwrap();
        let mut all = match station.get("workload") {
            Some(toml::Value::Array(all)) => all.clone(),
            Some(one) => vec![one.clone()],
            None => Vec::new(),
        };
        all.extend(["to-near", "to-line", "to-server"].map(|name| toml::Value::String(name.to_owned())));
        station.insert("workload".to_owned(), toml::Value::Array(all));
    }
    let workloads = scenario
        .entry("workload")
        .or_insert_with(|| toml::Value::Table(toml::Table::new()))
        .as_table_mut()
        .unwrap();
    for target in ["near", "line", "server"] {
        let text = format!("kind = \"probe\"\ntarget = \"{target}\"\n");
        workloads.insert(format!("to-{target}"), toml::Value::Table(text.parse().unwrap()));
    }
    let simulated = Document::from_toml("home.toml", &scenario.to_string())
        .unwrap()
        .resolve()
        .unwrap();
    MODELLED.iter().for_each(|key| {
        scenario.remove(*key);
    });
    for (_, station) in scenario["station"].as_table_mut().unwrap().iter_mut() {
        station
            .as_table_mut()
            .unwrap()
            .retain(|key, _| key == "workload" || key == "start");
    }
    let document = Document::from_toml("home.toml", &scenario.to_string()).unwrap();
    let (mut fleet, _) = document.resolve_for(Environment::Fleet).unwrap();
    let mut simulated = simulated;
    (simulated.seed, fleet.seed) = (netburn_units::Seed(seed), netburn_units::Seed(seed));
    (simulated, fleet)
}

fn answer(home: &Home, seed: u64) -> Vec<Cause> {
    let (simulated, fleet) = plans(home, seed);
    let mut evidence = Evidence::new(&fleet, Environment::Fleet);
    let header = Header {
        environment: Environment::Fleet,
        ..Header::simulated(fleet.clone())
    };
    let mut summariser = Summariser::new(header);
    netburn_simulate::run(&simulated, |_, rows| {
        for row in rows.iter().filter(|row| !matches!(row, Row::Air(_))) {
            evidence.row(row);
            summariser.put(row).unwrap();
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    let summary = summariser.finish("home", &RunStatus::Complete);
    likely_causes(&evidence, &summary, &[]).causes
}

/// Returns true if a measurement cannot distinguish the cause from the expected one: it knows neither the rates of lines, nor who uses the channel
/// without a survey, nor what is between the access point and the router.
fn is_as_good(expected: Kind, named: Kind) -> bool {
    let alike: &[Kind] = match expected {
        Kind::UploadBloat => &[Kind::LineUp],
        Kind::DownloadBloat => &[Kind::LineDown, Kind::WifiDelay],
        Kind::Shaper => &[Kind::LineUp, Kind::LineDown, Kind::UploadBloat, Kind::DownloadBloat],
        Kind::SlowLine | Kind::Traffic | Kind::Backhaul => &[Kind::LineDown],
        Kind::Router => &[Kind::LineDown, Kind::WifiDelay],
        Kind::FullBand | Kind::SlowNeighbour | Kind::SlowCochannel | Kind::OwnChannel | Kind::Multicast => {
            &[Kind::WifiDelay]
        }
        Kind::Adapter => &[Kind::Device, Kind::WifiDelay],
        Kind::ApScans => &[Kind::Scans],
        Kind::Policer => &[Kind::LossyLine],
        Kind::WeakSignal => &[Kind::WifiDelay],
        _ => &[],
    };
    expected == named || alike.contains(&named)
}

/// Of the homes with a cause, at least this share must be named, and none wrongly.
const NAMED: f64 = 0.7;

/// A wrong cause costs a person an evening, and no cause costs less. So nothing false is named, in healthy homes too.
#[test]
fn rules_alone_name_nothing_false() {
    let homes = homes();
    let all = map(homes.len(), processors(), &|place| answer(&homes[place], 1));
    let (mut named, mut silent, mut wrong) = (0, Vec::new(), Vec::new());
    for (home, causes) in homes.iter().zip(all) {
        let serious: Vec<Kind> = causes
            .iter()
            .filter(|cause| cause.severity != Severity::Notable)
            .map(|cause| cause.kind)
            .collect();
        let known = home.expected.iter().chain(&home.also);
        let is_right = |named: &Kind| known.clone().any(|expected| is_as_good(*expected, *named));
        if !serious.iter().all(is_right) {
            wrong.push(format!(
                "{}: expected {:?}, named {serious:?}",
                home.name, home.expected
            ));
        } else if serious.is_empty() && !home.expected.is_empty() {
            silent.push(format!("{}: {:?}", home.name, home.expected));
        } else {
            named += usize::from(!home.expected.is_empty());
        }
    }
    let sick = homes.iter().filter(|home| !home.expected.is_empty()).count();
    println!("of {sick} homes, {named} have a right cause; wrong: {wrong:#?}; silent: {silent:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(named as f64 >= NAMED * sick as f64, "{named} of {sick}: {silent:#?}");
}
