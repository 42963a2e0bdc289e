//! Changes of roaming: features of the network, the policy and the trigger of clients, the place of an access point.

use super::InterventionBuilder;
use netburn_analysis::explain::{Cause, Kind};
use netburn_medium::config::RoamingPolicy;
use netburn_medium::geometry::Position;
use netburn_network::roaming_trigger;
use netburn_scenario::plan::{Ap, Joins};

/// Increase of the signal at which a client looks for another access point, in dB.
const TRIGGER_STEP_DB: f64 = 5.0;

impl InterventionBuilder<'_> {
    /// Proposes features of the network for the stations that roam. Returns `false` if the plan describes none.
    pub(super) fn roaming(&mut self, cause: &Cause) -> bool {
        let roams = |name: &&String| {
            let station = self.plan.station(name)?;
            station.air.roaming?;
            match station.air.joins.as_ref()? {
                Joins::Network(network) => Some(network.clone()),
                Joins::Radio(_) => None,
            }
        };
        let mut networks: Vec<String> = cause.stations.iter().filter_map(|name| roams(&name)).collect();
        networks.dedup();
        for network in &networks {
            let key = |name: &str| format!("network.{network}.{name}");
            let (k, v, r, steering) = (key("k"), key("v"), key("r"), key("steering"));
            let reports = (k.as_str(), "true");
            let fast = (r.as_str(), "true");
            // OpenWrt's usteer with the thresholds that it needs to move stations.
            let asks = [
                (v.as_str(), "true"),
                (
                    steering.as_str(),
                    "{ policy = \"usteer\", trigger = \"-70 dBm\", margin = \"5 dB\" }",
                ),
            ];
            let mut propose = |label: &str, keys: &[(&str, &str)]| {
                self.propose(Kind::Roaming, format!("{network} has {label}"), keys);
            };
            propose("neighbour reports (802.11k)", &[reports]);
            propose("fast transition (802.11r)", &[fast]);
            propose("transition requests to stations with a weak signal (802.11v)", &asks);
            propose(
                "neighbour reports and transition requests (802.11k and v)",
                &[reports, asks[0], asks[1]],
            );
            propose(
                "neighbour reports and fast transition (802.11k and r)",
                &[reports, fast],
            );
            propose(
                "neighbour reports, transition requests and fast transition (802.11k, v and r)",
                &[reports, asks[0], asks[1], fast],
            );
        }
        for name in &cause.stations {
            let Some(roaming) = self.plan.station(name).and_then(|station| station.air.roaming) else {
                continue;
            };
            let policy = format!("station.{name}.roaming.policy");
            for (label, known, word) in [
                (
                    "looks for another access point below -70 dBm, as an iPhone",
                    RoamingPolicy::ApplePhone,
                    "apple-phone",
                ),
                (
                    "follows NetworkManager's policy on Linux",
                    RoamingPolicy::Linux,
                    "linux",
                ),
            ] {
                if roaming.policy != Some(known) {
                    self.propose(Kind::Roaming, format!("{name} {label}"), &[(&policy, word)]);
                }
            }
        }
        for name in &cause.stations {
            self.higher_trigger(name);
            self.nearer_access_point(name);
        }
        !networks.is_empty()
    }

    /// Proposes that a client looks for another access point at a signal that is 5 dB higher.
    fn higher_trigger(&mut self, name: &str) {
        let roaming = self.plan.station(name).and_then(|station| station.air.roaming);
        let Some(now) = roaming.as_ref().and_then(roaming_trigger) else {
            return;
        };
        let higher = format!("{} dBm", (now + TRIGGER_STEP_DB).min(0.0));
        let label = format!("{name} looks for another access point below {higher}");
        let key = format!("station.{name}.roaming.trigger");
        self.propose(Kind::Roaming, label, &[(&key, &higher)]);
    }

    /// Proposes to move the access point that is farthest from the start of a station's path. Its distance to the middle of
    /// the path is halved.
    fn nearer_access_point(&mut self, name: &str) {
        let Some(station) = self.plan.station(name) else { return };
        let (path, joins) = (&station.air.path, &station.air.joins);
        let (Some(begin), Some(middle), Some(joins)) = (path.first(), middle(path), joins) else {
            return;
        };
        let mut second: Option<(&Ap, Position)> = None;
        for radio in self.plan.radios_of(joins) {
            let ap = self.plan.aps.iter().find(|ap| ap.name == radio.ap);
            let Some((ap, at)) = ap.and_then(|ap| Some((ap, ap.position?))) else {
                continue;
            };
            if second.is_none_or(|(_, known)| at.metres_to(*begin) > known.metres_to(*begin)) {
                second = Some((ap, at));
            }
        }
        let Some((ap, at)) = second else { return };
        let to = at.towards(middle, 1, 2);
        let label = format!(
            "{} is at half of its distance to the middle of {name}'s path, at {to}",
            ap.name
        );
        let key = format!("ap.{}.position", ap.name);
        self.propose(Kind::Roaming, label, &[(&key, &to.to_string())]);
    }
}

/// Position after half of the length of a path; `None` if the path has no length.
fn middle(path: &[Position]) -> Option<Position> {
    let legs = || path.windows(2).map(|leg| (leg[0], leg[1], leg[0].metres_to(leg[1])));
    let mut left = legs().map(|(.., metres)| metres).sum::<f64>() / 2.0;
    for (from, to, metres) in legs() {
        if metres > 0.0 && left <= metres {
            return Some(from.towards(to, (left * 1e3) as u64, (metres * 1e3) as u64));
        }
        left -= metres;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 m to the east, then 20 m to the north: after 15 m it is 5 m north of the corner.
    #[test]
    fn the_middle_of_a_path() {
        let at = |x: i64, y: i64| Position {
            x: x * 1_000,
            y: y * 1_000,
            floor: 0,
        };
        assert_eq!(middle(&[at(0, 0), at(10, 0), at(10, 20)]), Some(at(10, 5)));
        assert_eq!(middle(&[at(0, 0), at(10, 0), at(0, 0)]), Some(at(10, 0)));
        assert_eq!(middle(&[at(3, 0)]), None);
        assert_eq!(middle(&[at(3, 0), at(3, 0)]), None);
    }
}
