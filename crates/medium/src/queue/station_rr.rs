//! A queue per station and TID, round robin, one aggregate per turn.

use super::config::{Mount, QueueConfig};
use super::round_robin::RoundRobin;
use super::tins::Tins;
use super::{Drops, Place, Properties, Readiness, Sharing, StationTid, TransmitQueue, Unsent};
use crate::config::QueueLimit;
use crate::edca::AccessCategory;
use crate::packet::{DropReason, Queued};
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

/// The limit is Linux's `txqueuelen`.
pub(super) const PROPERTIES: Properties = Properties {
    name: "station-rr",
    summary: "one queue per station, served round robin",
    default_limit: QueueLimit::Packets(1000),
    places: &[Place::Radio],
    sharing: Sharing::Station,
    marks_ecn: false,
    has_station_codel: false,
    shares_airtime: false,
};

pub(super) fn build<P: std::fmt::Debug + Send + 'static, M: Mount<P>>(
    config: &QueueConfig,
    mount: M,
) -> Option<M::Mounted> {
    mount.stations(StationRr::new(config.limit))
}

/// Round robin. The limit applies to each tin's queue, with tail drop.
#[derive(Debug)]
pub struct StationRr<P> {
    limit: QueueLimit,
    tins: Tins<State<P>>,
    turns: [RoundRobin; 4],
    packets: usize,
    bytes: u64,
}

#[derive(Debug)]
struct State<P> {
    packets: VecDeque<Queued<P>>,
    bytes: u64,
    /// True if packets wait ahead of the queue.
    unsent: bool,
}

impl<P> StationRr<P> {
    /// Creates an empty set of queues with this limit each.
    #[must_use]
    pub fn new(limit: QueueLimit) -> Self {
        StationRr {
            limit,
            tins: Tins::default(),
            turns: Default::default(),
            packets: 0,
            bytes: 0,
        }
    }

    fn state(&mut self, tin: StationTid) -> &mut State<P> {
        self.tins.entry(tin, || State {
            packets: VecDeque::new(),
            bytes: 0,
            unsent: false,
        })
    }
}

impl<P: std::fmt::Debug + Send> TransmitQueue<P> for StationRr<P> {
    fn enqueue(&mut self, _now: Instant, packet: Queued<P>, drops: &mut Drops<P>) {
        let tin = StationTid {
            to: packet.to,
            tid: packet.packet.tid,
        };
        let limit = self.limit;
        let length = u64::from(packet.packet.length);
        let state = self.state(tin);
        let room = match limit {
            QueueLimit::Packets(most) => state.packets.len() < most as usize,
            QueueLimit::Bytes(most) => state.bytes + length <= most.as_bytes(),
        };
        if !room {
            drops.push((packet, DropReason::QueueFull));
            return;
        }
        state.packets.push_back(packet);
        state.bytes += length;
        self.packets += 1;
        self.bytes += length;
        self.turns[tin.category().index()].join_last(tin);
    }

    fn next(
        &mut self,
        _now: Instant,
        category: AccessCategory,
        may: &mut dyn FnMut(StationTid) -> Readiness,
    ) -> Option<StationTid> {
        let turns = &mut self.turns[category.index()];
        for _ in 0..turns.len() {
            let tin = turns.first()?;
            let state = self.tins.get(tin)?;
            if state.packets.is_empty() && !state.unsent {
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

    fn dequeue(&mut self, _now: Instant, tin: StationTid, _drops: &mut Drops<P>) -> Option<Queued<P>> {
        let state = self.tins.get_mut(tin)?;
        let packet = state.packets.pop_front()?;
        let length = u64::from(packet.packet.length);
        state.bytes -= length;
        self.packets -= 1;
        self.bytes -= length;
        Some(packet)
    }

    fn is_idle(&self, tin: StationTid) -> bool {
        self.tins.get(tin).is_none_or(|state| state.packets.is_empty())
    }

    fn clear(&mut self, drops: &mut Drops<P>) {
        let waiting = self.tins.in_order().flat_map(|state| state.packets.drain(..));
        drops.extend(waiting.map(|packet| (packet, DropReason::QueueReplaced)));
        (self.packets, self.bytes) = (0, 0);
    }

    fn set_unsent(&mut self, _now: Instant, tin: StationTid, unsent: Unsent) {
        self.state(tin).unsent = unsent.is_some();
        if unsent.is_some() {
            self.turns[tin.category().index()].join_last(tin);
        }
    }

    fn charge_airtime(&mut self, _tin: StationTid, _airtime: Duration) {}

    fn packets(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
