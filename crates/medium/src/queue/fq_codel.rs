//! FQ-CoDel over the whole device (RFC 8290), above the driver's lists.

use super::codel::CodelParameters;
use super::config::{Mount, QueueConfig};
use super::driver::{Discipline, Order};
use super::fq::{Fq, FqParameters};
use super::{Drops, Place, Properties, Sharing, StationTid};
use crate::config::QueueLimit;
use crate::packet::{NodeId, Queued};
use netburn_units::Instant;

/// The single tin for all flows of the device.
const DEVICE: StationTid = StationTid { to: NodeId(0), tid: 0 };

/// The limit is the default of the qdisc's `limit`. It is the default of stations, because Linux uses it since systemd 217.
pub(super) const PROPERTIES: Properties = Properties {
    name: "fq-codel",
    summary: "RFC 8290 over the device",
    default_limit: QueueLimit::Packets(10_240),
    places: &[Place::Radio, Place::Wire, Place::Line],
    sharing: Sharing::Flow,
    marks_ecn: true,
    has_station_codel: false,
    shares_airtime: false,
};

pub(super) fn build<P: std::fmt::Debug + Send + 'static, M: Mount<P>>(
    config: &QueueConfig,
    mount: M,
) -> Option<M::Mounted> {
    let queue = FqCodel::new(
        config.bounded(FqParameters::QDISC),
        config.marking(CodelParameters::QDISC),
    );
    mount.device(queue, Order::RoundRobin)
}

/// The `fq_codel` qdisc.
#[derive(Debug)]
pub struct FqCodel<P> {
    fq: Fq<P>,
    codel: CodelParameters,
}

impl<P> FqCodel<P> {
    /// Creates the queue.
    #[must_use]
    pub fn new(parameters: FqParameters, codel: CodelParameters) -> Self {
        FqCodel {
            fq: Fq::new(parameters),
            codel,
        }
    }
}

impl<P: std::fmt::Debug + Send> Discipline<P> for FqCodel<P> {
    fn enqueue(&mut self, _now: Instant, packet: Queued<P>, drops: &mut Drops<P>) {
        self.fq.enqueue(DEVICE, self.codel, packet, drops);
    }

    fn dequeue(&mut self, now: Instant, drops: &mut Drops<P>) -> Option<Queued<P>> {
        self.fq.dequeue(now, DEVICE, drops)
    }

    fn clear(&mut self, drops: &mut Drops<P>) {
        self.fq.clear(drops);
    }

    fn packets(&self) -> usize {
        self.fq.packets()
    }

    fn bytes(&self) -> u64 {
        self.fq.bytes()
    }
}
