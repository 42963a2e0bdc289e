//! Reasons for which results are unreliable or a verdict is inconclusive, as typed data.
//!
//! Programs decide by the variant, or by its [`code`](QualityIssue::code) in documents. The sentence
//! for people is computed from the data. Documents contain both: an object with `code`, the fields of
//! the variant, and the sentence as `text`.

use crate::goal_kind::GoalKind;
use netburn_units::{Duration, format_decimal};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt;

/// Reason for which results are unreliable, or for which a verdict is inconclusive.
///
/// `who` is the label of an agent or server in messages: `agent laptop`, `the server`. Shares are
/// from 0 to 1. `limit` is the exceeded limit, in the unit of the value before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "code", rename_all = "snake_case")]
pub enum QualityIssue {
    /// The controller lost an agent.
    AgentLost {
        /// Name of the agent, with the fleet's member if it has another name.
        name: String,
        /// Cause of the loss.
        cause: String,
    },
    /// The controller lost the run's server.
    ServerLost {
        /// The fleet's member that served; `None` outside fleets.
        member: Option<String>,
        /// Cause of the loss.
        cause: String,
    },
    /// An agent reports that results of its station are missing.
    ResultsMissing {
        /// Cause, as the agent reports it.
        cause: String,
    },
    /// Rows were rejected because they are implausible.
    RowsRejected {
        /// Their sender: `agent laptop`, `the server`.
        sender: String,
        /// Number of rejected rows.
        rows: u64,
        /// Numbers by reason, as text.
        reasons: String,
    },
    /// A station reports more bytes than the server counted for it.
    BytesUnconfirmed {
        /// Name of the station.
        station: String,
        /// Direction: true if the station received them, false if it sent them.
        received: bool,
        /// Reported by the station, in MB (10⁶ bytes).
        reported_mb: f64,
        /// Counted by the server, in MB.
        counted_mb: f64,
    },
    /// Operations started late.
    StartDelay {
        /// Agent or server.
        who: String,
        /// 99th percentile in µs.
        p99_us: f64,
        /// Limit in µs.
        limit: f64,
    },
    /// Threads stood still for too long.
    Standstill {
        /// Agent, server or lab.
        who: String,
        /// Number of standstills; 1 if they were not counted.
        count: u64,
        /// Longest standstill in µs.
        longest_us: f64,
        /// Sum of all standstills in µs.
        total_us: f64,
        /// Limit of the longest in µs.
        limit: f64,
    },
    /// Standstills of the lab took too much of the time.
    StandstillShare {
        /// Share of the time.
        share: f64,
        /// Limit.
        limit: f64,
    },
    /// An agent skipped operations because it was too late.
    OperationsSkipped {
        /// Agent or server.
        who: String,
        /// Number of skipped operations.
        skipped: u64,
        /// Number of operations that were due.
        due: u64,
        /// Limit of the share.
        limit: f64,
    },
    /// The busiest thread used too much of one core.
    ProcessorBusy {
        /// Agent, server, or `packet forwarding` (the lab).
        who: String,
        /// Share of one core.
        share: f64,
        /// Limit.
        limit: f64,
    },
    /// A machine was too busy.
    MachineBusy {
        /// The machine: `this machine`, `the machine of agent laptop`.
        machine: String,
        /// Busy share.
        share: f64,
        /// Limit.
        limit: f64,
    },
    /// The machine was too busy while the lab ran.
    LabMachineBusy {
        /// Busy share.
        share: f64,
        /// Limit.
        limit: f64,
    },
    /// The server was slow to start its responses.
    SlowResponses {
        /// Label of the server.
        who: String,
        /// 99th percentile in µs.
        p99_us: f64,
        /// Limit in µs.
        limit: f64,
    },
    /// The server rejected or failed requests because of internal errors.
    RequestsFailed {
        /// Label of the server.
        who: String,
        /// Number of requests.
        requests: u64,
    },
    /// A clock is too uncertain.
    ClockUncertain {
        /// Name of the participant.
        name: String,
        /// Uncertainty in ns.
        error_ns: u64,
        /// Limit in ns.
        limit: u64,
    },
    /// A clock jumped during the run.
    ClockJumped {
        /// Name of the participant.
        name: String,
        /// Jump in ns; negative if the clock went back.
        jump_ns: i64,
    },
    /// The run ended before any agent sent a health report.
    NoHealthReports,
    /// Agents sent no health report.
    NoAgentReport {
        /// Names of their stations.
        stations: Vec<String>,
    },
    /// The server sent no health report.
    NoServerReport,
    /// An interface was taken down during the run.
    InterfaceDown {
        /// Station whose interface it was, or `server`; `None` for the loopback interface.
        station: Option<String>,
    },
    /// The lab stopped carrying packets.
    LabStopped {
        /// Cause.
        cause: String,
    },
    /// The lab delivered packets late.
    LabDeliveryDelay {
        /// 99th percentile in µs.
        p99_us: f64,
        /// Limit in µs.
        limit: f64,
    },
    /// The lab delivered one packet very late.
    LabPacketLate {
        /// Maximum delay in µs.
        max_us: f64,
        /// Limit in µs.
        limit: f64,
    },
    /// The machine of the lab was suspended.
    MachineSuspended {
        /// Duration in µs.
        us: f64,
    },
    /// A signal stopped a program in the lab.
    ProgramStopped {
        /// Name of the program.
        program: String,
        /// Station where it ran, or `server`.
        station: String,
        /// Duration in µs.
        us: f64,
    },
    /// The kernel dropped packets before the lab read them.
    LabPacketsDropped {
        /// Number of packets.
        packets: u64,
    },
    /// The lab could not deliver frames.
    LabFramesFailed {
        /// Number of frames.
        frames: u64,
    },
    /// A hypervisor took the machine's time.
    HypervisorSteal {
        /// Share of the machine's time.
        share: f64,
        /// Limit.
        limit: f64,
    },
    /// The run was interrupted.
    RunInterrupted {
        /// Time of the last row in ns of the run; 0 before the load.
        after_ns: u64,
        /// Planned duration in ns.
        planned_ns: u64,
    },
    /// The run failed.
    RunFailed {
        /// Cause.
        cause: String,
        /// Time of the last row in ns of the run; 0 before the load.
        after_ns: u64,
        /// Planned duration in ns.
        planned_ns: u64,
    },
    /// A goal has no samples.
    NoSamples {
        /// Name of the workload.
        workload: String,
        /// Index of the goal in the workload's goals.
        goal: usize,
        /// Kind of the goal.
        kind: GoalKind,
        /// Text of the goal: `page load ≤ 500 ms`.
        goal_text: String,
    },
    /// A run set has fewer runs than planned.
    RunsMissing {
        /// Number of runs.
        made: usize,
        /// Planned number.
        planned: usize,
    },
    /// An issue of one run of a run set.
    OfRun {
        /// Number of the run, from 1.
        run: usize,
        /// The issue.
        issue: Box<QualityIssue>,
    },
    /// An issue that this version does not know, from a document of a newer version.
    #[serde(skip)]
    Unknown {
        /// Its code.
        code: String,
        /// Its sentence; the code if there is none.
        text: String,
        /// The whole document.
        document: Map<String, Value>,
    },
}

impl QualityIssue {
    /// Returns its code in documents: `agent_lost`. Codes are stable.
    #[must_use]
    pub fn code(&self) -> String {
        match self {
            QualityIssue::Unknown { code, .. } => code.clone(),
            known => match known.fields().remove("code") {
                Some(Value::String(code)) => code,
                _ => unreachable!("the code is the tag of the enum"),
            },
        }
    }

    /// Returns this issue as one of run number `run` of a run set.
    #[must_use]
    pub fn of_run(&self, run: usize) -> QualityIssue {
        QualityIssue::OfRun {
            run,
            issue: Box::new(self.clone()),
        }
    }

    /// Returns whether the processors of the machine were busy with other work.
    #[must_use]
    pub fn is_busy_machine(&self) -> bool {
        match self {
            QualityIssue::MachineBusy { .. } | QualityIssue::LabMachineBusy { .. } => true,
            QualityIssue::OfRun { issue, .. } => issue.is_busy_machine(),
            _ => false,
        }
    }

    /// Code and fields of a known issue.
    fn fields(&self) -> Map<String, Value> {
        match QualityIssue::serialize(self, serde_json::value::Serializer) {
            Ok(Value::Object(fields)) => fields,
            _ => unreachable!("an issue is an object of plain fields"),
        }
    }
}

impl Serialize for QualityIssue {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if let QualityIssue::Unknown { document, .. } = self {
            return document.serialize(to);
        }
        let mut fields = self.fields();
        fields.insert("text".to_owned(), Value::String(self.to_string()));
        fields.serialize(to)
    }
}

impl<'de> Deserialize<'de> for QualityIssue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let document = Map::<String, Value>::deserialize(from)?;
        if let Ok(known) = QualityIssue::deserialize(Value::Object(document.clone())) {
            return Ok(known);
        }
        let field = |name: &str| document.get(name).and_then(Value::as_str).map(str::to_owned);
        let code = field("code").ok_or_else(|| D::Error::missing_field("code"))?;
        let text = field("text").unwrap_or_else(|| code.clone());
        Ok(QualityIssue::Unknown { code, text, document })
    }
}

impl fmt::Display for QualityIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QualityIssue::AgentLost { name, cause } => write!(f, "agent {name} was lost: {cause}"),
            QualityIssue::ServerLost { member, cause } => match member {
                Some(member) => write!(f, "the server ({member}) was lost: {cause}"),
                None => write!(f, "the server was lost: {cause}"),
            },
            QualityIssue::ResultsMissing { cause } => f.write_str(cause),
            QualityIssue::RowsRejected { sender, rows, reasons } => {
                let (noun, were) = if *rows == 1 { ("row", "was") } else { ("rows", "were") };
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
            QualityIssue::ClockJumped { name, jump_ns } => write!(
                f,
                "the clock of {name} jumped {} by {} during the run: it was set, or the device slept",
                if *jump_ns < 0 { "back" } else { "ahead" },
                ms(jump_ns.unsigned_abs() as f64 / 1e6)
            ),
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
                    GoalKind::Rate => "no complete window lies in the evaluated time",
                    GoalKind::NoStall => "playback did not start in the evaluated time",
                };
                write!(f, "{workload} has no samples for `{goal_text}`: {cause}")
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_issue_is_written_with_code_fields_and_sentence() {
        let issue = QualityIssue::AgentLost {
            name: "tv".into(),
            cause: "gone".into(),
        };
        let document =
            json!({ "code": "agent_lost", "name": "tv", "cause": "gone", "text": "agent tv was lost: gone" });
        assert_eq!(serde_json::to_value(&issue).unwrap(), document);
        assert_eq!(serde_json::from_value::<QualityIssue>(document).unwrap(), issue);
        assert_eq!(issue.code(), "agent_lost");
        let of_run = issue.of_run(2);
        assert_eq!(of_run.to_string(), "run 2: agent tv was lost: gone");
        let text = serde_json::to_string(&of_run).unwrap();
        assert_eq!(serde_json::from_str::<QualityIssue>(&text).unwrap(), of_run);
        assert_eq!(QualityIssue::NoServerReport.code(), "no_server_report");
    }

    #[test]
    fn an_issue_of_a_newer_version_is_kept_and_printed() {
        let document = json!({ "code": "solar_flare", "flux": 3, "text": "the sun disturbed the run" });
        let issue: QualityIssue = serde_json::from_value(document.clone()).unwrap();
        assert_eq!(
            (issue.code().as_str(), issue.to_string().as_str()),
            ("solar_flare", "the sun disturbed the run")
        );
        assert_eq!(serde_json::to_value(&issue).unwrap(), document);
        // A known code with other fields.
        let document = json!({ "code": "agent_lost", "agents": ["a", "b"], "text": "agents a and b were lost" });
        let issue: QualityIssue = serde_json::from_value(document).unwrap();
        assert_eq!(issue.to_string(), "agents a and b were lost");
        // A share that is not a number is null in JSON.
        let busy = QualityIssue::LabMachineBusy {
            share: f64::NAN,
            limit: 0.5,
        };
        let read: QualityIssue = serde_json::from_str(&serde_json::to_string(&busy).unwrap()).unwrap();
        assert_eq!((read.code(), read.to_string()), (busy.code(), busy.to_string()));
        assert!(serde_json::from_str::<QualityIssue>("{}").is_err());
    }
}
