//! Goals as test cases in JUnit's XML, for CI systems.
//!
//! Each station is a suite, each of its goals a test case. A fail is a *failure*; an inconclusive
//! goal is an *error*. A pass and a marginal verdict pass, with the values as output. A station
//! without goals has one case that is *skipped*. One more suite, named after the scenario, has one
//! case for the self-check.

use super::Error;
use netburn_record::Run;
use netburn_record::summary::{GoalSummary, StationSummary, Summary, verdict_name};
use netburn_record::utc::UnixTime;
use netburn_workload::Verdict;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::fmt::Write as _;
use std::io::Write;
use std::time::Duration as StdDuration;

/// Writes the document.
///
/// # Errors
/// When `to` can't be written.
pub fn write(run: &Run, to: &mut dyn Write) -> Result<(), Error> {
    to.write_all(text(run.summary(), run.header().started).as_bytes())?;
    Ok(to.flush()?)
}

/// A summary as the document.
#[must_use]
pub fn text(summary: &Summary, started: Option<UnixTime>) -> String {
    let mut report = Report::new(&summary.scenario);
    report.set_time(StdDuration::from_secs_f64(summary.duration_s));
    report.add_test_suite(suite(&summary.scenario, summary, started, vec![reliability(summary)]));
    for station in &summary.stations {
        let name = format!("{}.{}", summary.scenario, station.name);
        let cases = goals(&name, summary, station);
        report.add_test_suite(suite(&name, summary, started, cases));
    }
    report.to_string().expect("memory takes everything")
}

fn suite(name: &str, summary: &Summary, started: Option<UnixTime>, cases: Vec<TestCase>) -> TestSuite {
    let mut suite = TestSuite::new(name);
    suite.set_time(StdDuration::from_secs_f64(summary.duration_s));
    if let Some(started) = started {
        let text = started.rfc3339();
        let text = text.trim_end_matches('Z');
        // JUnit's time has no zone.
        suite.extra.insert("timestamp".into(), text.into());
    }
    suite.add_property(("environment", summary.environment.name()));
    suite.add_property(("seed", summary.seed.to_string().as_str()));
    suite.add_property(("run", summary.run.as_str()));
    suite.add_test_cases(cases);
    suite
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CaseResult {
    Passed,
    Failed,
    Inconclusive,
    Skipped,
}

fn case(class: &str, name: &str, summary: &Summary, result: CaseResult, output: &str) -> TestCase {
    let mut status = match result {
        CaseResult::Passed => TestCaseStatus::success(),
        CaseResult::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        CaseResult::Inconclusive => TestCaseStatus::non_success(NonSuccessKind::Error),
        CaseResult::Skipped => TestCaseStatus::skipped(),
    };
    let kind = match result {
        CaseResult::Failed => Some("fail"),
        CaseResult::Inconclusive => Some("inconclusive"),
        CaseResult::Passed | CaseResult::Skipped => None,
    };
    if result != CaseResult::Passed {
        status.set_message(output.lines().next().unwrap_or_default());
    }
    if let Some(kind) = kind {
        status.set_type(kind).set_description(output);
    }
    let mut case = TestCase::new(name, status);
    case.set_classname(class);
    case.set_time(StdDuration::from_secs_f64(summary.duration_s));
    if result == CaseResult::Passed && !output.is_empty() {
        case.set_system_out(output);
    }
    case
}

/// The case that passes if the run could be measured.
fn reliability(summary: &Summary) -> TestCase {
    let reasons = summary.reasons.iter().chain(&summary.self_check.reasons);
    let reasons: Vec<String> = reasons.map(ToString::to_string).collect();
    // Values beyond their limits that change no verdict are in the output of a case that passed.
    let result = if summary.reasons.is_empty() && summary.self_check.ok {
        CaseResult::Passed
    } else {
        CaseResult::Inconclusive
    };
    case(
        &summary.scenario,
        "measurement is reliable",
        summary,
        result,
        &reasons.join("\n"),
    )
}

/// A case for each goal of a station.
fn goals(suite: &str, summary: &Summary, station: &StationSummary) -> Vec<TestCase> {
    let mut cases = Vec::new();
    for workload in &station.workloads {
        let class = format!("{suite}.{}", workload.name);
        let of_goal = |goal: &GoalSummary| {
            let output = output(station, goal);
            case(&class, &goal.goal, summary, result(station, goal), &output)
        };
        cases.extend(workload.goals.iter().map(of_goal));
    }
    if cases.is_empty() {
        cases.push(case(suite, "goals", summary, CaseResult::Skipped, "no goals"));
    }
    cases
}

/// A failed goal stays failed even if the self-check found other problems.
fn result(station: &StationSummary, goal: &GoalSummary) -> CaseResult {
    match goal.verdict {
        Verdict::Fail if station.verdict != Verdict::Inconclusive => CaseResult::Failed,
        Verdict::Inconclusive => CaseResult::Inconclusive,
        _ if station.verdict == Verdict::Inconclusive => CaseResult::Inconclusive,
        Verdict::None => CaseResult::Skipped,
        Verdict::Pass | Verdict::Marginal | Verdict::Fail => CaseResult::Passed,
    }
}

fn output(station: &StationSummary, goal: &GoalSummary) -> String {
    let met = goal.met.map(|met| format!("met {:.2} %", met * 100.0));
    let excess = goal
        .excess
        .map(|excess| format!("worst sample {excess:.2} × the limit"));
    let samples = format!("{} samples", goal.samples);
    let values: Vec<String> = [met, excess, Some(samples)].into_iter().flatten().collect();
    let provisional = if goal.provisional { " (provisional)" } else { "" };
    let mut output = format!("{}{provisional}: {}", verdict_name(goal.verdict), values.join(", "));
    for reason in station.reasons.iter().chain(&station.notes) {
        let _ = write!(output, "\n{reason}");
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::summary::Summariser;
    use netburn_record::{Header, RunStatus};
    use netburn_scenario::{Environment, load};

    /// The document, read by the library's parser.
    #[test]
    fn hostile_text_stays_text() {
        let (plan, _) = load("anomaly").unwrap().resolve_for(Environment::Simulate).unwrap();
        let hostile = "a<b>&\"c\"\n\u{1b}[1md";
        let status = RunStatus::Failed(hostile.to_owned());
        let summary = Summariser::new(Header::simulated(plan)).finish("runs/<1>", &status);
        let report = Report::deserialize_from_str(&text(&summary, None)).unwrap();
        // No station of this scenario has a goal.
        assert_eq!((report.errors, report.skipped), (1, summary.stations.len()));
        assert_eq!(report.test_suites.len(), 1 + summary.stations.len());
        let suite = &report.test_suites[0];
        assert_eq!(suite.properties[2].value.as_str(), "runs/<1>");
        let case = &suite.test_cases[0];
        let TestCaseStatus::NonSuccess { description, .. } = &case.status else {
            panic!("the run failed: {case:?}");
        };
        let description = description.as_ref().unwrap().as_str();
        assert!(description.contains("a<b>&\"c\""), "{description}");
        assert!(!description.contains('\u{1b}'), "{description:?}");
    }
}
