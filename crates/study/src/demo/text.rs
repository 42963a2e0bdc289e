//! The parts of the demonstration as text.

use super::simulated;
use crate::whatif::{Answer, Answers};
use netburn_analysis::explain::{Explanation, Kind};
use netburn_analysis::format::span;
use netburn_record::summary::{GoalSummary, StationSummary, WorkloadSummary};
use netburn_record::{GoalKind, Summary};
use netburn_report::before_after::{self, call_goal_ms, rows, samples_met, stalls, table};
use netburn_report::environment::sentence;
use netburn_report::sanitise::{sanitise, wrap};
use netburn_report::style::{Tone, paint};
use netburn_report::table::Cell;
use netburn_workload::{Kind as WorkloadKind, Verdict};
use std::cmp::Reverse;

/// Description of the scenario.
pub(super) const SCENE: &str = "A laptop browses near the access point. After 6 s a distant tablet starts a download.";

/// Indentation of the text of a part.
const INDENT: &str = "   ";

/// Format of the text.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Maximum width in columns.
    pub width: usize,
    /// Use of ANSI colours.
    pub colour: bool,
}

/// The environment, the scenario, the goals that were missed, and the likely causes.
#[must_use]
pub fn problem(before: &Summary, explanation: &Explanation, style: Style) -> String {
    let mut part = Part::new(style);
    part.lines.extend(wrap(sentence(before.environment), style.width, ""));
    part.lines.push(String::new());
    part.lines.extend(wrap(SCENE, style.width, ""));
    part.heading("1. Problem");
    let failing = before
        .stations
        .iter()
        .filter(|station| missed(station).next().is_some());
    for station in failing {
        let name = paint(
            &sanitise(&station.name),
            Cell::verdict(station.verdict, false).tone,
            style.colour,
        );
        for (workload, goal) in missed(station) {
            part.paragraph(&format!("{name}: {}", missed_goal(workload, goal)));
        }
        if let Some(sentences) = round_trips(station) {
            part.paragraph(&sentences);
        }
    }
    if before.stations.iter().all(|station| missed(station).next().is_none()) {
        part.paragraph("Every station met its goals.");
    }
    part.heading("2. Cause");
    if explanation.causes.is_empty() {
        part.paragraph("No known cause matches.");
    }
    for cause in &explanation.causes {
        part.paragraph(&paint(&format!("{}.", sanitise(&cause.title)), Tone::Bad, style.colour));
    }
    part.optional(plain(explanation));
    for cause in &explanation.causes {
        part.paragraph(&format!("Evidence: {}", sanitise(&cause.evidence)));
    }
    part.text()
}

/// The simulated changes, with a mark at the best one.
#[must_use]
pub fn changes(answers: &Answers, best: Option<&Answer>, style: Style) -> String {
    let mut part = Part::new(style);
    part.heading(&format!(
        "3. Changes that could help, simulated {} times each",
        answers.runs
    ));
    if answers.answers.is_empty() {
        part.paragraph("The simulator has no change for this cause.");
        return part.text();
    }
    let changes = before_after::changes(&simulated(answers, best), "best");
    part.table(changes.lines(style.width - INDENT.len(), style.colour));
    part.paragraph("BETTER, WORSE: metrics of all stations that changed significantly.");
    if best.is_none() {
        part.paragraph("None of these changes helps.");
    }
    part.text()
}

/// Both runs side by side, the change between them, and advice for the reader's own network.
#[must_use]
pub fn result(before: &Summary, after: &Summary, applied: &Answer, explanation: &Explanation, style: Style) -> String {
    let set = applied.what_if.set.iter();
    let set = set.map(|(key, value)| format!("--set '{}={}'", sanitise(key), sanitise(value)));
    let mut part = Part::new(style);
    part.heading(&format!(
        "4. Before and after {} ({})",
        set.collect::<Vec<_>>().join(" "),
        after.environment.name()
    ));
    part.table(table(&rows(before, after)).lines(style.width - INDENT.len(), style.colour));
    if before.provisional || after.provisional {
        part.paragraph("* provisional: a verdict from few samples.");
    }
    part.optional(advice(explanation));
    part.text()
}

/// The scenario, the change, and its effect on the first missed goal of the worst station, in plain sentences.
#[must_use]
pub(super) fn lead(before: &Summary, after: &Summary, change: &str) -> String {
    // The first of several, as in the table.
    let worst = before.stations.iter().min_by_key(|station| Reverse(station.verdict));
    let effect = worst.and_then(|station| {
        let (workload, goal) = missed(station).next()?;
        let same = after.stations.iter().find(|same| same.name == station.name)?;
        let (same_workload, same) =
            goals(same).find(|(of, same)| of.name == workload.name && same.goal == goal.goal)?;
        if let Some((first, second)) = stalls(workload, goal).zip(stalls(same_workload, same)) {
            return Some(format!(
                " A goal of the {} is `{}`. Before the change, it had {first}. After the change, it had {second}.",
                station.name, goal.goal
            ));
        }
        Some(format!(
            " Before the change, {} {} of the {} met the goal `{}`. After the change, {} did.",
            samples_met(goal)?,
            noun(workload),
            station.name,
            goal.goal,
            samples_met(same)?
        ))
    });
    format!("{SCENE} The change: {change}.{}", effect.unwrap_or_default())
}

/// Explanation of the first cause for people without knowledge of Wi-Fi; empty without one.
#[must_use]
pub(super) fn plain(explanation: &Explanation) -> &'static str {
    match explanation.causes.first().map(|cause| cause.kind) {
        Some(Kind::SlowNeighbour) => {
            "Stations share one radio channel, which carries one transmission at a time. A distant station needs more time \
             for the same data. With one queue for all, the data of the others waits behind it."
        }
        _ => "",
    }
}

/// Advice for the reader's own network, for the first cause; empty without one.
#[must_use]
pub(super) fn advice(explanation: &Explanation) -> &'static str {
    match explanation.causes.first().map(|cause| cause.kind) {
        Some(Kind::SlowNeighbour) => {
            "On your own network: use an access point with airtime fairness, as OpenWrt has for many devices, or move the \
             slow device nearer to the access point."
        }
        _ => "",
    }
}

/// Goals of a station, each with its workload.
fn goals(station: &StationSummary) -> impl Iterator<Item = (&WorkloadSummary, &GoalSummary)> {
    let workloads = station.workloads.iter();
    workloads.flat_map(|workload| workload.goals.iter().map(move |goal| (workload, goal)))
}

/// Goals of a station that failed or were marginal.
fn missed(station: &StationSummary) -> impl Iterator<Item = (&WorkloadSummary, &GoalSummary)> {
    goals(station).filter(|(_, goal)| matches!(goal.verdict, Verdict::Fail | Verdict::Marginal))
}

/// Plural of the operations of a workload.
fn noun(workload: &WorkloadSummary) -> &'static str {
    WorkloadKind::by_name(&workload.kind).map_or("samples", |kind| kind.operations_noun)
}

fn missed_goal(workload: &WorkloadSummary, goal: &GoalSummary) -> String {
    let text = sanitise(&goal.goal);
    if let Some(stalls) = stalls(workload, goal) {
        return format!("{stalls}; the goal is `{text}`.");
    }
    let met = match samples_met(goal) {
        Some(met) => format!("{met} {} met the goal `{text}`", noun(workload)),
        None => format!("no samples for the goal `{text}`"),
    };
    match (goal.kind, workload.latency_ms.unbounded, workload.latency_ms.max) {
        (GoalKind::Latency, 0, Some(slowest)) => format!("{met}; the slowest took {}.", span(slowest)),
        (GoalKind::Latency, 1.., _) => format!("{met}; some never ended."),
        _ => format!("{met}."),
    }
}

/// Round trips of a station with a probe, idle and under load.
fn round_trips(station: &StationSummary) -> Option<String> {
    let probe = station
        .workloads
        .iter()
        .find(|workload| WorkloadKind::by_name(&workload.kind).is_some_and(WorkloadKind::is_probe))?;
    let (loaded, idle) = (probe.latency_ms.p50?, station.idle_latency_ms?);
    let call = if loaded > call_goal_ms() {
        format!(" The goal for a call is {}.", span(call_goal_ms()))
    } else {
        String::new()
    };
    Some(format!(
        "Median round trip: {} ({} without load).{call}",
        span(loaded),
        span(idle)
    ))
}

/// Lines of a part of the text.
struct Part {
    lines: Vec<String>,
    style: Style,
}

impl Part {
    const fn new(style: Style) -> Self {
        Part {
            lines: Vec::new(),
            style,
        }
    }

    fn heading(&mut self, text: &str) {
        self.lines.push(String::new());
        let heading = paint(text, Tone::Heading, self.style.colour);
        self.lines.extend(wrap(&heading, self.style.width, INDENT));
    }

    fn paragraph(&mut self, text: &str) {
        self.lines
            .extend(wrap(&format!("{INDENT}{text}"), self.style.width, INDENT));
    }

    /// A paragraph, unless it is empty.
    fn optional(&mut self, text: &str) {
        if !text.is_empty() {
            self.paragraph(text);
        }
    }

    fn table(&mut self, lines: Vec<String>) {
        self.lines
            .extend(lines.into_iter().map(|line| format!("{INDENT}{line}")));
    }

    fn text(self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }
}
