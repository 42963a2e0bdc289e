//! Captures with ECN marks, and destination unreachable messages.

use netburn_lab::address::{ROUTER_V4, ROUTER_V6};
use netburn_lab::fuzz::{datagram, stream};
use netburn_lab::packet::header::LENGTH;
use netburn_lab::packet::{IpPacketInfo, RejectReason, VnetHeader};
use netburn_lab::{CapturedPacket, Switch};
use netburn_medium::packet::Ecn;
use netburn_network::Endpoint::{Server, Station};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::net::IpAddr;

fn plan(queue: &str) -> Plan {
    let text = format!(
        "baseline = \"0s\"\n[ap.a]\nqueue = \"{queue}\"\n[ap.a.radio.5g]\nstandard = \"802.11n\"\n[station.one]\njoins = \"a.5g\"\n\
         standard = \"802.11n\"\nmcs = 0\nstreams = 1\nworkload = \"download\"\n"
    );
    netburn_scenario::Document::from_toml("one.toml", &text)
        .unwrap()
        .resolve()
        .unwrap()
}

/// A receiver counts as many CE marks as the queue set, and its capture contains the packets as they arrived.
#[test]
fn a_capture_shows_the_marks_that_arrive() {
    let mut switch = Switch::new(&plan("fq-codel")).unwrap();
    switch.enable_capture();
    let (mut delivered, mut now) = (0, Instant::ZERO);
    // 24 Mbit/s over a radio of 13.5 Mbit/s, all of it ECT(0).
    for number in 0..4_000 {
        now = Instant::ZERO + Duration::from_micros(500) * number;
        let sequence = number as u32 * 1448;
        switch.handle_frame(now, Server, &stream(Server, Station(0), sequence, 1448, 1448, false));
        switch.handle_timeout(now);
        while let Some(delivery) = switch.poll_delivery() {
            let (header, packet) = VnetHeader::read(delivery.frame).unwrap();
            let packets = match header.gso_size {
                0 => 1,
                size => (packet.len() - usize::from(header.header_length)).div_ceil(usize::from(size)),
            };
            delivered += usize::from(IpPacketInfo::parse(packet).unwrap().ecn == Ecn::Ce) * packets;
        }
    }
    let captured = switch.take_captured();
    let mark = |packet: Vec<u8>| IpPacketInfo::parse(&packet).unwrap().ecn == Ecn::Ce;
    let arrived = captured.iter().filter(|tap| tap.inbound);
    let marked = arrived.filter(|tap| mark(tap.packet())).count();
    let made = switch.network().station_stats(0).down.marked;
    assert!(made > 20, "{made} at {now}");
    // Marked packets that are still in flight have not arrived.
    assert!(marked > 0 && marked as u64 <= made, "{marked} of {made}");
    assert_eq!(marked, delivered);
    // The packets left without marks.
    assert_eq!(
        captured.iter().filter(|tap| !tap.inbound && mark(tap.packet())).count(),
        0
    );
    // The header's checksum is valid with the mark.
    for packet in captured.iter().map(CapturedPacket::packet) {
        assert_eq!(netburn_network::checksum::sum(&packet[..20]), 0xffff);
    }
}

/// Returns a frame of one datagram with another destination.
fn to(destination: IpAddr) -> Vec<u8> {
    match destination {
        IpAddr::V4(address) => {
            let mut frame = datagram(Station(0), Server, 30);
            frame[LENGTH + 16..LENGTH + 20].copy_from_slice(&address.octets());
            frame
        }
        IpAddr::V6(address) => {
            let mut frame = stream(Station(0), Server, 1, 30, 1448, true);
            frame[LENGTH + 24..LENGTH + 40].copy_from_slice(&address.octets());
            frame
        }
    }
}

#[test]
fn packets_to_unknown_addresses_cause_unreachable_messages() {
    // Type and code of RFC 792 and RFC 4443: network, then host.
    for (destination, rejected, said) in [
        ("1.1.1.1", RejectReason::Outside, [3, 0]),
        ("198.18.1.77", RejectReason::UnknownAddress, [3, 1]),
        ("2001:db8::1", RejectReason::Outside, [1, 0]),
        ("fd6e:6574:6275:726e::77", RejectReason::UnknownAddress, [1, 3]),
    ] {
        let mut switch = Switch::new(&plan("fifo")).unwrap();
        switch.enable_capture();
        let destination = destination.parse().unwrap();
        let now = Instant::ZERO;
        switch.handle_timeout(now);
        switch.handle_frame(now, Station(0), &to(destination));
        assert_eq!(switch.counters().rejected[&rejected], 1);
        assert_eq!(switch.poll_delivery(), None);
        // A kernel may ignore the message until the system call that sent the packet has returned.
        let due = now + Duration::from_millis(1);
        assert_eq!(
            (switch.poll_timeout(), switch.next_delivery_bound().unwrap().at),
            (Some(due), due)
        );
        switch.handle_timeout(due);
        let delivery = switch.poll_delivery().unwrap();
        assert_eq!((delivery.at, delivery.to), (due, Station(0)));
        let packet = delivery.frame[LENGTH..].to_vec();
        let info = IpPacketInfo::parse(&packet).unwrap();
        let router = if destination.is_ipv4() {
            IpAddr::from(ROUTER_V4)
        } else {
            IpAddr::from(ROUTER_V6)
        };
        assert_eq!(info.source, router);
        assert_eq!(packet[info.transport..info.transport + 2], said, "{destination}");
        assert_eq!(switch.poll_delivery(), None);
        // It arrives at the sender only.
        let captured = switch.take_captured();
        assert_eq!(
            (captured.len(), captured[0].end, captured[0].inbound),
            (1, Station(0), true)
        );
    }
}

#[test]
fn the_number_of_unreachable_messages_is_limited() {
    let mut switch = Switch::new(&plan("fifo")).unwrap();
    switch.handle_timeout(Instant::ZERO);
    for _ in 0..1_000 {
        switch.handle_frame(Instant::ZERO, Station(0), &to("1.1.1.1".parse().unwrap()));
        switch.handle_frame(Instant::ZERO, Station(0), &to("224.0.0.251".parse().unwrap()));
    }
    switch.handle_timeout(Instant::ZERO + Duration::from_millis(1));
    let mut told = 0;
    while switch.poll_delivery().is_some() {
        told += 1;
    }
    assert_eq!(told, 64);
    let rejected = &switch.counters().rejected;
    assert_eq!(
        (rejected[&RejectReason::Outside], rejected[&RejectReason::Multicast]),
        (1_000, 1_000)
    );
}
