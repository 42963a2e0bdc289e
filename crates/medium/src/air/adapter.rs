//! What a station's adapter can move between the air and its host, whatever the air permits: a USB 2 port, a slow bus.
//!
//! Each way a packet takes the time that its bytes take at the limit, one after the other. **Up**: between the transmit queue and the
//! hardware. A packet leaves the queue when the one before it is through, and the hardware puts its aggregates together from what has
//! reached it; when the hardware is full, the bus waits and the queue grows. Where packets cross several at a time, those that wait when
//! the bus gets free leave the queue together, and all reach the hardware with the last of them: what few packets may be in the host
//! then spend the bus's time and the air's one after the other. **Down**: between the air and the host. The adapter acknowledges what it
//! receives and holds up to [`HELD`] packets for the host; what comes when it is full is lost.

use crate::packet::{NodeId, Packet};
use netburn_units::{BitRate, Duration, Instant};
use std::collections::VecDeque;

/// Packets that an adapter holds for its host: a few full aggregates, so that bursts at less than the limit are not lost.
pub(super) const HELD: usize = 256;

/// A way through the adapter: one packet after the other, without a remainder being lost.
#[derive(Debug)]
pub(super) struct Pace {
    rate: BitRate,
    free: Instant,
    /// Of a nanosecond, in parts of the rate.
    remainder: u64,
}

impl Pace {
    /// Nothing is moved faster than `rate`, at least 1 bit/s.
    pub(super) fn new(rate: BitRate) -> Self {
        Pace {
            rate: rate.max(BitRate::from_bps(1)),
            free: Instant::from_nanos(i64::MIN / 2),
            remainder: 0,
        }
    }

    pub(super) fn set_rate(&mut self, rate: BitRate) {
        self.rate = rate.max(BitRate::from_bps(1));
        self.remainder = 0;
    }

    /// When `bytes` that come now are through.
    pub(super) fn pass(&mut self, now: Instant, bytes: u32) -> Instant {
        if self.free < now {
            (self.free, self.remainder) = (now, 0);
        }
        let rate = u128::from(self.rate.as_bps());
        let parts = u128::from(bytes) * 8 * 1_000_000_000 + u128::from(self.remainder);
        self.remainder = (parts % rate) as u64;
        self.free += Duration::from_nanos((parts / rate) as u64);
        self.free
    }
}

/// The way down.
#[derive(Debug)]
pub(super) struct Down<P> {
    pace: Pace,
    /// When each will be through, whom it is from, and what it is.
    held: VecDeque<(Instant, NodeId, Packet<P>)>,
}

impl<P> Down<P> {
    pub(super) fn new(rate: BitRate) -> Self {
        Down {
            pace: Pace::new(rate),
            held: VecDeque::new(),
        }
    }

    pub(super) fn set_rate(&mut self, rate: BitRate) {
        self.pace.set_rate(rate);
    }

    /// Takes a packet from the air. When it will be through, if that is the next to be waited for; the packet back, if there is no room.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        from: NodeId,
        packet: Packet<P>,
    ) -> Result<Option<Instant>, Packet<P>> {
        if self.held.len() >= HELD {
            return Err(packet);
        }
        let due = self.pace.pass(now, packet.length);
        self.held.push_back((due, from, packet));
        Ok((self.held.len() == 1).then_some(due))
    }

    /// The first is through. What it is, and when the next one will be.
    pub(super) fn pop(&mut self) -> Option<(NodeId, Packet<P>, Option<Instant>)> {
        let (_, from, packet) = self.held.pop_front()?;
        Some((from, packet, self.held.front().map(|(due, ..)| *due)))
    }

    /// Packets on the way.
    pub(super) fn packets(&self) -> usize {
        self.held.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1500 bytes at 7 Mbit/s take 1 714 285.71 ns: after seven of them, 12 ms to the nanosecond.
    #[test]
    fn no_remainder_is_lost() {
        let mut pace = Pace::new(BitRate::from_mbps(7));
        let through: Vec<i64> = (0..7).map(|_| pace.pass(Instant::ZERO, 1_500).as_nanos()).collect();
        assert_eq!(through[0], 1_714_285);
        assert_eq!(through[6], 12_000_000);
        // After a pause the first takes its own time again, no more.
        let later = Instant::from_millis(100);
        assert_eq!(pace.pass(later, 1_500), later + Duration::from_nanos(1_714_285));
    }
}
