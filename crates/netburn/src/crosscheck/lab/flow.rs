//! Flows of datagrams that ask for more than there is: over the bare network in virtual time, and between sockets in the lab.

use super::ends::{CONTENT, left_out, refused, unread};
use crate::exit::CliError;
use crate::lab;
use netburn_lab::{LabProcess, Program, address};
use netburn_linux::Monotonic;
use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{Endpoint, Network, Output};
use netburn_record::self_check::{DEFAULT_STANDSTILL_LIMIT, lab_reasons};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// A packet.
const PACKET: u32 = 1_500;
/// How long queues fill before anything is counted.
const WARMUP: Duration = Duration::from_secs(1);
/// The first port.
const PORT: u16 = 5_000;

/// A flow to or from every station at once, each with this many packets a second.
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

/// What arrives at each in virtual time, in Mbit/s of content.
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
        // All flows send at once, in turn who is first.
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

/// What arrives at each in the lab, in Mbit/s of content, and why that may be wrong.
pub(super) fn in_lab(plan: &Plan, flows: Flows) -> Result<(Vec<f64>, Vec<String>), CliError> {
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
        let guest = lab
            .spawn(at, program)
            .map_err(|error| CliError::Failed(error.to_string()))?;
        Ok((guest, BufReader::new(ours)))
    };
    let words = |words: &[&dyn ToString]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let mut receivers = Vec::new();
    for station in 0..plan.stations.len() as u16 {
        let (_, receiver) = flows.ends(station);
        let port = PORT + station;
        let arguments = words(&[&"flow", &"receive", &port, &WARMUP.as_millis(), &flows.span.as_millis()]);
        let (guest, mut said) = run(receiver, arguments)?;
        line(&mut said)?;
        receivers.push((guest, said));
    }
    let mut senders = Vec::new();
    // They go on until the lab has looked at its own work once more, which it does every second.
    let all = WARMUP.as_millis() + flows.span.as_millis() + 1_200;
    for station in 0..plan.stations.len() as u16 {
        let (sender, receiver) = flows.ends(station);
        let to = SocketAddr::new(IpAddr::V4(address::v4(receiver)), PORT + station);
        senders.push(run(sender, words(&[&"flow", &"send", &to, &flows.rate, &all]))?);
    }
    let (mut arrived, mut doubts) = (Vec::new(), Vec::new());
    for (_, said) in &mut receivers {
        let [bytes, dropped] = numbers(said)?;
        arrived.push(mbps(bytes, flows.span));
        doubts.extend(unread(dropped));
    }
    for (_, said) in &mut senders {
        let [skipped, not_taken, due] = numbers(said)?;
        doubts.extend(left_out(skipped, due));
        // What a station has ahead of the air is bounded, and all that it can't have there is refused.
        doubts.extend(refused(not_taken, due).filter(|_| !flows.up));
    }
    doubts.extend(lab_reasons(&lab.health(), DEFAULT_STANDSTILL_LIMIT));
    doubts.dedup();
    Ok((arrived, doubts))
}

/// What an end says when it is done.
fn numbers<const N: usize>(said: &mut impl BufRead) -> Result<[u64; N], CliError> {
    let line = line(said)?;
    let numbers: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| CliError::Failed(format!("an end of a flow says {line:?}")))
}

fn line(said: &mut impl BufRead) -> Result<String, CliError> {
    let mut line = String::new();
    said.read_line(&mut line)
        .map_err(|error| CliError::Failed(error.to_string()))?;
    Ok(line)
}

fn mbps(bytes: u64, span: Duration) -> f64 {
    bytes as f64 * 8.0 / span.as_secs_f64() / 1e6
}
