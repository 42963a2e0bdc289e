//! Three queues with strict priority, as in Linux's `pfifo_fast`.
//!
//! The access category determines the band, so that video in a scenario precedes best effort.
//! Linux's own table (`prio2band`) has only priorities 6 and 7 in the first band.

use super::config::{Mount, QueueConfig};
use super::driver::{Discipline, Order};
use super::fifo::Fifo;
use super::{Drops, Place, Properties, Sharing};
use crate::config::QueueLimit;
use crate::packet::Queued;
use netburn_units::Instant;

/// The limit is Linux's `txqueuelen`.
pub(super) const PROPERTIES: Properties = Properties {
    name: "pfifo-fast",
    summary: "three bands by priority",
    default_limit: QueueLimit::Packets(1000),
    places: &[Place::Radio, Place::Wire],
    sharing: Sharing::All,
    marks_ecn: false,
    has_station_codel: false,
    shares_airtime: false,
};

pub(super) fn build<P: std::fmt::Debug + Send + 'static, M: Mount<P>>(
    config: &QueueConfig,
    mount: M,
) -> Option<M::Mounted> {
    mount.device(PfifoFast::new(config.limit), Order::Arrival)
}

/// Three bands: 0 for video and voice, 1 for best effort, 2 for background. The limit applies to
/// each.
#[derive(Debug)]
pub struct PfifoFast<P> {
    bands: [Fifo<P>; 3],
}

impl<P> PfifoFast<P> {
    /// Creates three empty bands with this limit each.
    #[must_use]
    pub fn new(limit: QueueLimit) -> Self {
        PfifoFast {
            bands: [(); 3].map(|()| Fifo::new(limit)),
        }
    }
}

const fn band(tid: u8) -> usize {
    match tid {
        4..=7 => 0,
        0 | 3 => 1,
        _ => 2,
    }
}

impl<P: std::fmt::Debug + Send> Discipline<P> for PfifoFast<P> {
    fn enqueue(&mut self, now: Instant, packet: Queued<P>, drops: &mut Drops<P>) {
        self.bands[band(packet.packet.tid)].enqueue(now, packet, drops);
    }

    fn passes(&self, packet: &Queued<P>) -> bool {
        self.packets() == 0 && self.bands[band(packet.packet.tid)].passes(packet)
    }

    fn dequeue(&mut self, now: Instant, drops: &mut Drops<P>) -> Option<Queued<P>> {
        self.bands.iter_mut().find_map(|band| band.dequeue(now, drops))
    }

    fn clear(&mut self, drops: &mut Drops<P>) {
        for band in &mut self.bands {
            band.clear(drops);
        }
    }

    fn packets(&self) -> usize {
        self.bands.iter().map(Discipline::packets).sum()
    }

    fn bytes(&self) -> u64 {
        self.bands.iter().map(Discipline::bytes).sum()
    }
}
