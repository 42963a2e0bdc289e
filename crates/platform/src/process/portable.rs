//! Systems other than Linux.

use super::*;

pub(super) fn die_with_parent(_parent: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn raise_open_files() -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn open_files() -> io::Result<(u64, u64)> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn process_limit() -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn survive_file_size_limit() {}

pub(super) fn limit_open_files(_most: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
