//! Changes of wireless backhauls: a wire, and a radio of its own.

use super::InterventionBuilder;
use netburn_analysis::explain::{Cause, Kind};
use netburn_scenario::plan::{Ap, RadioRef};

impl InterventionBuilder<'_> {
    /// Proposes a wire, and a radio that serves no station. Both are for the access points of the affected stations, and
    /// for those between them and the server.
    pub(super) fn backhaul(&mut self, cause: &Cause) {
        let mut units: Vec<&Ap> = Vec::new();
        for name in &cause.stations {
            let mut at = self.place(name).map(|(ap, _)| ap);
            while let Some(ap) = at.filter(|ap| !units.iter().any(|known| known.name == ap.name)) {
                let number = self.plan.aps.iter().position(|known| known.name == ap.name);
                let hop = self.parents.iter().find(|(unit, _)| Some(*unit) == number);
                let Some((_, parent)) = hop else { break };
                units.push(ap);
                at = self.plan.aps.get(*parent);
            }
        }
        // Stations at the wire are affected as well: the hops use their channel.
        if units.is_empty() {
            units.extend(self.parents.iter().filter_map(|(unit, _)| self.plan.aps.get(*unit)));
        }
        for ap in units.iter().copied() {
            let key = format!("ap.{}.backhaul", ap.name);
            self.propose(Kind::Backhaul, format!("{} has a wire", ap.name), &[(&key, "wired")]);
            if let Some(radio) = self.free_radio(ap) {
                let label = format!("{} has a backhaul radio of its own, to {radio}", ap.name);
                self.propose(Kind::Backhaul, label, &[(&key, &radio.to_string())]);
            }
            self.nearer_unit(ap);
        }
    }

    /// Proposes another place of a unit: nearer to the access point with the wire.
    fn nearer_unit(&mut self, ap: &Ap) {
        let wired = self.plan.aps.iter().find(|other| !other.backhaul.is_wireless());
        let (Some(at), Some(to)) = (ap.position, wired.and_then(|wired| wired.position)) else {
            return;
        };
        let nearer = at.towards(to, 1, 3).to_string();
        let label = format!(
            "{} is nearer to the router by a third of the distance, at {nearer}",
            ap.name
        );
        self.propose(Kind::Backhaul, label, &[(&format!("ap.{}.position", ap.name), &nearer)]);
    }

    /// A radio of the parent that serves no station, and on whose channel the access point has a radio that serves none.
    fn free_radio(&self, ap: &Ap) -> Option<RadioRef> {
        let now = ap.backhaul.parent()?;
        let parent = self.plan.aps.iter().find(|other| other.name == now.ap)?;
        let serves = |ap: &Ap, radio: &netburn_scenario::plan::RadioName| {
            let name = format!("{}.{radio}", ap.name);
            self.joined.iter().flatten().any(|joined| *joined == name)
        };
        let (own, theirs) = (ap.all_radios().ok()?, parent.all_radios().ok()?);
        let is_free = |(name, config): &&(netburn_scenario::plan::RadioName, netburn_medium::config::RadioConfig)| {
            let same = |(_, other): &&(_, netburn_medium::config::RadioConfig)| {
                (other.band, other.channel) == (config.band, config.channel)
            };
            // The link uses the first radio on the channel.
            let mine = own.iter().find(same);
            *name != now.radio && !serves(parent, name) && mine.is_some_and(|(mine, _)| !serves(ap, mine))
        };
        let (radio, _) = theirs.iter().find(is_free)?;
        Some(RadioRef {
            ap: parent.name.clone(),
            radio: *radio,
        })
    }
}
