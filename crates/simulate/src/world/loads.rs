//! What packets carry, in one place: the network moves numbers.

use super::load::Load;

/// Names the load of one packet under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket(u32);

/// The loads of all packets under way.
#[derive(Debug, Default)]
pub(super) struct Loads {
    slots: Vec<Load>,
    free: Vec<u32>,
}

impl Loads {
    /// Keeps a load until its packet has come to its end.
    pub(super) fn put(&mut self, load: Load) -> Ticket {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = load;
                Ticket(slot)
            }
            None => {
                let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets under way");
                self.slots.push(load);
                Ticket(slot)
            }
        }
    }

    /// A load.
    pub(super) fn get(&self, ticket: Ticket) -> &Load {
        &self.slots[ticket.0 as usize]
    }

    /// The packet of a load has come to its end: the ticket is no longer good.
    pub(super) fn take(&mut self, ticket: Ticket) -> Load {
        self.free(ticket);
        self.slots[ticket.0 as usize]
    }

    /// The same, where the load has been looked at.
    pub(super) fn free(&mut self, ticket: Ticket) {
        self.free.push(ticket.0);
    }
}
