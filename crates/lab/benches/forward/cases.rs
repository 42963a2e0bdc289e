//! Benchmark cases, each in its own lab.

use netburn_lab::{Lab, LabProcess, Program, address};
use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{Endpoint, Network, Output};
use netburn_platform::Monotonic;
use netburn_scenario::{Document, Environment, Plan};
use netburn_units::{Duration, Instant};
use std::fs::File;
use std::io::{BufRead, BufReader, PipeReader};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;
use std::time;

/// Returns a plan with stations at a fixed rate of 802.11ac.
fn plan(stations: usize, streams: u8, mcs: u8) -> Plan {
    let mut text = "[ap.home]\nqueue = \"station-rr\"\n[ap.home.radio.5g]\nstandard = \"802.11ac\"\nwidth = \"80 MHz\"\nstreams = 4\n".to_owned();
    for station in 0..stations {
        text.push_str(&format!(
            "[station.s{station}]\njoins = \"home.5g\"\nstandard = \"802.11ac\"\nstreams = {streams}\nmcs = {mcs}\nworkload = \"probe\"\n"
        ));
    }
    resolved(&text)
}

fn resolved(text: &str) -> Plan {
    let document = Document::from_toml("bench.toml", text).expect("a scenario");
    let (plan, _) = document.resolve_for(Environment::Lab).expect("a plan");
    Plan {
        baseline: Duration::ZERO,
        ..plan
    }
}

fn open(plan: &Plan) -> Lab {
    let lab = Lab::open(plan, Command::new(env!("CARGO_BIN_EXE_netburn-lab-init"))).expect("a lab");
    lab.start(Monotonic::now()).expect("a network");
    lab
}

struct Running {
    _guest: LabProcess,
    output: BufReader<PipeReader>,
}

impl Running {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a pipe");
        line.trim().to_owned()
    }

    fn number(&mut self) -> f64 {
        self.line().parse().expect("a number")
    }
}

fn start(lab: &Lab, at: Endpoint, words: &[&str]) -> Running {
    let (output, theirs) = std::io::pipe().expect("a pipe");
    let program = std::env::current_exe().expect("a path");
    let arguments = [program.as_os_str(), "flow".as_ref()].into_iter().map(Into::into);
    let program = Program {
        arguments: arguments.chain(words.iter().map(Into::into)).collect(),
        environment: Vec::new(),
        files: [
            OwnedFd::from(File::open("/dev/null").expect("a file")),
            OwnedFd::from(theirs),
            std::io::stderr().as_fd().try_clone_to_owned().expect("a file"),
        ],
        own_group: true,
    };
    Running {
        _guest: lab.spawn(at, program).expect("a program"),
        output: BufReader::new(output),
    }
}

/// Returns the total goodput of the model alone in Mbit/s, with `rate` packets per second to each station.
fn modelled(plan: &Plan, rate: u64) -> f64 {
    let mut network = Network::<()>::new(plan).expect("a network");
    let (from, until) = (1_000_000_000, 5_000_000_000);
    let (mut number, mut arrived) = (0, 0);
    loop {
        let due = (number as u128 * 1_000_000_000 / u128::from(rate)) as i64;
        if due > until {
            break;
        }
        for station in 0..plan.stations.len() as u16 {
            let packet = Packet {
                length: 1_500,
                flow: u32::from(station) + 1,
                tid: 0,
                ecn: Ecn::NotEct,
                payload: (),
            };
            network.handle_packet(
                Instant::from_nanos(due),
                Endpoint::Server,
                Endpoint::Station(station),
                packet,
            );
        }
        number += 1;
        while let Some(output) = network.poll_output() {
            if let Output::Delivered { at, .. } = output {
                arrived += u64::from((from..until).contains(&at.as_nanos())) * super::flow::CONTENT as u64;
            }
        }
    }
    arrived as f64 * 8.0 / 4.0 / 1e6
}

fn datagrams(name: &str, plan: &Plan, rate: u64) {
    let model = modelled(plan, rate);
    let lab = open(plan);
    let stations = 0..plan.stations.len() as u16;
    let mut receivers: Vec<Running> = stations
        .clone()
        .map(|station| {
            let mut receiver = start(&lab, Endpoint::Station(station), &["count", "5000", "4"]);
            receiver.line();
            receiver
        })
        .collect();
    let began = time::Instant::now();
    let active_flows: Vec<Running> = stations
        .map(|station| {
            let to = format!("{}:5000", address::v4(Endpoint::Station(station)));
            start(&lab, Endpoint::Server, &["datagrams", &to, &rate.to_string(), "6"])
        })
        .collect();
    let got: f64 = receivers.iter_mut().map(Running::number).sum();
    let health = lab.health();
    drop(active_flows);
    // The forwarding thread's share of processor time covers the time since the network started; it was nearly idle
    // before the flow.
    let span = health.span_us / 1e6;
    let share = health.cpu * span / began.elapsed().as_secs_f64().min(span);
    println!(
        "{name}: {got:.1} Mbit/s, the model's {model:.1} ({:+.2} %); {:.0} % of a core; {:.3} ms late at p99, {} dropped unread",
        (got / model - 1.0) * 100.0,
        share * 100.0,
        health.lateness_us_p99 / 1e3,
        health.ring_drops
    );
}

/// The highest rate of 802.11, near the access point.
fn fastest() {
    let plan = resolved(
        "[server]\nlink = { rate = \"100 Gbit/s\" }\n[ap.home]\nqueue = \"fq-mac\"\n[ap.home.radio.6g]\nstandard = \"802.11be\"\nwidth = \"320 MHz\"\nstreams = 8\naggregate_time = \"5 ms\"\n\
         [station.s]\njoins = \"home.6g\"\nstandard = \"802.11be\"\nstreams = 8\nmcs = 13\nworkload = \"probe\"\n",
    );
    stream("one TCP connection down the fastest radio", &plan);
}

/// A wired station that is not the bottleneck.
fn wire() {
    let plan = resolved(
        "[server]\nlink = { rate = \"100 Gbit/s\" }\n[ap.home.radio.5g]\n\
         [station.s]\nlink = { rate = \"40 Gbit/s\" }\nworkload = \"probe\"\n",
    );
    stream("one TCP connection down a wire of 40 Gbit/s", &plan);
}

fn stream(name: &str, plan: &Plan) {
    let lab = open(plan);
    let mut server = start(&lab, Endpoint::Server, &["stream", "6"]);
    server.line();
    let from = format!("{}:9", address::v4(Endpoint::Server));
    let mut client = start(&lab, Endpoint::Station(0), &["fetch", &from, "4"]);
    let got = client.number();
    println!(
        "{name}: {:.2} Gbit/s; {:.0} % of a core; {:.1} packets a frame written",
        got / 1e3,
        lab.health().cpu * 100.0,
        lab.counters().delivered as f64 / lab.counters().written as f64
    );
}

fn idle() {
    let plan = plan(1, 2, 9);
    // The round trip of the model: a datagram of 64 bytes in each direction, with half a backoff of variation.
    let mut network = Network::<()>::new(&plan).expect("a network");
    let mut trips = Vec::new();
    for number in 0..1_000 {
        let sent = Instant::from_nanos(number * 5_000_000);
        let packet = Packet {
            length: 92,
            flow: 1,
            tid: 0,
            ecn: Ecn::NotEct,
            payload: (),
        };
        network.handle_packet(sent, Endpoint::Station(0), Endpoint::Server, packet);
        let until = sent + Duration::from_millis(5);
        while let Some((at, _)) = network.poll_timeout().filter(|(at, _)| *at < until) {
            network.handle_timeout(at);
            while let Some(output) = network.poll_output() {
                match output {
                    Output::Delivered {
                        at,
                        to: Endpoint::Server,
                        packet,
                        ..
                    } => {
                        network.handle_packet(at, Endpoint::Server, Endpoint::Station(0), packet);
                    }
                    Output::Delivered { at, .. } => trips.push((at.as_nanos() - sent.as_nanos()) as f64 / 1e3),
                    _ => {}
                }
            }
        }
    }
    trips.sort_by(f64::total_cmp);
    let model = trips[trips.len() / 2];
    let lab = open(&plan);
    let mut server = start(&lab, Endpoint::Server, &["echo"]);
    server.line();
    let to = format!("{}:7", address::v4(Endpoint::Server));
    let got = start(&lab, Endpoint::Station(0), &["ping", &to, "1000"]).number();
    println!(
        "round trip of an idle path, median: {got:.0} µs, the model's {model:.0}: {:.0} µs more",
        got - model
    );
}

fn opening(stations: usize) {
    let plan = plan(stations, 2, 9);
    let mut all: Vec<u128> = (0..5)
        .map(|_| {
            let began = time::Instant::now();
            let lab = open(&plan);
            let took = began.elapsed().as_millis();
            drop(lab);
            took
        })
        .collect();
    all.sort_unstable();
    println!(
        "opened with {} nodes: {} ms (median of 5, {} to {})",
        stations + 1,
        all[2],
        all[0],
        all[4]
    );
}

/// Runs all cases, or those with the given names.
pub(crate) fn all(names: &[&str]) {
    let works: [(&str, fn()); 9] = [
        ("opening-5", || opening(4)),
        ("opening-31", || opening(30)),
        ("idle", idle),
        ("datagrams-100", || {
            datagrams("datagrams at some 100 Mbit/s", &plan(1, 1, 3), 9_500)
        }),
        ("datagrams-300", || {
            datagrams("datagrams at some 300 Mbit/s", &plan(1, 2, 4), 32_000)
        }),
        ("datagrams-800", || {
            datagrams("datagrams at some 800 Mbit/s", &plan(1, 4, 7), 80_000)
        }),
        ("thirty", || {
            datagrams("30 stations, 230 Mbit/s together", &plan(30, 2, 4), 651)
        }),
        ("radio", fastest),
        ("wire", wire),
    ];
    for (name, work) in works {
        if names.is_empty() || names.contains(&name) {
            work();
        }
    }
}
