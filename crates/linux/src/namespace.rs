//! Namespaces of one's own: user, network, mount and process ids (namespaces(7)).
//!
//! A process that [`isolate`]s itself gets a world in which it may set up devices, addresses and mounts without touching the
//! host's. All of it ends with the last process or descriptor that refers to it. Linux only.

use crate::process::{check, limit_open_files};
use std::ffi::CString;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// What kind of isolation a process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// As the machine's root, without a user namespace.
    Root,
    /// In a user namespace in which it has the ids that it had.
    User,
}

/// The capabilities that programs started inside keep: to open raw sockets, and to look at and change the network they are in
/// (capabilities(7)).
const KEPT: [u32; 2] = [12, 13];

/// Puts this process into a network and a mount namespace of its own, and its children into a process id namespace: as root
/// directly, else (or where root may not) inside a new user namespace, with the caller's own ids. Mounts made from now on are seen
/// by nobody else.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) in a process of several threads;
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied) where the machine allows no user namespaces.
pub fn isolate() -> io::Result<Isolation> {
    let (uid, gid) = ids();
    let spaces = libc::CLONE_NEWNET | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    let isolation = if uid == 0 && unshare(spaces).is_ok() {
        Isolation::Root
    } else {
        unshare(spaces | libc::CLONE_NEWUSER)?;
        // Groups can't be dropped in order to gain what they are denied (user_namespaces(7)).
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
        Isolation::User
    };
    mount(None, Path::new("/"), None, libc::MS_REC | libc::MS_PRIVATE)?;
    Ok(isolation)
}

/// How many namespaces of each kind that [`isolate`] makes this user namespace may have, by the name of the kernel's setting
/// (namespaces(7)). Beyond that it makes none: "No space left on device".
#[must_use]
pub fn limits() -> Vec<(String, u64)> {
    let limit = |kind: &str| {
        let name = format!("max_{kind}_namespaces");
        let text = std::fs::read_to_string(Path::new("/proc/sys/user").join(&name)).ok()?;
        Some((format!("user.{name}"), text.trim().parse().ok()?))
    };
    ["user", "net", "mnt", "pid", "ipc"]
        .into_iter()
        .filter_map(limit)
        .collect()
}

/// Moves this thread into a new network namespace.
///
/// # Errors
/// When it isn't permitted.
pub fn new_network() -> io::Result<()> {
    unshare(libc::CLONE_NEWNET)
}

/// The network namespace that this thread is in. It lives as long as the descriptor.
///
/// # Errors
/// Where there is no /proc.
pub fn network() -> io::Result<OwnedFd> {
    std::fs::File::open("/proc/thread-self/ns/net").map(OwnedFd::from)
}

/// Moves this thread into a network namespace.
///
/// # Errors
/// When it isn't permitted.
pub fn enter_network(namespace: impl AsFd) -> io::Result<()> {
    // SAFETY: setns takes a descriptor and a number; it touches no memory of ours.
    check(unsafe { libc::setns(namespace.as_fd().as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// The real user and group of this process.
#[must_use]
pub fn ids() -> (u32, u32) {
    // SAFETY: both only return a number.
    unsafe { (libc::getuid(), libc::getgid()) }
}

fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: unshare takes a number; what it changes is kept by the kernel. The file table and the address space stay shared.
    check(unsafe { libc::unshare(flags) }).map(drop)
}

/// Runs `child` in a copy of this process, which ends with the status that it returns; returns the copy's process id.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) when this process has several threads, since only one of them would be copied,
/// and locks of the others would stay locked.
pub fn fork(child: impl FnOnce() -> i32) -> io::Result<u32> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a process of several threads can't be copied",
        ));
    }
    // SAFETY: there is one thread, so the copy is whole; it never returns into our caller.
    let id = check(unsafe { libc::fork() })?;
    if id != 0 {
        return Ok(id.unsigned_abs());
    }
    let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(101);
    // SAFETY: ends the process without running what our caller registered for its own end.
    unsafe { libc::_exit(status) }
}

/// How a child ended: its process id, and its exit status or the signal that killed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// The process.
    pub id: u32,
    /// Its exit status.
    pub status: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
}

/// The next child of this process that has ended; `None` when none has (or, if `wait`, when there are no children).
///
/// # Errors
/// When a signal interrupts the wait.
pub fn reap(wait: bool) -> io::Result<Option<Ended>> {
    let mut status = 0;
    let options = if wait { 0 } else { libc::WNOHANG };
    // SAFETY: the kernel writes one int to `status`.
    let id = match check(unsafe { libc::waitpid(-1, &mut status, options) }) {
        Ok(0) => return Ok(None),
        Ok(id) => id.unsigned_abs(),
        Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(ended(id, status)))
}

fn ended(id: u32, status: libc::c_int) -> Ended {
    Ended {
        id,
        status: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
    }
}

/// What became of a child of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It ended.
    Ended(Ended),
    /// A signal stopped it.
    Stopped(u32),
    /// A signal let it continue.
    Continued(u32),
}

/// The next child of this process that has ended, stopped or continued; `None` when none has.
///
/// # Errors
/// When a signal interrupts the call.
pub fn next_change() -> io::Result<Option<Change>> {
    let mut status = 0;
    let options = libc::WNOHANG | libc::WUNTRACED | libc::WCONTINUED;
    // SAFETY: the kernel writes one int to `status`.
    let id = match check(unsafe { libc::waitpid(-1, &mut status, options) }) {
        Ok(0) => return Ok(None),
        Ok(id) => id.unsigned_abs(),
        Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(match status {
        status if libc::WIFSTOPPED(status) => Change::Stopped(id),
        status if libc::WIFCONTINUED(status) => Change::Continued(id),
        status => Change::Ended(ended(id, status)),
    }))
}

/// Waits until a child of this process has ended, stopped or continued, which is left for [`next_change`]; `false` when there are
/// no children.
///
/// # Errors
/// What the kernel says; a signal is no error.
pub fn await_change() -> io::Result<bool> {
    let what = libc::WEXITED | libc::WSTOPPED | libc::WCONTINUED | libc::WNOWAIT;
    loop {
        // SAFETY: a siginfo_t is numbers; all zero is an empty one.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one siginfo_t.
        match check(unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, what) }) {
            Ok(_) => return Ok(true),
            Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Sends a signal to a process.
///
/// # Errors
/// When there is none of that id, or it isn't permitted.
pub fn signal(id: u32, signal: i32) -> io::Result<()> {
    let id = libc::pid_t::try_from(id).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: kill takes two numbers.
    check(unsafe { libc::kill(id, signal) }).map(drop)
}

/// The signals that a terminal sends, and polite ones: this process ignores them from now on.
pub fn ignore_interrupts() {
    for number in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGTTOU] {
        // SAFETY: no handler of ours is installed.
        unsafe { libc::signal(number, libc::SIG_IGN) };
    }
}

/// This process as the parent of copies that don't outlive it.
///
/// **Call order:** [`here`](Self::here) before [`fork`], [`kills`](Self::kills) first thing in the copy. The parent keeps it until
/// it ends.
#[derive(Debug)]
pub struct Parent {
    /// Reads end of file when the parent has ended, since no other process has the write end of the pipe. The parent's process id
    /// cannot be compared: it is 0 for a parent in another process id namespace.
    lifeline: io::PipeReader,
    held: Option<io::PipeWriter>,
}

impl Parent {
    /// This process.
    ///
    /// # Errors
    /// When it can't open more files.
    pub fn here() -> io::Result<Parent> {
        let (lifeline, held) = io::pipe()?;
        Ok(Parent {
            lifeline,
            held: Some(held),
        })
    }

    /// Has the kernel kill this process, a copy of the parent, when the thread that started it ends.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) when the parent has ended already: then there is no signal.
    pub fn kills(&mut self) -> io::Result<()> {
        self.held = None;
        // SAFETY: PR_SET_PDEATHSIG takes a number and touches no memory of ours.
        check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) })?;
        // Read after the call: from here on, the kernel sends the signal when the parent ends.
        // SAFETY: F_SETFL takes a number and touches no memory of ours.
        check(unsafe { libc::fcntl(self.lifeline.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) })?;
        match self.lifeline.read(&mut [0]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// How a program runs inside.
#[derive(Debug)]
pub struct Inside {
    /// The network namespace that it is in.
    pub network: OwnedFd,
    /// The machine's name as it sees it, where it can be given one.
    pub host_name: Vec<u8>,
    /// The soft limit of open files that it gets.
    pub open_files: u64,
    /// Whether it has a process group of its own.
    pub own_group: bool,
}

/// Has `command` run inside, with the default handling of signals, as the caller's own user but able to open raw sockets and to
/// change the network it is in.
pub fn run_in(command: &mut Command, inside: Inside) {
    if inside.own_group {
        command.process_group(0);
    }
    let prepare = move || {
        enter_network(&inside.network)?;
        // Without a name of its own it has the machine's.
        let _ = name_host(&inside.host_name);
        // It was raised for the namespaces' descriptors, and programs that use select(2) must not have more.
        let _ = limit_open_files(inside.open_files);
        for number in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGTTOU] {
            // SAFETY: no handler of ours is installed.
            unsafe { libc::signal(number, libc::SIG_DFL) };
        }
        // Root keeps everything anyway; and a program that can do less is better than none.
        let _ = keep(&KEPT);
        Ok(())
    };
    // SAFETY: what runs between fork and exec only makes system calls; the copy has one thread.
    unsafe { command.pre_exec(prepare) };
}

/// Moves this process into a UTS namespace in which the machine is called `name` (uts_namespaces(7)).
fn name_host(name: &[u8]) -> io::Result<()> {
    if name.is_empty() {
        return Ok(());
    }
    unshare(libc::CLONE_NEWUTS)?;
    // SAFETY: the kernel reads as many bytes as it is told there are.
    check(unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) }).map(drop)
}

/// Lets these capabilities outlive an exec (ambient capabilities, capabilities(7)).
fn keep(capabilities: &[u32]) -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        id: i32,
    }
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct Data {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    // _LINUX_CAPABILITY_VERSION_3
    let header = Header {
        version: 0x2008_0522,
        id: 0,
    };
    let mut data = [Data::default(); 2];
    // SAFETY: the kernel reads the header and writes two elements of `data`.
    let got = unsafe { libc::syscall(libc::SYS_capget, &raw const header, data.as_mut_ptr()) };
    check(got as libc::c_int)?;
    for capability in capabilities {
        data[0].inheritable |= 1 << capability;
    }
    // SAFETY: the kernel reads the header and two elements of `data`.
    let set = unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) };
    check(set as libc::c_int)?;
    for capability in capabilities {
        let (raise, nothing) = (libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong, 0 as libc::c_ulong);
        let which = libc::c_ulong::from(*capability);
        // SAFETY: PR_CAP_AMBIENT takes numbers.
        check(unsafe { libc::prctl(libc::PR_CAP_AMBIENT, raise, which, nothing, nothing) })?;
    }
    Ok(())
}

/// Mounts a file system that lives in memory.
///
/// # Errors
/// When it isn't permitted.
pub fn mount_memory(at: &Path) -> io::Result<()> {
    mount(Some((Path::new("tmpfs"), "tmpfs")), at, None, 0)
}

/// Mounts the process file system of the process id namespace that this process is in.
///
/// # Errors
/// When it isn't permitted: some containers hide parts of the one that is there.
pub fn mount_processes(at: &Path) -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    mount(Some((Path::new("proc"), "proc")), at, None, flags)
}

/// Shows `file` in the place of `over`.
///
/// # Errors
/// When either isn't there, or it isn't permitted.
pub fn mount_over(file: &Path, over: &Path) -> io::Result<()> {
    mount(None, over, Some(file), libc::MS_BIND)
}

/// Takes away what is mounted at `at`; what is shown elsewhere of it stays.
///
/// # Errors
/// When nothing is.
pub fn unmount(at: &Path) -> io::Result<()> {
    let at = text(at)?;
    // SAFETY: `at` is a string that ends with a zero byte and lives through the call.
    check(unsafe { libc::umount2(at.as_ptr(), libc::MNT_DETACH) }).map(drop)
}

fn mount(kind: Option<(&Path, &str)>, at: &Path, bound: Option<&Path>, flags: libc::c_ulong) -> io::Result<()> {
    let source = match (kind, bound) {
        (Some((source, _)), _) => text(source)?,
        (None, Some(file)) => text(file)?,
        (None, None) => text(Path::new("none"))?,
    };
    let name = kind.map(|(_, name)| text(Path::new(name))).transpose()?;
    let at = text(at)?;
    let name = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
    // SAFETY: all strings end with a zero byte and live through the call; no data is passed.
    check(unsafe { libc::mount(source.as_ptr(), at.as_ptr(), name, flags, std::ptr::null()) }).map(drop)
}

fn text(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}
