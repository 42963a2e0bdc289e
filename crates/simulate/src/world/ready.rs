//! Ready endpoints: those that may have something to send, or an event.

use super::payload::End;

/// Ready endpoints by the slot of their connection. Each occurs once.
#[derive(Debug, Default)]
pub(super) struct Ready {
    endpoints: Vec<(usize, End)>,
    is_ready: Vec<[bool; 2]>,
}

impl Ready {
    /// Adds an endpoint if it is not ready yet.
    pub(super) fn push(&mut self, slot: usize, end: End) {
        if slot >= self.is_ready.len() {
            self.is_ready.resize(slot + 1, [false; 2]);
        }
        if !std::mem::replace(&mut self.is_ready[slot][end.index()], true) {
            self.endpoints.push((slot, end));
        }
    }

    /// Removes the endpoint that became ready last.
    pub(super) fn pop(&mut self) -> Option<(usize, End)> {
        let (slot, end) = self.endpoints.pop()?;
        self.is_ready[slot][end.index()] = false;
        Some((slot, end))
    }

    /// Returns true if an endpoint is ready.
    pub(super) fn has(&self, slot: usize, end: End) -> bool {
        self.is_ready.get(slot).is_some_and(|ends| ends[end.index()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_endpoint_occurs_once_and_the_last_one_comes_first() {
        let mut ready = Ready::default();
        ready.push(2, End::Server);
        ready.push(0, End::Client);
        ready.push(2, End::Server);
        assert!(ready.has(2, End::Server) && !ready.has(2, End::Client) && !ready.has(7, End::Client));
        assert_eq!(ready.pop(), Some((0, End::Client)));
        assert_eq!(ready.pop(), Some((2, End::Server)));
        assert!(ready.pop().is_none() && !ready.has(2, End::Server));
        ready.push(2, End::Server);
        assert_eq!(ready.pop(), Some((2, End::Server)));
    }
}
