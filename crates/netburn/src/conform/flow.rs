//! Flows of datagrams that ask for more than there is: over the bare network in virtual time, and between sockets in the lab.

use crate::args::FlowEnd;
use crate::exit::{Ended, Stop};
use crate::lab;
use netburn_lab::{Guest, Program, address};
use netburn_linux::Monotonic;
use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{Endpoint, Network, Output};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time;

/// A packet, and what of it is content (UDP over IPv4).
const PACKET: u32 = 1_500;
const CONTENT: u64 = 1_472;
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
        match self.up {
            true => (station, Endpoint::Server),
            false => (Endpoint::Server, station),
        }
    }
}

/// What arrives at each in virtual time, in Mbit/s of content.
pub(super) fn simulated(plan: &Plan, flows: Flows) -> Result<Vec<f64>, Stop> {
    let plan = Plan {
        baseline: Duration::ZERO,
        ..plan.clone()
    };
    let mut network = Network::<u16>::new(&plan).map_err(|error| Stop::Wrong(error.to_string()))?;
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
pub(super) fn in_lab(plan: &Plan, flows: Flows) -> Result<(Vec<f64>, Vec<String>), Stop> {
    let lab = lab::open(plan)?;
    lab.begin(Monotonic::now())
        .map_err(|error| Stop::NotMeasured(error.to_string()))?;
    let failed = |error: std::io::Error| Stop::NotMeasured(error.to_string());
    let program = std::env::current_exe().map_err(failed)?;
    let run = |at: Endpoint, words: Vec<String>| -> Result<(Guest, BufReader<UnixStream>), Stop> {
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
            .map_err(|error| Stop::NotMeasured(error.to_string()))?;
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
    let all = WARMUP.as_millis() + flows.span.as_millis() + 500;
    for station in 0..plan.stations.len() as u16 {
        let (sender, receiver) = flows.ends(station);
        let to = SocketAddr::new(IpAddr::V4(address::v4(receiver)), PORT + station);
        senders.push(run(sender, words(&[&"flow", &"send", &to, &flows.rate, &all]))?);
    }
    let mut arrived = Vec::new();
    for (_, said) in &mut receivers {
        let bytes = line(said)?;
        let bytes = bytes
            .trim()
            .parse()
            .map_err(|_| Stop::NotMeasured(format!("a receiver says {bytes:?}")))?;
        arrived.push(mbps(bytes, flows.span));
    }
    Ok((arrived, lab.health().reasons()))
}

fn line(said: &mut impl BufRead) -> Result<String, Stop> {
    let mut line = String::new();
    said.read_line(&mut line)
        .map_err(|error| Stop::NotMeasured(error.to_string()))?;
    Ok(line)
}

fn mbps(bytes: u64, span: Duration) -> f64 {
    bytes as f64 * 8.0 / span.as_secs_f64() / 1e6
}

/// One end of a flow: the whole life of a process inside the lab.
pub(crate) fn flow(end: &FlowEnd) -> Result<Ended, Stop> {
    let done = match *end {
        FlowEnd::Send { to, rate, milliseconds } => send(to, rate, time::Duration::from_millis(milliseconds)),
        FlowEnd::Receive {
            port,
            warmup,
            milliseconds,
        } => receive(
            port,
            time::Duration::from_millis(warmup),
            time::Duration::from_millis(milliseconds),
        ),
    };
    done.map_err(|error| Stop::NotMeasured(error.to_string()))?;
    Ok(Ended::Ran)
}

fn send(to: SocketAddr, rate: u64, span: time::Duration) -> std::io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    socket.connect(to)?;
    let content = [0_u8; CONTENT as usize];
    let began = time::Instant::now();
    let mut sent = 0;
    while began.elapsed() < span {
        let due = (began.elapsed().as_nanos() * u128::from(rate) / 1_000_000_000) as u64;
        // Who was held up doesn't catch up: it would be a burst that nobody asked for.
        sent = sent.max(due.saturating_sub(rate / 100));
        while sent < due {
            // What a full queue refuses is lost, as on any host.
            let _ = socket.send(&content);
            sent += 1;
        }
        std::thread::sleep(time::Duration::from_micros(200));
    }
    Ok(())
}

fn receive(port: u16, warmup: time::Duration, span: time::Duration) -> std::io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", port))?;
    socket.set_read_timeout(Some(time::Duration::from_secs(5)))?;
    println!("ready");
    let mut buffer = [0_u8; 2_048];
    let mut begins = None;
    let mut bytes = 0;
    loop {
        let Ok(length) = socket.recv(&mut buffer) else {
            // It has stalled for good, or never began.
            println!("{bytes}");
            return Ok(());
        };
        let now = time::Instant::now();
        let from = *begins.get_or_insert(now + warmup);
        if now >= from + span {
            println!("{bytes}");
            return Ok(());
        }
        if now >= from {
            bytes += length as u64;
        }
    }
}
