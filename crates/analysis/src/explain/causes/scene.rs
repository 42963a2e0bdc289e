//! Facts about a plan that several factors need: who joined what, who shares a line, who sends without end.

use super::list;
use netburn_network::PlannedNetwork;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Ap, Device, RadioRef};
use netburn_workload::Direction;

/// A plan with the facts that its network determines.
pub struct Scene<'a> {
    pub(super) plan: &'a Plan,
    /// Radio of each station; `None` with a wire.
    pub(super) joined: Vec<Option<RadioRef>>,
    /// Signal of each station in dBm; `None` if it has an MCS or a wire.
    pub(super) signals: Vec<Option<f64>>,
    /// All radios of access points with their channel in the model.
    pub(super) radios: Vec<(RadioRef, usize)>,
    /// Parent of each access point with a wireless backhaul.
    parents: Vec<(String, String)>,
}

/// An internet line with the stations behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Device whose WAN link it is.
    pub(super) router: Device,
    /// The line in words.
    pub(super) name: String,
    /// Stations whose packets pass it.
    pub(super) stations: Vec<usize>,
}

impl<'a> Scene<'a> {
    /// Creates it; `None` if the network rejects the plan.
    #[must_use]
    pub fn new(plan: &'a Plan) -> Option<Self> {
        let network = PlannedNetwork::new(plan).ok()?;
        let signals = network.associations.signals.iter();
        let name = |number: usize| plan.aps.get(number).map(|ap| ap.name.clone());
        let hops = network.backhaul_hops.iter();
        let parents = hops.filter_map(|hop| Some((name(hop.ap)?, name(hop.parent)?)));
        Some(Scene {
            plan,
            signals: signals.map(|signal| Some(signal.as_ref()?.as_dbm_f64())).collect(),
            joined: network.associations.radios,
            radios: network.radios,
            parents: parents.collect(),
        })
    }

    /// Name of a station.
    pub(super) fn name(&self, station: usize) -> &str {
        self.plan
            .stations
            .get(station)
            .map_or("", |station| station.name.as_str())
    }

    /// Names of stations as a list: `a, b and c`.
    #[must_use]
    pub fn names(&self, stations: &[usize]) -> String {
        let names: Vec<&str> = stations.iter().map(|station| self.name(*station)).collect();
        list(&names)
    }

    /// Access point of a name.
    pub(super) fn ap(&self, name: &str) -> Option<&'a Ap> {
        self.plan.aps.iter().find(|ap| ap.name == name)
    }

    /// Access point at the wire to which an access point is connected over the air; itself with a wire of its own.
    pub(super) fn root_of<'b>(&'b self, mut ap: &'b str) -> &'b str {
        for _ in 0..self.plan.aps.len() {
            match self.parents.iter().find(|(unit, _)| unit == ap) {
                Some((_, parent)) => ap = parent,
                None => break,
            }
        }
        ap
    }

    /// True if one of two access points is connected to the other over the air.
    pub(super) fn is_backhaul_of(&self, one: &str, other: &str) -> bool {
        let mut pairs = self.parents.iter();
        pairs.any(|(unit, parent)| (unit == one && parent == other) || (unit == other && parent == one))
    }

    /// The internet lines.
    pub(super) fn lines(&self) -> Vec<Line> {
        let lines = self.plan.lines();
        let name = |router: Device| match (router, lines.len()) {
            (router, 2..) => format!("the internet line of {}", self.plan.name_of(router)),
            _ => "the internet line".to_owned(),
        };
        let line = |router: Device| Line {
            router,
            name: name(router),
            stations: self.behind(router),
        };
        lines.iter().map(|line_of| line(line_of.router)).collect()
    }

    /// Stations behind a router.
    fn behind(&self, router: Device) -> Vec<usize> {
        let of = |station: &usize| match &self.joined[*station] {
            Some(radio) => {
                let root = self.root_of(&radio.ap);
                let number = self.plan.aps.iter().position(|ap| ap.name == root)?;
                self.plan.router_behind(Device::Ap(number))
            }
            None => self.plan.router_of(&self.plan.stations[*station]),
        };
        let stations = 0..self.plan.stations.len();
        stations.filter(|station| of(station) == Some(router)).collect()
    }

    /// Stations on the radios of an access point.
    pub(super) fn on_ap(&self, ap: &str) -> Vec<usize> {
        let stations = self.joined.iter().enumerate();
        let found = stations.filter(|(_, radio)| radio.as_ref().is_some_and(|radio| radio.ap == ap));
        found.map(|(station, _)| station).collect()
    }

    /// Stations of these that have a transfer without end in a direction.
    pub(super) fn elastic(&self, stations: &[usize], direction: Direction) -> Vec<usize> {
        let has = |station: &&usize| {
            let mut all = self.plan.stations[**station].workloads.iter();
            all.any(|workload| workload.config.loads(direction))
        };
        stations.iter().filter(has).copied().collect()
    }

    /// Channel of a radio in the model.
    pub(super) fn channel(&self, radio: &RadioRef) -> Option<usize> {
        self.radios
            .iter()
            .find(|(known, _)| known == radio)
            .map(|(_, channel)| *channel)
    }
}

/// True if the backhaul of an access point is over the air.
pub(super) fn is_wireless(ap: &Ap) -> bool {
    ap.backhaul.is_wireless()
}
