//! A factor: a part of a plan that a simulation can take away.

use super::Kind;
use netburn_scenario::Plan;
use std::fmt;

/// Part of the path that factors belong to. A part whose factors do not help together is not examined further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The internet line, and the router's forwarding.
    Line,
    /// The server and its link, and distances.
    Server,
    /// The air between access points and stations.
    Air,
    /// The stations themselves.
    Station,
    /// Traffic of others.
    Load,
}

impl Part {
    /// All parts.
    pub const ALL: [Part; 5] = [Part::Line, Part::Server, Part::Air, Part::Station, Part::Load];
}

/// Order among factors of which each alone makes the difference. A queue explains a delay better than the rate of the
/// link or the traffic behind it, although a faster link or no traffic also cure it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Something disturbs: loss, an outage, a scan, power save, a device.
    Disturbance,
    /// A slow station uses the air of others.
    SlowStation,
    /// A queue that a transfer fills.
    Queue,
    /// A queue that no transfer fills, so that only bursts wait in it or overflow it. A transfer in the other direction explains
    /// more, because it makes the recovery from each loss slower.
    Bursts,
    /// The place of a station, its channel, or the way of the packets.
    Place,
    /// A transfer takes its share of the capacity.
    Share,
    /// A rate.
    Capacity,
    /// Traffic of others that is not a bulk transfer.
    Traffic,
}

/// Kind and order of a factor for one station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    /// Kind of the cause.
    pub kind: Kind,
    /// Order among factors that make the difference alone.
    pub rank: Rank,
}

/// Edit of a plan that takes a factor away.
type Edit = Box<dyn Fn(&mut Plan) + Send + Sync>;
/// Kind and order for a station, by its number; `None`: the factor is none for this station.
type ClassOf = Box<dyn Fn(usize) -> Option<Class> + Send + Sync>;
/// Title of the cause for a list of affected stations.
type Title = Box<dyn Fn(Kind, &str) -> String + Send + Sync>;

/// A factor.
pub struct Factor {
    /// Part of the path.
    pub part: Part,
    /// Stations that it names as the origin, by number.
    pub by: Vec<usize>,
    /// The simulated replacement, after `Simulated`: `with a queue for each flow on the uplink`.
    pub without: String,
    /// Suggested remedy.
    pub advice: String,
    class: ClassOf,
    title: Title,
    edit: Edit,
    /// One cause for each affected station instead of one for all.
    pub each: bool,
    /// Its remedy fits better than that of the rule for its kind.
    pub own_advice: bool,
}

impl Factor {
    /// A factor with the same kind and order for all stations.
    pub(super) fn builder(part: Part, kind: Kind, rank: Rank) -> FactorBuilder {
        FactorBuilder(Factor {
            part,
            by: Vec::new(),
            without: String::new(),
            advice: String::new(),
            class: Box::new(move |_| Some(Class { kind, rank })),
            title: Box::new(|kind, names| format!("{} affects {names}", kind.name())),
            edit: Box::new(|_| {}),
            each: false,
            own_advice: false,
        })
    }

    /// Kind and order for a station, by its number; `None`: the factor is none for this station.
    #[must_use]
    pub fn class(&self, station: usize) -> Option<Class> {
        (self.class)(station)
    }

    /// Title of the cause for a list of affected stations.
    #[must_use]
    pub fn title(&self, kind: Kind, names: &str) -> String {
        (self.title)(kind, names)
    }

    /// Takes the factor away from a plan.
    pub fn remove_from(&self, plan: &mut Plan) {
        (self.edit)(plan);
    }
}

impl fmt::Debug for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factor")
            .field("part", &self.part)
            .field("without", &self.without)
            .finish_non_exhaustive()
    }
}

/// Builder of a [`Factor`].
pub(super) struct FactorBuilder(Factor);

impl FactorBuilder {
    /// Sets the edit that takes it away.
    pub(super) fn edit(mut self, edit: impl Fn(&mut Plan) + Send + Sync + 'static) -> Self {
        self.0.edit = Box::new(edit);
        self
    }

    /// Sets the stations that cause it.
    pub(super) fn by(mut self, by: Vec<usize>) -> Self {
        self.0.by = by;
        self
    }

    /// Sets kind and order by station.
    pub(super) fn class(mut self, class: impl Fn(usize) -> Option<Class> + Send + Sync + 'static) -> Self {
        self.0.class = Box::new(class);
        self
    }

    /// Restricts it to some stations, each with a cause of its own.
    pub(super) fn only(mut self, stations: Vec<usize>) -> Self {
        let class = self.0.class;
        self.0.class = Box::new(move |station| {
            if stations.contains(&station) {
                class(station)
            } else {
                None
            }
        });
        self.0.each = true;
        self
    }

    /// Prefers its remedy to that of the rule for its kind.
    pub(super) fn own_advice(mut self) -> Self {
        self.0.own_advice = true;
        self
    }

    /// Sets the words: the title for a list of stations, what the simulation had instead, and the remedy.
    pub(super) fn words(
        mut self,
        title: impl Fn(&str) -> String + Send + Sync + 'static,
        without: impl Into<String>,
        advice: impl Into<String>,
    ) -> Factor {
        self.0.title = Box::new(move |_, names| title(names));
        self.0.without = without.into();
        self.0.advice = advice.into();
        self.0
    }

    /// As [`words`](Self::words), with a title that depends on the kind.
    pub(super) fn words_by_kind(
        mut self,
        title: impl Fn(Kind, &str) -> String + Send + Sync + 'static,
        without: impl Into<String>,
        advice: impl Into<String>,
    ) -> Factor {
        self.0.title = Box::new(title);
        self.0.without = without.into();
        self.0.advice = advice.into();
        self.0
    }
}
