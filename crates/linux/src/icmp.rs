//! ICMP echo requests without privileges (RFC 792; icmp(7), "ping sockets").
//!
//! The kernel permits these sockets for the groups in `net.ipv4.ping_group_range`. It sets identifier and checksum, and
//! passes on only the answers to the socket's own requests. Errors of routers, as "time exceeded", are read
//! from the socket's error queue (IP_RECVERR; ip(7)).

use std::io;
use std::net::Ipv4Addr;

/// Name of the kernel's setting that lists the permitted groups.
pub const SETTING: &str = "net.ipv4.ping_group_range";

/// A socket for ICMP echo requests over IPv4. Sending never blocks.
#[derive(Debug)]
pub struct EchoSocket {
    #[cfg(target_os = "linux")]
    watched: tokio::io::unix::AsyncFd<socket2::Socket>,
}

/// Answer to an echo request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EchoAnswer {
    /// Echo reply.
    Reply {
        /// Sequence number of the request.
        sequence: u16,
        /// Length of the content in bytes.
        length: usize,
    },
    /// A router discarded the request because its TTL was 0 (time exceeded in transit, RFC 792).
    TimeExceeded {
        /// Sequence number of the request.
        sequence: u16,
        /// Address of the router.
        router: Ipv4Addr,
    },
    /// Another message, such as destination unreachable.
    Other,
}

impl EchoSocket {
    /// Opens a socket whose requests go to `to`, in a tokio runtime with I/O. `time_to_live`: number of hops, 1 to 255; `None`: the system's default.
    ///
    /// # Errors
    /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) when the group of this process is not in [`SETTING`];
    /// [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux; the kernel's error.
    pub fn new(to: Ipv4Addr, time_to_live: Option<u8>) -> io::Result<Self> {
        imp::new(to, time_to_live)
    }

    /// Sends an echo request with `content`.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) when the socket's buffer is full; the kernel's error.
    pub fn send(&self, sequence: u16, content: &[u8]) -> io::Result<()> {
        imp::send(self, sequence, content)
    }

    /// Waits for the next answer. Dropping the future loses no answer.
    ///
    /// # Errors
    /// The kernel's error, after which the socket can still be used.
    pub async fn receive(&self) -> io::Result<EchoAnswer> {
        imp::receive(self).await
    }
}

#[cfg(target_os = "linux")]
impl std::os::fd::AsFd for EchoSocket {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.watched.get_ref().as_fd()
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
impl std::os::fd::AsFd for EchoSocket {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        unreachable!("there is no such socket on this system")
    }
}

/// Header of an echo request, with a checksum and an identifier that the kernel sets.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "used on Linux"))]
const fn header(sequence: u16) -> [u8; 8] {
    let [high, low] = sequence.to_be_bytes();
    [8, 0, 0, 0, 0, 0, high, low]
}

/// Sequence number of an echo message of this type.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "used on Linux"))]
fn sequence_of(message: &[u8], kind: u8) -> Option<u16> {
    match message {
        [found, _, _, _, _, _, high, low, ..] if *found == kind => Some(u16::from_be_bytes([*high, *low])),
        _ => None,
    }
}

#[cfg(target_os = "linux")]
mod imp {
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
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::*;

    pub(super) fn new(_: Ipv4Addr, _: Option<u8>) -> io::Result<EchoSocket> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn send(_: &EchoSocket, _: u16, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) async fn receive(_: &EchoSocket) -> io::Result<EchoAnswer> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 792: type 8, code 0, checksum, identifier, sequence number 0x0102.
    #[test]
    fn a_request_has_the_header_of_the_rfc() {
        assert_eq!(header(0x0102), [8, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(sequence_of(&[0, 0, 9, 9, 7, 7, 1, 2, 5], 0), Some(0x0102));
        assert_eq!(sequence_of(&[8, 0, 9, 9, 7, 7, 1, 2], 0), None);
        assert_eq!(sequence_of(&[0, 0, 9, 9, 7, 7, 1], 0), None);
    }

    /// The own host answers requests to the loopback address. Systems that do not permit the socket return the error that
    /// callers report.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_own_host_answers() {
        let socket = match EchoSocket::new(Ipv4Addr::LOCALHOST, None) {
            Ok(socket) => socket,
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
                return;
            }
        };
        socket.send(513, b"content").unwrap();
        let reply = EchoAnswer::Reply {
            sequence: 513,
            length: 7,
        };
        assert_eq!(socket.receive().await.unwrap(), reply);
    }
}
