//! Sentences of issues, for people.

use super::QualityIssue;
use super::quantity::{format_pair, ms, percent, span_us};
use crate::goal_kind::GoalKind;
use crate::loss::LossCause;
use netburn_units::Duration;
use std::fmt;

impl fmt::Display for QualityIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QualityIssue::AgentLost { name, loss } => write!(f, "{}: {loss}", without_agent(name, loss.cause)),
            QualityIssue::ServerLost { member, loss } => {
                let member = member.as_ref().map_or(String::new(), |member| format!(" ({member})"));
                write!(f, "the server{member} was lost: {loss}")
            }
            QualityIssue::ResultsMissing { cause: text } | QualityIssue::Unknown { text, .. } => f.write_str(text),
            QualityIssue::RowsRejected { sender, reasons } => {
                let rows = reasons.total();
                let (noun, were) = if rows == 1 { ("row", "was") } else { ("rows", "were") };
                write!(f, "{rows} {noun} of {sender} {were} rejected: {reasons}")
            }
            QualityIssue::BytesUnconfirmed {
                station,
                received,
                reported_mb,
                counted_mb,
            } => {
                let direction = if *received { "received" } else { "sent" };
                write!(
                    f,
                    "{station} reports {reported_mb:.1} MB {direction}, but the server counted {counted_mb:.1} MB; \
                     its bytes are excluded from the total"
                )
            }
            QualityIssue::Standstill {
                who,
                count,
                longest_us,
                total_us,
                limit,
            } => write!(f, "{who} had {}", stood(*count, *longest_us, *total_us, *limit)),
            QualityIssue::OperationsSkipped {
                who,
                skipped,
                due,
                limit,
            } => {
                let (share, limit) = (percent(*skipped as f64 / *due as f64, 2), percent(*limit, 2));
                write!(
                    f,
                    "{who} skipped {skipped} of {due} operations because it was too late ({share}); "
                )?;
                write!(f, "the limit is {limit}")
            }
            QualityIssue::ClockJumped { name, jump_ns } => write!(f, "the clock of {name} {}", jumped(*jump_ns)),
            QualityIssue::NoHealthReports => f.write_str("the run ended before any agent sent a health report"),
            QualityIssue::NoAgentReport { stations } => {
                write!(f, "no health report from the agent of {}", some_of(stations))
            }
            QualityIssue::NoServerReport => f.write_str("no health report from the server"),
            QualityIssue::InterfaceDown { station } => {
                let interface = station.as_ref().map(|station| format!("interface of {station}"));
                let interface = interface.as_deref().unwrap_or("loopback interface");
                write!(f, "the {interface} was taken down during the run")
            }
            QualityIssue::LabStopped { cause } => write!(f, "the lab stopped carrying packets: {cause}"),
            QualityIssue::ProgramStopped { program, station, us } => write!(
                f,
                "a signal stopped {program} at {station} for {}; the limit is 0",
                span_us(*us, 2)
            ),
            QualityIssue::RunInterrupted { after_ns, planned_ns } => interrupted(f, *after_ns, *planned_ns),
            QualityIssue::RunFailed {
                cause,
                after_ns,
                planned_ns,
            } => write!(f, "{cause} ({})", reached(*after_ns, *planned_ns)),
            QualityIssue::NoSamples {
                workload,
                kind,
                goal_text,
                ..
            } => write!(f, "{workload} has no samples for `{goal_text}`: {}", no_samples(*kind)),
            QualityIssue::WorkloadExcluded { workload, cause } => write!(f, "{workload} has no operations: {cause}"),
            QualityIssue::RunsMissing { made, planned } => write!(f, "only {made} of {planned} runs were made"),
            QualityIssue::LimitExceeded(exceeded) => f.write_str(&exceeded.sentence()),
            QualityIssue::OfRun { run, issue } => write!(f, "run {run}: {issue}"),
        }
    }
}

/// An agent that was absent from the beginning was not lost.
fn without_agent(name: &str, cause: LossCause) -> String {
    match cause {
        LossCause::NoDevice => format!("{name} has no agent"),
        _ => format!("agent {name} was lost"),
    }
}

/// The first of many stations, or all of a few.
fn some_of(stations: &[String]) -> String {
    match stations {
        [first, rest @ ..] if rest.len() > 4 => format!("{first} and {} more", rest.len()),
        few => few.join(", "),
    }
}

/// Standstills with their limit, all times in µs.
fn stood(count: u64, longest: f64, total: f64, limit: f64) -> String {
    let (longest, limit) = format_pair(longest, limit, span_us);
    match count {
        0 | 1 => format!("a standstill of {longest}; the limit is {limit}"),
        many => {
            let total = span_us(total, 2);
            format!("{many} standstills, the longest of {longest}, {total} in total; the limit is {limit}")
        }
    }
}

/// A monotonic clock stops while its machine sleeps.
fn jumped(jump_ns: i64) -> String {
    let (direction, asleep) = match jump_ns {
        ..0 => ("back", "the device"),
        0.. => ("ahead", "the controller's machine"),
    };
    let by = ms(jump_ns.unsigned_abs() as f64 / 1e6);
    format!("jumped {direction} by {by} during the run; probably {asleep} slept")
}

/// Reason for which a goal has no samples.
fn no_samples(kind: GoalKind) -> &'static str {
    match kind {
        GoalKind::Latency => "no counted operation was due in the evaluated time",
        GoalKind::Rate | GoalKind::Quality | GoalKind::Loss | GoalKind::Rpm => {
            "the evaluated time has no complete window"
        }
        GoalKind::Frames | GoalKind::NoFreeze => "no frame was due in the evaluated time",
        GoalKind::NoGap => "no packet was due in the evaluated time",
        GoalKind::NoStall => "playback did not start in the evaluated time",
    }
}

fn interrupted(f: &mut fmt::Formatter<'_>, after_ns: u64, planned_ns: u64) -> fmt::Result {
    write!(f, "the run was interrupted {}", reached(after_ns, planned_ns))
}

/// Time at which a run ended early.
fn reached(after_ns: u64, planned_ns: u64) -> String {
    let after = Duration::from_millis(after_ns / 1_000_000);
    if after.is_zero() {
        "before the load began".to_owned()
    } else {
        format!("after {after} of {}", Duration::from_nanos(planned_ns))
    }
}
