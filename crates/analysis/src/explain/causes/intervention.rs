//! Changes of a plan that may remove a cause, and those that several causes share.

mod channels;
mod effort;
mod lines;
mod same;

pub(super) use channels::channels;
pub use effort::Effort;
pub(super) use lines::below;

use super::{Cause, Kind};
use netburn_medium::config::{LinkQuality, QueueLimit};
use netburn_medium::queue::QueueKind;
use netburn_network::{Network, PlannedNetwork};
use netburn_record::Summary;
use netburn_scenario::plan::{Ap, Device, Joins, Line};
use netburn_scenario::{Document, Environment, Plan, Station};
use netburn_units::{BitRate, ByteSize};
use std::fmt;

/// A change that may remove a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// Kind of cause.
    pub cause: Kind,
    /// Effort of the change.
    pub effort: Effort,
    /// Description of the change.
    pub label: String,
    /// Keys and values for `--set`.
    pub set: Vec<(String, String)>,
    /// The changed plan.
    pub plan: Plan,
}

/// Proposed changes, and the causes without one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interventions {
    /// Changes, in the order of the causes.
    pub what_ifs: Vec<WhatIf>,
    /// Reasons why the simulator has no change for a cause, one sentence each.
    pub not_simulated: Vec<String>,
}

/// Increase of the signal of a station that moves closer, in hundredths of a decibel. The move is from the other end of
/// a flat into the next room.
const SIGNAL_GAIN: i32 = 2_000;
/// Maximum signal of a station that moves closer, in hundredths of a dBm.
const MAX_SIGNAL: i32 = -5_000;
/// Rate of a capped transfer in percent of the link's rate, low enough to keep the queue empty.
pub(super) const CAP_PERCENT: u64 = 80;
/// Capacity of a short queue in ms at the link's rate.
const SHORT_QUEUE_MS: u64 = 20;
/// Minimum capacity of a short queue: ten packets.
const MIN_QUEUE_BYTES: u64 = 15_000;

/// Proposes changes of `plan` for the causes in its run. Every proposed plan can be simulated.
#[must_use]
pub fn what_ifs(plan: &Plan, summary: &Summary, causes: &[Cause]) -> Interventions {
    let Some(mut builder) = InterventionBuilder::new(plan, summary) else {
        return Interventions::default();
    };
    for cause in causes {
        (cause.kind.definition().what_ifs)(&mut builder, cause);
    }
    builder.interventions
}

impl Interventions {
    /// No changes, for this reason.
    #[must_use]
    pub fn not_simulated(why: &dyn fmt::Display) -> Self {
        Interventions {
            what_ifs: Vec::new(),
            not_simulated: vec![format!("What would help can't be simulated: {why}.")],
        }
    }
}

/// Builds changes without duplicates.
pub(super) struct InterventionBuilder<'a> {
    pub(super) plan: &'a Plan,
    pub(super) summary: &'a Summary,
    document: Document,
    /// Radio of each station, as `home.5g`.
    pub(super) joined: Vec<Option<String>>,
    /// Access points with a wireless backhaul, each with its parent.
    pub(super) parents: Vec<(usize, usize)>,
    interventions: Interventions,
}

impl<'a> InterventionBuilder<'a> {
    fn new(plan: &'a Plan, summary: &'a Summary) -> Option<Self> {
        let network = PlannedNetwork::new(plan).ok()?;
        let joined = network.associations.radios.iter();
        Some(InterventionBuilder {
            plan,
            summary,
            document: Document::from_json(&plan.to_json()),
            joined: joined.map(|radio| Some(radio.as_ref()?.to_string())).collect(),
            parents: network.backhaul_hops.iter().map(|hop| (hop.ap, hop.parent)).collect(),
            interventions: Interventions::default(),
        })
    }

    /// Proposes airtime fairness at an access point or, if it has that, airtime queue limits.
    pub(super) fn queue(&mut self, cause: Kind, ap: &Ap) {
        let name = &ap.name;
        if !ap.queue.properties().shares_airtime {
            let set = format!("ap.{name}.queue");
            let label = format!("{name} uses FQ-CoDel per station and airtime fairness");
            // A default capacity changes with the queue discipline. An explicit capacity stays.
            let limit =
                (ap.queue_limit == ap.queue.default_limit()).then(|| match QueueKind::Airtime.default_limit() {
                    QueueLimit::Packets(most) => (format!("ap.{name}.queue_limit"), format!("{most} packets")),
                    QueueLimit::Bytes(most) => (format!("ap.{name}.queue_limit"), most.to_string()),
                });
            self.propose_with(cause, Effort::Firmware, label, &[(&set, "airtime")], limit.as_slice());
        } else if ap.aql.is_none() {
            let label = format!("{name} uses airtime queue limits (AQL)");
            self.propose(cause, Effort::Firmware, label, &[(&format!("ap.{name}.aql"), "true")]);
        }
    }

    /// Proposes each other radio of the station's access point.
    pub(super) fn other_radio(&mut self, cause: Kind, name: &str) {
        let Some((ap, radio)) = self.place(name) else { return };
        let mut others: Vec<String> = ap.radios.iter().map(|radio| radio.name.to_string()).collect();
        if ap.rating.is_some() {
            others.extend(["2g", "5g", "6g"].map(str::to_owned));
        }
        others.retain(|other| *other != radio);
        others.sort();
        others.dedup();
        for other in others {
            let to = format!("{}.{other}", ap.name);
            let set = format!("station.{name}.joins");
            self.propose(cause, Effort::Setting, format!("{name} joins {to}"), &[(&set, &to)]);
        }
    }

    pub(super) fn stronger_signal(&mut self, cause: Kind, name: &str) {
        let signal = match self.plan.station(name).and_then(|station| station.air.quality) {
            Some(LinkQuality::Signal(signal)) if signal.as_hundredths() < MAX_SIGNAL => signal.as_hundredths(),
            _ => return,
        };
        let to = format!("{} dBm", f64::from((signal + SIGNAL_GAIN).min(MAX_SIGNAL)) / 100.0);
        let label = format!("{name} moves closer, to {to}");
        self.propose(cause, Effort::Place, label, &[(&format!("station.{name}.signal"), &to)]);
    }

    /// Proposes a cap on the downlink of `max` bit/s, or half of its measured throughput.
    pub(super) fn capped(&mut self, cause: Kind, name: &str, max: Option<u64>) {
        let Some(to) = max.or_else(|| self.half(name)).map(written) else {
            return;
        };
        let Some(station) = self.plan.station(name) else { return };
        let value = limits(station, None, Some(&to));
        let label = format!("{name} receives at most {to}");
        self.propose(
            cause,
            Effort::Program,
            label,
            &[(&format!("station.{name}.adapter_rate"), &value)],
        );
    }

    pub(super) fn capped_up(&mut self, cause: Kind, name: &str, max: Option<u64>) {
        let Some(to) = max.or_else(|| self.half(name)).map(written) else {
            return;
        };
        let Some(station) = self.plan.station(name) else { return };
        let label = format!("{name} sends at most {to}");
        if station.link.is_some() {
            // `--set` accepts this key for `wired` too. Packets above the limit of a cable wait in the station itself.
            return self.propose(
                cause,
                Effort::Program,
                label,
                &[(&format!("station.{name}.link.up"), &to)],
            );
        }
        let value = limits(station, Some(&to), None);
        self.propose(
            cause,
            Effort::Program,
            label,
            &[(&format!("station.{name}.adapter_rate"), &value)],
        );
    }

    /// Proposes a queue that is shorter than the present one. `of` is the queue in a sentence, and its key.
    pub(super) fn short_queue(&mut self, cause: Kind, of: (&str, &str), rate: BitRate, present: Option<ByteSize>) {
        let bytes = (rate.as_bps() * SHORT_QUEUE_MS / 8_000).max(MIN_QUEUE_BYTES);
        if present.is_some_and(|present| present.as_bytes() <= bytes) {
            return;
        }
        let label = format!(
            "{} is limited to {:.0} ms",
            of.0,
            bytes as f64 * 8e3 / rate.as_bps() as f64
        );
        self.propose(cause, Effort::Firmware, label, &[(of.1, &format!("{bytes} B"))]);
    }

    /// Half of a station's throughput in bit/s.
    fn half(&self, name: &str) -> Option<u64> {
        let station = self.summary.stations.iter().find(|station| station.name == name)?;
        let half = (station.throughput_mbps * 5e5) as u64;
        (half >= 100_000).then_some(half)
    }

    /// Returns the access point of a station and the name of its radio.
    pub(super) fn place(&self, name: &str) -> Option<(&'a Ap, String)> {
        let index = self.plan.stations.iter().position(|station| station.name == name)?;
        let (ap, radio) = self.joined[index].as_ref()?.split_once('.')?;
        let ap = self.plan.aps.iter().find(|known| known.name == ap)?;
        Some((ap, radio.to_owned()))
    }

    /// Returns the WAN link that the packets of a station pass: that of the router behind the access point at the wire.
    pub(super) fn line_of(&self, name: &str) -> Option<Line<'a>> {
        let Some((ap, _)) = self.place(name) else {
            return self.plan.line_of(self.plan.station(name)?);
        };
        let mut number = self.plan.aps.iter().position(|known| known.name == ap.name)?;
        for _ in 0..self.plan.aps.len() {
            match self.parents.iter().find(|(unit, _)| *unit == number) {
                Some((_, parent)) => number = *parent,
                None => break,
            }
        }
        let router = self.plan.router_behind(Device::Ap(number))?;
        self.plan.lines().into_iter().find(|line| line.router == router)
    }

    /// Adds the reason why the simulator has no change for a cause.
    pub(super) fn not_simulated(&mut self, why: &str) {
        self.interventions.not_simulated.push(why.to_owned());
    }

    pub(super) fn propose(&mut self, cause: Kind, effort: Effort, label: String, set: &[(&str, &str)]) {
        self.propose_with(cause, effort, label, set, &[]);
    }

    /// Adds a change if it differs from the plan, can be simulated, and is not a duplicate. `also` is not part of the shown settings,
    /// because in a scenario file it follows from them.
    fn propose_with(
        &mut self,
        cause: Kind,
        effort: Effort,
        label: String,
        set: &[(&str, &str)],
        also: &[(String, String)],
    ) {
        let mut document = self.document.clone();
        let also = also.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        for (key, value) in set.iter().copied().chain(also) {
            if document.set(key, value).is_err() {
                return;
            }
        }
        let Ok((plan, _)) = document.resolve_for(Environment::Simulate) else {
            return;
        };
        let known = self
            .interventions
            .what_ifs
            .iter()
            .any(|known| same::is_same(&known.plan, &plan));
        if known || same::is_same(&plan, self.plan) || Network::<()>::new(&plan).is_err() || self.loses_network(&plan) {
            return;
        }
        self.interventions.what_ifs.push(WhatIf {
            cause,
            effort,
            label,
            set: set
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            plan,
        });
    }

    /// Returns `true` if a station would lose its network.
    fn loses_network(&self, plan: &Plan) -> bool {
        let placed = |station: &Station| matches!(station.air.joins, Some(Joins::Radio(_) | Joins::Network(_)));
        let stations = self.plan.stations.iter().zip(&plan.stations);
        stations
            .into_iter()
            .any(|(before, after)| placed(before) && !placed(after))
    }
}

/// Formats `adapter_rate` with new limits. The limits of the other direction and of transfers stay.
fn limits(station: &Station, up: Option<&str>, down: Option<&str>) -> String {
    let known = &station.air.adapter_rate;
    let rate = |new: Option<&str>, old: Option<BitRate>| {
        new.map(str::to_owned)
            .or_else(|| old.map(|rate| written(rate.as_bps())))
    };
    let mut keys = Vec::new();
    keys.extend(rate(up, known.up).map(|rate| format!("up = \"{rate}\"")));
    keys.extend(rate(down, known.down).map(|rate| format!("down = \"{rate}\"")));
    keys.extend(known.transfer.map(|packets| format!("transfer = {packets}")));
    format!("{{ {} }}", keys.join(", "))
}

/// Formats a rate for a scenario: in tenths of a Mbit/s, below 1 Mbit/s in kbit/s.
pub(super) fn written(bps: u64) -> String {
    match bps / 100_000 {
        0..10 => format!("{} kbit/s", (bps / 1_000).max(1)),
        tenths if tenths % 10 == 0 => format!("{} Mbit/s", tenths / 10),
        tenths => format!("{}.{} Mbit/s", tenths / 10, tenths % 10),
    }
}

#[cfg(test)]
mod tests;
