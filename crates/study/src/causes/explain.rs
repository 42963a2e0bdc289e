//! Causes of a run: those of the simulation, with the evidence that the rules found in the record.

use super::decide::{Diagnosis, Finding, Found};
use super::goal::Victim;
use netburn_analysis::explain::{Cause, Explanation, Kind, Severity, Unexplained};
use netburn_analysis::format::percent;
use netburn_scenario::Plan;

/// Merges the causes that the rules found with those of the simulation. The simulation decides for all workloads whose missed
/// goals it reproduces.
#[must_use]
pub fn explain(plan: &Plan, rules: &Explanation, diagnosis: &Diagnosis) -> Explanation {
    let mut causes: Vec<Cause> = rules
        .causes
        .iter()
        .filter(|cause| cause.severity == Severity::Measurement)
        .cloned()
        .collect();
    let told = diagnosis.found.iter().enumerate();
    let told = told.filter(|(place, found)| !is_repeated(&diagnosis.found[..*place], found));
    causes.extend(told.map(|(_, found)| cause(plan, found, rules)));
    // A rule's cause stays where the simulation has none.
    let undecided = |name: &String| {
        let is_victim = |victim: &Victim| {
            plan.stations
                .get(victim.station)
                .is_some_and(|station| station.name == *name)
        };
        let mut findings = diagnosis.found.iter().flat_map(|found| &found.findings);
        !findings.any(|finding| is_victim(&finding.victim))
    };
    let kept = rules.causes.iter().filter(|cause| match cause.severity {
        Severity::Measurement => false,
        Severity::Notable | Severity::Serious => cause.stations.iter().all(undecided),
    });
    causes.extend(kept.cloned());
    // The order of equal severities is that of the diagnosis.
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.severity));
    let named = |name: &String| {
        causes
            .iter()
            .any(|cause| cause.stations.contains(name) || cause.by.contains(name))
    };
    let unexplained: Vec<Unexplained> = rules
        .unexplained
        .iter()
        .filter(|one| !named(&one.station))
        .cloned()
        .collect();
    Explanation { causes, unexplained }
}

/// True if a transfer that fills a queue, as one of the causes `before` says, also takes a share from the same stations. That is
/// one fault, whose remedy is that of the queue.
fn is_repeated(before: &[Found], found: &Found) -> bool {
    let of_the_same = |earlier: &Found| {
        let delays = |station: usize| earlier.findings.iter().any(|finding| finding.victim.station == station);
        matches!(earlier.kind, Kind::UploadBloat | Kind::DownloadBloat)
            && earlier.by == found.by
            && found.findings.iter().all(|finding| delays(finding.victim.station))
    };
    found.kind == Kind::FairShare && before.iter().any(of_the_same)
}

fn cause(plan: &Plan, found: &Found, rules: &Explanation) -> Cause {
    let name = |station: usize| {
        plan.stations
            .get(station)
            .map_or_else(String::new, |station| station.name.clone())
    };
    let mut stations: Vec<usize> = found.findings.iter().map(|finding| finding.victim.station).collect();
    stations.sort_unstable();
    stations.dedup();
    let stations: Vec<String> = stations.into_iter().map(name).collect();
    let serious = found.findings.iter().any(|finding| finding.before.has_goal);
    // The evidence of a rule ends with the symptom, which the simulation shows as well.
    let rule = rules
        .causes
        .iter()
        .find(|cause| cause.kind == found.kind && cause.stations.iter().any(|affected| stations.contains(affected)));
    let mut evidence = effect(plan, found);
    if let Some(rule) = rule {
        evidence = format!("{} {evidence}", rule.evidence);
    }
    Cause {
        kind: found.kind,
        severity: if serious { Severity::Serious } else { Severity::Notable },
        title: found.title.clone(),
        evidence,
        advice: rule
            .filter(|_| !found.own_advice)
            .map_or_else(|| found.advice.clone(), |rule| rule.advice.clone()),
        stations,
        by: found.by.iter().copied().map(name).collect(),
    }
}

/// Sentence on the workload that gains most.
fn effect(plan: &Plan, found: &Found) -> String {
    let gain = |finding: &&Finding| (finding.before.has_goal, finding.before.loss - finding.after.loss);
    let best = found
        .findings
        .iter()
        .max_by(|a, b| gain(a).partial_cmp(&gain(b)).unwrap_or(std::cmp::Ordering::Equal));
    let Some(best) = best else { return String::new() };
    let station = plan
        .stations
        .get(best.victim.station)
        .map_or("", |station| station.name.as_str());
    let without: Vec<&str> = std::iter::once(&found.without)
        .chain(&found.together)
        .map(String::as_str)
        .collect();
    let without = without.join(" and ");
    let what = format!("{station}'s {}", best.victim.workload);
    let changed = match (best.before.met, best.after.met) {
        (Some(before), Some(after)) => {
            format!(
                "{what} meets `{}` for {} instead of {}",
                best.before.goal,
                percent(after),
                percent(before)
            )
        }
        _ if best.after.goal.is_empty() => format!("{what} is no longer slow"),
        _ => format!(
            "{what} takes {} instead of {} at p95",
            best.after.goal, best.before.goal
        ),
    };
    // A shorter run has other shares than those of the record.
    if best.duration < plan.duration {
        format!("Simulated for {} {without}, {changed}.", best.duration)
    } else {
        format!("Simulated {without}, {changed}.")
    }
}

/// Texts of what the simulations have instead, by family, for the manual.
#[must_use]
pub fn removals() -> Vec<&'static str> {
    super::factors::FAMILIES.iter().map(|family| family.without).collect()
}
