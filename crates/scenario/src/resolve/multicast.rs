//! Checks of the multicast of access points, and of the rate of group-addressed frames.

use super::Names;
use crate::decode::Context;
use crate::file::Scenario;
use crate::plan::{Ap, MAX_MULTICAST_RATE, MULTICAST_SIZES, MulticastSection, Plan, RadioName, RadioSection};
use crate::suggest::list;
use netburn_medium::config::{Band, Standard};
use netburn_medium::phy::{Modulation, dsss, ofdm};
use netburn_units::ByteSize;
use std::collections::BTreeSet;

/// Checks the multicast of all access points, after the stations have been read.
pub(super) fn check(file: &Scenario, plan: &Plan, names: &Names, cx: &mut Context) {
    let Some(aps) = &file.ap else { return };
    for (name, section) in &aps.0 {
        let ap = plan.aps.iter().find(|ap| ap.name == name.value);
        if let (Some(ap), Some(multicast)) = (ap, &section.multicast) {
            check_ranges(multicast, cx);
            check_members(multicast, ap, plan, names, cx);
        }
    }
}

fn check_ranges(section: &MulticastSection, cx: &mut Context) {
    if let Some(at) = &section.rate
        && at.0 > MAX_MULTICAST_RATE
    {
        let message = format!("`rate` is out of range: found {}", at.0);
        cx.problem_at(at, message, format!("expected up to {MAX_MULTICAST_RATE}"));
    }
    let (low, high) = MULTICAST_SIZES;
    if let Some(at) = &section.size
        && !(low..=high).contains(&at.0.as_bytes())
    {
        let message = format!("`size` is out of range: found {}", at.0);
        let help = format!("expected {} to {high} B", ByteSize::from_bytes(low));
        cx.problem_at(at, message, help);
    }
}

/// Checks that each member exists, is named once, and can join a radio of the access point.
fn check_members(section: &MulticastSection, ap: &Ap, plan: &Plan, names: &Names, cx: &mut Context) {
    let mut known = BTreeSet::new();
    for at in section.to.iter().flat_map(|members| &members.value.0) {
        let name = &at.value.0;
        if !names.stations.contains(name) {
            let stations = || names.stations.iter().map(String::as_str);
            let help = match cx.nearest(name, stations()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("expected one of {}", list(stations())),
            };
            cx.problem_at(at, format!("unknown station `{name}`"), help);
            continue;
        }
        if !known.insert(name) {
            let help = "remove one of them".to_owned();
            cx.problem_at(at, format!("`{name}` is already a member"), help);
        }
        // An invalid station was reported already.
        let Some(station) = plan.station(name) else { continue };
        let joins = station.air.joins.as_ref().filter(|_| station.link.is_none());
        let joined = joins.map(|joins| plan.radios_of(joins)).unwrap_or_default();
        if !joined.iter().any(|radio| radio.ap == ap.name) {
            let message = format!("`{name}` joins no radio of `{}`", ap.name);
            let help = format!("remove it, or let `[station.{name}]` join a radio of `{}`", ap.name);
            cx.problem_at(at, message, help);
        }
    }
}

/// Checks the rate of the group-addressed frames of a radio.
pub(super) fn check_rate(name: RadioName, section: &RadioSection, cx: &mut Context) {
    let Some(at) = &section.multicast_rate else { return };
    let dsss = dsss::Rate::ALL.map(dsss::Rate::rate);
    let ofdm = ofdm::Rate::ALL.map(ofdm::Rate::rate);
    let is_dsss_only = section.standard.as_ref().is_some_and(|at| at.value == Standard::B);
    let valid = match Modulation::legacy(at.0) {
        Some(Modulation::Dsss(_)) => name.band == Band::Ghz2_4,
        Some(_) => !is_dsss_only,
        None => false,
    };
    if !valid {
        let dsss = dsss.iter().filter(|_| name.band == Band::Ghz2_4);
        let ofdm = ofdm.iter().filter(|_| !is_dsss_only);
        let rates: Vec<String> = dsss.chain(ofdm).map(ToString::to_string).collect();
        let message = format!(
            "`multicast_rate` is no rate of group-addressed frames of `{name}`: found {}",
            at.0
        );
        let help = format!("expected one of {}", list(rates.iter().map(String::as_str)));
        cx.problem_at(at, message, help);
    }
}
