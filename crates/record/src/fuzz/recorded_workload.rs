//! Inputs of a recorded workload, decoded from bytes.

use crate::recorded_workload::RecordedWorkload;
use crate::row::{EventKind, Row};
use netburn_units::{Duration, Instant, Seed};
use netburn_workload::config::BIN;
use netburn_workload::{Action, Config, Direction, Failure, RequestId, Workload};

/// Maximum time of one step. It limits the number of timeouts of the machine to a few hundred.
const STEP: Duration = Duration::from_millis(4);

/// Reads bytes as inputs of a recorded workload: elapsed time, transferred bytes, finished objects,
/// taken rows. The first byte selects the workload.
///
/// # Panics
/// When the rows concern another workload, account for other bytes, or are repeated or out of
/// order.
pub fn check_watched(bytes: &[u8]) {
    let [which, steps @ ..] = bytes else { return };
    let config = [
        Config::browsing(),
        Config::stream_4k(),
        Config::voip(),
        Config::upload(),
    ][usize::from(which % 4)]
    .clone();
    let direction = match which % 4 {
        3 => Direction::Up,
        _ => Direction::Down,
    };
    let (start, end, settle) = (Instant::from_secs(-1), Instant::from_secs(9), Instant::from_secs(10));
    let mut watched = RecordedWorkload::new(
        7,
        2,
        Workload::new(config, start, end, settle, Seed((*which).into()), 0),
    );
    let (mut now, mut open, mut rows) = (start, Vec::new(), Vec::new());
    let (mut moved, mut shown) = (0, 0);
    for pair in steps.chunks(2) {
        let (step, size) = (pair[0], pair.get(1).copied().unwrap_or(0));
        let id = match open.len() {
            0 => RequestId {
                operation: u64::from(size),
                object: 0,
            },
            count => open[usize::from(size) % count],
        };
        match step {
            0..=99 => now += STEP * u64::from(size),
            100..=159 => {
                let bytes = u64::from(size) << (step % 16);
                watched.handle_bytes(now, id, direction, bytes, &mut rows);
                moved += bytes;
            }
            160..=199 => {
                watched.machine_mut().handle_finished(now, id);
                open.retain(|other| *other != id);
            }
            200..=209 => {
                watched.machine_mut().handle_failed(now, id, Failure::Connection);
                open.retain(|other| *other != id);
            }
            210..=229 => watched.interval_ended(now, &mut rows),
            230..=239 => watched.take_rows_with(&mut rows, |_| shown += 1),
            240..=253 => watched.handle_bytes(now, id, direction, 0, &mut rows),
            _ => watched.machine_mut().handle_stop(now),
        }
        while watched.machine().poll_timeout().is_some_and(|(at, _)| at <= now) {
            watched.machine_mut().handle_timeout(now);
        }
        while let Some(action) = watched.machine_mut().poll_action() {
            match action {
                Action::Begin(request) => open.push(request.id),
                Action::Cancel(id) => open.retain(|other| *other != id),
                _ => {}
            }
        }
    }
    watched.take_rows_with(&mut rows, |_| shown += 1);
    watched.finish(&mut rows);
    assert_eq!(
        watched.machine().poll_timeout().is_none(),
        watched.machine().is_settled()
    );
    check_rows(&rows, direction, moved, shown);
    let before = rows.len();
    watched.finish(&mut rows);
    assert_eq!(rows.len(), before, "no row is repeated");
}

/// Compares rows with the operations of the workload.
fn check_rows(rows: &[Row], direction: Direction, moved: u64, shown: usize) {
    let (mut counted, mut wrong_way, mut operations, mut startups) = (0, 0, 0, 0);
    let mut last = None;
    for row in rows {
        let of = match row {
            Row::Operation(row) => {
                operations += 1;
                (Some(row.station), Some(row.workload))
            }
            Row::Interval(row) => {
                let (one, other) = match direction {
                    Direction::Down => (row.bytes_down, row.bytes_up),
                    Direction::Up => (row.bytes_up, row.bytes_down),
                };
                counted += one;
                wrong_way += other;
                assert_eq!(row.at.as_nanos().rem_euclid(BIN.as_nanos() as i64), 0, "{row:?}");
                assert!(last.replace(row.at).is_none_or(|last| last < row.at), "{row:?}");
                (Some(row.station), Some(row.workload))
            }
            Row::Event(row) => {
                startups += u32::from(row.kind == EventKind::Startup);
                assert!(matches!(row.kind, EventKind::Startup | EventKind::Stall), "{row:?}");
                (row.station, row.workload)
            }
            Row::Connection(_) | Row::Link(_) | Row::Air(_) | Row::Observed(_) => {
                panic!("no row of a workload's: {row:?}")
            }
        };
        assert_eq!(of, (Some(7), Some(2)));
    }
    assert_eq!((counted, wrong_way), (moved, 0), "bytes");
    assert_eq!(operations, shown, "operations");
    assert!(startups <= 1, "a player starts up once");
}
