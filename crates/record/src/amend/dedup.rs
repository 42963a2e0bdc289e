//! Detects rows of an agent that a record already holds.

use crate::row::{EventKind, Row, Side};
use std::collections::BTreeSet;

/// Keys of the rows of some stations.
#[derive(Debug)]
pub(super) struct SeenRows {
    stations: BTreeSet<u16>,
    keys: BTreeSet<Key>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// Station, workload, sequence.
    Operation(u16, u16, u64),
    /// Station, workload, start.
    Interval(u16, u16, i64),
    /// Station, workload, side, port, time.
    Connection(u16, u16, Side, u16, i64),
    /// Station, when.
    Link(u16, i64),
    /// Station, workload, when, length, kind, text.
    Event(u16, Option<u16>, i64, u64, EventKind, String),
}

impl SeenRows {
    pub(super) fn new(stations: &[u16]) -> SeenRows {
        SeenRows {
            stations: stations.iter().copied().collect(),
            keys: BTreeSet::new(),
        }
    }

    /// Notes a row. True: it was not known.
    pub(super) fn insert(&mut self, row: &Row) -> bool {
        self.key(row).is_some_and(|key| self.keys.insert(key))
    }

    fn key(&self, row: &Row) -> Option<Key> {
        let (station, key) = match row {
            Row::Operation(row) => (
                row.station,
                Key::Operation(row.station, row.workload, row.operation.sequence),
            ),
            Row::Interval(row) => (row.station, Key::Interval(row.station, row.workload, row.at.as_nanos())),
            Row::Connection(row) => {
                let key = Key::Connection(row.station, row.workload, row.side, row.port, row.at.as_nanos());
                (row.station, key)
            }
            Row::Link(row) => (row.station, Key::Link(row.station, row.at.as_nanos())),
            Row::Event(row) => {
                let station = row.station?;
                let key = Key::Event(
                    station,
                    row.workload,
                    row.at.as_nanos(),
                    row.length,
                    row.kind,
                    row.detail.text().into_owned(),
                );
                (station, key)
            }
            Row::Air(_) | Row::Observed(_) => return None,
        };
        self.stations.contains(&station).then_some(key)
    }
}
