//! Answers of the hosts between station and server to ICMP echo requests (RFC 792): of the access point, and of the first
//! hop beyond the router.
//!
//! The modelled network returns the request. Its content becomes the answer when it is delivered, so that the answer has
//! passed all queues with the length of the request.

use super::burst::{Burst, Segment};
use super::header::VnetHeader;
use super::icmp::{message_v4, reflector};
use super::ip::IpPacketInfo;
use crate::address;
use netburn_network::{Reflector, checksum};
use std::net::IpAddr;
use std::sync::Arc;

const ECHO_REPLY: u8 = 0;
const TIME_EXCEEDED: u8 = 11;
/// Time to live of answers, as the kernel's default.
const TIME_TO_LIVE: u8 = 64;

/// Returns the answer to a request that has a [`reflector`].
#[must_use]
pub fn answer(request: &Segment) -> Option<Segment> {
    let (packet, info) = (request.packet(), request.info());
    let own = match reflector(&packet, info)? {
        Reflector::AccessPoint => address::ROUTER_V4,
        Reflector::LineEnd => address::LINE_END_V4,
    };
    let frame = if info.destination == IpAddr::V4(own) {
        reply(packet, info)
    } else {
        time_exceeded(&packet, info, own)?
    };
    Arc::new(Burst::read(&frame).ok()?).segments().next()
}

/// Echo reply with the content of the request.
fn reply(mut packet: Vec<u8>, info: &IpPacketInfo) -> Vec<u8> {
    let (source, destination) = packet.split_at_mut(16);
    source[12..16].swap_with_slice(&mut destination[..4]);
    packet[8] = TIME_TO_LIVE;
    packet[10..12].fill(0);
    let sum = !checksum::sum(&packet[..info.transport]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet[info.transport] = ECHO_REPLY;
    let message = &mut packet[info.transport..];
    message[2..4].fill(0);
    let sum = !checksum::sum(message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut frame = VnetHeader::default().bytes().to_vec();
    frame.extend(packet);
    frame
}

fn time_exceeded(packet: &[u8], info: &IpPacketInfo, router: std::net::Ipv4Addr) -> Option<Vec<u8>> {
    let IpAddr::V4(to) = info.source else { return None };
    Some(message_v4((TIME_EXCEEDED, 0), router, to, packet))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::header::LENGTH;
    use netburn_network::Endpoint;

    fn request(to: std::net::Ipv4Addr, time_to_live: u8) -> Segment {
        let frame = crate::fuzz::echo_request(Endpoint::Station(0), to, time_to_live, 9);
        Arc::new(Burst::read(&frame).unwrap()).segments().next().unwrap()
    }

    fn answered(to: std::net::Ipv4Addr, time_to_live: u8) -> (IpPacketInfo, Vec<u8>) {
        let answer = answer(&request(to, time_to_live)).unwrap();
        let packet = answer.packet();
        assert_eq!(checksum::sum(&packet[..20]), 0xffff, "the checksum of IP");
        assert_eq!(checksum::sum(&packet[20..]), 0xffff, "the checksum of ICMP");
        (*answer.info(), packet)
    }

    #[test]
    fn the_router_replies_to_requests() {
        let station = address::v4(Endpoint::Station(0));
        let (info, _) = answered(address::LINE_END_V4, 64);
        assert_eq!(info.source, IpAddr::V4(address::LINE_END_V4));
        let (info, packet) = answered(address::ROUTER_V4, 64);
        assert_eq!(
            (info.source, info.destination),
            (address::ROUTER_V4.into(), station.into())
        );
        // Echo reply with the same identifier, sequence number and content.
        assert_eq!((packet[20], &packet[24..28]), (0, &[0, 7, 0, 9][..]));
        assert_eq!(packet[28..], [0x5a; 64]);
        assert_eq!(packet[8], 64);
    }

    #[test]
    fn the_time_to_live_ends_at_the_first_and_the_second_hop() {
        let server = address::v4(Endpoint::Server);
        for (hops, router) in [(1, address::ROUTER_V4), (2, address::LINE_END_V4)] {
            let (info, packet) = answered(server, hops);
            assert_eq!(info.source, IpAddr::V4(router));
            // Time exceeded in transit, with the request from its IP header.
            assert_eq!(packet[20..22], [11, 0]);
            assert_eq!(packet[28..], request(server, hops).packet());
        }
        assert!(answer(&request(server, 3)).is_none());
        assert_eq!(Endpoint::Server, address::owner(server.into(), 1).unwrap());
    }

    #[test]
    fn other_packets_have_no_reflector() {
        let frame = crate::fuzz::datagram(Endpoint::Station(0), Endpoint::Server, 100);
        let mut packet = frame[LENGTH..].to_vec();
        packet[8] = 1;
        let info = IpPacketInfo::parse(&packet).unwrap();
        assert_eq!(reflector(&packet, &info), None);
    }
}
