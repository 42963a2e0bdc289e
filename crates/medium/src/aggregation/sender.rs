//! Originator of a BlockAck agreement.

use super::mpdu::MorePackets;
use super::{Aggregate, Framing, Limits, Mpdu, Sending, mpdu};
use crate::packet::Queued;
use crate::queue::{Readiness, Unsent};
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

/// Sequence numbers, window, and retransmissions.
#[derive(Debug)]
pub struct Sender<P> {
    /// MPDUs that precede new packets, by ascending sequence number: failed ones, and one that was
    /// built and did not fit.
    waiting: VecDeque<Mpdu<P>>,
    /// Packets taken from the queue that did not fit, or that the hardware returned, in order. They
    /// follow the waiting MPDUs.
    held: VecDeque<Queued<P>>,
    next: u64,
    /// For each MPDU from the window's start to `next`: true if it is not settled. The first is
    /// never settled.
    unsettled: VecDeque<bool>,
    /// Number of unsettled MPDUs.
    open: usize,
    /// True while an aggregate in flight is a probe.
    probing: bool,
}

impl<P> Default for Sender<P> {
    fn default() -> Self {
        Sender {
            waiting: VecDeque::new(),
            held: VecDeque::new(),
            next: 0,
            unsettled: VecDeque::new(),
            open: 0,
            probing: false,
        }
    }
}

/// Handling of packets that exceed the limits of an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The first packet is sent nevertheless. A later one becomes an MPDU that waits for the next aggregate.
    Keep,
    /// The first packet is sent nevertheless. Later ones are not taken.
    AllButFirst,
    /// No such packet is taken.
    All,
}

impl<P> Sender<P> {
    /// Returns true if packets wait here, ahead of the queue.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || !self.held.is_empty()
    }

    /// Packets that wait here, ahead of the queue.
    #[must_use]
    pub fn unsent(&self) -> Unsent {
        // Retransmissions have lower sequence numbers than new packets, so they are first.
        let first = match self.waiting.front() {
            Some(mpdu) if mpdu.tries > 0 => return Unsent::Retransmission,
            Some(mpdu) => mpdu.packet.as_ref(),
            None => self.held.front(),
        };
        first.map_or(Unsent::Nothing, |packet| Unsent::LeftOver {
            arrival: packet.arrival,
        })
    }

    /// Readiness for another aggregate. While one is in flight, another is ready only if the window
    /// has room for half of its maximum. A shorter one would use a transmit opportunity that a full
    /// one, a moment later, uses better. While a probe of the rate control is in flight, none is
    /// ready: if the probe is lost, the window does not move.
    #[must_use]
    pub fn readiness(&self, limits: &Limits) -> Readiness {
        if !limits.ampdu {
            return Readiness::Now;
        }
        let under_way = self.open - self.waiting.len();
        let room = (self.window_start() + u64::from(limits.window)).saturating_sub(self.next);
        if under_way == 0 || !self.probing && room > 0 && room * 2 >= u64::from(limits.frames) {
            Readiness::Now
        } else {
            Readiness::Soon
        }
    }

    /// Number of packets that wait here.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.waiting.iter().map(Mpdu::packets).sum::<usize>() + self.held.len()
    }

    /// MPDUs and bytes that wait here, as in an aggregate of one packet per MPDU.
    #[must_use]
    pub fn content(&self, framing: &Framing) -> (u64, u64) {
        let waiting = self.waiting.iter().map(|mpdu| mpdu.length);
        let held = self.held.iter().map(|held| framing.mpdu(held.packet.length));
        let bytes = waiting.chain(held).map(mpdu::in_aggregate).sum();
        ((self.waiting.len() + self.held.len()) as u64, bytes)
    }

    /// Adds packets that the hardware returns. They are later than all that wait here.
    pub fn hold(&mut self, packets: impl IntoIterator<Item = Queued<P>>) {
        self.held.extend(packets);
    }

    /// Lowest unsettled number: the start of the window.
    #[must_use]
    pub fn window_start(&self) -> u64 {
        self.next - self.unsettled.len() as u64
    }

    /// Builds an aggregate: waiting MPDUs first, then packets from `more`, within `limits` and with
    /// at most `most` MPDUs. `fit` is the handling of packets that exceed the limits. `more`
    /// receives the number of bytes with room and may keep a longer packet; a longer packet that
    /// it returns waits here. `mpdus` is an empty vector to be filled.
    #[expect(
        clippy::too_many_arguments,
        reason = "one call site; a struct would only rename the arguments"
    )]
    pub fn build(
        &mut self,
        now: Instant,
        sending: &Sending,
        limits: &Limits,
        framing: &Framing,
        most: u32,
        fit: Fit,
        mut mpdus: Vec<Mpdu<P>>,
        mut more: impl FnMut(u32) -> Option<Queued<P>>,
    ) -> Option<Aggregate<P>> {
        let room = limits.room(&sending.format);
        // Maximum length of an MPDU that starts an aggregate.
        let alone = room.saturating_sub(if sending.sends_bare() {
            0
        } else {
            mpdu::last_in_aggregate(0)
        });
        let alone = u32::try_from(alone).unwrap_or(u32::MAX);
        let mut length = 0;
        // Without BlockAck there is no window.
        let window = if limits.ampdu {
            u64::from(limits.window)
        } else {
            u64::MAX
        };
        let window_end = self.window_start().saturating_add(window);
        let most = if limits.ampdu {
            most.min(limits.frames).max(1)
        } else {
            1
        };
        while mpdus.len() < most as usize {
            let first = mpdus.is_empty();
            match self.waiting.pop_front() {
                Some(mpdu) => mpdus.push(mpdu),
                None if self.next >= window_end && !self.unsettled.is_empty() => break,
                None => {
                    let rest =
                        u32::try_from(room.saturating_sub(length + mpdu::last_in_aggregate(0))).unwrap_or(u32::MAX);
                    // Maximum length of the MPDU.
                    let longest = match (fit, first) {
                        (Fit::All, true) => alone,
                        (Fit::AllButFirst | Fit::All, false) => rest,
                        (Fit::Keep, _) | (Fit::AllButFirst, true) => u32::MAX,
                    };
                    let most = longest.saturating_sub(framing.mpdu(0));
                    let Some(packet) = self.held.pop_front().or_else(|| more(most)) else {
                        break;
                    };
                    if packet.packet.length > most {
                        self.held.push_front(packet);
                        break;
                    }
                    // An A-MSDU at the start of a PPDU must not exceed the PPDU's limit.
                    let longest = if first { alone } else { longest };
                    let amsdu = limits.amsdu.min(longest.saturating_sub(framing.around(0)));
                    mpdus.push(self.frame(packet, framing));
                    if amsdu > 0
                        && let Some(mpdu) = mpdus.last_mut()
                    {
                        self.extend(mpdu, amsdu, framing, &mut more);
                    }
                }
            }
            let last = mpdus.last().map_or(0, |mpdu| mpdu.length);
            // The last one isn't padded.
            let too_long = if first {
                fit == Fit::All && last > alone
            } else {
                length + mpdu::last_in_aggregate(last) > room
            };
            if too_long {
                if let Some(mpdu) = mpdus.pop() {
                    self.waiting.push_front(mpdu);
                }
                break;
            }
            length += mpdu::in_aggregate(last);
        }
        if mpdus.is_empty() {
            return None;
        }
        self.probing = most < limits.frames;
        let mut aggregate = Aggregate {
            sending: *sending,
            failures: 0,
            probe: self.probing,
            length: 0,
            duration: Duration::ZERO,
            estimated_airtime: Duration::ZERO,
            since: now,
            mpdus,
        };
        aggregate.measure();
        Some(aggregate)
    }

    /// Builds an MPDU of one packet with the next number.
    #[inline]
    fn frame(&mut self, packet: Queued<P>, framing: &Framing) -> Mpdu<P> {
        let sequence = self.next;
        self.next += 1;
        self.unsettled.push_back(false);
        self.open += 1;
        Mpdu {
            sequence,
            tries: 0,
            length: framing.mpdu(packet.packet.length),
            content: (packet.packet.flow, packet.packet.length),
            packet: Some(packet),
            more: None,
        }
    }

    /// Extends an MPDU of one packet to an A-MSDU of up to `amsdu` bytes.
    fn extend(
        &mut self,
        mpdu: &mut Mpdu<P>,
        amsdu: u32,
        framing: &Framing,
        more: &mut impl FnMut(u32) -> Option<Queued<P>>,
    ) {
        let mut subframes = Framing::subframe(mpdu.content.1);
        while subframes < amsdu {
            let room = amsdu.saturating_sub(subframes.next_multiple_of(4) + Framing::subframe(0));
            let Some(next) = self.held.pop_front().or_else(|| more(room)) else {
                break;
            };
            let longer = subframes.next_multiple_of(4) + Framing::subframe(next.packet.length);
            if longer > amsdu {
                self.held.push_front(next);
                break;
            }
            subframes = longer;
            let more = mpdu.more.get_or_insert_with(|| {
                Box::new(MorePackets {
                    packets: Vec::new(),
                    contents: Vec::new(),
                })
            });
            more.contents.push((next.packet.flow, next.packet.length));
            more.packets.push(next);
            mpdu.length = framing.around(subframes);
        }
    }

    /// Settles an MPDU: acknowledged, or given up.
    pub fn settle(&mut self, sequence: u64) {
        // Numbers are consecutive.
        let at = sequence.checked_sub(self.window_start()).map(|at| at as usize);
        if let Some(settled) = at.and_then(|at| self.unsettled.get_mut(at)) {
            self.open -= usize::from(!std::mem::replace(settled, true));
        }
        while self.unsettled.front() == Some(&true) {
            self.unsettled.pop_front();
        }
    }

    /// Takes out everything that waits here, in order. Its MPDUs are settled.
    pub fn take_waiting(&mut self) -> Vec<Queued<P>> {
        let mut packets = Vec::new();
        for mut mpdu in std::mem::take(&mut self.waiting) {
            self.settle(mpdu.sequence);
            packets.extend(mpdu.packet.take());
            packets.extend(mpdu.take_more());
        }
        packets.extend(self.held.drain(..));
        packets
    }

    /// Queues MPDUs, by ascending number, for retransmission.
    pub fn send_again(&mut self, mpdus: impl DoubleEndedIterator<Item = Mpdu<P>>) {
        for mpdu in mpdus.rev() {
            let at = self.waiting.partition_point(|other| other.sequence < mpdu.sequence);
            self.waiting.insert(at, mpdu);
        }
    }
}
