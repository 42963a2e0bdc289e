//! Linux.

use super::*;
use crate::process::{check, check_size};
use socket2::{Domain, SockAddr, SockAddrStorage, SockRef};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Buffer for control messages, aligned for a header. The destination address needs at most 40 bytes, the DSCP 24.
#[repr(C, align(8))]
struct Control([u8; CONTROL_SIZE]);

/// Size of the buffer in bytes.
const CONTROL_SIZE: usize = 128;

/// Metadata from control messages.
#[derive(Default)]
struct Metadata {
    to: Option<IpAddr>,
    dscp: Option<u8>,
}

pub(super) fn enable_destination_address(socket: BorrowedFd<'_>) -> io::Result<()> {
    match SockRef::from(&socket).domain()? {
        Domain::IPV6 => enable(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
        _ => enable(socket, libc::IPPROTO_IP, libc::IP_PKTINFO),
    }
}

pub(super) fn enable_dscp(socket: BorrowedFd<'_>) -> io::Result<()> {
    if SockRef::from(&socket).domain()? == Domain::IPV6 {
        enable(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS)?;
        // For IPv4 peers of a dual-stack socket. An IPv6-only socket may return an error.
        let _ = enable(socket, libc::IPPROTO_IP, libc::IP_RECVTOS);
        return Ok(());
    }
    enable(socket, libc::IPPROTO_IP, libc::IP_RECVTOS)
}

fn enable(socket: BorrowedFd<'_>, level: libc::c_int, name: libc::c_int) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads one int from `on`.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const on).cast(), length) }).map(drop)
}

pub(super) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    let mut address = SockAddrStorage::zeroed();
    let mut control = Control([0; CONTROL_SIZE]);
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: a msghdr is numbers and pointers; all zero is an empty one.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_name = (&raw mut address).cast();
    message.msg_namelen = address.size_of();
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    // SAFETY: name, buffer and control have the lengths in the message and are valid during the
    // call.
    let length = check_size(unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) })?;
    // SAFETY: the kernel has written an address of that length.
    let from = unsafe { SockAddr::new(address, message.msg_namelen) };
    let from = from.as_socket().ok_or(io::ErrorKind::InvalidData)?;
    let Metadata { to, dscp } = metadata(&message);
    Ok(Received {
        length,
        truncated: message.msg_flags & libc::MSG_TRUNC != 0,
        from,
        to,
        dscp,
    })
}

fn metadata(message: &libc::msghdr) -> Metadata {
    let mut metadata = Metadata::default();
    // SAFETY: the kernel has set the control length to the number of bytes that it wrote to the
    // valid control buffer.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: CMSG_FIRSTHDR and CMSG_NXTHDR return headers that are completely inside the
        // buffer.
        let (level, kind, data) = unsafe { ((*header).cmsg_level, (*header).cmsg_type, libc::CMSG_DATA(header)) };
        match (level, kind) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                // SAFETY: the kernel writes a whole in_pktinfo with this kind.
                let info = unsafe { data.cast::<libc::in_pktinfo>().read_unaligned() };
                metadata.to = Some(IpAddr::from(info.ipi_addr.s_addr.to_ne_bytes()));
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                // SAFETY: the kernel writes a whole in6_pktinfo with this kind.
                let info = unsafe { data.cast::<libc::in6_pktinfo>().read_unaligned() };
                metadata.to = Some(IpAddr::from(info.ipi6_addr.s6_addr));
            }
            (libc::IPPROTO_IP, libc::IP_TOS) => {
                // SAFETY: the kernel writes one byte with this kind (ip_cmsg_recv_tos).
                metadata.dscp = Some(unsafe { data.read() } >> 2);
            }
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                // SAFETY: the kernel writes one int with this kind (ip6_datagram_recv_specific_ctl).
                let class = unsafe { data.cast::<libc::c_int>().read_unaligned() };
                metadata.dscp = u8::try_from(class).ok().map(|class| class >> 2);
            }
            _ => {}
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    metadata
}

pub(super) fn send(socket: BorrowedFd<'_>, bytes: &[u8], to: SocketAddr, from: Option<IpAddr>) -> io::Result<()> {
    let address = SockAddr::from(to);
    let mut control = Control([0; CONTROL_SIZE]);
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: a msghdr is numbers and pointers; all zero is an empty one.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_name = address.as_ptr().cast_mut().cast();
    message.msg_namelen = address.len();
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    match (to, from) {
        (SocketAddr::V4(_), Some(IpAddr::V4(from))) => {
            // SAFETY: an in_pktinfo is plain integers; zero means "unspecified".
            let mut info: libc::in_pktinfo = unsafe { zeroed() };
            info.ipi_spec_dst.s_addr = u32::from_ne_bytes(from.octets());
            put(&mut message, &mut control, libc::IPPROTO_IP, libc::IP_PKTINFO, info);
        }
        (SocketAddr::V6(_), Some(IpAddr::V6(from))) => {
            // SAFETY: as above.
            let mut info: libc::in6_pktinfo = unsafe { zeroed() };
            info.ipi6_addr.s6_addr = from.octets();
            put(&mut message, &mut control, libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info);
        }
        _ => {}
    }
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: name, bytes and control have the lengths in the message and are valid during the call, which only
    // reads them.
    check_size(unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, flags) }).map(drop)
}

/// Stores `info` as the message's only control message.
fn put<T>(message: &mut libc::msghdr, control: &mut Control, level: i32, kind: i32, info: T) {
    let length = size_of::<T>() as libc::c_uint;
    // SAFETY: CMSG_SPACE and CMSG_LEN only compute.
    let (space, whole) = unsafe { (libc::CMSG_SPACE(length) as usize, libc::CMSG_LEN(length) as usize) };
    assert!(space <= control.0.len(), "the larger of the two kinds needs 36 bytes");
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = space as _;
    // SAFETY: the control buffer is aligned for a header and holds header and `info` (asserted above).
    unsafe {
        let header = libc::CMSG_FIRSTHDR(message);
        (*header).cmsg_level = level;
        (*header).cmsg_type = kind;
        (*header).cmsg_len = whole as _;
        libc::CMSG_DATA(header).cast::<T>().write_unaligned(info);
    }
}
