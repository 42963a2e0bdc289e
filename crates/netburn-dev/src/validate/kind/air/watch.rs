//! Independent observation of the airtime that a queue passes to the hardware.

use netburn_medium::config::Aql;
use netburn_medium::edca::AccessCategory;
use netburn_medium::packet::{NodeId, Queued};
use netburn_medium::queue::{Drops, Readiness, StationTid, TransmitQueue, Unsent};
use netburn_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Shared observation, read at the end of the run.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch(Arc<Mutex<AqlObservation>>);

/// Observation of the airtime in the hardware.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AqlObservation {
    /// Maximum pending airtime of a station when it received more.
    pub(super) station: Duration,
    /// Number of violations of the limits.
    pub(super) beyond: u64,
}

/// A queue with observation.
#[derive(Debug)]
pub(super) struct Watched<Q> {
    queue: Q,
    aql: Aql,
    pending: BTreeMap<(NodeId, AccessCategory), Duration>,
    watch: Watch,
}

impl Watch {
    pub(super) fn seen(&self) -> AqlObservation {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q> Watched<Q> {
    pub(super) fn new(queue: Q, aql: Aql, watch: Watch) -> Self {
        Watched {
            queue,
            aql,
            pending: BTreeMap::new(),
            watch,
        }
    }
}

impl<P, Q: TransmitQueue<P>> TransmitQueue<P> for Watched<Q> {
    fn enqueue(&mut self, now: Instant, packet: Queued<P>, drops: &mut Drops<P>) {
        self.queue.enqueue(now, packet, drops);
    }

    fn next(
        &mut self,
        now: Instant,
        category: AccessCategory,
        may: &mut dyn FnMut(StationTid) -> Readiness,
    ) -> Option<StationTid> {
        self.queue.next(now, category, may)
    }

    fn dequeue(&mut self, now: Instant, tin: StationTid, drops: &mut Drops<P>) -> Option<Queued<P>> {
        self.queue.dequeue(now, tin, drops)
    }

    fn clear(&mut self, drops: &mut Drops<P>) {
        self.queue.clear(drops);
    }

    fn set_unsent(&mut self, now: Instant, tin: StationTid, unsent: Unsent) {
        self.queue.set_unsent(now, tin, unsent);
    }

    fn may_push(&self, tin: StationTid) -> bool {
        self.queue.may_push(tin)
    }

    fn on_pushed_to_hw(&mut self, tin: StationTid, airtime: Duration) {
        let total: Duration = self.pending.values().copied().sum();
        let own = self.pending.entry((tin.to, tin.category())).or_default();
        let mut seen = self.watch.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.station = seen.station.max(*own);
        let allowed = *own < self.aql.low || (total < self.aql.total && *own < self.aql.high);
        seen.beyond += u64::from(!allowed);
        *own += airtime;
        drop(seen);
        self.queue.on_pushed_to_hw(tin, airtime);
    }

    fn on_completed(&mut self, tin: StationTid, airtime: Duration) {
        if let Some(own) = self.pending.get_mut(&(tin.to, tin.category())) {
            *own = own.saturating_sub(airtime);
        }
        self.queue.on_completed(tin, airtime);
    }

    fn charge_airtime(&mut self, tin: StationTid, airtime: Duration) {
        self.queue.charge_airtime(tin, airtime);
    }

    fn packets(&self) -> usize {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}
