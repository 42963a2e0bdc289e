//! Content by station: what a run's server moved for each.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What was moved for each station so far, in bytes.
#[derive(Debug, Default)]
pub(crate) struct StationBytes(Vec<Counts>);

/// Content sent and taken.
#[derive(Debug, Default)]
struct Counts {
    down: AtomicU64,
    up: AtomicU64,
}

impl StationBytes {
    /// For stations 0 to `stations` − 1.
    pub(crate) fn new(stations: usize) -> StationBytes {
        StationBytes((0..stations).map(|_| Counts::default()).collect())
    }

    /// So much was sent for the station that a request names, if it is one.
    pub(crate) fn down(&self, station: Option<u16>, bytes: u64) {
        if let Some(counts) = self.of(station) {
            counts.down.fetch_add(bytes, Relaxed);
        }
    }

    /// So much was taken.
    pub(crate) fn up(&self, station: Option<u16>, bytes: u64) {
        if let Some(counts) = self.of(station) {
            counts.up.fetch_add(bytes, Relaxed);
        }
    }

    /// Bytes sent and taken, by station.
    pub(crate) fn moved(&self) -> Vec<(u64, u64)> {
        let moved = self.0.iter();
        moved
            .map(|counts| (counts.down.load(Relaxed), counts.up.load(Relaxed)))
            .collect()
    }

    fn of(&self, station: Option<u16>) -> Option<&Counts> {
        self.0.get(usize::from(station?))
    }
}
