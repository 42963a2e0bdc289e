//! Linux.

use super::*;
use crate::control;
use crate::system_call::set_option;
use socket2::{Domain, Protocol, Type};
use std::io::Read as _;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

const REQUEST: u8 = 8;
const REPLY: u8 = 0;
const TIME_EXCEEDED: u8 = 11;
/// Origin of an error: an ICMP message (ip(7)).
const FROM_ICMP: u8 = 2;

#[derive(Debug)]
pub(super) struct Socket(AsyncFd<socket2::Socket>);

impl Socket {
    pub(super) fn new(to: Ipv4Addr, time_to_live: Option<u8>) -> io::Result<Self> {
        let socket = socket2::Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::ICMPV4))?;
        socket.set_nonblocking(true)?;
        // socket2 does not have this option.
        set_option(socket.as_fd(), libc::IPPROTO_IP, libc::IP_RECVERR, 1)?;
        if let Some(hops) = time_to_live {
            socket.set_ttl_v4(hops.into())?;
        }
        socket.connect(&SocketAddr::from((to, 0)).into())?;
        // Answers of routers are in the error queue.
        let interest = Interest::READABLE | Interest::ERROR;
        // SAFETY: a socket2::Socket owns its descriptor, which is open and does not change until the socket is dropped.
        unsafe { AsyncFd::register_with_interest(socket, interest) }
            .map(Self)
            .map_err(io::Error::from)
    }

    fn socket(&self) -> &socket2::Socket {
        self.0.get_ref()
    }

    pub(super) fn bind_to_device(&self, interface: &str) -> io::Result<()> {
        crate::bind_to_device(self.socket(), interface)
    }

    pub(super) fn set_dscp(&self, dscp: u8) -> io::Result<()> {
        crate::set_dscp(self.socket(), dscp)
    }

    pub(super) fn send(&self, sequence: u16, content: &[u8]) -> io::Result<()> {
        let mut message = header(sequence).to_vec();
        message.extend_from_slice(content);
        match self.socket().send(&message) {
            // The kernel reports the error of an earlier request once, and then accepts this one.
            Err(error) if is_of_earlier(&error) => self.socket().send(&message),
            sent => sent,
        }
        .map(drop)
    }

    pub(super) async fn receive(&self) -> io::Result<EchoAnswer> {
        loop {
            let mut ready = self.0.ready(Interest::READABLE | Interest::ERROR).await?;
            match poll(self.socket()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
                answer => return answer,
            }
        }
    }
}

/// Returns true for errors that a router reported about an earlier request.
fn is_of_earlier(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EHOSTUNREACH | libc::ENETUNREACH | libc::ECONNREFUSED | libc::EPROTO)
    )
}

/// The next answer, without waiting.
fn poll(mut socket: &socket2::Socket) -> io::Result<EchoAnswer> {
    let mut bytes = [0; 2_048];
    let length = loop {
        match socket.read(&mut bytes) {
            Ok(length) => break length,
            Err(error) if is_of_earlier(&error) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return error_queue(socket),
            Err(error) => return Err(error),
        }
    };
    Ok(match sequence_of(&bytes[..length], REPLY) {
        Some(sequence) => EchoAnswer::Reply {
            sequence,
            length: length - 8,
        },
        None => EchoAnswer::Other,
    })
}

/// Next message of the error queue.
fn error_queue(socket: &socket2::Socket) -> io::Result<EchoAnswer> {
    let mut bytes = [0_u8; 256];
    let message = control::receive(socket, &mut bytes, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT)?;
    // The content is the request that caused the error, from its ICMP header.
    let sequence = sequence_of(&bytes[..message.length.min(bytes.len())], REQUEST);
    let router = message.control().find_map(|(level, kind, data)| {
        let is_error = (level, kind) == (libc::IPPROTO_IP, libc::IP_RECVERR);
        is_error.then(|| router(data))
    });
    Ok(match sequence.zip(router.flatten()) {
        Some((sequence, router)) => EchoAnswer::TimeExceeded { sequence, router },
        None => EchoAnswer::Other,
    })
}

/// Address of the router that sent a time-exceeded message, from a `struct sock_extended_err` (errno, origin, type, code,
/// 9 other bytes) and the `struct sockaddr_in` of the sender (family, port, address; `SO_EE_OFFENDER`).
fn router(error: &[u8]) -> Option<Ipv4Addr> {
    let (error, offender) = error.split_at_checked(16)?;
    let is_exceeded = error[4..7] == [FROM_ICMP, TIME_EXCEEDED, 0];
    let family = u16::from_ne_bytes(*offender.first_chunk()?);
    let address = offender.get(4..)?.first_chunk::<4>()?;
    (is_exceeded && i32::from(family) == libc::AF_INET).then(|| Ipv4Addr::from(*address))
}
