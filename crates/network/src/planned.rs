//! Radios, channels and parents that follow from a plan, without a network.

use crate::error::NetworkError;
use crate::layout::{Attachment, Layout, LinkRates, UnitLink};
use crate::observe::BackhaulHop;
use netburn_scenario::plan::RadioRef;
use netburn_scenario::{Associations, Plan};
use netburn_units::BitRate;

/// Radios, channels and parents of a plan at the start of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedNetwork {
    /// Radios of the stations, and parents of the access points.
    pub associations: Associations,
    /// Radios of the access points, each with its channel number in the model: radios with the same number share the air.
    pub radios: Vec<(RadioRef, usize)>,
    /// Number in the plan of the station of each node of the model. The nodes of stations follow those of the radios.
    pub station_of_node: Vec<u16>,
    /// Rates that the signals of the stations permit, by station; `None` with a wire.
    pub rates: Vec<Option<LinkRates>>,
    /// Wireless links of access points with their parents, in the order of the plan. Links of meshes are not among them.
    pub backhaul_hops: Vec<BackhaulHop>,
}

impl PlannedNetwork {
    /// # Errors
    /// If a radio, a link or a channel of the plan is invalid.
    pub fn new(plan: &Plan) -> Result<Self, NetworkError> {
        let layout = Layout::from_plan(plan)?;
        let stations = layout.attachments.iter().map(|attachment| match attachment {
            Attachment::Air(index) => Some(&layout.wifi_stations[*index]),
            Attachment::Wire(_) => None,
        });
        let rates = stations.clone().map(|at| Some(at?.link.rates())).collect();
        let channel = |node: usize| layout.air.nodes[node].channel;
        let mut parents = vec![None; plan.aps.len()];
        let mut backhaul_signals = vec![None; plan.aps.len()];
        for link in &layout.units {
            parents[link.ap] = Some(link.parent_ap);
            backhaul_signals[link.ap] = link.signals().0;
        }
        let hop = |link: &UnitLink| BackhaulHop {
            ap: link.ap,
            parent: link.parent_ap,
            channel: channel(link.own.index()),
            rate: BitRate::from_bps(link.expected_bps() as u64),
        };
        let radios = layout.radios.iter().enumerate();
        Ok(PlannedNetwork {
            associations: Associations {
                radios: stations
                    .clone()
                    .map(|at| Some(layout.radios[at?.radio.index()].name.clone()))
                    .collect(),
                parents,
                signals: stations.map(|at| at?.link.signal(&at?.quality)).collect(),
                backhaul_signals,
            },
            rates,
            radios: radios
                .map(|(node, radio)| (radio.name.clone(), channel(node)))
                .collect(),
            station_of_node: layout.station_of_node,
            backhaul_hops: layout.units.iter().map(hop).collect(),
        })
    }

    /// Channel number of a radio in the model.
    #[must_use]
    pub fn channel(&self, radio: &RadioRef) -> Option<usize> {
        let found = self.radios.iter().find(|(known, _)| known == radio);
        found.map(|(_, channel)| *channel)
    }

    /// Returns true if no other radio shares the channel of a radio.
    #[must_use]
    pub fn has_own_channel(&self, radio: &RadioRef) -> bool {
        let own = self.channel(radio);
        self.radios.iter().filter(|(_, channel)| Some(*channel) == own).count() == 1
    }
}
