//! Linux.

use super::*;

pub(super) fn die_with_parent(parent: u32) -> io::Result<()> {
    set_death_signal(libc::SIGTERM)?;
    // Checked after the call: the kernel sends no signal for a parent that ended before.
    if std::os::unix::process::parent_id() == parent {
        return Ok(());
    }
    set_death_signal(0)?;
    Err(io::ErrorKind::NotFound.into())
}

fn set_death_signal(signal: libc::c_int) -> io::Result<()> {
    // SAFETY: PR_SET_PDEATHSIG takes an integer and does not access memory of this process.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal as libc::c_ulong) }).map(drop)
}

pub(super) fn raise_open_files() -> io::Result<u64> {
    let (_, hard) = open_files()?;
    limit_open_files(hard)?;
    Ok(hard)
}

pub(super) fn open_files() -> io::Result<(u64, u64)> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the kernel writes one `rlimit` to `limit`.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    Ok((limit.rlim_cur, limit.rlim_max))
}

pub(super) fn process_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the kernel writes one `rlimit` to `limit`.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NPROC, &mut limit) })?;
    Ok(limit.rlim_cur)
}

extern "C" fn nothing(_: libc::c_int) {}

pub(super) fn survive_file_size_limit() {
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler does nothing. An exec resets it, unlike SIG_IGN.
    unsafe { libc::signal(libc::SIGXFSZ, handler) };
}

pub(super) fn limit_open_files(most: u64) -> io::Result<()> {
    let (_, hard) = open_files()?;
    let limit = libc::rlimit {
        rlim_cur: most.min(hard),
        rlim_max: hard,
    };
    // SAFETY: the kernel reads one `rlimit` from `limit`.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }).map(drop)
}
