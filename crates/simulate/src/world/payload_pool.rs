//! Pool of payloads: the network transports their numbers.

use super::payload::Payload;

/// Identifies the payload of a packet in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PayloadId(u32);

/// Payloads of all packets in flight.
#[derive(Debug, Default)]
pub(super) struct PayloadPool {
    slots: Vec<Payload>,
    free: Vec<u32>,
}

impl PayloadPool {
    /// Stores a payload until the end of its packet.
    pub(super) fn put(&mut self, load: Payload) -> PayloadId {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = load;
                PayloadId(slot)
            }
            None => {
                let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets in flight");
                self.slots.push(load);
                PayloadId(slot)
            }
        }
    }

    pub(super) fn get(&self, ticket: PayloadId) -> &Payload {
        &self.slots[ticket.0 as usize]
    }

    /// Removes a payload at the end of its packet; the ID becomes invalid.
    pub(super) fn take(&mut self, ticket: PayloadId) -> Payload {
        self.free(ticket);
        self.slots[ticket.0 as usize]
    }

    /// Frees a payload without returning it.
    pub(super) fn free(&mut self, ticket: PayloadId) {
        self.free.push(ticket.0);
    }
}
