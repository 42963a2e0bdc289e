//! User, network, mount, UTS and PID namespaces (namespaces(7)).
//!
//! After [`isolate`], a process can set up devices, addresses and mounts without changing the host's. All of them end
//! with the last process or descriptor that refers to the namespaces.

use crate::result::check;
use netburn_platform::process::limit_open_files;
use std::ffi::CString;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Kind of isolation of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// The process is root in the initial user namespace.
    Root,
    /// The process is in a new user namespace with unchanged user and group ids.
    User,
}

/// Capabilities that programs in the lab keep: CAP_NET_ADMIN and CAP_NET_RAW (capabilities(7)).
const KEPT_CAPABILITIES: [u32; 2] = [12, 13];

/// Moves this process into new network and mount namespaces, and its children into a new PID namespace. As root, it
/// uses the present user namespace if permitted. Otherwise it creates a user namespace with unchanged ids. Later mounts
/// are not visible to other processes.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) in a process with several threads;
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied) when the machine permits no user namespaces.
pub fn isolate() -> io::Result<Isolation> {
    let (uid, gid) = ids();
    let spaces = libc::CLONE_NEWNET | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    let isolation = if uid == 0 && unshare(spaces).is_ok() {
        Isolation::Root
    } else {
        unshare(spaces | libc::CLONE_NEWUSER)?;
        // Required before a group mapping, so that a process cannot drop groups that deny it access
        // (user_namespaces(7)).
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
        Isolation::User
    };
    mount(None, Path::new("/"), None, libc::MS_REC | libc::MS_PRIVATE)?;
    Ok(isolation)
}

/// Returns the limits of the namespaces that [`isolate`] creates, by the name of the kernel's setting (namespaces(7)).
/// Above a limit, the kernel returns "No space left on device".
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
/// The kernel's error when it is not permitted.
pub fn new_network() -> io::Result<()> {
    unshare(libc::CLONE_NEWNET)
}

/// Opens this thread's network namespace, which exists as long as the descriptor.
///
/// # Errors
/// An I/O error when /proc cannot be read.
pub fn network() -> io::Result<OwnedFd> {
    std::fs::File::open("/proc/thread-self/ns/net").map(OwnedFd::from)
}

/// Moves this thread into a network namespace.
///
/// # Errors
/// The kernel's error when it is not permitted.
pub fn enter_network(namespace: impl AsFd) -> io::Result<()> {
    // SAFETY: setns takes a descriptor and an integer and does not access memory of this process.
    check(unsafe { libc::setns(namespace.as_fd().as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// Returns the real user id and group id of this process.
#[must_use]
pub fn ids() -> (u32, u32) {
    // SAFETY: both functions only return an integer.
    unsafe { (libc::getuid(), libc::getgid()) }
}

fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: unshare takes an integer and changes only kernel state. The file table and the address space stay shared.
    check(unsafe { libc::unshare(flags) }).map(drop)
}

/// Forks this process. The child runs `child` and exits with the returned status. Returns the process id of the child.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) when this process has several threads: only the calling thread is
/// copied, and locks held by others would stay locked.
pub fn fork(child: impl FnOnce() -> i32) -> io::Result<u32> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "can't fork a process with several threads",
        ));
    }
    // SAFETY: there is one thread, so the child is complete; it never returns to the caller.
    let id = check(unsafe { libc::fork() })?;
    if id != 0 {
        return Ok(id.unsigned_abs());
    }
    let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(101);
    // SAFETY: _exit ends the process without running exit handlers of the parent.
    unsafe { libc::_exit(status) }
}

/// Exit of a child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildExit {
    /// Process id.
    pub id: u32,
    /// Exit status, unless a signal killed the process.
    pub status: Option<i32>,
    /// Signal that killed the process.
    pub signal: Option<i32>,
}

/// Reaps a child process that has exited. Returns `None` if none has, or with `wait`, if there are no children.
///
/// # Errors
/// [`Interrupted`](io::ErrorKind::Interrupted) when a signal interrupts the wait.
pub fn reap(wait: bool) -> io::Result<Option<ChildExit>> {
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

fn ended(id: u32, status: libc::c_int) -> ChildExit {
    ChildExit {
        id,
        status: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
    }
}

/// State change of a child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildEvent {
    /// The child exited.
    Ended(ChildExit),
    /// A signal stopped the child.
    Stopped(u32),
    /// A signal continued the child.
    Continued(u32),
}

/// Returns the next state change of a child process; `None` if there is none. Reaps exited children.
///
/// # Errors
/// [`Interrupted`](io::ErrorKind::Interrupted) when a signal interrupts the call.
pub fn next_child_event() -> io::Result<Option<ChildEvent>> {
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
        status if libc::WIFSTOPPED(status) => ChildEvent::Stopped(id),
        status if libc::WIFCONTINUED(status) => ChildEvent::Continued(id),
        status => ChildEvent::Ended(ended(id, status)),
    }))
}

/// Waits for a state change of a child process, which [`next_child_event`] then returns. Returns `false` if there are
/// no children. A signal is not an error.
///
/// # Errors
/// The kernel's error.
pub fn wait_for_child() -> io::Result<bool> {
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
/// The kernel's error when there is no such process or it is not permitted.
pub fn signal(id: u32, signal: i32) -> io::Result<()> {
    let id = libc::pid_t::try_from(id).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: kill takes two numbers.
    check(unsafe { libc::kill(id, signal) }).map(drop)
}

/// Ignores the signals of a terminal and SIGTERM in this process.
pub fn ignore_interrupts() {
    for number in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGTTOU] {
        // SAFETY: no handler of ours is installed.
        unsafe { libc::signal(number, libc::SIG_IGN) };
    }
}

/// Handle with which forked children end together with their parent.
///
/// **Call order:** [`here`](Self::here) before [`fork`], [`kills`](Self::kills) first in the child. The parent keeps
/// the handle until it exits.
#[derive(Debug)]
pub struct Parent {
    /// Pipe that returns end of file when the parent has exited, because only the parent has its write end. Process ids
    /// cannot be compared: the id of a parent in another PID namespace is 0.
    lifeline: io::PipeReader,
    held: Option<io::PipeWriter>,
}

impl Parent {
    /// Creates a handle in the parent.
    ///
    /// # Errors
    /// An I/O error when too many files are open.
    pub fn here() -> io::Result<Parent> {
        let (lifeline, held) = io::pipe()?;
        Ok(Parent {
            lifeline,
            held: Some(held),
        })
    }

    /// Has the kernel kill this child process when the parent's thread ends.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) when the parent has already exited and the kernel sends no signal.
    pub fn kills(&mut self) -> io::Result<()> {
        self.held = None;
        // SAFETY: PR_SET_PDEATHSIG takes an integer and does not access memory of this process.
        check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) })?;
        // The pipe is read after the call: from here on, the kernel sends the signal when the parent ends. SAFETY:
        // F_SETFL takes an integer and does not access memory of this process.
        check(unsafe { libc::fcntl(self.lifeline.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) })?;
        match self.lifeline.read(&mut [0]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Environment of a program at a node.
#[derive(Debug)]
pub struct NodeContext {
    /// Network namespace.
    pub network: OwnedFd,
    /// Host name that the program sees, if UTS namespaces are available.
    pub host_name: Vec<u8>,
    /// Soft limit of open files.
    pub open_files: u64,
    /// True if the program gets its own process group.
    pub own_group: bool,
}

/// Prepares `command` to run at a node: in its namespaces, with default signal handlers, as the caller's user with the
/// capabilities CAP_NET_RAW and CAP_NET_ADMIN.
pub fn enter_before_exec(command: &mut Command, inside: NodeContext) {
    if inside.own_group {
        command.process_group(0);
    }
    let prepare = move || {
        enter_network(&inside.network)?;
        // Without a UTS namespace the program sees the machine's host name.
        let _ = name_host(&inside.host_name);
        // The limit was raised for the descriptors of namespaces. Programs that use select(2) need the original limit.
        let _ = limit_open_files(inside.open_files);
        for number in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGTTOU] {
            // SAFETY: no handler of ours is installed.
            unsafe { libc::signal(number, libc::SIG_DFL) };
        }
        // Root keeps all capabilities anyway. A failure leaves a program with fewer capabilities.
        let _ = keep(&KEPT_CAPABILITIES);
        Ok(())
    };
    // SAFETY: the code between fork and exec only makes system calls; the child has one thread.
    unsafe { command.pre_exec(prepare) };
}

/// Moves this process into a UTS namespace with host name `name` (uts_namespaces(7)).
fn name_host(name: &[u8]) -> io::Result<()> {
    if name.is_empty() {
        return Ok(());
    }
    unshare(libc::CLONE_NEWUTS)?;
    // SAFETY: the kernel reads the given number of bytes.
    check(unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) }).map(drop)
}

/// Keeps these capabilities over an exec (ambient capabilities, capabilities(7)).
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
        // SAFETY: PR_CAP_AMBIENT takes integers.
        check(unsafe { libc::prctl(libc::PR_CAP_AMBIENT, raise, which, nothing, nothing) })?;
    }
    Ok(())
}

/// Mounts a tmpfs.
///
/// # Errors
/// The kernel's error when it is not permitted.
pub fn mount_memory(at: &Path) -> io::Result<()> {
    mount(Some((Path::new("tmpfs"), "tmpfs")), at, None, 0)
}

/// Mounts the proc filesystem of this process's PID namespace.
///
/// # Errors
/// The kernel's error when it is not permitted: some containers mask parts of their /proc.
pub fn mount_processes(at: &Path) -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    mount(Some((Path::new("proc"), "proc")), at, None, flags)
}

/// Bind-mounts `file` over `over`.
///
/// # Errors
/// The kernel's error when a file does not exist or it is not permitted.
pub fn mount_over(file: &Path, over: &Path) -> io::Result<()> {
    mount(None, over, Some(file), libc::MS_BIND)
}

/// Unmounts the filesystem at `at`. Bind mounts of its files stay.
///
/// # Errors
/// The kernel's error when nothing is mounted there.
pub fn unmount(at: &Path) -> io::Result<()> {
    let at = text(at)?;
    // SAFETY: `at` is a C string that is valid during the call.
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
    // SAFETY: all strings are C strings that are valid during the call; no data is passed.
    check(unsafe { libc::mount(source.as_ptr(), at.as_ptr(), name, flags, std::ptr::null()) }).map(drop)
}

fn text(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}
