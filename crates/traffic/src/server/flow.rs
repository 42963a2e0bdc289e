//! Turns of one transfer on the rate-limited links.

use super::stats::Stats;
use super::timer_queue::TimerQueue;
use crate::pace::VirtualLink;
use netburn_platform::Monotonic;
use netburn_units::{ByteSize, Duration, Instant};
use std::sync::{Arc, Mutex, PoisonError};

/// A rate-limited link that several threads share.
pub(crate) type SharedLink = Arc<Mutex<VirtualLink>>;

/// Links that one direction of a connection passes, and its turns on them. Empty without rate limits.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    links: Vec<SharedLink>,
    timer_queue: TimerQueue,
    stats: Arc<Stats>,
    /// Bytes that may be sent now.
    granted: u64,
    /// Time of the last turn, unless the transfer was delayed by something else since.
    due: Option<Instant>,
    /// Total time spent waiting for turns.
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

    /// Returns whether there is a rate limit.
    pub(crate) fn is_capped(&self) -> bool {
        !self.links.is_empty()
    }

    /// Returns the total time spent waiting for turns.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// The transfer starts, or was delayed by something other than the rate limit: its next piece is ready from now on.
    pub(crate) fn interrupt(&mut self) {
        self.due = None;
    }

    /// Waits until part of `want` bytes may be sent. Returns how many.
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

    /// Records that granted bytes were sent.
    pub(crate) fn spend(&mut self, bytes: u64) {
        self.granted = self.granted.saturating_sub(bytes);
    }

    /// Waits until received bytes would have passed the links.
    pub(crate) async fn pay(&mut self, mut bytes: u64) {
        while self.is_capped() && bytes > 0 {
            let size = self.piece().min(bytes);
            let (due, begun) = self.turn(size).await;
            // Data that arrives after its turn was delayed by the sender or the network.
            self.acted(due.max(begun));
            bytes -= size;
        }
    }

    /// Returns the maximum number of bytes to move at once: a piece of the slowest link, or `uncapped`.
    pub(crate) fn at_most(&self, uncapped: u64) -> u64 {
        if self.is_capped() { self.piece() } else { uncapped }
    }

    fn piece(&self) -> u64 {
        let piece = |link: &SharedLink| lock(link).piece().as_bytes();
        self.links.iter().map(piece).min().unwrap_or(u64::MAX)
    }

    /// Waits for the turn of a piece. Returns its time, and the start of the wait.
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

    /// Records the lateness of an action that was due at `due`.
    fn acted(&self, due: Instant) {
        self.stats
            .lateness
            .record(clock().checked_since(due).unwrap_or(Duration::ZERO));
    }
}

/// Returns the time of the monotonic clock as an `Instant`.
pub(crate) fn clock() -> Instant {
    Instant::from_nanos(Monotonic::now().as_nanos())
}

fn lock(link: &SharedLink) -> std::sync::MutexGuard<'_, VirtualLink> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}
