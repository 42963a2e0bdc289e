//! The causes. A file has all of a cause: the rule that finds it in a record, the factors that a simulation can take away,
//! and the changes of a plan that may help. It is registered by its module and a line in `causes!`, and factors by a line
//! in [`FAMILIES`].
//!
//! - A *rule* examines the evidence of a run. Rules run in the order of the causes: first those that make results
//!   unreliable, then those that explain most. A rule receives the causes found before, and skips what they explain.
//! - A *factor* is an edit of a plan, with its kind of cause and its words. A kind can have factors in several files.
//! - [`intervention`] has the changes that several causes share.

mod absences;
mod access_point_queue;
mod access_point_scans;
mod adapter;
mod backhaul;
mod cause;
mod delayed_part;
mod distant_server;
mod download_bloat;
mod factor;
mod fair_share;
mod full_band;
mod generator;
mod intervention;
mod line_queue;
mod line_rate;
mod lossy_line;
mod multicast;
mod observed_shaper;
mod other_device;
mod outage;
mod own_channel;
mod policer;
mod power_save;
mod roaming;
mod router;
mod scans;
mod scene;
mod server;
mod slow_cochannel;
mod slow_device;
mod slow_line;
mod slow_neighbour;
mod slow_rate;
mod slow_station;
mod small_queues;
mod station_queue;
mod traffic;
mod upload_bloat;
mod weak_signal;

pub use cause::{Cause, Explanation, Severity, Unexplained};
pub use factor::{Class, Factor, Part, Rank};
pub use intervention::{Effort, Interventions, WhatIf, what_ifs};
pub use scene::Scene;

use super::facts::{Direction, Group, RunFacts};
use intervention::InterventionBuilder;
use serde::{Deserialize, Serialize};

/// Returns the causes that a rule finds. It receives those found before.
type Find = fn(&RunFacts<'_>, &[Cause]) -> Vec<Cause>;
/// Returns the condition of a rule as text.
type Criterion = fn() -> String;

/// Definition of a kind of cause.
struct Definition {
    /// The rule that finds it in a record; `None` if only a simulation without the cause shows it.
    rule: Option<(Find, Criterion)>,
    /// Proposes changes of the plan that may help.
    what_ifs: fn(&mut InterventionBuilder<'_>, &Cause),
    /// These changes, for the manual.
    changes: &'static str,
}

/// A family of factors.
struct Family {
    /// Replacement of the factor in a simulation, for the manual.
    without: &'static str,
    /// Factors of this family in a plan.
    find: fn(&Scene<'_>) -> Vec<Factor>,
}

/// Registers causes in the order of the rules: those that a rule finds in the record, then those that only a simulation
/// without them shows. Each has a description, a name in documents, and its definition.
macro_rules! causes {
    ($(#[doc = $about:literal] $kind:ident $name:literal: $($definition:ident)::+;)+) => {
        /// The known causes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Kind {
            $(#[doc = $about] #[serde(rename = $name)] $kind,)+
        }

        impl Kind {
            /// All kinds, in the order of the rules.
            pub const ALL: [Kind; [$($name),+].len()] = [$(Kind::$kind),+];

            /// Name in documents.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)+
                }
            }

            const fn definition(self) -> Definition {
                match self {
                    $(Kind::$kind => $($definition)::+,)+
                }
            }
        }
    };
}

causes! {
    /// The machine that generated the load was too slow.
    Generator "generator": generator::CAUSE;
    /// The server, or its own link.
    Server "server": server::CAUSE;
    /// A station's adapter.
    Adapter "adapter": adapter::CAUSE;
    /// A slow station of another network uses airtime of the channel.
    SlowCochannel "slow-cochannel": slow_cochannel::CAUSE;
    /// Other networks use much of the channel.
    FullBand "full-band": full_band::CAUSE;
    /// A wireless backhaul needs too much airtime.
    Backhaul "backhaul": backhaul::CAUSE;
    /// A slow station uses too much airtime.
    SlowNeighbour "slow-neighbour": slow_neighbour::CAUSE;
    /// A device that takes no part in the run uses airtime.
    OtherDevice "other-device": other_device::CAUSE;
    /// An upload fills a queue that other stations share.
    UploadBloat "upload-bloat": upload_bloat::CAUSE;
    /// A download fills a queue that other stations share.
    DownloadBloat "download-bloat": download_bloat::CAUSE;
    /// TCP Small Queues limits aggregation.
    SmallQueues "small-queues": small_queues::CAUSE;
    /// Nothing arrives while a station moves between access points.
    Roaming "roaming": roaming::CAUSE;
    /// A station's link is far slower than its signal permits.
    SlowRate "slow-rate": slow_rate::CAUSE;
    /// A station's signal is too weak for its workloads.
    WeakSignal "weak-signal": weak_signal::CAUSE;
    /// A link is too slow for its workloads.
    SlowLine "slow-line": slow_line::CAUSE;
    /// A link loses packets.
    LossyLine "lossy-line": lossy_line::CAUSE;
    /// The round-trip time to the server is too long.
    DistantServer "distant-server": distant_server::CAUSE;
    /// The load delays a station on the Wi-Fi.
    WifiDelay "wifi-delay": delayed_part::WIFI_DELAY;
    /// The load delays a station on the internet line, from the server to the station.
    LineDown "line-down": delayed_part::LINE_DOWN;
    /// The load delays a station on the internet line, from the station to the server.
    LineUp "line-up": delayed_part::LINE_UP;
    /// The load delays a station beyond the internet line.
    RemoteServer "remote-server": delayed_part::REMOTE_SERVER;
    /// The load delays a station in the device itself.
    Device "device": delayed_part::DEVICE;
    /// The provider drops packets above a rate.
    Policer "policer": policer::CAUSE;
    /// The line carries nothing for a time.
    Outage "outage": outage::CAUSE;
    /// A shaper limits the line at the wrong rate: above that of the line, or far below it.
    Shaper "shaper": line_rate::SHAPER;
    /// The processor of an access point or router forwards too little.
    Router "router": router::CAUSE;
    /// A station dozes, and packets wait for it.
    PowerSave "power-save": power_save::CAUSE;
    /// A station scans other channels.
    Scans "scans": scans::CAUSE;
    /// An access point scans other channels.
    ApScans "access-point-scans": access_point_scans::CAUSE;
    /// Multicast of an access point uses airtime at a low rate.
    Multicast "multicast": multicast::CAUSE;
    /// Radios of the scenario share a channel.
    OwnChannel "own-channel": own_channel::CAUSE;
    /// A transfer gets its share of the capacity, and too little is left for others.
    FairShare "fair-share": fair_share::CAUSE;
    /// Streams, pages and calls together need more than there is.
    Traffic "traffic": traffic::CAUSE;
}

/// All families, in the order in which a simulation takes their factors away.
const FAMILIES: [Family; 24] = [
    line_queue::FAMILY,
    line_rate::FAMILY,
    lossy_line::FAMILY,
    policer::FAMILY,
    outage::FAMILY,
    router::FAMILY,
    server::FAMILY,
    distant_server::FAMILY,
    full_band::FAMILY,
    own_channel::FAMILY,
    backhaul::FAMILY,
    slow_station::FAMILY,
    access_point_queue::FAMILY,
    access_point_scans::FAMILY,
    multicast::FAMILY,
    power_save::FAMILY,
    scans::FAMILY,
    absences::FAMILY,
    roaming::FAMILY,
    adapter::FAMILY,
    slow_device::FAMILY,
    station_queue::FAMILY,
    fair_share::FAMILY,
    traffic::FAMILY,
];

impl Kind {
    /// Condition under which a report names the cause, as sentences with the limits of its rule.
    #[must_use]
    pub fn criterion(self) -> String {
        match self.definition().rule {
            Some((_, criterion)) => criterion(),
            None => "simulate, lab: no rule. A simulation without the cause shows it.".to_owned(),
        }
    }

    /// True if a rule finds the cause in a record.
    #[must_use]
    pub const fn has_rule(self) -> bool {
        self.definition().rule.is_some()
    }

    /// Simulated changes that may help, for the manual.
    #[must_use]
    pub const fn changes(self) -> &'static str {
        self.definition().changes
    }
}

/// All causes that rules find, the most severe first.
pub(super) fn causes(facts: &RunFacts<'_>) -> Vec<Cause> {
    let mut found = Vec::new();
    for kind in Kind::ALL {
        if let Some((find, _)) = kind.definition().rule {
            let causes = find(facts, &found);
            found.extend(causes);
        }
    }
    found.sort_by_key(|cause| std::cmp::Reverse(cause.severity));
    found
}

/// All factors of a plan. A factor that its plan does not have is not among them.
#[must_use]
pub fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    FAMILIES.iter().flat_map(|family| (family.find)(scene)).collect()
}

/// Returns the replacements of the factors in a simulation, by family, for the manual.
#[must_use]
pub fn removals() -> Vec<&'static str> {
    FAMILIES.iter().map(|family| family.without).collect()
}

/// Causes that a rule finds, at most one for each group of stations that share a channel.
fn in_each_group(facts: &RunFacts<'_>, rule: impl Fn(&Group) -> Option<Cause>) -> Vec<Cause> {
    facts.groups.iter().filter_map(rule).collect()
}

/// Returns true if a cause of that kind was found.
fn is_named(found: &[Cause], kind: Kind) -> bool {
    found.iter().any(|cause| cause.kind == kind)
}

/// Returns true if a cause of that kind was found for a station.
fn is_named_for(found: &[Cause], kind: Kind, station: &str) -> bool {
    let for_it = |cause: &&Cause| cause.stations.iter().any(|name| name == station);
    found.iter().filter(for_it).any(|cause| cause.kind == kind)
}

/// Returns the severity of a cause for these stations.
fn severity(facts: &RunFacts<'_>, stations: impl IntoIterator<Item = usize>) -> Severity {
    let serious = |station: usize| {
        facts
            .degraded_station(station)
            .is_some_and(|degraded_station| degraded_station.serious)
    };
    if stations.into_iter().any(serious) {
        Severity::Serious
    } else {
        Severity::Notable
    }
}

/// Worst problem of these stations, as the end of the evidence: ` laptop's browsing met …`.
fn worst_symptom(facts: &RunFacts<'_>, stations: &[usize]) -> String {
    let of = stations.iter().filter_map(|station| facts.degraded_station(*station));
    match of.max_by_key(|degraded_station| (degraded_station.serious, std::cmp::Reverse(degraded_station.station))) {
        Some(degraded_station) => format!(" {}'s {}.", facts.name(degraded_station.station), degraded_station.what),
        None => String::new(),
    }
}

/// Sentence on the largest delay that the packets of these stations show in a direction; `None` without one.
fn worst_packets(facts: &RunFacts<'_>, stations: &[usize], direction: Direction) -> Option<String> {
    let delays = stations
        .iter()
        .filter_map(|station| Some((*station, facts.packet_delay(*station, direction)?)));
    let (station, delay) = delays.max_by(|(_, a), (_, b)| a.added_ms.total_cmp(&b.added_ms))?;
    facts.delay_sentence(station, &delay)
}

/// Verb for a list of names: `shares` for one, `share` for several.
fn share(names: &[String]) -> &'static str {
    if names.len() == 1 { "shares" } else { "share" }
}

/// `a`, `a and b`, `a, b and c`.
fn list(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}
