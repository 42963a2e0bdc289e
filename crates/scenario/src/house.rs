//! The wires and radios of a plan as a tree: lines, routers, access points, and the stations at each of them.

use crate::plan::{Backhaul, Device, Joins, Plan, Port, RadioRef, Station, Trace, Wan};
use netburn_units::{BitRate, Dbm};
use serde::Serialize;

/// Choices that the network of a plan makes when it is built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Associations {
    /// Radio of each station at the start; `None`: it has no radio, or the radio is unknown.
    pub radios: Vec<Option<RadioRef>>,
    /// Number of the access point at the other end of each access point's wireless backhaul; `None`: it has none, or it is
    /// unknown.
    pub parents: Vec<Option<usize>>,
    /// Signal of each station at the start; `None`: it has none, or it is unknown.
    pub signals: Vec<Option<Dbm>>,
    /// Signal of each access point's wireless backhaul, likewise.
    pub backhaul_signals: Vec<Option<Dbm>>,
}

/// Signal that follows from positions, for a description.
pub(crate) fn at_signal(signals: &[Option<Dbm>], index: usize) -> String {
    let signal = signals.get(index).copied().flatten();
    signal.map_or_else(String::new, |signal| format!(" at {:.0} dBm", signal.as_dbm_f64()))
}

/// A node of a home: the server, a line, a device, a radio, or a port.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HomeNode {
    /// Description without its stations.
    pub text: String,
    /// Numbers in the plan of the stations here.
    pub stations: Vec<usize>,
    /// Nodes behind this one, seen from the server.
    pub below: Vec<HomeNode>,
}

impl HomeNode {
    /// A node with stations and nothing behind it.
    #[must_use]
    pub fn leaf(text: impl Into<String>, stations: Vec<usize>) -> Self {
        HomeNode {
            text: text.into(),
            stations,
            below: Vec::new(),
        }
    }

    /// Appends the lines below this node. `indent` precedes each of them.
    fn draw(&self, plan: &Plan, indent: &str, lines: &mut Vec<String>) {
        for (index, branch) in self.below.iter().enumerate() {
            let is_last = index + 1 == self.below.len();
            let (tick, bar) = if is_last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            let names = branch
                .stations
                .iter()
                .map(|station| plan.stations[*station].name.as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            let colon = if names.is_empty() { "" } else { ": " };
            lines.push(format!("{indent}{tick}{}{colon}{names}", branch.text));
            branch.draw(plan, &format!("{indent}{bar}"), lines);
        }
    }
}

impl Plan {
    /// Returns the house as a tree of text. Empty if no device is behind another one.
    pub(crate) fn house(&self, found: &Associations) -> Vec<String> {
        let is_behind = |ap: &crate::plan::Ap| ap.backhaul != Backhaul::Wired;
        let is_wired = |station: &Station| station.link.as_ref().is_some_and(|link| link.to != Port::Server);
        let is_plain = self.router.is_none()
            && self.lines().is_empty()
            && self.meshes.is_empty()
            && !self.aps.iter().any(is_behind)
            && !self.stations.iter().any(is_wired);
        if is_plain {
            return Vec::new();
        }
        let root = self.home(found);
        let mut lines = vec![root.text.clone()];
        root.draw(self, "", &mut lines);
        lines
    }

    /// The home as a tree, from the server on, with the stations where they are at the start.
    #[must_use]
    pub fn home(&self, found: &Associations) -> HomeNode {
        HomeNode {
            text: "server".to_owned(),
            stations: Vec::new(),
            below: Drawing { plan: self, found }.at_server(),
        }
    }

    /// Number of the access point at the other end of an access point's wireless backhaul, if the scenario names it.
    fn named_parent(&self, ap: usize) -> Option<usize> {
        let parent = self.aps[ap].backhaul.parent()?;
        self.aps.iter().position(|other| other.name == parent.ap)
    }
}

struct Drawing<'p> {
    plan: &'p Plan,
    found: &'p Associations,
}

impl Drawing<'_> {
    /// Devices and stations at the server's link.
    fn at_server(&self) -> Vec<HomeNode> {
        let mut below = Vec::new();
        let router = self.plan.router.as_ref().map(|_| Device::Router);
        let is_edge = |ap: &usize| self.above(*ap).is_none();
        let edges = (0..self.plan.aps.len()).filter(is_edge).map(Device::Ap);
        below.extend(router.into_iter().chain(edges).map(|device| self.edge(device)));
        below.extend(self.cables(&Port::Server));
        below.extend(self.unplaced());
        below
    }

    /// A device at the edge of a house, below its line.
    fn edge(&self, device: Device) -> HomeNode {
        let device_branch = self.device(device, "");
        let Some(line) = self.plan.lines().into_iter().find(|line| line.router == device) else {
            return device_branch;
        };
        let sharing = match line.stations.len() {
            0 => String::new(),
            1 => ", used by 1 station".to_owned(),
            several => format!(", shared by {several} stations"),
        };
        HomeNode {
            stations: Vec::new(),
            text: format!("line {}:{}{sharing}", line.key, wan_rates(line.wan)),
            below: vec![device_branch],
        }
    }

    /// A device with what is at its radios and ports. `how`: its connection.
    fn device(&self, device: Device, how: &str) -> HomeNode {
        let plan = self.plan;
        let mut below = Vec::new();
        let (text, port) = match device {
            Device::Router => (format!("router{how}"), Port::Router),
            Device::Ap(ap) => {
                let config = &plan.aps[ap];
                for (radio, _) in config.all_radios().unwrap_or_default() {
                    below.extend(self.radio(&RadioRef {
                        ap: config.name.clone(),
                        radio,
                    }));
                }
                (
                    format!("access point {}{how}", config.name),
                    Port::Ap(config.name.clone()),
                )
            }
        };
        for ap in 0..plan.aps.len() {
            if self.above(ap) == Some(device) {
                let signal = at_signal(&self.found.backhaul_signals, ap);
                let how = match (&plan.aps[ap].backhaul, plan.device_above(ap)) {
                    (_, Some(_)) => ", by a cable".to_owned(),
                    (Backhaul::Radio(radio), _) => format!(", over the air from {radio}{signal}"),
                    (Backhaul::Best(own), _) => format!(", over the air by its {own}{signal}"),
                    _ => ", over the mesh".to_owned(),
                };
                below.push(self.device(Device::Ap(ap), &how));
            }
        }
        below.extend(self.cables(&port));
        HomeNode {
            text,
            stations: Vec::new(),
            below,
        }
    }

    /// Device to which an access point is connected; `None`: the server's link, or it is unknown.
    fn above(&self, ap: usize) -> Option<Device> {
        let plan = self.plan;
        plan.device_above(ap)
            .or_else(|| {
                let found = self.found.parents.get(ap).copied().flatten();
                found.or_else(|| plan.named_parent(ap)).map(Device::Ap)
            })
            .or_else(|| plan.mesh_root(ap).filter(|root| *root != Device::Ap(ap)))
    }

    /// A radio with its stations, if it has any.
    fn radio(&self, radio: &RadioRef) -> Option<HomeNode> {
        let joined = |index: &usize| self.joined(*index).as_ref() == Some(radio);
        let stations: Vec<usize> = (0..self.plan.stations.len()).filter(joined).collect();
        (!stations.is_empty()).then(|| HomeNode::leaf(format!("radio {}", radio.radio), stations))
    }

    /// Radio of a station.
    fn joined(&self, station: usize) -> Option<RadioRef> {
        let found = self.found.radios.get(station).cloned().flatten();
        found.or_else(|| match self.plan.stations[station].air.joins.as_ref()? {
            Joins::Radio(radio) => Some(radio.clone()),
            joins @ Joins::Network(_) => match &self.plan.radios_of(joins)[..] {
                [only] => Some((*only).clone()),
                _ => None,
            },
        })
    }

    /// Stations with a cable to a port.
    fn cables(&self, port: &Port) -> Vec<HomeNode> {
        let stations = self.plan.stations.iter().enumerate();
        let on_port = stations.filter_map(|(index, station)| Some((index, station.link.as_ref()?)));
        on_port
            .filter(|(_, link)| link.to == *port)
            .map(|(index, link)| {
                let rate = if link.down == link.up {
                    link.up.to_string()
                } else {
                    format!("{} down, {} up", link.down, link.up)
                };
                HomeNode::leaf(format!("cable of {rate}"), vec![index])
            })
            .collect()
    }

    /// Stations that join a network and whose radio is unknown.
    fn unplaced(&self) -> Option<HomeNode> {
        let unknown = |index: &usize| self.plan.stations[*index].link.is_none() && self.joined(*index).is_none();
        let stations: Vec<usize> = (0..self.plan.stations.len()).filter(unknown).collect();
        (!stations.is_empty()).then(|| HomeNode::leaf("on one of several radios", stations))
    }
}

/// Rates of a WAN link: ` 50 Mbit/s down, 10 Mbit/s up`.
pub(crate) fn wan_rates(wan: &Wan) -> String {
    let rate = |rate: Option<BitRate>, trace: &Option<Trace>| match (rate, trace) {
        (_, Some(trace)) => format!("a trace of {} on average", trace.mean_rate()),
        (Some(rate), None) => rate.to_string(),
        (None, None) => "unlimited".to_owned(),
    };
    let (down, up) = (rate(wan.down, &wan.trace_down), rate(wan.up, &wan.trace_up));
    format!(" {down} down, {up} up")
}
