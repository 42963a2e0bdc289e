//! What of this kernel a lab needs.

use super::{Finding, in_container};
use netburn_linux::{Monotonic, wait};
use netburn_units::Duration;
use std::fs;
use std::path::Path;

fn number(path: &str) -> Option<i64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

pub(super) fn namespaces() -> Finding {
    let (found, remedy) = if number("/proc/sys/user/max_user_namespaces") == Some(0) {
        (
            "none are allowed",
            Some("sudo sysctl -w user.max_user_namespaces=10000"),
        )
    } else if number("/proc/sys/kernel/unprivileged_userns_clone") == Some(0) {
        (
            "only root may make them",
            Some("sudo sysctl -w kernel.unprivileged_userns_clone=1"),
        )
    } else if number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1) {
        (
            "AppArmor restricts them to programs with a profile (Ubuntu since 23.10)",
            Some("sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
        )
    } else if !Path::new("/proc/self/ns/user").exists() {
        ("this kernel has none", None)
    } else {
        ("allowed", None)
    };
    Finding {
        name: "user namespaces",
        ok: found == "allowed",
        found: found.to_owned(),
        remedy: remedy.map(str::to_owned),
    }
}

pub(super) fn tun() -> Finding {
    let opened = fs::File::options().read(true).write(true).open("/dev/net/tun");
    let remedy = opened.as_ref().err().map(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => "sudo chmod 0666 /dev/net/tun",
        _ if in_container() => "start the container with --device /dev/net/tun",
        _ => "sudo modprobe tun",
    });
    Finding {
        name: "/dev/net/tun",
        ok: opened.is_ok(),
        found: opened
            .err()
            .map_or_else(|| "can be opened".to_owned(), |error| error.to_string()),
        remedy: remedy.map(str::to_owned),
    }
}

pub(super) fn priority() -> Finding {
    // On a thread of its own, which ends with it.
    let first = std::thread::spawn(|| wait::run_first(1)).join();
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

/// How late sleeps of a millisecond end.
pub(super) fn timer() -> Finding {
    let late = std::thread::spawn(|| {
        let _ = netburn_linux::set_timer_slack(1);
        let (mut wait, mut ready) = (wait::Wait::new().ok()?, Vec::new());
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
        found: format!("{there}; used unless a scenario says otherwise: {used}"),
        remedy: (!load.is_empty()).then(|| load.join("; ")),
    }
}
