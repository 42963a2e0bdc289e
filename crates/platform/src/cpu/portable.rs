//! Systems other than Linux and Windows.

use super::*;

pub(super) fn current() -> u32 {
    0
}

pub(super) fn thread_time(_id: u32) -> io::Result<Duration> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn threads() -> io::Result<Vec<ThreadId>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn process_time() -> io::Result<Duration> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn machine() -> io::Result<MachineTimes> {
    Err(io::ErrorKind::Unsupported.into())
}
