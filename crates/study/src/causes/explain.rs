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

/// True if a transfer takes a share from stations that it already delays by a queue, as one of the causes `before` says. The
/// list names a transfer once for the same stations.
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
        _ if best.before.goal.is_empty() => {
            format!(
                "{what} takes {} at p95, instead of no end for too many",
                best.after.goal
            )
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::goal::GoalState;
    use netburn_scenario::Document;
    use netburn_units::Duration;
    use netburn_workload::Verdict;

    const HOUSE: &str = "[ap.home.radio.5g]\n\
        [station.phone]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = [\"voice\", \"browsing\"]\n\
        [station.tv]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = \"4kstream\"\n\
        [station.tablet]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = \"upload\"\n";

    fn found(kind: Kind, by: &[usize], victims: &[(usize, &str)]) -> Found {
        let state = |verdict, loss| GoalState {
            verdict,
            loss,
            met: Some(1.0 - loss),
            goal: "latency ≤ 150 ms".to_owned(),
            has_goal: true,
        };
        let finding = |&(station, workload): &(usize, &str)| Finding {
            victim: Victim {
                station,
                workload: workload.to_owned(),
            },
            before: state(Verdict::Fail, 1.0),
            after: state(Verdict::Pass, 0.0),
            seeds: 5,
            duration: Duration::from_secs(12),
        };
        Found {
            kind,
            title: String::new(),
            without: "without it".to_owned(),
            advice: String::new(),
            own_advice: false,
            by: by.to_vec(),
            findings: victims.iter().map(finding).collect(),
            together: Vec::new(),
        }
    }

    /// Stations: 0 phone, 1 tv, 2 tablet.
    fn named(found: Vec<Found>) -> Vec<Kind> {
        let plan = Document::from_toml("house", HOUSE).unwrap().resolve().unwrap();
        let diagnosis = Diagnosis {
            found,
            not_reproduced: Vec::new(),
            open: Vec::new(),
            runs: 1,
            interrupted: false,
        };
        let explanation = explain(&plan, &Explanation::default(), &diagnosis);
        explanation.causes.iter().map(|cause| cause.kind).collect()
    }

    #[test]
    fn a_transfer_is_named_once_for_the_stations_that_it_delays() {
        let bloat = || found(Kind::UploadBloat, &[2], &[(0, "voice")]);
        let share = |by, victim| found(Kind::FairShare, &[by], &[victim]);
        let line = || found(Kind::SlowLine, &[], &[(0, "browsing")]);
        assert_eq!(
            named(vec![bloat(), share(2, (0, "browsing")), line()]),
            [Kind::UploadBloat, Kind::SlowLine]
        );
        // Another transfer, another station that suffers, and a share that explains more than the queue.
        let both = [Kind::UploadBloat, Kind::FairShare];
        assert_eq!(named(vec![bloat(), share(1, (0, "browsing"))]), both);
        assert_eq!(named(vec![bloat(), share(2, (1, "4kstream"))]), both);
        assert_eq!(
            named(vec![share(2, (0, "browsing")), bloat()]),
            [Kind::FairShare, Kind::UploadBloat]
        );
    }
}
