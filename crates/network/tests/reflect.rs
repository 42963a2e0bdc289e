//! Packets that the access point, or the provider end of its WAN link, returns to the station.

use house::{HOUSE, packet, plan};
use netburn_network::{Endpoint, Headers, Network, Output, Reflector, Traffic};
use netburn_units::Instant;

mod house;

/// A probe of 64 bytes with its IP and UDP headers.
const PROBE: u32 = 92;

/// Airtime of it: an MPDU of 26 + 16 + 8 + 92 + 4 = 146 bytes, 20 + 4 × ⌈(22 + 1168) ÷ 216⌉ = 44 µs.
const AIR: i64 = 44_000;

fn send(network: &mut Network<u32>, at: Instant, host: Reflector, payload: u32) {
    let headers = Headers::of_tid(0).returned_by(host);
    network.handle_packet_with(
        at,
        Endpoint::Station(0),
        Endpoint::Server,
        headers,
        packet(PROBE, payload),
    );
}

/// Payload and time of each delivery, all to the first station and as from the server.
fn deliveries(network: &mut Network<u32>, until: Instant) -> Vec<(u32, i64)> {
    let mut all = Vec::new();
    loop {
        while let Some(output) = network.poll_output() {
            if let Output::Delivered { at, from, to, packet } = output {
                assert_eq!((from, to), (Endpoint::Server, Endpoint::Station(0)));
                all.push((packet.payload, at.as_nanos()));
            }
        }
        match network.poll_timeout() {
            Some((at, _)) if at <= until => network.handle_timeout(at),
            _ => return all,
        }
    }
}

/// The station's frame ends after 44 µs. The acknowledgement follows after SIFS and takes 28 µs. The access point then
/// waits for AIFS (43 µs) and 0 to 15 slots of 9 µs, and sends the answer: 175 µs to 310 µs in all.
#[test]
fn the_access_point_answers() {
    let mut network = Network::new(&plan(HOUSE)).unwrap();
    send(&mut network, Instant::ZERO, Reflector::AccessPoint, 7);
    let [(7, at)] = deliveries(&mut network, Instant::from_secs(1))[..] else {
        panic!("one delivery");
    };
    let earliest = AIR + 16_000 + 28_000 + 43_000 + AIR;
    assert!((earliest..=earliest + 15 * 9_000).contains(&at), "{at}");
    assert_eq!((at - earliest) % 9_000, 0, "whole slots");
    let once = Traffic {
        offered: 1,
        delivered: 1,
        delivered_bytes: u64::from(PROBE),
        ..Traffic::default()
    };
    let stats = network.station_stats(0);
    assert_eq!((stats.up, stats.down), (once, once));
}

/// 92 bytes and 38 of framing take 1040 µs at 1 Mbit/s and 104 µs at 10 Mbit/s; the propagation takes 5 ms each way. When
/// the answer arrives, the air has been idle for longer than AIFS, so that the access point sends immediately.
#[test]
fn the_provider_end_of_the_wan_link_answers() {
    let mut network = Network::new(&plan(HOUSE)).unwrap();
    send(&mut network, Instant::ZERO, Reflector::LineEnd, 7);
    let expected = AIR + 1_040_000 + 5_000_000 + 104_000 + 5_000_000 + AIR;
    assert_eq!(deliveries(&mut network, Instant::from_secs(1)), [(7, expected)]);
    let stats = network.station_stats(0);
    assert_eq!((stats.up.delivered, stats.down.delivered), (1, 1));
}

/// Twenty packets of 1500 bytes in a queue of 1.2304 ms each on the WAN link downlink: the line's answer waits behind
/// them, and that of the access point does not.
#[test]
fn the_answers_of_the_line_wait_in_the_queue_of_the_line() {
    let mut network = Network::new(&plan(HOUSE)).unwrap();
    for payload in 0..20 {
        network.handle_packet(
            Instant::ZERO,
            Endpoint::Server,
            Endpoint::Station(0),
            packet(1_500, payload),
        );
    }
    // The packets are in the queue of the WAN link after 20 × 123.04 µs + 2 ms, and leave it after 27.1 ms. The request
    // for the line takes 44 µs, 1.04 ms and 5 ms to its provider end.
    let at = Instant::from_millis(5);
    send(&mut network, at, Reflector::AccessPoint, 100);
    send(&mut network, at, Reflector::LineEnd, 200);
    let order: Vec<u32> = deliveries(&mut network, Instant::from_secs(1))
        .into_iter()
        .map(|(payload, _)| payload)
        .collect();
    assert_eq!(order[0], 100);
    assert_eq!(order[1..21], (0..20).collect::<Vec<_>>());
    assert_eq!(order[21..], [200]);
}

/// The queue of the access point's radio delays the answers of both.
#[test]
fn answers_wait_in_the_queue_of_the_radio() {
    let text = HOUSE.replace(
        "down = \"10 Mbit/s\", up = \"1 Mbit/s\", delay = \"5 ms\"",
        "delay = \"5 us\"",
    );
    let mut network = Network::new(&plan(&text.replace("delay = \"2 ms\"", "delay = \"2 us\""))).unwrap();
    for payload in 0..40 {
        network.handle_packet(
            Instant::ZERO,
            Endpoint::Server,
            Endpoint::Station(0),
            packet(1_500, payload),
        );
    }
    // After 40 × 123.04 µs all packets are at the access point. Each takes at least 252 µs of airtime.
    send(&mut network, Instant::from_millis(5), Reflector::AccessPoint, 100);
    let order: Vec<u32> = deliveries(&mut network, Instant::from_secs(1))
        .into_iter()
        .map(|(payload, _)| payload)
        .collect();
    assert_eq!(order, (0..40).chain([100]).collect::<Vec<_>>());
}

/// The unit that the station has joined answers: nothing is sent over the backhaul. The root's WAN link is the line.
#[test]
fn a_unit_answers_for_itself_and_the_line_is_that_of_its_root() {
    let text = HOUSE.replace("joins = \"home.5g\"", "joins = \"unit.5g-2\"")
        + "[ap.unit]\nbackhaul = \"home.5g\"\nbackhaul_mcs = 7\n[ap.unit.radio.5g]\nstandard = \"802.11a\"\n\
           [ap.unit.radio.5g-2]\nstandard = \"802.11a\"\nchannel = 149\n";
    let mut network = Network::new(&plan(&text)).unwrap();
    let root = |network: &Network<u32>| {
        let stats = network.radio_stats();
        let root = stats.iter().find(|radio| radio.name == "home.5g").unwrap();
        root.air.transmissions + root.air.received_transmissions
    };
    send(&mut network, Instant::ZERO, Reflector::AccessPoint, 1);
    assert_eq!(deliveries(&mut network, Instant::from_millis(500)).len(), 1);
    assert_eq!(root(&network), 0);
    let sent = Instant::from_millis(500);
    send(&mut network, sent, Reflector::LineEnd, 2);
    let [(2, at)] = deliveries(&mut network, Instant::from_secs(1))[..] else {
        panic!("one delivery");
    };
    assert_eq!(root(&network), 2);
    // Two transmissions each way, and the forwarding delay of the unit.
    let least = 1_040_000 + 5_000_000 + 104_000 + 5_000_000 + 4 * AIR;
    assert!(
        at - sent.as_nanos() > least && at - sent.as_nanos() < least + 2_000_000,
        "{at}"
    );
}
