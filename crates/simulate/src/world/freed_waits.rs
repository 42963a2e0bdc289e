//! Endpoints of the server that wait until a packet of theirs has left it.

use netburn_units::Instant;

/// The times after which a packet that has left the server lets an endpoint continue, by the slot of its connection.
///
/// Few endpoints wait at a time, so a list is fast.
#[derive(Debug, Default)]
pub(super) struct FreedWaits {
    waits: Vec<(usize, Instant)>,
}

impl FreedWaits {
    /// Sets or clears the time of a slot. Returns true if [`first`](Self::first) has changed.
    pub(super) fn set(&mut self, slot: usize, after: Option<Instant>) -> bool {
        if self.waits.is_empty() && after.is_none() {
            return false;
        }
        let first = self.first();
        self.waits.retain(|(other, _)| *other != slot);
        self.waits.extend(after.map(|after| (slot, after)));
        self.first() != first
    }

    /// Earliest time of all slots; [`Instant::MAX`] if none waits.
    pub(super) fn first(&self) -> Instant {
        let times = self.waits.iter().map(|(_, after)| *after);
        times.min().unwrap_or(Instant::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_time_counts() {
        let mut waits = FreedWaits::default();
        let at = |millis| Instant::from_millis(millis);
        assert!(!waits.set(3, None) && waits.first() == Instant::MAX);
        assert!(waits.set(3, Some(at(5))));
        assert!(!waits.set(1, Some(at(7))) && waits.first() == at(5));
        assert!(waits.set(3, Some(at(8))) && waits.first() == at(7));
        assert!(waits.set(1, None) && waits.first() == at(8));
        assert!(waits.set(3, None) && waits.first() == Instant::MAX);
    }
}
