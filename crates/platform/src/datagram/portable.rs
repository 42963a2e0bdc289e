//! Systems other than Linux.

use super::*;
use socket2::SockAddr;
use std::mem::MaybeUninit;

pub(super) fn enable_destination_address(_socket: &SockRef<'_>) -> io::Result<()> {
    Ok(())
}

pub(super) fn enable_dscp(_socket: &SockRef<'_>) -> io::Result<()> {
    Ok(())
}

pub(super) fn receive(socket: &SockRef<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    // SAFETY: `recv_from` only writes initialised bytes.
    let raw = unsafe { &mut *(std::ptr::from_mut(buffer) as *mut [MaybeUninit<u8>]) };
    let (length, from) = socket.recv_from(raw)?;
    Ok(Received {
        length,
        truncated: false,
        from: from.as_socket().ok_or(io::ErrorKind::InvalidData)?,
        to: None,
        dscp: None,
    })
}

pub(super) fn send(socket: &SockRef<'_>, bytes: &[u8], to: SocketAddr, _from: Option<IpAddr>) -> io::Result<()> {
    socket.send_to(bytes, &SockAddr::from(to)).map(drop)
}
