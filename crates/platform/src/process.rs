//! This process: death signal, limits of files and processes, user.

use std::io;

/// Has the kernel end this process when its parent ends (PR_SET_PDEATHSIG, SIGTERM). `parent` is the expected parent
/// process.
///
/// The kernel sends the signal when the parent *thread* that started this process ends.
///
/// # Errors
/// [`NotFound`](io::ErrorKind::NotFound) when `parent` is no longer the parent;
/// [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux.
pub fn die_with_parent(parent: u32) -> io::Result<()> {
    imp::die_with_parent(parent)
}

/// Raises the soft limit of open files to the hard limit (RLIMIT_NOFILE). Returns the new limit.
///
/// # Errors
/// The kernel's error.
pub fn raise_open_files() -> io::Result<u64> {
    imp::raise_open_files()
}

/// Returns the soft and hard limits of open files (RLIMIT_NOFILE).
///
/// # Errors
/// The kernel's error; [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux.
pub fn open_files() -> io::Result<(u64, u64)> {
    imp::open_files()
}

/// Sets the soft limit of open files, at most to the hard limit.
///
/// # Errors
/// The errors of [`open_files`].
pub fn limit_open_files(most: u64) -> io::Result<()> {
    imp::limit_open_files(most)
}

/// Returns the soft limit of this user's processes and threads (RLIMIT_NPROC). Above it, the kernel returns EAGAIN.
///
/// # Errors
/// The kernel's error; [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux.
pub fn process_limit() -> io::Result<u64> {
    imp::process_limit()
}

/// Makes writes above the limit of a file's size (RLIMIT_FSIZE) return EFBIG. Without this call the kernel kills the
/// process (SIGXFSZ). Programs that this process executes get the default again.
pub fn survive_file_size_limit() {
    imp::survive_file_size_limit();
}

/// Starts the process of `command` outside the group of this one, so that Ctrl-C on a terminal does not reach it (setpgid(2);
/// CREATE_NEW_PROCESS_GROUP on Windows).
pub fn separate(command: &mut std::process::Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(
        command,
        windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP,
    );
}

/// Returns whether the effective user is root. `false` on systems without user ids.
#[must_use]
pub fn is_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    false
}

/// Returns the effective user id; 0 on systems without user ids.
#[must_use]
pub fn user() -> u32 {
    #[cfg(unix)]
    return rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    0
}

#[cfg_attr(target_os = "linux", path = "process/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "process/portable.rs")]
mod imp;

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
    fn a_wrong_parent_is_an_error() {
        let wrong = std::process::id();
        assert_eq!(die_with_parent(wrong).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
