//! TIDs of packets by the DSCP mappings of the devices that send them over the air.

use crate::output::NetPacket;
use netburn_scenario::Plan;
use netburn_units::DscpMapping;

/// DSCP mappings of access points and stations, by their index in the plan.
#[derive(Debug)]
pub(crate) struct Mappings {
    aps: Vec<DscpMapping>,
    stations: Vec<DscpMapping>,
}

impl Mappings {
    /// Mappings of a plan. `None` if all are the default: packets then keep the TID that their sender has set.
    pub(crate) fn from_plan(plan: &Plan) -> Option<Self> {
        let mappings = Mappings {
            aps: plan.aps.iter().map(|ap| ap.dscp_mapping).collect(),
            stations: plan.stations.iter().map(|station| station.air.dscp_mapping).collect(),
        };
        let mut all = mappings.aps.iter().chain(&mappings.stations);
        all.any(|mapping| *mapping != DscpMapping::default())
            .then_some(mappings)
    }

    /// Sets the TID of a packet that an access point sends.
    pub(crate) fn at_ap<P>(&self, ap: usize, packet: &mut NetPacket<P>) {
        packet.tid = self.aps[ap].user_priority(packet.payload.headers.dscp());
    }

    /// Sets the TID of a packet that a station sends.
    pub(crate) fn at_station<P>(&self, station: u16, packet: &mut NetPacket<P>) {
        packet.tid = self.stations[usize::from(station)].user_priority(packet.payload.headers.dscp());
    }
}
