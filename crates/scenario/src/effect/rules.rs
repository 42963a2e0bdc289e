//! Finds the keys of a plan that have no effect.

use super::Ineffective;
use crate::decode::{Key, Section};
use crate::encode;
use crate::environment::Environment;
use crate::keys::Keys;
use crate::plan::{Ap, ApSetting, Plan, Setting, Station, StationAir};
use crate::plan::{ApSection, LinkSection, ServerSection, StationSection};
use crate::reason::Reason;
use netburn_medium::config::{HardwareQueue, LinkQuality};
use netburn_medium::queue::{Properties, QueueKind};
use netburn_workload::{Config, Direction};

/// Keys grouped by reason, in the order of the first key.
#[derive(Default)]
struct KeysByReason(Vec<Ineffective>);

impl KeysByReason {
    fn add(&mut self, set: bool, reason: Reason, key: impl FnOnce() -> String) {
        if !set {
            return;
        }
        let key = key();
        match self.0.iter_mut().find(|known| known.reason == reason) {
            Some(known) => known.keys.push(key),
            None => self.0.push(Ineffective {
                keys: vec![key],
                reason,
            }),
        }
    }

    /// Adds the keys that are set and that do not act in the environment.
    fn add_keys<'k>(
        &mut self,
        keys: impl IntoIterator<Item = &'k Key>,
        set: &SetKeys,
        environment: Environment,
        section: &str,
    ) {
        for key in keys {
            if let Some((environments, reason)) = key.environments() {
                let set = !environments.contains(&environment) && set.contains(key);
                self.add(set, reason, || format!("{section}.{}", key.name));
            }
        }
    }
}

impl Plan {
    /// Returns the keys that the plan sets and that have no effect on `environment`.
    #[must_use]
    pub fn ineffective_on(&self, environment: Environment) -> Vec<Ineffective> {
        let mut found = KeysByReason::default();
        if environment.models_air() {
            self.without_effect_on_air(environment, &mut found);
        } else {
            let reason = if environment == Environment::Local {
                Reason::NoAir
            } else {
                Reason::RealAir
            };
            self.without_effect_at_aps(environment, reason, &mut found);
            found.add(!self.networks.is_empty(), reason, || "network.*".to_owned());
            let set: Vec<SetKeys> = self.stations.iter().map(SetKeys::for_station).collect();
            for key in StationSection::keys().iter().filter(|key| key.of_air()) {
                let any = set.iter().any(|set| set.contains(key));
                found.add(any, reason, || format!("station.*.{}", key.name));
            }
            let set = SetKeys::for_section::<LinkSection>(&self.server.link);
            found.add_keys(&LinkSection::keys(), &set, environment, "server.link");
            let set = SetKeys::for_section::<ServerSection>(&self.server);
            found.add_keys(&ServerSection::keys(), &set, environment, "server");
            found.add(!self.changes.is_empty(), Reason::NoChanges, || "at".to_owned());
        }
        for station in &self.stations {
            station.without_effect(environment, &mut found);
        }
        found.0
    }

    /// Keys of access points where the air is not modelled: all but `observe` on fleets.
    fn without_effect_at_aps(&self, environment: Environment, reason: Reason, found: &mut KeysByReason) {
        let is_fleet = environment == Environment::Fleet;
        if !is_fleet || self.aps.iter().all(|ap| ap.observe.is_none()) {
            found.add(!self.aps.is_empty(), reason, || "ap.*".to_owned());
            return;
        }
        for ap in self.aps.iter().filter(|ap| !ap.is_only_observed()) {
            found.add(ap.observe.is_none(), reason, || format!("ap.{}.*", ap.name));
            if ap.observe.is_some() {
                let set = SetKeys::for_section::<ApSection>(ap);
                let keys = ApSection::keys();
                let others = keys.iter().filter(|key| key.name != "observe" && set.contains(key));
                others.for_each(|key| found.add(true, reason, || format!("ap.{}.{}", ap.name, key.name)));
                found.add(!ap.radios.is_empty(), reason, || format!("ap.{}.radio", ap.name));
            }
        }
    }

    fn without_effect_on_air(&self, environment: Environment, found: &mut KeysByReason) {
        for ap in &self.aps {
            let set = SetKeys::for_section::<ApSection>(ap);
            found.add_keys(&ApSection::keys(), &set, environment, &format!("ap.{}", ap.name));
            let kinds: Vec<QueueKind> = self.queues_of(ap).collect();
            let key = |key: &str| format!("ap.{}.{key}", ap.name);
            let any = |has: fn(&Properties) -> bool| kinds.iter().any(|kind| has(kind.properties()));
            found.add(!ap.ecn && !any(|queue| queue.marks_ecn), Reason::NeverMarks, || {
                key("ecn")
            });
            let station_codel = any(|queue| queue.has_station_codel);
            found.add(ap.slow_stations && !station_codel, Reason::NoStationCodel, || {
                key("slow_stations")
            });
            let airtime = any(|queue| queue.shares_airtime);
            found.add(ap.aql.is_some() && !airtime, Reason::NotByAirtime, || key("aql"));
            let limited = ap.forwarding.is_some();
            found.add(ap.forwarding_queue.is_some() && !limited, Reason::ForwardsAll, || {
                key("forwarding_queue")
            });
        }
        for station in &self.stations {
            let aps = self.aps_of(station);
            let weighted = station.air.weight != StationAir::default().weight && !aps.is_empty();
            let by_airtime = |ap: &&Ap| self.queues_of(ap).any(|kind| kind.properties().shares_airtime);
            let unlimited = |ap: &&Ap| ap.hardware_queue == HardwareQueue::Unlimited;
            let limited = aps.iter().any(|ap| ap.aql.is_some());
            let key = || format!("station.{}.weight", station.name);
            if !aps.iter().any(by_airtime) {
                found.add(weighted, Reason::NotByAirtime, key);
            } else if aps.iter().all(unlimited) {
                let reason = if limited {
                    Reason::LimitedAlike
                } else {
                    Reason::NothingWaits
                };
                found.add(weighted, reason, key);
            }
        }
    }

    /// Returns the queue disciplines that an access point uses during the plan.
    fn queues_of<'p>(&'p self, ap: &'p Ap) -> impl Iterator<Item = QueueKind> + 'p {
        let changes = self.changes.iter().flat_map(|change| &change.settings);
        let later = changes.filter_map(|setting| match setting {
            Setting::Ap(name, ApSetting::Queue(kind)) if *name == ap.name => Some(*kind),
            _ => None,
        });
        std::iter::once(ap.queue).chain(later)
    }

    /// Returns the access points that a station can use.
    fn aps_of(&self, station: &Station) -> Vec<&Ap> {
        let joins = station.air.joins.as_ref();
        let radios = joins.map(|joins| self.radios_of(joins)).unwrap_or_default();
        let of_station = |ap: &&Ap| radios.iter().any(|radio| radio.ap == ap.name);
        self.aps.iter().filter(of_station).collect()
    }
}

impl Station {
    fn without_effect(&self, environment: Environment, found: &mut KeysByReason) {
        let key = |key: &str| format!("station.{}.{key}", self.name);
        let mut configs = self.workloads.iter().map(|workload| &workload.config);
        let only_receives = |config: &Config| config.direction() == Direction::Down && !config.loads(Direction::Up);
        let receives = !self.workloads.is_empty() && configs.all(only_receives);
        found.add(self.cc.is_some() && receives, Reason::OnlyReceives, || key("cc"));
        let (keys, set) = (StationSection::keys(), SetKeys::for_station(self));
        let section = format!("station.{}", self.name);
        for reason in [Reason::FleetOnly, Reason::RealHosts, Reason::SystemSettings] {
            let of_reason = |key: &&Key| key.environments().is_some_and(|(_, other)| other == reason);
            let keys = keys.iter().filter(of_reason);
            found.add_keys(keys, &set, environment, &section);
        }
    }
}

/// Keys of a section whose values are not the defaults.
struct SetKeys {
    values: Keys,
    defaults: Keys,
}

impl SetKeys {
    fn for_section<S: Section>(plan: &S::Plan) -> Self {
        SetKeys {
            values: S::encode(plan),
            defaults: S::encode(&S::default_plan()),
        }
    }

    fn for_station(station: &Station) -> Self {
        let mut station = station.clone();
        let default = Station::new("");
        // `mcs` implies the rate control.
        if matches!(station.air.quality, Some(LinkQuality::Mcs(_))) || station.air.fixed_mcs.is_some() {
            station.air.rate_control = default.air.rate_control;
        }
        SetKeys {
            values: encode::station(&station),
            defaults: encode::station(&default),
        }
    }

    fn contains(&self, key: &Key) -> bool {
        let value = self.values.get(key.name);
        value.is_some() && value != self.defaults.get(key.name)
    }
}
