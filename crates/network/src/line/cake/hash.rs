//! Queues of a tin: 1024, in sets of eight. Two flows share a queue only if all eight of their set are in use
//! (`cake_hash`).

use super::flow::Flow;

/// Number of queues of a tin (`CAKE_QUEUES`).
const QUEUES: u32 = 1_024;
/// Queues of a set (`CAKE_SET_WAYS`).
const WAYS: u32 = 8;

/// Queues by hash.
#[derive(Debug)]
pub(super) struct Flows<P> {
    /// Empty until the first packet.
    queues: Vec<Flow<P>>,
    /// Hash of the flow that uses each queue, or used it last.
    tags: Vec<u32>,
}

impl<P> Default for Flows<P> {
    fn default() -> Self {
        Flows {
            queues: Vec::new(),
            tags: Vec::new(),
        }
    }
}

impl<P> Flows<P> {
    /// Queue for a flow with this hash, which it then uses.
    pub(super) fn find(&mut self, hash: u32) -> u16 {
        if self.queues.is_empty() {
            self.queues = (0..QUEUES).map(|_| Flow::default()).collect();
            self.tags = vec![0; QUEUES as usize];
        }
        let direct = hash % QUEUES;
        let set = direct - direct % WAYS;
        // From the queue of its hash through its set.
        let ways = (0..WAYS).map(|step| set + (direct + step) % WAYS);
        let own = |at: &u32| self.tags[*at as usize] == hash;
        let free = |at: &u32| !self.queues[*at as usize].is_listed();
        let found = ways.clone().find(own).or_else(|| ways.clone().find(free));
        let index = found.unwrap_or(direct);
        self.tags[index as usize] = hash;
        index as u16
    }

    /// A queue that [`find`](Self::find) returned.
    pub(super) fn get(&self, index: u16) -> &Flow<P> {
        &self.queues[usize::from(index)]
    }

    /// A queue that [`find`](Self::find) returned.
    pub(super) fn get_mut(&mut self, index: u16) -> &mut Flow<P> {
        &mut self.queues[usize::from(index)]
    }
}
