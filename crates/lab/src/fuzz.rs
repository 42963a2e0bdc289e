//! Fuzz checks of the parsers and of the switch. For any input, parsers terminate without a panic, and segmenting
//! followed by coalescing preserves the stream.

use crate::address;
use crate::packet::header::{Gso, NEEDS_CHECKSUM};
use crate::packet::ip::TCP;
use crate::packet::{Burst, GroCoalescer, IpPacketInfo, VnetHeader};
use crate::refused_connections::RefusalReply;
use crate::send_budget::ConnectionPacing;
use crate::switch::Switch;
use netburn_medium::packet::Ecn;
use netburn_network::Endpoint;
use netburn_network::checksum;
use netburn_scenario::Plan;
use netburn_units::{BitRate, Duration, Instant};
use std::sync::Arc;

/// Checks a frame of any bytes: segmenting and coalescing preserve its packets.
///
/// # Panics
/// When an invariant is violated.
pub fn check_frame(data: &[u8]) {
    let Ok(burst) = Burst::read(data) else { return };
    let protocol = burst.info.protocol;
    let partial = data[0] & NEEDS_CHECKSUM != 0;
    let split = VnetHeader::read(data).is_some_and(|(header, _)| header.gso != Gso::None);
    let segments: Vec<_> = Arc::new(burst).segments().collect();
    let mut stream = Vec::new();
    for segment in &segments {
        let packet = segment.packet();
        assert_eq!(packet.len(), segment.length());
        assert!(packet.len() <= crate::packet::burst::MAX_PACKET);
        let info = IpPacketInfo::parse(&packet).expect("what was split is whole");
        if split && partial && protocol == TCP {
            let body = &packet[info.transport..];
            let pseudo = checksum::pseudo(info.source, info.destination, protocol, body.len() as u32);
            assert_eq!(
                checksum::add(pseudo, checksum::sum(body)),
                0xffff,
                "a checksum is wrong"
            );
        }
        stream.push(packet);
    }
    let mut joiner = GroCoalescer::default();
    let mut again = Vec::new();
    for (segment, index) in segments.into_iter().zip(0..) {
        let ecn = if data.len() % 7 == 3 && index % 5 == 4 {
            Ecn::Ce
        } else {
            Ecn::NotEct
        };
        if !joiner.accepts(&segment, ecn) {
            again.extend(packets_of(joiner.frame().expect("it took one before")));
        }
        joiner.push(segment, ecn);
    }
    again.extend(packets_of(joiner.frame().expect("it took one before")));
    assert_eq!(again.len(), stream.len(), "as many packets go in as come out");
    if data.len() % 7 != 3 {
        assert!(again == stream, "joined and split again they are the same packets");
    }
}

/// Returns the packets of a frame, as the receiving kernel segments it.
fn packets_of(frame: &[u8]) -> Vec<Vec<u8>> {
    let burst = Arc::new(Burst::read(frame).expect("what we make is well formed"));
    burst.segments().map(|segment| segment.packet()).collect()
}

/// Checks a switch with operations decoded from bytes: one byte for the operation, one for its argument.
///
/// # Panics
/// When an invariant is violated.
pub fn check_switch(data: &[u8]) {
    let mut switch = Switch::new(&plan()).expect("the plan is good");
    if data.len() % 2 == 1 {
        switch.intercept_refused_connections();
    }
    let mut now = Instant::ZERO;
    for step in data.chunks_exact(2) {
        let (what, much) = (step[0], step[1]);
        let end = match what >> 6 {
            0 => Endpoint::Server,
            1 => Endpoint::Station(0),
            _ => Endpoint::Station(1),
        };
        match what & 7 {
            0..=2 => now += Duration::from_micros(u64::from(much) * 20),
            3 => now = switch.poll_timeout().map_or(now, |at| at.max(now)),
            4 => switch.handle_wakeup_packet(end),
            6 => {
                switch.take_senders(0);
                let pace = ConnectionPacing {
                    rate: BitRate::from_bps(u64::MAX >> (much & 63)),
                    mss: u32::from(what >> 3) * 2_000 + 1,
                    min_rtt: (much > 127).then_some(Duration::from_micros(u64::from(much))),
                };
                switch.update_send_budget(now, 0, &vec![pace; usize::from(what >> 6)]);
            }
            5 => switch.handle_frame(now, end, &data[..usize::from(much).min(data.len())]),
            _ => {
                let to = if end == Endpoint::Server {
                    Endpoint::Station(u16::from(much & 1))
                } else {
                    Endpoint::Server
                };
                switch.handle_frame(now, end, &datagram(end, to, usize::from(much) * 5));
            }
        }
        switch.handle_timeout(now);
        while let Some(connection) = switch.poll_refused_connection() {
            let reply = match much % 3 {
                0 => RefusalReply::Reject,
                1 => RefusalReply::Retry,
                _ => RefusalReply::Redirect(20_000 + u16::from(much)),
            };
            switch.handle_reply(now, connection, reply);
        }
        while let Some(delivery) = switch.poll_delivery() {
            assert!(delivery.at <= now, "nothing arrives before its time");
            let (_, packet) = VnetHeader::read(delivery.frame).expect("a header");
            let info = IpPacketInfo::parse(packet).expect("what was carried is whole");
            assert_eq!(address::owner(info.destination, 2), Some(delivery.to));
        }
        while switch.poll_grant().is_some() {}
        assert!(switch.poll_timeout().is_none_or(|at| at > now), "what was due is done");
    }
    // Without further input, all accepted packets leave.
    for _ in 0..200_000 {
        let Some(at) = switch.poll_timeout() else { break };
        if at > now + Duration::from_secs(20) {
            break;
        }
        switch.handle_timeout(at);
        while switch.poll_delivery().is_some() {}
        while switch.poll_grant().is_some() {}
        if (0..2).all(|station| switch.outstanding(station) == 0) {
            break;
        }
    }
    assert!(
        (0..2).all(|station| switch.outstanding(station) == 0),
        "credits are lost"
    );
}

fn plan() -> Plan {
    let text = "baseline = \"0s\"\n[ap.a.radio.5g]\nstandard = \"802.11n\"\n\
                [station.one]\njoins = \"a.5g\"\nsignal = \"-60 dBm\"\nworkload = \"probe\"\n\
                [station.two]\njoins = \"a.5g\"\nsignal = \"-75 dBm\"\nworkload = \"probe\"\n";
    let document = netburn_scenario::Document::from_toml("two.toml", text).expect("it parses");
    document.resolve().expect("it resolves")
}

/// Returns a frame with a UDP datagram over IPv4.
#[must_use]
pub fn datagram(from: Endpoint, to: Endpoint, payload: usize) -> Vec<u8> {
    let total = 28 + payload;
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0];
    packet[2..4].copy_from_slice(&(total as u16).to_be_bytes());
    packet.extend(address::v4(from).octets());
    packet.extend(address::v4(to).octets());
    let sum = !checksum::sum(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend([0, 7, 0, 7]);
    packet.extend(((8 + payload) as u16).to_be_bytes());
    packet.extend([0, 0]);
    packet.resize(total, 0x5a);
    let mut frame = VnetHeader::default().bytes().to_vec();
    frame.extend(packet);
    frame
}

/// Returns a frame with an ICMP echo request (RFC 792) with identifier 7, this sequence number and 64 bytes of content.
#[must_use]
pub fn echo_request(from: Endpoint, to: std::net::Ipv4Addr, time_to_live: u8, sequence: u16) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 92, 0, 0, 0x40, 0, time_to_live, 1, 0, 0];
    packet.extend(address::v4(from).octets());
    packet.extend(to.octets());
    let sum = !checksum::sum(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut message = vec![8, 0, 0, 0, 0, 7];
    message.extend(sequence.to_be_bytes());
    message.resize(72, 0x5a);
    let sum = !checksum::sum(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    packet.extend(message);
    let mut frame = VnetHeader::default().bytes().to_vec();
    frame.extend(packet);
    frame
}

/// Returns a frame with a TCP segment over IPv4 without payload, with these ports and flags.
#[must_use]
pub fn segment(from: Endpoint, to: Endpoint, ports: (u16, u16), flags: u8) -> Vec<u8> {
    let mut frame = stream(from, to, 1, 0, 1448, false);
    let packet = &mut frame[crate::packet::header::LENGTH..];
    packet[20..22].copy_from_slice(&ports.0.to_be_bytes());
    packet[22..24].copy_from_slice(&ports.1.to_be_bytes());
    packet[33] = flags;
    frame
}

/// Returns a frame with TCP data that has not been segmented yet.
#[must_use]
pub fn stream(from: Endpoint, to: Endpoint, sequence: u32, payload: usize, size: u16, v6: bool) -> Vec<u8> {
    let (transport, gso) = if v6 { (40, Gso::Tcp6) } else { (20, Gso::Tcp4) };
    let length = transport + 20 + payload;
    let mut packet = if v6 {
        let mut packet = vec![0x60, 0, 0, 0, 0, 0, 6, 64];
        packet[4..6].copy_from_slice(&((20 + payload) as u16).to_be_bytes());
        packet.extend(address::v6(from).octets());
        packet.extend(address::v6(to).octets());
        packet
    } else {
        let mut packet = vec![0x45, 2, 0, 0, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0];
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet.extend(address::v4(from).octets());
        packet.extend(address::v4(to).octets());
        let sum = !checksum::sum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    };
    packet.extend([0x9c, 0x40, 0, 80]);
    packet.extend(sequence.to_be_bytes());
    // Acknowledgement number 1, data offset 5, flags PSH and ACK.
    packet.extend([0, 0, 0, 1, 0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0]);
    let info = IpPacketInfo::parse(&{
        let mut whole = packet.clone();
        whole.resize(length, 0);
        whole
    })
    .expect("it is well formed");
    let pseudo = checksum::pseudo(info.source, info.destination, TCP, (20 + payload) as u32);
    packet[transport + 16..transport + 18].copy_from_slice(&pseudo.to_be_bytes());
    packet.extend((0..payload).map(|byte| (byte * 7 % 251) as u8));
    let header = VnetHeader {
        flags: NEEDS_CHECKSUM,
        gso: if payload > usize::from(size) { gso } else { Gso::None },
        ecn: false,
        header_length: (transport + 20) as u16,
        gso_size: if payload > usize::from(size) { size } else { 0 },
        checksum_start: transport as u16,
        checksum_offset: 16,
    };
    let mut frame = header.bytes().to_vec();
    frame.extend(packet);
    frame
}
