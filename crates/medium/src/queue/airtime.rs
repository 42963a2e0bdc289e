//! fq-mac scheduled by airtime (Linux 4.11, `ieee80211_next_txq`). Each station has a deficit of
//! airtime sent and received. Stations that just became active are served first. Airtime queue
//! limits came with Linux 5.5.

use super::codel::CodelParameters;
use super::config::{Mount, QueueConfig};
use super::fq::FqParameters;
use super::fq_mac::FqMac;
use super::{Drops, Place, Properties, Readiness, Sharing, StationTid, TransmitQueue, Unsent};
use crate::config::{Aql, QueueLimit};
use crate::edca::AccessCategory;
use crate::packet::{NodeId, Queued};
use netburn_units::{Duration, Instant};

/// The limit is that of `include/net/fq_impl.h`.
pub(super) const PROPERTIES: Properties = Properties {
    name: "airtime",
    summary: "as `fq-mac`, scheduled by airtime",
    default_limit: QueueLimit::Packets(8192),
    places: &[Place::Radio],
    sharing: Sharing::StationFlow,
    marks_ecn: true,
    has_station_codel: true,
    shares_airtime: true,
};

pub(super) fn build<P: std::fmt::Debug + Send + 'static, M: Mount<P>>(
    config: &QueueConfig,
    mount: M,
) -> Option<M::Mounted> {
    let parameters = config.bounded(FqParameters::MAC80211);
    let mut queue = Airtime::new(parameters, config.codel(false), config.aql);
    config.set_stations(&mut queue);
    mount.stations(queue)
}

/// Default weight of a station: microseconds of airtime added to a deficit in each round
/// (`IEEE80211_DEFAULT_AIRTIME_WEIGHT`).
pub const DEFAULT_WEIGHT: u32 = 256;

impl Account {
    /// Nanoseconds added to a deficit in each round.
    const fn turn(&self) -> i64 {
        self.weight as i64 * 1_000
    }

    fn deficit(&mut self, category: AccessCategory) -> &mut i64 {
        let turn = self.turn();
        self.deficits[category.index()].get_or_insert(turn)
    }
}

/// Airtime fairness.
#[derive(Debug)]
pub struct Airtime<P> {
    queue: FqMac<P>,
    aql: Option<Aql>,
    /// By station.
    accounts: Vec<Account>,
    pending_total: Duration,
}

/// Airtime of a station.
#[derive(Debug, Clone)]
struct Account {
    weight: u32,
    /// By category, in nanoseconds; `None` before its first use.
    deficits: [Option<i64>; 4],
    /// Airtime in the hardware, by category.
    pending: [Duration; 4],
}

impl Default for Account {
    fn default() -> Self {
        Account {
            weight: DEFAULT_WEIGHT,
            deficits: [None; 4],
            pending: [Duration::ZERO; 4],
        }
    }
}

impl<P> Airtime<P> {
    /// Creates the queue. `aql`: airtime queue limits; `None`: the hardware's own limit.
    #[must_use]
    pub fn new(parameters: FqParameters, codel: CodelParameters, aql: Option<Aql>) -> Self {
        Airtime {
            queue: FqMac::new(parameters, codel),
            aql,
            accounts: Vec::new(),
            pending_total: Duration::ZERO,
        }
    }

    /// Sets a station's weight, 1 to 65 535: its airtime share is proportional to it.
    pub fn set_weight(&mut self, station: NodeId, weight: u32) {
        self.account_mut(station).weight = weight.max(1);
    }

    /// Sets the CoDel parameters of one station's tin.
    pub fn set_codel(&mut self, tin: StationTid, codel: CodelParameters) {
        self.queue.set_codel(tin, codel);
    }

    /// Airtime in the hardware for a station, and for all.
    #[must_use]
    pub fn pending(&self, station: NodeId, category: AccessCategory) -> (Duration, Duration) {
        let account = self.accounts.get(station.index());
        let own = account.map_or(Duration::ZERO, |account| account.pending[category.index()]);
        (own, self.pending_total)
    }

    /// Returns true if the limits permit the station's queue to pass more to the hardware
    /// (`ieee80211_txq_airtime_check`).
    fn below_limit(&self, tin: StationTid) -> bool {
        let Some(aql) = &self.aql else { return true };
        let (own, total) = self.pending(tin.to, tin.category());
        own < aql.low || (total < aql.total && own < aql.high)
    }

    #[inline]
    fn account_mut(&mut self, station: NodeId) -> &mut Account {
        let index = station.index();
        if self.accounts.len() <= index {
            self.accounts.resize(index + 1, Account::default());
        }
        &mut self.accounts[index]
    }
}

impl<P: std::fmt::Debug + Send> TransmitQueue<P> for Airtime<P> {
    fn enqueue(&mut self, _now: Instant, packet: Queued<P>, drops: &mut Drops<P>) {
        let tin = self.queue.put(packet, drops);
        // In front: it moves to the end only after its deficit is used up.
        self.queue.turns[tin.category().index()].join_first(tin);
    }

    fn next(
        &mut self,
        _now: Instant,
        category: AccessCategory,
        may: &mut dyn FnMut(StationTid) -> Readiness,
    ) -> Option<StationTid> {
        let mut passed_over = 0;
        loop {
            let tin = self.queue.turns[category.index()].first()?;
            if !self.queue.has_backlog(tin) {
                self.queue.turns[category.index()].leave();
                continue;
            }
            let readiness = if self.below_limit(tin) {
                may(tin)
            } else {
                Readiness::Later
            };
            // Airtime in the hardware is charged after the transmission (Linux since 2022).
            let account = self.account_mut(tin.to);
            let pending = account.pending[category.index()].as_nanos() as i64;
            let spent = *account.deficit(category) < pending;
            if spent {
                *account.deficit(category) += account.turn();
            }
            if !spent {
                match readiness {
                    Readiness::Now => return Some(tin),
                    // Another station at its position would exceed its weight's share of the air.
                    Readiness::Soon => return None,
                    Readiness::Later => {}
                }
            }
            // After one round without a ready station, at any deficit, there is none.
            passed_over = if readiness == Readiness::Later {
                passed_over + 1
            } else {
                0
            };
            let turns = &mut self.queue.turns[category.index()];
            turns.pass();
            if passed_over >= turns.len() {
                return None;
            }
        }
    }

    fn dequeue(&mut self, now: Instant, tin: StationTid, drops: &mut Drops<P>) -> Option<Queued<P>> {
        self.queue.dequeue(now, tin, drops)
    }

    fn is_idle(&self, tin: StationTid) -> bool {
        self.queue.is_idle(tin)
    }

    fn set_weight(&mut self, station: NodeId, weight: u32) {
        Airtime::set_weight(self, station, weight);
    }

    fn set_codel(&mut self, tin: StationTid, codel: CodelParameters) {
        Airtime::set_codel(self, tin, codel);
    }

    fn clear(&mut self, drops: &mut Drops<P>) {
        self.queue.clear(drops);
    }

    fn set_unsent(&mut self, _now: Instant, tin: StationTid, unsent: Unsent) {
        *self.queue.unsent.entry(tin, || false) = unsent.is_some();
        if unsent.is_some() {
            self.queue.turns[tin.category().index()].join_first(tin);
        }
    }

    fn may_push(&self, tin: StationTid) -> bool {
        self.below_limit(tin)
    }

    fn on_pushed_to_hw(&mut self, tin: StationTid, airtime: Duration) {
        self.account_mut(tin.to).pending[tin.category().index()] += airtime;
        self.pending_total += airtime;
    }

    fn on_completed(&mut self, tin: StationTid, airtime: Duration) {
        let pending = &mut self.account_mut(tin.to).pending[tin.category().index()];
        let airtime = airtime.min(*pending);
        *pending = *pending - airtime;
        self.pending_total = self.pending_total - airtime;
    }

    fn charge_airtime(&mut self, tin: StationTid, airtime: Duration) {
        *self.account_mut(tin.to).deficit(tin.category()) -= airtime.as_nanos() as i64;
    }

    fn packets(&self) -> usize {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}
