//! Recipient of a BlockAck agreement: discards duplicates and releases the rest in order (clause
//! 10.25.6).

use std::collections::VecDeque;

/// Reorder buffer for the content of MPDUs.
#[derive(Debug)]
pub struct Reorder<T> {
    next: u64,
    /// Content after `next`: the first entry is for `next` itself and always empty.
    held: VecDeque<Option<T>>,
}

impl<T> Default for Reorder<T> {
    fn default() -> Self {
        Reorder {
            next: 0,
            held: VecDeque::new(),
        }
    }
}

impl<T> Reorder<T> {
    /// Returns true if the MPDU of this number was not received before.
    #[must_use]
    pub fn is_new(&self, sequence: u64) -> bool {
        let Some(ahead) = sequence.checked_sub(self.next) else {
            return false;
        };
        !matches!(self.held.get(ahead as usize), Some(Some(_)))
    }

    /// Content that waits for an earlier MPDU.
    pub fn held(&self) -> impl Iterator<Item = &T> {
        self.held.iter().flatten()
    }

    /// Adds the content of a received MPDU; passes what is in order to `release`.
    pub fn receive(&mut self, sequence: u64, content: T, mut release: impl FnMut(T)) {
        let Some(ahead) = sequence.checked_sub(self.next) else {
            return;
        };
        if ahead == 0 {
            release(content);
            self.next += 1;
            self.held.pop_front();
            self.advance(release);
            return;
        }
        let ahead = ahead as usize;
        if self.held.len() <= ahead {
            self.held.resize_with(ahead + 1, || None);
        }
        self.held[ahead] = Some(content);
    }

    /// Moves the window: the sender will not send anything below `start` (BlockAckReq, or its
    /// window has moved).
    pub fn move_to(&mut self, start: u64, mut release: impl FnMut(T)) {
        while self.next < start {
            if let Some(Some(content)) = self.held.pop_front() {
                release(content);
            }
            self.next += 1;
        }
        self.advance(release);
    }

    fn advance(&mut self, mut release: impl FnMut(T)) {
        while matches!(self.held.front(), Some(Some(_))) {
            if let Some(Some(content)) = self.held.pop_front() {
                release(content);
                self.next += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(order: &[u64]) -> Vec<u64> {
        let mut reorder = Reorder::default();
        let mut out = Vec::new();
        for sequence in order {
            if reorder.is_new(*sequence) {
                reorder.receive(*sequence, *sequence, |content| out.push(content));
            }
        }
        out
    }

    #[test]
    fn in_order_for_any_arrival() {
        assert_eq!(feed(&[0, 1, 2]), [0, 1, 2]);
        assert_eq!(feed(&[2, 1, 0, 3]), [0, 1, 2, 3]);
        assert_eq!(feed(&[1, 1, 0, 0, 1, 2]), [0, 1, 2]);
        assert_eq!(feed(&[3, 1, 0]), [0, 1]);
    }

    #[test]
    fn a_moved_window_releases_the_packets_before_it() {
        let mut reorder = Reorder::default();
        let mut out = Vec::new();
        for sequence in [1, 2, 5] {
            reorder.receive(sequence, sequence, |content| out.push(content));
        }
        assert!(out.is_empty());
        reorder.move_to(2, |content| out.push(content));
        assert_eq!(out, [1, 2]);
        reorder.move_to(10, |content| out.push(content));
        assert_eq!(out, [1, 2, 5]);
        assert!(!reorder.is_new(9));
        reorder.receive(10, 10, |content| out.push(content));
        assert_eq!(out, [1, 2, 5, 10]);
    }
}
