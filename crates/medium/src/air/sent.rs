//! What has left a sender for good, gathered by flow.

use super::output::Output;
use crate::aggregation::Mpdu;
use crate::packet::NodeId;
use netburn_units::Instant;
use std::collections::VecDeque;

/// Packets of one flow after the other.
#[derive(Debug)]
pub(super) struct Sent {
    at: Instant,
    from: NodeId,
    to: NodeId,
    flow: u32,
    packets: u32,
    bytes: u32,
}

impl Sent {
    pub(super) fn new(at: Instant, from: NodeId, to: NodeId) -> Self {
        Sent {
            at,
            from,
            to,
            flow: 0,
            packets: 0,
            bytes: 0,
        }
    }

    /// One more MPDU has left.
    pub(super) fn add<P, Q>(&mut self, mpdu: &Mpdu<P>, outputs: &mut VecDeque<Output<Q>>) {
        for (flow, bytes) in mpdu.contents() {
            if flow != self.flow {
                self.flush(outputs);
                self.flow = flow;
            }
            self.packets += 1;
            self.bytes += bytes;
        }
    }

    /// Tells of what was gathered, if anything was.
    pub(super) fn flush<Q>(&mut self, outputs: &mut VecDeque<Output<Q>>) {
        if self.packets > 0 {
            outputs.push_back(Output::Sent {
                at: self.at,
                from: self.from,
                to: self.to,
                flow: self.flow,
                packets: self.packets,
                bytes: self.bytes,
            });
        }
        (self.packets, self.bytes) = (0, 0);
    }
}
