//! Answers of the access point and of the first hop beyond the router.

use netburn_lab::Switch;
use netburn_lab::address::{LINE_END_V4, ROUTER_V4, v4};
use netburn_lab::fuzz::echo_request;
use netburn_lab::packet::{IpPacketInfo, RejectReason, VnetHeader};
use netburn_network::Endpoint::{Server, Station};
use netburn_units::Instant;
use std::net::{IpAddr, Ipv4Addr};

fn switch() -> Switch {
    let text = "baseline = \"0s\"\n[ap.a]\nwan = { down = \"10 Mbit/s\", up = \"1 Mbit/s\", delay = \"5 ms\" }\n\
                [ap.a.radio.5g]\nstandard = \"802.11a\"\n[station.one]\njoins = \"a.5g\"\nmcs = 7\n\
                [station.wired]\nlink = { rate = \"1 Gbit/s\" }\n";
    let document = netburn_scenario::Document::from_toml("one.toml", text).unwrap();
    Switch::new(&document.resolve().unwrap()).unwrap()
}

/// Arrival time in µs, source, type and code of the answer to a request; `None` if there is none to that station.
fn answer(switch: &mut Switch, to: Ipv4Addr, time_to_live: u8) -> Option<(i64, IpAddr, [u8; 2])> {
    let frame = echo_request(Station(0), to, time_to_live, 1);
    switch.handle_frame(Instant::ZERO, Station(0), &frame);
    let mut found = None;
    while let Some(at) = switch.poll_timeout().filter(|at| *at < Instant::from_secs(1)) {
        switch.handle_timeout(at);
        while let Some(delivery) = switch.poll_delivery() {
            if delivery.to == Station(0) {
                let (_, packet) = VnetHeader::read(delivery.frame).unwrap();
                let info = IpPacketInfo::parse(packet).unwrap();
                assert_eq!(info.destination, IpAddr::V4(v4(Station(0))));
                let at = delivery.at.as_nanos() / 1_000;
                found = Some((at, info.source, [packet[20], packet[21]]));
            }
        }
    }
    found
}

/// The times are derived in `network/tests/reflect.rs`.
#[test]
fn the_hosts_on_the_way_answer() {
    let (at, from, kind) = answer(&mut switch(), ROUTER_V4, 64).unwrap();
    assert_eq!((from, kind), (IpAddr::V4(ROUTER_V4), [0, 0]), "echo reply");
    assert!((175..=310).contains(&at), "{at}");
    let (at, from, kind) = answer(&mut switch(), v4(Server), 1).unwrap();
    assert_eq!((from, kind), (IpAddr::V4(ROUTER_V4), [11, 0]), "time exceeded");
    assert!((175..=310).contains(&at), "{at}");
    let (at, from, kind) = answer(&mut switch(), v4(Server), 2).unwrap();
    assert_eq!((from, kind), (IpAddr::V4(LINE_END_V4), [11, 0]), "time exceeded");
    assert_eq!(at, 44 + 1_040 + 5_000 + 104 + 5_000 + 44);
    // The server's kernel answers the others.
    assert_eq!(answer(&mut switch(), v4(Server), 3), None);
}

/// A wired station has no access point: the router's address has no host for it.
#[test]
fn a_wired_station_has_no_access_point() {
    let mut switch = switch();
    switch.handle_frame(Instant::ZERO, Station(1), &echo_request(Station(1), ROUTER_V4, 64, 1));
    assert_eq!(switch.counters().rejected[&RejectReason::UnknownAddress], 1);
}

#[test]
fn the_source_must_be_the_sender() {
    let mut switch = switch();
    switch.handle_frame(Instant::ZERO, Station(0), &echo_request(Station(1), ROUTER_V4, 64, 1));
    assert_eq!(switch.counters().rejected[&RejectReason::Spoofed], 1);
}
