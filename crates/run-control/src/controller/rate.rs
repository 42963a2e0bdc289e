//! Limit on the message rate of an agent.

use netburn_protocol::clock::Stamp;
use netburn_units::Duration;

/// Maximum burst, in messages: those that an agent collected while disconnected.
pub const MAX_BURST: u64 = 5_000;
/// Minimum mean time between messages: 200 messages per second. Agents send about 15.
pub const MIN_GAP: Duration = Duration::from_millis(5);

/// Message rate of one agent: the generic cell rate algorithm (ITU-T I.371).
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageRate {
    /// Theoretical arrival time of the next message.
    due: Stamp,
}

impl MessageRate {
    pub(super) fn new(now: Stamp) -> MessageRate {
        MessageRate { due: now }
    }

    /// Counts a message received at `at`. Returns `false` if it exceeds the limit.
    pub(super) fn admit(&mut self, at: Stamp) -> bool {
        let burst = MIN_GAP * (MAX_BURST - 1);
        if self.due > at.after(burst) {
            return false;
        }
        self.due = self.due.max(at).after(MIN_GAP);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_admitted_and_then_200_a_second() {
        let mut rate = MessageRate::new(Stamp(0));
        let admitted = |rate: &mut MessageRate, at: i64| (0..10_000).filter(|_| rate.admit(Stamp(at))).count();
        assert_eq!(admitted(&mut rate, 0), 5_000);
        assert_eq!(admitted(&mut rate, 1_000_000_000), 200);
        // After 25 s of silence the whole burst is available again.
        assert_eq!(admitted(&mut rate, 60_000_000_000), 5_000);
    }
}
