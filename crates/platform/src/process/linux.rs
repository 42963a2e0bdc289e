//! Linux.

use super::*;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal};

pub(super) fn die_with_parent(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::TERM))?;
    // Checked after the call: the kernel sends no signal for a parent that ended before.
    if std::os::unix::process::parent_id() == parent {
        return Ok(());
    }
    set_parent_process_death_signal(None)?;
    Err(io::ErrorKind::NotFound.into())
}

pub(super) fn raise_open_files() -> io::Result<u64> {
    let (_, hard) = open_files()?;
    limit_open_files(hard)?;
    Ok(hard)
}

pub(super) fn open_files() -> io::Result<(u64, u64)> {
    let limit = getrlimit(Resource::Nofile);
    // `None` is no limit.
    Ok((limit.current.unwrap_or(u64::MAX), limit.maximum.unwrap_or(u64::MAX)))
}

pub(super) fn process_limit() -> io::Result<u64> {
    Ok(getrlimit(Resource::Nproc).current.unwrap_or(u64::MAX))
}

extern "C" fn nothing(_: libc::c_int) {}

pub(super) fn survive_file_size_limit() {
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler does nothing. An exec resets it, unlike SIG_IGN.
    unsafe { libc::signal(libc::SIGXFSZ, handler) };
}

pub(super) fn limit_open_files(most: u64) -> io::Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: Some(maximum.map_or(most, |maximum| most.min(maximum))),
        maximum,
    };
    Ok(rustix::process::setrlimit(Resource::Nofile, limit)?)
}
