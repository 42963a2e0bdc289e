//! One queue for the whole device, with tail drop.

use super::config::{Mount, QueueConfig};
use super::driver::{Discipline, Order};
use super::{Drops, Place, Properties, Sharing};
use crate::config::QueueLimit;
use crate::packet::{DropReason, Queued};
use netburn_units::Instant;
use std::collections::VecDeque;

/// The limit is Linux's `txqueuelen`.
pub(super) const PROPERTIES: Properties = Properties {
    name: "fifo",
    summary: "one queue for the device",
    default_limit: QueueLimit::Packets(1000),
    places: &[Place::Radio, Place::Wire, Place::Line],
    sharing: Sharing::All,
    marks_ecn: false,
    has_station_codel: false,
    shares_airtime: false,
};

pub(super) fn build<P: std::fmt::Debug + Send + 'static, M: Mount<P>>(
    config: &QueueConfig,
    mount: M,
) -> Option<M::Mounted> {
    // The device keeps the order of arrival, across all stations.
    mount.device(Fifo::new(config.limit), Order::Arrival)
}

/// First in, first out (`pfifo`, `bfifo`).
#[derive(Debug)]
pub struct Fifo<P> {
    packets: VecDeque<Queued<P>>,
    bytes: u64,
    limit: QueueLimit,
}

impl<P> Fifo<P> {
    /// Creates a queue with this limit.
    #[must_use]
    pub fn new(limit: QueueLimit) -> Self {
        Fifo {
            packets: VecDeque::new(),
            bytes: 0,
            limit,
        }
    }

    fn has_room(&self, length: u32) -> bool {
        match self.limit {
            QueueLimit::Packets(most) => self.packets.len() < most as usize,
            QueueLimit::Bytes(most) => self.bytes + u64::from(length) <= most.as_bytes(),
        }
    }
}

impl<P: std::fmt::Debug + Send> Discipline<P> for Fifo<P> {
    fn enqueue(&mut self, _now: Instant, packet: Queued<P>, drops: &mut Drops<P>) {
        if self.has_room(packet.packet.length) {
            self.bytes += u64::from(packet.packet.length);
            self.packets.push_back(packet);
        } else {
            drops.push((packet, DropReason::QueueFull));
        }
    }

    fn passes(&self, packet: &Queued<P>) -> bool {
        self.packets.is_empty() && self.has_room(packet.packet.length)
    }

    fn dequeue(&mut self, _now: Instant, _drops: &mut Drops<P>) -> Option<Queued<P>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.packet.length);
        Some(packet)
    }

    fn clear(&mut self, drops: &mut Drops<P>) {
        drops.extend(self.packets.drain(..).map(|packet| (packet, DropReason::QueueReplaced)));
        self.bytes = 0;
    }

    fn packets(&self) -> usize {
        self.packets.len()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
