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

/// How early a packet may arrive. The offset of the clocks is known to half a round trip, so that only a faulty server sends
/// packets that are due later; they are dropped.
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
