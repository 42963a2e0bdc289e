//! Copies without names and addresses: nothing private remains, and the results are the same.

mod util;

use netburn_record::{
    AccessPointEvent, Bssid, Clock, Detail, Error, EventKind, EventRow, Header, Host, LinkChange, LinkEvent, LinkRow,
    Logged, Loss, LossCause, ObservedRow, QualityIssue, Recorder, Role, Row, Run, RunSet, RunStatus, Sink, Source,
    anonymise,
};
use netburn_scenario::Plan;
use netburn_scenario::plan::{ApSetting, Change, Setting};
use netburn_units::{BitRate, Duration, Seed};
use netburn_workload::Outcome;
use std::path::Path;
use util::{good_rows, health, ms, operation};

/// Texts that must not be in a copy. `fifo` is also the name of a queue, and remains as such.
const PRIVATE: [&str; 23] = [
    "annas-attic",
    "annas-home",
    "anna-laptop",
    "hall-ap",
    "annas-calls",
    "Anna's Wi-Fi",
    "annas-macbook",
    "annas-desktop",
    "anna.flent",
    "Title of Anna",
    "Question of Anna",
    "9c:3d:cf:01:02:03",
    "9c:3d:cf:01:02:04",
    "9c:3d:cf:01:02:05",
    "annas-router",
    "annas-office",
    "Anna's guests",
    "203.0.113.77",
    "anna-runs",
    "annas-phone",
    "wlx9c3dcf010203",
    "annas-room",
    "an assumption of Anna",
];

const HOME: &str = "/home";

fn plan() -> Plan {
    let mut plan = util::plan();
    plan.name = "annas-home".into();
    plan.title = Some("Title of Anna".into());
    plan.question = Some("Question of Anna".into());
    plan.assumptions = vec!["an assumption of Anna".into()];
    let with_ap = serde_json::json!({
        "ap": { "hall-ap": { "rating": "AC1750", "queue": "fifo" } },
        "station": { "a": { "joins": "hall-ap.5g", "signal": "-50 dBm", "workload": ["probe"] } },
    });
    plan.aps = Plan::from_json(&with_ap).unwrap().aps;
    plan.stations[0].name = "anna-laptop".into();
    plan.stations[0].workloads[1].name = "annas-calls".into();
    plan.stations[1].name = "fifo".into();
    plan.stations[1].label = Some("room=annas-room".into());
    plan.changes = vec![Change {
        time: Duration::from_secs(1),
        settings: vec![Setting::Ap(
            "hall-ap".into(),
            ApSetting::Forwarding(BitRate::from_mbps(100)),
        )],
    }];
    plan
}

fn header() -> Header {
    Header {
        host: Host {
            name: "annas-desktop".into(),
            kernel: "6.1.0".into(),
            ..Host::default()
        },
        source: Some(Source {
            program: "flent".into(),
            file: "anna.flent".into(),
            title: "Title of Anna".into(),
            ..Source::default()
        }),
        ..util::header(plan())
    }
}

fn event(station: Option<u16>, kind: EventKind, detail: impl Into<Detail>) -> Row {
    Row::Event(EventRow {
        station,
        at: ms(500),
        kind,
        detail: detail.into(),
        ..EventRow::default()
    })
}

fn rows() -> Vec<Row> {
    let mut rows = good_rows();
    rows.retain(|row| !matches!(row, Row::Event(_)));
    rows.extend([
        health("anna-laptop", Role::Agent, &["anna-laptop"]),
        health("annas-macbook", Role::Agent, &["fifo"]),
        health("server", Role::Server, &[]),
        Row::Link(LinkRow {
            station: 0,
            at: ms(0),
            signal: Some(-5000),
            ssid: Some("Anna's Wi-Fi".into()),
            bssid: Some(Bssid([0x9c, 0x3d, 0xcf, 1, 2, 3])),
            ..LinkRow::default()
        }),
        Row::Observed(ObservedRow {
            access_point: "annas-router".into(),
            address: Some(Bssid([0x9c, 0x3d, 0xcf, 1, 2, 4])),
            part: Some("wg-annas-office cake tin 1".into()),
            ..ObservedRow::default()
        }),
        event(
            None,
            EventKind::AccessPoint,
            AccessPointEvent::Described {
                name: "annas-router".into(),
                facts: [
                    ("wlan0 ssid".to_owned(), "Anna's guests".to_owned()),
                    ("wlan0 addr".to_owned(), "9c:3d:cf:01:02:05".to_owned()),
                    ("sqm.wg-annas-office.qdisc".to_owned(), "cake".to_owned()),
                ]
                .into(),
            },
        ),
        event(
            Some(0),
            EventKind::AccessPoint,
            AccessPointEvent::Logged {
                name: "annas-router".into(),
                interface: Some("wg-annas-office".into()),
                address: Some("9c:3d:cf:01:02:05".into()),
                what: Logged::Roamed {
                    from: "wg-annas-attic".into(),
                },
            },
        ),
        event(
            None,
            EventKind::AccessPoint,
            AccessPointEvent::Lost {
                name: "annas-router".into(),
                reason: "203.0.113.77 is away".into(),
            },
        ),
        event(
            Some(0),
            EventKind::Roam,
            LinkEvent {
                change: LinkChange::Roamed {
                    from: Some("9c:3d:cf:01:02:03".into()),
                    to: Some("hall-ap.5g".into()),
                },
                text: "anna-laptop moved from 9c:3d:cf:01:02:03 (Anna's Wi-Fi)".into(),
            },
        ),
        event(
            None,
            EventKind::Warning,
            format!("203.0.113.77:80 of hall-ap, written to {HOME}/anna-runs/1"),
        ),
        event(
            Some(1),
            EventKind::Warning,
            QualityIssue::AgentLost {
                name: "fifo (annas-macbook)".into(),
                loss: Loss::new(LossCause::Disconnected, "annas-macbook closed its connection"),
            },
        ),
        event(
            None,
            EventKind::Clock,
            Clock {
                name: "annas-macbook".into(),
                stations: vec!["fifo".into()],
                offset_ns: 1,
                error_ns: 1,
                round_trip_ns: 1,
                exchanges: 1,
                drift_ppm: None,
                drift_error_ppm: None,
                compared_ns: 0,
                jump_ns: None,
            },
        ),
        event(None, EventKind::Warning, "row of annas-calls at fifo"),
        // No other row has this device.
        event(
            None,
            EventKind::Warning,
            "fifo (annas-phone) was disconnected for 6.3 s",
        ),
        event(None, EventKind::Warning, "measured through wlx9c3dcf010203 only"),
        event(
            None,
            EventKind::Warning,
            "no free member of the fleet has the label room=annas-room",
        ),
    ]);
    rows
}

fn record(path: &Path, header: Header) -> Run {
    let mut recorder = Recorder::create(path, header).unwrap();
    for row in rows() {
        recorder.put(&row).unwrap();
    }
    let failed = RunStatus::Failed("hall-ap: the agent annas-macbook left".into());
    recorder.finish(&failed).unwrap()
}

/// The bytes of every file below a folder. The tables have no compression, so their texts are readable.
fn bytes(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(bytes(&path));
        } else {
            all.extend(std::fs::read(path).unwrap());
        }
    }
    all
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn a_copy_has_the_results_and_none_of_the_names() {
    let dir = tempfile::tempdir().unwrap();
    let run = record(&dir.path().join("annas-home"), header());
    let before = bytes(run.path());
    for text in PRIVATE {
        assert!(contains(&before, text), "the test is not sensitive to {text}");
    }
    let copy = anonymise(&run, &dir.path().join("copy")).unwrap();
    let after = bytes(copy.path());
    for text in PRIVATE {
        assert!(!contains(&after, text), "{text}");
    }

    let plan = &copy.header().plan;
    assert_eq!(plan.name, "scenario");
    assert_eq!(plan.aps[0].name, "ap-1");
    assert_eq!(plan.aps[0].queue.name(), "fifo");
    let names: Vec<&str> = plan.stations.iter().map(|station| station.name.as_str()).collect();
    assert_eq!(names, ["station-1", "station-2"]);
    assert_eq!(
        plan.changes[0].settings[0],
        Setting::Ap("ap-1".into(), ApSetting::Forwarding(BitRate::from_mbps(100)))
    );
    assert_eq!(
        (copy.header().host.name.as_str(), copy.header().host.kernel.as_str()),
        ("host", "6.1.0")
    );
    assert_eq!(
        *copy.status(),
        RunStatus::Failed("ap-1: the agent device-1 left".into())
    );
    assert_eq!(copy.health()[1].name, "device-1");
    assert_eq!(copy.health()[1].stations, ["station-2"]);

    let (old, new) = (run.summary(), copy.summary());
    assert_eq!(new.verdict, old.verdict);
    assert_eq!(new.totals, old.totals);
    assert_eq!(new.self_check.ok, old.self_check.ok);
    assert_eq!(new.self_check.reasons.len(), old.self_check.reasons.len());
    for (old, new) in old.stations.iter().zip(&new.stations) {
        let workloads = |of: &netburn_record::summary::StationSummary| {
            let of: Vec<_> = of
                .workloads
                .iter()
                .map(|workload| (workload.latency_ms, workload.operations, workload.goals.clone()))
                .collect();
            of
        };
        assert_eq!(workloads(new), workloads(old));
    }
    let texts = event_texts(&copy);
    assert!(
        texts.contains(&format!("192.0.2.1:80 of ap-1, written to {HOME}/user/1")),
        "{texts:?}"
    );
    assert!(
        texts.contains(&"agent station-2 (device-1) was lost: device-1 closed its connection".to_owned()),
        "{texts:?}"
    );
    assert!(
        texts.contains(&"station-1 moved from 02:00:00:00:00:01 (network-1)".to_owned()),
        "{texts:?}"
    );
}

fn event_texts(run: &Run) -> Vec<String> {
    let mut texts = Vec::new();
    run.rows(&mut |row| {
        if let Row::Event(event) = row {
            texts.push(event.detail.text().into_owned());
        }
    })
    .unwrap();
    texts
}

#[test]
fn the_runs_of_a_set_have_the_same_substitutes() {
    let dir = tempfile::tempdir().unwrap();
    let mut set = RunSet::create(&dir.path().join("set")).unwrap();
    for seed in 1..=3 {
        let header = Header {
            source: None,
            ..util::seeded(header(), seed)
        };
        set.add(record(&set.next_path(), header));
    }
    let set = set.finish().unwrap();
    let copy = anonymise(&set, &dir.path().join("copy")).unwrap();
    assert_eq!(copy.summary().repeats.len(), 3);
    assert_eq!(copy.summary().totals, set.summary().totals);
    let after = bytes(copy.path());
    for text in PRIVATE {
        assert!(!contains(&after, text), "{text}");
    }
    for (folder, seed) in copy.run_folders().iter().zip(1..) {
        let run = Run::open(folder).unwrap();
        assert_eq!(run.header().seed, Seed(seed));
        assert_eq!(run.header().plan.stations[1].name, "station-2");
    }
}

#[test]
fn a_damaged_record_and_an_existing_folder_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&dir.path().join("run"), util::header(util::plan())).unwrap();
    recorder
        .put(&operation(0, 0, 0, ms(0), Outcome::Finished, Duration::from_millis(1)))
        .unwrap();
    let run = recorder.finish(&RunStatus::Complete).unwrap();
    assert!(matches!(anonymise(&run, dir.path()), Err(Error::Io { .. })));
    std::fs::write(run.path().join("operations.parquet"), "torn").unwrap();
    assert!(anonymise(&run, &dir.path().join("copy")).is_err());
}
