//! Server bottleneck: its processor, its errors, or its link.

use super::{list, severity, worst_symptom};
use crate::explain::analysis::{Analysis, Direction, FULL_SHARE, LinkLoad};
use crate::explain::{Cause, Kind, Severity};
use crate::format::{mbps, percent, span_us};
use netburn_record::health::Role;
use netburn_record::self_check::{CPU, SERVICE_US};
use netburn_scenario::Environment;
use netburn_scenario::plan::Capacity;
use netburn_units::BitRate;

/// Share of the content that the link can carry above which it is the bottleneck. A Wi-Fi that is nearly as fast moves less.
const FULL: f64 = 0.94;

/// Condition under which the rule names its cause.
pub(super) fn criterion() -> String {
    format!(
        "The busiest thread of the server used {} of a core or more. Or the server took more than {} to start its \
         responses at p99, or rejected requests. Or the content on its link reached {} of what the link can carry for {} of the \
         time in use.",
        percent(CPU),
        span_us(SERVICE_US),
        percent(FULL),
        percent(FULL_SHARE)
    )
}

pub(super) fn find(analysis: &Analysis<'_>, _: &[Cause]) -> Vec<Cause> {
    itself(analysis).or_else(|| hop(analysis)).into_iter().collect()
}

/// Uses the server's health report.
fn itself(analysis: &Analysis<'_>) -> Option<Cause> {
    if !analysis.environment.is_real() {
        return None;
    }
    let mut facts = Vec::new();
    for server in analysis.health.iter().filter(|health| health.role == Role::Server) {
        if let Some(cpu) = server.cpu.filter(|cpu| *cpu >= CPU) {
            facts.push(format!(
                "it used {} of one core (limit: {})",
                percent(cpu),
                percent(CPU)
            ));
        }
        if server.service_us_p99 > SERVICE_US {
            facts.push(format!(
                "it took {} to start its responses at p99 (limit: {})",
                span_us(server.service_us_p99),
                span_us(SERVICE_US)
            ));
        }
        if server.rejected > 0 {
            facts.push(format!(
                "it rejected or failed {} requests because of internal errors",
                server.rejected
            ));
        }
    }
    (!facts.is_empty()).then(|| Cause {
        kind: Kind::Server,
        severity: Severity::Measurement,
        title: "The server could not keep up".to_owned(),
        evidence: format!("The server's health report: {}.", list(&facts)),
        advice: "The results may reflect the server rather than the network. Run it on a faster machine, with less load on the machine, or with a lower rate."
            .to_owned(),
        stations: analysis.names(0..analysis.plan.stations.len()),
        by: Vec::new(),
    })
}

/// Uses the load of the server's link.
fn hop(analysis: &Analysis<'_>) -> Option<Cause> {
    let configured = analysis.plan.server.link.rate;
    let rate = match analysis.environment {
        Environment::Simulate | Environment::Lab | Environment::Local => {
            configured.unwrap_or(BitRate::from_mbps(1_000))
        }
        Environment::Fleet | Environment::Imported => return None,
    };
    let all: Vec<usize> = (0..analysis.plan.stations.len()).collect();
    let (direction, line) = fullest(analysis, &all, rate)?;
    let held: Vec<usize> = all
        .into_iter()
        .filter(|station| analysis.is_greedy(*station) || analysis.degraded_station(*station).is_some())
        .collect();
    let severity = severity(analysis, held.iter().copied());
    // A default server rate is reported only if a station missed a goal.
    if held.is_empty() || configured.is_none() && severity == Severity::Notable {
        return None;
    }
    let direction = if direction == Direction::Down {
        "towards the stations"
    } else {
        "away from the stations"
    };
    Some(Cause {
        kind: Kind::Server,
        severity,
        title: "The server's link is the bottleneck, not the Wi-Fi".to_owned(),
        evidence: format!(
            "All stations together moved {} Mbit/s {direction} over a link of {} Mbit/s, which was full for {} of the time in use.{}",
            mbps(line.mbps),
            mbps(line.rate.as_mbps_f64()),
            percent(line.full),
            worst_symptom(analysis, &held)
        ),
        advice: "Changes to the Wi-Fi do not help. Connect the server to a faster link, or request less.".to_owned(),
        stations: analysis.names(held),
        by: Vec::new(),
    })
}

/// Direction in which the link was full most often, if it is a bottleneck.
fn fullest(analysis: &Analysis<'_>, stations: &[usize], rate: BitRate) -> Option<(Direction, LinkLoad)> {
    let lines = [Direction::Down, Direction::Up].map(|direction| {
        (
            direction,
            analysis.line(stations, direction, &Capacity::constant(rate), FULL),
        )
    });
    let fuller = lines.into_iter().max_by(|(_, a), (_, b)| a.full.total_cmp(&b.full));
    fuller.filter(|(_, line)| line.full >= FULL_SHARE)
}
