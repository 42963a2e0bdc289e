//! Configuration of a transmit queue, and its construction.

use super::codel::CodelParameters;
use super::driver::{ATH9K_DEPTH, Device, Discipline, Order};
use super::fq::FqParameters;
use super::{QueueKind, Tin, TransmitQueue};
use crate::config::{Aql, QueueLimit};
use crate::packet::NodeId;

/// Configuration of a transmit queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueConfig {
    /// Queue discipline.
    pub kind: QueueKind,
    /// Limit of the queue.
    pub limit: QueueLimit,
    /// Packets in all lists of the driver together, for disciplines without station queues; at
    /// least one.
    pub depth: u16,
    /// True if the queue marks ECN-capable packets.
    pub ecn: bool,
    /// Airtime queue limits of the hardware, for disciplines with airtime accounting.
    pub aql: Option<Aql>,
    /// Stations that get more time before CoDel drops, for disciplines with CoDel per station.
    pub slow: Vec<NodeId>,
    /// Weights of stations other than the default, for disciplines with airtime accounting.
    pub weights: Vec<(NodeId, u32)>,
}

/// A new discipline: a queue for a whole device, or one with a queue per station.
pub enum Built<P> {
    /// A discipline above a device. The lists of a Wi-Fi driver below it are served in this order.
    Device(Box<dyn Discipline<P>>, Order),
    /// A discipline that is a Wi-Fi transmit queue of its own.
    Stations(Box<dyn TransmitQueue<P>>),
}

/// Bytes per packet if a limit in bytes applies to a queue that counts packets: a full Ethernet
/// frame.
const FULL: u64 = 1_514;

impl QueueConfig {
    /// Queue of a station: default length, with ECN.
    #[must_use]
    pub const fn for_station(kind: QueueKind) -> Self {
        QueueConfig {
            kind,
            limit: kind.default_limit(),
            depth: ATH9K_DEPTH,
            ecn: true,
            aql: None,
            slow: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Queue discipline alone, as above an Ethernet device; `None` for those with station queues,
    /// and for those of WAN links only.
    #[must_use]
    pub fn discipline<P: std::fmt::Debug + Send + 'static>(&self) -> Option<Box<dyn Discipline<P>>> {
        match self.kind.construct(self)? {
            Built::Device(discipline, _) => Some(discipline),
            Built::Stations(_) => None,
        }
    }

    /// Builds the queue of a radio; `None` for disciplines of WAN links only.
    #[must_use]
    pub fn build<P: std::fmt::Debug + Send + 'static>(&self) -> Option<Box<dyn TransmitQueue<P>>> {
        Some(match self.kind.construct(self)? {
            Built::Device(discipline, order) => Box::new(Device::new(discipline, usize::from(self.depth), order)),
            Built::Stations(queue) => queue,
        })
    }

    /// CoDel parameters of a station.
    #[must_use]
    pub const fn codel(&self, slow: bool) -> CodelParameters {
        if slow {
            CodelParameters::MAC80211_SLOW
        } else {
            self.marking(CodelParameters::MAC80211)
        }
    }

    /// The given parameters, with the ECN setting.
    pub(super) const fn marking(&self, usual: CodelParameters) -> CodelParameters {
        CodelParameters { ecn: self.ecn, ..usual }
    }

    /// The given parameters, with the limit.
    pub(super) fn bounded(&self, usual: FqParameters) -> FqParameters {
        let packets = match self.limit {
            QueueLimit::Packets(packets) => packets,
            QueueLimit::Bytes(bytes) => u32::try_from(bytes.as_bytes().div_ceil(FULL)).unwrap_or(u32::MAX),
        };
        FqParameters { packets, ..usual }
    }

    /// Sets the weights and the slow stations of a queue with station queues.
    pub(super) fn set_stations<P>(&self, queue: &mut impl TransmitQueue<P>) {
        for (station, weight) in &self.weights {
            queue.set_weight(*station, *weight);
        }
        for tin in self.slow.iter().flat_map(|to| (0..8).map(|tid| Tin { to: *to, tid })) {
            queue.set_codel(tin, self.codel(true));
        }
    }

    /// Returns true if the queue can't hold a packet.
    #[must_use]
    pub fn is_zero_length(&self) -> bool {
        match self.limit {
            QueueLimit::Packets(packets) => packets == 0,
            QueueLimit::Bytes(bytes) => bytes.as_bytes() == 0,
        }
    }
}
