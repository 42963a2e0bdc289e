//! Resolution of stations: network, link quality, workloads.

use super::Names;
use super::air::{check_radio, to_u8};
use super::workload::Definitions;
use crate::decode::{Context, Section, Spanned};
use crate::plan::StationSection;
use crate::plan::check_floor;
use crate::plan::{Ap, Http, Joins, Plan, Radio, RadioRef, Station, StationAir, StationWorkload};
use crate::problem::Problem;
use crate::suggest::list;
use netburn_medium::config::{Band, LinkQuality, RateControl, Standard};
use netburn_units::Instant;

/// Maximum number of workloads of one station.
const MAX_STATION_WORKLOADS: usize = 64;

/// Returns `true` if a station cannot have this name, because it is a host name with another meaning in a lab. Ignores case.
#[must_use]
pub fn is_reserved_station_name(name: &str) -> bool {
    RESERVED_NAMES
        .iter()
        .any(|(reserved, _)| name.eq_ignore_ascii_case(reserved))
}

/// Host names with another meaning in a lab.
const RESERVED_NAMES: [(&str, &str); 2] = [("server", "the server"), ("localhost", "the local host")];

pub(super) fn station(
    name: &Spanned<String>,
    section: &Spanned<StationSection>,
    plan: &Plan,
    own: &Definitions,
    names: &Names,
    cx: &mut Context,
) -> Station {
    if let Some((reserved, meaning)) = RESERVED_NAMES
        .iter()
        .find(|(reserved, _)| name.eq_ignore_ascii_case(reserved))
    {
        let help = "give the station another name".to_owned();
        cx.problem_at(name, format!("reserved name `{reserved}`: it means {meaning}"), help);
    }
    let mut station = Station::new(name);
    station.workloads = workloads(name, section, own, names, cx);
    section.apply(&mut station);
    if let Some(start) = section.start.as_ref().filter(|at| at.0 >= plan.duration) {
        let message = format!("`start` is not before the end of the load: found {}", start.0);
        let help = format!("expected less than `duration`, which is {}", plan.duration);
        cx.problem_at(start, message, help);
    }
    if let Some(stop) = section.stop.as_ref().filter(|at| at.0 <= station.start) {
        let message = format!("`stop` is not after `start`: found {}", stop.0);
        let help = format!("expected more than `start`, which is {}", station.start);
        cx.problem_at(stop, message, help);
    }
    check_windows(&station, section, plan, cx);
    check_http(&station, section, plan, cx);
    if let (Some(_), Some(label)) = (&section.agent, &section.label) {
        cx.problem_at(
            label,
            "`agent` and `label` exclude each other",
            "remove one of them".to_owned(),
        );
    }
    let cable = super::router::cable(&mut station.link, name, section, (plan, names), cx);
    if let Some(key) = cable {
        super::wire::check(section, key, cx);
        // Only the queue applies: the checks report all Wi-Fi keys.
        station.air = StationAir {
            queue: station.air.queue,
            ..StationAir::default()
        };
    } else {
        air(&mut station.air, name, section, plan, names, cx);
    }
    station
}

/// Reports workloads whose self probes share a connection with load, which HTTP/1.1 can't.
fn check_http(station: &Station, section: &StationSection, plan: &Plan, cx: &mut Context) {
    for used in section.workload.iter().flat_map(|list| &list.0) {
        let workload = station.workloads.iter().find(|workload| workload.name == used.0);
        let has_load = workload.is_some_and(|workload| workload.config.load().count() > 0);
        if has_load && plan.server.http == Http::H1 {
            let message = format!("the load of `{}` needs HTTP/2, and the server has HTTP/1.1", used.0);
            let help =
                "set `http = \"2\"` in `[server]`; or set `load_down = 0` and `load_up = 0` for foreign probes only";
            cx.problem_at(used, message, help.to_owned());
        }
    }
}

/// Reports workloads that never run, because the station's load is at other times.
fn check_windows(station: &Station, section: &StationSection, plan: &Plan, cx: &mut Context) {
    let end = station.end(plan.duration);
    if end <= station.start {
        // Reported at `start` or `stop`.
        return;
    }
    let at = |since| Instant::ZERO + since;
    for used in section.workload.iter().flat_map(|list| &list.0) {
        let workload = station.workloads.iter().find(|workload| workload.name == used.0);
        let Some(workload) = workload else { continue };
        if workload.config.windows(at(station.start), at(end)).next().is_none() {
            let message = format!(
                "`{}` never runs on this station, whose load is from {} to {end}",
                used.0, station.start
            );
            let help = "change `start` and `stop` of the workload or of the station".to_owned();
            cx.problem_at(used, message, help);
        }
    }
}

/// Word for the workloads of a station that has none.
const NO_WORKLOAD: &str = "none";

fn workloads(
    station: &str,
    section: &StationSection,
    own: &Definitions,
    names: &Names,
    cx: &mut Context,
) -> Vec<StationWorkload> {
    let mut read: Vec<StationWorkload> = Vec::new();
    let Some(list_of) = &section.workload else {
        return read;
    };
    // A station without traffic, unless the file has a workload of this name.
    if let [only] = &list_of.0[..]
        && only.0 == NO_WORKLOAD
        && !names.workloads.contains(NO_WORKLOAD)
    {
        return read;
    }
    if list_of.0.len() > MAX_STATION_WORKLOADS {
        let help = format!("expected up to {MAX_STATION_WORKLOADS}");
        cx.problem_at(list_of, format!("too many workloads: found {}", list_of.0.len()), help);
        return read;
    }
    for at in &list_of.0 {
        let name = &at.0;
        if read.iter().any(|known| known.name == *name) {
            let help = format!("define a second one with another name: `[workload.{name}-2]`");
            cx.problem_at(at, format!("duplicate workload `{name}`"), help);
            continue;
        }
        match own.get(name) {
            Some(workload) if workload.server.as_deref() == Some(station) => {
                let help = "let another station use it, or change its `server`".to_owned();
                cx.problem_at(at, format!("the station is the server of `{name}` itself"), help);
            }
            Some(workload) => read.push(workload),
            // An invalid definition was reported already.
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
                    None => format!("expected one of {}, or define it: `[workload.{name}]`", list(known())),
                };
                cx.problem_at(at, format!("unknown workload `{name}`"), help);
            }
        }
    }
    read
}

/// Sets the values that depend on other keys, and checks the combinations.
fn air(
    air: &mut StationAir,
    name: &Spanned<String>,
    section: &StationSection,
    plan: &Plan,
    names: &Names,
    cx: &mut Context,
) {
    let joins = section.joins.as_ref().and_then(|at| joins(at, &at.0, plan, names, cx));
    let (standard, streams) = (air.standard, air.streams);
    if let (Some(standard), Some(at)) = (standard, &section.streams)
        && streams > standard.max_streams()
    {
        let message = format!("{} does not support {streams} streams", standard.name());
        cx.problem_at(at, message, format!("expected up to {}", standard.max_streams()));
    }
    if let (Some(at), Some(Joins::Radio(radio))) = (&section.standard, &joins)
        && !supports_band(at.value, radio.radio.band)
    {
        let message = format!("{} does not exist in the band of `{radio}`", at.value.name());
        let known: Vec<&str> = Standard::ALL
            .iter()
            .filter(|known| supports_band(**known, radio.radio.band))
            .map(|known| known.name())
            .collect();
        cx.problem_at(at, message, format!("expected one of {}", list(known)));
    }
    let quality = quality(section, cx);
    position(air, section, plan, cx);
    if let Some(absence) = air.absence {
        super::absence::check(absence, section, cx);
    }
    super::signals::check(section, joins.as_ref(), plan, names, cx);
    let rate_control = rate_control(section, cx);
    check_mcs(section, standard, streams, radio_of(joins.as_ref(), plan), cx);
    air.joins = joins;
    // Standards older than 802.11n have one stream.
    air.streams = standard.map_or(streams, |standard| streams.min(standard.max_streams()));
    air.quality = quality;
    let has_signal = matches!(quality, Some(LinkQuality::Signal(_) | LinkQuality::Distance(_)));
    air.fixed_mcs = section.mcs.as_ref().filter(|_| has_signal).map(|at| to_u8(at.0));
    air.hidden_from = hidden_from(name, section, names, cx);
    air.rate_control = rate_control;
}

/// Returns `true` if a station of this standard can use a radio of this band, possibly with an older standard.
fn supports_band(standard: Standard, band: Band) -> bool {
    standard.in_band(band) || (standard == Standard::Ac && band == Band::Ghz2_4)
}

fn joins<T>(at: &Spanned<T>, text: &str, plan: &Plan, names: &Names, cx: &mut Context) -> Option<Joins> {
    if text.contains('.') {
        let Some(radio) = RadioRef::parse(text) else {
            let help = "expected the name of a network, or an access point and a radio, such as `\"c7.5g\"`";
            cx.problem_at(at, format!("invalid radio `{text}`"), help.to_owned());
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
        _ if names.aps.contains(text) => format!("`{text}` is an access point; add its radio: `\"{text}.5g\"`"),
        Some(near) => format!("did you mean `{near}`?"),
        None if known().next().is_none() => format!("the scenario has none; add one with `[network.{text}]`"),
        None => format!("expected one of {}", list(known())),
    };
    cx.problem_at(at, format!("unknown network `{text}`"), help);
    None
}

fn quality(section: &StationSection, cx: &mut Context) -> Option<LinkQuality> {
    let signal = section.signal.as_ref().map(|at| LinkQuality::Signal(at.0));
    let distance = section.distance.as_ref().map(|at| LinkQuality::Distance(at.0));
    let mcs = section.mcs.as_ref().map(|at| LinkQuality::Mcs(to_u8(at.0)));
    if let (Some(distance), true) = (&section.distance, signal.is_some()) {
        let help = "use one of `signal` and `distance`".to_owned();
        cx.problem_at(distance, "`signal` already sets the link quality", help);
    }
    signal.or(distance).or(mcs)
}

/// Checks the keys of positions and roaming.
fn position(air: &mut StationAir, section: &StationSection, plan: &Plan, cx: &mut Context) {
    let on_path = section.path.iter().flat_map(|path| &path.0);
    for at in section.position.iter().chain(on_path) {
        check_floor(at, plan.building.as_ref(), cx);
    }
    let fixed = [
        section.signal.as_ref().map(|at| ("signal", &at.place, &at.path)),
        section.distance.as_ref().map(|at| ("distance", &at.place, &at.path)),
        section.mcs.as_ref().map(|at| ("mcs", &at.place, &at.path)),
    ];
    let fixed = fixed.into_iter().flatten().next();
    if let Some(at) = &section.position {
        if section.path.is_some() {
            let help = "remove `position`: the path begins at its first position";
            cx.problem_at(at, "`position` and `path` exclude each other", help.to_owned());
        }
        air.path = vec![at.0];
    }
    if let Some(at) = section.path.as_ref().filter(|at| at.0.is_empty()) {
        let help = "name at least one position: `[\"2 m, 0 m\", \"22 m, 0 m\"]`";
        cx.problem_at(at, "the path has no position", help.to_owned());
    }
    if let Some(at) = section.speed.as_ref().filter(|_| air.path.len() < 2) {
        let help = "add a `path` of at least two positions, or remove `speed`";
        cx.problem_at(at, "the station does not move", help.to_owned());
    }
    if let (Some((key, place, path)), false) = (fixed, air.path.is_empty()) {
        let help = "remove it, or `position` and `path`".to_owned();
        let message = format!("`{key}` has no effect: the signal follows from the position");
        cx.problems.push(Problem::new(place.clone(), path, message, Some(help)));
    }
    let has_radios = |ap: &&Ap| ap.rating.is_some() || !ap.radios.is_empty();
    let without = plan.aps.iter().filter(has_radios).find(|ap| ap.position.is_none());
    let placed = section.path.as_ref().map(|at| (&at.place, &at.path));
    let placed = placed.or(section.position.as_ref().map(|at| (&at.place, &at.path)));
    if let (Some((place, path)), Some(ap)) = (placed, without) {
        let help = format!("add `position` to `[ap.{}]`", ap.name);
        let message = format!("access point `{}` has no position", ap.name);
        cx.problems.push(Problem::new(place.clone(), path, message, Some(help)));
    }
    if let Some(at) = &section.roaming
        && section.joins.as_ref().is_some_and(|joins| joins.0.contains('.'))
    {
        let help = "let the station join a network, such as `joins = \"home\"`";
        cx.problem_at(at, "a station that joins one radio does not roam", help.to_owned());
    }
}

fn rate_control(section: &StationSection, cx: &mut Context) -> RateControl {
    let fixed = section.mcs.is_some();
    match &section.rate_control {
        Some(at) if fixed && at.value != RateControl::Fixed => {
            let help = "remove `rate_control`, or use `signal` instead of `mcs`";
            cx.problem_at(at, "`mcs` fixes the rate", help.to_owned());
            RateControl::Fixed
        }
        Some(at) => at.value,
        None if fixed => RateControl::Fixed,
        None => RateControl::default(),
    }
}

/// Reports an MCS that the station and its radio do not both support.
fn check_mcs(section: &StationSection, own: Option<Standard>, streams: u8, radio: Option<&Radio>, cx: &mut Context) {
    let Some(at) = &section.mcs else {
        return;
    };
    let theirs = radio.and_then(|radio| radio.standard);
    let Some(standard) = own.into_iter().chain(theirs).min() else {
        return;
    };
    let mcs = to_u8(at.0);
    if mcs > standard.max_mcs() {
        let message = format!("{} has no MCS {mcs} per stream", standard.name());
        cx.problem_at(at, message, format!("expected 0 to {}", standard.max_mcs()));
        return;
    }
    let Some((width, max_streams)) = radio.and_then(|radio| Some((radio.width?, radio.streams?))) else {
        return;
    };
    let streams = streams.min(max_streams).min(standard.max_streams());
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
        cx.problem_at(at, message, format!("expected {}", valid.join(", ")));
    }
}

fn radio_of<'p>(joins: Option<&Joins>, plan: &'p Plan) -> Option<&'p Radio> {
    let Some(Joins::Radio(radio)) = joins else {
        return None;
    };
    let ap = plan.aps.iter().find(|ap| ap.name == radio.ap)?;
    ap.radios.iter().find(|known| known.name == radio.radio)
}

fn hidden_from(name: &Spanned<String>, section: &StationSection, names: &Names, cx: &mut Context) -> Vec<String> {
    let mut hidden: Vec<String> = Vec::new();
    for at in section.hidden_from.iter().flat_map(|list| &list.0) {
        let other = &at.0;
        if *other == name.value {
            cx.problem_at(
                at,
                "`hidden_from` contains the station itself",
                "name another station".to_owned(),
            );
        } else if !names.stations.contains(other) {
            let help = match cx.nearest(other, names.stations.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("expected one of {}", list(names.stations.iter().map(String::as_str))),
            };
            cx.problem_at(at, format!("unknown station `{other}`"), help);
        } else if !hidden.contains(other) {
            hidden.push(other.clone());
        }
    }
    hidden
}
