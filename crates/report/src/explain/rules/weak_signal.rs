//! A weak signal: the rates at which a station's link works carry less than a workload needs, even with all of the air.

use super::{named_for, severity, suffering};
use crate::explain::scene::{OF_RATE, Scene, Way};
use crate::explain::{Cause, Kind};
use crate::text::figure::mbps;
use netburn_scenario::Environment;

/// A signal that is not weak, in dBm: −67 dBm is what Wi-Fi networks for voice and video are planned for at the edge of a cell (Cisco, *Enterprise
/// Mobility Design Guide*).
const WEAK_DBM: f64 = -67.0;

pub(super) fn find(scene: &Scene<'_>, found: &[Cause]) -> Vec<Cause> {
    if !matches!(
        scene.environment,
        Environment::Simulate | Environment::Lab | Environment::Fleet
    ) {
        return Vec::new();
    }
    let stations = 0..scene.plan.stations.len();
    stations.filter_map(|station| of(scene, station, found)).collect()
}

fn of(scene: &Scene<'_>, station: usize, found: &[Cause]) -> Option<Cause> {
    let sufferer = scene.suffering(station)?;
    scene.group_of(station)?;
    let name = scene.name(station);
    let link = &scene.evidence.stations[station].link;
    let signal = link.signal_dbm().filter(|signal| *signal <= WEAK_DBM)?;
    // While nothing reaches it the rates tell nothing.
    if named_for(found, Kind::Roaming, &name) {
        return None;
    }
    let carries = |way: Way| {
        let rate = if way == Way::Down {
            link.down.value()
        } else {
            link.up.value()
        };
        rate.map(|rate| (rate / 1e6, rate / 1e6 * OF_RATE))
    };
    let needs = sufferer
        .failed
        .iter()
        .filter_map(|workload| scene.need(station, *workload));
    let lacking = needs.filter_map(|need| {
        let (rate, carries) = carries(need.way)?;
        (need.mbps > carries).then_some((need, rate, carries))
    });
    let (need, rate, carries) = lacking.max_by(|(a, ..), (b, ..)| a.mbps.total_cmp(&b.mbps))?;
    Some(Cause {
        kind: Kind::WeakSignal,
        severity: severity(scene, [station]),
        title: format!("{name}'s signal is too weak for what it asks"),
        figure: format!(
            "At {signal:.0} dBm its link works at {} Mbit/s on average, which carries some {} of content: {}.{}",
            mbps(rate),
            mbps(carries),
            need.why,
            suffering(scene, &[station])
        ),
        advice: format!(
            "Bring {name} nearer to the access point, or the access point to it: a second access point on a wire, a radio in a lower band. No queue \
             and no faster line helps."
        ),
        stations: vec![name.clone()],
        by: vec![name],
    })
}
