//! A band too full: others take much of the channel, and what is left is used up.

use super::{list, named_for, severity, suffering};
use crate::explain::scene::{Group, Scene};
use crate::explain::{Cause, Kind};
use crate::text::figure::percent;
use netburn_scenario::Environment;

/// What others must take of the air to be the cause.
const OTHERS: f64 = 0.3;
/// A channel that is taken for this share of the time has no room left.
const TAKEN: f64 = 0.9;
/// The same as a driver's survey has it, which misses what the channel needs around frames.
const SURVEYED: f64 = 0.8;

pub(super) fn find(scene: &Scene<'_>, found: &[Cause]) -> Vec<Cause> {
    scene
        .groups
        .iter()
        .filter_map(|group| of(scene, group, found))
        .collect()
}

fn of(scene: &Scene<'_>, group: &Group, found: &[Cause]) -> Option<Cause> {
    // Whoever one slow station of another network keeps from the air is explained.
    let explained = |station: &usize| named_for(found, Kind::SlowCochannel, &scene.name(*station));
    let mut suffer = scene.suffering_of(group);
    suffer.retain(|station| !explained(station));
    if suffer.is_empty() {
        return None;
    }
    let mask = scene.bad_bins(&suffer);
    let (others, figure) = match scene.environment {
        Environment::Fleet => surveyed(scene, group)?,
        _ => {
            let look = scene.look(group, &mask)?;
            if look.used() < TAKEN {
                return None;
            }
            let own = match &group.members[..] {
                [one] => scene.name(*one),
                _ => "the stations".to_owned(),
            };
            let others = (look.others + look.peers).min(1.0);
            let figure = format!(
                "Others took {} of the channel, {own} {} with what frames need around them, and {} was left.",
                percent(others),
                percent((look.data + look.around).min(1.0 - others)),
                percent((1.0 - look.used()).max(0.0))
            );
            (others, figure)
        }
    };
    if others < OTHERS {
        return None;
    }
    let names = scene.names(suffer.iter().copied());
    let place = group.radio.clone().unwrap_or_else(|| "The channel".to_owned());
    Some(Cause {
        kind: Kind::FullBand,
        severity: severity(scene, suffer.iter().copied()),
        title: format!("{place} is too full of others' traffic for {}", list(&names)),
        figure: format!("{figure}{}", suffering(scene, &suffer)),
        advice: "Take another channel or band, or move whoever needs most to another radio; a wider channel only helps where its other part is \
                 emptier."
            .to_owned(),
        stations: names,
        by: Vec::new(),
    })
}

/// What others take and the figure that says so, as drivers' surveys have it.
fn surveyed(scene: &Scene<'_>, group: &Group) -> Option<(f64, String)> {
    let others = scene.others(group, &[]);
    let loaded = group
        .members
        .iter()
        .filter_map(|s| scene.evidence.stations[*s].link.busy.value());
    let loaded = loaded.fold(0.0, f64::max) / 1e6;
    (loaded >= SURVEYED).then(|| {
        let figure = format!(
            "The channel was {} busy before the load began, and {} during it.",
            percent(others),
            percent(loaded)
        );
        (others, figure)
    })
}
