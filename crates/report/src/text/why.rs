//! Reasons for a station's verdict, one sentence each.

use crate::sanitise::sanitise;
use crate::style::{Tone, paint};
use netburn_analysis::format::{fine_percent, mbps, met_percent, short, span};
use netburn_record::GoalKind;
use netburn_record::summary::{GapSummary, GoalSummary, StationSummary, VideoSummary, WorkloadSummary};
use netburn_record::{QualityIssue, Summary};
use netburn_workload::Verdict;

/// One sentence per missed goal, per reason for which a station is inconclusive, and per workload
/// with failures. Stations without problems have none.
pub(super) fn paragraphs(summary: &Summary, colour: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut by_self_check = Vec::new();
    for station in &summary.stations {
        let name = sanitise(&station.name);
        for sentence in sentences(station, &summary.self_check.reasons) {
            let text = sentence.with(sentence.verb);
            lines.push(format!("{} {text}", paint(&name, sentence.tone, colour)));
        }
        let reduced = station.workloads.iter().filter_map(reduced_picture);
        lines.extend(reduced.map(|text| format!("{}: {text}", paint(&name, Tone::Unreliable, colour))));
        // Reasons of the self-check that concern several stations are not repeated for each.
        if !station.reasons.is_empty() && station.reasons.iter().all(|r| summary.self_check.reasons.contains(r)) {
            by_self_check.push(paint(&name, Tone::Unreliable, colour));
        }
    }
    if !by_self_check.is_empty() {
        let names = by_self_check.join(", ");
        lines.push(format!("{names} could not be measured: see the self-check below."));
    }
    lines
}

/// The same for one station without colours. A station without problems gets a sentence per met
/// goal.
pub(crate) fn plain(station: &StationSummary, known: &[QualityIssue]) -> Vec<String> {
    let mut out: Vec<String> = sentences(station, known)
        .into_iter()
        .map(|sentence| capital(&sentence.with(sentence.plain)))
        .collect();
    if out.is_empty() && !station.reasons.is_empty() {
        out.push("Could not be measured: see the self-check below.".to_owned());
    }
    if out.is_empty() {
        let met_goals = station.workloads.iter().flat_map(|workload| {
            let goals = workload.goals.iter().filter(|goal| goal.verdict == Verdict::Pass);
            goals.map(move |goal| met_goal(workload, goal))
        });
        out.extend(met_goals);
    }
    out.extend(
        station
            .workloads
            .iter()
            .filter_map(reduced_picture)
            .map(|text| capital(&text)),
    );
    out
}

/// Share of the target rate below which the picture of a call is visibly worse.
const REDUCED: f64 = 0.5;

/// A video call that adapted to the network far below its target. No goal is about that, so that a pass would hide it.
fn reduced_picture(workload: &WorkloadSummary) -> Option<String> {
    let streams = workload.streams.as_ref()?;
    let directions = [("sent", &streams.up), ("received", &streams.down)];
    let rates = directions.iter().filter_map(|(way, stream)| {
        let video = stream.as_ref()?.video?;
        Some((*way, video.rate_mbps?, video.target_mbps))
    });
    let (way, rate, target) = rates.min_by(|one, other| (one.1 / one.2).total_cmp(&(other.1 / other.2)))?;
    (rate < REDUCED * target).then(|| {
        format!(
            "{} {way} its picture at {} instead of {} Mbit/s. No goal is about that.",
            sanitise(&workload.name),
            mbps(rate),
            mbps(target)
        )
    })
}

/// A goal that was passed.
fn met_goal(workload: &WorkloadSummary, goal: &GoalSummary) -> String {
    let name = capital(&sanitise(&workload.name));
    let all = goal.met == Some(1.0);
    match (goal.kind, &workload.player) {
        (GoalKind::NoStall, Some(player)) if player.stalls == 0 => format!("{name} never stalled."),
        (GoalKind::NoFreeze, _) if all => format!("{name}: the picture never froze."),
        (GoalKind::NoGap, _) if all => format!("{name}: no interruption."),
        (GoalKind::Rate, _) if all => format!("{name} was always fast enough (`{}`).", sanitise(&goal.goal)),
        _ => format!("{}.", capital(&goal_sentence(workload, goal))),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        // A name that begins with a value, as `4kstream`, stays.
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// A sentence about a station, without the station's name.
struct Sentence {
    tone: Tone,
    /// Verb after the name; empty if `text` has one.
    verb: &'static str,
    /// Beginning of the sentence below the name, in words that need no knowledge of verdicts.
    plain: &'static str,
    text: String,
}

impl Sentence {
    /// A sentence whose text has a verb.
    fn whole(tone: Tone, text: String) -> Self {
        Sentence {
            tone,
            verb: "",
            plain: "",
            text,
        }
    }

    fn with(&self, beginning: &str) -> String {
        match beginning {
            "" => self.text.clone(),
            beginning => format!("{beginning}: {}", self.text),
        }
    }
}

fn sentences(station: &StationSummary, known: &[QualityIssue]) -> Vec<Sentence> {
    let mut out = Vec::new();
    let own: Vec<String> = station
        .reasons
        .iter()
        .filter(|reason| !known.contains(reason))
        .map(|reason| sanitise(&reason.to_string()))
        .collect();
    if !own.is_empty() {
        let text = format!("could not be measured: {}.", own.join("; "));
        out.push(Sentence::whole(Tone::Unreliable, text));
    }
    let inconclusive = station.verdict == Verdict::Inconclusive;
    for workload in &station.workloads {
        for (index, goal) in workload.goals.iter().enumerate() {
            let (tone, verb, plain) = match goal.verdict {
                // An inconclusive goal has neither failed nor been met.
                Verdict::Fail if inconclusive => (Tone::Unreliable, "would fail", "would fail"),
                Verdict::Marginal if inconclusive => (Tone::Unreliable, "would be marginal", "would be marginal"),
                Verdict::Fail => (Tone::Bad, "fails", "missed"),
                Verdict::Marginal => (Tone::Unreliable, "is marginal", "only just met"),
                // The station's reasons already contain it.
                Verdict::Inconclusive if station.reasons.iter().any(|why| is_about(why, workload, index)) => continue,
                Verdict::Inconclusive if inconclusive => (Tone::Unreliable, "is inconclusive", "is inconclusive"),
                // Another goal of the station failed.
                Verdict::Inconclusive => (Tone::Unreliable, "has an inconclusive goal", "could not be measured"),
                Verdict::Pass | Verdict::None => continue,
            };
            let text = format!("{}.", goal_sentence(workload, goal));
            out.push(Sentence {
                tone,
                verb,
                plain,
                text,
            });
        }
        // Lost packets of streams have a line of their own.
        if workload.failures > 0 && workload.voice.is_none() && workload.streams.is_none() {
            out.push(Sentence::whole(Tone::Bad, failures(workload)));
        }
    }
    out
}

/// Returns whether a reason is about a goal of a workload.
fn is_about(reason: &QualityIssue, of: &WorkloadSummary, index: usize) -> bool {
    match reason {
        QualityIssue::NoSamples { workload, goal, .. } => *workload == of.name && *goal == index,
        QualityIssue::WorkloadExcluded { workload, .. } => *workload == of.name,
        _ => false,
    }
}

fn goal_sentence(workload: &WorkloadSummary, goal: &GoalSummary) -> String {
    let (name, text) = (sanitise(&workload.name), sanitise(&goal.goal));
    let Some(met) = goal.met else {
        return format!("{name} has no samples for `{text}`");
    };
    match goal.kind {
        GoalKind::NoGap | GoalKind::NoFreeze | GoalKind::NoStall => match interruptions(workload, goal.kind) {
            Some(interruptions) => format!("{name} {interruptions}"),
            None => format!("{name} did not meet `{text}`"),
        },
        GoalKind::Rate if workload.segments.is_none() => {
            let slowest = match goal.excess {
                Some(excess) if excess > 0.0 => format!("the slowest reached {} of it", met_percent(1.0 / excess)),
                _ => "one window had no data".to_owned(),
            };
            format!(
                "{name} was fast enough (`{text}`) for {} of the time{}; {slowest}",
                met_percent(met),
                required(goal, met)
            )
        }
        _ => {
            let Samples { what, met_what, worst } = samples(workload, goal);
            format!(
                "{} of {} {what} {met_what}{}{worst}",
                met_percent(met),
                goal.samples,
                required(goal, met)
            )
        }
    }
}

/// Parts of a sentence about the share of the samples that met a goal.
struct Samples {
    /// The samples: `frames of call`.
    what: String,
    /// Verb and object of those that met the goal.
    met_what: String,
    /// The worst sample after a semicolon, if it missed the goal.
    worst: String,
}

fn samples(workload: &WorkloadSummary, goal: &GoalSummary) -> Samples {
    let name = sanitise(&workload.name);
    let limit = format!("met `{}`", sanitise(&goal.goal));
    let worse_direction = format!("{limit} in its worse direction");
    let streams = workload.streams.as_ref();
    let is_of_round_trips = streams.is_some_and(|streams| streams.round_trip_ms.is_some());
    let (what, met_what, worst) = match goal.kind {
        GoalKind::Frames => ("frames", "were on time".to_owned(), String::new()),
        GoalKind::Rpm => ("windows", limit, lowest(goal, "reached")),
        GoalKind::Loss => ("windows", worse_direction, worst_packet(goal)),
        GoalKind::Quality => ("windows", worse_direction, worst_quality(goal)),
        GoalKind::Rate => ("segments", limit, lowest(goal, "has")),
        _ if is_of_round_trips => ("round trips", limit, worst_packet(goal)),
        _ if frozen(workload).is_some() => ("frames", worse_direction, worst_packet(goal)),
        _ if streams.is_some() => ("packets", worse_direction, worst_packet(goal)),
        _ => {
            return Samples {
                what: format!("{name} operations"),
                met_what: limit,
                worst: worst_operation(workload, goal),
            };
        }
    };
    Samples {
        what: format!("{what} of {name}"),
        met_what,
        worst,
    }
}

/// Gaps, freezes or stalls: their number, their share of the time, and the longest.
fn interruptions(workload: &WorkloadSummary, kind: GoalKind) -> Option<String> {
    match kind {
        GoalKind::NoGap => gaps(workload).map(|gaps| {
            format!(
                "has {} of 100 ms or more in its worse direction ({} of the time), longest {}",
                counted(gaps.count, "gap"),
                fine_percent(gaps.share),
                span(gaps.longest_ms)
            )
        }),
        GoalKind::NoFreeze => frozen(workload).map(|video| {
            format!(
                "has {} in its worse direction ({} of the time), longest {}",
                counted(video.freezes, "freeze"),
                fine_percent(video.frozen_share.unwrap_or(0.0)),
                span(video.longest_freeze_ms)
            )
        }),
        _ => workload.player.filter(|player| player.stalls > 0).map(|player| {
            format!(
                "stalled {}, {} in total ({} of the time), longest {}",
                times(player.stalls),
                span(player.stalled_ms),
                fine_percent(player.stalled_share),
                span(player.longest_stall_ms)
            )
        }),
    }
}

/// Required share, if the share caused the verdict.
fn required(goal: &GoalSummary, met: f64) -> &'static str {
    match goal.verdict {
        Verdict::Fail => " (pass needs 99 %, marginal 95 %)",
        Verdict::Marginal if met < 0.99 => " (pass needs 99 %)",
        _ => "",
    }
}

/// Gaps of the direction that has the larger share of them.
fn gaps(workload: &WorkloadSummary) -> Option<GapSummary> {
    let streams = workload.streams.as_ref()?;
    let directions = [&streams.up, &streams.down].into_iter().flatten();
    let gaps = directions.filter_map(|stream| stream.gaps);
    gaps.max_by(|one, other| one.share.total_cmp(&other.share))
}

/// The lowest score or bit rate, if it does not meet the goal.
fn lowest(goal: &GoalSummary, verb: &str) -> String {
    match goal.excess {
        Some(excess) if excess > 1.0 => format!("; the lowest {verb} {} of it", met_percent(1.0 / excess)),
        _ => String::new(),
    }
}

/// The window with the lowest quality, if it does not meet the goal.
fn worst_quality(goal: &GoalSummary) -> String {
    match goal.excess {
        Some(excess) if excess > 1.0 => format!("; the worst is {} points below it", short((excess - 1.0) * 10.0)),
        _ => String::new(),
    }
}

/// Video of the direction of a video call that was frozen longer.
fn frozen(workload: &WorkloadSummary) -> Option<VideoSummary> {
    let streams = workload.streams.as_ref()?;
    let directions = [&streams.up, &streams.down].into_iter().flatten();
    let videos = directions.filter_map(|stream| stream.video);
    videos.max_by(|one, other| one.total_freezes_ms.total_cmp(&other.total_freezes_ms))
}

/// The worst sample of a stream, if it exceeds the limit.
fn worst_packet(goal: &GoalSummary) -> String {
    match goal.excess {
        Some(excess) if excess > 1.0 => format!("; the worst has {} × the goal", short(excess)),
        _ => String::new(),
    }
}

fn worst_operation(workload: &WorkloadSummary, goal: &GoalSummary) -> String {
    let latency = &workload.latency_ms;
    match (latency.unbounded, latency.max, goal.excess) {
        (0, Some(max), Some(excess)) => {
            let allowed = if excess > 2.0 && goal.verdict == Verdict::Marginal {
                " (pass allows 2)"
            } else {
                ""
            };
            format!("; slowest {}, {} × the goal{allowed}", span(max), short(excess))
        }
        (0, ..) => String::new(),
        (never, Some(max), _) => format!("; {never} never finished, slowest of the others {}", span(max)),
        (never, None, _) => format!("; {never} never finished"),
    }
}

fn failures(workload: &WorkloadSummary) -> String {
    let timed_out = match workload.timeouts {
        0 => String::new(),
        1 if workload.failures == 1 => ", a timeout".to_owned(),
        1 => ", 1 of them a timeout".to_owned(),
        n => format!(", {n} of them timeouts"),
    };
    format!(
        "had {} in {}{timed_out}.",
        counted(workload.failures, "failure"),
        counted(workload.operations, &format!("{} operation", sanitise(&workload.name)))
    )
}

fn times(n: u64) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

pub(super) fn counted(n: u64, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}
