use super::*;
use netburn_record::row::BASELINE;
use netburn_record::{EventKind, EventRow, IntervalRow, Loss, LossCause, OperationRow, QualityIssue};
use netburn_scenario::{Station, StationWorkload};
use netburn_workload::{Config, Operation, Outcome};
use proptest::prelude::*;

fn plan() -> Plan {
    let station = |name: &str, uses: &[(&str, Config)]| Station {
        workloads: uses
            .iter()
            .map(|(name, config)| StationWorkload::new(*name, config.clone()))
            .collect(),
        ..Station::new(name)
    };
    Plan {
        baseline: Duration::from_secs(1),
        stations: vec![
            station("phone", &[("voip", Config::voip()), ("probe", Config::probe())]),
            station("de\x1bsktop", &[("download", Config::download())]),
        ],
        ..Plan::new("two")
    }
}

fn bytes(station: u16, at_ms: i64, bytes_down: u64) -> Row {
    Row::Interval(IntervalRow {
        station,
        workload: 0,
        at: Instant::from_millis(at_ms),
        bytes_down,
        bytes_up: 0,
    })
}

fn operation(station: u16, workload: u16, due_ms: i64, took_ms: i64, outcome: Outcome) -> Row {
    let due = Instant::from_millis(due_ms);
    Row::Operation(OperationRow {
        station,
        workload,
        operation: Operation {
            sequence: 0,
            due,
            started: Some(due),
            connected: None,
            first_byte: None,
            finished: Some(Instant::from_millis(due_ms + took_ms)),
            bytes: 1,
            outcome,
            far: None,
            tcp_connected: None,
        },
    })
}

/// Ten intervals of 1.25 MB in the second before 10 s: 12.5 MB in 1 s are 100 Mbit/s. A call of 40 ms is within its
/// goal of 150 ms, one of 200 ms is not, one that failed is a miss.
fn busy() -> Model {
    let mut model = Model::new(&plan());
    model.phase(Phase::Load);
    for i in 0..30 {
        model.put(&bytes(1, 7_000 + 100 * i, 1_250_000));
    }
    model.put(&operation(0, 0, 8_000, 40, Outcome::Finished));
    model.put(&operation(0, 0, 9_000, 200, Outcome::Finished));
    model.put(&operation(0, 0, 9_100, 9, Outcome::TimedOut));
    model.put(&operation(0, 0, 9_200, 9, Outcome::Cut));
    model
}

#[test]
fn the_table_shows_current_values() {
    insta::assert_snapshot!(busy().table(Instant::from_millis(10_001), 80, 24, false).join("\n"), @"
    two: running, 50 s left
    STATION   WORKLOAD  Mbit/s  LATENCY  DONE  MISSED  LEFT
    phone     voip         0.0   200 ms     2       2  50 s
              probe        0.0        –     0       0  50 s
    de�sktop  download   100.0        –     0       0  50 s
    ");
}

#[test]
fn plain_lines_match_the_table() {
    insta::assert_snapshot!(busy().plain(Instant::from_millis(10_000)).join("\n"), @"
    two: running, 50 s left
      phone voip: 0.0 Mbit/s, latency 200 ms, 2 done, 2 missed
      phone probe: 0.0 Mbit/s, 0 done, 0 missed
      de\u{fffd}sktop download: 100.0 Mbit/s, 0 done, 0 missed
    ");
}

#[test]
fn a_rate_decays_without_data() {
    let model = busy();
    // At 11 s, the last second whose intervals must have arrived is 9.5 s to 10.5 s. Half of it had
    // bytes.
    let text = model.plain(Instant::from_secs(11)).join("\n");
    assert!(text.contains("download: 50.0 Mbit/s"), "{text}");
    let text = model.plain(Instant::from_secs(12)).join("\n");
    assert!(text.contains("download: 0.0 Mbit/s"), "{text}");
}

#[test]
fn idle_latency_shows_before_the_load() {
    let mut model = Model::new(&plan());
    model.phase(Phase::Baseline);
    model.put(&operation(0, BASELINE, -500, 2, Outcome::Finished));
    insta::assert_snapshot!(model.table(Instant::from_millis(-400), 80, 24, false).join("\n"), @"
    two: measuring idle latency
    STATION   WORKLOAD  Mbit/s  LATENCY  DONE  MISSED
    phone     voip         0.0  2.00 ms     0       0
              probe        0.0  2.00 ms     0       0
    de�sktop  download     0.0        –     0       0
    ");
}

#[test]
fn a_lost_station_is_shown_as_lost() {
    let mut model = busy();
    let mut put = |kind: EventKind| {
        model.put(&Row::Event(EventRow {
            station: Some(1),
            workload: None,
            at: Instant::ZERO,
            length: 0,
            kind,
            // The text of an event has no effect.
            detail: QualityIssue::AgentLost {
                name: "desktop".into(),
                loss: Loss::new(LossCause::Left, "gone"),
            }
            .into(),
        }));
        model.plain(Instant::ZERO)[3].ends_with(", lost")
    };
    for kind in [EventKind::ServerLost, EventKind::Incomplete, EventKind::Warning] {
        assert!(!put(kind), "{kind:?}: it is there itself");
    }
    assert!(put(EventKind::Lost));
    assert!(model.table(Instant::ZERO, 80, 24, false)[4].contains("lost"));
}

#[test]
fn a_short_terminal_shows_the_first_rows_and_counts_the_rest() {
    let lines = busy().table(Instant::ZERO, 80, 5, false);
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[3], "… and 2 more");
}

proptest! {
    #[test]
    fn any_row_gives_printable_text(
        rows in prop::collection::vec((0_u16..4, any::<u16>(), any::<i64>(), any::<u64>()), 0..60),
        now in any::<i64>(),
        columns in 0_usize..200,
        height in 0_usize..50,
    ) {
        let mut model = Model::new(&plan());
        model.phase(Phase::Load);
        for (station, workload, at, n) in rows {
            model.put(&Row::Interval(IntervalRow {
                station, workload: workload % 3, at: Instant::from_nanos(at), bytes_down: n, bytes_up: n,
            }));
        }
        let lines = model.table(Instant::from_nanos(now), columns, height, false);
        prop_assert!(lines.iter().flat_map(|l| l.chars()).all(|c| !c.is_control()));
        prop_assert!(lines.len() <= height.max(4));
    }
}

#[test]
fn the_rate_between_pages_includes_the_pause() {
    let text = "duration = \"60 s\"\n[station.a]\nworkload = \"browsing\"\n";
    let (plan, _) = netburn_scenario::Document::from_toml("t.toml", text)
        .unwrap()
        .resolve_for(netburn_scenario::Environment::Fleet)
        .unwrap();
    let mut model = Model::new(&plan);
    model.phase(Phase::Load);
    // 1.5 MB within a tenth of a second, every 3 s: 4 Mbit/s, at any time in between.
    for page in 0..3 {
        model.put(&Row::Interval(IntervalRow {
            station: 0,
            workload: 0,
            at: Instant::ZERO + Duration::from_millis(5000 + 3000 * page),
            bytes_down: 1_500_000,
            bytes_up: 0,
        }));
    }
    for now in [11_200, 12_500, 13_900] {
        let lines = model.plain(Instant::ZERO + Duration::from_millis(now));
        assert!(lines[1].contains("browsing: 4.0 Mbit/s"), "{now}: {lines:?}");
    }
}
