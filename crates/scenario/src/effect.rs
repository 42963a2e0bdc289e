//! Keys of a plan that have no effect in its environment.
//!
//! A plan has every default filled in, so a key counts as set when its value is not the default.

use crate::environment::Environment;
use crate::plan::{Ap, ApSetting, DEFAULT_INTERRUPT_INTERVAL, Plan, Setting, Station, StationAir};
use netburn_medium::config::{AdapterRate, HardwareQueue, LinkQuality, QueueKind, RadioSelection, RateControl};
use netburn_units::Duration;
use netburn_workload::Kind;
use std::fmt;

/// Keys without effect that share one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ineffective {
    /// The keys, as paths into the scenario file; `*` stands for every name.
    pub keys: Vec<String>,
    /// Reason why the keys have no effect.
    pub reason: Reason,
}

/// Reason why a key has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The air is real.
    RealAir,
    /// The environment has no Wi-Fi.
    NoAir,
    /// Hosts are real, and the key describes a modelled host.
    RealHosts,
    /// The settings of the operating systems apply.
    SystemSettings,
    /// The path to the server is real, except for its rate.
    RealPath,
    /// Settings cannot change during a run.
    NoChanges,
    /// The key selects an agent of a fleet.
    FleetOnly,
    /// The key applies to sent traffic, and the station only receives.
    OnlyReceives,
    /// The queue never marks packets.
    NeverMarks,
    /// The queue has no CoDel per station.
    NoStationCodel,
    /// The queue does not schedule by airtime.
    NotByAirtime,
    /// Only the airtime queue limits bound a station's data in the hardware, and they are the same for all stations
    /// (as in Linux).
    LimitedAlike,
    /// The access point's forwarding rate is unlimited.
    ForwardsAll,
}

impl fmt::Display for Ineffective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, key) in self.keys.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}`{key}`")?;
        }
        let verb = if self.keys.len() == 1 { "has" } else { "have" };
        write!(f, " {verb} no effect: {}", self.reason.text())
    }
}

impl Reason {
    const fn text(self) -> &'static str {
        match self {
            Reason::RealAir => "the air is real",
            Reason::NoAir => "local has no Wi-Fi",
            Reason::RealHosts => "the hosts are real; only simulate models it",
            Reason::SystemSettings => "the settings of the operating systems apply",
            Reason::RealPath => "the path to the server is real; only its rate can be limited",
            Reason::NoChanges => "only simulate and lab change keys during a run",
            Reason::FleetOnly => "it selects an agent of a fleet",
            Reason::OnlyReceives => {
                "the station only receives; traffic to it follows `server.cc` or the `cc` of its workload"
            }
            Reason::NeverMarks => "this queue never marks packets; `fq-codel`, `fq-mac` and `airtime` do",
            Reason::NoStationCodel => "this queue has no CoDel per station; `fq-mac` and `airtime` do",
            Reason::NotByAirtime => "its access point does not schedule by airtime (`queue = \"airtime\"`)",
            Reason::LimitedAlike => {
                "with `hardware_queue = \"unlimited\"`, only the airtime queue limits apply, and they are the same for all stations"
            }
            Reason::ForwardsAll => "without `forwarding` no packet is queued there",
        }
    }
}

/// A station's key for Wi-Fi or its wired link, with a test whether a plan sets it.
struct AirKey {
    name: &'static str,
    set: fn(&Station) -> bool,
}

const AIR_KEYS: [AirKey; 15] = {
    const fn key(name: &'static str, set: fn(&Station) -> bool) -> AirKey {
        AirKey { name, set }
    }
    [
        key("joins", |station| station.air.joins.is_some()),
        key("link", |station| station.link.is_some()),
        key("radio_selection", |station| {
            station.air.radio_selection != RadioSelection::default()
        }),
        key("standard", |station| station.air.standard.is_some()),
        key("streams", |station| {
            station.air.streams != StationAir::default().streams
        }),
        key("signal", |station| {
            matches!(station.air.quality, Some(LinkQuality::Signal(_)))
        }),
        key("distance", |station| {
            matches!(station.air.quality, Some(LinkQuality::Distance(_)))
        }),
        key("mcs", |station| {
            matches!(station.air.quality, Some(LinkQuality::Mcs(_)))
        }),
        key("signal_up", |station| station.air.signal_up.is_some()),
        key("hidden_from", |station| !station.air.hidden_from.is_empty()),
        key("rate_control", |station| {
            let fixed = matches!(station.air.quality, Some(LinkQuality::Mcs(_)));
            !fixed && station.air.rate_control != RateControl::default()
        }),
        key("adapter_rate", |station| {
            station.air.adapter_rate != AdapterRate::default()
        }),
        key("queue", |station| station.air.queue != StationAir::default().queue),
        key("hardware_queue", |station| {
            station.air.hardware_queue != HardwareQueue::default()
        }),
        key("weight", |station| station.air.weight != StationAir::default().weight),
    ]
};

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
            found.add(!self.aps.is_empty(), reason, || "ap.*".to_owned());
            found.add(!self.networks.is_empty(), reason, || "network.*".to_owned());
            for key in AIR_KEYS {
                let set = |station: &Station| (key.set)(station);
                found.add(self.stations.iter().any(set), reason, || {
                    format!("station.*.{}", key.name)
                });
            }
            let link = self.server.link;
            for (key, set) in [
                ("delay", !link.delay.is_zero()),
                ("loss", link.loss.as_ppb() > 0),
                ("queue", link.queue.is_some()),
            ] {
                found.add(set, Reason::RealPath, || format!("server.link.{key}"));
            }
            found.add(!self.server.ecn, Reason::SystemSettings, || "server.ecn".to_owned());
            let moderated = self.server.interrupt_interval != DEFAULT_INTERRUPT_INTERVAL;
            found.add(moderated, Reason::RealHosts, || "server.interrupt_interval".to_owned());
            found.add(!self.changes.is_empty(), Reason::NoChanges, || "at".to_owned());
        }
        for station in &self.stations {
            station.without_effect(environment, &mut found);
        }
        found.0
    }

    fn without_effect_on_air(&self, environment: Environment, found: &mut KeysByReason) {
        for ap in &self.aps {
            let coalesces = ap.rx_interrupt_delay != Duration::ZERO && environment != Environment::Simulate;
            found.add(coalesces, Reason::RealHosts, || {
                format!("ap.{}.rx_interrupt_delay", ap.name)
            });
            let kinds: Vec<QueueKind> = self.queues_of(ap).collect();
            let key = |key: &str| format!("ap.{}.{key}", ap.name);
            let any = |wanted: &[QueueKind]| kinds.iter().any(|kind| wanted.contains(kind));
            let per_station = [QueueKind::FqMac, QueueKind::Airtime];
            let marks = any(&[QueueKind::FqCodel, QueueKind::FqMac, QueueKind::Airtime]);
            found.add(!ap.ecn && !marks, Reason::NeverMarks, || key("ecn"));
            found.add(ap.slow_stations && !any(&per_station), Reason::NoStationCodel, || {
                key("slow_stations")
            });
            let airtime = any(&[QueueKind::Airtime]);
            found.add(ap.aql.is_some() && !airtime, Reason::NotByAirtime, || key("aql"));
            let limited = ap.forwarding.is_some();
            found.add(ap.forwarding_queue.is_some() && !limited, Reason::ForwardsAll, || {
                key("forwarding_queue")
            });
        }
        for station in &self.stations {
            let aps = self.aps_of(station);
            let weighted = station.air.weight != StationAir::default().weight && !aps.is_empty();
            let by_airtime = |ap: &&Ap| self.queues_of(ap).any(|kind| kind == QueueKind::Airtime);
            let alike = |ap: &&Ap| ap.aql.is_some() && ap.hardware_queue == HardwareQueue::Unlimited;
            let key = || format!("station.{}.weight", station.name);
            if !aps.iter().any(by_airtime) {
                found.add(weighted, Reason::NotByAirtime, key);
            } else if aps.iter().all(alike) {
                found.add(weighted, Reason::LimitedAlike, key);
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
        let sends = |kind| kind == Kind::Upload;
        let receives = !self.workloads.is_empty() && !self.workloads.iter().any(|workload| sends(workload.config.kind));
        found.add(self.cc.is_some() && receives, Reason::OnlyReceives, || key("cc"));
        if environment != Environment::Fleet {
            found.add(self.agent.is_some(), Reason::FleetOnly, || key("agent"));
            found.add(self.label.is_some(), Reason::FleetOnly, || key("label"));
        }
        if environment == Environment::Simulate {
            return;
        }
        // Without GSO the lab lets a station queue less ahead of the air.
        found.add(!self.gso && environment != Environment::Lab, Reason::RealHosts, || {
            key("gso")
        });
        found.add(!self.gro, Reason::RealHosts, || key("gro"));
        let delays = [
            ("tx_completion_delay", self.tx_completion_delay),
            ("rx_interrupt_delay", self.rx_interrupt_delay),
        ];
        for (name, delay) in delays {
            found.add(delay != Duration::ZERO, Reason::RealHosts, || key(name));
        }
        if environment != Environment::Lab {
            found.add(self.tsq.is_some(), Reason::SystemSettings, || key("tsq"));
            found.add(self.ecn, Reason::SystemSettings, || key("ecn"));
        }
    }
}
