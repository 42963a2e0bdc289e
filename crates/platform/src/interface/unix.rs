//! Unix.

use super::*;
use std::net::{SocketAddr, UdpSocket};

pub(super) fn number(name: &str) -> io::Result<u32> {
    let name = std::ffi::CString::new(name).map_err(|_| io::ErrorKind::NotFound)?;
    // SAFETY: the name ends with a zero.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::ErrorKind::NotFound.into()),
        number => Ok(number),
    }
}

pub(super) fn towards(peer: IpAddr) -> io::Result<String> {
    let any: SocketAddr = match peer {
        IpAddr::V4(_) => ([0; 4], 0).into(),
        IpAddr::V6(_) => ([0_u16; 8], 0).into(),
    };
    let socket = UdpSocket::bind(any)?;
    socket.connect((peer, 9))?;
    holding(socket.local_addr()?.ip())
}

/// Returns the interface that has an address.
fn holding(address: IpAddr) -> io::Result<String> {
    let mut interfaces = if_addrs::get_if_addrs()?.into_iter();
    let found = interfaces.find(|interface| interface.ip() == address);
    found
        .map(|interface| interface.name)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

pub(super) fn received(name: &str) -> io::Result<u64> {
    let text = std::fs::read_to_string(format!("/sys/class/net/{name}/statistics/rx_bytes"))?;
    text.trim().parse().map_err(|_| io::ErrorKind::InvalidData.into())
}
