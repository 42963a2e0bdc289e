//! Airtime shares in the summary.

mod util;

use netburn_record::{AirRow, Environment, Header, Recorder, Row, RunStatus, Sink, Summary};
use netburn_scenario::Plan;
use netburn_units::Duration;
use netburn_workload::Config;
use util::{header, ms, station};

/// `down` and `up` ms of data in the tenth of a second that begins at `at` ms.
fn air(station: u16, at: i64, down: u64, up: u64) -> Row {
    Row::Air(AirRow {
        station,
        at: ms(at),
        airtime_down: Duration::from_millis(down),
        airtime_up: Duration::from_millis(up),
        ..AirRow::default()
    })
}

/// A run on the modelled channel: 10 s of which the first 0.95 are not judged. `busy` has a
/// workload, `idle` none.
fn modelled(busy: &[&str], idle: &[&str], rows: &[Row]) -> Summary {
    let user = |name: &&str| station(name, &[("download", Config::download())]);
    let plan = Plan {
        duration: Duration::from_secs(10),
        warmup: Duration::from_millis(950),
        stations: busy
            .iter()
            .map(user)
            .chain(idle.iter().map(|name| station(name, &[])))
            .collect(),
        ..Plan::new("air")
    };
    let dir = tempfile::tempdir().unwrap();
    let header = Header {
        environment: Environment::Simulate,
        started: None,
        ..header(plan)
    };
    let mut recorder = Recorder::create(&dir.path().join("run"), header).unwrap();
    for row in rows {
        recorder.put(row).unwrap();
    }
    let run = recorder.finish(&RunStatus::Complete).unwrap();
    assert_eq!(run.summarise().unwrap(), *run.summary());
    run.summary().clone()
}

/// `a` has 30 ms down and 10 ms up in each of 90 tenths of a second, `b` 10 ms down: 40 to 10. Half
/// of the tenth from 0.9 s on is evaluated, so its 2 × 40 and 2 × 10 ms change nothing. Earlier and
/// later intervals do not count. `c` has a workload and no airtime: the index over 0.8, 0.2 and 0
/// is 1 / (3 × (0.64 + 0.04)) = 25/51. `d` has no workload and is not counted.
#[test]
fn airtime_shares_cover_the_evaluated_time() {
    let mut rows: Vec<Row> = (10..100)
        .flat_map(|tenth| [air(0, tenth * 100, 30, 10), air(1, tenth * 100, 10, 0)])
        .collect();
    rows.extend([
        air(0, 900, 60, 20),
        air(1, 900, 0, 20),
        air(1, 800, 100, 0),
        air(1, 10_000, 100, 0),
    ]);
    let summary = modelled(&["a", "b", "c"], &["d"], &rows);
    let shares: Vec<Option<f64>> = summary.stations.iter().map(|station| station.airtime_share).collect();
    assert_eq!(shares, [Some(0.8), Some(0.2), Some(0.0), Some(0.0)]);
    let index = summary.totals.airtime_jain.unwrap();
    assert!((index - 25.0 / 51.0).abs() < 1e-12, "{index}");
}

#[test]
fn without_airtime_there_are_no_shares() {
    for rows in [&[][..], &[air(0, 1000, 0, 0)], &[air(0, 100, 50, 0)]] {
        let summary = modelled(&["a", "b"], &[], rows);
        assert_eq!(summary.totals.airtime_jain, None);
        assert!(summary.stations.iter().all(|station| station.airtime_share.is_none()));
        assert!(summary.self_check.ok && summary.self_check.reasons.is_empty());
    }
}
