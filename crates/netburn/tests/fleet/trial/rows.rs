//! Checks whether a record has all expected operations.

use super::{LOAD_MS, two_stations};
use netburn_record::{Row, Run};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The time between two operations of a station.
pub(super) const EVERY: Duration = Duration::from_millis(20);
/// Two stations that fetch a small object every [`EVERY`], on any environment.
pub(super) fn calls() -> String {
    let every = EVERY.as_millis();
    let workloads = format!(
        r#"[workload.often]
kind = "calls"
object_size = "1 KiB"
interval = "{every} ms"
goal = "500 ms"
"#
    );
    let often = r#"workload = "often""#;
    two_stations(50, often, &format!("agent = \"beta\"\n{often}"), &workloads)
}

/// The operations of one station of [`calls`] by their sequence numbers: due time and end, in ns of the run.
#[derive(Default)]
pub(super) struct Operations(BTreeMap<u64, (i64, i64)>);

/// The operations in a record, by station.
#[track_caller]
pub(super) fn operations(folder: &Path) -> [Operations; 2] {
    let mut found = [Operations::default(), Operations::default()];
    let run = Run::open(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    run.rows(&mut |row| {
        if let Row::Operation(row) = row
            && row.workload == 0
        {
            let (due, end) = (row.operation.due, row.operation.finished.unwrap_or(row.operation.due));
            let before = found[usize::from(row.station)]
                .0
                .insert(row.operation.sequence, (due.as_nanos(), end.as_nanos()));
            assert!(before.is_none(), "two rows of one operation: {row:?}");
        }
    })
    .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    found
}

impl Operations {
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The last operation and the events of the record, for the message of a failed test.
    pub(super) fn describe(&self, folder: &Path) -> String {
        let (mut bytes, mut events) = (None, Vec::new());
        let run = Run::open(folder).unwrap();
        let _ = run.rows(&mut |row| match row {
            Row::Interval(row) => bytes = bytes.max(Some(row.at.as_nanos())),
            Row::Event(row) => events.push(format!("{} ns: {}", row.at.as_nanos(), row.detail.text())),
            _ => {}
        });
        format!(
            "{} operations, the last {:?}, the last bytes at {bytes:?} ns, {events:#?}",
            self.count(),
            self.0.iter().next_back()
        )
    }

    /// The age of the oldest operation that had ended at `until` (in ns of the run) and is missing.
    ///
    /// Operations fall due on a grid, so the due time of a missing one follows from its neighbours. Its assumed latency
    /// is the largest of the existing ones.
    pub(super) fn oldest_lost(&self, until: i64) -> Duration {
        let every = EVERY.as_nanos() as i64;
        let lasted = self.0.values().map(|(due, end)| end - due).max().unwrap_or(0);
        // The first is due at some instant of the first period.
        let begin = self
            .0
            .iter()
            .next()
            .map_or(every, |(sequence, (due, _))| due - *sequence as i64 * every);
        let missing = (0..).find(|sequence| !self.0.contains_key(sequence)).unwrap();
        let due = begin + missing as i64 * every;
        if due < LOAD_MS as i64 * 1_000_000 {
            Duration::from_nanos((until - due - lasted).max(0) as u64)
        } else {
            Duration::ZERO
        }
    }

    /// Checks that each operation of the load exists.
    #[track_caller]
    pub(super) fn expect_all(&self, what: &str) {
        let end = LOAD_MS as i64 * 1_000_000;
        let lost = self.oldest_lost(i64::MAX / 2);
        assert!(
            self.count() > 0 && lost.is_zero(),
            "{what}: of {} operations the first missing one is at {:?} before the end",
            self.count(),
            lost.checked_sub(Duration::from_nanos((i64::MAX / 2 - end) as u64))
        );
    }
}
