//! Hardware queue below the transmit queue, per access category.

use super::store::{Store, TinStore};
use crate::aggregation::{Aggregate, Framing, Mpdu, mpdu};
use crate::config::{Composition, HardwareQueue};
use crate::packet::{MANAGEMENT, NodeId, Queued};
use crate::queue::StationTid;
use netburn_units::Duration;
use std::collections::VecDeque;

/// Aggregates that are ready, places of aggregates that the radio composes at the TXOP, and the
/// packets in the hardware that belong to no aggregate yet.
///
/// - The driver composes: all is in `ready`.
/// - The radio composes, and the limit counts aggregates or time: an aggregate has a place, and
///   takes the packets of its tin.
/// - The hardware accepts single packets, for other limits or over a bus: the packets have an order
///   of their own. Retransmissions have a place, ahead of them, or are in `ready`.
#[derive(Debug)]
pub(super) struct Hardware<P> {
    limit: HardwareQueue,
    composition: Composition,
    /// True if it accepts single packets.
    by_packet: bool,
    ready: VecDeque<Addressed<P>>,
    /// Few: each is an aggregate.
    places: Vec<Place>,
    store: Store<P>,
    /// MPDUs of the aggregates on the air.
    on_air: usize,
}

/// An aggregate with its receiver.
#[derive(Debug)]
pub(super) struct Addressed<P> {
    pub(super) to: Receiver,
    pub(super) aggregate: Aggregate<P>,
}

/// Receiver of an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Receiver {
    Station(StationTid),
    /// All nodes that have a link from the sender.
    Group,
}

/// Place of an aggregate that the radio will compose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) tin: StationTid,
    /// Consecutive transmissions of data or RTS without a response.
    pub(super) failures: u32,
    /// Airtime reported to the queue for MPDUs that were sent without a response.
    pub(super) estimated_airtime: Duration,
    /// MPDUs of its tin for retransmission when the place was taken.
    pub(super) mpdus: usize,
    /// Packets in the hardware that it will take.
    pub(super) fill: Fill,
    /// True after a packet that did not fit.
    pub(super) full: bool,
    /// True for the rest of an aggregate that did not fit into a TXOP: it takes no more packets.
    pub(super) closed: bool,
}

impl Place {
    /// Place of the rest of an aggregate: `packets` packets of `tin`.
    pub(super) fn of_rest(tin: StationTid, packets: u64) -> Self {
        Place {
            tin,
            failures: 0,
            estimated_airtime: Duration::ZERO,
            mpdus: 0,
            fill: Fill {
                packets,
                ..Fill::default()
            },
            full: true,
            closed: true,
        }
    }
}

/// Packets of a place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fill {
    pub(super) packets: u64,
    /// Bytes of the packets.
    pub(super) bytes: u64,
    /// Bytes of an A-MPDU with a packet in each MPDU.
    pub(super) psdu: u64,
}

impl Fill {
    pub(super) fn add(&mut self, length: u32, framing: &Framing) {
        self.packets += 1;
        self.bytes += u64::from(length);
        self.psdu += mpdu::in_aggregate(framing.mpdu(length));
    }
}

/// Capacity of an aggregate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Capacity {
    /// Number of MPDUs.
    pub(super) mpdus: u64,
    /// Bytes of its PSDU.
    pub(super) bytes: u64,
    /// Maximum A-MSDU in bytes; 0 disables A-MSDU.
    pub(super) amsdu: u32,
    pub(super) framing: Framing,
}

impl Capacity {
    /// Returns true if a packet fits beside the packets of a place and the MPDUs and bytes that wait ahead of them. The
    /// first packet may exceed the limits.
    #[inline]
    pub(super) fn fits(&self, fill: &Fill, (waiting, waiting_bytes): (u64, u64), length: u32) -> bool {
        let (mpdus, bytes) = self.content_with(fill, length);
        waiting + fill.packets == 0 || waiting + mpdus <= self.mpdus && waiting_bytes + bytes <= self.bytes
    }

    /// Number of MPDUs of the packets of a place and of one more, and their bytes in an aggregate; approximate with A-MSDU.
    #[inline]
    fn content_with(&self, fill: &Fill, length: u32) -> (u64, u64) {
        let packets = fill.packets + 1;
        if self.amsdu == 0 {
            let last = mpdu::last_in_aggregate(self.framing.mpdu(length));
            return (packets, fill.psdu + last);
        }
        let subframe = u64::from(Framing::subframe(0)).next_multiple_of(4);
        let subframes = fill.bytes + u64::from(length) + packets * subframe;
        let in_each = (u64::from(self.amsdu) * packets / subframes).max(1);
        let mpdus = packets.div_ceil(in_each);
        (mpdus, subframes + mpdus * mpdu::in_aggregate(self.framing.mpdu(0)))
    }
}

/// Packets that count as one aggregate if hardware limited in aggregates accepts packets.
const PER_AGGREGATE: u32 = 64;

impl<P> Hardware<P> {
    /// `by_packet`: it accepts single packets, for every kind of limit.
    pub(super) fn new(limit: HardwareQueue, composition: Composition, by_packet: bool) -> Self {
        let by_packet = by_packet || matches!(limit, HardwareQueue::Frames(_) | HardwareQueue::Unlimited);
        Hardware {
            limit,
            composition,
            by_packet,
            ready: VecDeque::new(),
            places: Vec::new(),
            store: Store::new(by_packet),
            on_air: 0,
        }
    }

    /// Returns true if it accepts single packets, and builds aggregates from them.
    pub(super) fn takes_packets(&self) -> bool {
        self.by_packet
    }

    /// Returns true if the radio composes aggregates, retransmissions included, at the TXOP.
    pub(super) fn composes(&self) -> bool {
        self.composition == Composition::Txop
    }

    /// Returns true if it has room for more, with `packets` of `airtime` already on their way.
    pub(super) fn has_room(&self, packets: u32, airtime: Duration) -> bool {
        let aggregates = self.ready.len() + self.places.len() + usize::from(self.on_air > 0);
        if let HardwareQueue::Aggregates(most) = self.limit
            && !self.by_packet
        {
            return aggregates < most.max(1) as usize;
        }
        let packets = self.store.packets() + packets;
        let airtime = self.store.airtime() + airtime;
        match self.limit {
            HardwareQueue::Aggregates(most) => packets < most.max(1) * PER_AGGREGATE,
            HardwareQueue::Time(most) if self.by_packet => packets == 0 || airtime < most,
            HardwareQueue::Time(most) => {
                let ready: Duration = self.ready.iter().map(|ready| ready.aggregate.duration).sum();
                aggregates == 0 || ready + airtime < most
            }
            HardwareQueue::Frames(most) => {
                let ready: usize = self.ready.iter().map(|ready| ready.aggregate.mpdus.len()).sum();
                let again: usize = self.places.iter().map(|place| place.mpdus).sum();
                packets as usize + ready + again + self.on_air < most.max(1) as usize
            }
            HardwareQueue::Unlimited => true,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.places.is_empty() && self.store.packets() == 0
    }

    /// Packets outside of aggregates on the air, without retransmissions that have a place.
    pub(super) fn packets(&self) -> usize {
        let ready = self.ready.iter().flat_map(|ready| &ready.aggregate.mpdus);
        ready.map(Mpdu::packets).sum::<usize>() + self.store.packets() as usize
    }

    pub(super) fn push(&mut self, to: Receiver, aggregate: Aggregate<P>) {
        self.ready.push_back(Addressed { to, aggregate });
    }

    /// Adds a failed aggregate in front, for a retry.
    pub(super) fn push_again(&mut self, to: Receiver, aggregate: Aggregate<P>) {
        self.ready.push_front(Addressed { to, aggregate });
    }

    pub(super) fn push_packet(&mut self, tin: StationTid, packet: Queued<P>, estimated_airtime: Duration) {
        self.store.of_tin(tin).push(packet, estimated_airtime);
    }

    /// Adds a place at the end, for an aggregate of `tin` with `mpdus` retransmissions.
    pub(super) fn add_place(&mut self, tin: StationTid, mpdus: usize) {
        self.places.push(Place {
            tin,
            failures: 0,
            estimated_airtime: Duration::ZERO,
            mpdus,
            fill: Fill::default(),
            full: false,
            closed: false,
        });
    }

    /// Last place of a tin, and true if it is the tin's only one.
    #[inline]
    pub(super) fn last_place(&self, tin: StationTid) -> Option<(&Place, bool)> {
        let (last, is_only) = self.find_last_place(tin)?;
        Some((&self.places[last], is_only))
    }

    /// Index of the last place of a tin, and true if it is the tin's only one.
    #[inline]
    fn find_last_place(&self, tin: StationTid) -> Option<(usize, bool)> {
        let last = self.places.iter().rposition(|place| place.tin == tin)?;
        let is_only = !self.places[..last].iter().any(|place| place.tin == tin);
        Some((last, is_only))
    }

    /// Last place of a tin if it isn't full, true if it is the tin's only one, and the tin's packets that belong to no
    /// aggregate.
    #[inline]
    pub(super) fn open_place(&mut self, tin: StationTid) -> Option<(&mut Place, bool, TinStore<'_, P>)> {
        let (last, is_only) = self.find_last_place(tin)?;
        let place = Some(&mut self.places[last]).filter(|place| !place.full)?;
        Some((place, is_only, self.store.of_tin(tin)))
    }

    /// Places of a tin, in order, and the packets of the tin that belong to no aggregate.
    pub(super) fn of_tin(
        &mut self,
        tin: StationTid,
    ) -> (impl Iterator<Item = &mut Place>, impl Iterator<Item = &Queued<P>>) {
        let places = self.places.iter_mut().filter(move |place| place.tin == tin);
        (places, self.store.packets_of(tin))
    }

    /// Removes the place at the end.
    pub(super) fn drop_last_place(&mut self) {
        self.places.pop();
    }

    /// Puts a place in front, for a retry.
    pub(super) fn put_place_first(&mut self, place: Place) {
        self.places.insert(0, place);
    }

    /// Place of the next aggregate.
    pub(super) fn pop_place(&mut self) -> Option<Place> {
        (!self.places.is_empty()).then(|| self.places.remove(0))
    }

    /// Tin of a place, counted from the front.
    pub(super) fn tin_of_place(&self, index: usize) -> Option<StationTid> {
        self.places.get(index).map(|place| place.tin)
    }

    /// Number of places of a tin.
    pub(super) fn places_of(&self, tin: StationTid) -> u64 {
        self.places.iter().filter(|place| place.tin == tin).count() as u64
    }

    /// Number of packets of a tin that belong to no aggregate.
    pub(super) fn packets_of(&self, tin: StationTid) -> u64 {
        self.store.count(tin)
    }

    /// Removes the ready aggregates of data for `to`.
    pub(super) fn retract(&mut self, to: NodeId) -> Vec<(StationTid, Aggregate<P>)> {
        let (mut gone, mut kept) = (Vec::new(), VecDeque::new());
        for ready in self.ready.drain(..) {
            match ready.to {
                Receiver::Station(tin) if tin.to == to && tin.tid != MANAGEMENT => gone.push((tin, ready.aggregate)),
                _ => kept.push_back(ready),
            }
        }
        self.ready = kept;
        gone
    }

    /// Removes the places of aggregates for `to`.
    pub(super) fn retract_places(&mut self, to: NodeId) -> Vec<Place> {
        self.places.extract_if(.., |place| place.tin.to == to).collect()
    }

    /// Removes the packets of a tin, with the estimated airtime of each.
    pub(super) fn take_packets_of(&mut self, tin: StationTid) -> Vec<(Queued<P>, Duration)> {
        self.store.take_all(tin)
    }

    /// Next aggregate that is ready.
    pub(super) fn pop(&mut self) -> Option<Addressed<P>> {
        self.ready.pop_front()
    }

    /// Sets the number of MPDUs of the aggregates on the air; 0: none.
    pub(super) fn set_on_air(&mut self, mpdus: usize) {
        self.on_air = mpdus;
    }

    /// Tin of the first packet, if it accepts single packets.
    pub(super) fn first_tin(&mut self) -> Option<StationTid> {
        self.store.first_tin()
    }

    /// The packets of a tin that belong to no aggregate.
    pub(super) fn store_of(&mut self, tin: StationTid) -> TinStore<'_, P> {
        self.store.of_tin(tin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Ecn, NodeId, Packet};
    use netburn_units::Instant;

    fn tin(to: u16) -> StationTid {
        StationTid { to: NodeId(to), tid: 0 }
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
            let mut hardware = Hardware::new(limit, Composition::Driver, true);
            assert!(hardware.takes_packets() && hardware.is_empty());
            assert_eq!(taken(&mut hardware), most, "{limit:?}");
            assert_eq!(hardware.packets(), most as usize);
            assert!(!hardware.is_empty());
        }
        // Packets on their way count.
        let frames = Hardware::<u32>::new(HardwareQueue::Frames(8), Composition::Driver, true);
        assert!(frames.has_room(7, ms(9)) && !frames.has_room(8, Duration::ZERO));
        let aggregates = Hardware::<u32>::new(HardwareQueue::Aggregates(1), Composition::Driver, true);
        assert!(aggregates.has_room(63, ms(9)) && !aggregates.has_room(64, Duration::ZERO));
        let time = Hardware::<u32>::new(HardwareQueue::Time(ms(5)), Composition::Driver, true);
        assert!(time.has_room(1, Duration::from_micros(4_999)) && !time.has_room(1, ms(5)));
        // Frames on the air count as well.
        let mut frames = Hardware::new(HardwareQueue::Frames(8), Composition::Driver, true);
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
            let mut hardware = Hardware::<u32>::new(limit, Composition::Driver, false);
            assert!(!hardware.takes_packets());
            hardware.set_on_air(on_air);
            assert_eq!(hardware.has_room(0, Duration::ZERO), room, "{limit:?} {on_air}");
        }
    }

    /// First in, first out, except that an aggregate takes all packets of its tin, which leave
    /// their positions. A packet that doesn't fit stays.
    #[test]
    fn aggregated_packets_leave_their_positions() {
        let mut hardware = Hardware::new(HardwareQueue::Unlimited, Composition::Driver, true);
        for (number, to) in (0..).zip([1, 2, 1, 2, 1]) {
            hardware.push_packet(tin(to), packet(to, number), ms(1));
        }
        let mut pop = |to: u16, most: u32| {
            let first = hardware.first_tin();
            let popped = hardware.store_of(tin(to)).pop(most);
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
