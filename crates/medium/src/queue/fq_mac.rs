//! mac80211's FQ-CoDel per station and TID (Linux 4.9), round robin, one aggregate per turn.

use super::codel::CodelParameters;
use super::config::{Mount, QueueConfig};
use super::fq::{Fq, FqParameters};
use super::round_robin::RoundRobin;
use super::tins::Tins;
use super::{Drops, Place, Properties, Readiness, Sharing, StationTid, TransmitQueue, Unsent};
use crate::config::QueueLimit;
use crate::edca::AccessCategory;
use crate::packet::Queued;
use netburn_units::{Duration, Instant};

/// The limit is that of `include/net/fq_impl.h`.
pub(super) const PROPERTIES: Properties = Properties {
    name: "fq-mac",
    summary: "FQ-CoDel per station and traffic identifier, as in mac80211",
    default_limit: QueueLimit::Packets(8192),
    places: &[Place::Radio],
    sharing: Sharing::StationFlow,
    marks_ecn: true,
    has_station_codel: true,
    shares_airtime: false,
};

pub(super) fn build<P: std::fmt::Debug + Send + 'static, M: Mount<P>>(
    config: &QueueConfig,
    mount: M,
) -> Option<M::Mounted> {
    let mut queue = FqMac::new(config.bounded(FqParameters::MAC80211), config.codel(false));
    config.set_stations(&mut queue);
    mount.stations(queue)
}

/// FQ-CoDel per station: a set of flows shared by all tins, and a round-robin order.
#[derive(Debug)]
pub struct FqMac<P> {
    pub(super) fq: Fq<P>,
    pub(super) codel: CodelParameters,
    pub(super) turns: [RoundRobin; 4],
    /// For each tin: true if packets wait ahead of the queue.
    pub(super) unsent: Tins<bool>,
}

impl<P> FqMac<P> {
    /// Creates the queue.
    #[must_use]
    pub fn new(parameters: FqParameters, codel: CodelParameters) -> Self {
        FqMac {
            fq: Fq::new(parameters),
            codel,
            turns: Default::default(),
            unsent: Tins::default(),
        }
    }

    /// Sets the CoDel parameters of one station's tin: the exception for slow stations in Linux
    /// from 2016 to 2025 ([`CodelParameters::MAC80211_SLOW`]).
    pub fn set_codel(&mut self, tin: StationTid, codel: CodelParameters) {
        self.fq.set_codel(tin, codel);
    }

    pub(super) fn has_backlog(&self, tin: StationTid) -> bool {
        self.fq.tin_packets(tin) > 0 || self.unsent.get(tin) == Some(&true)
    }

    pub(super) fn put(&mut self, packet: Queued<P>, drops: &mut Drops<P>) -> StationTid {
        let tin = StationTid {
            to: packet.to,
            tid: packet.packet.tid,
        };
        self.fq.enqueue(tin, self.codel, packet, drops);
        tin
    }
}

impl<P: std::fmt::Debug + Send> TransmitQueue<P> for FqMac<P> {
    fn enqueue(&mut self, _now: Instant, packet: Queued<P>, drops: &mut Drops<P>) {
        let tin = self.put(packet, drops);
        self.turns[tin.category().index()].join_last(tin);
    }

    fn next(
        &mut self,
        _now: Instant,
        category: AccessCategory,
        may: &mut dyn FnMut(StationTid) -> Readiness,
    ) -> Option<StationTid> {
        for _ in 0..self.turns[category.index()].len() {
            let tin = self.turns[category.index()].first()?;
            let backlog = self.has_backlog(tin);
            let turns = &mut self.turns[category.index()];
            if !backlog {
                turns.leave();
                continue;
            }
            turns.pass();
            if may(tin) == Readiness::Now {
                return Some(tin);
            }
        }
        None
    }

    fn dequeue(&mut self, now: Instant, tin: StationTid, drops: &mut Drops<P>) -> Option<Queued<P>> {
        self.fq.dequeue(now, tin, drops)
    }

    fn is_idle(&self, tin: StationTid) -> bool {
        self.fq.is_idle(tin)
    }

    fn set_codel(&mut self, tin: StationTid, codel: CodelParameters) {
        FqMac::set_codel(self, tin, codel);
    }

    fn clear(&mut self, drops: &mut Drops<P>) {
        self.fq.clear(drops);
    }

    fn set_unsent(&mut self, _now: Instant, tin: StationTid, unsent: Unsent) {
        *self.unsent.entry(tin, || false) = unsent.is_some();
        if unsent.is_some() {
            self.turns[tin.category().index()].join_last(tin);
        }
    }

    fn charge_airtime(&mut self, _tin: StationTid, _airtime: Duration) {}

    fn packets(&self) -> usize {
        self.fq.packets()
    }

    fn bytes(&self) -> u64 {
        self.fq.bytes()
    }
}
