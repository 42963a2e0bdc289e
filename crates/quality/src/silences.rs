//! Times in which no packet of a stream arrives.

use crate::packet::Packet;
use netburn_units::{Duration, Instant};

/// Times without an arrival that have a minimum length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Silences {
    /// Their number.
    pub count: u64,
    /// The longest one.
    pub longest: Duration,
    /// Their total length.
    pub total: Duration,
    /// Observed time.
    pub observed: Duration,
}

/// Silences of at least `limit` in a stream of `packets`, which are in sending order.
///
/// A silence is the time between two consecutive arrivals, in the order of arrival. The observed time begins with the first
/// arrival, and ends with the last one, or when the last packet was due if that is later. If no packet arrived, the whole time
/// from the first due time to the last one is a silence.
#[must_use]
pub fn silences(packets: &[Packet], limit: Duration) -> Silences {
    let (Some(first), Some(last)) = (packets.first(), packets.last()) else {
        return Silences::default();
    };
    let mut arrivals: Vec<Instant> = packets
        .iter()
        .filter_map(|packet| packet.due.checked_add(packet.delay?))
        .collect();
    arrivals.sort_unstable();
    let mut before = *arrivals.first().unwrap_or(&first.due);
    let begin = before;
    let mut found = Silences::default();
    for arrival in arrivals.into_iter().chain([last.due]) {
        let Some(length) = arrival.checked_since(before) else {
            continue;
        };
        if length >= limit && !length.is_zero() {
            found.count += 1;
            found.total += length;
            found.longest = found.longest.max(length);
        }
        before = arrival;
    }
    found.observed = before.checked_since(begin).unwrap_or_default();
    found
}
