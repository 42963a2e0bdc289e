//! User, network, mount, UTS and PID namespaces (namespaces(7)).
//!
//! After [`isolate`], a process can set up devices, addresses and mounts without changing the host's. All of them end
//! with the last process or descriptor that refers to the namespaces.

use netburn_platform::process::limit_open_files;
use netburn_platform::system_call::check;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use rustix::process::{Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus};
use rustix::thread::{CapabilitySet, LinkNameSpaceType, UnshareFlags};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
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

/// Capabilities that programs in the lab keep (capabilities(7)).
const KEPT_CAPABILITIES: [CapabilitySet; 2] = [CapabilitySet::NET_ADMIN, CapabilitySet::NET_RAW];

/// Signals of a terminal, and SIGTERM.
const INTERRUPTS: [libc::c_int; 5] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGTTOU];

/// Moves this process into new network and mount namespaces, and its children into a new PID namespace. As root, it
/// uses the present user namespace if permitted. Otherwise it creates a user namespace with unchanged ids. Later mounts
/// are not visible to other processes.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) in a process with several threads;
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied) when the machine permits no user namespaces.
pub fn isolate() -> io::Result<Isolation> {
    let (uid, gid) = ids();
    let spaces = UnshareFlags::NEWNET | UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
    let isolation = if uid == 0 && unshare(spaces).is_ok() {
        Isolation::Root
    } else {
        unshare(spaces | UnshareFlags::NEWUSER)?;
        // Required before a group mapping, so that a process cannot drop groups that deny it access
        // (user_namespaces(7)).
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
        Isolation::User
    };
    rustix::mount::mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
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
    unshare(UnshareFlags::NEWNET)
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
    let kind = Some(LinkNameSpaceType::Network);
    Ok(rustix::thread::move_into_link_name_space(namespace.as_fd(), kind)?)
}

/// Returns the real user id and group id of this process.
#[must_use]
pub fn ids() -> (u32, u32) {
    (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw())
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: no caller passes FILES, so the file table stays shared.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
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
    let options = if wait {
        WaitOptions::empty()
    } else {
        WaitOptions::NOHANG
    };
    Ok(wait_for(options)?.map(|(id, status)| ended(id, status)))
}

/// Waits for a state change of any child; `None` if there is none, and without children.
fn wait_for(options: WaitOptions) -> io::Result<Option<(u32, WaitStatus)>> {
    match rustix::process::wait(options) {
        Ok(found) => Ok(found.map(|(id, status)| (id.as_raw_pid().unsigned_abs(), status))),
        Err(Errno::CHILD) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn ended(id: u32, status: WaitStatus) -> ChildExit {
    ChildExit {
        id,
        status: status.exit_status(),
        signal: status.terminating_signal(),
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
    let options = WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
    let event = |(id, status): (u32, WaitStatus)| match status {
        status if status.stopped() => ChildEvent::Stopped(id),
        status if status.continued() => ChildEvent::Continued(id),
        status => ChildEvent::Ended(ended(id, status)),
    };
    Ok(wait_for(options)?.map(event))
}

/// Waits for a state change of a child process, which [`next_child_event`] then returns. Returns `false` if there are
/// no children. A signal is not an error.
///
/// # Errors
/// The kernel's error.
pub fn wait_for_child() -> io::Result<bool> {
    let what = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOWAIT;
    loop {
        match rustix::process::waitid(WaitId::All, what) {
            Ok(_) => return Ok(true),
            Err(Errno::CHILD) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Sends a signal to a process.
///
/// # Errors
/// The kernel's error when there is no such process or it is not permitted.
pub fn signal(id: u32, signal: i32) -> io::Result<()> {
    let id = libc::pid_t::try_from(id).map_err(|_| io::ErrorKind::InvalidInput)?;
    // rustix has no real-time signals. SAFETY: kill takes two numbers.
    check(unsafe { libc::kill(id, signal) }).map(drop)
}

/// Ignores the signals of a terminal and SIGTERM in this process.
pub fn ignore_interrupts() {
    for number in INTERRUPTS {
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
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The pipe is read after the call: from here on, the kernel sends the signal when the parent ends.
        rustix::fs::fcntl_setfl(&self.lifeline, OFlags::NONBLOCK)?;
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
        for number in INTERRUPTS {
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
    unshare(UnshareFlags::NEWUTS)?;
    Ok(rustix::system::sethostname(name)?)
}

/// Keeps these capabilities over an exec (ambient capabilities, capabilities(7)).
fn keep(capabilities: &[CapabilitySet]) -> io::Result<()> {
    let mut sets = rustix::thread::capabilities(None)?;
    for capability in capabilities {
        sets.inheritable |= *capability;
    }
    rustix::thread::set_capabilities(None, sets)?;
    for capability in capabilities {
        rustix::thread::configure_capability_in_ambient_set(*capability, true)?;
    }
    Ok(())
}

/// Mounts a tmpfs.
///
/// # Errors
/// The kernel's error when it is not permitted.
pub fn mount_memory(at: &Path) -> io::Result<()> {
    Ok(rustix::mount::mount("tmpfs", at, "tmpfs", MountFlags::empty(), None)?)
}

/// Mounts the proc filesystem of this process's PID namespace.
///
/// # Errors
/// The kernel's error when it is not permitted: some containers mask parts of their /proc.
pub fn mount_processes(at: &Path) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(rustix::mount::mount("proc", at, "proc", flags, None)?)
}

/// Bind-mounts `file` over `over`.
///
/// # Errors
/// The kernel's error when a file does not exist or it is not permitted.
pub fn mount_over(file: &Path, over: &Path) -> io::Result<()> {
    Ok(rustix::mount::mount_bind(file, over)?)
}

/// Unmounts the filesystem at `at`. Bind mounts of its files stay.
///
/// # Errors
/// The kernel's error when nothing is mounted there.
pub fn unmount(at: &Path) -> io::Result<()> {
    Ok(rustix::mount::unmount(at, UnmountFlags::DETACH)?)
}
