//! Groups of packets that were sent together.

use super::millis_between;
use netburn_units::{Duration, Instant};

/// Packets that are sent within this time of the first one form a group (section 5.2): 5 ms.
const BURST: Duration = Duration::from_millis(5);
/// Longest group in ms. libwebrtc has the same limit.
const MAX_LENGTH_MS: f64 = 100.0;

/// Variation of the delay between two groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Variation {
    /// Time between the arrivals of the last packets, minus that between their departures, in ms.
    pub(super) delay_ms: f64,
    /// Time between the departures, in ms.
    pub(super) sent_ms: f64,
    /// Arrival of the later group, in ms since the first arrival.
    pub(super) at_ms: f64,
}

/// Groups of the packets that arrive.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    first_arrival: Option<Instant>,
    previous: Option<Group>,
    current: Option<Group>,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    /// First departure.
    first_sent: Instant,
    /// Last departure.
    sent: Instant,
    /// Last arrival.
    arrived: Instant,
}

impl Groups {
    /// Adds a packet. Returns the variation between the two groups that are complete, if the packet begins a new one. A
    /// packet that was sent before the current group is ignored.
    pub(super) fn put(&mut self, sent: Instant, arrived: Instant) -> Option<Variation> {
        let first_arrival = *self.first_arrival.get_or_insert(arrived);
        let single = Group {
            first_sent: sent,
            sent,
            arrived,
        };
        let Some(current) = &mut self.current else {
            self.current = Some(single);
            return None;
        };
        let since = sent.checked_since(current.first_sent)?;
        // A packet that arrives soon after its group, with a shorter delay, waited behind it and belongs to it.
        let after_ms = millis_between(arrived, current.arrived);
        let waited = after_ms <= BURST.as_millis_f64()
            && after_ms < millis_between(sent, current.sent)
            && since.as_millis_f64() < MAX_LENGTH_MS;
        if since <= BURST || waited {
            current.sent = current.sent.max(sent);
            current.arrived = current.arrived.max(arrived);
            return None;
        }
        let complete = *current;
        self.current = Some(single);
        let before = self.previous.replace(complete)?;
        let sent_ms = millis_between(complete.sent, before.sent);
        Some(Variation {
            delay_ms: millis_between(complete.arrived, before.arrived) - sent_ms,
            sent_ms,
            at_ms: millis_between(complete.arrived, first_arrival),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of 2 packets, 1 ms apart, every 20 ms; a delay of 10 ms that grows by 3 ms with each frame. The last packets are
    /// sent at 1, 21, 41 ms and arrive at 11, 34, 57 ms. A variation is known when the group after the later one begins.
    #[test]
    fn the_variation_is_that_of_the_last_packets() {
        let mut groups = Groups::default();
        let mut found = Vec::new();
        for frame in 0..4 {
            for packet in 0..2 {
                let sent = Instant::from_millis(frame * 20 + packet);
                let arrived = Instant::from_millis(frame * 23 + packet + 10);
                found.extend(groups.put(sent, arrived));
            }
        }
        let expected = |at_ms| Variation {
            delay_ms: 3.0,
            sent_ms: 20.0,
            at_ms,
        };
        // The first packet arrives at 10 ms.
        assert_eq!(found, [expected(24.0), expected(47.0)]);
    }

    #[test]
    fn older_packets_are_ignored() {
        let mut groups = Groups::default();
        let at = Instant::from_millis;
        assert_eq!(groups.put(at(100), at(110)), None);
        assert_eq!(groups.put(at(99), at(111)), None);
        assert_eq!(groups.put(at(120), at(130)), None);
        let variation = groups.put(at(140), at(150)).unwrap();
        assert_eq!((variation.delay_ms, variation.sent_ms), (0.0, 20.0));
    }
}
