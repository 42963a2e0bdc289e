//! Systems other than Linux.

use super::*;
use socket2::SockRef;
use std::io::Read;
use std::os::fd::BorrowedFd;

pub(super) fn tcp_info(_socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn discard(socket: BorrowedFd<'_>, limit: usize) -> io::Result<usize> {
    let mut scratch = [0; 16 * 1024];
    let length = limit.min(scratch.len());
    (&*SockRef::from(&socket)).read(&mut scratch[..length])
}

pub(super) fn send_alone(socket: BorrowedFd<'_>, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
    SockRef::from(&socket).send_vectored(parts)
}

pub(super) fn send_more(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    SockRef::from(&socket).send(bytes)
}

pub(super) fn set_congestion_control(_socket: BorrowedFd<'_>, _name: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn congestion_control(_socket: BorrowedFd<'_>) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn set_unsent_limit(_: BorrowedFd<'_>, _: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
