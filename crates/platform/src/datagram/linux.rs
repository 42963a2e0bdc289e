//! Linux.

use super::*;
use crate::control::{self, ReceivedMessage};
use crate::system_call::set_option;
use socket2::{Domain, MsgHdr, SockAddr};
use std::io::IoSlice;
use std::os::fd::AsFd;

/// Metadata from control messages.
#[derive(Default)]
struct Metadata {
    to: Option<IpAddr>,
    dscp: Option<u8>,
}

pub(super) fn enable_destination_address(socket: &SockRef<'_>) -> io::Result<()> {
    match socket.domain()? {
        Domain::IPV6 => set_option(socket.as_fd(), libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, 1),
        _ => set_option(socket.as_fd(), libc::IPPROTO_IP, libc::IP_PKTINFO, 1),
    }
}

pub(super) fn enable_dscp(socket: &SockRef<'_>) -> io::Result<()> {
    if socket.domain()? == Domain::IPV6 {
        set_option(socket.as_fd(), libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1)?;
        // For IPv4 peers of a dual-stack socket. An IPv6-only socket may return an error.
        let _ = set_option(socket.as_fd(), libc::IPPROTO_IP, libc::IP_RECVTOS, 1);
        return Ok(());
    }
    set_option(socket.as_fd(), libc::IPPROTO_IP, libc::IP_RECVTOS, 1)
}

pub(super) fn receive(socket: &SockRef<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    let message = control::receive(socket, buffer, libc::MSG_DONTWAIT)?;
    let Metadata { to, dscp } = metadata(&message);
    Ok(Received {
        length: message.length,
        truncated: message.flags & libc::MSG_TRUNC != 0,
        from: message.from.as_socket().ok_or(io::ErrorKind::InvalidData)?,
        to,
        dscp,
    })
}

fn metadata(message: &ReceivedMessage) -> Metadata {
    let mut metadata = Metadata::default();
    for (level, kind, data) in message.control() {
        match (level, kind, data) {
            // struct in_pktinfo: interface, local address, destination address.
            (libc::IPPROTO_IP, libc::IP_PKTINFO, [.., a, b, c, d]) => metadata.to = Some([*a, *b, *c, *d].into()),
            // struct in6_pktinfo: destination address, interface.
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, data) => {
                metadata.to = data.first_chunk::<16>().map(|address| IpAddr::from(*address));
            }
            // One byte (ip_cmsg_recv_tos).
            (libc::IPPROTO_IP, libc::IP_TOS, [tos, ..]) => metadata.dscp = Some(tos >> 2),
            // One int (ip6_datagram_recv_specific_ctl).
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS, data) => {
                let class = data.first_chunk().map(|class| libc::c_int::from_ne_bytes(*class));
                metadata.dscp = class.and_then(|class| u8::try_from(class).ok()).map(|class| class >> 2);
            }
            _ => {}
        }
    }
    metadata
}

pub(super) fn send(socket: &SockRef<'_>, bytes: &[u8], to: SocketAddr, from: Option<IpAddr>) -> io::Result<()> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    let control = match (to, from) {
        (SocketAddr::V4(_), Some(IpAddr::V4(from))) => {
            let information = [[0; 4], from.octets(), [0; 4]].concat();
            control::encode(libc::IPPROTO_IP, libc::IP_PKTINFO, &information)
        }
        (SocketAddr::V6(_), Some(IpAddr::V6(from))) => {
            let information = [&from.octets()[..], &[0; 4]].concat();
            control::encode(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &information)
        }
        _ => Vec::new(),
    };
    let (to, bytes) = (SockAddr::from(to), [IoSlice::new(bytes)]);
    let message = MsgHdr::new().with_addr(&to).with_buffers(&bytes).with_control(&control);
    socket.sendmsg(&message, flags).map(drop)
}
