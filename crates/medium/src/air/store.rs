//! Packets in the hardware that belong to no aggregate yet.

use crate::packet::Queued;
use crate::queue::StationTid;
use crate::queue::tins::Tins;
use netburn_units::Duration;
use std::collections::VecDeque;

/// Packets by tin. With an order, an aggregate starts with the packet that arrived first and takes
/// further packets of its tin.
#[derive(Debug)]
pub(super) struct Store<P> {
    lists: Tins<List<P>>,
    /// Order of arrival; `None` if another order decides which tin is the next.
    order: Option<VecDeque<StationTid>>,
    packets: u32,
    airtime: Duration,
}

#[derive(Debug)]
struct List<P> {
    /// Each packet with its estimated airtime reported to the queue.
    packets: VecDeque<(Queued<P>, Duration)>,
    /// Positions in the order whose packets were sent already with an earlier one's aggregate.
    gone: u32,
}

/// Packets of one tin in a [`Store`].
#[derive(Debug)]
pub(super) struct TinStore<'a, P> {
    tin: StationTid,
    list: &'a mut List<P>,
    order: &'a mut Option<VecDeque<StationTid>>,
    packets: &'a mut u32,
    airtime: &'a mut Duration,
}

impl<P> TinStore<'_, P> {
    /// Adds a packet at the end.
    #[inline]
    pub(super) fn push(&mut self, packet: Queued<P>, estimated_airtime: Duration) {
        self.list.packets.push_back((packet, estimated_airtime));
        if let Some(order) = self.order {
            order.push_back(self.tin);
        }
        *self.packets += 1;
        *self.airtime += estimated_airtime;
    }

    /// Next packet with at most `most` bytes, and its estimated airtime.
    #[inline]
    pub(super) fn pop(&mut self, most: u32) -> Option<(Queued<P>, Duration)> {
        let packets = &mut self.list.packets;
        packets.front().filter(|(queued, _)| queued.packet.length <= most)?;
        let (queued, airtime) = packets.pop_front()?;
        self.list.gone += u32::from(self.order.is_some());
        *self.packets -= 1;
        *self.airtime = *self.airtime - airtime;
        Some((queued, airtime))
    }
}

impl<P> Store<P> {
    pub(super) fn new(in_order: bool) -> Self {
        Store {
            lists: Tins::default(),
            order: in_order.then(VecDeque::new),
            packets: 0,
            airtime: Duration::ZERO,
        }
    }

    pub(super) fn packets(&self) -> u32 {
        self.packets
    }

    /// Estimated airtime of all packets.
    pub(super) fn airtime(&self) -> Duration {
        self.airtime
    }

    /// Number of packets of a tin.
    pub(super) fn count(&self, tin: StationTid) -> u64 {
        self.lists.get(tin).map_or(0, |list| list.packets.len() as u64)
    }

    /// Packets of a tin.
    pub(super) fn packets_of(&self, tin: StationTid) -> impl Iterator<Item = &Queued<P>> {
        let list = self.lists.get(tin).into_iter();
        list.flat_map(|list| list.packets.iter().map(|(packet, _)| packet))
    }

    /// Part of a tin.
    pub(super) fn of_tin(&mut self, tin: StationTid) -> TinStore<'_, P> {
        let list = self.lists.entry(tin, || List {
            packets: VecDeque::new(),
            gone: 0,
        });
        TinStore {
            tin,
            list,
            order: &mut self.order,
            packets: &mut self.packets,
            airtime: &mut self.airtime,
        }
    }

    /// Removes the packets of a tin.
    pub(super) fn take_all(&mut self, tin: StationTid) -> Vec<(Queued<P>, Duration)> {
        let mut list = self.of_tin(tin);
        std::iter::from_fn(|| list.pop(u32::MAX)).collect()
    }

    /// Tin of the packet that arrived first; `None` without an order.
    pub(super) fn first_tin(&mut self) -> Option<StationTid> {
        let order = self.order.as_mut()?;
        while let Some(tin) = order.front().copied() {
            let list = self.lists.get_mut(tin).expect("a place in the order has a list");
            if list.gone == 0 {
                return Some(tin);
            }
            list.gone -= 1;
            order.pop_front();
        }
        None
    }
}
