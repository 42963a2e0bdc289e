//! Changes of channels and signals.

use super::{Effort, InterventionBuilder};
use crate::explain::Kind;
use netburn_medium::config::Band;
use netburn_network::PlannedNetwork;
use netburn_scenario::Plan;
use netburn_scenario::plan::RadioRef;

/// Channels of each band that do not overlap at common widths (802.11-2020 annex E).
pub(crate) const fn channels(band: Band) -> &'static [u16] {
    match band {
        Band::Ghz2_4 => &[1, 6, 11],
        Band::Ghz5 => &[36, 52, 100, 149],
        Band::Ghz6 => &[1, 65, 129, 193],
    }
}

impl InterventionBuilder<'_> {
    /// Proposes a channel without other radios of the scenario for the radios of these stations.
    pub(crate) fn free_channels(&mut self, cause: Kind, stations: &[String]) {
        for name in stations {
            let Some((ap, radio)) = self.place(name) else { continue };
            let Some(known) = ap.radios.iter().find(|known| known.name.to_string() == radio) else {
                continue;
            };
            let own = RadioRef {
                ap: ap.name.clone(),
                radio: known.name,
            };
            let key = format!("ap.{}.radio.{radio}.channel", ap.name);
            let free = channels(own.radio.band)
                .iter()
                .map(u16::to_string)
                .find(|channel| self.is_free_channel(&own, &key, channel));
            if let Some(channel) = free {
                let label = format!("{own} uses channel {channel}, which no other network uses");
                self.propose(cause, Effort::Setting, label, &[(&key, &channel)]);
            }
        }
    }

    /// Returns `true` if a radio would not share the channel with another one.
    fn is_free_channel(&self, radio: &RadioRef, key: &str, channel: &str) -> bool {
        let mut document = self.document.clone();
        let plan: Option<Plan> = document.set(key, channel).ok().and_then(|()| document.resolve().ok());
        let network = plan.and_then(|plan| PlannedNetwork::new(&plan).ok());
        network.is_some_and(|network| network.has_own_channel(radio))
    }
}
