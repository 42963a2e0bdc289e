//! Houses with a router: one line for several access points and wired stations, cables between devices, and traffic
//! that stays in the house. Times are computed by hand.

use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{Endpoint, Headers, Network, Output, Reflector};
use netburn_scenario::Document;
use netburn_units::{Duration, Instant};
use proptest::prelude::*;

/// A router with a line of 10/1 Mbit/s, and the server 2 ms away behind 100 Mbit/s. Two access points on different
/// channels with a station each, and two wired stations.
const HOUSE: &str = r#"
[server]
link = { rate = "100 Mbit/s", delay = "2 ms" }
[router]
wan = { down = "10 Mbit/s", up = "1 Mbit/s", delay = "5 ms", queue = "30 kB" }
[ap.one.radio.5g]
channel = 36
[ap.two.radio.5g]
channel = 149
[station.a]
joins = "one.5g"
mcs = 9
[station.b]
joins = "two.5g"
mcs = 9
[station.pc]
wired = true
[station.nas]
wired = "1 Gbit/s"
"#;

const A: Endpoint = Endpoint::Station(0);
const B: Endpoint = Endpoint::Station(1);
const PC: Endpoint = Endpoint::Station(2);
const NAS: Endpoint = Endpoint::Station(3);

/// Times of 1500 bytes and 38 of framing in ns.
const GIGABIT: i64 = 12_304;
const SERVER_LINK: i64 = 123_040 + 2_000_000;
const LINE_DOWN: i64 = 1_230_400 + 5_000_000;
const LINE_UP: i64 = 12_304_000 + 5_000_000;

fn network(text: &str) -> Network<u32> {
    let plan = Document::from_toml("house.toml", text).unwrap().resolve();
    Network::new(&plan.unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

fn packet(number: u32) -> Packet<u32> {
    Packet {
        length: 1_500,
        flow: number,
        tid: 0,
        ecn: Ecn::NotEct,
        payload: number,
    }
}

/// Deliveries (time in ns, receiver, number) and the number of drops, up to `until`.
fn run(network: &mut Network<u32>, until: Instant) -> (Vec<(i64, Endpoint, u32)>, usize) {
    let (mut delivered, mut dropped) = (Vec::new(), 0);
    loop {
        while let Some(output) = network.poll_output() {
            match output {
                Output::Delivered { at, to, packet, .. } => delivered.push((at.as_nanos(), to, packet.payload)),
                Output::Dropped { .. } => dropped += 1,
                Output::Sent { .. } | Output::SentTimesChanged { .. } => {}
            }
        }
        match network.poll_timeout() {
            Some((at, _)) if at <= until => network.handle_timeout(at),
            _ => return (delivered, dropped),
        }
    }
}

/// Time of the delivery of one packet in ns.
fn way(text: &str, from: Endpoint, to: Endpoint) -> i64 {
    let mut network = network(text);
    network.handle_packet(Instant::ZERO, from, to, packet(7));
    let (delivered, dropped) = run(&mut network, Instant::from_secs(5));
    assert_eq!((delivered.len(), dropped), (1, 0), "{from:?} to {to:?}");
    assert_eq!((delivered[0].1, delivered[0].2), (to, 7));
    delivered[0].0
}

#[test]
fn a_wired_station_is_behind_the_line() {
    assert_eq!(way(HOUSE, Endpoint::Server, PC), SERVER_LINK + LINE_DOWN + GIGABIT);
    assert_eq!(way(HOUSE, PC, Endpoint::Server), GIGABIT + LINE_UP + SERVER_LINK);
    // An access point with a line is the router of a cable, also without radios.
    let line = "wan = { down = \"10 Mbit/s\", up = \"1 Mbit/s\", delay = \"5 ms\" }\n";
    for radio in ["", "[ap.home.radio.5g]\n"] {
        let home = format!(
            "[server]\nlink = {{ rate = \"100 Mbit/s\", delay = \"2 ms\" }}\n[ap.home]\n{line}{radio}\
             [station]\nx = {{ link = {{ to = \"home\" }} }}\ny = {{ link = {{}} }}\npc = {{ wired = true }}\n"
        );
        assert_eq!(way(&home, Endpoint::Server, PC), SERVER_LINK + LINE_DOWN + GIGABIT);
        // A `link` without `to` leads to the server's link.
        assert_eq!(way(&home, Endpoint::Server, B), SERVER_LINK + GIGABIT);
    }
}

/// A cable has 12 µs in each direction. The air takes less than 1 ms. The line would take 12 ms.
#[test]
fn traffic_within_the_house_does_not_pass_the_line() {
    assert_eq!(way(HOUSE, NAS, PC), 2 * GIGABIT);
    for (from, to) in [(NAS, A), (NAS, B), (A, PC), (A, B)] {
        assert!(way(HOUSE, from, to) < 2_000_000, "{from:?} to {to:?}");
    }
}

/// From outside, every packet to a station in the house passes the line. From one house to another it passes both.
#[test]
fn traffic_from_outside_passes_the_line() {
    let outside = HOUSE.replace("wired = \"1 Gbit/s\"", "link = {}");
    assert_eq!(way(&outside, NAS, PC), GIGABIT + LINE_DOWN + GIGABIT);
    assert_eq!(way(&outside, PC, NAS), GIGABIT + LINE_UP + GIGABIT);
    let line = "{ down = \"10 Mbit/s\", up = \"1 Mbit/s\", delay = \"5 ms\" }";
    let two = format!(
        "[ap.x]\nwan = {line}\n[ap.y]\nwan = {line}\n[station.x]\nwired = \"x\"\n[station.y]\nwired = {{ to = \"y\" }}\n"
    );
    assert_eq!(way(&two, A, B), GIGABIT + LINE_UP + LINE_DOWN + GIGABIT);
}

/// A switch does not pass packets between ports to the processor. A packet of 1500 bytes takes 12 ms at 1 Mbit/s.
#[test]
fn forwarding_limits_the_line_and_the_radios_only() {
    let slow = 12_000_000;
    let router = HOUSE.replace("[router]", "[router]\nforwarding = \"1 Mbit/s\"");
    assert_eq!(
        way(&router, Endpoint::Server, PC),
        SERVER_LINK + LINE_DOWN + slow + GIGABIT
    );
    assert_eq!(way(&router, NAS, PC), 2 * GIGABIT);
    assert!(way(&router, NAS, A) < 2_000_000);
    let one = HOUSE.replace(
        "[ap.one.radio.5g]",
        "[ap.one]\nforwarding = \"1 Mbit/s\"\n[ap.one.radio.5g]",
    );
    assert!((slow..slow + 2_000_000).contains(&way(&one, NAS, A)));
    assert!(way(&one, NAS, B) < 2_000_000);
}

/// The router answers probes of its wired stations: a cable up, and a cable down. The other end of the line adds the
/// line in both directions.
#[test]
fn hosts_on_the_way_answer_wired_stations() {
    for (reflector, expected) in [
        (Reflector::AccessPoint, 2 * GIGABIT),
        (Reflector::LineEnd, 2 * GIGABIT + LINE_UP + LINE_DOWN),
    ] {
        let mut network = network(HOUSE);
        let headers = Headers::new(0).returned_by(reflector);
        network.handle_packet_with(Instant::ZERO, PC, Endpoint::Server, headers, packet(7));
        let (delivered, _) = run(&mut network, Instant::from_secs(1));
        assert_eq!(delivered, [(expected, PC, 7)], "{reflector:?}");
    }
}

/// A station at a port of a unit with a wireless backhaul reaches the server over the air of the unit.
#[test]
fn a_unit_has_ports() {
    let kit = r#"
[kit.home]
units = { main = "0 m, 0 m", study = "8 m, 0 m" }
wan = { down = "10 Mbit/s", up = "1 Mbit/s", delay = "5 ms" }
[kit.home.ap.radio.5g]
[station.x]
joins = "study.5g"
position = "8 m, 1 m"
[station.console]
wired = "study"
[station.pc]
wired = true
"#;
    let server = 12_304;
    let base = server + LINE_DOWN + GIGABIT;
    let time = way(kit, Endpoint::Server, B);
    assert!((base + 100_000..base + 2_000_000).contains(&time), "{time}");
    assert_eq!(way(kit, Endpoint::Server, PC), base);
    let inside = way(kit, PC, B);
    assert!((2 * GIGABIT + 100_000..2_000_000).contains(&inside), "{inside}");
    assert!(way(kit, B, Endpoint::Server) > LINE_UP);
    // By cables, the units share the line too.
    let wired = kit.replace("[kit.home]", "[kit.home]\nbackhaul = \"wired\"");
    assert_eq!(way(&wired, Endpoint::Server, B), base);
}

/// Three stations, each with 10 Mbit/s, behind one line of 10 Mbit/s: they get 10 × 1500/1538 Mbit/s together. The line
/// is the only place that drops.
#[test]
fn stations_share_the_line() {
    let mut network = network(HOUSE);
    let mut now = Instant::ZERO;
    for number in 0..2_500 {
        for to in [A, B, PC] {
            network.handle_packet(now, Endpoint::Server, to, packet(number));
        }
        now += Duration::from_micros(1_200);
    }
    let (delivered, _) = run(&mut network, now);
    let late: Vec<i64> = delivered
        .iter()
        .map(|(at, ..)| *at)
        .filter(|at| *at > 500_000_000)
        .collect();
    let span = (late[late.len() - 1] - late[0]) as f64 / 1e9;
    let rate = (late.len() - 1) as f64 * 12_000.0 / span;
    let expected = 10e6 * 1_500.0 / 1_538.0;
    assert!((rate / expected - 1.0).abs() < 0.005, "{rate}");
    for station in [0, 1, 2] {
        assert!(network.station_stats(station).down.delivered > 100, "{station}");
    }
}

const ENDS: [Endpoint; 5] = [Endpoint::Server, A, B, PC, NAS];

proptest! {
    /// Each packet is delivered once or dropped once, from any endpoint to any other, in houses with one line, with two,
    /// and behind access points.
    #[test]
    fn no_packet_is_lost_or_doubled(
        flows in prop::collection::vec((0..5_usize, 1..5_usize, 1..60_u32, 0..20_000_u64), 1..12),
        house in 0..3_usize,
    ) {
        let text = match house {
            0 => HOUSE.to_owned(),
            1 => HOUSE
                .replace("[router]\n", "[ap.one]\n")
                .replace("[ap.two.radio.5g]", "[ap.two]\nbackhaul = \"one\"\n[ap.two.radio.5g]"),
            _ => HOUSE
                .replace("[router]\n", "[ap.one]\n")
                .replace("wired = true", "wired = \"one\"")
                .replace("wired = \"1 Gbit/s\"", "wired = \"two\"")
                .replace("[ap.two.radio.5g]", "[ap.two]\nwan = { up = \"2 Mbit/s\" }\n[ap.two.radio.5g]"),
        };
        let mut network = network(&text);
        let mut sent = Vec::new();
        let mut bursts: Vec<_> = flows.clone();
        bursts.sort_by_key(|(.., at)| *at);
        for (from, step, count, at) in bursts {
            let (from, to) = (ENDS[from], ENDS[(from + step) % 5]);
            for _ in 0..count {
                let number = sent.len() as u32;
                sent.push((to, number));
                network.handle_packet(Instant::ZERO + Duration::from_micros(at), from, to, packet(number));
            }
        }
        let mut ended = Vec::new();
        loop {
            while let Some(output) = network.poll_output() {
                match output {
                    Output::Delivered { to, packet, .. } | Output::Dropped { to, packet, .. } => ended.push((to, packet.payload)),
                    Output::Sent { .. } | Output::SentTimesChanged { .. } => {}
                }
            }
            match network.poll_timeout() {
                Some((at, _)) if at <= Instant::from_secs(60) => network.handle_timeout(at),
                _ => break,
            }
        }
        ended.sort_by_key(|(_, number)| *number);
        prop_assert_eq!(ended, sent);
    }
}
