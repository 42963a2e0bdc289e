//! Replacement of the names in a plan.

use super::{Backhaul, Joins, Plan, Port, RadioRef, Setting};

/// Kinds of names in a [`Plan`]. Names of different kinds are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// The scenario.
    Scenario,
    /// A network of Wi-Fi.
    Network,
    /// An access point.
    Ap,
    /// An 802.11s mesh.
    Mesh,
    /// A station.
    Station,
    /// A workload.
    Workload,
    /// The agent of a station.
    Agent,
}

impl Plan {
    /// Replaces every name and every reference to it by what `new` returns. Names are found by the types of their fields,
    /// so a station that is called `fifo` does not change the queue `fifo`.
    ///
    /// `new` must return different names for different names of one kind. They must be valid names: letters, digits
    /// and `-`.
    pub fn rename(&mut self, new: &mut dyn FnMut(NameKind, &str) -> String) {
        let mut put = |kind: NameKind, name: &mut String| *name = new(kind, name);
        put(NameKind::Scenario, &mut self.name);
        for network in &mut self.networks {
            put(NameKind::Network, &mut network.name);
            network.radios.iter_mut().for_each(|radio| radio_ref(&mut put, radio));
        }
        for ap in &mut self.aps {
            put(NameKind::Ap, &mut ap.name);
            match &mut ap.backhaul {
                Backhaul::Radio(radio) => radio_ref(&mut put, radio),
                Backhaul::Port(other) => put(NameKind::Ap, other),
                Backhaul::Wired | Backhaul::Best(_) => {}
            }
            let members = ap.multicast.iter_mut().flat_map(|multicast| &mut multicast.to);
            members.for_each(|member| put(NameKind::Station, member));
        }
        for mesh in &mut self.meshes {
            put(NameKind::Mesh, &mut mesh.name);
            put(NameKind::Ap, &mut mesh.root);
            mesh.radios.iter_mut().for_each(|radio| radio_ref(&mut put, radio));
        }
        for station in &mut self.stations {
            put(NameKind::Station, &mut station.name);
            for workload in &mut station.workloads {
                put(NameKind::Workload, &mut workload.name);
                if let Some(server) = &mut workload.server {
                    put(NameKind::Station, server);
                }
            }
            if let Some(agent) = &mut station.agent {
                put(NameKind::Agent, agent);
            }
            match &mut station.air.joins {
                Some(Joins::Network(network)) => put(NameKind::Network, network),
                Some(Joins::Radio(radio)) => radio_ref(&mut put, radio),
                None => {}
            }
            if let Some(Port::Ap(ap)) = station.link.as_mut().map(|link| &mut link.to) {
                put(NameKind::Ap, ap);
            }
            for other in &mut station.air.hidden_from {
                put(NameKind::Station, other);
            }
            for signal in &mut station.air.signals {
                radio_ref(&mut put, &mut signal.radio);
            }
        }
        for setting in self.changes.iter_mut().flat_map(|change| &mut change.settings) {
            match setting {
                Setting::Link(_) | Setting::Router(_) => {}
                Setting::Ap(ap, _) => put(NameKind::Ap, ap),
                Setting::Radio(radio, _) => radio_ref(&mut put, radio),
                Setting::Station(station, _) => put(NameKind::Station, station),
            }
        }
    }
}

fn radio_ref(put: &mut impl FnMut(NameKind, &mut String), radio: &mut RadioRef) {
    put(NameKind::Ap, &mut radio.ap);
}
