//! One transfer's turns on the capped links.

use super::stats::Stats;
use super::timer_queue::TimerQueue;
use crate::pace::VirtualLink;
use netburn_linux::Monotonic;
use netburn_units::{ByteSize, Duration, Instant};
use std::sync::{Arc, Mutex, PoisonError};

/// A capped link that several threads share.
pub(crate) type SharedLink = Arc<Mutex<VirtualLink>>;

/// The links that one connection sends (or is sent) through, none when nothing is capped, and its turns on them.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    links: Vec<SharedLink>,
    timer_queue: TimerQueue,
    stats: Arc<Stats>,
    /// Bytes whose turn has come.
    granted: u64,
    /// When the last turn came, as long as nothing else has held the transfer up since.
    due: Option<Instant>,
    /// All the time spent waiting for turns.
    waited: Duration,
}

impl Flow {
    pub(crate) fn new(links: Vec<SharedLink>, timer_queue: TimerQueue, stats: Arc<Stats>) -> Self {
        Self {
            links,
            timer_queue,
            stats,
            granted: 0,
            due: None,
            waited: Duration::ZERO,
        }
    }

    /// Whether there is a cap at all.
    pub(crate) fn is_capped(&self) -> bool {
        !self.links.is_empty()
    }

    /// All the time spent waiting for turns.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// The transfer begins, or something else than the cap held it up: its next piece is ready from now on.
    pub(crate) fn interrupt(&mut self) {
        self.due = None;
    }

    /// Waits until some of `want` bytes may go, and says how many.
    pub(crate) async fn grant(&mut self, want: u64) -> u64 {
        if self.links.is_empty() || want == 0 {
            return want;
        }
        if self.granted == 0 {
            let size = self.piece().min(want);
            let (due, _) = self.turn(size).await;
            self.acted(due);
            self.granted = size;
        }
        self.granted.min(want)
    }

    /// `bytes` of what was granted have gone.
    pub(crate) fn spend(&mut self, bytes: u64) {
        self.granted = self.granted.saturating_sub(bytes);
    }

    /// Waits until `bytes` that have come already would have come through the links.
    pub(crate) async fn pay(&mut self, mut bytes: u64) {
        while self.is_capped() && bytes > 0 {
            let size = self.piece().min(bytes);
            let (due, begun) = self.turn(size).await;
            // What comes after its turn is its sender's delay, and the network's.
            self.acted(due.max(begun));
            bytes -= size;
        }
    }

    /// The most to move at a time: a piece of the slowest link, or `uncapped`.
    pub(crate) fn at_most(&self, uncapped: u64) -> u64 {
        if self.is_capped() { self.piece() } else { uncapped }
    }

    fn piece(&self) -> u64 {
        let piece = |link: &SharedLink| lock(link).piece().as_bytes();
        self.links.iter().map(piece).min().unwrap_or(u64::MAX)
    }

    /// Waits for the turn of a piece. Returns when it was, and since when it was waited for.
    async fn turn(&mut self, size: u64) -> (Instant, Instant) {
        let begun = clock();
        let mut ready = self.due.map_or(begun, |due| VirtualLink::ready_since(due, begun));
        for link in &self.links {
            let due = lock(link).reserve(ready, ByteSize::from_bytes(size));
            self.timer_queue.until(Monotonic::from_nanos(due.as_nanos())).await;
            ready = due;
        }
        self.waited += clock().checked_since(begun).unwrap_or(Duration::ZERO);
        self.due = Some(ready);
        (ready, begun)
    }

    /// What was to be done at `due` is done.
    fn acted(&self, due: Instant) {
        self.stats
            .lateness
            .record(clock().checked_since(due).unwrap_or(Duration::ZERO));
    }
}

/// The monotonic clock as the pace counts.
pub(crate) fn clock() -> Instant {
    Instant::from_nanos(Monotonic::now().as_nanos())
}

fn lock(link: &SharedLink) -> std::sync::MutexGuard<'_, VirtualLink> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}
