//! The receiving side of a BlockAck agreement: duplicates out, the rest in order (clause 10.25.6).

use std::collections::VecDeque;

/// A reorder buffer for what one MPDU carries.
#[derive(Debug)]
pub struct Reorder<T> {
    next: u64,
    /// What lies beyond `next`: the first is for `next` itself and always a hole.
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
    /// Whether the MPDU of this number is new.
    #[must_use]
    pub fn is_new(&self, sequence: u64) -> bool {
        let Some(ahead) = sequence.checked_sub(self.next) else {
            return false;
        };
        !matches!(self.held.get(ahead as usize), Some(Some(_)))
    }

    /// What waits for something before it.
    pub fn held(&self) -> impl Iterator<Item = &T> {
        self.held.iter().flatten()
    }

    /// Takes what arrived in the MPDU of this number; what may go up in order goes to `release`.
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

    /// The sender won't send anything below `start` any more (BlockAckReq, or its window has moved).
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
    fn in_order_whatever_the_arrival() {
        assert_eq!(feed(&[0, 1, 2]), [0, 1, 2]);
        assert_eq!(feed(&[2, 1, 0, 3]), [0, 1, 2, 3]);
        assert_eq!(feed(&[1, 1, 0, 0, 1, 2]), [0, 1, 2]);
        assert_eq!(feed(&[3, 1, 0]), [0, 1]);
    }

    #[test]
    fn a_moved_window_releases_what_it_passes() {
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
