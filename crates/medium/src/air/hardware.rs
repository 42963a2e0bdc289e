//! Hardware queue below the transmit queue, per access category.

use crate::aggregation::Aggregate;
use crate::config::HardwareQueue;
use crate::packet::{MANAGEMENT, NodeId, Queued};
use crate::queue::Tin;
use crate::queue::tins::Tins;
use netburn_units::Duration;
use std::collections::VecDeque;

/// Aggregates that are ready, and, for hardware that accepts single packets, the packets from which
/// it builds aggregates.
#[derive(Debug)]
pub(super) struct Hardware<P> {
    limit: HardwareQueue,
    /// True if it builds aggregates itself, from single packets.
    by_packet: bool,
    ready: VecDeque<Aggregate<P>>,
    store: Store<P>,
    /// MPDUs of the aggregate on the air.
    on_air: usize,
}

/// Packets in the order of arrival. An aggregate starts with the first packet and takes further
/// packets of its tin.
#[derive(Debug)]
struct Store<P> {
    lists: Tins<List<P>>,
    order: VecDeque<Tin>,
    packets: u32,
}

#[derive(Debug)]
struct List<P> {
    /// Each packet with its estimated airtime reported to the queue.
    packets: VecDeque<(Queued<P>, Duration)>,
    /// Positions in the order whose packets were sent already with an earlier one's aggregate.
    gone: u32,
}

/// Packets that count as one aggregate if hardware limited in aggregates accepts packets.
const PER_AGGREGATE: u32 = 64;

impl<P> Store<P> {
    fn airtime(&self) -> Duration {
        let lists = self.lists.values().flat_map(|list| &list.packets);
        lists.map(|(_, airtime)| *airtime).sum()
    }
}

impl<P> Hardware<P> {
    /// `by_packet`: it accepts single packets, for every kind of limit.
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

    /// Returns true if it builds aggregates itself, from single packets.
    pub(super) fn takes_packets(&self) -> bool {
        self.by_packet
    }

    /// Returns true if it has room for more, with `packets` of `airtime` already on their way.
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

    /// Packets outside of aggregates.
    pub(super) fn packets(&self) -> usize {
        let ready = self.ready.iter().flat_map(|aggregate| &aggregate.mpdus);
        let ready: usize = ready.map(|m| usize::from(m.packet.is_some()) + m.more.len()).sum();
        ready + self.store.packets as usize
    }

    pub(super) fn push(&mut self, aggregate: Aggregate<P>) {
        self.ready.push_back(aggregate);
    }

    /// Adds a failed aggregate in front, for a retry.
    pub(super) fn push_again(&mut self, aggregate: Aggregate<P>) {
        self.ready.push_front(aggregate);
    }

    pub(super) fn push_packet(&mut self, tin: Tin, packet: Queued<P>, estimated_airtime: Duration) {
        let list = self.store.lists.entry(tin, || List {
            packets: VecDeque::new(),
            gone: 0,
        });
        list.packets.push_back((packet, estimated_airtime));
        self.store.order.push_back(tin);
        self.store.packets += 1;
    }

    /// Removes the ready aggregates of data for `to`.
    pub(super) fn retract(&mut self, to: NodeId) -> Vec<Aggregate<P>> {
        let is_for = |aggregate: &Aggregate<P>| aggregate.tin.to == to && aggregate.tin.tid != MANAGEMENT;
        let (gone, ready) = self.ready.drain(..).partition(is_for);
        self.ready = ready;
        let gone: VecDeque<Aggregate<P>> = gone;
        gone.into()
    }

    /// Removes the packets for `to`, with the estimated airtime of each.
    pub(super) fn take_packets_for(&mut self, to: NodeId) -> Vec<(Tin, Queued<P>, Duration)> {
        let mut taken = Vec::new();
        for tid in 0..MANAGEMENT {
            let tin = Tin { to, tid };
            let Some(list) = self.store.lists.get_mut(tin) else {
                continue;
            };
            for (packet, airtime) in list.packets.drain(..) {
                taken.push((tin, packet, airtime));
                list.gone += 1;
                self.store.packets -= 1;
            }
        }
        taken
    }

    /// Next aggregate.
    pub(super) fn pop(&mut self) -> Option<Aggregate<P>> {
        self.ready.pop_front()
    }

    /// Sets the number of MPDUs of the aggregate on the air; 0: none.
    pub(super) fn set_on_air(&mut self, mpdus: usize) {
        self.on_air = mpdus;
    }

    /// Tin of the first packet.
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

    /// Next packet of that tin with at most `most` bytes, and its estimated airtime.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Ecn, NodeId, Packet};
    use netburn_units::Instant;

    fn tin(to: u16) -> Tin {
        Tin { to: NodeId(to), tid: 0 }
    }

    fn packet(to: u16, number: u32) -> Queued<u32> {
        Queued {
            to: NodeId(to),
            since: Instant::ZERO,
            arrival: 0,
            packet: Packet {
                length: 1_000 + number,
                flow: 0,
                tid: 0,
                ecn: Ecn::NotEct,
                payload: number,
            },
        }
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Queues packets with an estimated airtime of 1 ms each while there is room for one more, 1000
    /// at most.
    fn taken(hardware: &mut Hardware<u32>) -> u32 {
        (0..1_000)
            .find(|number| {
                let room = hardware.has_room(0, Duration::ZERO);
                if room {
                    hardware.push_packet(tin(1), packet(1, *number), ms(1));
                }
                !room
            })
            .unwrap_or(1_000)
    }

    /// Limits: a number of frames, including those on the air; 64 packets for each aggregate; an
    /// estimated airtime, but at least one packet; none.
    #[test]
    fn hardware_accepts_up_to_its_limit() {
        for (limit, most) in [
            (HardwareQueue::Frames(8), 8),
            (HardwareQueue::Frames(0), 1),
            (HardwareQueue::Aggregates(2), 128),
            (HardwareQueue::Aggregates(0), 64),
            (HardwareQueue::Time(ms(5)), 5),
            (HardwareQueue::Time(Duration::ZERO), 1),
            (HardwareQueue::Unlimited, 1_000),
        ] {
            let mut hardware = Hardware::new(limit, true);
            assert!(hardware.takes_packets() && hardware.is_empty());
            assert_eq!(taken(&mut hardware), most, "{limit:?}");
            assert_eq!(hardware.packets(), most as usize);
            assert!(!hardware.is_empty());
        }
        // Packets on their way count.
        let frames = Hardware::<u32>::new(HardwareQueue::Frames(8), true);
        assert!(frames.has_room(7, ms(9)) && !frames.has_room(8, Duration::ZERO));
        let aggregates = Hardware::<u32>::new(HardwareQueue::Aggregates(1), true);
        assert!(aggregates.has_room(63, ms(9)) && !aggregates.has_room(64, Duration::ZERO));
        let time = Hardware::<u32>::new(HardwareQueue::Time(ms(5)), true);
        assert!(time.has_room(1, Duration::from_micros(4_999)) && !time.has_room(1, ms(5)));
        // Frames on the air count as well.
        let mut frames = Hardware::new(HardwareQueue::Frames(8), true);
        frames.set_on_air(6);
        assert_eq!(taken(&mut frames), 2);
    }

    /// Aggregates that the driver builds: the one on the air counts.
    #[test]
    fn the_aggregate_on_the_air_is_one_of_them() {
        for (limit, on_air, room) in [
            (HardwareQueue::Aggregates(1), 0, true),
            (HardwareQueue::Aggregates(1), 5, false),
            (HardwareQueue::Aggregates(2), 5, true),
            (HardwareQueue::Time(ms(1)), 0, true),
            (HardwareQueue::Time(Duration::ZERO), 0, true),
            (HardwareQueue::Time(Duration::ZERO), 1, false),
            (HardwareQueue::Time(ms(1)), 1, true),
        ] {
            let mut hardware = Hardware::<u32>::new(limit, false);
            assert!(!hardware.takes_packets());
            hardware.set_on_air(on_air);
            assert_eq!(hardware.has_room(0, Duration::ZERO), room, "{limit:?} {on_air}");
        }
    }

    /// First in, first out, except that an aggregate takes all packets of its tin, which leave
    /// their positions. A packet that doesn't fit stays.
    #[test]
    fn aggregated_packets_leave_their_positions() {
        let mut hardware = Hardware::new(HardwareQueue::Unlimited, true);
        for (number, to) in (0..).zip([1, 2, 1, 2, 1]) {
            hardware.push_packet(tin(to), packet(to, number), ms(1));
        }
        let mut pop = |to: u16, most: u32| {
            let first = hardware.first_tin();
            let popped = hardware.pop_packet(tin(to), most);
            (
                first,
                popped.map(|(queued, _)| queued.packet.payload),
                hardware.packets(),
            )
        };
        assert_eq!(pop(1, 999), (Some(tin(1)), None, 5));
        assert_eq!(pop(1, 1_000), (Some(tin(1)), Some(0), 4));
        assert_eq!(pop(1, 2_000), (Some(tin(2)), Some(2), 3));
        assert_eq!(pop(2, 2_000), (Some(tin(2)), Some(1), 2));
        assert_eq!(pop(3, 2_000), (Some(tin(2)), None, 2));
        assert_eq!(pop(2, 2_000), (Some(tin(2)), Some(3), 1));
        assert_eq!(pop(1, 2_000), (Some(tin(1)), Some(4), 0));
        assert_eq!(hardware.first_tin(), None);
        assert!(hardware.is_empty());
    }
}
