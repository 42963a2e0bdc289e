//! Requests of ethtool(8) to the kernel (linux/ethtool.h).

use crate::process::check;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// A socket for requests about interfaces of this thread's network namespace.
pub(crate) fn socket() -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let socket = check(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the kernel has just given us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

/// Runs an ethtool request. `words` contains the request and then its answer, and has the length that the request
/// states.
pub(crate) fn ask(socket: &OwnedFd, name: &str, words: &mut [u32]) -> io::Result<()> {
    if name.is_empty() || name.len() >= libc::IFNAMSIZ {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: an ifreq is numbers and bytes; all zero is an empty one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
    // SAFETY: the kernel reads one ifreq, and accesses `words` within the length that the request states.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) }).map(drop)
}
