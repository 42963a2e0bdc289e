//! Sentences of issues, for people.

use super::QualityIssue;
use crate::goal_kind::GoalKind;
use crate::loss::LossCause;
use netburn_units::{Duration, format_decimal};
use std::fmt;

impl fmt::Display for QualityIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // It was absent from the beginning.
            QualityIssue::AgentLost { name, loss } if loss.cause == LossCause::NoDevice => {
                write!(f, "{name} has no agent: {loss}")
            }
            QualityIssue::AgentLost { name, loss } => write!(f, "agent {name} was lost: {loss}"),
            QualityIssue::ServerLost { member, loss } => match member {
                Some(member) => write!(f, "the server ({member}) was lost: {loss}"),
                None => write!(f, "the server was lost: {loss}"),
            },
            QualityIssue::ResultsMissing { cause } => f.write_str(cause),
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
            QualityIssue::StartDelay { who, p99_us, limit } => write!(
                f,
                "{who} was {} behind schedule at p99; the limit is {}",
                ms(p99_us / 1e3),
                ms(limit / 1e3)
            ),
            QualityIssue::Standstill {
                who,
                count,
                longest_us,
                total_us,
                limit,
            } => {
                let (longest, limit) = format_pair(*longest_us, *limit, span_us);
                match count {
                    0 | 1 => write!(f, "{who} had a standstill of {longest}; the limit is {limit}"),
                    many => write!(
                        f,
                        "{who} had {many} standstills, the longest of {longest}, {} in total; the limit is {limit}",
                        span_us(*total_us, 2)
                    ),
                }
            }
            QualityIssue::StandstillShare { share, limit } => {
                let (share, limit) = format_pair(*share, *limit, percent);
                write!(
                    f,
                    "standstills of the lab took {share} of the time; the limit is {limit}"
                )
            }
            QualityIssue::OperationsSkipped {
                who,
                skipped,
                due,
                limit,
            } => write!(
                f,
                "{who} skipped {skipped} of {due} operations because it was too late ({}); the limit is {}",
                percent(*skipped as f64 / *due as f64, 2),
                percent(*limit, 2)
            ),
            QualityIssue::ProcessorBusy { who, share, limit } => {
                let (share, limit) = format_pair(*share, *limit, percent);
                write!(f, "{who} used {share} of one core; the limit is {limit}")
            }
            QualityIssue::MachineBusy { machine, share, limit } => {
                let (share, limit) = format_pair(*share, *limit, percent);
                write!(f, "{machine} was {share} busy; the limit is {limit}")
            }
            QualityIssue::LabMachineBusy { share, limit } => {
                let (share, limit) = format_pair(*share, *limit, percent);
                write!(
                    f,
                    "the machine was {share} busy while the lab ran; the limit is {limit}"
                )
            }
            QualityIssue::SlowResponses { who, p99_us, limit } => write!(
                f,
                "{who} took {} to start its responses at p99; the limit is {}",
                ms(p99_us / 1e3),
                ms(limit / 1e3)
            ),
            QualityIssue::RequestsFailed { who, requests } => write!(
                f,
                "{who} rejected or failed {requests} requests because of internal errors; the limit is 0"
            ),
            QualityIssue::ClockUncertain { name, error_ns, limit } => write!(
                f,
                "the clock of {name} is uncertain by {}; the limit is {}",
                ms(*error_ns as f64 / 1e6),
                ms(*limit as f64 / 1e6)
            ),
            // A monotonic clock stops while its machine sleeps.
            QualityIssue::ClockJumped { name, jump_ns } => {
                let (direction, asleep) = match *jump_ns {
                    ..0 => ("back", "the device"),
                    0.. => ("ahead", "the controller's machine"),
                };
                let by = ms(jump_ns.unsigned_abs() as f64 / 1e6);
                write!(
                    f,
                    "the clock of {name} jumped {direction} by {by} during the run; probably {asleep} slept"
                )
            }
            QualityIssue::NoHealthReports => f.write_str("the run ended before any agent sent a health report"),
            QualityIssue::NoAgentReport { stations } => {
                f.write_str("no health report from the agent of ")?;
                match &stations[..] {
                    [first, rest @ ..] if rest.len() > 4 => write!(f, "{first} and {} more", rest.len()),
                    few => f.write_str(&few.join(", ")),
                }
            }
            QualityIssue::NoServerReport => f.write_str("no health report from the server"),
            QualityIssue::InterfaceDown { station } => match station {
                Some(station) => write!(f, "the interface of {station} was taken down during the run"),
                None => f.write_str("the loopback interface was taken down during the run"),
            },
            QualityIssue::LabStopped { cause } => write!(f, "the lab stopped carrying packets: {cause}"),
            QualityIssue::LabDeliveryDelay { p99_us, limit } => {
                let (late, limit) = format_pair(*p99_us, *limit, span_us);
                write!(f, "the lab delivered packets {late} late at p99; the limit is {limit}")
            }
            QualityIssue::LabPacketLate { max_us, limit } => {
                let (late, limit) = format_pair(*max_us, *limit, span_us);
                write!(f, "the lab delivered a packet {late} late; the limit is {limit}")
            }
            QualityIssue::MachineSuspended { us } => {
                write!(f, "the machine was suspended for {}; the limit is 0", span_us(*us, 2))
            }
            QualityIssue::ProgramStopped { program, station, us } => write!(
                f,
                "a signal stopped {program} at {station} for {}; the limit is 0",
                span_us(*us, 2)
            ),
            QualityIssue::LabPacketsDropped { packets } => write!(
                f,
                "the kernel dropped {packets} packets before the lab could read them; the limit is 0"
            ),
            QualityIssue::LabFramesFailed { frames } => {
                write!(f, "the lab could not deliver {frames} frames; the limit is 0")
            }
            QualityIssue::HypervisorSteal { share, limit } => {
                let (share, limit) = format_pair(*share, *limit, percent);
                write!(
                    f,
                    "the hypervisor took {share} of the machine's time; the limit is {limit}"
                )
            }
            QualityIssue::RunInterrupted { after_ns, planned_ns } => {
                write!(f, "the run was interrupted {}", reached(*after_ns, *planned_ns))
            }
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
            } => {
                let cause = match kind {
                    GoalKind::Latency => "no counted operation was due in the evaluated time",
                    GoalKind::Rate | GoalKind::Quality | GoalKind::Loss | GoalKind::Rpm => {
                        "the evaluated time has no complete window"
                    }
                    GoalKind::Frames | GoalKind::NoFreeze => "no frame was due in the evaluated time",
                    GoalKind::NoGap => "no packet was due in the evaluated time",
                    GoalKind::NoStall => "playback did not start in the evaluated time",
                };
                write!(f, "{workload} has no samples for `{goal_text}`: {cause}")
            }
            QualityIssue::WorkloadExcluded { workload, cause } => write!(f, "{workload} has no operations: {cause}"),
            QualityIssue::RunsMissing { made, planned } => write!(f, "only {made} of {planned} runs were made"),
            QualityIssue::OfRun { run, issue } => write!(f, "run {run}: {issue}"),
            QualityIssue::Unknown { text, .. } => f.write_str(text),
        }
    }
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

/// A value and the exceeded limit, with enough decimals to distinguish them.
fn format_pair(value: f64, limit: f64, write: fn(f64, usize) -> String) -> (String, String) {
    let both = |decimals| (write(value, decimals), write(limit, decimals));
    (2..6)
        .map(both)
        .find(|(value, limit)| value != limit)
        .unwrap_or_else(|| both(6))
}

fn ms(value: f64) -> String {
    format!("{} ms", format_decimal(value, 2))
}

fn percent(share: f64, decimals: usize) -> String {
    format!("{} %", format_decimal(share * 100.0, decimals))
}

/// A time given in µs: in seconds from one second on, otherwise in milliseconds.
fn span_us(us: f64, decimals: usize) -> String {
    // Values that round to one second count as one second.
    if us >= 1e6 - 5.0 {
        format!("{} s", format_decimal(us / 1e6, decimals))
    } else {
        format!("{} ms", format_decimal(us / 1e3, decimals))
    }
}
