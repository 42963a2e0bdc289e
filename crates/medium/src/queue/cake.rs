//! The entry of CAKE, a discipline of WAN links. The network has its implementation, because it
//! reads header fields of IP packets.

use super::config::{Mount, QueueConfig};
use super::{Place, Properties, Sharing};
use crate::config::QueueLimit;

pub(super) const PROPERTIES: Properties = Properties {
    name: "cake",
    summary: "as in Linux (`sch_cake`)",
    default_limit: QueueLimit::Packets(10_240),
    places: &[Place::Line],
    sharing: Sharing::Flow,
    marks_ecn: true,
    has_station_codel: false,
    shares_airtime: false,
};

pub(super) fn build<P, M: Mount<P>>(_: &QueueConfig, _: M) -> Option<M::Mounted> {
    None
}
