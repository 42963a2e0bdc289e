//! Systems other than Linux.

use super::*;
use std::io::Read;

pub(super) fn tcp_info(_socket: &SockRef<'_>) -> io::Result<TcpInfo> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn discard(socket: &SockRef<'_>, limit: usize) -> io::Result<usize> {
    let mut scratch = [0; 16 * 1024];
    let length = limit.min(scratch.len());
    (&**socket).read(&mut scratch[..length])
}

pub(super) fn send_alone(socket: &SockRef<'_>, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
    socket.send_vectored(parts)
}

pub(super) fn send_more(socket: &SockRef<'_>, bytes: &[u8]) -> io::Result<usize> {
    socket.send(bytes)
}

pub(super) fn set_congestion_control(_socket: &SockRef<'_>, _name: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn congestion_control(_socket: &SockRef<'_>) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn set_unsent_limit(_: &SockRef<'_>, _: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
