//! Construction of transmit queues from their names.

use crate::output::Payload;
use netburn_medium::config::{Aql, QueueKind, QueueLimit};
use netburn_medium::packet::NodeId;
use netburn_medium::queue::airtime::Airtime;
use netburn_medium::queue::codel::CodelParameters;
use netburn_medium::queue::driver::{ATH9K_DEPTH, Device, Discipline, Order};
use netburn_medium::queue::fifo::Fifo;
use netburn_medium::queue::fq::FqParameters;
use netburn_medium::queue::fq_codel::FqCodel;
use netburn_medium::queue::fq_mac::FqMac;
use netburn_medium::queue::pfifo_fast::PfifoFast;
use netburn_medium::queue::station_rr::StationRr;
use netburn_medium::queue::{Tin, TransmitQueue};

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

    /// Queue discipline alone, as above an Ethernet device; `None` for those with station queues.
    pub(crate) fn discipline<P: Payload>(&self) -> Option<Box<dyn Discipline<P>>> {
        Some(match self.kind {
            QueueKind::Fifo => Box::new(Fifo::new(self.limit)),
            QueueKind::PfifoFast => Box::new(PfifoFast::new(self.limit)),
            QueueKind::FqCodel => Box::new(self.fq_codel()),
            QueueKind::StationRr | QueueKind::FqMac | QueueKind::Airtime => return None,
        })
    }

    /// Builds the queue.
    #[must_use]
    pub fn build<P: Payload>(&self) -> Box<dyn TransmitQueue<P>> {
        let depth = usize::from(self.depth);
        match self.kind {
            // The device keeps the order of arrival, across all stations.
            QueueKind::Fifo => Box::new(Device::new(Fifo::new(self.limit), depth, Order::Arrival)),
            QueueKind::PfifoFast => Box::new(Device::new(PfifoFast::new(self.limit), depth, Order::Arrival)),
            QueueKind::FqCodel => Box::new(Device::new(self.fq_codel(), depth, Order::RoundRobin)),
            QueueKind::StationRr => Box::new(StationRr::new(self.limit)),
            QueueKind::FqMac => {
                let parameters = self.bounded(FqParameters::MAC80211);
                let mut queue = FqMac::new(parameters, self.codel(false));
                for tin in self.slow_tins() {
                    queue.set_codel(tin, self.codel(true));
                }
                Box::new(queue)
            }
            QueueKind::Airtime => {
                let parameters = self.bounded(FqParameters::MAC80211);
                let mut queue = Airtime::new(parameters, self.codel(false), self.aql);
                for (station, weight) in &self.weights {
                    queue.set_weight(*station, *weight);
                }
                for tin in self.slow_tins() {
                    queue.set_codel(tin, self.codel(true));
                }
                Box::new(queue)
            }
        }
    }

    /// CoDel parameters of a station.
    pub(crate) fn codel(&self, slow: bool) -> CodelParameters {
        if slow {
            CodelParameters::MAC80211_SLOW
        } else {
            self.marking(CodelParameters::MAC80211)
        }
    }

    fn fq_codel<P>(&self) -> FqCodel<P> {
        FqCodel::new(self.bounded(FqParameters::QDISC), self.marking(CodelParameters::QDISC))
    }

    /// The given parameters, with the ECN setting.
    fn marking(&self, usual: CodelParameters) -> CodelParameters {
        CodelParameters { ecn: self.ecn, ..usual }
    }

    fn slow_tins(&self) -> impl Iterator<Item = Tin> + '_ {
        self.slow.iter().flat_map(|to| (0..8).map(|tid| Tin { to: *to, tid }))
    }

    fn bounded(&self, usual: FqParameters) -> FqParameters {
        let packets = match self.limit {
            QueueLimit::Packets(packets) => packets,
            QueueLimit::Bytes(bytes) => u32::try_from(bytes.as_bytes().div_ceil(FULL)).unwrap_or(u32::MAX),
        };
        FqParameters { packets, ..usual }
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

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::WIRED_QUEUES;

    #[test]
    fn wired_stations_have_the_disciplines_without_station_queues() {
        for kind in QueueKind::ALL {
            let discipline = QueueConfig::for_station(kind).discipline::<()>();
            assert_eq!(discipline.is_some(), WIRED_QUEUES.contains(&kind), "{}", kind.name());
        }
    }
}
