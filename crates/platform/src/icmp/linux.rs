//! Linux.

use super::*;
use crate::process::{check, check_size};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::Read as _;
use std::mem::{size_of, zeroed};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

const REQUEST: u8 = 8;
const REPLY: u8 = 0;
const TIME_EXCEEDED: u8 = 11;
/// Origin of an error: an ICMP message (ip(7)).
const FROM_ICMP: u8 = 2;

/// Buffer for control messages, aligned for a header.
#[repr(C, align(8))]
struct Control([u8; 256]);

/// A `sock_extended_err` with the IPv4 address of the host that sent the error (`SO_EE_OFFENDER`).
#[repr(C)]
struct ExtendedError {
    error: libc::sock_extended_err,
    offender: libc::sockaddr_in,
}

pub(super) fn new(to: Ipv4Addr, time_to_live: Option<u8>) -> io::Result<EchoSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::ICMPV4))?;
    socket.set_nonblocking(true)?;
    let on: libc::c_int = 1;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let option = (&raw const on).cast();
    // SAFETY: the kernel reads one int from `on`.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_RECVERR, option, length) })?;
    if let Some(hops) = time_to_live {
        socket.set_ttl_v4(hops.into())?;
    }
    socket.connect(&SocketAddr::from((to, 0)).into())?;
    // Answers of routers are in the error queue.
    let interest = Interest::READABLE | Interest::ERROR;
    // SAFETY: a socket2::Socket owns its descriptor, which is open and does not change until the socket is dropped.
    let watched = unsafe { AsyncFd::register_with_interest(socket, interest)? };
    Ok(EchoSocket { watched })
}

pub(super) fn send(of: &EchoSocket, sequence: u16, content: &[u8]) -> io::Result<()> {
    let mut message = header(sequence).to_vec();
    message.extend_from_slice(content);
    let socket = of.watched.get_ref();
    match socket.send(&message) {
        // The kernel reports the error of an earlier request once, and then accepts this one.
        Err(error) if is_of_earlier(&error) => socket.send(&message),
        sent => sent,
    }
    .map(drop)
}

/// Returns true for errors that a router reported about an earlier request.
fn is_of_earlier(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EHOSTUNREACH | libc::ENETUNREACH | libc::ECONNREFUSED | libc::EPROTO)
    )
}

pub(super) async fn receive(of: &EchoSocket) -> io::Result<EchoAnswer> {
    loop {
        let mut ready = of.watched.ready(Interest::READABLE | Interest::ERROR).await?;
        match poll(of.watched.get_ref()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
            answer => return answer,
        }
    }
}

/// The next answer, without waiting.
fn poll(mut socket: &Socket) -> io::Result<EchoAnswer> {
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
fn error_queue(socket: &Socket) -> io::Result<EchoAnswer> {
    let mut bytes = [0_u8; 256];
    let mut control = Control([0; 256]);
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: a msghdr is numbers and pointers; all zero is an empty one.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: buffer and control have the lengths in the message and are valid during the call.
    let length = check_size(unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) })?;
    // The content is the request that caused the error, from its ICMP header.
    let sequence = sequence_of(&bytes[..length.min(bytes.len())], REQUEST);
    Ok(match sequence.zip(router(&message)) {
        Some((sequence, router)) => EchoAnswer::TimeExceeded { sequence, router },
        None => EchoAnswer::Other,
    })
}

/// Address of the router that sent a time-exceeded message.
fn router(message: &libc::msghdr) -> Option<Ipv4Addr> {
    // SAFETY: the kernel has set the control length to the number of bytes that it wrote to the valid control
    // buffer.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: CMSG_FIRSTHDR and CMSG_NXTHDR return headers that are completely inside the buffer.
        let (level, kind, length, data) = unsafe {
            let header = &*header;
            (
                header.cmsg_level,
                header.cmsg_type,
                header.cmsg_len as usize,
                libc::CMSG_DATA(header),
            )
        };
        // SAFETY: the length of a header, without data.
        let needed = unsafe { libc::CMSG_LEN(size_of::<ExtendedError>() as u32) } as usize;
        if (level, kind) == (libc::IPPROTO_IP, libc::IP_RECVERR) && length >= needed {
            // SAFETY: the kernel wrote at least this many bytes, by the length of the header.
            let found = unsafe { data.cast::<ExtendedError>().read_unaligned() };
            let is_exceeded = (found.error.ee_origin, found.error.ee_type, found.error.ee_code)
                == (FROM_ICMP, TIME_EXCEEDED, 0)
                && i32::from(found.offender.sin_family) == libc::AF_INET;
            return is_exceeded.then(|| Ipv4Addr::from(found.offender.sin_addr.s_addr.to_ne_bytes()));
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    None
}
