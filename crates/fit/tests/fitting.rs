//! Fits of simulated networks whose parameters are known, and of runs that show too little.

use netburn_fit::evidence::{Key, Quantity};
use netburn_fit::home::Parameter;
use netburn_fit::houses::{House, simulate};
use netburn_fit::schedule::{Device, NoSchedule};
use netburn_fit::{CannotFit, Fit, Measurement, Predicted, Schedule, Settings, fit};
use netburn_medium::config::Band;
use netburn_medium::queue::QueueKind;
use netburn_record::{Header, MemoryRecorder, Run, RunStatus, Sink};
use netburn_scenario::{Document, Environment};
use netburn_units::{Duration, Seed};
use netburn_workload::{Direction, ProbeTarget};

/// Two stations behind one FIFO of 500 packets, which is the bottleneck for the tablet, and a line, which is it for the laptop.
const HOUSE: &str = r#"
[server.link]
delay = "9 ms"
[ap.home]
queue = "fifo"
queue_limit = "500 packets"
wan = { down = "60 Mbit/s", up = "6 Mbit/s", delay = "4 ms", queue = "400 KiB" }
[ap.home.radio.5g]
standard = "802.11n"
width = "40 MHz"
[station.laptop]
joins = "home.5g"
signal = "-52 dBm"
workload = "browsing"
[station.tablet]
joins = "home.5g"
streams = 1
signal = "-80 dBm"
"#;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn measured(house: &str, stations: &[&str]) -> Run {
    let scenario = Schedule::measure(&names(stations))
        .in_scenario(house)
        .expect("valid TOML");
    simulate(&scenario, Seed(11)).expect("the house can be simulated")
}

/// Settings for few simulations.
fn settings() -> Settings {
    Settings {
        pilot: 12,
        members: 24,
        ..Settings::default()
    }
}

fn in_order(count: usize, work: &(dyn Fn(usize) -> Predicted + Sync)) -> Vec<Predicted> {
    (0..count).map(work).collect()
}

fn measurement(run: &Run) -> Measurement {
    Measurement::of_run(run, settings().length).expect("a measurement")
}

fn within(fit: &Fit, parameter: Parameter, truth: f64, share: f64) {
    let estimate = fit.estimate(parameter).expect("each parameter has an estimate");
    let error = estimate.median / truth - 1.0;
    assert!(
        estimate.is_identified() && error.abs() <= share,
        "{}: {estimate:?}, true {truth}",
        estimate.key
    );
}

fn covers(fit: &Fit, parameter: Parameter, truth: f64) {
    let estimate = fit.estimate(parameter).expect("each parameter has an estimate");
    let (low, high) = estimate.interval;
    assert!(
        (low..=high).contains(&truth),
        "{}: {estimate:?}, true {truth}",
        estimate.key
    );
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn a_simulated_network_is_found() {
    let house = HOUSE.replace("queue = \"400 KiB\"", "queue_down = \"4 MiB\", queue_up = \"60 KiB\"");
    let run = measured(&house, &["laptop", "tablet"]);
    let result = fit(&measurement(&run), &Settings::default(), &in_order).expect("the models can be simulated");
    assert_eq!(
        result.models.disciplines[0].0,
        QueueKind::Fifo,
        "{:?}\n{}",
        result.models.disciplines,
        result.scenario
    );
    assert!(
        result.models.explains(),
        "{} {:?}",
        result.models.misfit,
        result.unexplained
    );
    within(&result, Parameter::Line(Direction::Down), 60.0, 0.05);
    within(&result, Parameter::Line(Direction::Up), 6.0, 0.05);
    // The queue of uploads was full, 80 ms at 6 Mbit/s. That of downloads, 560 ms at 60 Mbit/s, was not.
    within(&result, Parameter::LineQueue(Direction::Up), 60.0, 0.3);
    covers(&result, Parameter::LineQueue(Direction::Down), 4096.0);
    let down = result.estimate(Parameter::LineQueue(Direction::Down));
    assert!(
        !down.expect("each parameter has an estimate").is_identified(),
        "{down:?}"
    );
    covers(&result, Parameter::QueueLimit, 500.0);
    // The result is a scenario that can be simulated, and a measurement of it shows the same line.
    let again = simulate(&result.scenario, Seed(5)).expect("the fitted scenario can be simulated");
    let [down, _] = measurement(&again).home.highest;
    assert!((down.expect("a download") / 60.0 - 1.0).abs() < 0.08, "{down:?}");
    let comments = result
        .scenario
        .lines()
        .filter(|line| line.starts_with("# fitted: "))
        .count();
    assert!(comments >= 4, "{}", result.scenario);
    draws_are_scenarios(&result);
}

/// A line that is faster than the Wi-Fi, so that other networks on the channel take from the goodput.
const FULL_CHANNEL: &str = r#"
[server.link]
delay = "9 ms"
[ap.home]
queue = "airtime"
wan = { down = "300 Mbit/s", up = "300 Mbit/s", delay = "4 ms" }
[ap.home.radio.5g]
standard = "802.11n"
width = "20 MHz"
channel_busy = "30 %"
[station.laptop]
joins = "home.5g"
signal = "-52 dBm"
workload = "browsing"
[station.tablet]
joins = "home.5g"
streams = 1
signal = "-65 dBm"
"#;

/// The rates of the links show the goodput that a free channel would give.
#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn other_networks_are_told_from_weak_signals() {
    let busy = |house: &str| {
        let run = measured(house, &["laptop", "tablet"]);
        let result = fit(&measurement(&run), &settings(), &in_order).expect("the models can be simulated");
        let estimate = result.estimate(Parameter::Busy(Band::Ghz5));
        estimate.expect("each parameter has an estimate").interval
    };
    let (low, high) = busy(FULL_CHANNEL);
    assert!((low..=high).contains(&0.3), "{low} to {high}");
    let (_, free) = busy(&FULL_CHANNEL.replace("30 %", "0 %"));
    assert!(free < low, "{low} to {high}, and at most {free} on a free channel");
}

#[test]
fn a_fit_needs_no_more_simulations_than_it_says() {
    let count = std::cell::Cell::new(0);
    let counted = |more: usize, work: &(dyn Fn(usize) -> Predicted + Sync)| {
        count.set(count.get() + more);
        in_order(more, work)
    };
    let run = measured(HOUSE, &["laptop", "tablet"]);
    let few = Settings {
        pilot: 4,
        members: 4,
        ..Settings::default()
    };
    fit(&measurement(&run), &few, &counted).expect("the models can be simulated");
    // Of the last part, 2 · (3 − 1) · 4 are not needed if one discipline is left. Of the tests of bounds, at most the second
    // mean, the queue limit and both rates of the line are not needed, four times each.
    assert!(
        count.get() <= few.simulations() && count.get() + 16 + 16 >= few.simulations(),
        "{} of {}",
        count.get(),
        few.simulations()
    );
}

/// Equally likely models have the probabilities of the disciplines, up to the share of one model.
fn draws_are_scenarios(result: &Fit) {
    let total: f64 = result.models.draws.iter().map(|draw| draw.probability).sum();
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    let scenarios = result.models.scenarios(20);
    assert_eq!(scenarios.len(), 20);
    for (kind, probability) in &result.models.disciplines {
        let queue = format!("queue = \"{}\"\n", kind.name());
        let share = scenarios.iter().filter(|text| text.contains(&queue)).count() as f64 / 20.0;
        assert!(
            (share - probability).abs() <= 0.05 + 1e-9,
            "{kind:?}: {share} {probability}"
        );
    }
    for text in &scenarios {
        let document = Document::from_toml("draw.toml", text).expect("valid TOML");
        document
            .resolve_for(Environment::Simulate)
            .expect("it can be simulated");
    }
    for observation in &result.observations {
        let [low, median, high] = observation.modelled;
        assert!(
            low <= median && median <= high && observation.measured >= 0.0,
            "{observation:?}"
        );
    }
}

/// Everything of the network is removed from the plan that the run keeps: the fit must be the same.
#[test]
fn a_fit_reads_nothing_that_a_fleet_does_not_record() {
    let run = measured(HOUSE, &["laptop", "tablet"]);
    let alone = Schedule::measure(&names(&["laptop", "tablet"])).scenario();
    let document = Document::from_toml("measure.toml", &alone).expect("valid");
    let known = Header::simulated(document.resolve_for(Environment::Fleet).expect("valid").0);
    let recorded = |mut header: Header| {
        header.environment = Environment::Fleet;
        let mut recorder = MemoryRecorder::new(header);
        run.rows(&mut |row| recorder.put(&row).expect("in memory"))
            .expect("rows in memory");
        recorder.finish("run", &RunStatus::Complete)
    };
    let (run, stripped) = (recorded(run.header().clone()), recorded(known));
    let few = Settings {
        pilot: 4,
        members: 4,
        ..Settings::default()
    };
    let of = |run: &Run, map: &netburn_fit::Map<'_>| fit(&measurement(run), &few, map).expect("simulated");
    let one = of(&run, &in_order);
    // In another order of the simulations, too.
    let backwards = |count: usize, work: &(dyn Fn(usize) -> Predicted + Sync)| {
        let mut results: Vec<Predicted> = (0..count).rev().map(work).collect();
        results.reverse();
        results
    };
    assert!(one == of(&stripped, &backwards), "the plan of the network was read");
}

/// The record of a fleet without reports of its agents does not show whether they were too busy to measure.
#[test]
fn a_measurement_that_may_be_disturbed_says_so() {
    let run = measured(HOUSE, &["laptop", "tablet"]);
    let mut header = run.header().clone();
    header.environment = Environment::Fleet;
    let mut recorder = MemoryRecorder::new(header);
    run.rows(&mut |row| recorder.put(&row).expect("in memory"))
        .expect("rows in memory");
    let unchecked = recorder.finish("unchecked", &RunStatus::Complete);
    let disturbed = |run: &Run| {
        let gaps = measurement(run).gaps;
        gaps.iter()
            .filter(|gap| gap.starts_with("the measurement may be disturbed: "))
            .count()
    };
    assert!(disturbed(&unchecked) > 0);
    assert_eq!(disturbed(&run), 0);
}

#[test]
fn one_station_behind_a_slow_line_does_not_show_the_discipline() {
    let house = HOUSE
        .split("[station.tablet]")
        .next()
        .expect("a part")
        .replace("60 Mbit/s", "10 Mbit/s");
    let measurement = measurement(&measured(&house, &["laptop"]));
    assert!(measurement.gaps[0].starts_with("one station"), "{:?}", measurement.gaps);
    let result = fit(&measurement, &settings(), &in_order).expect("the models can be simulated");
    assert_eq!(result.models.discipline(), None, "{:?}", result.models.disciplines);
    let limit = result.estimate(Parameter::QueueLimit).expect("an estimate");
    assert!(!limit.is_identified(), "{limit:?}");
    assert!(
        limit.comment().starts_with("not identified by this run"),
        "{}",
        limit.comment()
    );
    within(&result, Parameter::Line(Direction::Down), 10.0, 0.05);
}

/// The error of a fit of a simulated run.
fn error(scenario: &str) -> CannotFit {
    let run = simulate(scenario, Seed(1)).expect("the scenario can be simulated");
    Measurement::of_run(&run, settings().length).expect_err("no measurement")
}

#[test]
fn runs_that_show_too_little_are_rejected() {
    let house = |workloads: &str, sections: &str| {
        let house = HOUSE.replace("workload = \"browsing\"", &format!("workload = [{workloads}]"));
        format!("duration = \"4 s\"\nbaseline = \"0 s\"\ndrain = \"1 s\"\n{house}\n{sections}")
    };
    let load = |stop: &str| {
        format!(
            "[workload.load]\nkind = \"download\"\nstart = \"2 s\"\nstop = \"{stop}\"\n[workload.near]\nkind = \"probe\"\n"
        )
    };
    let schedule = |error: CannotFit| match error {
        CannotFit::Schedule(reason) => reason,
        other => panic!("{other}"),
    };
    assert_eq!(schedule(error(&house("\"probe\"", ""))), NoSchedule::Unloaded);
    assert_eq!(schedule(error(&house("\"load\"", &load("4 s")))), NoSchedule::NoProbes);
    assert_eq!(
        schedule(error(&house("\"load\", \"near\"", &load("2.5 s")))),
        NoSchedule::TooShort
    );
    assert!(matches!(
        schedule(error(&house("\"browsing\", \"near\"", &load("4 s")))),
        NoSchedule::Workload { .. }
    ));
    // A download without an end is no phase.
    assert!(matches!(
        schedule(error(&house("\"download\", \"near\"", &load("4 s")))),
        NoSchedule::Workload { .. }
    ));
}

/// The only phase of a single station is too short, so nothing is simulated before all stations transfer.
#[test]
fn a_phase_that_is_too_short_is_no_first_assimilation() {
    let load = |name: &str, start: u32, stop: u32| {
        format!("[workload.{name}]\nkind = \"download\"\nstart = \"{start} s\"\nstop = \"{stop} s\"\ngoal = \"none\"\n")
    };
    let house = HOUSE.replace("\"browsing\"", "[\"short\", \"both\", \"probe\"]");
    let house = house.replace(
        "signal = \"-80 dBm\"",
        "signal = \"-80 dBm\"\nworkload = [\"both\", \"probe\"]",
    );
    let scenario = format!(
        "duration = \"12 s\"\nbaseline = \"0 s\"\ndrain = \"1 s\"\n{house}\n{}{}",
        load("short", 3, 4),
        load("both", 6, 12)
    );
    let run = simulate(&scenario, Seed(1)).expect("the scenario can be simulated");
    let few = Settings {
        pilot: 4,
        members: 4,
        ..Settings::default()
    };
    let fitted = fit(&measurement(&run), &few, &in_order).expect("the models can be simulated");
    assert!(fitted.models.misfit.is_finite());
}

#[test]
fn interrupted_runs_are_rejected() {
    let scenario = Schedule::measure(&names(&["laptop"])).scenario();
    let document = Document::from_toml("measure.toml", &scenario).expect("valid");
    let plan = document.resolve_for(Environment::Fleet).expect("valid").0;
    let end = |status: RunStatus| {
        let run = MemoryRecorder::new(Header::simulated(plan.clone())).finish("run", &status);
        Measurement::of_run(&run, Duration::from_secs(1))
            .expect_err("no measurement")
            .to_string()
    };
    assert_eq!(
        end(RunStatus::Interrupted),
        "the run is not complete: it was interrupted"
    );
    assert_eq!(
        end(RunStatus::Failed("a reason".to_owned())),
        "the run is not complete: a reason"
    );
    // A complete record without a row.
    assert_eq!(end(RunStatus::Complete), "no station transferred anything in any phase");
}

#[test]
fn a_schedule_is_read_as_it_was_written() {
    for count in 1..=6 {
        let stations: Vec<String> = (0..count).map(|number| format!("s{number}")).collect();
        let schedule = Schedule::measure(&stations);
        let document = Document::from_toml("measure.toml", &schedule.scenario()).expect("valid");
        let read = Schedule::of_plan(&document.resolve().expect("valid")).expect("a schedule");
        let loaded = |schedule: &Schedule| {
            let phases = schedule.phases.iter().filter(|phase| !phase.flows.is_empty());
            phases.cloned().collect::<Vec<_>>()
        };
        assert_eq!(loaded(&read), loaded(&schedule));
        assert_eq!(read.probes, schedule.probes);
        assert_eq!(read.phases[0].flows, []);
        // Idle, each station down and up, pairs from three stations on, and all stations from two on.
        let pairs = if count > 2 { count / 2 } else { 0 };
        assert_eq!(
            schedule.phases.len(),
            1 + 2 * count + pairs + if count > 1 { 2 } else { 0 }
        );
    }
}

#[test]
fn random_houses_are_the_same_for_the_same_seed() {
    let text = |seed| House::random(Seed(seed), 6).scenario();
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

/// The measurement of the house with devices that send probes to the server only, as browsers do.
fn measured_by_browsers() -> Run {
    let device = |name: &str| Device {
        name: name.to_owned(),
        probes: vec![ProbeTarget::Server],
    };
    let schedule = Schedule::for_devices(&[device("laptop"), device("tablet")]);
    let scenario = schedule.in_scenario(HOUSE).expect("valid TOML");
    simulate(&scenario, Seed(11)).expect("the house can be simulated")
}

#[test]
fn a_device_has_observations_of_its_own_probes_only() {
    let observed = measurement(&measured_by_browsers());
    let of_server = |key: &&Key| matches!(key.quantity, Quantity::Latency(ProbeTarget::Server, _));
    let goodput = |key: &&Key| matches!(key.quantity, Quantity::Goodput(_));
    // Each device transfers in four of the seven phases, and has two quantiles of its delay in these and in the idle one.
    assert_eq!(observed.keys.iter().filter(of_server).count(), 2 * 5 * 2);
    assert_eq!(observed.keys.iter().filter(goodput).count(), 2 * 4);
    // The modelled links have rates in both directions.
    let rate = |key: &&Key| matches!(key.quantity, Quantity::Rate(_));
    assert_eq!(observed.keys.iter().filter(rate).count(), 2 * 2);
    assert_eq!(observed.keys.len(), 20 + 8 + 4);
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn browsers_find_the_line() {
    let observed = measurement(&measured_by_browsers());
    let result = fit(&observed, &Settings::default(), &in_order).expect("the models can be simulated");
    assert!(
        result.models.explains(),
        "{} {:?}",
        result.models.misfit,
        result.unexplained
    );
    // Without probes of the access point, the run does not show that the line and not the Wi-Fi was full.
    let up = result
        .estimate(Parameter::Line(Direction::Up))
        .expect("each parameter has an estimate");
    assert!((up.median / 6.0 - 1.0).abs() < 0.05, "{up:?}");
    covers(&result, Parameter::Line(Direction::Up), 6.0);
    covers(&result, Parameter::Line(Direction::Down), 60.0);
    covers(&result, Parameter::LineQueue(Direction::Down), 400.0);
}
