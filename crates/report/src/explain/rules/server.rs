//! The server is the limit: its processor, its own faults, or the hop that it is behind.

use super::{list, severity, suffering};
use crate::explain::scene::{Line, Scene, Way};
use crate::explain::{Cause, Kind, Severity};
use crate::text::figure::{mbps, percent, span_us};
use netburn_record::health::Role;
use netburn_record::self_check::{CPU, SERVICE_US};
use netburn_scenario::Environment;
use netburn_units::BitRate;

/// A hop that is full for this share of the time in which anything moves is the limit.
const OFTEN: f64 = 0.3;

pub(super) fn find(scene: &Scene<'_>, _: &[Cause]) -> Vec<Cause> {
    itself(scene).or_else(|| hop(scene)).into_iter().collect()
}

/// By what it says of itself.
fn itself(scene: &Scene<'_>) -> Option<Cause> {
    if !scene.environment.is_real() {
        return None;
    }
    let mut figures = Vec::new();
    for server in scene.health.iter().filter(|health| health.role == Role::Server) {
        if server.cpu >= CPU {
            figures.push(format!(
                "it kept {} of a core busy (believed below {})",
                percent(server.cpu),
                percent(CPU)
            ));
        }
        if server.service_us_p99 > SERVICE_US {
            figures.push(format!(
                "it took {} to begin its answers at the 99th percentile (believed up to {})",
                span_us(server.service_us_p99),
                span_us(SERVICE_US)
            ));
        }
        if server.refused > 0 {
            figures.push(format!(
                "it refused or failed {} requests by its own fault",
                server.refused
            ));
        }
    }
    (!figures.is_empty()).then(|| Cause {
        kind: Kind::Server,
        severity: Severity::Doubt,
        title: "The server could not keep up".to_owned(),
        figure: format!("What the server says of itself: {}.", list(&figures)),
        advice: "What was measured may be the server and not the network: run it on a faster machine, with less else to do there, or with a \
                 lower rate."
            .to_owned(),
        stations: scene.names(0..scene.plan.stations.len()),
        by: Vec::new(),
    })
}

/// By how full its hop was.
fn hop(scene: &Scene<'_>) -> Option<Cause> {
    let said = scene.plan.server.link.rate;
    let rate = match scene.environment {
        Environment::Simulate | Environment::Lab | Environment::Local => said.unwrap_or(BitRate::from_mbps(1_000)),
        Environment::Fleet | Environment::Imported => return None,
    };
    let all: Vec<usize> = (0..scene.plan.stations.len()).collect();
    let (way, line) = fullest(scene, &all, rate)?;
    let held: Vec<usize> = all
        .into_iter()
        .filter(|station| scene.is_greedy(*station) || scene.suffering(*station).is_some())
        .collect();
    let severity = severity(scene, held.iter().copied());
    // Whoever said nothing of the server's rate is told of it only where somebody suffers.
    if held.is_empty() || said.is_none() && severity == Severity::Notable {
        return None;
    }
    let direction = if way == Way::Down {
        "towards the stations"
    } else {
        "away from the stations"
    };
    Some(Cause {
        kind: Kind::Server,
        severity,
        title: "The server's own link is the limit, not the Wi-Fi".to_owned(),
        figure: format!(
            "All stations together moved {} Mbit/s {direction} over a link of {} Mbit/s, full for {} of the time that it was used.{}",
            mbps(line.mbps),
            mbps(line.rate.as_mbps_f64()),
            percent(line.full),
            suffering(scene, &held)
        ),
        advice: "Nothing about the Wi-Fi will help while the server has no more to give: put it on a faster link, or ask for less.".to_owned(),
        stations: scene.names(held),
        by: Vec::new(),
    })
}

/// The direction in which a hop of all these was full most often, if that was often.
fn fullest(scene: &Scene<'_>, stations: &[usize], rate: BitRate) -> Option<(Way, Line)> {
    let lines = [Way::Down, Way::Up].map(|way| (way, scene.line(stations, way, rate)));
    let fuller = lines.into_iter().max_by(|(_, a), (_, b)| a.full.total_cmp(&b.full));
    fuller.filter(|(_, line)| line.full >= OFTEN)
}
