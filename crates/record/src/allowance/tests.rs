//! Rows of a correct agent are admitted; impossible rows are rejected.

use super::*;
use crate::row::{EventKind, Side};
use netburn_scenario::{Station, StationWorkload};
use netburn_units::{ByteSize, Seed};
use netburn_workload::config::{Grid, Requests};
use netburn_workload::kinds::{Bulk, Pages, Periodic, Stream};
use netburn_workload::{Action, Config, Operation, Outcome, RemoteTimestamps, Workload};
use proptest::prelude::*;

/// A plan of 8 s, with an idle-latency probe of 1 s and a drain of 5 s. Its workloads are a call of 16 KiB every
/// 131.072 ms, and a download.
fn plan() -> Plan {
    let workload = |name: &str, config: Config| StationWorkload {
        name: name.into(),
        config,
        cc: None,
        server: None,
    };
    Plan {
        duration: Duration::from_secs(8),
        baseline: Duration::from_secs(1),
        drain: Duration::from_secs(5),
        stations: vec![
            Station {
                workloads: vec![
                    workload("voip", Config::voip()),
                    workload("download", Config::download()),
                ],
                ..Station::new("evil")
            },
            Station::new("idle"),
        ],
        ..Plan::new("eight-seconds")
    }
}

fn allowance() -> Allowance {
    Allowance::for_agent(&plan(), &[0])
}

/// The whole run of [`plan`].
const WHOLE: Duration = Duration::from_secs(14);

fn call(sequence: u64, due: i64) -> OperationRow {
    let due = Instant::from_nanos(due);
    OperationRow {
        station: 0,
        workload: 0,
        operation: Operation {
            sequence,
            due,
            started: Some(due),
            connected: None,
            first_byte: Some(due),
            finished: Some(due),
            bytes: 16 << 10,
            outcome: Outcome::Finished,
            far: None,
            tcp_connected: None,
        },
    }
}

fn interval(workload: u16, at_ms: i64, bytes_down: u64) -> Row {
    Row::Interval(IntervalRow {
        station: 0,
        workload,
        at: Instant::from_millis(at_ms),
        bytes_down,
        bytes_up: 0,
    })
}

fn event(at: i64, length: u64, text: usize) -> Row {
    Row::Event(EventRow {
        station: Some(0),
        workload: Some(0),
        at: Instant::from_nanos(at),
        length,
        kind: EventKind::Warning,
        detail: "E".repeat(text).into(),
    })
}

fn look(port: u16) -> Row {
    Row::Connection(ConnectionRow {
        station: 0,
        workload: 0,
        side: Side::Station,
        port,
        at: Instant::ZERO,
        rtt_us: 1,
        rtt_var_us: 1,
        cwnd: 1,
        retransmits: 0,
        delivery_rate_bps: 0,
        bytes_acked: 0,
        bytes_received: 0,
    })
}

/// Result for one row.
fn said(row: &Row) -> Result<(), Rejection> {
    allowance().admit(row, WHOLE)
}

#[test]
fn impossible_values_are_rejected() {
    let with = |change: &dyn Fn(&mut OperationRow)| {
        let mut row = call(0, 0);
        change(&mut row);
        said(&Row::Operation(row))
    };
    let at = |nanos: i64| Some(Instant::from_nanos(nanos));
    let second = 1_000_000_000;
    // The run's own time is −1 s to 13 s; the margin on both sides is 60 s.
    assert_eq!(with(&|_| ()), Ok(()));
    assert_eq!(with(&|row| row.operation.finished = at(73 * second)), Ok(()));
    assert_eq!(
        with(&|row| row.operation.finished = at(73 * second + 1)),
        Err(Rejection::Time)
    );
    for extreme in [i64::MIN, i64::MAX] {
        assert_eq!(
            with(&|row| row.operation.due = Instant::from_nanos(extreme)),
            Err(Rejection::Time)
        );
        assert_eq!(with(&|row| row.operation.started = at(extreme)), Err(Rejection::Time));
        assert_eq!(with(&|row| row.operation.finished = at(extreme)), Err(Rejection::Time));
    }
    assert_eq!(with(&|row| row.operation.finished = at(-second)), Err(Rejection::Order));
    assert_eq!(
        with(&|row| row.operation.first_byte = at(-second)),
        Err(Rejection::Order)
    );
    let backwards = RemoteTimestamps { received: 1, sent: 0 };
    assert_eq!(with(&|row| row.operation.far = Some(backwards)), Err(Rejection::Order));
    assert_eq!(with(&|row| row.operation.bytes += 1), Err(Rejection::Bytes));
    assert_eq!(with(&|row| row.operation.bytes = u64::MAX), Err(Rejection::Bytes));
    for workload in [2, 7, 65_534] {
        assert_eq!(with(&|row| row.workload = workload), Err(Rejection::Workload));
    }
    assert_eq!(with(&|row| row.station = 1), Err(Rejection::Workload));
    // Idle latency is measured by datagrams of 64 B.
    let idle = |bytes| with(&|row| (row.workload, row.operation.bytes) = (crate::row::BASELINE, bytes));
    assert_eq!((idle(64), idle(65)), (Ok(()), Err(Rejection::Bytes)));

    // 1 Tbit/s are 12.5 GB in 100 ms.
    assert_eq!(said(&interval(1, 0, 12_500_000_000)), Ok(()));
    assert_eq!(said(&interval(1, 0, 12_500_000_001)), Err(Rejection::Bytes));
    assert_eq!(said(&interval(0, 0, u64::MAX)), Err(Rejection::Bytes));
    assert_eq!(said(&interval(1, 50, 1)), Err(Rejection::Time));
    assert_eq!(
        said(&interval(1, i64::MAX / 100_000_000 * 100, 1)),
        Err(Rejection::Time)
    );

    assert_eq!(said(&event(0, 8 * second as u64, 10)), Ok(()));
    assert_eq!(said(&event(i64::MIN, 0, 0)), Err(Rejection::Time));
    assert_eq!(said(&event(0, u64::MAX, 0)), Err(Rejection::Time));
}

/// Number of rows that are admitted by `elapsed`.
fn admitted(elapsed: Duration, row: impl Fn(u64) -> Row) -> u64 {
    let mut allowance = allowance();
    let count = (0..1_000_000)
        .take_while(|number| allowance.admit(&row(*number), elapsed).is_ok())
        .count();
    assert_eq!(allowance.rejected().total(), 1);
    count as u64
}

#[test]
fn admission_follows_the_plan() {
    let calls = |elapsed| admitted(elapsed, |number| Row::Operation(call(number, 0)));
    // 100 at any time, and two for each 131.072 ms so far and of the 10 s that clocks may differ by: 76, 183.
    assert_eq!(calls(Duration::ZERO), 100 + 2 * 76);
    assert_eq!(calls(WHOLE), 100 + 2 * 183);
    // After the end of the run, more elapsed time admits no more rows.
    assert_eq!(calls(Duration::from_secs(86_400)), 100 + 2 * 183);
    // 240 tenths of a second are 24 s.
    assert_eq!(admitted(WHOLE, |_| interval(0, 0, 0)), 100 + 2 * 240);
    // Up to 8 connections are open, and 10 closing ones are sampled: 18 a second, times two.
    assert_eq!(admitted(WHOLE, |_| look(1)), 100 + 2 * 8 + 2 * 18 * 24);
    // Two workloads, the probe, and the station itself: 10 events a second each.
    assert_eq!(admitted(WHOLE, |_| event(0, 0, 0)), 100 + 4 * 240);
    // 64 KiB, and 4 KiB a second: 40 texts of 4 KiB.
    assert_eq!(admitted(WHOLE, |_| event(0, 0, 4096)), 16 + 24);
}

#[test]
fn the_maximum_of_a_whole_run_follows_the_plan() {
    let most = allowance().most();
    // The call, the download of 1 GiB (8.59 ms at 1 Tbit/s), and the probe every 50 ms: 14 s and 10 s.
    assert_eq!(most.operations, 300 + 2 * (183 + 2793 + 480));
    assert_eq!((most.intervals, most.links), (300 + 3 * 480, 100 + 2 * 24));
    assert_eq!((most.events, most.text), (100 + 4 * 240, (64 << 10) + (4 << 10) * 24));
}

#[test]
fn a_server_reports_only_connection_samples() {
    let mut allowance = Allowance::for_server(&plan());
    let mut foreign = look(1);
    if let Row::Connection(row) = &mut foreign {
        (row.station, row.workload) = (u16::MAX, u16::MAX);
    }
    for other in [interval(0, 0, 1), Row::Operation(call(0, 0))] {
        assert_eq!(allowance.admit(&other, WHOLE), Err(Rejection::Workload));
    }
    // 16,384 connections, sampled once a second, times two: as a burst, and after 10 s of clock
    // difference.
    let looks = (0..)
        .take_while(|_| allowance.admit(&foreign, Duration::ZERO).is_ok())
        .count();
    assert_eq!(looks, 32_768 * 11);
}

#[test]
fn a_download_has_the_rate_of_the_fastest_link() {
    let mut allowance = allowance();
    let mut moved = 0_u64;
    for tenth in 0..1000 {
        let row = interval(1, tenth % 100 * 100, 12_500_000_000);
        moved += u64::from(allowance.admit(&row, Duration::from_secs(1)).is_ok());
    }
    // 1 s, the 10 s by which clocks may differ, and the current tenth of a second.
    assert_eq!(moved, 111);
}

#[test]
fn rejected_rows_do_not_reduce_the_allowance_and_are_counted_by_reason() {
    let mut allowance = allowance();
    for _ in 0..1000 {
        assert_eq!(allowance.admit(&interval(0, 0, u64::MAX), WHOLE), Err(Rejection::Bytes));
    }
    assert_eq!(allowance.admit(&event(i64::MIN, 0, 0), WHOLE), Err(Rejection::Time));
    assert_eq!(allowance.admit(&interval(0, 0, 1), WHOLE), Ok(()));
    assert_eq!(allowance.rejected().total(), 1001);
    assert_eq!(
        allowance.rejected().to_string(),
        "1000 with more bytes than possible, 1 outside the run's time"
    );
}

/// Drives one workload over a network that responds after `took`. Returns the number of its rows
/// and of the rejected ones.
fn driven(config: Config, seed: u64, took: Duration) -> (u64, Rejected) {
    let mut plan = plan();
    plan.stations[0].workloads[0].config = config.clone();
    let mut allowance = Allowance::for_agent(&plan, &[0]);
    let (end, settled) = (Instant::ZERO + plan.duration, Instant::ZERO + plan.settled());
    let machine = Workload::new(config, Instant::ZERO, end, settled, Seed(seed), 0);
    let mut watched = crate::RecordedWorkload::new(0, 0, machine);
    let mut answers = BTreeMap::new();
    let mut rows = Vec::new();
    let mut count = 0;
    loop {
        let due = watched.machine().poll_timeout().map(|(at, _)| at);
        let answer = answers.keys().next().map(|(at, _): &(Instant, _)| *at);
        let Some(now) = due.into_iter().chain(answer).min() else {
            break;
        };
        watched.machine_mut().handle_timeout(now);
        while let Some(((_, id), size)) = answers
            .first_entry()
            .filter(|next| next.key().0 <= now)
            .map(|next| next.remove_entry())
        {
            watched.handle_bytes(now, id, netburn_workload::Direction::Down, size, &mut rows);
            watched.machine_mut().handle_finished(now, id);
        }
        while let Some(action) = watched.machine_mut().poll_action() {
            match action {
                Action::Begin(request) => {
                    answers.insert((now + took, request.id), request.size.as_bytes());
                }
                Action::Cancel(id) => answers.retain(|(_, other), _| *other != id),
                Action::Send { .. } | Action::SendOneWay { .. } => {}
            }
        }
        watched.interval_ended(now, &mut rows);
        watched.take_rows(&mut rows);
        let elapsed = plan.baseline + now.checked_since(Instant::ZERO).unwrap_or_default();
        for row in rows.drain(..) {
            count += 1;
            let _ = allowance.admit(&row, elapsed);
        }
    }
    watched.finish(&mut rows);
    for row in &rows {
        count += 1;
        let _ = allowance.admit(row, WHOLE);
    }
    (count, allowance.rejected().clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// For every period, size and network, the rows of a correct driver are within the limits.
    #[test]
    fn a_correct_driver_is_within_its_limits(
        kind in 0_usize..4,
        every_us in prop_oneof![200_u64..5_000, 5_000_u64..2_000_000],
        size in 1_u64..2_000_000,
        took_us in prop_oneof![20_u64..2_000, 2_000_u64..3_000_000],
        outstanding in 1_u32..20,
        seed in any::<u64>(),
    ) {
        let requests = Requests::kept(ByteSize::from_bytes(size));
        let grid = Grid::regular(Duration::from_micros(every_us));
        let config = match kind {
            0 => Config::from(Periodic { requests, grid, outstanding }),
            1 => Config::from(Pages { requests, grid }),
            2 => Config::from(Stream { requests, grid, player: None }),
            _ => Config::with(|bulk: &mut Bulk| bulk.requests = requests),
        };
        // On a link of at most 1 Tbit/s.
        let took = Duration::from_micros(took_us);
        let (count, rejected) = driven(config, seed, took);
        prop_assert!(count > 0);
        prop_assert_eq!(rejected.to_string(), "", "of {}", count);
    }
}
