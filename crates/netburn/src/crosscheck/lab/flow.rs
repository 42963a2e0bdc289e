//! Saturating flows of datagrams: over the network model in virtual time, and between sockets in the lab.

use super::udp_flow::{CONTENT, refused, skipped_too_many, unread};
use crate::exit::CliError;
use crate::lab;
use netburn_lab::{LabProcess, Program, address};
use netburn_linux::Monotonic;
use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{Endpoint, Network, Output};
use netburn_record::QualityIssue;
use netburn_record::self_check::{DEFAULT_STANDSTILL_LIMIT, lab_reasons};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// Length of a packet in bytes.
const PACKET: u32 = 1_500;
/// Time in which queues fill; its packets are not counted.
const WARMUP: Duration = Duration::from_secs(1);
/// UDP port of the first station.
const PORT: u16 = 5_000;

/// A flow to or from each station; all run at once, each with `rate` packets per second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flows {
    pub(super) up: bool,
    pub(super) rate: u64,
    pub(super) span: Duration,
}

impl Flows {
    fn ends(&self, station: u16) -> (Endpoint, Endpoint) {
        let station = Endpoint::Station(station);
        if self.up {
            (station, Endpoint::Server)
        } else {
            (Endpoint::Server, station)
        }
    }
}

/// Goodput of each flow in virtual time, in Mbit/s.
pub(super) fn simulated(plan: &Plan, flows: Flows) -> Result<Vec<f64>, CliError> {
    let plan = Plan {
        baseline: Duration::ZERO,
        ..plan.clone()
    };
    let mut network = Network::<u16>::new(&plan).map_err(|error| CliError::Usage(error.to_string()))?;
    let (from, until) = (Instant::ZERO + WARMUP, Instant::ZERO + WARMUP + flows.span);
    let mut arrived = vec![0_u64; plan.stations.len()];
    let mut number = 0;
    loop {
        // All flows send at once. The first flow rotates.
        let due = Instant::from_nanos((number as u128 * 1_000_000_000 / u128::from(flows.rate)) as i64);
        if due > until {
            break;
        }
        for turn in 0..plan.stations.len() as u16 {
            let station = ((u64::from(turn) + number) % plan.stations.len() as u64) as u16;
            let (sender, receiver) = flows.ends(station);
            let packet = Packet {
                length: PACKET,
                flow: (u32::from(station) + 1).wrapping_mul(0x9e37_79b9),
                tid: 0,
                ecn: Ecn::NotEct,
                payload: station,
            };
            network.handle_packet(due, sender, receiver, packet);
        }
        number += 1;
        let next = Instant::from_nanos((number as u128 * 1_000_000_000 / u128::from(flows.rate)) as i64);
        network.handle_timeout(next.min(until));
        while let Some(output) = network.poll_output() {
            if let Output::Delivered { at, packet, .. } = output
                && at > from
                && at <= until
            {
                arrived[usize::from(packet.payload)] += CONTENT;
            }
        }
    }
    Ok(arrived.into_iter().map(|bytes| mbps(bytes, flows.span)).collect())
}

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
    let lab = lab::open(plan)?;
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

fn mbps(bytes: u64, span: Duration) -> f64 {
    bytes as f64 * 8.0 / span.as_secs_f64() / 1e6
}
