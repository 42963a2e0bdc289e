//! Saturating flows of datagrams between sockets in a lab, one to or from each station.
//!
//! Each `endpoint` is a process inside the lab: the command `netburn-dev flow` runs [`send`] or [`receive`] and prints the
//! counters. A receiver prints [`READY`] before.

mod endpoint;

pub use endpoint::{Received, Sent, receive, send};

use netburn_lab::{Lab, LabError, LabProcess, Program, address};
use netburn_network::Endpoint;
use netburn_platform::Monotonic;
use netburn_record::QualityIssue;
use netburn_record::self_check::{DEFAULT_STANDSTILL_LIMIT, lab_reasons};
use netburn_scenario::Plan;
use netburn_units::Duration;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Length of a packet in bytes.
pub const PACKET: u32 = 1_500;
/// Payload of a packet in bytes (UDP over IPv4).
pub const CONTENT: u64 = 1_472;
/// Time in which queues fill; its packets are not counted.
pub const WARMUP: Duration = Duration::from_secs(1);
/// Line that a receiver prints when its port is open.
pub const READY: &str = "ready";
/// UDP port of the first station.
const PORT: u16 = 5_000;
/// Maximum share of its datagrams that a sender may fail to send. It is a fifth of 1 %, the smallest tolerance with which
/// `netburn-dev crosscheck --against lab` compares the goodput.
const MAX_UNSENT: f64 = 0.002;

/// A flow to or from each station; all run at once, each with `rate` packets per second.
#[derive(Debug, Clone, Copy)]
pub struct Flows {
    /// From the stations to the server.
    pub up: bool,
    /// Packets of [`PACKET`] bytes per second and station.
    pub rate: u64,
    /// Measured time, after [`WARMUP`].
    pub span: Duration,
}

impl Flows {
    /// Sender and receiver of the flow of a station.
    #[must_use]
    pub fn ends(&self, station: u16) -> (Endpoint, Endpoint) {
        let station = Endpoint::Station(station);
        if self.up {
            (station, Endpoint::Server)
        } else {
            (Endpoint::Server, station)
        }
    }

    /// Rate of `bytes` in the measured time, in Mbit/s.
    #[must_use]
    pub fn mbps(&self, bytes: u64) -> f64 {
        bytes as f64 * 8.0 / self.span.as_secs_f64() / 1e6
    }
}

/// Measurement of flows in a lab.
#[derive(Debug)]
pub struct LabFlows {
    /// Goodput of each flow in Mbit/s.
    pub goodput_mbps: Vec<f64>,
    /// Problems of the flows themselves. Their texts are distinct.
    pub flow_issues: Vec<FlowIssue>,
    /// Problems of the lab.
    pub lab_issues: Vec<QualityIssue>,
}

/// Reason for which the measurement of a flow is unreliable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FlowIssue {
    /// A delayed sender skipped more than 0.2 % of its datagrams.
    Skipped {
        /// Share of its datagrams.
        share: f64,
    },
    /// A server's kernel rejected more than 0.2 % of the datagrams.
    Rejected {
        /// Share of its datagrams.
        share: f64,
    },
    /// A receiver's kernel dropped datagrams before the receiver read them.
    Unread {
        /// Number of datagrams.
        datagrams: u64,
    },
}

impl fmt::Display for FlowIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = MAX_UNSENT * 100.0;
        match self {
            FlowIssue::Skipped { share } => write!(
                f,
                "a sender was delayed and skipped {:.2} % of its datagrams; the limit is {limit:.1} %",
                share * 100.0
            ),
            FlowIssue::Rejected { share } => write!(
                f,
                "a server's kernel rejected {:.2} % of its datagrams; the limit is {limit:.1} %",
                share * 100.0
            ),
            FlowIssue::Unread { datagrams } => write!(
                f,
                "a receiver's kernel dropped {datagrams} datagrams before they were read; the limit is 0"
            ),
        }
    }
}

/// Error of measuring flows in a lab.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// The lab does not start, or starts no process.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The counters of an endpoint can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// An endpoint printed another line than the expected one, such as an error.
    #[error("invalid output of a flow endpoint: found {found:?}, expected {expected}")]
    Output {
        /// The printed line.
        found: String,
        /// Description of the expected line.
        expected: &'static str,
    },
}

/// Measures the flows of `plan` in its lab, which has not started yet. `program` is the executable with
/// the command `flow`.
///
/// # Errors
/// The lab does not start, or an endpoint fails.
pub fn in_lab(lab: &Lab, program: &Path, plan: &Plan, flows: Flows) -> Result<LabFlows, FlowError> {
    lab.start(Monotonic::now())?;
    let run = |at: Endpoint, words: Vec<String>| run_endpoint(lab, program, at, words);
    let words = |words: &[&dyn ToString]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let mut receivers = Vec::new();
    for station in 0..plan.stations.len() as u16 {
        let (_, receiver) = flows.ends(station);
        let port = PORT + station;
        let arguments = words(&[&"flow", &"receive", &port, &WARMUP.as_millis(), &flows.span.as_millis()]);
        let (process, mut output) = run(receiver, arguments)?;
        expect_ready(&mut output)?;
        receivers.push((process, output));
    }
    let mut senders = Vec::new();
    // The senders run until the lab has checked itself again, which it does every second.
    let all = WARMUP.as_millis() + flows.span.as_millis() + 1_200;
    for station in 0..plan.stations.len() as u16 {
        let (sender, receiver) = flows.ends(station);
        let to = SocketAddr::new(IpAddr::V4(address::v4(receiver)), PORT + station);
        senders.push(run(sender, words(&[&"flow", &"send", &to, &flows.rate, &all]))?);
    }
    let (mut goodput_mbps, mut flow_issues) = (Vec::new(), Vec::new());
    for (_, output) in &mut receivers {
        let received: Received = counters(output)?;
        goodput_mbps.push(flows.mbps(received.bytes));
        flow_issues.extend(unread(&received));
    }
    for (_, output) in &mut senders {
        let sent: Sent = counters(output)?;
        flow_issues.extend(skipped(&sent));
        // The queue of a station is bounded, so rejected datagrams are expected in the uplink.
        flow_issues.extend(rejected(&sent).filter(|_| !flows.up));
    }
    Ok(LabFlows {
        goodput_mbps,
        flow_issues: distinct(flow_issues),
        lab_issues: lab_reasons(&lab.health(), DEFAULT_STANDSTILL_LIMIT),
    })
}

fn run_endpoint(
    lab: &Lab,
    program: &Path,
    at: Endpoint,
    words: Vec<String>,
) -> Result<(LabProcess, BufReader<UnixStream>), FlowError> {
    let (ours, theirs) = UnixStream::pair()?;
    let program = Program {
        arguments: std::iter::once(program.as_os_str().to_owned())
            .chain(words.into_iter().map(Into::into))
            .collect(),
        environment: Vec::new(),
        files: [
            File::open("/dev/null")?.into(),
            OwnedFd::from(theirs.try_clone()?),
            theirs.into(),
        ],
        own_group: true,
    };
    Ok((lab.spawn(at, program)?, BufReader::new(ours)))
}

/// Waits until a receiver is ready.
fn expect_ready(output: &mut impl BufRead) -> Result<(), FlowError> {
    let found = line(output)?;
    if found.trim_end() == READY {
        Ok(())
    } else {
        let expected = "`ready`";
        Err(FlowError::Output { found, expected })
    }
}

/// Reads the counters that an endpoint prints at its end.
fn counters<T: DeserializeOwned>(output: &mut impl BufRead) -> Result<T, FlowError> {
    let found = line(output)?;
    let expected = "its counters";
    serde_json::from_str(&found).map_err(|_| FlowError::Output { found, expected })
}

fn line(output: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    output.read_line(&mut line)?;
    Ok(line)
}

/// Issue if a delayed sender skipped more than the limit.
fn skipped(sent: &Sent) -> Option<FlowIssue> {
    let share = sent.skipped as f64 / sent.due.max(1) as f64;
    (share > MAX_UNSENT).then_some(FlowIssue::Skipped { share })
}

/// Issue if a sender's kernel rejected more than the limit.
fn rejected(sent: &Sent) -> Option<FlowIssue> {
    let share = sent.rejected as f64 / sent.due.max(1) as f64;
    (share > MAX_UNSENT).then_some(FlowIssue::Rejected { share })
}

/// Issue if a receiver's kernel dropped datagrams.
fn unread(received: &Received) -> Option<FlowIssue> {
    let datagrams = received.dropped;
    (datagrams > 0).then_some(FlowIssue::Unread { datagrams })
}

/// The issues without those that have the same text as an earlier one. Shares that differ can have the same text.
fn distinct(issues: Vec<FlowIssue>) -> Vec<FlowIssue> {
    let mut texts = BTreeSet::new();
    issues
        .into_iter()
        .filter(|issue| texts.insert(issue.to_string()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn up_to_0_2_percent_unsent_is_no_issue() {
        let of = |skipped, rejected| Sent {
            skipped,
            rejected,
            due: 10_000,
        };
        assert_eq!(skipped(&Sent::default()), None);
        assert_eq!((skipped(&of(20, 0)), rejected(&of(0, 20))), (None, None));
        assert_eq!(skipped(&of(21, 0)), Some(FlowIssue::Skipped { share: 0.0021 }));
        let issue = rejected(&of(0, 21)).unwrap();
        assert_eq!(issue, FlowIssue::Rejected { share: 0.0021 });
        assert!(
            issue.to_string().contains("rejected 0.21 % of its datagrams"),
            "{issue}"
        );
        let received = |dropped| Received { bytes: 1, dropped };
        assert_eq!(unread(&received(0)), None);
        assert_eq!(unread(&received(3)), Some(FlowIssue::Unread { datagrams: 3 }));
    }

    #[test]
    fn issues_with_the_same_text_are_reported_once() {
        let [one, same, other] = [0.00501, 0.00502, 0.006].map(|share| FlowIssue::Skipped { share });
        let rejected = FlowIssue::Rejected { share: 0.00501 };
        assert_eq!(one.to_string(), same.to_string());
        assert_eq!(distinct(vec![one, rejected, same, other]), [one, rejected, other]);
    }

    #[test]
    fn the_error_of_a_receiver_that_does_not_start_is_reported() {
        assert!(expect_ready(&mut io::Cursor::new("ready\n")).is_ok());
        let error = expect_ready(&mut io::Cursor::new("error: Address already in use\n")).unwrap_err();
        assert!(error.to_string().contains("Address already in use"), "{error}");
        assert!(expect_ready(&mut io::Cursor::new("")).is_err());
    }

    #[test]
    fn printed_counters_are_read() {
        let sent = Sent {
            skipped: 1,
            rejected: 2,
            due: 3,
        };
        let received = Received { bytes: 4, dropped: 5 };
        let lines = [json!(sent), json!(received), json!(received)];
        let mut output = io::Cursor::new(lines.map(|line| format!("{line}\n")).concat());
        assert_eq!(counters::<Sent>(&mut output).unwrap(), sent);
        assert_eq!(counters::<Received>(&mut output).unwrap(), received);
        let other = counters::<Sent>(&mut output);
        assert!(matches!(other, Err(FlowError::Output { found, .. }) if found.contains("\"bytes\":4")));
        assert!(matches!(counters::<Sent>(&mut output), Err(FlowError::Output { .. })));
    }
}
