//! The helper process: it isolates itself in namespaces, creates the nodes, and is the ancestor of all processes in the
//! lab.
//!
//! The helper forks an init process of a PID namespace. All processes of the lab, including daemons, therefore end
//! with it. It exits when its control socket is closed.

pub(crate) mod message;
mod node;

use crate::error::Requirement;
use crate::program::ProcessExit;
use message::{Answer, OsBytes, ProcessSpec, Request, decode, encode};
use netburn_lab_kernel::namespace::{self, ChildEvent, NodeContext};
use netburn_lab_kernel::{scm_rights, sockets};
use node::NodeError;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Runs the helper. Its control socket is its standard input. Returns the exit status.
#[must_use]
pub fn main() -> i32 {
    namespace::ignore_interrupts();
    let control = match io::stdin().as_fd().try_clone_to_owned() {
        Ok(control) => control,
        Err(_) => return 2,
    };
    let isolation = match namespace::isolate() {
        Ok(isolation) => isolation,
        Err(error) => {
            let number = error.raw_os_error().unwrap_or(0);
            let answer = Answer::Failed(number, Requirement::Other, "make namespaces".to_owned());
            let _ = send(&control, &answer, &[]);
            return 3;
        }
    };
    let user = isolation == namespace::Isolation::User;
    // The child is the first process of the new PID namespace. The parent only waits, and other processes can enter its
    // namespaces.
    let Ok(mut parent) = namespace::Parent::here() else {
        return 4;
    };
    let forked = namespace::fork(|| match parent.kills() {
        Ok(()) => first(&control, user),
        Err(_) => 4,
    });
    if let Err(error) = forked {
        let _ = fail(&control, Requirement::Other, "start the lab's init process", &error);
        return 4;
    }
    loop {
        match namespace::reap(true) {
            Ok(Some(ended)) => return ended.status.unwrap_or(5),
            Ok(None) => return 5,
            Err(_) => {}
        }
    }
}

/// Running programs.
#[derive(Debug, Default)]
struct Running {
    /// Program numbers by process id.
    ids: BTreeMap<u32, u32>,
    children: usize,
}

static RUNNING: Mutex<Running> = Mutex::new(Running {
    ids: BTreeMap::new(),
    children: 0,
});
static STARTED: Condvar = Condvar::new();

fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn first(control: &OwnedFd, user: bool) -> i32 {
    let mut notes = Vec::new();
    if let Err(error) = namespace::mount_processes(Path::new("/proc")) {
        notes.push(format!("/proc shows the host's processes: {error}"));
    }
    // The thread must not have entered another network namespace before.
    let Ok(mut hub) = node::Hub::here() else { return 6 };
    let Ok(ends) = control.try_clone() else { return 6 };
    let reaper = std::thread::Builder::new().spawn(move || reap(&ends));
    if let Err(error) = reaper {
        let _ = fail(control, Requirement::Other, "start a thread", &error);
        return 6;
    }
    if send(control, &Answer::Hello(user, notes), &[]).is_err() {
        return 6;
    }
    let mut nodes = Vec::new();
    loop {
        let (bytes, files) = match scm_rights::receive(control) {
            Ok((bytes, files)) if !bytes.is_empty() => (bytes, files),
            // The lab has closed the socket. The kernel kills the other processes of this PID namespace.
            _ => return 0,
        };
        let answered = match decode(&bytes) {
            Some(Request::Node(spec)) => match node::make(&spec, &mut hub) {
                Ok(node) => {
                    let files = node.files();
                    let sent = send(control, &Answer::Node(node.made.clone()), &files);
                    nodes.push(node.namespace);
                    sent
                }
                Err(NodeError { needs, what, error }) => fail(control, needs, what, &error),
            },
            Some(Request::Probe) => match node::probe() {
                Ok(probe) => send(control, &Answer::Probed(probe), &[]),
                Err(error) => fail(control, Requirement::TunDevice, "probe a TUN device", &error),
            },
            Some(Request::Names(lines)) => answer(control, "names", install_names(&lines)),
            Some(Request::Run(spec)) => answer(control, "start", run(&spec, &nodes, files)),
            Some(Request::Pulse) => send(control, &Answer::Pulse, &[]),
            Some(Request::Listens(node, port)) => match listens(&nodes, node, port) {
                Ok(listens) => send(control, &Answer::Listens(listens), &[]),
                Err(error) => fail(control, Requirement::Other, "look for listening sockets", &error),
            },
            Some(Request::Signal(id, signal)) => {
                signal_to(id, signal);
                Ok(())
            }
            None => fail(
                control,
                Requirement::Other,
                "decode a request",
                &io::ErrorKind::InvalidData.into(),
            ),
        };
        if answered.is_err() {
            return 6;
        }
    }
}

fn send(control: &OwnedFd, answer: &Answer, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    scm_rights::send(control, &encode(answer), files)
}

fn answer(control: &OwnedFd, what: &str, result: io::Result<()>) -> io::Result<()> {
    match result {
        Ok(()) => send(control, &Answer::Done, &[]),
        Err(error) => fail(control, Requirement::Other, what, &error),
    }
}

fn fail(control: &OwnedFd, needs: Requirement, what: &str, error: &io::Error) -> io::Result<()> {
    let number = error.raw_os_error().unwrap_or(0);
    let text = if number == 0 {
        format!("{what}: {error}")
    } else {
        what.to_owned()
    };
    send(control, &Answer::Failed(number, needs, text), &[])
}

/// Returns whether a process listens at a node's TCP port. Moves this thread into the node's network namespace.
fn listens(nodes: &[OwnedFd], node: u32, port: u16) -> io::Result<bool> {
    namespace::enter_network(nodes.get(node as usize).ok_or(io::ErrorKind::NotFound)?)?;
    let all = sockets::tcp()?;
    Ok(all.iter().any(|socket| socket.listens() && socket.local_port == port))
}

/// Starts a program.
fn run(spec: &ProcessSpec, nodes: &[OwnedFd], files: Vec<OwnedFd>) -> io::Result<()> {
    let node = nodes.get(spec.node as usize).ok_or(io::ErrorKind::NotFound)?;
    let (Some(program), Ok([input, output, error])) = (spec.arguments.first(), <[OwnedFd; 3]>::try_from(files)) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let environment = spec.environment.iter();
    let mut command = Command::new(program.as_os_str());
    command
        .args(spec.arguments[1..].iter().map(OsBytes::as_os_str))
        .envs(environment.map(|(name, value)| (name.as_os_str(), value.as_os_str())))
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(error));
    let inside = NodeContext {
        network: node.try_clone()?,
        host_name: spec.host_name.clone().into_bytes(),
        open_files: u64::from(spec.open_files),
        own_group: spec.own_group,
    };
    namespace::enter_before_exec(&mut command, inside);
    // The lock keeps the reaper from reaping a program whose start fails; the standard library reaps it.
    let mut running = running();
    let child = command.spawn()?;
    running.ids.insert(child.id(), spec.id);
    running.children += 1;
    STARTED.notify_all();
    Ok(())
}

fn signal_to(id: u32, signal: i32) {
    let running = running();
    let pid = running.ids.iter().find(|(_, of)| **of == id).map(|(pid, _)| *pid);
    if let Some(pid) = pid {
        // Fails only for a process that has been reaped, which the lock excludes.
        let _ = namespace::signal(pid, signal);
    }
}

/// Reports all exits, stops and continuations of started programs. Orphans are reaped without a report.
fn reap(control: &OwnedFd) {
    loop {
        if !namespace::wait_for_child().unwrap_or(false) {
            let mut running = running();
            while running.children == 0 {
                running = STARTED.wait(running).unwrap_or_else(PoisonError::into_inner);
            }
            running.children = 0;
            continue;
        }
        let mut running = running();
        while let Ok(Some(change)) = namespace::next_child_event() {
            let answer = match change {
                ChildEvent::Ended(ended) => running.ids.remove(&ended.id).map(|id| {
                    let exit = match (ended.status, ended.signal) {
                        (Some(status), _) => ProcessExit::Status(status.unsigned_abs()),
                        (None, signal) => ProcessExit::Signal(signal.unwrap_or(0).unsigned_abs()),
                    };
                    Answer::Ended(id, exit)
                }),
                ChildEvent::Stopped(pid) => running.ids.get(&pid).map(|id| Answer::Stopped(*id)),
                ChildEvent::Continued(pid) => running.ids.get(&pid).map(|id| Answer::Continued(*id)),
            };
            if let Some(answer) = answer
                && send(control, &answer, &[]).is_err()
            {
                return;
            }
        }
    }
}

/// Directories of the filesystem hierarchy standard that are not needed while the lab is opened. One becomes a
/// temporary mount point.
const STAGING_DIRS: [&str; 4] = ["/mnt", "/media", "/srv", "/opt"];

/// Contents of nsswitch.conf (nsswitch.conf(5)) with names from /etc/hosts, then from a DNS server. The other databases,
/// such as users, stay as in `machine`.
fn name_sources(machine: &str) -> String {
    let others = machine.lines().filter(|line| !line.trim_start().starts_with("hosts:"));
    others
        .chain(["hosts: files dns"])
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// Replaces /etc/hosts with these lines and removes the DNS servers, for all processes of the lab. Programs may write a
/// DNS server of the lab to /etc/resolv.conf.
fn install_names(lines: &str) -> io::Result<()> {
    let stage = STAGING_DIRS
        .iter()
        .map(Path::new)
        .find(|stage| stage.is_dir())
        .ok_or(io::ErrorKind::NotFound)?;
    namespace::mount_memory(stage)?;
    let machine = std::fs::read_to_string("/etc/nsswitch.conf").unwrap_or_default();
    let files = [
        ("hosts", lines),
        ("nsswitch.conf", &name_sources(&machine)),
        ("resolv.conf", "# no name server: names are in /etc/hosts\n"),
    ];
    let mut result = Ok(());
    for (name, text) in files {
        let (file, over) = (stage.join(name), Path::new("/etc").join(name));
        let status = std::fs::write(&file, text).and_then(|()| {
            // resolv.conf is often a symbolic link, whose target may not exist here.
            let over = over.canonicalize()?;
            namespace::mount_over(&file, &over)
        });
        if name == "hosts" {
            result = status;
        }
    }
    namespace::unmount(stage)?;
    result
}

/// Files of a node that are sent to the lab.
impl node::Node {
    fn files(&self) -> Vec<BorrowedFd<'_>> {
        let always = [
            self.device.as_fd(),
            self.namespace.as_fd(),
            self.route.as_fd(),
            self.raw.as_fd(),
            self.links.as_fd(),
        ];
        always.into_iter().chain(self.diag.as_ref().map(AsFd::as_fd)).collect()
    }
}

/// Returns whether a kernel release (such as `6.18.44-amd64`) is this version or later; `false` if it cannot be parsed.
fn since(release: &str, version: (u32, u32)) -> bool {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    let mut next = || numbers.next()?.parse::<u32>().ok();
    matches!((next(), next()), (Some(major), Some(minor)) if (major, minor) >= version)
}

#[cfg(test)]
mod tests {
    use super::{name_sources, since};

    #[test]
    fn only_the_sources_of_host_names_change() {
        let machine = "# users\npasswd: files systemd sss\nhosts: files mymachines resolve [!UNAVAIL=return] dns\nshadow: files\n";
        let lab = "# users\npasswd: files systemd sss\nshadow: files\nhosts: files dns\n";
        assert_eq!(name_sources(machine), lab);
        assert_eq!(name_sources("  hosts:\tfiles"), "hosts: files dns\n");
        assert_eq!(name_sources(""), "hosts: files dns\n");
    }

    #[test]
    fn releases_are_compared_as_numbers() {
        for new in ["6.2.0", "6.18.44-fc-v669\n", "6.2", "7.0-rc1", "10.1"] {
            assert!(since(new, (6, 2)), "{new}");
        }
        for old in ["6.1.0-49-amd64", "5.15", "4.19.0", "", "six"] {
            assert!(!since(old, (6, 2)), "{old}");
        }
    }
}
