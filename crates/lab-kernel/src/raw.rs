//! Raw sockets below IP (packet(7)), used to restart a stopped qdisc.

use crate::result::{check, check_size};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// Opens a socket that sends packets through one interface and its qdisc, and receives none.
///
/// # Errors
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied) without CAP_NET_RAW.
pub fn sender(index: u32) -> io::Result<OwnedFd> {
    let socket = open(libc::SOCK_DGRAM, 0)?;
    bind(&socket, 0, index)?;
    Ok(socket)
}

/// Sends one packet through the interface of `socket`, with EtherType `protocol` (0x0800 is IPv4).
///
/// # Errors
/// The kernel's error.
pub fn send(socket: impl AsFd, index: u32, protocol: u16, packet: &[u8]) -> io::Result<()> {
    let address = address(protocol, index);
    let (socket, length) = (socket.as_fd().as_raw_fd(), size_of::<libc::sockaddr_ll>());
    let (data, flags) = (packet.as_ptr().cast(), libc::MSG_DONTWAIT);
    let to = (&raw const address).cast();
    // SAFETY: packet and address are valid during the call and have the given lengths.
    check_size(unsafe { libc::sendto(socket, data, packet.len(), flags, to, length as u32) }).map(drop)
}

pub(crate) fn open(kind: libc::c_int, protocol: u16) -> io::Result<OwnedFd> {
    let kind = kind | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers are passed.
    let socket = check(unsafe { libc::socket(libc::AF_PACKET, kind, libc::c_int::from(protocol.to_be())) })?;
    // SAFETY: the kernel has just given us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

pub(crate) fn bind(socket: &OwnedFd, protocol: u16, index: u32) -> io::Result<()> {
    let address = address(protocol, index);
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel reads one address.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) }).map(drop)
}

fn address(protocol: u16, index: u32) -> libc::sockaddr_ll {
    // SAFETY: a sockaddr_ll is numbers; all zero is an empty one.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = index as i32;
    address
}

pub(crate) fn set(socket: &OwnedFd, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let value = &raw const value;
    // SAFETY: the kernel reads one int.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value.cast(), length) }).map(drop)
}
