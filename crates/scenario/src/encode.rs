//! Conversion of a plan to a scenario document with every default filled in.

use crate::change;
use crate::decode::{Key, Section};
use crate::document::Document;
use crate::file::Scenario;
use crate::keys::Keys;
use crate::kinds;
use crate::plan::{Ap, Change, Mesh, Network, Plan, Radio, Setting, Station, StationWorkload};
use crate::plan::{ApSection, MeshSection, NetworkSection, RadioSection, StationSection};
use crate::problem::ScenarioError;
use crate::resolve::SCHEMA;
use netburn_medium::config::LinkQuality;
use serde_json::{Value, json};

impl Plan {
    /// Returns the plan as a scenario document with every default filled in. Quantities are texts with units, keys have a
    /// fixed order, and sections keep the plan's order.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut keys = Scenario::encode(self);
        keys.put("schema", SCHEMA);
        keys.put("name", self.name.as_str());
        keys.named("network", &self.networks, |network| {
            (network.name.clone(), self::network(network))
        });
        keys.named("ap", &self.aps, |ap| (ap.name.clone(), self::ap(ap).into_json()));
        keys.named("mesh", &self.meshes, |mesh| (mesh.name.clone(), self::mesh(mesh)));
        keys.named("station", &self.stations, |station| {
            (station.name.clone(), self::station(station).into_json())
        });
        let mut workloads: Vec<&StationWorkload> = Vec::new();
        for workload in self.stations.iter().flat_map(|station| &station.workloads) {
            if !workloads.iter().any(|known| known.name == workload.name) {
                workloads.push(workload);
            }
        }
        keys.named("workload", &workloads, |used| {
            (used.name.clone(), kinds::encode(used).into_json())
        });
        if !self.changes.is_empty() {
            keys.put("at", self.changes.iter().map(change).collect::<Vec<Value>>());
        }
        keys.ordered(Scenario::keys().iter().map(|key| key.name)).into_json()
    }

    /// Reads a plan from the output of [`to_json`](Self::to_json), or from JSON in the same format.
    ///
    /// # Errors
    /// The document is invalid; the error lists every problem.
    pub fn from_json(document: &Value) -> Result<Plan, ScenarioError> {
        Document::from_json(document).resolve()
    }
}

fn network(network: &Network) -> Value {
    NetworkSection::encode(network).into_json()
}

fn mesh(mesh: &Mesh) -> Value {
    let mut keys = MeshSection::encode(mesh);
    keys.put("root", mesh.root.as_str());
    if let Some(LinkQuality::Mcs(mcs)) = mesh.quality {
        keys.put("mcs", mcs);
    }
    keys.ordered(MeshSection::keys().iter().map(|key| key.name)).into_json()
}

pub(crate) fn ap(ap: &Ap) -> Keys {
    let mut keys = ApSection::encode(ap);
    match ap.backhaul_quality {
        Some(LinkQuality::Signal(signal)) => keys.put("backhaul_signal", signal.to_string()),
        Some(LinkQuality::Mcs(mcs)) => keys.put("backhaul_mcs", mcs),
        Some(LinkQuality::Distance(_)) | None => {}
    }
    keys.named("radio", &ap.radios, |radio: &Radio| {
        (radio.name.to_string(), RadioSection::encode(radio).into_json())
    });
    keys.ordered(ApSection::keys().iter().map(|key| key.name))
}

pub(crate) fn station(station: &Station) -> Keys {
    let mut keys = StationSection::encode(station);
    if station.link.is_none() {
        keys.put("joins", station.air.joins.as_ref().map(ToString::to_string));
        match station.air.quality {
            Some(LinkQuality::Signal(signal)) => keys.put("signal", signal.to_string()),
            Some(LinkQuality::Distance(distance)) => keys.put("distance", distance.to_string()),
            Some(LinkQuality::Mcs(mcs)) => keys.put("mcs", mcs),
            None => {}
        }
        if let Some(mcs) = station.air.fixed_mcs {
            keys.put("mcs", mcs);
        }
    }
    if !station.workloads.is_empty() {
        let names: Vec<&str> = station
            .workloads
            .iter()
            .map(|workload| workload.name.as_str())
            .collect();
        keys.put("workload", names);
    }
    // The keys of the air are first.
    let mut order = StationSection::keys();
    order.sort_by_key(|key| !key.of_air());
    let has = |key: &&Key| station.link.is_none() || !key.wifi;
    keys.ordered(order.iter().filter(has).map(|key| key.name))
}

fn change(change: &Change) -> Value {
    let settings: serde_json::Map<String, Value> = change.settings.iter().map(change::format_setting).collect();
    json!({ "time": change.time.to_string(), "set": settings })
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (path, value) = change::format_setting(self);
        write!(f, "{path} = {value}")
    }
}
