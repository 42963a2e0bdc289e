//! Linux.

use super::*;
use crate::system_call::{check, check_size};
use std::os::fd::AsRawFd;

pub(super) fn tcp_info(socket: &SockRef<'_>) -> io::Result<TcpInfo> {
    let mut raw = [0u8; 256];
    let mut length = raw.len() as libc::socklen_t;
    let fd = socket.as_raw_fd();
    // SAFETY: the kernel writes at most `length` bytes to `raw`, which has this length, and the new length.
    let got = unsafe {
        libc::getsockopt(
            fd,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            raw.as_mut_ptr().cast(),
            &mut length,
        )
    };
    check(got)?;
    Ok(TcpInfo::decode(&raw))
}

pub(super) fn discard(socket: &SockRef<'_>, limit: usize) -> io::Result<usize> {
    let flags = libc::MSG_TRUNC | libc::MSG_DONTWAIT;
    // SAFETY: with MSG_TRUNC, TCP does not write to the buffer (tcp(7)); for other sockets the kernel returns
    // EFAULT for the null pointer.
    check_size(unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), limit, flags) })
}

pub(super) fn send_alone(socket: &SockRef<'_>, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
    let flags = libc::MSG_EOR | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    socket.send_vectored_with_flags(parts, flags)
}

pub(super) fn send_more(socket: &SockRef<'_>, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_MORE | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    socket.send_with_flags(bytes, flags)
}

pub(super) fn set_congestion_control(socket: &SockRef<'_>, name: &str) -> io::Result<()> {
    socket.set_tcp_congestion(name.as_bytes())
}

pub(super) fn congestion_control(socket: &SockRef<'_>) -> io::Result<String> {
    let name = socket.tcp_congestion()?;
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

pub(super) fn set_unsent_limit(socket: &SockRef<'_>, limit: u32) -> io::Result<()> {
    socket.set_tcp_notsent_lowat(limit)
}
