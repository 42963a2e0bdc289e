//! Rules on rows made by hand that the simulator cannot produce. The confusion matrix (crate
//! `study`) covers the rest.

mod observed;
mod roaming;
mod scans;
mod slow_rate;

use super::*;
use netburn_record::health::Role;
use netburn_record::summary::Summariser;
use netburn_record::{
    AirRow, ConnectionRow, Environment, EventKind, EventRow, Header, Health, IntervalRow, LabHealth, LinkRow,
    OperationRow, Row, RunStatus, Side, Sink as _,
};
use netburn_scenario::{Document, Plan};
use netburn_units::{Duration, Instant};
use netburn_workload::{Operation, Outcome};
use proptest::prelude::*;

const PLAN: &str = r#"
duration = "20 s"
[station.laptop]
workload = "voip"
[station.tablet]
workload = "download"
"#;

/// Explanation of a fleet run of that plan with these rows.
fn explained(plan: &str, rows: &[Row], health: &[Health]) -> Explanation {
    explained_on(Environment::Fleet, plan, rows, health)
}

/// Explanation of a run in that environment.
fn explained_on(environment: Environment, plan: &str, rows: &[Row], health: &[Health]) -> Explanation {
    let document = Document::from_toml("house", plan).unwrap();
    let plan: Plan = document.resolve_for(Environment::Fleet).unwrap().0;
    let header = Header {
        environment,
        ..Header::simulated(plan.clone())
    };
    let mut evidence = Evidence::new(&plan, environment);
    let mut summariser = Summariser::new(header);
    for row in rows {
        evidence.row(row);
        summariser.put(row).unwrap();
    }
    likely_causes(&evidence, &summariser.finish("run", &RunStatus::Complete), health)
}

/// Causes found in a fleet run with these rows.
fn causes_of(rows: &[Row], health: &[Health]) -> Vec<Cause> {
    explained(PLAN, rows, health).causes
}

/// A voice frame of the laptop, which was due at `ms` and took `took` ms.
fn frame(ms: i64, took: u64) -> Row {
    operation(0, 0, ms, took)
}

/// An operation that was due at `ms` and took `took` ms.
fn operation(station: u16, workload: u16, ms: i64, took: u64) -> Row {
    let due = Instant::from_millis(ms);
    Row::Operation(OperationRow {
        station,
        workload,
        operation: Operation {
            sequence: (ms / 100) as u64,
            due,
            started: Some(due),
            connected: None,
            first_byte: None,
            finished: Some(due + Duration::from_millis(took)),
            bytes: 16_384,
            outcome: Outcome::Finished,
            far: None,
            tcp_connected: None,
        },
    })
}

/// Content that a station receives in each second.
fn moved(station: u16, mbps: u64) -> impl Iterator<Item = Row> {
    (0..20).map(move |second| {
        Row::Interval(IntervalRow {
            station,
            workload: 0,
            at: Instant::from_secs(second),
            bytes_down: mbps * 125_000,
            bytes_up: 0,
        })
    })
}

/// A sample of a station's link in each second, from before the load on.
fn link(station: u16, rate_mbps: u64, before: u32, during: u32) -> impl Iterator<Item = Row> {
    (-3..20).map(move |second| {
        Row::Link(LinkRow {
            station,
            at: Instant::from_secs(second),
            rx_rate_bps: Some(rate_mbps * 1_000_000),
            tx_rate_bps: Some(rate_mbps * 1_000_000),
            frequency_mhz: Some(5180),
            busy_ppm: Some(if second < 0 { before } else { during }),
            ..LinkRow::default()
        })
    })
}

fn kinds(causes: &[Cause]) -> Vec<Kind> {
    causes.iter().map(|cause| cause.kind).collect()
}

fn agent(name: &str, station: &str) -> Health {
    Health {
        stations: vec![station.to_owned()],
        lateness_us_p50: 10.0,
        lateness_us_p99: 40.0,
        lateness_us_max: 900.0,
        lateness_count: 1_000,
        cpu: Some(0.2),
        machine_busy: Some(0.5),
        operations: 1_000,
        ..Health::new(name, Role::Agent)
    }
}

#[test]
fn stations_without_problems_have_no_cause() {
    let rows: Vec<Row> = (0..190)
        .map(|n| frame(n * 100, 20))
        .chain(moved(1, 80))
        .chain(link(0, 866, 50_000, 300_000))
        .collect();
    assert_eq!(causes_of(&rows, &[agent("a1", "laptop")]), []);
    assert_eq!(causes_of(&[], &[]), []);
}

#[test]
fn an_overloaded_generator_or_server_has_severity_measurement() {
    let tired = Health {
        cpu: Some(0.97),
        lateness_us_p99: 12_500.0,
        ..agent("a1", "laptop")
    };
    let causes = causes_of(&[], &[tired, agent("a2", "tablet")]);
    assert_eq!(kinds(&causes), [Kind::Generator]);
    assert_eq!(
        (causes[0].severity, &causes[0].stations[..]),
        (Severity::Measurement, &["laptop".to_owned()][..])
    );
    assert_eq!(
        causes[0].evidence,
        "Agent a1 used 97 % of one core (limit: 95 %) and was 12.5 ms behind schedule at p99 (limit: 10.0 ms)."
    );
    let server = Health {
        role: Role::Server,
        stations: Vec::new(),
        rejected: 3,
        ..agent("server", "")
    };
    let causes = causes_of(&[], &[server]);
    assert_eq!(kinds(&causes), [Kind::Server]);
    assert!(
        causes[0].evidence.contains("rejected or failed 3 requests"),
        "{}",
        causes[0].evidence
    );
}

#[test]
fn a_machine_of_several_agents_is_named_once() {
    let busy = |name: &str, station: &str, machine_busy| Health {
        machine_busy: Some(machine_busy),
        ..agent(name, station)
    };
    let agents = [busy("laptop", "laptop", 0.99), busy("tablet", "tablet", 0.985)];
    let causes = explained_on(Environment::Local, PLAN, &[], &agents).causes;
    assert_eq!(kinds(&causes), [Kind::Generator], "{causes:#?}");
    assert_eq!(
        (causes[0].evidence.as_str(), &causes[0].stations[..]),
        (
            "The machine was 99 % busy (limit: 98 %).",
            &["laptop".to_owned(), "tablet".to_owned()][..]
        )
    );
    // Each device of a fleet is a machine of its own.
    let causes = causes_of(&[], &agents);
    let evidence: Vec<&str> = causes.iter().map(|cause| cause.evidence.as_str()).collect();
    assert_eq!(
        evidence,
        [
            "Agent laptop ran on a machine that was 99 % busy (limit: 98 %).",
            "Agent tablet ran on a machine that was 98.5 % busy (limit: 98 %)."
        ]
    );
}

/// The strictest goal is 150 ms for calls, so the limit is 15 ms.
#[test]
fn a_standstill_has_severity_measurement() {
    let stood = Health {
        standstill_us_max: Some(400_000.0),
        ..agent("a1", "laptop")
    };
    let causes = causes_of(&[], &[stood, agent("a2", "tablet")]);
    assert_eq!(kinds(&causes), [Kind::Generator]);
    assert_eq!(
        causes[0].evidence,
        "Agent a1 had a standstill of 400 ms (limit: 15.0 ms)."
    );
    let lab = |standstill_us_max| {
        let health = LabHealth {
            span_us: 60e6,
            standstill_us_max,
            standstills: 1,
            ..LabHealth::default()
        };
        Row::Event(EventRow {
            station: None,
            workload: None,
            at: Instant::ZERO,
            length: 0,
            kind: EventKind::Lab,
            detail: health.into(),
        })
    };
    let causes = causes_of(&[lab(31_000.0)], &[]);
    assert_eq!(kinds(&causes), [Kind::Generator]);
    assert_eq!(causes[0].stations, ["laptop", "tablet"]);
    assert!(
        causes[0].evidence.contains("the lab had a standstill of 31 ms"),
        "{}",
        causes[0].evidence
    );
    assert_eq!(causes_of(&[lab(15_000.0)], &[]), []);
}

/// The tablet's 20 Mbit/s on a link of 30 took 20 / (30 × 0.7) = 95 % of the air; the laptop's 1 on 866 took 0.16 %.
#[test]
fn a_slow_neighbour_in_a_fleet_is_found_by_link_rates() {
    let late = (0..190).map(|n| frame(n * 100, 300));
    let rows: Vec<Row> = late
        .chain(moved(0, 1))
        .chain(moved(1, 20))
        .chain(link(0, 866, 0, 900_000))
        .chain(link(1, 30, 0, 900_000))
        .collect();
    let causes = causes_of(&rows, &[]);
    assert_eq!(kinds(&causes), [Kind::SlowNeighbour], "{causes:#?}");
    assert_eq!(
        (&causes[0].stations[..], &causes[0].by[..]),
        (&["laptop".to_owned()][..], &["tablet".to_owned()][..])
    );
    assert!(
        causes[0]
            .evidence
            .contains("tablet used 99.8 % of the airtime for 95.2 % of the data, estimated from link rates"),
        "{}",
        causes[0].evidence
    );
    // The same on a link as fast as the laptop's.
    let late = (0..190).map(|n| frame(n * 100, 300));
    let rows: Vec<Row> = late
        .chain(moved(0, 1))
        .chain(moved(1, 20))
        .chain(link(0, 866, 0, 900_000))
        .chain(link(1, 866, 0, 900_000))
        .collect();
    assert_eq!(causes_of(&rows, &[]), []);
}

/// The tablet's own round trips are slow as well, because it fills the channel. The cause names it, so it has no further line.
#[test]
fn the_station_that_causes_a_problem_is_explained() {
    let plan = PLAN.replace("\"download\"", "[\"download\", \"probe\"]");
    let late = (0..190).flat_map(|n| [frame(n * 100, 300), operation(1, 1, n * 100, 300)]);
    let rows: Vec<Row> = late
        .chain(moved(0, 1))
        .chain(moved(1, 20))
        .chain(link(0, 866, 0, 900_000))
        .chain(link(1, 30, 0, 900_000))
        .collect();
    let explanation = explained(&plan, &rows, &[]);
    assert_eq!(kinds(&explanation.causes), [Kind::SlowNeighbour]);
    assert_eq!(explanation.unexplained, []);
    // Without link rates there is no cause.
    let rows: Vec<Row> = (0..190).map(|n| operation(1, 1, n * 100, 300)).collect();
    let explanation = explained(&plan, &rows, &[]);
    let stations: Vec<&str> = explanation.unexplained.iter().map(|one| one.station.as_str()).collect();
    assert_eq!((explanation.causes.len(), &stations[..]), (0, &["tablet"][..]));
}

const TELEVISION: &str = r#"
duration = "20 s"
[station.tv]
workload = "4kstream"
[station.desktop]
workload = "download"
"#;

/// Causes of a television that receives 17 of 20 Mbit/s, while a desktop downloads `download` Mbit/s on a link of 600 Mbit/s.
fn television(rate_mbps: u64, signal_dbm: i32, download: u64) -> Vec<Cause> {
    let link_of_tv = link(0, rate_mbps, 0, 0).map(|row| match row {
        Row::Link(row) => Row::Link(LinkRow {
            signal: Some(signal_dbm * 100),
            ..row
        }),
        other => other,
    });
    let rows: Vec<Row> = [operation(0, 0, 0, 20)]
        .into_iter()
        .chain(link_of_tv)
        .chain(link(1, 600, 0, 0))
        .chain(moved(0, 17))
        .chain(moved(1, download))
        .collect();
    explained(TELEVISION, &rows, &[]).causes
}

/// A link of 50 Mbit/s carries 50 × 0.7 = 35 Mbit/s, which is enough for a stream of 20. The television's 17 Mbit/s take 17 /
/// 35 = 49 % of the time, and the desktop's 210 take 210 / (600 × 0.7) = 50 %. With half of the airtime, the link carries
/// 17.5 Mbit/s, which is not enough.
#[test]
fn a_signal_that_needs_more_than_a_fair_share_is_too_weak() {
    let causes = television(50, -82, 210);
    assert_eq!(kinds(&causes), [Kind::WeakSignal], "{causes:#?}");
    assert_eq!(
        causes[0].evidence,
        "At -82 dBm its mean link rate is 50.0 Mbit/s, which carries about 35.0 Mbit/s of content with all of the airtime, \
         and 17.5 Mbit/s with a fair share (50 % of the time): 4kstream needs 20.0 Mbit/s. tv's 4kstream met `every 2 s ≥ 20 \
         Mbit/s` for 0 %."
    );
    // With 60 Mbit/s, half of the airtime carries 21 Mbit/s.
    assert_eq!(television(60, -82, 210), []);
    // 42 Mbit/s of the desktop take 10 % of the time: the television could have the rest.
    assert_eq!(television(50, -82, 42), []);
    assert_eq!(television(50, -60, 210), [], "this signal is not weak");
    // 25 × 0.7 = 17.5 Mbit/s, with all of the airtime.
    let causes = television(25, -82, 42);
    assert_eq!(kinds(&causes), [Kind::WeakSignal], "{causes:#?}");
    assert!(
        causes[0]
            .evidence
            .contains("carries about 17.5 Mbit/s of content: 4kstream"),
        "{}",
        causes[0].evidence
    );
}

#[test]
fn a_channel_that_was_busy_before_the_load_is_crowded() {
    let rows = |before| -> Vec<Row> {
        (0..190)
            .map(|n| frame(n * 100, 300))
            .chain(link(0, 144, before, 950_000))
            .collect()
    };
    let causes = causes_of(&rows(600_000), &[]);
    assert_eq!(kinds(&causes), [Kind::FullBand]);
    assert!(
        causes[0]
            .evidence
            .starts_with("The channel was 60 % busy before the load and 95 % during it."),
        "{}",
        causes[0].evidence
    );
    assert_eq!(causes_of(&rows(100_000), &[]), []);
}

#[test]
fn a_flat_rate_far_below_the_link_rate_is_an_adapter_limit() {
    // The laptop moves most: neither the WAN link nor the server limits the tablet.
    let rows = |other, link_rate| -> Vec<Row> {
        moved(1, 40)
            .chain(moved(0, other))
            .chain(link(1, link_rate, 0, 300_000))
            .collect()
    };
    let causes = causes_of(&rows(200, 300), &[]);
    assert_eq!(kinds(&causes), [Kind::Adapter]);
    assert_eq!(causes[0].severity, Severity::Notable);
    assert_eq!(
        causes_of(&rows(50, 300), &[]),
        [],
        "no other station shows a higher rate"
    );
    assert_eq!(causes_of(&rows(200, 72), &[]), [], "the link is no faster");
}

#[test]
fn late_operations_around_a_roam_have_cause_roaming() {
    let event = |kind, length| {
        Row::Event(EventRow {
            station: Some(0),
            workload: None,
            at: Instant::from_secs(5),
            length,
            kind,
            detail: "".into(),
        })
    };
    let roam = |length| event(EventKind::Roam, length);
    // Operations due from 5 s to 6.2 s are late.
    let frames = || (0..190).map(|n| frame(n * 100, if (50..62).contains(&n) { 800 } else { 20 }));
    let rows: Vec<Row> = frames().chain([roam(1_200_000_000)]).collect();
    let causes = causes_of(&rows, &[]);
    assert_eq!(kinds(&causes), [Kind::Roaming]);
    assert!(
        causes[0]
            .evidence
            .contains("laptop roamed once, with gaps of up to 1.20 s; 12 of 12 late operations and stalls (100 %)"),
        "{}",
        causes[0].evidence
    );
    assert_eq!(
        causes_of(&frames().chain([roam(10_000_000)]).collect::<Vec<_>>(), &[]),
        [],
        "a gap of 40 ms is below the threshold"
    );
    let elsewhere: Vec<Row> = (0..190)
        .map(|n| frame(n * 100, if n > 90 { 800 } else { 20 }))
        .chain([roam(1_200_000_000)])
        .collect();
    assert_eq!(causes_of(&elsewhere, &[]), [], "what is late is so long after");
    // A scan of 8 s without a roam.
    let scan = [event(EventKind::Scan, 8_000_000_000)];
    let causes = causes_of(&frames().chain(scan).collect::<Vec<_>>(), &[]);
    assert_eq!(kinds(&causes), [Kind::Scans]);
    assert_eq!(causes[0].title, "Scans interrupt laptop");
    assert!(
        causes[0]
            .evidence
            .contains("laptop scanned once for up to 8.00 s; 12 of 12"),
        "{}",
        causes[0].evidence
    );
}

/// Packets of the laptop's call in both directions. Every tenth packet needs 10 ms, the others as many ms as given.
fn call(up_ms: u64, down_ms: u64) -> impl Iterator<Item = Row> {
    (0..1_990).map(move |sequence| {
        let (number, slow) = (sequence / 2, if sequence % 2 == 0 { up_ms } else { down_ms });
        let took = if number % 10 == 0 { 10 } else { slow };
        let due = Instant::from_millis(number as i64 * 20);
        let operation = Operation {
            sequence,
            due,
            started: Some(due),
            tcp_connected: None,
            connected: None,
            first_byte: None,
            finished: Some(due + Duration::from_millis(took)),
            bytes: 172,
            outcome: Outcome::Finished,
            far: None,
        };
        Row::Operation(OperationRow {
            station: 0,
            workload: 0,
            operation,
        })
    })
}

/// Frames of the laptop's video call in both directions, every 33.3 ms. Every tenth frame needs 30 ms, the others as many
/// as given up, and 30 ms down.
fn frames(up_ms: u64) -> impl Iterator<Item = Row> {
    call(up_ms, 30).take(1_190).map(|row| match row {
        Row::Operation(mut row) => {
            let number = row.operation.sequence / 2;
            let took = row.operation.finished.unwrap().since(row.operation.due);
            let due = Instant::ZERO + Duration::from_nanos(33_333_333) * number;
            row.operation.finished = Some(due + took.max(Duration::from_millis(30)));
            (row.operation.due, row.operation.started) = (due, Some(due));
            Row::Operation(row)
        }
        row => row,
    })
}

/// Content of the second station in each second.
fn load(down_mbps: u64, up_mbps: u64) -> impl Iterator<Item = Row> {
    (0..20).map(move |second| {
        Row::Interval(IntervalRow {
            station: 1,
            workload: 0,
            at: Instant::from_secs(second),
            bytes_down: down_mbps * 125_000,
            bytes_up: up_mbps * 125_000,
        })
    })
}

/// A call and another workload of a fleet, or behind an access point with a line of 50/10 Mbit/s.
fn call_beside(workload: &str, line: bool) -> String {
    let place = if line {
        "joins = \"home.5g\"\nsignal = \"-50 dBm\""
    } else {
        ""
    };
    let ap = "[ap.home.wan]\ndown = \"50 Mbit/s\"\nup = \"10 Mbit/s\"\n[ap.home.radio.5g]\nstandard = \"802.11ac\"\n";
    format!(
        "duration = \"20 s\"\n{}[station.laptop]\nworkload = \"voice\"\n{place}\n\
         [station.nas]\nworkload = \"{workload}\"\n{place}\n",
        if line { ap } else { "" }
    )
}

/// The median of the one-way delays is 400 ms, of which the load adds 390 ms.
#[test]
fn one_way_delays_of_a_call_show_the_direction_of_the_queue() {
    const TO: &str =
        "laptop's voice: the one-way delay of the packets to the server was 400 ms (median), and 10.0 ms at least.";
    let upload = call_beside("upload", false);
    let up: Vec<Row> = call(400, 10).chain(load(0, 9)).collect();
    let found = explained(&upload, &up, &[]).causes;
    assert_eq!(kinds(&found), [Kind::UploadBloat], "{found:#?}");
    assert_eq!(
        found[0].title,
        "Bufferbloat: nas's upload fills a queue that laptop shares"
    );
    assert!(found[0].evidence.starts_with(TO), "{}", found[0].evidence);
    // An upload does not delay packets from the server.
    let down: Vec<Row> = call(10, 400).chain(load(0, 9)).collect();
    let other = explained(&upload, &down, &[]);
    assert_eq!((other.causes, other.unexplained.len()), (Vec::new(), 1));
    // A call without delay has no cause.
    let fast: Vec<Row> = call(10, 10).chain(load(0, 9)).collect();
    assert!(explained(&upload, &fast, &[]).is_empty());
}

/// The median of the frame delays is 400 ms, of which pacing causes 13 ms at most. A median of 70 ms is 40 ms above the
/// smallest one. Without 13.3 ms of pacing these are 26.7 ms, less than the 30 ms of a delay that counts.
#[test]
fn frame_delays_of_a_video_call_count_without_their_pacing() {
    const TO: &str =
        "laptop's video-call: the frame delay of the video to the server was 400 ms (median), and 30.0 ms at least.";
    let upload = call_beside("upload", false).replace("\"voice\"", "\"video-call\"");
    let rows = |up_ms: u64| -> Vec<Row> { frames(up_ms).chain(load(0, 9)).collect() };
    let found = explained(&upload, &rows(400), &[]).causes;
    assert_eq!(kinds(&found), [Kind::UploadBloat], "{found:#?}");
    assert!(found[0].evidence.starts_with(TO), "{}", found[0].evidence);
    let document = Document::from_toml("house", &upload).unwrap();
    let plan: Plan = document.resolve_for(Environment::Fleet).unwrap().0;
    let delay = |up_ms: u64| {
        let mut summariser = Summariser::new(Header::simulated(plan.clone()));
        rows(up_ms).iter().for_each(|row| summariser.put(row).unwrap());
        let summary = summariser.finish("run", &RunStatus::Complete);
        let evidence = Evidence::new(&plan, Environment::Fleet);
        let found = RunFacts::new(&evidence, &summary, &[]).packet_delay(0, facts::Direction::Up);
        found.is_some()
    };
    assert_eq!((delay(70), delay(80)), (false, true));
}

/// 9 of 10 Mbit/s upstream and 45 of 50 Mbit/s downstream: above 80 % of the rate, the line is full.
#[test]
fn one_way_delays_are_assigned_to_a_full_line() {
    let simulated = |workload: &str, rows: Vec<Row>| {
        let plan = call_beside(workload, true);
        explained_on(Environment::Simulate, &plan, &rows, &[]).causes
    };
    let bloat = simulated("upload", call(400, 10).chain(load(0, 9)).collect());
    assert_eq!(kinds(&bloat), [Kind::UploadBloat], "{bloat:#?}");
    let full = "The uplink of 10.0 Mbit/s carried 9.0 Mbit/s and was full for 100 % of the time in use.";
    assert!(bloat[0].evidence.contains(full), "{}", bloat[0].evidence);
    let bloat = simulated("download", call(10, 400).chain(load(45, 0)).collect());
    assert_eq!(kinds(&bloat), [Kind::DownloadBloat], "{bloat:#?}");
    // Without a bulk transfer, the line itself is the cause.
    let line = simulated("datagrams", call(400, 10).chain(load(0, 9)).collect());
    assert_eq!(kinds(&line), [Kind::LineUp], "{line:#?}");
    assert_eq!(line[0].title, "The internet line delays laptop upstream");
    let line = simulated("datagrams", call(10, 400).chain(load(45, 0)).collect());
    assert_eq!(kinds(&line), [Kind::LineDown], "{line:#?}");
    // A line that is not full does not delay packets, and the channel is idle.
    let other = simulated("upload", call(400, 10).chain(load(0, 5)).collect());
    assert_eq!(other, []);
}

/// The channel is busy for 95 ms of 100 ms, and the line is not full.
#[test]
fn one_way_delays_on_a_busy_channel_are_of_the_wifi() {
    let air = (0..200).map(|tenth| {
        Row::Air(AirRow {
            station: 1,
            at: Instant::from_millis(tenth * 100),
            airtime_up: Duration::from_millis(95),
            transmissions: 20,
            mpdus: 20,
            ..AirRow::default()
        })
    });
    let rows: Vec<Row> = call(400, 10).chain(load(0, 5)).chain(air).collect();
    let found = explained_on(Environment::Simulate, &call_beside("upload", true), &rows, &[]).causes;
    assert_eq!(kinds(&found), [Kind::WifiDelay], "{found:#?}");
    assert_eq!(found[0].title, "The Wi-Fi delays laptop, not the internet line");
}

/// An agent may claim anything.
#[test]
fn rows_with_impossible_values_are_rejected() {
    let mut rows: Vec<Row> = (0..100).map(|n| frame(n * 100, 2000)).collect();
    for station in [0, 1, 0, 1] {
        rows.extend(link(station, 100, 0, 900_000));
        rows.push(Row::Interval(IntervalRow {
            station,
            workload: 0,
            at: Instant::from_secs(1),
            bytes_down: u64::MAX,
            bytes_up: u64::MAX,
        }));
        rows.push(Row::Air(AirRow {
            station,
            at: Instant::from_secs(1),
            airtime_down: Duration::from_nanos(u64::MAX),
            airtime_up: Duration::from_nanos(u64::MAX),
            transmissions: u64::MAX,
            mpdus: u64::MAX,
            backlog: u64::MAX,
            drops: u64::MAX,
            ..AirRow::default()
        }));
    }
    causes_of(&rows, &[agent("a1", "laptop")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Any rows in any order yield a result, without a value that is not a number.
    #[test]
    fn any_rows_have_a_result(rows in prop::collection::vec((0_u8..6, 0_u16..4, -50_i64..300, 0_u64..u64::MAX), 0..80)) {
        let rows: Vec<Row> = rows
            .into_iter()
            .map(|(kind, station, tenth, value)| {
                let at = Instant::from_millis(tenth * 100);
                let small = value >> 40;
                match kind {
                    0 => frame(tenth * 100, small & 0xfff),
                    1 => Row::Interval(IntervalRow { station, workload: 0, at, bytes_down: small, bytes_up: small / 3 }),
                    2 => Row::Air(AirRow { station, at, airtime_down: Duration::from_nanos(small), transmissions: small & 0xff, ..AirRow::default() }),
                    3 => Row::Link(LinkRow { station, at, rx_rate_bps: Some(value), busy_ppm: Some(small as u32), frequency_mhz: Some(5180), ..LinkRow::default() }),
                    _ => Row::Event(EventRow { station: Some(station), workload: Some(0), at, length: value, kind: if kind == 4 { EventKind::Roam } else { EventKind::Stall }, detail: "".into() }),
                }
            })
            .collect();
        for cause in causes_of(&rows, &[agent("a1", "laptop")]) {
            let text = format!("{} {} {}", cause.title, cause.evidence, cause.advice);
            prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{}", text);
        }
    }
}

/// The end that receives data sends only acknowledgements, so that its round-trip time is that of the handshake.
#[test]
fn a_round_trip_counts_at_the_end_whose_data_were_acknowledged() {
    let document = Document::from_toml("house", PLAN).unwrap();
    let plan: Plan = document.resolve_for(Environment::Fleet).unwrap().0;
    let mut evidence = Evidence::new(&plan, Environment::Fleet);
    // The tablet's download: one request of 200 B, and 1 MB per second in the other direction.
    let sample = |side, second: i64, bytes_acked, rtt_us| ConnectionRow {
        station: 1,
        workload: 0,
        side,
        port: 40_000,
        at: Instant::from_secs(second),
        rtt_us,
        rtt_var_us: 0,
        cwnd: 10,
        retransmits: 0,
        delivery_rate_bps: 0,
        bytes_acked,
        bytes_received: 0,
    };
    // 98,304 µs is the start of a class of the histogram, 1.5 · 2¹⁶. A median needs six values.
    for second in 1..=6 {
        assert!(evidence.connection(&sample(Side::Server, second, 1_000_000 * second as u64, 98_304)));
        let counts = evidence.connection(&sample(Side::Station, second, 200, 10_000));
        assert_eq!(counts, second == 1, "the request is acknowledged once");
    }
    assert_eq!(evidence.stations[1].receiving.median_ms(), Some(98.304));
    // A new connection with the same port starts from 0.
    assert!(evidence.connection(&sample(Side::Station, 7, 100, 80_000)));
}
