use super::{Agreement, agreement, on_model};
use crate::whatif::repeated;
use netburn_parallel::Cancel;
use netburn_record::Summary;
use netburn_scenario::{Document, Environment, Plan};
use netburn_units::{Duration, Seed};
use std::ops::ControlFlow;

/// A scenario without radio, as it is run on a fleet.
const RUN: &str = r#"
duration = "12 s"
warmup = "2 s"
[server]
cc = "reno"
[station.laptop]
cc = "reno"
workload = ["browsing", "probe"]
[station.tablet]
workload = "download"
start = "1 s"
"#;

/// The network, with another load, and a station that took no part.
const MODEL: &str = r#"
duration = "60 s"
[ap.home]
queue = "fifo"
[ap.home.radio.5g]
standard = "802.11n"
width = "20 MHz"
[station.printer]
joins = "home.5g"
signal = "-60 dBm"
workload = "browsing"
[station.tablet]
joins = "home.5g"
signal = "-82 dBm"
workload = "voip"
[station.laptop]
joins = "home.5g"
signal = "-45 dBm"
workload = "upload"
"#;

fn plan(text: &str, environment: Environment, set: &[(&str, &str)]) -> Plan {
    let mut document = Document::from_toml("t.toml", text).expect("a scenario");
    for (key, value) in set {
        document.set(key, value).expect("a key");
    }
    document.resolve_for(environment).expect("it resolves").0
}

fn run() -> Plan {
    plan(RUN, Environment::Fleet, &[])
}

fn model(set: &[(&str, &str)]) -> Plan {
    plan(MODEL, Environment::Simulate, set)
}

/// Summary that a fleet would have recorded in the network of `model`, with a seed that [`agreement()`] does not use.
fn measured(model: &Plan) -> Summary {
    let house = Plan {
        seed: Seed(99),
        ..on_model(&run(), model).unwrap()
    };
    let summary = netburn_simulate::summary(&house, "house", &mut |_| ControlFlow::Continue(()));
    summary.expect("it is simulated").expect("it is complete")
}

fn agreed(measured: &Summary, model: &Plan, threads: usize) -> Agreement {
    let plan = on_model(&run(), model).unwrap();
    let agreement = agreement(measured, &repeated(&plan, 8), threads, &Cancel::default());
    agreement.expect("it is simulated").expect("nothing stopped it")
}

#[test]
fn the_network_is_that_of_the_model_and_the_load_that_of_the_run() {
    let (run, model) = (run(), model(&[]));
    let plan = on_model(&run, &model).unwrap();
    assert_eq!(plan.aps, model.aps);
    assert_eq!(plan.server.cc, run.server.cc);
    assert!(run.server.cc.is_some() && run.server.cc != model.server.cc);
    let laptop = |plan: &Plan| plan.station("laptop").and_then(|station| station.cc.clone());
    assert_eq!(laptop(&plan), laptop(&run));
    assert_eq!(
        (plan.duration, plan.warmup),
        (Duration::from_secs(12), Duration::from_secs(2))
    );
    for station in &plan.stations {
        assert_eq!(station.air, model.station(&station.name).unwrap().air);
        let of_run = run.station(&station.name);
        assert_eq!(
            station.workloads,
            of_run.map_or(Vec::new(), |station| station.workloads.clone())
        );
        assert_eq!(station.start, of_run.map_or(Duration::ZERO, |station| station.start));
    }
    let names = plan.stations.iter().map(|station| station.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["printer", "tablet", "laptop"]);
    // It is a scenario, too.
    let again = Document::from_json(&plan.to_json()).resolve_for(Environment::Simulate);
    assert_eq!(again.unwrap().0, plan);
}

#[test]
fn a_model_without_a_station_of_the_run_is_an_error() {
    let text = MODEL.replace("station.tablet", "station.phone");
    let other = plan(&text, Environment::Simulate, &[]);
    let error = on_model(&run(), &other).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the run has a station `tablet`, which the model lacks; its stations are printer, phone, laptop"
    );
}

/// The measured run is one more draw from the model. With eight simulations it is outside of all of them with a
/// probability of 2/9, less with the tolerance.
#[test]
fn a_run_agrees_with_the_model_of_its_own_network() {
    let model = model(&[]);
    let agreement = agreed(&measured(&model), &model, 2);
    let differing = agreement.differing().len();
    assert!(agreement.values.len() >= 10, "{}", agreement.values.len());
    assert!(
        9 * differing <= 3 * agreement.values.len(),
        "{:?}",
        agreement.differing()
    );
}

/// The house shares airtime, which the model does not know: the laptop's probes are much faster than modelled.
#[test]
fn a_wrong_queue_is_seen_in_what_it_delays() {
    let house = model(&[("ap.home.queue", "airtime")]);
    let agreement = agreed(&measured(&house), &model(&[]), 2);
    let differing = agreement.differing();
    let probe = differing
        .iter()
        .find(|value| value.key.path() == "stations.laptop.workloads.probe.latency_ms.p50");
    let probe = probe.expect("the probes differ");
    assert!(2.0 * probe.measured < probe.simulated[0], "{probe:?}");
}

/// An adapter that is slower than its link: the model of the link does not explain the tablet's download.
#[test]
fn a_device_that_is_slower_than_its_link_is_seen() {
    let house = model(&[("station.tablet.adapter_rate", "1 Mbit/s")]);
    let agreement = agreed(&measured(&house), &model(&[]), 2);
    let differing = agreement.differing();
    let rate = differing
        .iter()
        .find(|value| value.key.station.as_deref() == Some("tablet") && value.key.quantity.path == "throughput_mbps");
    let rate = rate.expect("the download differs");
    assert!(rate.measured < rate.simulated[0], "{rate:?}");
}

#[test]
fn the_result_does_not_depend_on_the_threads() {
    let model = model(&[]);
    let house = measured(&model);
    assert_eq!(agreed(&house, &model, 1), agreed(&house, &model, 3));
}

#[test]
fn a_stopped_comparison_has_no_result() {
    let plan = on_model(&run(), &model(&[])).unwrap();
    let cancel = Cancel::default();
    cancel.stop();
    let house = measured(&model(&[]));
    assert_eq!(agreement(&house, &repeated(&plan, 8), 2, &cancel).unwrap(), None);
}
