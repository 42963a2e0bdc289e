//! Kernel features that a lab needs.

use super::Finding;
use netburn_lab::poller;
use netburn_platform::Monotonic;
use netburn_units::Duration;
use std::fs;
use std::path::Path;

/// Properties of a machine.
#[derive(Debug, Clone, Default)]
pub(super) struct Machine {
    /// A lab could be opened, which decides.
    pub(super) lab: bool,
    /// The process runs as root.
    pub(super) root: bool,
    /// The process runs in a container, detected by a file of its runtime.
    pub(super) container: bool,
    /// The kernel supports user namespaces.
    pub(super) kernel: bool,
    /// The lowest of the limits on namespaces (user.max_user_namespaces and others).
    pub(super) most: Option<(String, u64)>,
    /// kernel.unprivileged_userns_clone, on Debian and its derivatives.
    pub(super) clone: Option<i64>,
    /// kernel.apparmor_restrict_unprivileged_userns, on Ubuntu since 23.10.
    pub(super) apparmor: Option<i64>,
    /// System calls are filtered (`Seccomp: 2` in /proc/self/status).
    pub(super) filtered: bool,
    /// Error of opening /dev/net/tun: `true` if its mode forbids it, and the text of the kernel.
    pub(super) closed: Option<(bool, String)>,
}

fn number(path: &str) -> Option<i64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Returns `true` in a container of Docker or Podman.
pub(super) fn in_container() -> bool {
    Path::new("/.dockerenv").exists() || Path::new("/run/.containerenv").exists()
}

/// Inspects this machine. The arguments are the results of opening a lab and of the search for a container runtime.
pub(super) fn machine(lab: bool, container: bool) -> Machine {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let seccomp = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
    let opened = fs::File::options().read(true).write(true).open("/dev/net/tun");
    Machine {
        lab,
        root: netburn_platform::process::is_root(),
        container,
        kernel: Path::new("/proc/self/ns/user").exists(),
        most: crate::lab_opening::namespace_limit(),
        clone: number("/proc/sys/kernel/unprivileged_userns_clone"),
        apparmor: number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        filtered: seccomp.is_some_and(|mode| mode.trim() == "2"),
        closed: opened
            .err()
            // EACCES: the mode of the file. EPERM: a container without permission for the device.
            .map(|error| (error.raw_os_error() == Some(13), error.to_string())),
    }
}

pub(super) fn priority() -> Finding {
    // A separate thread, so that the priority ends with the thread.
    let first = std::thread::spawn(|| poller::set_realtime_priority(1)).join();
    let ok = first.is_ok_and(|first| first.is_ok());
    Finding {
        name: "real-time priority",
        ok,
        found: if ok {
            "allowed"
        } else {
            "not allowed: the lab's tails are longer"
        }
        .to_owned(),
        remedy: (!ok).then(|| "add `USER - rtprio 10` to /etc/security/limits.conf and log in again".to_owned()),
    }
}

/// Delay of sleeps of 1 ms beyond their end.
pub(super) fn timer() -> Finding {
    let late = std::thread::spawn(|| {
        let _ = netburn_platform::set_timer_slack(1);
        let (mut wait, mut ready) = (poller::Poller::new().ok()?, Vec::new());
        let mut late = Vec::new();
        for _ in 0..300 {
            let until = Monotonic::now() + Duration::from_millis(1);
            wait.wait(Some(until), &mut ready).ok()?;
            late.push(Monotonic::now().saturating_since(until).as_nanos() / 1_000);
        }
        late.sort_unstable();
        Some((late[150], late[297]))
    });
    let late = late.join().ok().flatten();
    Finding {
        name: "timers",
        ok: late.is_some_and(|(_, p99)| p99 <= 500),
        found: late.map_or_else(
            || "can't be measured".to_owned(),
            |(p50, p99)| {
                format!("{p50} µs late at the median, {p99} µs at the 99th percentile (without real-time priority)")
            },
        ),
        remedy: None,
    }
}

pub(super) fn controls() -> Finding {
    let read = |name: &str| {
        fs::read_to_string(format!("/proc/sys/net/ipv4/{name}"))
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let (there, used) = (read("tcp_available_congestion_control"), read("tcp_congestion_control"));
    let missing: Vec<&str> = ["reno", "cubic", "bbr"]
        .into_iter()
        .filter(|name| !there.split_whitespace().any(|have| have == *name))
        .collect();
    let load: Vec<String> = missing.iter().map(|name| format!("sudo modprobe tcp_{name}")).collect();
    Finding {
        name: "congestion controls",
        ok: missing.is_empty(),
        found: format!("{there}; unless a scenario sets `cc`, the lab uses cubic, and local and fleet use {used}"),
        remedy: (!load.is_empty()).then(|| load.join("; ")),
    }
}
