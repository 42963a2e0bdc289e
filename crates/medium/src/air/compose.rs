//! Packets from the transmit queue to the hardware, and composition of aggregates: by the driver
//! when they enter the hardware, or by the radio at the transmit opportunity.

use super::hardware::{Addressed, Fill, Place, Receiver};
use super::link::{Link, limits_in_txop};
use super::node::{Category, Crossing, Node};
use crate::aggregation::{Aggregate, Fit, Framing};
use crate::edca::AccessCategory;
use crate::queue::{Readiness, StationState, StationTid, Unsent};
use netburn_units::{Duration, Instant};

/// Origin of the packets of an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The transmit queue.
    Queue,
    /// The packets in the hardware.
    Hardware,
}

/// Transmissions without a response before this one, and the rest of a TXOP, if it has begun.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    failures: u32,
    left: Option<Duration>,
}

impl<P> Node<P> {
    /// Fills the category's hardware.
    pub(super) fn fill(&mut self, now: Instant, category: usize) {
        if self.away {
            return;
        }
        let hardware = &self.categories[category].hardware;
        match (hardware.takes_packets(), hardware.composes()) {
            (true, _) => self.fill_packets(now, category),
            (false, true) => self.fill_places(now, category),
            (false, false) => self.fill_aggregates(now, category),
        }
    }

    /// Fills hardware with aggregates that the driver composes.
    fn fill_aggregates(&mut self, now: Instant, category: usize) {
        let name = AccessCategory::ALL[category];
        let attempt = Attempt {
            failures: 0,
            left: None,
        };
        while self.categories[category].hardware.has_room(0, Duration::ZERO) {
            let (links, link_to) = (&self.links, &self.link_to);
            let mut may = |tin: StationTid| {
                let place = link_to.get(tin.to.index()).copied().flatten();
                place.map_or(Readiness::Later, |place| links[usize::from(place)].readiness(tin.tid))
            };
            let Some(tin) = self.queue.next(now, name, &mut may) else {
                break;
            };
            if let Some(aggregate) = self.build(now, category, tin, Origin::Queue, attempt) {
                let hardware = &mut self.categories[category].hardware;
                hardware.push(Receiver::Station(tin), aggregate);
            }
        }
    }

    /// Fills hardware whose radio composes aggregates: each has a place, which the transmit queue
    /// gives to a tin. It takes packets of this tin until it is full or sent.
    fn fill_places(&mut self, now: Instant, category: usize) {
        let name = AccessCategory::ALL[category];
        let mut index = 0;
        while let Some(tin) = self.categories[category].hardware.tin_of_place(index) {
            self.top_up(now, category, tin);
            index += 1;
        }
        while self.categories[category].hardware.has_room(0, Duration::ZERO) {
            let Node {
                links,
                link_to,
                queue,
                categories,
                framing,
                sifs,
                ..
            } = self;
            let slot = &categories[category];
            let mut may = |tin: StationTid| {
                let place = link_to.get(tin.to.index()).copied().flatten();
                let link = place.map(|place| &mut links[usize::from(place)]);
                // A tin whose last place isn't full has nothing more in the queue.
                let is_ready = link.is_some_and(|link| {
                    let is_awake = link.state == StationState::Awake;
                    is_awake && !slot.has_space(link, category, framing, *sifs, tin)
                });
                if is_ready { Readiness::Now } else { Readiness::Later }
            };
            let Some(tin) = queue.next(now, name, &mut may) else {
                break;
            };
            self.categories[category].hardware.add_place(tin, 0);
            self.assign(now, category, tin);
            self.top_up(now, category, tin);
            let hardware = &mut self.categories[category].hardware;
            let link = self.link_to.get(tin.to.index()).copied().flatten();
            let is_waiting = link.is_some_and(|link| self.links[usize::from(link)].is_waiting(tin.tid));
            if !is_waiting && hardware.packets_of(tin) == 0 {
                // CoDel dropped what the tin had.
                hardware.drop_last_place();
            }
        }
    }

    /// Reports to the queue what waits ahead of it for a tin: what no place will take.
    pub(super) fn set_unsent(&mut self, now: Instant, tin: StationTid) {
        let category = tin.category().index();
        let hardware = &self.categories[category].hardware;
        if !hardware.takes_packets() {
            if hardware.last_place(tin).is_some() {
                self.assign(now, category, tin);
                return;
            }
            if hardware.packets_of(tin) > 0 {
                self.return_packets(now, tin);
            }
        }
        if let Some(place) = self.place_of(tin.to) {
            let sender = &self.links[usize::from(place)].senders[usize::from(tin.tid)];
            self.queue.set_unsent(now, tin, sender.unsent());
        }
    }

    /// Assigns the packets of a tin in the hardware to its places, after the first one has what waits
    /// ahead of the queue. A packet that no place takes waits for the next place.
    fn assign(&mut self, now: Instant, category: usize, tin: StationTid) {
        let Some(link) = self.place_of(tin.to) else { return };
        let link = &mut self.links[usize::from(link)];
        let slot = &mut self.categories[category];
        let capacity = link.capacity(category, &self.framing, &slot.parameters, self.sifs);
        let mut waiting = link.senders[usize::from(tin.tid)].content(&capacity.framing);
        let (places, packets) = slot.hardware.of_tin(tin);
        let mut packets = packets.peekable();
        for place in places {
            let most = if place.closed { place.fill.packets } else { u64::MAX };
            (place.fill, place.full) = (Fill::default(), place.closed);
            while let Some(queued) = packets.peek().filter(|_| place.fill.packets < most) {
                let length = queued.packet.length;
                if !capacity.fits(&place.fill, waiting, length) {
                    place.full = true;
                    break;
                }
                place.fill.add(length, &capacity.framing);
                packets.next();
            }
            waiting = (0, 0);
        }
        let unsent = packets.peek().map_or(Unsent::Nothing, |queued| Unsent::LeftOver {
            arrival: queued.arrival,
        });
        self.queue.set_unsent(now, tin, unsent);
    }

    /// Moves packets from the transmit queue to the last place of a tin while it has space.
    fn top_up(&mut self, now: Instant, category: usize, tin: StationTid) {
        let Node {
            links,
            link_to,
            queue,
            drops,
            categories,
            framing,
            sifs,
            ..
        } = self;
        let Some(place_of_link) = link_to.get(tin.to.index()).copied().flatten() else {
            return;
        };
        let Category {
            hardware, parameters, ..
        } = &mut categories[category];
        let Some((place, is_only, mut list)) = hardware.open_place(tin) else {
            return;
        };
        if queue.is_idle(tin) {
            return;
        }
        let link = &mut links[usize::from(place_of_link)];
        // Neither the rate nor what waits ahead of the queue changes meanwhile.
        let capacity = link.capacity(category, framing, parameters, *sifs);
        let waiting = link.waiting_ahead(tin.tid, is_only, &capacity.framing);
        while !place.full && capacity.fits(&place.fill, waiting, 0) && queue.may_push(tin) {
            let Some(packet) = queue.dequeue(now, tin, drops) else {
                break;
            };
            let (length, arrival) = (packet.packet.length, packet.arrival);
            let estimate = link.estimate(length);
            queue.on_pushed_to_hw(tin, estimate);
            list.push(packet, estimate);
            if capacity.fits(&place.fill, waiting, length) {
                place.fill.add(length, &capacity.framing);
            } else {
                place.full = true;
                // It is the first packet of the tin's next place.
                queue.set_unsent(now, tin, Unsent::LeftOver { arrival });
            }
        }
    }

    /// Fills hardware that accepts single packets.
    fn fill_packets(&mut self, now: Instant, category: usize) {
        let name = AccessCategory::ALL[category];
        let busy = !self.bus.crossing.is_empty();
        // Packets and airtime that this call put on the bus.
        let (mut crossing, mut airtime) = (0, Duration::ZERO);
        while self.categories[category].hardware.has_room(crossing, airtime) {
            let (links, link_to) = (&self.links, &self.link_to);
            let hardware = &self.categories[category].hardware;
            let mut may = |tin: StationTid| {
                let Some(place) = link_to.get(tin.to.index()).copied().flatten() else {
                    return Readiness::Later;
                };
                let link = &links[usize::from(place)];
                if link.state != StationState::Awake {
                    return Readiness::Later;
                }
                match link.readiness(tin.tid) {
                    // The hardware keeps packets until the window has room; retransmissions wait
                    // for it here.
                    _ if !link.is_waiting(tin.tid) || hardware.places_of(tin) > 0 => Readiness::Now,
                    // The hardware must not become empty meanwhile.
                    Readiness::Soon => Readiness::Later,
                    readiness => readiness,
                }
            };
            let Some(tin) = self.queue.next(now, name, &mut may) else {
                break;
            };
            if self.pass_retransmissions(now, category, tin) {
                continue;
            }
            if busy || crossing >= self.bus.transfer {
                break;
            }
            let Some(packet) = self.queue.dequeue(now, tin, &mut self.drops) else {
                continue;
            };
            let length = packet.packet.length;
            let estimate = self.link(tin.to).map_or(Duration::ZERO, |link| link.estimate(length));
            self.queue.on_pushed_to_hw(tin, estimate);
            let packet = Crossing {
                tin,
                packet,
                airtime: estimate,
            };
            if let Some(Crossing { packet, .. }) = self.bus.send_up(now, category, packet) {
                self.categories[category].hardware.push_packet(tin, packet, estimate);
            } else {
                crossing += 1;
                airtime += estimate;
            }
        }
    }

    /// Passes what waits ahead of the queue for `tin` to hardware that accepts single packets: as a
    /// place, or as an aggregate of the driver. Returns false if nothing waits.
    fn pass_retransmissions(&mut self, now: Instant, category: usize, tin: StationTid) -> bool {
        let Some(place) = self.place_of(tin.to) else {
            return false;
        };
        let link = &self.links[usize::from(place)];
        if !link.is_waiting(tin.tid) {
            return false;
        }
        let (mpdus, _) = link.senders[usize::from(tin.tid)].content(&self.framing);
        let hardware = &mut self.categories[category].hardware;
        if hardware.places_of(tin) > 0 {
            // The place takes them too.
            self.queue.set_unsent(now, tin, Unsent::Nothing);
            return false;
        }
        if hardware.composes() {
            hardware.add_place(tin, mpdus as usize);
            self.queue.set_unsent(now, tin, Unsent::Nothing);
        } else {
            let attempt = Attempt {
                failures: 0,
                left: None,
            };
            if let Some(aggregate) = self.build(now, category, tin, Origin::Hardware, attempt) {
                let hardware = &mut self.categories[category].hardware;
                hardware.push(Receiver::Station(tin), aggregate);
            }
        }
        true
    }

    /// Next aggregate of the category. An aggregate that the radio composes only now is limited to
    /// the rest `left` of a TXOP, including its response, or isn't composed.
    pub(super) fn take(&mut self, now: Instant, category: usize, left: Option<Duration>) -> Option<Addressed<P>> {
        let hardware = &mut self.categories[category].hardware;
        if let Some(ready) = hardware.pop() {
            return Some(ready);
        }
        let by_packet = hardware.takes_packets();
        while let Some(place) = self.categories[category].hardware.pop_place() {
            let tin = place.tin;
            let attempt = Attempt {
                failures: place.failures,
                left,
            };
            let held = self.categories[category].hardware.packets_of(tin);
            let aggregate = self.build(now, category, tin, Origin::Hardware, attempt);
            let hardware = &mut self.categories[category].hardware;
            if let Some(mut aggregate) = aggregate {
                aggregate.failures = place.failures;
                aggregate.estimated_airtime += place.estimated_airtime;
                let rest = place.fill.packets.saturating_sub(held - hardware.packets_of(tin));
                if left.is_some() && rest > 0 && !by_packet {
                    // The rest of the place did not fit into this TXOP, and is sent next.
                    hardware.put_place_first(Place::of_rest(tin, rest));
                }
                self.set_unsent(now, tin);
                let to = Receiver::Station(tin);
                return Some(Addressed { to, aggregate });
            }
            let waits =
                self.link_to.get(tin.to.index()).copied().flatten().is_some_and(|link| {
                    self.links[usize::from(link)].is_waiting(tin.tid) || hardware.packets_of(tin) > 0
                });
            if waits {
                // It doesn't fit into the rest of the TXOP.
                hardware.put_place_first(place);
                return None;
            }
            self.queue.on_completed(tin, place.estimated_airtime);
        }
        let tin = self.categories[category].hardware.first_tin()?;
        let aggregate = self.build(now, category, tin, Origin::Hardware, Attempt { failures: 0, left })?;
        let to = Receiver::Station(tin);
        Some(Addressed { to, aggregate })
    }

    /// Composes an aggregate for a tin.
    fn build(
        &mut self,
        now: Instant,
        category: usize,
        tin: StationTid,
        origin: Origin,
        attempt: Attempt,
    ) -> Option<Aggregate<P>> {
        let spare = self.spare.pop().unwrap_or_default();
        let Node {
            links,
            link_to,
            queue,
            drops,
            categories,
            framing,
            sifs,
            ..
        } = self;
        let place = link_to.get(tin.to.index()).copied().flatten()?;
        let link = &mut links[usize::from(place)];
        let Category {
            hardware, parameters, ..
        } = &mut categories[category];
        let (sending, most) = match attempt.failures {
            0 => link.choose(now, 0),
            failures => (link.choose(now, failures).0, link.limits.frames),
        };
        let framing = link.framing(framing);
        let mut limits = limits_in_txop(&link.limits, &sending, parameters, *sifs);
        if let Some(left) = attempt.left {
            let response = if limits.ampdu { sending.block_ack } else { sending.ack };
            limits.time = limits.time.min(left.saturating_sub(response));
        }
        let mut estimated_airtime = Duration::ZERO;
        let sender = &mut link.senders[usize::from(tin.tid)];
        let mut held = (origin == Origin::Hardware).then(|| hardware.store_of(tin));
        let mut take = |most: u32| {
            let Some(held) = &mut held else {
                return queue.dequeue(now, tin, drops);
            };
            let (packet, estimate) = held.pop(most)?;
            estimated_airtime += estimate;
            Some(packet)
        };
        // What does not fit stays in the hardware, at its place in the order.
        let fit = match (origin, attempt.left) {
            (Origin::Queue, _) => Fit::Keep,
            (Origin::Hardware, None) => Fit::AllButFirst,
            (Origin::Hardware, Some(_)) => Fit::All,
        };
        let mut aggregate = sender.build(now, &sending, &limits, &framing, most, fit, spare, &mut take);
        queue.set_unsent(now, tin, sender.unsent());
        match &mut aggregate {
            Some(aggregate) if origin != Origin::Queue => aggregate.estimated_airtime = estimated_airtime,
            Some(aggregate) => {
                aggregate.estimated_airtime = aggregate.duration;
                queue.on_pushed_to_hw(tin, aggregate.estimated_airtime);
            }
            None => queue.on_completed(tin, estimated_airtime),
        }
        aggregate
    }
}

impl<P> Category<P> {
    /// Returns true if the last place of a tin has space for another packet, at the current rate.
    fn has_space(
        &self,
        link: &mut Link<P>,
        category: usize,
        framing: &Framing,
        sifs: Duration,
        tin: StationTid,
    ) -> bool {
        let Some((place, is_only)) = self.hardware.last_place(tin).filter(|(place, _)| !place.full) else {
            return false;
        };
        let capacity = link.capacity(category, framing, &self.parameters, sifs);
        capacity.fits(&place.fill, link.waiting_ahead(tin.tid, is_only, &capacity.framing), 0)
    }
}
