//! What the hardware holds below the transmit queue, per access category.

use crate::aggregation::Aggregate;
use crate::config::HardwareQueue;
use crate::packet::Queued;
use crate::queue::Tin;
use crate::queue::tins::Tins;
use netburn_units::Duration;
use std::collections::VecDeque;

/// Aggregates that are ready, and, for hardware that takes single packets, the packets that it will put together itself.
#[derive(Debug)]
pub(super) struct Hardware<P> {
    limit: HardwareQueue,
    /// It puts aggregates together itself, from packets handed to it one by one.
    by_packet: bool,
    ready: VecDeque<Aggregate<P>>,
    store: Store<P>,
    /// MPDUs of the aggregate that is on the air.
    on_air: usize,
}

/// Packets in the order of arrival. An aggregate is for the first one's tin and takes further packets of that tin.
#[derive(Debug)]
struct Store<P> {
    lists: Tins<List<P>>,
    order: VecDeque<Tin>,
    packets: u32,
}

#[derive(Debug)]
struct List<P> {
    /// Each with the airtime that the queue was told the hardware had been given with it.
    packets: VecDeque<(Queued<P>, Duration)>,
    /// Places in the order whose packets have gone already with an earlier one's aggregate.
    gone: u32,
}

/// Packets that count as an aggregate where hardware that holds so many aggregates is given packets.
const PER_AGGREGATE: u32 = 64;

impl<P> Store<P> {
    fn airtime(&self) -> Duration {
        let lists = self.lists.values().flat_map(|list| &list.packets);
        lists.map(|(_, airtime)| *airtime).sum()
    }
}

impl<P> Hardware<P> {
    /// `by_packet`: packets come to it one by one, whatever kind it is.
    pub(super) fn new(limit: HardwareQueue, by_packet: bool) -> Self {
        Hardware {
            limit,
            by_packet: by_packet || matches!(limit, HardwareQueue::Frames(_) | HardwareQueue::Unlimited),
            ready: VecDeque::new(),
            store: Store {
                lists: Tins::default(),
                order: VecDeque::new(),
                packets: 0,
            },
            on_air: 0,
        }
    }

    /// Whether it puts aggregates together itself, from packets handed to it one by one.
    pub(super) fn takes_packets(&self) -> bool {
        self.by_packet
    }

    /// Whether it takes more, where so many `packets` with so much `airtime` are to come already.
    pub(super) fn has_room(&self, packets: u32, airtime: Duration) -> bool {
        let packets = self.store.packets + packets;
        match self.limit {
            HardwareQueue::Aggregates(most) if self.by_packet => packets < most.max(1) * PER_AGGREGATE,
            HardwareQueue::Time(most) if self.by_packet => packets == 0 || self.store.airtime() + airtime < most,
            HardwareQueue::Aggregates(most) => self.ready.len() + usize::from(self.on_air > 0) < most.max(1) as usize,
            HardwareQueue::Time(most) => {
                let held: Duration = self.ready.iter().map(|aggregate| aggregate.duration).sum();
                self.ready.is_empty() && self.on_air == 0 || held < most
            }
            HardwareQueue::Frames(most) => {
                let ready: usize = self.ready.iter().map(|aggregate| aggregate.mpdus.len()).sum();
                packets as usize + ready + self.on_air < most.max(1) as usize
            }
            HardwareQueue::Unlimited => true,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.store.packets == 0
    }

    /// Packets that it holds and that no aggregate does.
    pub(super) fn packets(&self) -> usize {
        let ready = self.ready.iter().flat_map(|aggregate| &aggregate.mpdus);
        let ready: usize = ready.map(|m| usize::from(m.packet.is_some()) + m.more.len()).sum();
        ready + self.store.packets as usize
    }

    pub(super) fn push(&mut self, aggregate: Aggregate<P>) {
        self.ready.push_back(aggregate);
    }

    /// An aggregate that failed and is tried again before all others.
    pub(super) fn push_again(&mut self, aggregate: Aggregate<P>) {
        self.ready.push_front(aggregate);
    }

    pub(super) fn push_packet(&mut self, tin: Tin, packet: Queued<P>, handed: Duration) {
        let list = self.store.lists.entry(tin, || List {
            packets: VecDeque::new(),
            gone: 0,
        });
        list.packets.push_back((packet, handed));
        self.store.order.push_back(tin);
        self.store.packets += 1;
    }

    /// The aggregate whose turn it is.
    pub(super) fn pop(&mut self) -> Option<Aggregate<P>> {
        self.ready.pop_front()
    }

    /// An aggregate of so many MPDUs is on the air; of none, no one is.
    pub(super) fn set_on_air(&mut self, mpdus: usize) {
        self.on_air = mpdus;
    }

    /// The tin of the packet whose turn it is.
    pub(super) fn first_tin(&mut self) -> Option<Tin> {
        while let Some(tin) = self.store.order.front().copied() {
            let list = self.store.lists.get_mut(tin).expect("a place in the order has a list");
            if list.gone == 0 {
                return Some(tin);
            }
            list.gone -= 1;
            self.store.order.pop_front();
        }
        None
    }

    /// The next packet of that tin, if it has no more than `most` bytes, and what it was handed over with.
    pub(super) fn pop_packet(&mut self, tin: Tin, most: u32) -> Option<(Queued<P>, Duration)> {
        let list = self.store.lists.get_mut(tin)?;
        list.packets
            .front()
            .filter(|(queued, _)| queued.packet.length <= most)?;
        let packet = list.packets.pop_front()?;
        list.gone += 1;
        self.store.packets -= 1;
        Some(packet)
    }
}
