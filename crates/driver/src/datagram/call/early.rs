//! Packets of the server that arrive before their operation is due, because the clocks' offset is not exact.

use super::client::{CallEvent, CallPlan};
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::{Direction, RequestId};
use std::collections::BTreeMap;

/// Arrival of a packet that is not answered, or completion of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Time of the arrival, which may be earlier than the time at which it is known.
    pub at: Instant,
    /// Size of a frame of a video call; `None` for packets, whose size is configured.
    pub size: Option<ByteSize>,
}

/// Arrivals of one call on their way to its workload.
///
/// **Call order:** [`handle_event`](Self::handle_event) for each event of the client, and
/// [`take`](Self::take) when a packet of the server is due.
#[derive(Debug)]
pub struct EarlyPackets {
    plan: CallPlan,
    packets: BTreeMap<u32, Arrival>,
}

/// The longest time by which a packet may arrive early. A client requests the packets of the next second, and the offset of
/// the clocks adds less than another one. Packets that are due later come from a faulty server, so they are dropped.
const MAX_EARLY: Duration = Duration::from_secs(2);

impl EarlyPackets {
    /// Creates the store of a call.
    #[must_use]
    pub fn new(plan: CallPlan) -> Self {
        EarlyPackets {
            plan,
            packets: BTreeMap::new(),
        }
    }

    /// Returns the operation that an arrival ends; `None` if it is not due yet, so that the arrival is stored.
    pub fn handle_event(&mut self, now: Instant, event: CallEvent) -> Option<(RequestId, Direction, Arrival)> {
        let (number, direction, at, size) = match event {
            CallEvent::Up { number, at } => (number, Direction::Up, at, None),
            CallEvent::Down { number, at } => (number, Direction::Down, at, None),
            CallEvent::Frame {
                direction,
                number,
                at,
                size,
            } => (number, direction, at, Some(size)),
        };
        let arrival = Arrival { at, size };
        if direction == Direction::Down && !self.is_due(now, number) {
            if self.is_due(now + MAX_EARLY, number) {
                self.packets.entry(number).or_insert(arrival);
            }
            return None;
        }
        let operation = 2 * u64::from(number) + u64::from(direction == Direction::Down);
        Some((RequestId { operation, object: 0 }, direction, arrival))
    }

    /// Removes the arrival of a packet of the server that is due now.
    pub fn take(&mut self, number: u32) -> Option<Arrival> {
        self.packets.remove(&number)
    }

    /// Returns whether the operation of a packet of the server has begun.
    fn is_due(&self, now: Instant, number: u32) -> bool {
        let Some((first, stream)) = self.plan.down else {
            return false;
        };
        let since = now.checked_since(first).unwrap_or_default();
        stream.offset(number.into()).is_some_and(|offset| since > offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_workload::PacketStream;

    /// A packet every 20 ms from 0 s on: number 50 is due at 1 s, and number 500 at 10 s.
    #[test]
    fn only_packets_of_the_next_two_seconds_are_stored() {
        let stream = PacketStream {
            interval: Duration::from_millis(20),
            burst: 1,
            spacing: Duration::ZERO,
            size: ByteSize::from_bytes(172),
        };
        let mut early = EarlyPackets::new(CallPlan {
            up: None,
            down: Some((Instant::ZERO, stream)),
            end: Instant::from_secs(60),
            dscp: 0,
            timeout: Duration::from_secs(2),
            video: None,
        });
        let now = Instant::from_millis(5);
        for number in [50, 500, u32::MAX] {
            let ended = early.handle_event(now, CallEvent::Down { number, at: now });
            assert_eq!(ended, None);
        }
        assert_eq!(early.take(50), Some(Arrival { at: now, size: None }));
        assert_eq!([500, u32::MAX].map(|number| early.take(number)), [None; 2]);
    }
}
