//! How many messages a participant may send.

use crate::clock::Stamp;
use netburn_units::Duration;

/// Messages that may come at once: what an agent held while it had no connection.
pub const MAX_BURST: u64 = 5_000;
/// From one message to the next, in the long run: 200 a second. Participants send some 15.
pub const MIN_GAP: Duration = Duration::from_millis(5);

/// The messages of one participant: the generic cell rate algorithm (ITU-T I.371).
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageRate {
    /// When all that came would have come, had it kept the rate.
    due: Stamp,
}

impl MessageRate {
    pub(super) fn new(now: Stamp) -> MessageRate {
        MessageRate { due: now }
    }

    /// Counts a message that came at `at`. False: it is one too many.
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
        // After 25 s of silence all of the burst is there again.
        assert_eq!(admitted(&mut rate, 60_000_000_000), 5_000);
    }
}
