//! Throughput limit between a station's adapter and its host: a USB 2 port, a slow bus.
//!
//! In each direction packets take the time of their bytes at the limit, one after another.
//!
//! **Transmit**: between the transmit queue and the hardware. A packet leaves the queue when the
//! previous one has crossed. The hardware builds its aggregates from packets that have crossed. If
//! the hardware is full, the bus waits and the queue grows. With transfers of several packets, all
//! packets that wait when the bus becomes free leave the queue together. They reach the hardware
//! together, after the last one. With few packets in the host, the times of bus and air then add
//! up.
//!
//! **Receive**: between the air and the host. The adapter acknowledges received frames and buffers
//! up to [`RX_BUFFER`] packets for the host. Further packets are lost.

use crate::packet::{NodeId, Packet};
use netburn_units::{BitRate, Duration, Instant};
use std::collections::VecDeque;

/// Receive buffer of an adapter in packets: a few full aggregates, so that bursts below the average
/// limit are not lost.
pub(super) const RX_BUFFER: usize = 256;

/// Serialises packets at a rate, keeping the rounding remainder.
#[derive(Debug)]
pub(super) struct Serializer {
    rate: BitRate,
    free: Instant,
    /// Fraction of a nanosecond, in parts of the rate.
    remainder: u64,
}

impl Serializer {
    /// Creates a serialiser for `rate`, at least 1 bit/s.
    pub(super) fn new(rate: BitRate) -> Self {
        Serializer {
            rate: rate.max(BitRate::from_bps(1)),
            free: Instant::from_nanos(i64::MIN / 2),
            remainder: 0,
        }
    }

    pub(super) fn set_rate(&mut self, rate: BitRate) {
        self.rate = rate.max(BitRate::from_bps(1));
        self.remainder = 0;
    }

    /// Time at which `bytes` that arrive now have passed.
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

/// Receive direction.
#[derive(Debug)]
pub(super) struct RxBus<P> {
    pace: Serializer,
    /// Completion time, sender and packet.
    held: VecDeque<(Instant, NodeId, Packet<P>)>,
}

impl<P> RxBus<P> {
    pub(super) fn new(rate: BitRate) -> Self {
        RxBus {
            pace: Serializer::new(rate),
            held: VecDeque::new(),
        }
    }

    pub(super) fn set_rate(&mut self, rate: BitRate) {
        self.pace.set_rate(rate);
    }

    /// Adds a packet from the air. Returns its completion time if it is the next to complete;
    /// returns the packet if the buffer is full.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        from: NodeId,
        packet: Packet<P>,
    ) -> Result<Option<Instant>, Packet<P>> {
        if self.held.len() >= RX_BUFFER {
            return Err(packet);
        }
        let due = self.pace.pass(now, packet.length);
        self.held.push_back((due, from, packet));
        Ok((self.held.len() == 1).then_some(due))
    }

    /// Removes the first packet, which is complete. Returns it and the completion time of the next
    /// one.
    pub(super) fn pop(&mut self) -> Option<(NodeId, Packet<P>, Option<Instant>)> {
        let (_, from, packet) = self.held.pop_front()?;
        Some((from, packet, self.held.front().map(|(due, ..)| *due)))
    }

    /// Number of packets in the buffer.
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
        let mut pace = Serializer::new(BitRate::from_mbps(7));
        let through: Vec<i64> = (0..7).map(|_| pace.pass(Instant::ZERO, 1_500).as_nanos()).collect();
        assert_eq!(through[0], 1_714_285);
        assert_eq!(through[6], 12_000_000);
        // After a pause the first takes exactly its own time.
        let later = Instant::from_millis(100);
        assert_eq!(pace.pass(later, 1_500), later + Duration::from_nanos(1_714_285));
    }
}
