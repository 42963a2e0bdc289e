//! This process and its children.

use std::io;

/// Has the kernel end this process when its parent ends (PR_SET_PDEATHSIG, SIGTERM). `parent` is the process that the
/// caller believes to be its parent: if that has ended already, this is an error.
///
/// The kernel counts the *thread* that started this process as its parent.
///
/// # Errors
/// [`NotFound`](io::ErrorKind::NotFound) when `parent` is no longer the parent;
/// [`Unsupported`](io::ErrorKind::Unsupported) elsewhere than on Linux.
pub fn die_with_parent(parent: u32) -> io::Result<()> {
    imp::die_with_parent(parent)
}

/// Lets this process open as many files as it may without more rights (RLIMIT_NOFILE: soft limit to hard limit), and
/// returns how many that is.
///
/// # Errors
/// What the kernel says.
pub fn raise_open_files() -> io::Result<u64> {
    imp::raise_open_files()
}

/// How many files this process may open: its soft limit, and the hard limit up to which it may raise that (RLIMIT_NOFILE).
///
/// # Errors
/// What the kernel says; [`Unsupported`](io::ErrorKind::Unsupported) elsewhere than on Linux.
pub fn open_files() -> io::Result<(u64, u64)> {
    imp::open_files()
}

/// Lets this process open so many files, up to its hard limit.
///
/// # Errors
/// As for [`open_files`].
pub fn limit_open_files(most: u64) -> io::Result<()> {
    imp::limit_open_files(most)
}

/// Whether this process may do everything: its effective user is root. False where there are no such users.
#[must_use]
pub fn is_root() -> bool {
    #[cfg(unix)]
    // SAFETY: geteuid(2) takes nothing and always succeeds.
    return unsafe { libc::geteuid() } == 0;
    #[cfg(not(unix))]
    false
}

/// The number of this process's effective user; 0 where there are no such.
#[must_use]
pub fn user() -> u32 {
    #[cfg(unix)]
    // SAFETY: geteuid(2) takes nothing and always succeeds.
    return unsafe { libc::geteuid() };
    #[cfg(not(unix))]
    0
}

#[cfg(target_os = "linux")]
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn check_size(result: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

#[cfg(target_os = "linux")]
mod imp {
    use super::*;

    pub(super) fn die_with_parent(parent: u32) -> io::Result<()> {
        set_death_signal(libc::SIGTERM)?;
        // Looked at after the call: a parent that ended before it sends no signal.
        if std::os::unix::process::parent_id() == parent {
            return Ok(());
        }
        set_death_signal(0)?;
        Err(io::ErrorKind::NotFound.into())
    }

    fn set_death_signal(signal: libc::c_int) -> io::Result<()> {
        // SAFETY: PR_SET_PDEATHSIG takes a number and touches no memory of ours.
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

    pub(super) fn limit_open_files(most: u64) -> io::Result<()> {
        let (_, hard) = open_files()?;
        let limit = libc::rlimit {
            rlim_cur: most.min(hard),
            rlim_max: hard,
        };
        // SAFETY: the kernel reads one `rlimit` from `limit`.
        check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }).map(drop)
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
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

    pub(super) fn limit_open_files(_most: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn raising_the_limit_reaches_the_hard_limit_and_stays() {
        let raised = raise_open_files().unwrap();
        assert!(raised >= 256);
        assert_eq!(raise_open_files().unwrap(), raised);
    }

    #[test]
    fn a_wrong_parent_is_noticed() {
        let wrong = std::process::id();
        assert_eq!(die_with_parent(wrong).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
