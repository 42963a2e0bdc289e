//! Configuration of a transmit queue, and its construction.

use super::codel::CodelParameters;
use super::driver::{ATH9K_DEPTH, Device, Discipline, Order};
use super::fq::FqParameters;
use super::{QueueKind, StationTid, TransmitQueue};
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

/// Device for which a discipline is built. The constructors call it with the type of the discipline, so that the calls for
/// each packet need no second dispatch.
pub(super) trait Mount<P> {
    /// The discipline in its place.
    type Mounted;

    /// Takes a discipline above a device. The lists of a Wi-Fi driver below it are served in this
    /// order.
    fn device(self, discipline: impl Discipline<P> + 'static, order: Order) -> Option<Self::Mounted>;

    /// Takes a discipline that is a Wi-Fi transmit queue of its own.
    fn stations(self, queue: impl TransmitQueue<P> + 'static) -> Option<Self::Mounted>;
}

/// An Ethernet device.
struct Wire;

/// The driver of a radio, with this number of packets in all its lists.
struct Radio(usize);

impl<P> Mount<P> for Wire {
    type Mounted = Box<dyn Discipline<P>>;

    fn device(self, discipline: impl Discipline<P> + 'static, _: Order) -> Option<Self::Mounted> {
        Some(Box::new(discipline))
    }

    fn stations(self, _: impl TransmitQueue<P> + 'static) -> Option<Self::Mounted> {
        None
    }
}

impl<P: std::fmt::Debug + Send + 'static> Mount<P> for Radio {
    type Mounted = Box<dyn TransmitQueue<P>>;

    fn device(self, discipline: impl Discipline<P> + 'static, order: Order) -> Option<Self::Mounted> {
        Some(Box::new(Device::new(discipline, self.0, order)))
    }

    fn stations(self, queue: impl TransmitQueue<P> + 'static) -> Option<Self::Mounted> {
        Some(Box::new(queue))
    }
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
        self.kind.construct(self, Wire)
    }

    /// Builds the queue of a radio; `None` for disciplines of WAN links only.
    #[must_use]
    pub fn build<P: std::fmt::Debug + Send + 'static>(&self) -> Option<Box<dyn TransmitQueue<P>>> {
        self.kind.construct(self, Radio(usize::from(self.depth)))
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
        for tin in self
            .slow
            .iter()
            .flat_map(|to| (0..8).map(|tid| StationTid { to: *to, tid }))
        {
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
