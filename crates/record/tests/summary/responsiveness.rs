//! Results of responsiveness under load.

use super::util::{interval, ms};
use super::{SECOND, close, plan, summary};
use netburn_record::summary::WorkloadSummary;
use netburn_record::{OperationRow, Row, RunStatus};
use netburn_units::{Duration, Instant};
use netburn_workload::kinds::Responsiveness;
use netburn_workload::kinds::responsiveness::Part;
use netburn_workload::{Config, Failure, LoadConnections, Operation, Outcome, Verdict};

/// A foreign probe whose parts take `part` each.
fn foreign(number: u64, due: Instant, part: Duration) -> Operation {
    Operation {
        sequence: Part::Foreign.operation(number),
        due,
        started: Some(due),
        tcp_connected: Some(due + part),
        connected: Some(due + part * 2),
        first_byte: Some(due + part * 3),
        finished: Some(due + part * 3),
        bytes: 1,
        outcome: Outcome::Finished,
        far: None,
    }
}

fn own(number: u64, due: Instant, took: Duration) -> Operation {
    Operation {
        sequence: Part::Own.operation(number),
        due,
        started: Some(due),
        first_byte: Some(due + took),
        finished: Some(due + took),
        bytes: 1,
        outcome: Outcome::Finished,
        ..Operation::default()
    }
}

/// The same probe without a response.
fn lost(probe: Operation) -> Operation {
    Operation {
        tcp_connected: None,
        connected: None,
        first_byte: None,
        finished: Some(probe.due + SECOND * 5),
        bytes: 0,
        outcome: Outcome::TimedOut,
        ..probe
    }
}

fn workload(config: Config, tls: bool, operations: Vec<Operation>) -> WorkloadSummary {
    let mut plan = plan("rpm", config, 20);
    plan.server.tls = tls;
    let mut rows: Vec<Row> = operations
        .into_iter()
        .map(|operation| {
            Row::Operation(OperationRow {
                station: 0,
                workload: 0,
                operation,
            })
        })
        .collect();
    rows.push(interval(0, 0, 1_000, 125_000));
    summary(plan, &rows, &RunStatus::Complete).stations[0].workloads[0].clone()
}

fn probes(count: u64, own_took: impl Fn(u64) -> u64) -> Vec<Operation> {
    let mut operations = Vec::new();
    for number in 0..count {
        let due = ms((number * 100) as i64);
        operations.push(foreign(number, due, Duration::from_millis(30)));
        let took = Duration::from_millis(own_took(number));
        operations.push(own(number, due + Duration::from_millis(50), took));
    }
    operations
}

/// Three parts of 30 ms: 2000 RPM. Self probes of 120 ms: 500. The draft's score is 1250, that of goresponsiveness 60 s / 75 ms
/// = 800. All 16 windows of 5 s meet 1000. The load of 1 Mbit in 20 s is 0.05 Mbit/s.
#[test]
fn the_scores_follow_from_the_parts() {
    let of = workload(Config::responsiveness(), true, probes(200, |_| 120));
    let rpm = of.responsiveness.clone().unwrap();
    close(rpm.rpm, 1250.0, 1e-9);
    close(rpm.foreign_rpm, 2000.0, 1e-9);
    close(rpm.loaded_rpm, 500.0, 1e-9);
    close(rpm.median_rpm, 1250.0, 1e-9);
    close(rpm.p90_rpm, 1250.0, 1e-9);
    close(rpm.goresponsiveness_rpm, 800.0, 1e-9);
    assert_eq!((rpm.band.as_deref(), rpm.foreign_only), (Some("good"), false));
    for (times, expected) in [
        (rpm.tcp_ms, 30.0),
        (rpm.tls_ms, 30.0),
        (rpm.http_ms, 30.0),
        (rpm.self_ms, 120.0),
    ] {
        let times = times.unwrap();
        assert_eq!(
            (times.count, times.p50, times.max),
            (200, Some(expected), Some(expected))
        );
    }
    assert_eq!(
        (rpm.foreign_probes.due, rpm.foreign_probes.lost, rpm.foreign_probes.late),
        (200, 0, 0)
    );
    let periods: Vec<_> = rpm.periods.iter().map(|period| (period.start_s, period.rpm)).collect();
    let expected = [0.0, 5.0, 10.0, 15.0].map(|start| (start, Some(1250.0)));
    assert_eq!(periods, expected);
    let goal = &of.goals[0];
    assert_eq!(
        (goal.goal.as_str(), goal.verdict, goal.samples),
        ("every 5 s ≥ 1000 rpm", Verdict::Pass, 16)
    );
    assert_eq!((of.operations, of.failures, of.throughput_mbps), (400, 0, 0.05));
}

/// Without TLS the two parts of 30 ms give 2000 RPM as well, and goresponsiveness has no score. From 10 s on self probes take
/// 600 ms: 100 RPM instead of 500, so that the score falls from 1250 to 1050 in the second half. The goal of 1000 still holds.
#[test]
fn a_change_is_visible_in_the_periods() {
    let half = |number| if number < 100 { 120 } else { 600 };
    let operations = probes(200, half).into_iter().map(|mut probe| {
        if let Some(connected) = &mut probe.connected {
            *connected = probe.tcp_connected.unwrap();
            let finished = *connected + Duration::from_millis(30);
            (probe.first_byte, probe.finished) = (Some(finished), Some(finished));
        }
        probe
    });
    let of = workload(Config::responsiveness(), false, operations.collect());
    let rpm = of.results.responsiveness.unwrap();
    assert_eq!((rpm.tls_ms, rpm.goresponsiveness_rpm), (None, None));
    let periods: Vec<f64> = rpm.periods.iter().map(|period| period.rpm.unwrap().round()).collect();
    assert_eq!(periods, [1250.0, 1250.0, 1050.0, 1050.0]);
    assert_eq!(of.goals[0].verdict, Verdict::Pass);
}

/// Of 200 foreign probes 20 have no response, and 10 self probes never started. They rank last, and the draft's trimmed mean
/// keeps ⌊0.95 · 200⌋ = 190: ten of the lost count with the time-out of 5 s. (180 · 30 + 10 · 5000) / 190 = 291.6 ms, 205.8 RPM. All
/// lost self probes are trimmed: 500. The score is 352.9. The load failed once; its end is no failure.
#[test]
fn lost_probes_count() {
    let mut operations = probes(200, |_| 120);
    for probe in &mut operations {
        let number = probe.sequence / 3;
        if Part::from_sequence(probe.sequence) == Part::Foreign && number % 10 == 0 {
            *probe = lost(*probe);
        } else if Part::from_sequence(probe.sequence) == Part::Own && number % 20 == 0 {
            *probe = Operation {
                sequence: probe.sequence,
                due: probe.due,
                outcome: Outcome::NotStarted,
                ..Operation::default()
            };
        }
    }
    for (number, outcome) in [(0, Outcome::Failed(Failure::Connection)), (1, Outcome::Cut)] {
        operations.push(Operation {
            sequence: Part::Load.operation(number),
            due: ms(number as i64 * 2_000),
            started: Some(ms(number as i64 * 2_000)),
            finished: (number == 0).then(|| ms(1_000)),
            bytes: 1_000_000,
            outcome,
            ..Operation::default()
        });
    }
    let of = workload(Config::responsiveness(), true, operations);
    let rpm = of.responsiveness.clone().unwrap();
    close(
        rpm.foreign_rpm,
        60_000.0 / ((180.0 * 30.0 + 10.0 * 5_000.0) / 190.0),
        1e-6,
    );
    close(rpm.loaded_rpm, 500.0, 1e-9);
    close(rpm.rpm, 352.9, 0.1);
    // The median of 200 with 20 unlimited ones.
    close(rpm.median_rpm, 1250.0, 1e-9);
    assert_eq!((rpm.foreign_probes.lost, rpm.foreign_probes.answered), (20, 180));
    assert_eq!((rpm.self_probes.lost, rpm.self_probes.due), (10, 200));
    assert_eq!(rpm.tcp_ms.unwrap().unbounded, 20);
    assert_eq!((rpm.load_failures, of.failures, of.not_started), (1, 21, 10));
    assert_eq!(of.operations, 401);
    assert_eq!(of.goals[0].verdict, Verdict::Fail);
}

/// Without load of its own the score is that of the foreign probes.
#[test]
fn foreign_probes_alone() {
    let config = Config::with(|probes: &mut Responsiveness| probes.load = LoadConnections::default());
    let foreign = probes(200, |_| 1)
        .into_iter()
        .filter(|probe| Part::from_sequence(probe.sequence) == Part::Foreign);
    let of = workload(config, true, foreign.collect());
    let rpm = of.results.responsiveness.unwrap();
    assert_eq!(
        (rpm.rpm, rpm.foreign_only, rpm.loaded_rpm, rpm.self_ms),
        (Some(2000.0), true, None, None)
    );
    assert_eq!(of.goals[0].verdict, Verdict::Pass);
}
