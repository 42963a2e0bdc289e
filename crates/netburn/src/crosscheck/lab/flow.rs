//! Saturating flows of datagrams between sockets in the lab.

use super::udp_flow::{refused, skipped_too_many, unread};
use crate::exit::CliError;
use crate::lab_opening;
use netburn_lab::{LabProcess, Program, address};
use netburn_linux::Monotonic;
use netburn_network::Endpoint;
use netburn_record::QualityIssue;
use netburn_record::self_check::{DEFAULT_STANDSTILL_LIMIT, lab_reasons};
use netburn_scenario::Plan;
use netburn_study::conformance::datagrams::{Flows, WARMUP, mbps};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// UDP port of the first station.
const PORT: u16 = 5_000;

/// Measurement of flows in the lab.
pub(super) struct LabFlows {
    /// Goodput of each flow in Mbit/s.
    pub(super) goodput_mbps: Vec<f64>,
    /// Problems of the flows themselves, without duplicates in a row.
    pub(super) flow_issues: Vec<String>,
    /// Problems of the lab.
    pub(super) lab_issues: Vec<QualityIssue>,
}

/// Measures the flows in the lab.
pub(super) fn in_lab(plan: &Plan, flows: Flows) -> Result<LabFlows, CliError> {
    let lab = lab_opening::open(plan)?;
    lab.start(Monotonic::now())
        .map_err(|error| CliError::Failed(error.to_string()))?;
    let failed = |error: std::io::Error| CliError::Failed(error.to_string());
    let program = std::env::current_exe().map_err(failed)?;
    let run = |at: Endpoint, words: Vec<String>| -> Result<(LabProcess, BufReader<UnixStream>), CliError> {
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let null = File::open("/dev/null").map_err(failed)?;
        let program = Program {
            arguments: std::iter::once(program.clone().into_os_string())
                .chain(words.into_iter().map(Into::into))
                .collect(),
            environment: Vec::new(),
            files: [
                null.into(),
                OwnedFd::from(theirs.try_clone().map_err(failed)?),
                theirs.into(),
            ],
            own_group: true,
        };
        let process = lab
            .spawn(at, program)
            .map_err(|error| CliError::Failed(error.to_string()))?;
        Ok((process, BufReader::new(ours)))
    };
    let words = |words: &[&dyn ToString]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let mut receivers = Vec::new();
    for station in 0..plan.stations.len() as u16 {
        let (_, receiver) = flows.ends(station);
        let port = PORT + station;
        let arguments = words(&[&"flow", &"receive", &port, &WARMUP.as_millis(), &flows.span.as_millis()]);
        let (process, mut output) = run(receiver, arguments)?;
        line(&mut output)?;
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
    let (mut arrived, mut flow_issues) = (Vec::new(), Vec::new());
    for (_, output) in &mut receivers {
        let [bytes, dropped] = numbers(output)?;
        arrived.push(mbps(bytes, flows.span));
        flow_issues.extend(unread(dropped));
    }
    for (_, output) in &mut senders {
        let [skipped, not_taken, due] = numbers(output)?;
        flow_issues.extend(skipped_too_many(skipped, due));
        // The queue of a station is bounded, so refused datagrams are expected in the uplink.
        flow_issues.extend(refused(not_taken, due).filter(|_| !flows.up));
    }
    flow_issues.dedup();
    Ok(LabFlows {
        goodput_mbps: arrived,
        flow_issues,
        lab_issues: lab_reasons(&lab.health(), DEFAULT_STANDSTILL_LIMIT),
    })
}

/// Reads the counters that an endpoint prints at its end.
fn numbers<const N: usize>(output: &mut impl BufRead) -> Result<[u64; N], CliError> {
    let line = line(output)?;
    let numbers: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
    numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(|| {
        CliError::Failed(format!(
            "invalid output of a flow endpoint: found {line:?}, expected {N} numbers"
        ))
    })
}

fn line(output: &mut impl BufRead) -> Result<String, CliError> {
    let mut line = String::new();
    output
        .read_line(&mut line)
        .map_err(|error| CliError::Failed(error.to_string()))?;
    Ok(line)
}
