//! Namespaces and the processes in them.

use netburn_lab_kernel::namespace::{self, ChildEvent, ChildExit, Isolation, NodeContext};
use netburn_lab_kernel::scm_rights;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the identity of a namespace of the parent, or of this process.
fn identity(process: &str, kind: &str) -> String {
    let link = fs::read_link(format!("/proc/{process}/ns/{kind}"));
    link.map_or_else(|_| "hidden".to_owned(), |link| link.display().to_string())
}

fn interfaces() -> Vec<String> {
    let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let names = text.lines().skip(2).filter_map(|line| line.split(':').next());
    names.map(|name| name.trim().to_owned()).collect()
}

pub(crate) fn of_its_own(isolation: Isolation) {
    let parent = std::os::unix::process::parent_id().to_string();
    for kind in ["net", "mnt", "ipc"] {
        assert_ne!(identity("self", kind), identity(&parent, kind), "{kind}");
    }
    assert_ne!(identity("self", "pid_for_children"), identity("self", "pid"));
    let (uid, gid) = namespace::ids();
    match isolation {
        Isolation::Root => assert_eq!(identity("self", "user"), identity(&parent, "user")),
        Isolation::User => {
            assert_ne!(identity("self", "user"), identity(&parent, "user"));
            // Unchanged ids, and no other mapping.
            let fields = |name: &str| -> Vec<u32> {
                let text = fs::read_to_string(name).unwrap();
                text.split_whitespace().map(|word| word.parse().unwrap()).collect()
            };
            assert_eq!(fields("/proc/self/uid_map"), [uid, uid, 1]);
            assert_eq!(fields("/proc/self/gid_map"), [gid, gid, 1]);
            assert_eq!(fs::read_to_string("/proc/self/setgroups").unwrap().trim(), "deny");
        }
    }
    assert_eq!(interfaces(), ["lo"]);
    let first = namespace::network().unwrap();
    let inode = identity("thread-self", "net");
    namespace::new_network().unwrap();
    assert_ne!(identity("thread-self", "net"), inode);
    namespace::enter_network(&first).unwrap();
    assert_eq!(identity("thread-self", "net"), inode);
    let (pipe, _) = std::io::pipe().unwrap();
    assert_eq!(
        namespace::enter_network(&pipe).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

pub(crate) fn mounts(_: Isolation) {
    let stage = Path::new("/mnt");
    namespace::mount_memory(stage).unwrap();
    let file = stage.join("words");
    fs::write(&file, "inside").unwrap();
    namespace::mount_over(&file, Path::new("/etc/hostname")).unwrap();
    namespace::unmount(stage).unwrap();
    assert!(!file.exists());
    assert_eq!(fs::read_to_string("/etc/hostname").unwrap(), "inside");
    // The parent process sees no change. Without permission to look, there was no permission to change either.
    let parent = std::os::unix::process::parent_id();
    if let Ok(text) = fs::read_to_string(format!("/proc/{parent}/mountinfo")) {
        assert!(!text.contains("/etc/hostname"), "{text}");
    }
    assert!(namespace::unmount(stage).is_err());
    assert_eq!(
        namespace::mount_over(Path::new("/nowhere"), stage).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    let nul = Path::new("/m\0nt");
    assert_eq!(
        namespace::mount_memory(nul).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

pub(crate) fn children(_: Isolation) {
    assert_eq!(namespace::reap(true).unwrap(), None);
    assert!(!namespace::wait_for_child().unwrap());
    assert_eq!(namespace::next_child_event().unwrap(), None);
    // The first child is the init process of the new PID namespace, which other processes need.
    let first = first();
    assert_eq!(orphan().unwrap_err().kind(), ErrorKind::NotFound);
    let second = namespace::fork(forever).unwrap();
    assert_eq!(namespace::reap(false).unwrap(), None);
    // SIGSTOP, SIGCONT and SIGKILL, each observed before the next.
    for (signal, change) in [
        (19, ChildEvent::Stopped(second)),
        (18, ChildEvent::Continued(second)),
        (
            9,
            ChildEvent::Ended(ChildExit {
                id: second,
                status: None,
                signal: Some(9),
            }),
        ),
    ] {
        namespace::signal(second, signal).unwrap();
        assert!(namespace::wait_for_child().unwrap());
        assert_eq!(namespace::next_child_event().unwrap(), Some(change));
        assert_eq!(namespace::next_child_event().unwrap(), None);
    }
    let last = namespace::fork(forever).unwrap();
    // The new /proc contains only processes of its namespace, if the system permits mounting it.
    let third = namespace::fork(|| {
        let own = namespace::mount_processes(Path::new("/proc")).is_ok();
        let seen = fs::read_link("/proc/self").is_ok_and(|id| id == Path::new(&std::process::id().to_string()));
        if own && !seen { 4 } else { 7 }
    })
    .unwrap();
    let ended = namespace::reap(true).unwrap().unwrap();
    assert_eq!((ended.id, ended.status, ended.signal), (third, Some(7), None));
    // All processes of the namespace end with its init process.
    namespace::signal(first, 9).unwrap();
    let mut ended = [0; 2].map(|_| namespace::reap(true).unwrap().unwrap());
    ended.sort_by_key(|ended| ended.id);
    assert_eq!(
        ended.map(|ended| (ended.id, ended.signal)),
        [(first, Some(9)), (last, Some(9))]
    );
    assert!(namespace::signal(u32::MAX, 9).is_err());
}

pub(crate) fn programs(isolation: Isolation) {
    namespace::ignore_interrupts();
    // Processes need the init process of their namespace.
    let first = first();
    let here = namespace::network().unwrap();
    namespace::new_network().unwrap();
    let there = namespace::network().unwrap();
    let inode = identity("thread-self", "net");
    namespace::enter_network(&here).unwrap();
    let mut command = Command::new("sh");
    let script = "readlink /proc/self/ns/net; id -u; grep -E 'CapAmb|SigIgn' /proc/self/status; uname -n; ulimit -Sn; exec cat /proc/self/stat";
    command.args(["-c", script]).stdin(Stdio::null());
    let inside = NodeContext {
        network: there,
        host_name: b"kitchen".to_vec(),
        open_files: 200,
        own_group: true,
    };
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    namespace::enter_before_exec(&mut command, inside);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], inode, "{text}");
    assert_eq!(lines[1], namespace::ids().0.to_string());
    let hex = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
    // SIGINT is 2, SIGTERM is 15: the program does not inherit ignored signals.
    assert_eq!(hex(lines[2]) & (1 << 1 | 1 << 14), 0, "{text}");
    // CAP_NET_ADMIN is 12, CAP_NET_RAW is 13; there are no others.
    let ambient = hex(lines[3]);
    assert!(ambient == 3 << 12 || isolation == Isolation::Root, "{text}");
    assert_eq!(lines[4..6], ["kitchen", "200"]);
    assert_eq!(fs::read_to_string("/proc/sys/kernel/hostname").unwrap(), host);
    let stat: Vec<&str> = lines[6].rsplit_once(')').unwrap().1.split_whitespace().collect();
    let (process, group) = (lines[6].split_whitespace().next().unwrap(), stat[2]);
    assert!(process == group || group == "0", "{text}");
    namespace::signal(first, 9).unwrap();
    while namespace::reap(true).unwrap().is_some() {}
}

pub(crate) fn descriptors(_: Isolation) {
    let (ours, theirs) = scm_rights::pair().unwrap();
    let here = identity("thread-self", "net");
    // The child creates a network namespace, sends it and exits; the namespace stays.
    namespace::fork(|| {
        let made = namespace::new_network().and_then(|()| namespace::network());
        let sent = made.and_then(|made| scm_rights::send(&theirs, b"a network", &[made.as_fd()]));
        i32::from(sent.is_err())
    })
    .unwrap();
    assert_eq!(namespace::reap(true).unwrap().unwrap().status, Some(0));
    drop(theirs);
    let (bytes, files) = scm_rights::receive(&ours).unwrap();
    assert_eq!(bytes, b"a network");
    let [network] = <[OwnedFd; 1]>::try_from(files).unwrap();
    namespace::enter_network(&network).unwrap();
    assert_ne!(identity("thread-self", "net"), here);
    assert_eq!(interfaces(), ["lo"]);
    assert_eq!(scm_rights::receive(&ours).unwrap().0, b"");
    // The longest message, and one byte more.
    let (one, other) = scm_rights::pair().unwrap();
    scm_rights::send(&one, &vec![7; scm_rights::MAX_MESSAGE], &[]).unwrap();
    assert_eq!(scm_rights::receive(&other).unwrap().0.len(), scm_rights::MAX_MESSAGE);
    let long = scm_rights::send(&one, &vec![7; scm_rights::MAX_MESSAGE + 1], &[]).unwrap_err();
    assert_eq!(long.kind(), ErrorKind::InvalidInput);
}

/// Forks a child that waits until it or its parent is killed.
fn first() -> u32 {
    let mut parent = namespace::Parent::here().unwrap();
    let first = namespace::fork(|| match parent.kills() {
        Ok(()) => forever(),
        Err(_) => 3,
    });
    // Until this process exits.
    std::mem::forget(parent);
    first.unwrap()
}

/// Checks a child whose parent exits before the child can request the death signal.
fn orphan() -> io::Result<()> {
    let (mut told, tell) = io::pipe().unwrap();
    let middle = namespace::fork(|| {
        let mut parent = namespace::Parent::here().unwrap();
        let forked = namespace::fork(|| {
            // The parent of an orphan is the init process of its PID namespace.
            while std::os::unix::process::parent_id() != 1 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            let number = parent.kills().map_or_else(|error| error.kind() as u8, |()| u8::MAX);
            i32::from((&tell).write_all(&[number]).is_err())
        });
        i32::from(forked.is_err())
    });
    let ended = namespace::reap(true).unwrap().unwrap();
    assert_eq!((ended.id, ended.status), (middle.unwrap(), Some(0)));
    let mut number = [0];
    told.read_exact(&mut number).unwrap();
    match number[0] {
        u8::MAX => Ok(()),
        number if number == ErrorKind::NotFound as u8 => Err(ErrorKind::NotFound.into()),
        number => panic!("{number}"),
    }
}

fn forever() -> i32 {
    loop {
        std::thread::park();
    }
}
