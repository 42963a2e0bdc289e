//! Results of the system calls that rustix does not have, and socket options that socket2 does not have either.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The result of a system call, which is negative on failure.
///
/// # Errors
/// The error of the call.
pub fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Length that a system call returns.
pub(crate) fn check_size(result: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Sets a socket option of type `int`.
///
/// # Errors
/// The kernel's error.
pub fn set_option(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let value = &raw const value;
    // SAFETY: the kernel reads one int.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value.cast(), length) }).map(drop)
}
