//! The server's link with emulated TCP Small Queues.

use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{DropSite, Endpoint, Network, Output};
use netburn_scenario::Document;
use netburn_units::Instant;

/// A packet of 1500 bytes on the link, at 100 Mbit/s with 38 bytes of framing, in ns.
const EACH: i64 = 123_040;

const CONNECTION: u32 = 1;
const PROBE: u32 = 2;

fn network(queue: &str) -> Network<u32> {
    let text = format!(
        "[server]\nlink = {{ rate = \"100 Mbit/s\", queue = \"{queue}\" }}\n[ap.home.radio.5g]\n[station.a]\njoins = \"home.5g\"\n\
         signal = \"-50 dBm\"\n"
    );
    Network::new(&Document::from_toml("house.toml", &text).unwrap().resolve().unwrap()).unwrap()
}

fn send(network: &mut Network<u32>, flow: u32) {
    let packet = Packet {
        length: 1_500,
        flow,
        tid: 0,
        ecn: Ecn::NotEct,
        payload: 0,
    };
    network.handle_packet(Instant::ZERO, Endpoint::Server, Endpoint::Station(0), packet);
}

/// The server's kernel passes on an announced burst of packets.
fn burst(network: &mut Network<u32>, flow: u32, packets: u64) {
    network.expect_burst(flow, packets * 1_500);
    for _ in 0..packets {
        send(network, flow);
    }
}

/// Time and flow of each packet sent by the server, and the number of drops.
fn left(network: &mut Network<u32>) -> (Vec<(i64, u32)>, usize) {
    let (mut sent, mut dropped) = (Vec::new(), 0);
    loop {
        while let Some(output) = network.poll_output() {
            match output {
                Output::Sent {
                    at,
                    from: Endpoint::Server,
                    flow,
                    ..
                } => sent.push((at.as_nanos(), flow)),
                Output::Dropped { by: DropSite::Host, .. } => dropped += 1,
                _ => {}
            }
        }
        match network.poll_timeout() {
            Some((at, _)) if at < Instant::from_secs(1) => network.handle_timeout(at),
            _ => return (sent, dropped),
        }
    }
}

/// A connection passes on ten bursts of two packets at once; then a probe follows. Three bursts,
/// six packets, are ahead of it, and not all twenty; the link is never idle.
#[test]
fn other_flows_overtake_all_but_three_bursts() {
    let mut network = network("1 MB");
    for _ in 0..10 {
        burst(&mut network, CONNECTION, 2);
    }
    send(&mut network, PROBE);
    let (sent, dropped) = left(&mut network);
    let expected: Vec<_> = (1..=21)
        .map(|number| (number * EACH, if number == 7 { PROBE } else { CONNECTION }))
        .collect();
    assert_eq!((sent, dropped), (expected, 0));
}

/// Two connections share the link, burst by burst, independent of their order.
#[test]
fn connections_are_served_in_turn() {
    let mut network = network("1 MB");
    for flow in [1, 2] {
        for _ in 0..12 {
            burst(&mut network, flow, 1);
        }
    }
    let flows: Vec<u32> = left(&mut network).0.into_iter().map(|(_, flow)| flow).collect();
    let begin = [1, 1, 1, 2, 2, 2];
    assert_eq!(flows, begin.repeat(4));
}

/// Without an announcement: first come, first served.
#[test]
fn flows_without_announcement_are_not_limited() {
    let mut network = network("1 MB");
    for _ in 0..20 {
        send(&mut network, CONNECTION);
    }
    send(&mut network, PROBE);
    assert_eq!(left(&mut network).0.last(), Some(&(21 * EACH, PROBE)));
}

/// Waiting packets use the room of the link's queue, 15 kB: ten packets, and the one in
/// serialisation.
#[test]
fn there_is_no_more_room_than_the_link_has() {
    let mut network = network("15 kB");
    for _ in 0..40 {
        burst(&mut network, CONNECTION, 1);
    }
    let (sent, dropped) = left(&mut network);
    assert_eq!((sent.len(), dropped), (11, 29));
}

/// Packets of other flows find no room because of the waiting ones, and don't displace them.
#[test]
fn waiting_packets_keep_their_room() {
    let mut network = network("15 kB");
    for _ in 0..9 {
        burst(&mut network, CONNECTION, 1);
    }
    // One is in serialisation, two are on the link's queue, six wait in their socket: there is room
    // for two.
    for _ in 0..20 {
        send(&mut network, PROBE);
    }
    let (sent, dropped) = left(&mut network);
    let of = |flow| sent.iter().filter(|(_, of)| *of == flow).count();
    assert_eq!((of(CONNECTION), of(PROBE), dropped), (9, 2, 18));
}
