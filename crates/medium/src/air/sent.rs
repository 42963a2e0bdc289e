//! Packets that are complete at a sender, grouped by flow.

use super::output::Output;
use crate::aggregation::Mpdu;
use crate::packet::NodeId;
use netburn_units::Instant;
use std::collections::VecDeque;

/// Consecutive packets of one flow.
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

    /// Adds the packets of an MPDU.
    #[inline]
    pub(super) fn add<P, Q>(&mut self, mpdu: &Mpdu<P>, outputs: &mut VecDeque<Output<Q>>) {
        self.add_packet(mpdu.content, outputs);
        if let Some(more) = &mpdu.more {
            for content in &more.contents {
                self.add_packet(*content, outputs);
            }
        }
    }

    #[inline]
    fn add_packet<Q>(&mut self, (flow, bytes): (u32, u32), outputs: &mut VecDeque<Output<Q>>) {
        if flow != self.flow {
            self.flush(outputs);
            self.flow = flow;
        }
        self.packets += 1;
        self.bytes += bytes;
    }

    /// Reports the group, if there is one.
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
