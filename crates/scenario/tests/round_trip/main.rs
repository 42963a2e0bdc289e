//! Round trip of plans through scenario documents.

mod network;
mod values;
mod workload;

use netburn_medium::config::{
    AdapterRate, Band, LinkQuality, Roaming, RoamingPolicy, Security, Steering, SteeringPolicy, TransitionAnswer,
};
use netburn_medium::fading::FadingModel;
use netburn_medium::geometry::{self, BuildingModel, Position, Wall};
use netburn_scenario::plan::{
    ApSetting, Backhaul, Building, Change, Floors, Http, Joins, LinkSetting, Mesh, MeshRoot, MeshTimers, Network, Port,
    RadioName, RadioRef, RadioSetting, RadioSignal, Router, Setting, SignalPoint, StationSetting,
};
use netburn_scenario::{Plan, Station, StationWorkload, json_schema};
use netburn_units::{Db, Dbm, Distance, Duration, Instant, Probability, Seed, Speed};
use netburn_workload::config::Activity;
use netburn_workload::{Config, ProbeTarget};
use proptest::option;
use proptest::prelude::*;

use network::*;
use values::*;
use workload::config;

fn change() -> impl Strategy<Value = Setting> {
    let five = || RadioRef {
        ap: "c7".to_owned(),
        radio: RadioName {
            band: Band::Ghz5,
            number: 1,
        },
    };
    prop_oneof![
        rate().prop_map(|rate| Setting::Link(LinkSetting::Rate(rate))),
        share().prop_map(|share| Setting::Link(LinkSetting::Loss(share))),
        queue().prop_map(|queue| Setting::Ap("c7".to_owned(), ApSetting::Queue(queue))),
        rate().prop_map(|rate| Setting::Ap("d8".to_owned(), ApSetting::WanUp(rate))),
        share().prop_map(move |share| Setting::Radio(five(), RadioSetting::ChannelBusy(share))),
        signal()
            .prop_map(|signal| Setting::Station("a".to_owned(), StationSetting::Quality(LinkQuality::Signal(signal)))),
        (0..=13_u8).prop_map(|mcs| Setting::Station("b".to_owned(), StationSetting::Quality(LinkQuality::Mcs(mcs)))),
        (1..=65_535_u16).prop_map(|weight| Setting::Station("b".to_owned(), StationSetting::Weight(weight))),
        (rate(), option::of(rate())).prop_map(|(up, down)| {
            Setting::Station(
                "c".to_owned(),
                StationSetting::AdapterRate(AdapterRate {
                    up: Some(up),
                    down,
                    transfer: None,
                }),
            )
        }),
        rate().prop_map(|rate| Setting::Station("w".to_owned(), StationSetting::LinkUp(rate))),
        share().prop_map(|share| Setting::Station("w".to_owned(), StationSetting::LinkLoss(share))),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let texts = (
        option::of("[ -~äé\n]{0,40}"),
        option::of("\\PC{0,40}"),
        proptest::collection::vec("\\PC{1,20}", 0..3),
    );
    let times = (
        span(MINUTE, 10 * MINUTE),
        span(0, MINUTE - 1),
        span(0, MINUTE),
        span(0, MINUTE),
        any::<u64>(),
        1..=10_000_u32,
    );
    // Boxed, because the whole strategy exceeds the stack of a test.
    let air = (server(), ap("c7").boxed(), ap("d8").boxed());
    let station = || (air_and_times(), proptest::collection::vec((0..4_usize, config()), 0..3)).boxed();
    // Names out of alphabetical order: order must survive.
    let stations = (station(), station(), station());
    let changes = proptest::collection::vec((span(0, MINUTE), change()), 0..4);
    (texts, times, (air, link()), stations, changes).prop_map(|(texts, times, (air, wire), stations, changes)| {
        let (server, c7, d8) = air;
        let mut plan = Plan::new("generated");
        (plan.title, plan.question, plan.assumptions) = texts;
        (plan.duration, plan.warmup, plan.baseline, plan.drain) = (times.0, times.1, times.2, times.3);
        (plan.seed, plan.repeat) = (Seed(times.4), times.5);
        plan.server = server;
        // Positions exclude other link qualities.
        let placed = times.4 % 2 == 0;
        let position = |number: u64| Position {
            x: (times.4 >> number) as i64 % 1_000_000,
            y: -((times.4 >> (2 * number)) as i64 % 1_000_000),
            floor: (number % 3) as i16 - 1,
        };
        plan.building = placed.then(|| Building {
            model: geometry::Building {
                model: BuildingModel::IndoorNlos,
                walls: vec![Wall {
                    from: Position {
                        floor: 1,
                        ..position(7)
                    },
                    to: Position {
                        x: 2_000_000,
                        y: 5,
                        floor: 1,
                    },
                }],
                wall_loss: Some(Db::from_db(5)),
            },
            floors: Some(Floors { lowest: -1, highest: 3 }),
            shadowing: Db::from_db(3),
            shadowing_distance: Distance::from_metres(8),
            fading: FadingModel::Rician,
            rician_factor: Db::from_db(9),
        });
        plan.networks = vec![Network {
            radios: vec![RadioRef {
                ap: "d8".to_owned(),
                radio: RadioName {
                    band: Band::Ghz5,
                    number: 1,
                },
            }],
            security: if placed { Security::Enterprise } else { Security::Psk },
            radius_delay: placed.then_some(times.2),
            k: placed,
            v: placed,
            r: placed,
            r_over_ds: placed,
            key_caching: !placed,
            okc: placed,
            broadcast_interval: placed.then_some(times.2.max(Duration::from_nanos(1))),
            dtim_period: if placed { 3 } else { 2 },
            steering: if placed {
                Steering {
                    policy: SteeringPolicy::Usteer,
                    trigger: Some(Dbm::from_hundredths(-7_050)),
                    margin: Some(Db::from_db(4)),
                    disassociate: Some(false),
                    ..Steering::default()
                }
            } else {
                Steering::default()
            },
            ..Network::new("home")
        }];

        plan.aps = vec![d8, c7];
        for (ap, number) in plan.aps.iter_mut().zip(1..) {
            // Within reach of each other.
            ap.position = placed.then(|| Position {
                x: position(number).x % 100,
                y: position(number).y % 100,
                floor: 0,
            });
        }
        // Both access points have a radio with this name, on channels that may differ.
        plan.aps[0].radios[0].channel = plan.aps[1].radios[0].channel;
        plan.aps[0].wan = None;
        plan.aps[0].backhaul = Backhaul::Radio(RadioRef {
            ap: "c7".to_owned(),
            radio: plan.aps[1].radios[0].name,
        });
        if times.4 % 5 == 0 {
            // A mesh excludes a wireless backhaul.
            plan.aps[0].backhaul = Backhaul::Wired;
            plan.meshes = vec![Mesh {
                radios: plan
                    .aps
                    .iter()
                    .map(|ap| RadioRef {
                        ap: ap.name.clone(),
                        radio: ap.radios[0].name,
                    })
                    .collect(),
                root: "c7".to_owned(),
                root_mode: MeshRoot::Announcements,
                timers: if placed { MeshTimers::Ns3 } else { MeshTimers::Linux },
                quality: (!placed).then_some(LinkQuality::Mcs(3)),
                ..Mesh::new("attic")
            }];
        }
        plan.aps[0].backhaul_quality = match times.4 % 3 {
            0 => Some(LinkQuality::Mcs(7)),
            1 => Some(LinkQuality::Signal(Dbm::from_hundredths(-5_525))),
            _ if placed => None,
            _ => Some(LinkQuality::Signal(Dbm::from_hundredths(-6_000))),
        };
        let (first, second, third) = stations;
        let mut used = 0;
        for (name, (mut station, workloads)) in [("c", first), ("a", second), ("b", third)] {
            station.name = name.to_owned();
            station.air.hidden_from.retain(|other| other != name);
            if placed && station.link.is_none() {
                station.air.quality = None;
                station.air.fixed_mcs = None;
                station.air.path = vec![position(3), position(5)];
                station.air.speed = Some(Speed::from_millimetres_per_second(1_389));
                let roams = matches!(station.air.joins, Some(Joins::Network(_)));
                station.air.absence = station.air.absence.filter(|_| !roams);
                station.air.roaming = roams.then(|| Roaming {
                    policy: Some(RoamingPolicy::AppleLaptop),
                    trigger: Some(Dbm::from_hundredths(-7_025)),
                    margin: Some(Db::from_db(6)),
                    scan_interval: Some(Duration::from_secs(7)),
                    beacon_smoothing: 1,
                    frame_processing: Duration::from_millis(3),
                    flush_delay: Duration::from_millis(100),
                    neighbour_reports: Some(true),
                    k: false,
                    v: false,
                    r: false,
                    transition: TransitionAnswer::Reject,
                    acceptance: Probability::from_ppb(250_000_000).unwrap(),
                });
            }
            if !placed && times.4 % 4 == 1 && station.link.is_none() {
                station.air.quality = None;
                station.air.fixed_mcs = None;
                let radios = station.air.joins.iter().flat_map(|joins| plan.radios_of(joins));
                station.air.signals = radios.map(|radio| signals(radio, times.4)).collect();
            }
            for (_, config) in workloads {
                used += 1;
                let mut of = StationWorkload::new(format!("w{used}"), config);
                // A workload must run in the load of its station.
                let load = (
                    Instant::ZERO + station.start,
                    Instant::ZERO + station.end(plan.duration),
                );
                if of.config.windows(load.0, load.1).next().is_none() {
                    of.config.activity = Activity::default();
                }
                let cc = station.cc.clone().filter(|_| !of.config.kind().is_datagram());
                station.workloads.push(StationWorkload { cc, ..of });
            }
            plan.stations.push(station);
        }
        let mut wired = Station::new("w");
        let mut link = wire.0;
        match times.4 % 3 {
            0 => {
                // Behind the router no access point has a line.
                let wan = plan.aps.iter_mut().filter_map(|ap| ap.wan.take()).last();
                plan.router = Some(Router {
                    wan,
                    forwarding: Some(link.down),
                    ..Router::default()
                });
                link.to = Port::Router;
            }
            1 => link.to = Port::Ap(plan.aps[0].name.clone()),
            _ => {}
        }
        (wired.link, wired.air) = (Some(link), wire.1);
        plan.stations.push(wired);
        if let Some(workload) = plan.stations[0].workloads.first_mut() {
            let target = workload.config.target();
            workload.server = target
                .is_none_or(|target| target == ProbeTarget::Server)
                .then(|| "w".to_owned());
        }
        // Self probes share a connection with load.
        let mut workloads = plan.stations.iter().flat_map(|station| &station.workloads);
        if workloads.any(|workload| workload.config.load().count() > 0) {
            plan.server.http = Http::H2;
        }
        let mut changes: Vec<Change> = changes
            .into_iter()
            .map(|(time, setting)| Change {
                time,
                settings: vec![setting],
            })
            .collect();
        if placed {
            changes.push(Change {
                time: plan.duration,
                settings: vec![Setting::Station("a".to_owned(), StationSetting::Position(position(4)))],
            });
        }
        changes.sort_by_key(|change| change.time);
        plan.changes = changes;
        plan
    })
}

/// A constant signal of a radio, or one of three points.
fn signals(radio: &RadioRef, number: u64) -> RadioSignal {
    let point = |place: u64| SignalPoint {
        time: Duration::from_nanos(place * (1 + number % 1_000_000_007)),
        signal: Dbm::from_hundredths(-9_000 + (place * 123) as i32),
    };
    let count = if number % 8 == 1 { 1 } else { 3 };
    RadioSignal {
        radio: radio.clone(),
        points: (0..count).map(point).collect(),
    }
}

fn air_and_times() -> impl Strategy<Value = Station> {
    let tsq = option::of(tsq());
    let times = (span(0, MINUTE / 2), option::of(span(MINUTE, 20 * MINUTE)));
    (air(), times, cc(), tsq, option::of("[a-z]{1,9}"), any::<bool>()).prop_map(
        |(air, (start, stop), cc, tsq, agent, as_label)| {
            let mut station = Station::new("x");
            station.air = air;
            (station.start, station.stop, station.cc, station.tsq) = (start, stop, cc, tsq);
            (station.gso, station.tx_completion_delay, station.rx_interrupt_delay) =
                (as_label, station.start, station.start);
            (station.gro, station.ecn) = (!as_label, as_label);
            if as_label {
                station.label = agent;
            } else {
                station.agent = agent;
            }
            station
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_survives_a_round_trip(plan in plan()) {
        let document = plan.to_json();
        let text = document.to_string();
        let read = Plan::from_json(&serde_json::from_str(&text).expect("JSON"));
        prop_assert_eq!(read.as_ref(), Ok(&plan));
        // A second round trip gives identical bytes.
        prop_assert_eq!(read.expect("read above").to_json().to_string(), text);
    }

    /// A renamed plan is valid, so no reference has kept an old name. Renaming back gives the plan.
    #[test]
    fn a_plan_can_be_renamed(plan in plan()) {
        let mut renamed = plan.clone();
        renamed.rename(&mut |_, name| format!("{name}-x"));
        prop_assert!(renamed.stations.iter().all(|station| station.name.ends_with("-x")));
        let read = Plan::from_json(&renamed.to_json());
        prop_assert_eq!(read.as_ref(), Ok(&renamed));
        renamed.rename(&mut |_, name| name.strip_suffix("-x").expect("renamed above").to_owned());
        prop_assert_eq!(renamed, plan);
    }
}

#[test]
fn plans_as_documents_validate() {
    use proptest::strategy::ValueTree;
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..64 {
        let plan = plan().new_tree(&mut runner).expect("a plan").current();
        let document = plan.to_json();
        let wrong: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

#[test]
fn the_order_of_stations_is_kept() {
    let mut plan = Plan::new("order");
    plan.stations = ["zoe", "adam", "mia"].map(Station::new).to_vec();
    let names: Vec<String> = Plan::from_json(&plan.to_json())
        .expect("a plan")
        .stations
        .into_iter()
        .map(|station| station.name)
        .collect();
    assert_eq!(names, ["zoe", "adam", "mia"]);
}

#[test]
fn built_in_workloads_are_defined_in_the_document() {
    let mut plan = Plan::new("p");
    let mut station = Station::new("tv");
    station.workloads = vec![StationWorkload::new("4kstream", Config::stream_4k())];
    plan.stations.push(station);
    let document = plan.to_json();
    assert_eq!(document["workload"]["4kstream"]["interval"], "335.54432 ms");
    assert_eq!(
        document["workload"]["4kstream"]["goal"],
        serde_json::json!(["20 Mbit/s", "no stall"])
    );
    assert_eq!(Plan::from_json(&document), Ok(plan));
}
