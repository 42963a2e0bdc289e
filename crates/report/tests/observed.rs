//! An observed access point on the page of a run: charts over time and the events of its log.

use netburn_analysis::View;
use netburn_record::{
    AccessPointEvent, Bssid, EventKind, EventRow, Header, Logged, MoveReason, Observable, ObservedRow, Recorder, Row,
    RunStatus, Sink, Steerer,
};
use netburn_report::{html, run_charts};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{Duration, Instant};
use netburn_workload::Config;
use netburn_workload::kinds::VideoCall;

const STATIONS: u16 = 8;

fn plan() -> Plan {
    let call = Config::with(|_: &mut VideoCall| {});
    let station = |number: u16| Station {
        workloads: vec![StationWorkload::new("talk", call.clone())],
        ..Station::new(&format!("laptop-{number}"))
    };
    Plan {
        duration: Duration::from_secs(60),
        warmup: Duration::ZERO,
        stations: (1..=STATIONS).map(station).collect(),
        ..Plan::new("by-hand")
    }
}

fn observed(second: i64, subject: (Option<&str>, Option<u16>), quantity: Observable, value: i64) -> Row {
    let (part, station) = subject;
    let is_counted = !matches!(
        quantity,
        Observable::QueuedPackets | Observable::QueueDelay | Observable::ProcessorBusy
    );
    Row::Observed(ObservedRow {
        access_point: "hall".into(),
        at: Instant::from_secs(second),
        span: if is_counted {
            Duration::from_secs(1)
        } else {
            Duration::ZERO
        },
        part: part.map(str::to_owned),
        station: station.filter(|number| *number < STATIONS),
        address: station.map(|number| Bssid([2, 0, 0, 0, 0, number as u8])),
        quantity,
        value,
    })
}

/// Station n has an airtime of 1 % · (n + 1), and a device that takes no part has 20 %. The processor is in use for 40 %.
fn view() -> View {
    let bench = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&bench.path().join("run"), Header::simulated(plan())).unwrap();
    let mut put = |row: Row| recorder.put(&row).unwrap();
    for second in 1..60 {
        let wave = (second % 7) * 3;
        for number in 0..=STATIONS {
            let station = (Some("wlan0"), Some(number));
            let percent = if number < STATIONS { i64::from(number) + 1 } else { 20 };
            put(observed(second, station, Observable::AirtimeDown, percent * 10_000_000));
            put(observed(second, station, Observable::AirtimeUp, 0));
            put(observed(second, station, Observable::RetriesDown, percent * (1 + wave)));
            put(observed(second, station, Observable::QueuedPackets, percent + wave));
        }
        let radio = (Some("wlan0"), None);
        put(observed(second, radio, Observable::OnChannel, 1_000_000_000));
        put(observed(
            second,
            radio,
            Observable::Busy,
            500_000_000 + wave * 10_000_000,
        ));
        let queue = (Some("eth1 cake"), None);
        put(observed(second, queue, Observable::QueuedPackets, 3 * wave));
        put(observed(second, queue, Observable::QueueDelay, wave * 1_000_000));
        put(observed(second, (None, None), Observable::ProcessorBusy, 400_000));
        put(observed(second, (None, None), Observable::ObserverResponse, 20_000_000));
    }
    for (second, what) in [
        (
            14,
            Logged::MoveRequested {
                by: Steerer::Usteer,
                reason: MoveReason::Signal,
            },
        ),
        (14, Logged::MoveAnswered { status: 7 }),
    ] {
        put(Row::Event(EventRow {
            station: Some(0),
            workload: None,
            at: Instant::from_secs(second),
            length: 0,
            kind: EventKind::AccessPoint,
            detail: AccessPointEvent::Logged {
                name: "hall".to_owned(),
                interface: Some("wlan0".to_owned()),
                address: Some("02:00:00:00:00:00".to_owned()),
                what,
            }
            .into(),
        }));
    }
    View::from_run(&recorder.finish(&RunStatus::Complete).unwrap())
}

#[test]
fn each_quantity_has_a_chart() {
    let view = view();
    let charts = run_charts::charts(&view);
    let of = |id: &str| {
        charts
            .iter()
            .find(|chart| chart.id == id)
            .unwrap_or_else(|| panic!("{id}"))
    };
    let airtime = of("ap-airtime-over-time");
    let names: Vec<&str> = airtime.series.iter().map(|series| series.name.as_str()).collect();
    // The stations in the order of the plan, then the other device.
    assert_eq!(
        (names.len(), names[0], names[7], names[8]),
        (9, "laptop-1", "laptop-8", "02:00:00:00:00:08")
    );
    let value = |place: usize| airtime.series[place].points[5].y.unwrap();
    assert!((value(0) - 0.01).abs() < 1e-9 && (value(8) - 0.2).abs() < 1e-9);
    assert!((of("ap-processor-over-time").series[0].points[5].y.unwrap() - 0.4).abs() < 1e-9);
    for (id, count) in [
        ("ap-busy-over-time", 1),
        ("ap-retries-over-time", 9),
        ("ap-backlog-over-time", 10),
        ("ap-queue-delay-over-time", 1),
    ] {
        assert_eq!(of(id).series.len(), count, "{id}");
    }
}

#[test]
fn the_page_lists_the_events_of_the_log() {
    let page = html::report(&view());
    for text in [
        "usteer wants it to use another radio, because its signal is weak",
        "refused to move: it knows no better radio",
        "What the access points logged",
        "data-chart=\"ap-airtime-over-time\"",
    ] {
        assert!(page.contains(text), "{text}");
    }
    if let Some(path) = std::env::var_os("PAGE") {
        std::fs::write(path, page).unwrap();
    }
}
