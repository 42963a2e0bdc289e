//! The confusion matrix. Each cause has a scenario of its own, in which it is found. It is not found in the
//! others.
//!
//! `NETBURN_REGENERATE=1` runs it under five seeds and writes the matrix into docs/results/confusion-matrix.md.

use netburn_analysis::explain::{Cause, Evidence, Kind, likely_causes};
use netburn_dev::experiment::Grid;
use netburn_record::health::Role;
use netburn_record::summary::Summariser;
use netburn_record::{Environment, Header, Health, Row, RunStatus, Sink as _};
use netburn_runner::pool::{map, processors};
use netburn_scenario::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Shifts of all signals in hundredths of a decibel.
const SHIFTS: [i32; 3] = [-300, 0, 300];

/// Changes that remove the cause of a scenario, so that no cause is named.
const FIXED: [(&str, &[(&str, &str)]); 25] = [
    ("server", &[("server.link.rate", "1000 Mbit/s")]),
    ("adapter", &[("station.tv.adapter_rate", "200 Mbit/s")]),
    ("full-band", &[("ap.home.radio.2g.channel_busy", "10 %")]),
    ("backhaul", &[("ap.study.backhaul", "wired")]),
    // With another aggregate in the hardware, a page sometimes waits too long behind the slow station.
    (
        "slow-neighbour",
        &[("ap.home.queue", "airtime"), ("ap.home.hardware_queue", "1 aggregates")],
    ),
    ("upload-bloat", &[("ap.home.wan.queue", "32 KiB")]),
    ("download-bloat", &[("ap.home.queue", "airtime")]),
    ("small-queues", &[("station.laptop.tsq", "2025")]),
    ("roaming", &[("station.phone.path", "[\"2 m, 0 m\", \"9 m, 0 m\"]")]),
    ("slow-cochannel", &[("ap.home.radio.2g.channel", "11")]),
    ("slow-rate", &[("station.player.mcs", "7")]),
    ("weak-signal", &[("station.tv.signal", "-66 dBm")]),
    ("slow-line", &[("ap.home.wan.down", "50 Mbit/s")]),
    ("lossy-line", &[("ap.home.wan.loss", "0 %")]),
    ("distant-server", &[("server.link.delay", "5 ms")]),
    ("wifi-delay", &[("ap.home.queue", "airtime")]),
    ("line-down", &[("ap.home.wan.queue", "32 KiB")]),
    ("line-up", &[("station.desktop.workload", "voip")]),
    ("device", &[("station.laptop.queue", "fq-codel")]),
    ("outage", &[("ap.home.wan.outages", "[]")]),
    ("power-save", &[("station.phone.power_save", "off")]),
    ("scans", &[("station.laptop.absence.length", "10 ms")]),
    ("access-point-scans", &[("ap.home.scan_away", "10 ms")]),
    ("fair-share", &[("workload.program.streams", "2")]),
    (
        "wifi-delay+line-up",
        &[("ap.home.queue", "airtime"), ("station.desktop.workload", "voip")],
    ),
];

/// Number of scenarios in which two causes are named, such as `wifi-delay+line-down`.
const PAIRS: usize = 5;

/// A scenario, changed keys, and the expected cause.
type Variant = (&'static str, &'static [(&'static str, &'static str)], Option<Kind>);

/// Variants of the scenarios that the rules were not made with: other rates, losses, distances, workloads and queues.
/// Each has its expected cause; none if all goals are met.
const VARIANTS: [Variant; 82] = [
    // The line limits the upload, and its queue is short.
    (
        "small-queues",
        &[
            ("ap.home.wan.down", "100 Mbit/s"),
            ("ap.home.wan.up", "20 Mbit/s"),
            ("ap.home.wan.discipline", "fq-codel"),
        ],
        None,
    ),
    ("line-down", &[("ap.home.wan.down", "25 Mbit/s")], Some(Kind::LineDown)),
    ("line-down", &[("station.desktop.cc", "reno")], Some(Kind::LineDown)),
    // Without a probe to the line, the probe to the server replaces it.
    (
        "line-down",
        &[("station.phone.workload", "[\"near\", \"probe\"]")],
        Some(Kind::LineDown),
    ),
    ("line-down", &[("ap.home.wan.discipline", "fq-codel")], None),
    ("line-up", &[("ap.home.wan.up", "5 Mbit/s")], Some(Kind::LineUp)),
    (
        "line-up",
        &[("station.phone.workload", "[\"near\", \"probe\"]")],
        Some(Kind::LineUp),
    ),
    ("wifi-delay", &[("station.tv.mcs", "3")], Some(Kind::WifiDelay)),
    ("wifi-delay", &[("ap.home.queue", "pfifo-fast")], Some(Kind::WifiDelay)),
    ("wifi-delay", &[("station.tv.workload", "voip")], None),
    (
        "remote-server",
        &[("ap.home.wan.down", "10 Mbit/s")],
        Some(Kind::RemoteServer),
    ),
    ("device", &[("station.laptop.signal", "-75 dBm")], Some(Kind::Device)),
    (
        "backhaul",
        &[("ap.study.backhaul_signal", "-87 dBm")],
        Some(Kind::Backhaul),
    ),
    ("backhaul", &[("ap.study.backhaul_signal", "-70 dBm")], None),
    (
        "backhaul",
        &[("station.tv.workload", "voip"), ("station.tablet.workload", "voip")],
        None,
    ),
    (
        "roaming",
        &[("network.home.radius_delay", "30 ms")],
        Some(Kind::Roaming),
    ),
    (
        "roaming",
        &[
            ("station.phone.roaming", "apple-phone"),
            ("station.phone.workload", "voip"),
        ],
        Some(Kind::Roaming),
    ),
    // One roam with a short gap delays at most one operation.
    (
        "roaming",
        &[
            ("network.home.security", "psk"),
            ("station.phone.path", "[\"2 m, 0 m\", \"22 m, 0 m\"]"),
        ],
        None,
    ),
    (
        "roaming",
        &[
            ("network.home.r", "true"),
            ("station.phone.path", "[\"2 m, 0 m\", \"22 m, 0 m\"]"),
        ],
        None,
    ),
    (
        "slow-rate",
        &[
            ("station.player.standard", "802.11n"),
            ("station.player.workload", "4kstream"),
        ],
        Some(Kind::SlowRate),
    ),
    (
        "slow-rate",
        &[
            ("station.player.standard", "802.11b"),
            ("station.player.signal", "-60 dBm"),
        ],
        Some(Kind::SlowRate),
    ),
    ("slow-rate", &[("station.player.workload", "voip")], None),
    // Less than half of the rate that the signal permits is slow, but not a fault.
    (
        "slow-rate",
        &[("station.player.workload", "4kstream"), ("station.player.mcs", "4")],
        None,
    ),
    // A fixed rate with a weak signal.
    ("weak-signal", &[("station.tv.mcs", "0")], Some(Kind::WeakSignal)),
    (
        "weak-signal",
        &[("station.tv.signal", "-83 dBm")],
        Some(Kind::WeakSignal),
    ),
    (
        "weak-signal",
        &[("station.tv.signal", "-88 dBm"), ("ap.home.queue", "fq-mac")],
        Some(Kind::WeakSignal),
    ),
    (
        "weak-signal",
        &[("station.tv.workload", "browsing")],
        Some(Kind::WeakSignal),
    ),
    (
        "weak-signal",
        &[("station.tv.standard", "802.11g"), ("station.tv.signal", "-85 dBm")],
        Some(Kind::WeakSignal),
    ),
    (
        "weak-signal",
        &[("station.tv.signal", "-89 dBm"), ("station.tv.streams", "2")],
        Some(Kind::WeakSignal),
    ),
    ("weak-signal", &[("station.tv.workload", "voip")], None),
    (
        "weak-signal",
        &[("station.tv.signal", "-78 dBm"), ("station.tv.streams", "2")],
        None,
    ),
    ("slow-line", &[("ap.home.wan.down", "10 Mbit/s")], Some(Kind::SlowLine)),
    (
        "slow-line",
        &[("ap.home.wan.down", "18 Mbit/s"), ("ap.home.wan.delay", "25 ms")],
        Some(Kind::SlowLine),
    ),
    (
        "slow-line",
        &[
            ("ap.home.wan.down", "40 Mbit/s"),
            ("station.phone.workload", "4kstream"),
        ],
        Some(Kind::SlowLine),
    ),
    (
        "slow-line",
        &[("ap.home.wan.down", "16 Mbit/s"), ("station.tv.workload", "browsing")],
        Some(Kind::SlowLine),
    ),
    (
        "slow-line",
        &[("ap.home.wan.down", "16 Mbit/s"), ("station.tv.workload", "voip")],
        None,
    ),
    (
        "slow-line",
        &[
            ("ap.home.wan.down", "100 Mbit/s"),
            ("station.phone.workload", "browsing"),
        ],
        None,
    ),
    ("lossy-line", &[("ap.home.wan.loss", "1 %")], Some(Kind::LossyLine)),
    (
        "lossy-line",
        &[("ap.home.wan.loss", "6 %"), ("ap.home.wan.delay", "3 ms")],
        Some(Kind::LossyLine),
    ),
    (
        "lossy-line",
        &[("ap.home.wan.loss", "0 %"), ("server.link.loss", "2 %")],
        Some(Kind::LossyLine),
    ),
    (
        "lossy-line",
        &[("ap.home.wan.delay", "20 ms"), ("station.tv.workload", "voip")],
        Some(Kind::LossyLine),
    ),
    ("lossy-line", &[("ap.home.wan.loss", "0.01 %")], None),
    (
        "lossy-line",
        &[("ap.home.wan.loss", "0 %"), ("ap.home.queue", "fifo")],
        None,
    ),
    (
        "distant-server",
        &[("server.link.delay", "60 ms")],
        Some(Kind::DistantServer),
    ),
    (
        "distant-server",
        &[("server.link.delay", "150 ms")],
        Some(Kind::DistantServer),
    ),
    (
        "distant-server",
        &[("server.tls", "true"), ("server.link.delay", "50 ms")],
        Some(Kind::DistantServer),
    ),
    (
        "distant-server",
        &[("station.tv.workload", "voip"), ("server.link.delay", "90 ms")],
        Some(Kind::DistantServer),
    ),
    ("distant-server", &[("server.link.delay", "10 ms")], None),
    (
        "distant-server",
        &[
            ("server.link.delay", "90 ms"),
            ("station.laptop.workload", "probe"),
            ("station.tv.workload", "probe"),
        ],
        None,
    ),
    (
        "slow-cochannel",
        &[("station.camera.signal", "-89 dBm")],
        Some(Kind::SlowCochannel),
    ),
    (
        "slow-cochannel",
        &[("ap.home.queue", "fifo"), ("ap.next.queue", "fifo")],
        Some(Kind::SlowCochannel),
    ),
    (
        "slow-cochannel",
        &[
            ("station.camera.workload", "download"),
            ("station.camera.signal", "-89 dBm"),
        ],
        Some(Kind::SlowCochannel),
    ),
    ("slow-cochannel", &[("station.camera.standard", "802.11g")], None),
    ("slow-cochannel", &[("station.camera.workload", "voip")], None),
    ("slow-cochannel", &[("ap.next.radio.2g.channel", "1")], None),
    (
        "outage",
        &[(
            "ap.home.wan.outages",
            "[{ start = \"4 s\", length = \"1.5 s\" }, { start = \"15 s\", length = \"1.2 s\" }]",
        )],
        Some(Kind::Outage),
    ),
    // Without probes to the access point, it could be the Wi-Fi.
    (
        "outage",
        &[
            ("station.phone.workload", "voice"),
            ("station.laptop.workload", "probe"),
        ],
        None,
    ),
    (
        "outage",
        &[("ap.home.wan.outages", "[{ start = \"8 s\", length = \"50 ms\" }]")],
        None,
    ),
    // Absences of one device: rare and long, frequent and short, with other workloads, bands and neighbours.
    (
        "scans",
        &[("station.laptop.absence", "{ interval = \"3 s\", length = \"400 ms\" }")],
        Some(Kind::Scans),
    ),
    (
        "scans",
        &[(
            "station.laptop.absence",
            "{ interval = \"271 ms\", length = \"50 ms\" }",
        )],
        Some(Kind::Scans),
    ),
    (
        "scans",
        &[("workload.ping.interval", "100 ms"), ("workload.ping.target", "server")],
        Some(Kind::Scans),
    ),
    (
        "scans",
        &[
            ("duration", "120 s"),
            ("station.laptop.absence", "{ interval = \"10 s\", length = \"1.5 s\" }"),
            ("workload.ping.interval", "200 ms"),
        ],
        Some(Kind::Scans),
    ),
    (
        "scans",
        &[("station.laptop.workload", "[\"ping\", \"4kstream\"]")],
        Some(Kind::Scans),
    ),
    (
        "scans",
        &[("station.phone.workload", "[\"ping\", \"download\"]")],
        Some(Kind::Scans),
    ),
    (
        "scans",
        &[
            ("station.laptop.workload", "voice"),
            ("station.laptop.absence.interval", "900 ms"),
        ],
        Some(Kind::Scans),
    ),
    (
        "scans",
        &[
            ("station.laptop.standard", "802.11n"),
            ("station.laptop.signal", "-68 dBm"),
        ],
        Some(Kind::Scans),
    ),
    ("scans", &[("workload.ping.goal", "120 ms")], None),
    (
        "access-point-scans",
        &[("ap.home.scan_interval", "700 ms"), ("ap.home.scan_away", "60 ms")],
        Some(Kind::ApScans),
    ),
    (
        "access-point-scans",
        &[
            ("duration", "60 s"),
            ("ap.home.scan_interval", "5 s"),
            ("ap.home.scan_away", "300 ms"),
        ],
        Some(Kind::ApScans),
    ),
    (
        "access-point-scans",
        &[("station.phone.workload", "voice")],
        Some(Kind::ApScans),
    ),
    (
        "access-point-scans",
        &[("ap.home.radio.5g.channel_busy", "20 %")],
        Some(Kind::ApScans),
    ),
    (
        "power-save",
        &[("station.phone.power_save.listen_interval", "3")],
        Some(Kind::PowerSave),
    ),
    (
        "power-save",
        &[("station.phone.power_save.timeout", "1 ms")],
        Some(Kind::PowerSave),
    ),
    (
        "power-save",
        &[("workload.ping.down.interval", "310 ms"), ("duration", "60 s")],
        Some(Kind::PowerSave),
    ),
    (
        "power-save",
        &[("station.laptop.power_save", "legacy")],
        Some(Kind::PowerSave),
    ),
    ("power-save", &[("workload.ping.goal", "150 ms")], None),
    (
        "fair-share",
        &[("workload.program.streams", "5")],
        Some(Kind::FairShare),
    ),
    (
        "fair-share",
        &[("ap.home.wan.down", "60 Mbit/s"), ("workload.program.streams", "4")],
        Some(Kind::FairShare),
    ),
    (
        "fair-share",
        &[("ap.home.wan.discipline", "fq-codel")],
        Some(Kind::FairShare),
    ),
    (
        "fair-share",
        &[
            ("station.pc.workload", "[\"program\", \"4kstream\"]"),
            ("station.tv.workload", "browsing"),
        ],
        Some(Kind::FairShare),
    ),
    ("fair-share", &[("ap.home.wan.down", "400 Mbit/s")], None),
    ("well", &[("server.link.delay", "12 ms")], None),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A row of the matrix.
struct Case {
    /// Title on the page.
    title: String,
    scenario: String,
    set: Vec<(String, String)>,
    /// Expected causes.
    wanted: BTreeSet<Kind>,
    named: BTreeMap<Kind, usize>,
}

/// Every scenario with its cause, followed by those without a cause.
fn cases() -> Vec<Case> {
    let own = scenarios().into_iter().map(|name| Case {
        title: format!("`{name}`"),
        wanted: Kind::ALL.into_iter().filter(|kind| has_cause(&name, *kind)).collect(),
        scenario: name,
        set: Vec::new(),
        named: BTreeMap::new(),
    });
    let fixed = FIXED.iter().map(|(name, set)| {
        let keys: Vec<String> = set
            .iter()
            .map(|(key, value)| format!("`{key} = \"{value}\"`"))
            .collect();
        let set = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Case {
            title: format!("`{name}` with {}", keys.join(" and ")),
            wanted: BTreeSet::new(),
            scenario: (*name).to_owned(),
            set: set.collect(),
            named: BTreeMap::new(),
        }
    });
    own.chain(fixed).collect()
}

/// Returns true if a scenario of this name has the cause.
fn has_cause(name: &str, kind: Kind) -> bool {
    name.split('+').any(|part| part == kind.name())
}

/// Names of the scenarios: the expected cause, two of them, or `well`.
fn scenarios() -> Vec<String> {
    let files = std::fs::read_dir(root().join("scenarios/causes")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .map(|name| name.strip_suffix(".toml").unwrap().to_owned())
        .collect();
    let place = |name: &String| Kind::ALL.iter().position(|kind| kind.name() == name);
    // Pairs and `well` are last.
    names.sort_by_key(|name| (place(name).unwrap_or(usize::MAX), name == "well", name.clone()));
    names
}

/// Returns the causes of a simulated run. Data that the simulator cannot produce are written by hand.
fn named(scenario: &str, plan: &Plan) -> Vec<Cause> {
    let environment = match scenario {
        "generator" => Environment::Lab,
        _ => Environment::Simulate,
    };
    let mut evidence = Evidence::new(plan, environment);
    let mut summariser = Summariser::new(Header::simulated(plan.clone()));
    let mut put = |row: &Row| {
        evidence.row(row);
        summariser.put(row).unwrap();
    };
    netburn_simulate::run(plan, |_, rows| {
        rows.iter().for_each(&mut put);
        ControlFlow::Continue(())
    })
    .unwrap();
    let summary = summariser.finish(scenario, &RunStatus::Complete);
    let health = if scenario == "generator" {
        exhausted(plan)
    } else {
        Vec::new()
    };
    likely_causes(&evidence, &summary, &health).causes
}

/// Self-check of an agent on an overloaded machine, and of a server without problems.
fn exhausted(plan: &Plan) -> Vec<Health> {
    let agent = Health {
        name: "a1".to_owned(),
        role: Role::Agent,
        stations: plan.stations.iter().map(|station| station.name.clone()).collect(),
        lateness_us_p50: 900.0,
        lateness_us_p99: 38_000.0,
        lateness_us_max: 120_000.0,
        lateness_count: 10_000,
        standstill_us_max: None,
        missed_sends: 12,
        cpu: Some(0.99),
        machine_busy: Some(1.0),
        service_us_p99: 0.0,
        rejected: 0,
        bytes_down: 1,
        bytes_up: 0,
        operations: 988,
        served: Default::default(),
    };
    let server = Health {
        name: "server".to_owned(),
        role: Role::Server,
        stations: Vec::new(),
        lateness_us_p99: 40.0,
        missed_sends: 0,
        cpu: Some(0.1),
        machine_busy: Some(0.9),
        service_us_p99: 300.0,
        ..agent.clone()
    };
    vec![agent, server]
}

/// Simulates plans on all processors and returns the causes of each.
fn all_named(work: &[(usize, &str, Plan)]) -> Vec<(usize, BTreeSet<Kind>)> {
    map(work.len(), processors(), &|place| {
        let (index, scenario, plan) = &work[place];
        let kinds = named(scenario, plan).iter().map(|cause| cause.kind).collect();
        (*index, kinds)
    })
}

/// Runs of a scenario with changed keys.
fn grid(scenario: &str, set: Vec<(String, String)>, seeds: (u64, u64), shifts: &[i32]) -> Vec<Plan> {
    let path = root().join(format!("scenarios/causes/{scenario}.toml"));
    let grid = Grid {
        seeds,
        shifts: shifts.to_vec(),
        set,
        ..Grid::new(path.to_str().unwrap())
    };
    grid.runs().unwrap().into_iter().map(|run| run.plan).collect()
}

/// Uses three seeds that the matrix does not have.
#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn variants_are_explained() {
    let plans = |(index, (scenario, set, _)): (usize, &Variant)| {
        let set = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let plans = grid(scenario, set.collect(), (101, 3), &[]).into_iter();
        plans.map(|plan| (index, *scenario, plan)).collect::<Vec<_>>()
    };
    let work: Vec<(usize, &str, Plan)> = VARIANTS.iter().enumerate().flat_map(plans).collect();
    let wrong: Vec<String> = all_named(&work)
        .into_iter()
        .filter(|(index, kinds)| *kinds != VARIANTS[*index].2.into_iter().collect())
        .map(|(index, kinds)| format!("{:?}: {kinds:?}", VARIANTS[index]))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The laptop has no probes and waits in the same queue as the phone, whose probes locate it.
#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn bufferbloat_is_located_by_the_probes_of_another_station() {
    for (scenario, kind, place) in [
        (
            "line-up",
            Kind::UploadBloat,
            "The queue is on the internet line upstream. phone's probes show",
        ),
        (
            "line-down",
            Kind::DownloadBloat,
            "The queue is on the internet line downstream. phone's probes show",
        ),
    ] {
        let path = root().join(format!("scenarios/causes/{scenario}.toml"));
        let text = std::fs::read_to_string(path).unwrap();
        let more = "[station.laptop]\njoins = \"home.5g\"\nsignal = \"-55 dBm\"\nworkload = \"browsing\"\n";
        let document = netburn_scenario::Document::from_toml(scenario, &format!("{text}{more}")).unwrap();
        let causes = named(scenario, &document.resolve().unwrap());
        let bloat = causes.iter().find(|cause| cause.kind == kind).unwrap();
        assert!(bloat.stations.contains(&"laptop".to_owned()), "{bloat:?}");
        assert!(!bloat.stations.contains(&"phone".to_owned()), "{bloat:?}");
        assert!(bloat.evidence.contains(place), "{bloat:?}");
    }
}

/// Counts the causes in the runs of each scenario, and the runs.
fn matrix(seeds: u64) -> (Vec<Case>, usize) {
    let mut cases = cases();
    let plans = |(index, case): (usize, &Case)| {
        let plans = grid(&case.scenario, case.set.clone(), (1, seeds), &SHIFTS).into_iter();
        plans
            .map(|plan| (index, case.scenario.clone(), plan))
            .collect::<Vec<_>>()
    };
    let work: Vec<(usize, String, Plan)> = cases.iter().enumerate().flat_map(plans).collect();
    let work: Vec<(usize, &str, Plan)> = work
        .iter()
        .map(|(index, name, plan)| (*index, name.as_str(), plan.clone()))
        .collect();
    for (index, kinds) in all_named(&work) {
        for kind in kinds {
            *cases[index].named.entry(kind).or_default() += 1;
        }
    }
    (cases, seeds as usize * SHIFTS.len())
}

/// Kinds whose rule needs an observed access point, which no simulated run has. Tests of the crate `analysis` cover them.
const OBSERVED: [Kind; 3] = [Kind::OtherDevice, Kind::Shaper, Kind::Router];

/// Kinds that a rule finds in the record of a simulated run.
fn with_rule() -> impl Iterator<Item = Kind> {
    let kinds = Kind::ALL.into_iter().filter(|kind| kind.has_rule());
    kinds.filter(|kind| !OBSERVED.contains(kind))
}

fn written(cases: &[Case]) -> String {
    let mut text = "| scenario |".to_owned();
    with_rule().for_each(|kind| text.push_str(&format!(" {} |", kind.name())));
    text.push_str("\n|---|");
    with_rule().for_each(|_| text.push_str("---|"));
    for case in cases {
        text.push_str(&format!("\n| {} |", case.title));
        for kind in with_rule() {
            match case.named.get(&kind) {
                Some(count) => text.push_str(&format!(" {count} |")),
                None => text.push_str(" – |"),
            }
        }
    }
    text.push('\n');
    text
}

/// Returns `true` if each row has its own cause in all runs, and no other cause.
fn is_diagonal(cases: &[Case], runs: usize) -> bool {
    let wanted = |case: &Case| {
        let wanted = case.wanted.iter();
        wanted.map(|kind| (*kind, runs)).collect::<BTreeMap<_, _>>()
    };
    cases.iter().all(|case| case.named == wanted(case))
}

/// Number of seeds of the page's matrix.
const SEEDS: u64 = 5;

const BEGIN: &str = "<!-- the matrix -->\n";
const END: &str = "<!-- its end -->\n";

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn each_cause_is_named_only_in_its_own_scenario() {
    let regenerate = std::env::var_os("NETBURN_REGENERATE").is_some();
    let (cases, runs) = matrix(if regenerate { SEEDS } else { 1 });
    let text = written(&cases);
    let page = root().join("docs/results/confusion-matrix.md");
    let doc = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = doc.split_once(BEGIN).expect("the marker before the matrix");
    let (found, after) = rest.split_once(END).expect("the marker after the matrix");
    if regenerate {
        std::fs::write(&page, format!("{before}{BEGIN}{text}{END}{after}")).unwrap();
    }
    assert!(is_diagonal(&cases, runs), "of {runs} runs each:\n{text}");
    assert_eq!(
        cases.len(),
        with_rule().count() + 1 + PAIRS + FIXED.len(),
        "each cause has a scenario"
    );
    // The page has the same rows and columns, and no cause that is not named here.
    if !regenerate {
        let all = format!(" {} |", SEEDS as usize * SHIFTS.len());
        assert_eq!(
            found.replace(&all, &format!(" {runs} |")),
            text,
            "docs/results/confusion-matrix.md is out of date: run this test with NETBURN_REGENERATE=1"
        );
    }
}
