//! The whole file: the top-level keys, `[[at]]`, and the list of all sections.

use crate::change::Settings;
use crate::decode::{FileKeys, FromNode, Key, List, Named, Section};
use crate::enums::{AqlSection, PowerSaveSection, RoamingSection, SteeringSection, TsqSection};
use crate::environment::{Environment, MODELLED};
use crate::goals::AdapterRateSection;
use crate::keys::Keys;
use crate::kit::KitSection;
use crate::path::Shape;
use crate::plan::AbsenceSection;
use crate::plan::Plan;
use crate::plan::StationLinkSection;
use crate::plan::{
    AdaptationSection, ApSection, BuildingSection, DashSection, LinkSection, MeshSection, MulticastSection,
    NetworkSection, PlayerSection, RadioSection, RouterSection, ServerSection, StationSection, WanSection,
    WorkloadSection,
};
use crate::plan::{CakeSection, OutageSection, PolicerSection};
use crate::scalars::{Name, ShortSpan, SomeTime, Span, Text, Whole};
use crate::section_macro::section;
use crate::streams::StreamSection;

section! {
    /// Settings of the whole run, and the sections below it. Every quantity carries its unit: `"60 s"`, `"25 Mbit/s"`, `"128 KiB"`, `"-62 dBm"`, `"1 %"`.
    Scenario(Plan = Plan::new("")) {
        /// Version of the file format.
        schema: Text = "netburn.scenario/1";
        /// Name of the scenario.
        name: Name, default "the file's name";
        /// One line that describes the scenario.
        title: Text => title;
        /// Question that the scenario answers.
        question: Text => question;
        /// Assumptions of the scenario, each with its reason.
        assumptions: List<Text> => assumptions;
        /// Duration of the load.
        duration: SomeTime => duration;
        /// Time at the beginning of the load that verdicts do not cover; shorter than `duration`.
        warmup: Span => warmup;
        /// Time before the load in which idle latency is measured.
        baseline: ShortSpan => baseline;
        /// Time after the load in which running operations can finish.
        drain: ShortSpan => drain;
        /// Random seed. On simulate, the same seed gives the same results.
        seed: Whole<0, { u64::MAX }> => seed;
        /// Number of runs. One verdict covers the operations of all runs.
        repeat: Whole<1, 10_000> => repeat;
        /// Server, and its link to the access points.
        server: ServerSection => server;
        /// Building, for positions.
        building: BuildingSection => building, default "none: positions without walls", on MODELLED else RealAir;
        /// Router of the house.
        router: RouterSection => router, default "none: each access point with `wan` is a router", on MODELLED else RealAir;
        /// Networks: one SSID over one or more radios.
        network: Named<NetworkSection>, on MODELLED else RealAir;
        /// Access points.
        ap: Named<ApSection>, on MODELLED else RealAir;
        /// Kits: several access points of one product.
        kit: Named<KitSection>, on MODELLED else RealAir;
        /// Meshes of access points (802.11s).
        mesh: Named<MeshSection>, on MODELLED else RealAir;
        /// Stations: at least one, at most 4096.
        station: Named<StationSection>;
        /// Your own workloads. The names of the built-in workloads are reserved.
        workload: Named<WorkloadSection>;
        /// Changes of settings during the run.
        at: List<AtSection>, on MODELLED else NoChanges;
    }
}

section! {
    /// A change of settings during the run.
    AtSection(() = ()) {
        /// Time of the change, since the start of the load.
        time(required): Span;
        /// Paths of keys in quotes, with their new values: `{ "station.tv.signal" = "-80 dBm" }`.
        set(required): Settings;
    }
}

/// A section with its header, description and keys.
pub(crate) struct SectionEntry {
    pub(crate) header: &'static str,
    pub(crate) about: &'static str,
    /// Environments in which the keys act unless they name their own.
    pub(crate) environments: &'static [Environment],
    pub(crate) keys: fn() -> Vec<Key>,
    pub(crate) defaults: fn() -> Keys,
}

fn entry<T: Section>(header: &'static str, environments: &'static [Environment]) -> SectionEntry {
    SectionEntry {
        header,
        about: T::ABOUT.trim_ascii_start(),
        environments,
        keys: T::keys,
        defaults: || T::encode(&T::default_plan()),
    }
}

/// All sections, in the order of the manual.
pub(crate) fn all() -> Vec<SectionEntry> {
    const ALL: &[Environment] = &Environment::ALL;
    vec![
        entry::<Scenario>("top of the file", ALL),
        entry::<ServerSection>("[server]", ALL),
        entry::<LinkSection>("[server.link]", ALL),
        entry::<BuildingSection>("[building]", MODELLED),
        entry::<RouterSection>("[router]", MODELLED),
        entry::<NetworkSection>("[network.NAME]", MODELLED),
        entry::<SteeringSection>("[network.NAME.steering]", MODELLED),
        entry::<ApSection>("[ap.NAME]", MODELLED),
        entry::<WanSection>("[ap.NAME.wan]", MODELLED),
        entry::<CakeSection>("[ap.NAME.wan.cake]", MODELLED),
        entry::<PolicerSection>("[ap.NAME.wan.policer_down]", MODELLED),
        entry::<OutageSection>("[[ap.NAME.wan.outages]]", MODELLED),
        entry::<AqlSection>("[ap.NAME.aql]", MODELLED),
        entry::<MulticastSection>("[ap.NAME.multicast]", MODELLED),
        entry::<RadioSection>("[ap.NAME.radio.RADIO]", MODELLED),
        entry::<KitSection>("[kit.NAME]", MODELLED),
        entry::<MeshSection>("[mesh.NAME]", MODELLED),
        entry::<StationSection>("[station.NAME]", ALL),
        entry::<StationLinkSection>("[station.NAME.link]", MODELLED),
        entry::<RoamingSection>("[station.NAME.roaming]", MODELLED),
        entry::<PowerSaveSection>("[station.NAME.power_save]", MODELLED),
        entry::<AbsenceSection>("[station.NAME.absence]", MODELLED),
        entry::<AdapterRateSection>("[station.NAME.adapter_rate]", MODELLED),
        entry::<TsqSection>("[station.NAME.tsq]", MODELLED),
        entry::<WorkloadSection>("[workload.NAME]", ALL),
        entry::<StreamSection>("[workload.NAME.up]", ALL),
        entry::<AdaptationSection>("[workload.NAME.adaptation]", ALL),
        entry::<PlayerSection>("[workload.NAME.player]", ALL),
        entry::<DashSection>("[workload.NAME.dash]", ALL),
        entry::<AtSection>("[[at]]", MODELLED),
    ]
}

pub(crate) const FILE_KEYS: FileKeys = FileKeys {
    shape,
    sections_with_key,
};

/// Headers of the sections that have the key.
fn sections_with_key(key: &str) -> Vec<String> {
    all()
        .iter()
        .filter(|section| (section.keys)().iter().any(|known| known.name == key))
        .map(|section| section.header.to_owned())
        .collect()
}

/// Shape of a whole file.
pub(crate) fn shape() -> Shape {
    Scenario::shape()
}
