//! Changes of channels and signals.

use super::Maker;
use netburn_medium::config::Band;
use netburn_network::Network;
use netburn_report::explain::{Cause, Kind};
use netburn_scenario::Plan;

/// Channels of each band that don't overlap at the widths that are usual there (802.11-2020 annex E).
const CHANNELS_2G: [u16; 3] = [1, 6, 11];
const CHANNELS_5G: [u16; 4] = [36, 52, 100, 149];
const CHANNELS_6G: [u16; 4] = [1, 65, 129, 193];

impl Maker<'_> {
    pub(super) fn weak_signal(&mut self, cause: &Cause) {
        for name in &cause.by {
            self.nearer(Kind::WeakSignal, name);
            self.elsewhere(Kind::WeakSignal, name);
        }
    }

    pub(super) fn slow_cochannel(&mut self, cause: &Cause) {
        for name in &cause.stations {
            let Some((ap, radio)) = self.place(name) else { continue };
            let own = format!("{}.{radio}", ap.name);
            let Some(band) = ap
                .radios
                .iter()
                .find(|known| known.name.to_string() == radio)
                .map(|known| known.name.band)
            else {
                continue;
            };
            let key = format!("ap.{}.radio.{radio}.channel", ap.name);
            let channels = match band {
                Band::Ghz2_4 => &CHANNELS_2G[..],
                Band::Ghz5 => &CHANNELS_5G[..],
                Band::Ghz6 => &CHANNELS_6G[..],
            };
            let free = channels
                .iter()
                .map(u16::to_string)
                .find(|channel| self.is_alone(&own, &key, channel));
            if let Some(channel) = free {
                let label = format!("{own} is on channel {channel}, where no other network is");
                self.offer(Kind::SlowCochannel, label, &[(&key, &channel)]);
            }
        }
        for name in &cause.by {
            self.nearer(Kind::SlowCochannel, name);
            self.elsewhere(Kind::SlowCochannel, name);
        }
    }

    /// Whether a radio would share its channel with no other there.
    fn is_alone(&self, radio: &str, key: &str, channel: &str) -> bool {
        let mut document = self.document.clone();
        let plan: Option<Plan> = document.set(key, channel).ok().and_then(|()| document.resolve().ok());
        let Some(network) = plan.and_then(|plan| Network::<()>::new(&plan).ok()) else {
            return false;
        };
        let radios = network.radio_stats();
        let own = radios
            .iter()
            .find(|known| known.name == radio)
            .map(|known| known.channel);
        radios.iter().filter(|known| Some(known.channel) == own).count() == 1
    }
}
