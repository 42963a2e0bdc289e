//! Stations: what they join, how good their link is, what they do.

use super::Names;
use super::air::{check_radio, small, whole};
use super::workload::Definitions;
use crate::plan::{Joins, Plan, Radio, RadioRef, Station, StationAir, StationWorkload};
use crate::reading::{At, Context};
use crate::sections::StationSection;
use crate::suggest::list;
use netburn_medium::config::{Band, LinkQuality, RateControl, Standard};
use netburn_units::Duration;

/// The most workloads that one station may have.
const MOST_WORKLOADS: usize = 64;

/// Whether no station may have this name: host names that mean something else in a lab, whatever their case.
#[must_use]
pub fn is_reserved_station_name(name: &str) -> bool {
    TAKEN.iter().any(|(taken, _)| name.eq_ignore_ascii_case(taken))
}

/// Host names that are taken in a lab, whatever their case.
const TAKEN: [(&str, &str); 2] = [("server", "the server"), ("localhost", "each machine itself")];

pub(super) fn station(
    name: &At<String>,
    section: &At<StationSection>,
    plan: &Plan,
    own: &Definitions,
    names: &Names,
    cx: &mut Context,
) -> Station {
    if let Some((taken, whose)) = TAKEN.iter().find(|(taken, _)| name.eq_ignore_ascii_case(taken)) {
        let help = "give the station another name".to_owned();
        cx.wrong(name, format!("the name `{taken}` is taken: it means {whose}"), help);
    }
    let mut station = Station::new(name);
    station.workloads = workloads(section, own, names, cx);
    station.start = section.start.as_ref().map_or(station.start, |at| at.0);
    station.stop = section.stop.as_ref().map(|at| at.0);
    if let Some(start) = section.start.as_ref().filter(|at| at.0 >= plan.duration) {
        let message = format!("it would begin after the end: `duration` is {}", plan.duration);
        cx.wrong(start, message, "begin before the end".to_owned());
    }
    if let Some(stop) = section.stop.as_ref().filter(|at| at.0 <= station.start) {
        let message = format!("it would end at {}, before it begins at {}", stop.0, station.start);
        cx.wrong(stop, message, "make `stop` later than `start`".to_owned());
    }
    station.cc = section.cc.as_ref().map(|at| at.value.clone());
    station.ecn = section.ecn.as_ref().is_some_and(|at| at.0);
    station.tsq = section.tsq.as_ref().map(|at| at.value);
    station.gso = section.gso.as_ref().is_none_or(|at| at.0);
    station.gro = section.gro.as_ref().is_none_or(|at| at.0);
    station.tx_completion_delay = section.tx_completion_delay.as_ref().map_or(Duration::ZERO, |at| at.0);
    station.rx_interrupt_delay = section.rx_interrupt_delay.as_ref().map_or(Duration::ZERO, |at| at.0);
    station.agent = section.agent.as_ref().map(|at| at.0.clone());
    station.label = section.label.as_ref().map(|at| at.0.clone());
    if let (Some(_), Some(label)) = (&section.agent, &section.label) {
        cx.wrong(label, "`agent` names one already", "give `agent` or `label`".to_owned());
    }
    match &section.link {
        None => station.air = air(name, section, plan, names, cx),
        Some(link) => {
            let (link, air) = super::wire::link(section, link, cx);
            (station.link, station.air) = (Some(link), air);
        }
    }
    station
}

fn workloads(section: &StationSection, own: &Definitions, names: &Names, cx: &mut Context) -> Vec<StationWorkload> {
    let mut read: Vec<StationWorkload> = Vec::new();
    let Some(list_of) = &section.workload else {
        return read;
    };
    if list_of.0.len() > MOST_WORKLOADS {
        let help = format!("a station has up to {MOST_WORKLOADS}");
        cx.wrong(list_of, format!("there are {} workloads", list_of.0.len()), help);
        return read;
    }
    for at in &list_of.0 {
        let name = &at.0;
        if read.iter().any(|known| known.name == *name) {
            let help = format!("give the second a name of its own: `[workload.{name}-2]`");
            cx.wrong(at, format!("`{name}` is listed twice"), help);
            continue;
        }
        match own.get(name) {
            Some((config, cc)) => read.push(StationWorkload {
                cc,
                ..StationWorkload::new(name, config)
            }),
            // Defined, but badly: that has been said.
            None if names.workloads.contains(name) => {}
            None => {
                let known = || {
                    Definitions::BUILT_IN
                        .iter()
                        .copied()
                        .chain(names.workloads.iter().map(String::as_str))
                };
                let help = match cx.nearest(name, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("it is one of {}, or define it: `[workload.{name}]`", list(known())),
                };
                cx.wrong(at, format!("there is no workload `{name}`"), help);
            }
        }
    }
    read
}

fn air(name: &At<String>, section: &StationSection, plan: &Plan, names: &Names, cx: &mut Context) -> StationAir {
    let usual = StationAir::default();
    let joins = section.joins.as_ref().and_then(|at| joins(at, &at.0, plan, names, cx));
    let standard = section.standard.as_ref().map(|at| at.value);
    let streams = section.streams.as_ref().map_or(usual.streams, |at| small(at.0));
    if let (Some(standard), Some(at)) = (standard, &section.streams)
        && streams > standard.max_streams()
    {
        let message = format!("{} has no {streams} streams", standard.name());
        cx.wrong(at, message, format!("it has up to {}", standard.max_streams()));
    }
    if let (Some(at), Some(Joins::Radio(radio))) = (&section.standard, &joins)
        && !can_speak(at.value, radio.radio.band)
    {
        let message = format!("{} is not spoken on `{radio}`", at.value.name());
        let known: Vec<&str> = Standard::ALL
            .iter()
            .filter(|known| can_speak(**known, radio.radio.band))
            .map(|known| known.name())
            .collect();
        cx.wrong(at, message, format!("there it is one of {}", list(known)));
    }
    let quality = quality(section, cx);
    let rate_control = rate_control(section, quality, cx);
    check_mcs(section, standard, streams, radio_of(joins.as_ref(), plan), cx);
    StationAir {
        joins,
        radio_selection: section.radio_selection.as_ref().map(|at| at.value).unwrap_or_default(),
        standard,
        // Those older than 802.11n have one stream, however many are usual.
        streams: standard.map_or(streams, |standard| streams.min(standard.max_streams())),
        quality,
        signal_up: section.signal_up.as_ref().map(|at| at.0),
        hidden_from: hidden_from(name, section, names, cx),
        rate_control,
        adapter_rate: section.adapter_rate.as_ref().map(|at| at.0).unwrap_or_default(),
        queue: section.queue.as_ref().map_or(usual.queue, |at| at.value),
        hardware_queue: section.hardware_queue.as_ref().map(|at| at.value).unwrap_or_default(),
        weight: section.weight.as_ref().map_or(usual.weight, |at| whole(at.0)),
    }
}

/// Whether a station of this standard can be on a radio of this band, if need be with an older one of its standards.
fn can_speak(standard: Standard, band: Band) -> bool {
    standard.in_band(band) || (standard == Standard::Ac && band == Band::Ghz2_4)
}

fn joins<T>(at: &At<T>, text: &str, plan: &Plan, names: &Names, cx: &mut Context) -> Option<Joins> {
    if text.contains('.') {
        let Some(radio) = RadioRef::parse(text) else {
            let help = "a network's name, or an access point's, a dot and a radio's, such as `\"c7.5g\"`";
            cx.wrong(at, format!("`{text}` names no radio"), help.to_owned());
            return None;
        };
        check_radio(at, &radio, &plan.aps, names, cx);
        return Some(Joins::Radio(radio));
    }
    if names.networks.contains(text) {
        return Some(Joins::Network(text.to_owned()));
    }
    let radios: Vec<String> = plan
        .aps
        .iter()
        .flat_map(|ap| ap.radios.iter().map(|radio| format!("{}.{}", ap.name, radio.name)))
        .collect();
    let known = || names.networks.iter().chain(&radios).map(String::as_str);
    let help = match cx.nearest(text, known()) {
        _ if names.aps.contains(text) => format!("`{text}` is an access point: name its radio too, `\"{text}.5g\"`"),
        Some(near) => format!("did you mean `{near}`?"),
        None if known().next().is_none() => format!("there is none; begin one with `[network.{text}]`"),
        None => format!("it is one of {}", list(known())),
    };
    cx.wrong(at, format!("there is no network `{text}`"), help);
    None
}

fn quality(section: &StationSection, cx: &mut Context) -> Option<LinkQuality> {
    let signal = section.signal.as_ref().map(|at| LinkQuality::Signal(at.0));
    let distance = section.distance.as_ref().map(|at| LinkQuality::Distance(at.0));
    let mcs = section.mcs.as_ref().map(|at| LinkQuality::Mcs(small(at.0)));
    let help = || "give one of `signal`, `distance` and `mcs`".to_owned();
    if let (Some(distance), true) = (&section.distance, signal.is_some()) {
        cx.wrong(distance, "`signal` says already how good the link is", help());
    }
    if let (Some(mcs), true) = (&section.mcs, signal.is_some() || distance.is_some()) {
        cx.wrong(mcs, "`signal` or `distance` says already how good the link is", help());
    }
    signal.or(distance).or(mcs)
}

fn rate_control(section: &StationSection, quality: Option<LinkQuality>, cx: &mut Context) -> RateControl {
    let fixed = matches!(quality, Some(LinkQuality::Mcs(_)));
    match &section.rate_control {
        Some(at) if fixed && at.value != RateControl::Fixed => {
            let help = "leave `rate_control` out, or give a `signal` instead of `mcs`";
            cx.wrong(at, "`mcs` fixes the rate", help.to_owned());
            RateControl::Fixed
        }
        Some(at) => at.value,
        None if fixed => RateControl::Fixed,
        None => RateControl::default(),
    }
}

/// Reports an MCS that the station and its radio together don't have.
fn check_mcs(section: &StationSection, own: Option<Standard>, streams: u8, radio: Option<&Radio>, cx: &mut Context) {
    let Some(at) = &section.mcs else {
        return;
    };
    let theirs = radio.and_then(|radio| radio.standard);
    let Some(standard) = own.into_iter().chain(theirs).min() else {
        return;
    };
    let mcs = small(at.0);
    if mcs > standard.max_mcs() {
        let message = format!("{} has no MCS {mcs} per stream", standard.name());
        cx.wrong(at, message, format!("it has 0 to {}", standard.max_mcs()));
        return;
    }
    let Some((width, most)) = radio.and_then(|radio| Some((radio.width?, radio.streams?))) else {
        return;
    };
    let streams = streams.min(most).min(standard.max_streams());
    let width = width.min(standard.widest(radio.map_or(Band::Ghz5, |radio| radio.name.band)));
    if !standard.has_mcs(mcs, width, streams) {
        let valid: Vec<String> = (0..=standard.max_mcs())
            .filter(|mcs| standard.has_mcs(*mcs, width, streams))
            .map(|mcs| mcs.to_string())
            .collect();
        let mhz = width.as_mhz();
        let message = format!(
            "{} has no MCS {mcs} at {mhz} MHz with {streams} streams",
            standard.name()
        );
        cx.wrong(at, message, format!("it has {}", valid.join(", ")));
    }
}

fn radio_of<'p>(joins: Option<&Joins>, plan: &'p Plan) -> Option<&'p Radio> {
    let Some(Joins::Radio(radio)) = joins else {
        return None;
    };
    let ap = plan.aps.iter().find(|ap| ap.name == radio.ap)?;
    ap.radios.iter().find(|known| known.name == radio.radio)
}

fn hidden_from(name: &At<String>, section: &StationSection, names: &Names, cx: &mut Context) -> Vec<String> {
    let mut hidden: Vec<String> = Vec::new();
    for at in section.hidden_from.iter().flat_map(|list| &list.0) {
        let other = &at.0;
        if *other == name.value {
            cx.wrong(at, "a station hears itself", "name another station".to_owned());
        } else if !names.stations.contains(other) {
            let help = match cx.nearest(other, names.stations.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", list(names.stations.iter().map(String::as_str))),
            };
            cx.wrong(at, format!("there is no station `{other}`"), help);
        } else if !hidden.contains(other) {
            hidden.push(other.clone());
        }
    }
    hidden
}
