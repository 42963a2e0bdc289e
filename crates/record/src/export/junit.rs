//! Goals as test cases in JUnit's XML, for CI systems.
//!
//! Each station is a suite, each of its goals a test case. A fail is a *failure*; an inconclusive
//! goal is an *error*. A pass and a marginal verdict pass, with the values as output. A station
//! without goals has one case that is *skipped*. One more suite, named after the scenario, has one
//! case for the self-check.

use super::Error;
use crate::run::Run;
use crate::summary::{GoalSummary, StationSummary, Summary, verdict_name};
use crate::utc::UnixTime;
use netburn_workload::Verdict;
use std::fmt::Write as _;
use std::io::Write;

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
    let mut suites = vec![whole(summary)];
    suites.extend(summary.stations.iter().map(|station| suite(summary, station)));
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    line(
        &mut text,
        0,
        &open("testsuites", &summary.scenario, &all, summary.duration_s, None),
    );
    for suite in &suites {
        let cases: Vec<&Case> = suite.cases.iter().collect();
        line(
            &mut text,
            1,
            &open("testsuite", &suite.name, &cases, summary.duration_s, started),
        );
        line(&mut text, 2, "<properties>");
        let seed = summary.seed.to_string();
        for (name, value) in [
            ("environment", summary.environment.name()),
            ("seed", &seed),
            ("run", &summary.run),
        ] {
            let property = format!("<property name=\"{name}\" value=\"{}\"/>", escaped(value));
            line(&mut text, 3, &property);
        }
        line(&mut text, 2, "</properties>");
        for case in &suite.cases {
            case.write(&mut text, &suite.name, summary.duration_s);
        }
        line(&mut text, 1, "</testsuite>");
    }
    line(&mut text, 0, "</testsuites>");
    text
}

struct Suite {
    name: String,
    cases: Vec<Case>,
}

struct Case {
    /// The workload, where it is about one.
    of: Option<String>,
    name: String,
    result: CaseResult,
    output: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CaseResult {
    Passed,
    Failed,
    Inconclusive,
    Skipped,
}

/// Returns true if the run could be measured.
fn whole(summary: &Summary) -> Suite {
    let mut reasons = summary.reasons.clone();
    reasons.extend(summary.self_check.reasons.iter().cloned());
    Suite {
        name: summary.scenario.clone(),
        cases: vec![Case {
            of: None,
            name: "measurement is reliable".to_owned(),
            result: if reasons.is_empty() {
                CaseResult::Passed
            } else {
                CaseResult::Inconclusive
            },
            output: reasons.join("\n"),
        }],
    }
}

fn suite(summary: &Summary, station: &StationSummary) -> Suite {
    let of_workloads = station
        .workloads
        .iter()
        .flat_map(|workload| workload.goals.iter().map(move |goal| (workload, goal)));
    let mut cases: Vec<Case> = of_workloads
        .map(|(workload, goal)| Case {
            of: Some(workload.name.clone()),
            name: goal.goal.clone(),
            result: result(station, goal),
            output: output(station, goal),
        })
        .collect();
    if cases.is_empty() {
        cases.push(Case {
            of: None,
            name: "goals".to_owned(),
            result: CaseResult::Skipped,
            output: "no goals".to_owned(),
        });
    }
    Suite {
        name: format!("{}.{}", summary.scenario, station.name),
        cases,
    }
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
    for reason in &station.reasons {
        let _ = write!(output, "\n{reason}");
    }
    output
}

/// The tag that opens a suite, or all of them.
fn open(tag: &str, name: &str, cases: &[&Case], seconds: f64, started: Option<UnixTime>) -> String {
    let count = |result| cases.iter().filter(|case| case.result == result).count();
    let at = started.map_or(String::new(), |at| {
        format!(" timestamp=\"{}\"", at.rfc3339().trim_end_matches('Z'))
    });
    format!(
        "<{tag} name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\"{at}>",
        escaped(name),
        cases.len(),
        count(CaseResult::Failed),
        count(CaseResult::Inconclusive),
        count(CaseResult::Skipped)
    )
}

impl Case {
    fn write(&self, text: &mut String, suite: &str, seconds: f64) {
        let class = match &self.of {
            Some(workload) => format!("{suite}.{workload}"),
            None => suite.to_owned(),
        };
        let head = format!(
            "testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.3}\"",
            escaped(&class),
            escaped(&self.name)
        );
        let output = escaped(&self.output);
        let first = escaped(self.output.lines().next().unwrap_or_default());
        let within = match self.result {
            CaseResult::Passed if self.output.is_empty() => return line(text, 2, &format!("<{head}/>")),
            CaseResult::Passed => format!("<system-out>{output}</system-out>"),
            CaseResult::Failed => format!("<failure message=\"{first}\" type=\"fail\">{output}</failure>"),
            CaseResult::Inconclusive => format!("<error message=\"{first}\" type=\"inconclusive\">{output}</error>"),
            CaseResult::Skipped => format!("<skipped message=\"{first}\"/>"),
        };
        line(text, 2, &format!("<{head}>"));
        line(text, 3, &within);
        line(text, 2, "</testcase>");
    }
}

fn line(text: &mut String, depth: usize, line: &str) {
    let _ = writeln!(text, "{:1$}{line}", "", depth * 2);
}

/// Text as XML 1.0, also for attributes; characters that XML does not allow (2.2) are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(escaped, "&#{};", u32::from(character));
            }
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(
            escaped("a<b>&\"c\"\n\u{1b}"),
            "a&lt;b&gt;&amp;&quot;c&quot;&#10;\u{fffd}"
        );
    }
}
