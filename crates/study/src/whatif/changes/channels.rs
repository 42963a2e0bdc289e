//! Changes of channels and signals.

use super::InterventionBuilder;
use netburn_analysis::explain::{Cause, Kind};
use netburn_medium::config::Band;
use netburn_network::PlannedNetwork;
use netburn_scenario::Plan;
use netburn_scenario::plan::RadioRef;

/// Channels of each band that do not overlap at common widths (802.11-2020 annex E).
const CHANNELS_2G: [u16; 3] = [1, 6, 11];
const CHANNELS_5G: [u16; 4] = [36, 52, 100, 149];
const CHANNELS_6G: [u16; 4] = [1, 65, 129, 193];

impl InterventionBuilder<'_> {
    pub(super) fn weak_signal(&mut self, cause: &Cause) {
        for name in &cause.by {
            self.stronger_signal(Kind::WeakSignal, name);
            self.other_radio(Kind::WeakSignal, name);
        }
    }

    pub(super) fn slow_cochannel(&mut self, cause: &Cause) {
        self.free_channels(Kind::SlowCochannel, &cause.stations);
        for name in &cause.by {
            self.stronger_signal(Kind::SlowCochannel, name);
            self.other_radio(Kind::SlowCochannel, name);
        }
    }

    /// Proposes a channel without other radios of the scenario for the radios of these stations.
    pub(super) fn free_channels(&mut self, cause: Kind, stations: &[String]) {
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
            let channels = match own.radio.band {
                Band::Ghz2_4 => &CHANNELS_2G[..],
                Band::Ghz5 => &CHANNELS_5G[..],
                Band::Ghz6 => &CHANNELS_6G[..],
            };
            let free = channels
                .iter()
                .map(u16::to_string)
                .find(|channel| self.is_free_channel(&own, &key, channel));
            if let Some(channel) = free {
                let label = format!("{own} uses channel {channel}, which no other network uses");
                self.propose(cause, label, &[(&key, &channel)]);
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
