//! Raw sockets below IP (packet(7)), used to restart a stopped qdisc.

use rustix::net::addr::{SocketAddrArg, SocketAddrLen, SocketAddrOpaque};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, OwnedFd};

/// Opens a socket that sends packets through one interface and its qdisc, and receives none.
///
/// # Errors
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied) without CAP_NET_RAW.
pub fn sender(index: u32) -> io::Result<OwnedFd> {
    let socket = open(SocketType::DGRAM, SocketFlags::empty())?;
    bind(&socket, 0, index)?;
    Ok(socket)
}

/// Sends one packet through the interface of `socket`, with EtherType `protocol` (0x0800 is IPv4).
///
/// # Errors
/// The kernel's error.
pub fn send(socket: impl AsFd, index: u32, protocol: u16, packet: &[u8]) -> io::Result<()> {
    let to = LinkAddress { protocol, index };
    rustix::net::sendto(socket, packet, SendFlags::DONTWAIT, &to)?;
    Ok(())
}

/// Opens a packet socket that receives nothing before it is bound.
pub(crate) fn open(kind: SocketType, flags: SocketFlags) -> io::Result<OwnedFd> {
    let (family, flags) = (AddressFamily::PACKET, flags | SocketFlags::CLOEXEC);
    Ok(rustix::net::socket_with(family, kind, flags, None)?)
}

pub(crate) fn bind(socket: &OwnedFd, protocol: u16, index: u32) -> io::Result<()> {
    Ok(rustix::net::bind(socket, &LinkAddress { protocol, index })?)
}

/// An EtherType and an interface: the parts of a `sockaddr_ll` that are used here.
struct LinkAddress {
    protocol: u16,
    index: u32,
}

// SAFETY: the closure gets a whole `sockaddr_ll` that lives during its call, with its length.
unsafe impl SocketAddrArg for LinkAddress {
    unsafe fn with_sockaddr<R>(&self, f: impl FnOnce(*const SocketAddrOpaque, SocketAddrLen) -> R) -> R {
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: self.protocol.to_be(),
            sll_ifindex: self.index as i32,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        f(
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as SocketAddrLen,
        )
    }
}
