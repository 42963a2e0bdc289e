//! Bytes of content by station, counted by a run's server.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes of content moved for each station.
#[derive(Debug, Default)]
pub(crate) struct StationBytes(Vec<Counts>);

/// Bytes sent and received.
#[derive(Debug, Default)]
struct Counts {
    down: AtomicU64,
    up: AtomicU64,
}

impl StationBytes {
    /// Creates counters for the stations 0 to `stations` − 1.
    pub(crate) fn new(stations: usize) -> StationBytes {
        StationBytes((0..stations).map(|_| Counts::default()).collect())
    }

    /// Counts bytes sent to the station of a request, if it has one.
    pub(crate) fn down(&self, station: Option<u16>, bytes: u64) {
        if let Some(counts) = self.counts(station) {
            counts.down.fetch_add(bytes, Relaxed);
        }
    }

    /// Counts bytes received from it.
    pub(crate) fn up(&self, station: Option<u16>, bytes: u64) {
        if let Some(counts) = self.counts(station) {
            counts.up.fetch_add(bytes, Relaxed);
        }
    }

    /// Returns the bytes sent and received, by station.
    pub(crate) fn moved(&self) -> Vec<(u64, u64)> {
        let moved = self.0.iter();
        moved
            .map(|counts| (counts.down.load(Relaxed), counts.up.load(Relaxed)))
            .collect()
    }

    fn counts(&self, station: Option<u16>) -> Option<&Counts> {
        self.0.get(usize::from(station?))
    }
}
