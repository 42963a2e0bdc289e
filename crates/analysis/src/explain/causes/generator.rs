//! Load generator bottleneck: an agent was late or used its whole processor.

use super::intervention::InterventionBuilder;
use super::{Cause, Definition, Kind, Severity, list};
use crate::explain::facts::RunFacts;
use crate::format::{percent, span_us};
use netburn_record::health::Role;
use netburn_record::self_check::{CPU, LATENESS_US, MACHINE_BUSY, MISSED_SENDS, standstill_limit};
use netburn_record::{Health, QualityIssue};
use netburn_scenario::Environment;

pub(super) const CAUSE: Definition = Definition {
    rule: Some((find, criterion)),
    what_ifs,
    changes: "none: simulated time is never late",
};

/// Condition under which the rule names its cause.
fn criterion() -> String {
    format!(
        "The busiest thread of an agent used {} of a core or more. Or its machine was busy for {} of the time or more. Or \
         it started its operations more than {} late at p99, skipped more than {} of them, or had a standstill beyond the \
         limit. Or the self-check failed for another reason.",
        percent(CPU),
        percent(MACHINE_BUSY),
        span_us(LATENESS_US),
        percent(MISSED_SENDS)
    )
}

fn find(facts: &RunFacts<'_>, _: &[Cause]) -> Vec<Cause> {
    if !facts.environment.is_real() {
        return Vec::new();
    }
    let limit_us = standstill_limit(facts.plan).as_nanos() as f64 / 1e3;
    let one_machine = matches!(facts.environment, Environment::Local | Environment::Lab);
    let agents = facts.health.iter().filter(|health| health.role == Role::Agent);
    let agents: Vec<(&Health, String)> = agents
        .filter_map(|agent| Some((agent, agent_evidence(agent, limit_us, one_machine)?)))
        .collect();
    let mut causes = Vec::new();
    if one_machine {
        let busiest = facts.health.iter().filter_map(|health| health.machine_busy);
        let busiest = busiest.max_by(f64::total_cmp).filter(|share| *share >= MACHINE_BUSY);
        causes.extend(one_cause(facts, busiest, &agents));
    } else {
        causes.extend(agents.into_iter().map(cause));
    }
    let quality_issues = &facts.evidence.quality_issues;
    if causes.is_empty() && !quality_issues.is_empty() {
        let evidence = format!("Self-check: {}.", list_issues(quality_issues));
        causes.push(test_machine(facts, evidence));
    }
    causes
}

/// Number of agents of one machine whose limits are listed.
const LISTED: usize = 2;

/// The cause of a machine that drives all stations. If it was not `busiest` beyond its limit, only the stations of these agents
/// are affected.
fn one_cause(facts: &RunFacts<'_>, busiest: Option<f64>, agents: &[(&Health, String)]) -> Option<Cause> {
    let busy = busiest.map(|share| {
        format!(
            "The machine was {} busy (limit: {}).",
            percent(share),
            percent(MACHINE_BUSY)
        )
    });
    let mut parts: Vec<String> = busy.into_iter().collect();
    parts.extend(agents.iter().take(LISTED).map(|(_, evidence)| evidence.clone()));
    match agents.len().saturating_sub(LISTED) {
        0 => {}
        1 => parts.push("One more agent exceeded a limit.".to_owned()),
        more => parts.push(format!("{more} more agents exceeded a limit.")),
    }
    let mut cause = (!parts.is_empty()).then(|| test_machine(facts, parts.join(" ")))?;
    if busiest.is_none() {
        cause.stations = agents.iter().flat_map(|(agent, _)| agent.stations.clone()).collect();
    }
    Some(cause)
}

/// Cause for all stations, which one machine drives.
fn test_machine(facts: &RunFacts<'_>, evidence: String) -> Cause {
    Cause {
        kind: Kind::Generator,
        severity: Severity::Measurement,
        title: "The test machine could not keep up".to_owned(),
        evidence,
        advice:
            "Run the test again with less load on the machine, with fewer stations, with a lower rate, or on simulate."
                .to_owned(),
        stations: facts.names(0..facts.plan.stations.len()),
        by: Vec::new(),
    }
}

fn list_issues(issues: &[QualityIssue]) -> String {
    issues.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn cause((agent, evidence): (&Health, String)) -> Cause {
    Cause {
        kind: Kind::Generator,
        severity: Severity::Measurement,
        title: format!("The device of {} could not keep up", list(&agent.stations)),
        evidence,
        advice: "The results may reflect this device rather than the network. Run the test again with less load on it, with a lower rate, or on a faster device."
            .to_owned(),
        stations: agent.stations.clone(),
        by: Vec::new(),
    }
}

/// Exceeded limits of an agent's health report. `limit_us` is the limit of a standstill. The load of a machine that all agents
/// share, `one_machine`, is a cause of its own.
fn agent_evidence(agent: &Health, limit_us: f64, one_machine: bool) -> Option<String> {
    let due = agent.operations_due();
    let mut parts = Vec::new();
    if let Some(cpu) = agent.cpu.filter(|cpu| *cpu >= CPU) {
        parts.push(format!("used {} of one core (limit: {})", percent(cpu), percent(CPU)));
    }
    let machine_busy = agent.machine_busy.filter(|_| !one_machine);
    if let Some(share) = machine_busy.filter(|share| *share >= MACHINE_BUSY) {
        parts.push(format!(
            "ran on a machine that was {} busy (limit: {})",
            percent(share),
            percent(MACHINE_BUSY)
        ));
    }
    if agent.lateness_us_p99 > LATENESS_US {
        parts.push(format!(
            "was {} behind schedule at p99 (limit: {})",
            span_us(agent.lateness_us_p99),
            span_us(LATENESS_US)
        ));
    }
    if let Some(longest) = agent.standstill_us_max.filter(|longest| *longest > limit_us) {
        parts.push(format!(
            "had a standstill of {} (limit: {})",
            span_us(longest),
            span_us(limit_us)
        ));
    }
    if agent.missed_sends as f64 > MISSED_SENDS * due as f64 {
        parts.push(format!(
            "skipped {} of {due} operations because it was too late",
            agent.missed_sends
        ));
    }
    (!parts.is_empty()).then(|| format!("Agent {} {}.", agent.name, list(&parts)))
}

fn what_ifs(builder: &mut InterventionBuilder<'_>, _: &Cause) {
    builder.not_simulated(
        "Simulated time cannot show a slow test machine, so the simulator has no change for this cause.",
    );
}
