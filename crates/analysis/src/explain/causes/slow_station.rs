//! Stations with a slow link: for themselves, for others on their radio, and for other radios on their channel.

use super::factor::{Class, Factor, Part, Rank};
use super::scene::Scene;
use super::{Family, Kind, slow_rate};
use netburn_medium::config::{LinkQuality, RateControl, Standard};
use netburn_scenario::Plan;
use netburn_scenario::plan::{Joins, RadioRef, Setting, StationSetting};
use netburn_units::Dbm;

pub(super) const FAMILY: Family = Family {
    without: "one station near its access point, at −45 dBm, with the standard of the radio; a rate that follows the signal, if the station has an `mcs` and a good signal",
    find: factors,
};

/// Signal of a station in the same room as its access point.
const STRONG: Dbm = Dbm::from_dbm(-45);
/// Signal up to which a link can be slow, in dBm.
const SLOW_DBM: f64 = -68.0;
/// MCS up to which a link is slow.
const SLOW_MCS: u8 = 3;

fn factors(scene: &Scene<'_>) -> Vec<Factor> {
    let stations = scene.joined.iter().enumerate();
    let slow = stations.filter_map(|(station, radio)| Some((station, radio.clone()?)));
    slow.filter(|(station, _)| is_slow(scene, *station))
        .map(|(station, radio)| factor(scene, station, radio))
        .collect()
}

/// True if the link is slow at its start or may become so.
pub(super) fn is_slow(scene: &Scene<'_>, station: usize) -> bool {
    let air = &scene.plan.stations[station].air;
    let name = scene.name(station);
    let weak = scene.signals[station].is_some_and(|dbm| dbm <= SLOW_DBM);
    let up = air.signal_up.is_some_and(|dbm| dbm.as_dbm_f64() <= SLOW_DBM);
    let fixed = matches!(air.quality, Some(LinkQuality::Mcs(mcs)) if mcs <= SLOW_MCS);
    let old = matches!(air.standard, Some(Standard::B | Standard::G | Standard::A));
    let mut settings = scene.plan.changes.iter().flat_map(|change| &change.settings);
    weak || up
        || fixed
        || old
        || air.fixed_mcs.is_some()
        || moves(scene, station)
        || settings.any(|setting| concerns(setting, name))
}

fn moves(scene: &Scene<'_>, station: usize) -> bool {
    let air = &scene.plan.stations[station].air;
    air.path.len() > 1 || !air.signals.is_empty()
}

fn factor(scene: &Scene<'_>, station: usize, radio: RadioRef) -> Factor {
    let name = scene.name(station).to_owned();
    let channel = scene.channel(&radio);
    let same_radio: Vec<bool> = scene
        .joined
        .iter()
        .map(|joined| joined.as_ref() == Some(&radio))
        .collect();
    let same_channel: Vec<bool> = scene
        .joined
        .iter()
        .map(|joined| joined.as_ref().is_some_and(|other| scene.channel(other) == channel))
        .collect();
    let roams = moves(scene, station) && scene.plan.stations[station].air.roaming.is_some();
    let is_weak = scene.signals[station].is_some_and(|dbm| dbm <= SLOW_DBM);
    let is_fixed = scene.plan.stations[station].air.fixed_mcs.is_some() && !is_weak;
    let own = Class {
        kind: match (roams, is_fixed) {
            (true, _) => Kind::Roaming,
            (false, true) => Kind::SlowRate,
            (false, false) => Kind::WeakSignal,
        },
        rank: Rank::Place,
    };
    let other = |kind| Class {
        kind,
        rank: Rank::SlowStation,
    };
    let class = move |victim: usize| {
        let is = |flags: &[bool]| flags.get(victim).copied().unwrap_or(false);
        match victim {
            _ if victim == station => Some(own),
            _ if is(&same_radio) => Some(other(Kind::SlowNeighbour)),
            _ if is(&same_channel) => Some(other(Kind::SlowCochannel)),
            _ => None,
        }
    };
    let signal = scene.signals[station];
    // Otherwise the rate is fixed, or the standard of the station is old.
    let up = scene.plan.stations[station].air.signal_up;
    let follows_signal = signal
        .into_iter()
        .chain(up.map(Dbm::as_dbm_f64))
        .any(|dbm| dbm <= SLOW_DBM)
        || moves(scene, station);
    let remedy = remedy(&name, signal, is_fixed, follows_signal);
    let title = {
        let name = name.clone();
        move |kind, names: &str| match kind {
            Kind::SlowRate => slow_rate::title(&name),
            Kind::WeakSignal if follows_signal => format!("{name}'s signal is too weak for its workloads"),
            Kind::WeakSignal => format!("{name}'s link is too slow for its workloads"),
            Kind::Roaming => format!("{name} moves, and loses its connection or its rate while it roams"),
            Kind::SlowCochannel => {
                format!("{name}, on another radio of this channel, is slow and takes airtime from {names}")
            }
            _ => format!("{name} is slow and uses too much airtime, which delays {names}"),
        }
    };
    let edited = name.clone();
    Factor::builder(Part::Air, Kind::SlowNeighbour, Rank::SlowStation)
        .by(vec![station])
        .class(class)
        .edit(move |plan| {
            if is_fixed {
                free_rate(plan, &edited);
            } else {
                strengthen(plan, &edited, &radio);
            }
        })
        .words_by_kind(
            title,
            if is_fixed {
                format!("with a rate of {name} that follows its signal")
            } else {
                format!("with {name} near its access point")
            },
            format!(
                "{remedy} An access point that shares airtime (`queue = \"airtime\"`) protects the others from a slow station."
            ),
        )
}

/// Returns what makes the link faster.
fn remedy(name: &str, signal: Option<f64>, is_fixed: bool, follows_signal: bool) -> String {
    match signal {
        _ if is_fixed => slow_rate::REMEDY.to_owned(),
        _ if !follows_signal => format!(
            "The rate of its link is fixed or its standard is old, so a better signal alone does not help: update the driver and the \
             firmware of {name} and of the access point, or use another adapter."
        ),
        Some(dbm) => format!(
            "Its signal is {dbm:.0} dBm. Move {name} nearer to the access point, or to a radio of its own, or add an access point near it."
        ),
        None => {
            format!("Move {name} nearer to the access point, or to a radio of its own, or add an access point near it.")
        }
    }
}

fn strengthen(plan: &mut Plan, name: &str, radio: &RadioRef) {
    for change in &mut plan.changes {
        change.settings.retain(|setting| !concerns(setting, name));
    }
    let Some(station) = plan.stations.iter_mut().find(|station| station.name == name) else {
        return;
    };
    let air = &mut station.air;
    air.quality = Some(LinkQuality::Signal(STRONG));
    (air.path, air.signals, air.speed) = (Vec::new(), Vec::new(), None);
    (air.signal_up, air.standard, air.roaming) = (None, None, None);
    if air.fixed_mcs.take().is_some() {
        air.rate_control = RateControl::default();
    }
    air.joins = Some(Joins::Radio(radio.clone()));
}

/// Replaces a fixed MCS by the rate control of the default.
fn free_rate(plan: &mut Plan, name: &str) {
    if let Some(station) = plan.stations.iter_mut().find(|station| station.name == name) {
        (station.air.fixed_mcs, station.air.rate_control) = (None, RateControl::default());
    }
}

/// True if a timed change concerns the link of a station.
fn concerns(setting: &Setting, name: &str) -> bool {
    matches!(
        setting,
        Setting::Station(of, StationSetting::Quality(_) | StationSetting::Position(_) | StationSetting::SignalUp(_)) if of == name
    )
}
