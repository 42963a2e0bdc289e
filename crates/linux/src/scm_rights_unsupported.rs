//! Messages between processes with file descriptors. Only labs need them, which exist on Linux only: these functions
//! return an error.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Returns an error.
///
/// # Errors
/// [`Unsupported`](io::ErrorKind::Unsupported), always.
pub fn send(_: impl AsFd, _: &[u8], _: &[BorrowedFd<'_>]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns an error.
///
/// # Errors
/// [`Unsupported`](io::ErrorKind::Unsupported), always.
pub fn receive(_: impl AsFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    Err(io::ErrorKind::Unsupported.into())
}
