//! Machines that permit no lab or only part of it, and traces of a lab on the host and in its network.

use crate::support::{Bench, LOOPBACK_UP, finish, host, is_root, signal, start};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const ON_LAB: [&str; 4] = ["run", "small.toml", "--on", "lab"];

const TRUE: [&str; 6] = ["lab", "small.toml", "--at", "caller", "--", "true"];

/// Checks that one paragraph contains the reason and the alternative.
fn rejected(ended: &crate::support::Ended) {
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    let why: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("no lab")).collect();
    assert_eq!(why.len(), 1, "{}", ended.stderr);
    assert!(
        why[0].contains("namespaces") && why[0].contains("netburn doctor"),
        "{why:?}"
    );
    assert!(why[0].contains("--on simulate"), "{why:?}");
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

/// Forbids further user namespaces, and takes the capabilities that could replace them.
const NO_NAMESPACES: &str =
    "echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"";

#[test]
fn a_machine_without_user_namespaces_has_no_lab_and_the_reason_is_printed() {
    let bench = Bench::small();
    let flags = ["--user", "--map-root-user"];
    let flags = if is_root() { &flags[..] } else { &[] };
    for command in [&ON_LAB[..], &TRUE[..]] {
        rejected(&finish(bench.inside(flags, NO_NAMESPACES, command)));
    }
    let ended = finish(bench.inside(flags, NO_NAMESPACES, ["doctor"]));
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(text.contains("sudo sysctl -w user.max_user_namespaces="), "{text}");
    // The simulator still works.
    let ended = finish(bench.inside(flags, NO_NAMESPACES, ["run", "small.toml", "--on", "simulate"]));
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}

#[test]
fn a_limit_on_network_namespaces_is_named_with_the_command_that_lifts_it() {
    let bench = Bench::small();
    // The limit applies below the namespace in which it is set.
    let script = "echo 0 >/proc/sys/user/max_net_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"";
    let flags = ["--user", "--map-root-user"];
    let flags = if is_root() { &flags[..] } else { &[] };
    let ended = finish(bench.inside(flags, script, TRUE));
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    let why = "no lab: can't create namespaces: No space left on device (os error 28) (user.max_net_namespaces is 0;";
    assert!(ended.stderr.contains(why), "{}", ended.stderr);
    let ended = finish(bench.inside(flags, script, ["doctor"]));
    let line = "sudo sysctl -w user.max_net_namespaces=10000";
    assert!(ended.out().contains(line), "{}", ended.out());
}

/// The system call filter of a container: unshare(2) is not permitted (seccomp(2), classic BPF; its number is 272 on
/// x86-64 and 97 elsewhere).
const FILTERED: &str = "
import ctypes, os, platform, struct, sys
number = 272 if platform.machine() == 'x86_64' else 97
code = b''.join(struct.pack('HBBI', *one) for one in [
    (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)])
memory = ctypes.create_string_buffer(code, len(code))
libc = ctypes.CDLL(None, use_errno=True)
program = struct.pack('HxxxxxxP', 4, ctypes.addressof(memory))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit(f'seccomp: {ctypes.get_errno()}')
os.execv(sys.argv[1], sys.argv[1:])
";

#[test]
fn a_container_that_forbids_namespaces_has_no_lab_and_the_reason_is_printed() {
    let bench = Bench::small();
    let filtered = |args: &[&str]| {
        let mut command = Command::new("python3");
        command.args(["-c", FILTERED, env!("CARGO_BIN_EXE_netburn")]).args(args);
        finish(bench.prepared(command))
    };
    rejected(&filtered(&ON_LAB));
    rejected(&filtered(&TRUE));
    let text = String::from_utf8(filtered(&["doctor"]).stdout).unwrap();
    // A restriction of Ubuntu's own comes first.
    let lines = [
        "--security-opt seccomp=unconfined",
        "apparmor_restrict_unprivileged_userns=0",
    ];
    assert!(lines.iter().any(|line| text.contains(line)), "{text}");
}

#[test]
fn a_container_that_permits_namespaces_has_a_lab() {
    let bench = Bench::small();
    let report =
        "echo \"processes $(ls /proc | grep -c '^[0-9]')\"; curl -sS -o /dev/null -w '%{http_code}' http://server/";
    let command = [&TRUE[..5], &["sh", "-c", report]].concat();
    let inner = "exec unshare --user --map-root-user --mount --pid --fork --mount-proc -- \"$@\"";
    let flags = ["--mount", "--pid", "--fork", "--net", "--ipc", "--uts", "--mount-proc"];
    let ended = finish(bench.inside(&flags, inner, command));
    assert!(ended.status.success(), "{ended:?}");
    assert!(ended.stdout.ends_with(b"200"), "{ended:?}");
}

#[test]
fn the_lab_needs_no_other_program() {
    let bench = Bench::small();
    let mut command = bench.netburn(&TRUE[..5]);
    command
        .args([env!("CARGO_BIN_EXE_netburn"), "--version"])
        .env("PATH", "/nowhere");
    let ended = finish(command);
    assert!(ended.status.success(), "{ended:?}");
    assert!(ended.stdout.starts_with(b"netburn "), "{ended:?}");
    // Only the missing program is reported, with the status that shells use.
    let mut command = bench.netburn(TRUE);
    command.env("PATH", "/nowhere");
    let ended = finish(command).expect(127);
    assert!(ended.stderr.contains("can't start true"), "{ended:?}");
}

#[test]
fn the_exit_status_of_a_command_does_not_wait_for_its_daemons() {
    let bench = Bench::small();
    let at = |script: &str| finish(bench.netburn([&TRUE[..5], &["sh", "-c", script]].concat()));
    // Its daemon has closed its streams and ends with the lab, which finish() checks.
    assert_eq!(
        at("setsid sleep 600 </dev/null >/dev/null 2>&1 & exit 5").status.code(),
        Some(5)
    );
    // As in shells: 128 plus the signal's number.
    assert_eq!(at("kill -KILL $$").status.code(), Some(137));
}

#[test]
fn a_lab_that_is_killed_at_any_instant_leaves_no_traces() {
    let bench = Bench::small();
    let temporary = bench.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let before = host();
    let daemon = "setsid sleep 600 & setsid setsid sleep 600 & curl -s http://server/bytes/1GiB >/dev/null & sleep 600";
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let mut random = seed | 1;
    for round in 0..12 {
        // xorshift (Marsaglia, 2003): an instant of the first second, mostly an early one.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let wait = Duration::from_micros(random % [50_000, 200_000, 1_000_000][round % 3]);
        let mut command = bench.netburn([&TRUE[..5], &["sh", "-c", daemon]].concat());
        command.env("TMPDIR", &temporary);
        let running = start(command);
        std::thread::sleep(wait);
        running.signal("KILL");
        // This waits until no process of the test is left.
        let ended = running.finish();
        assert!(!ended.status.success(), "seed {seed}, after {wait:?}: {ended:?}");
        assert_eq!(
            std::fs::read_dir(&temporary).unwrap().count(),
            0,
            "seed {seed}, after {wait:?}"
        );
    }
    // Other programs on this machine may have added interfaces for a short time.
    let until = Instant::now() + Duration::from_secs(60);
    while host() != before {
        assert!(Instant::now() < until, "seed {seed}: {:?} was {before:?}", host());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The exit status is neither that of wrong input nor that of a machine without a lab.
#[test]
fn a_run_whose_lab_is_killed_during_its_start_was_not_measured() {
    let bench = Bench::small();
    let mut run = start(bench.netburn(ON_LAB));
    let mut helper = Vec::new();
    run.wait_for("the helper", |run| {
        helper = run.processes_with_subcommand("lab-init");
        !helper.is_empty()
    });
    signal(helper[0], "KILL");
    run.finish().expect(3);
}

/// A host with an address, a route and a listening server, examined before, during and after.
const HOST: &str = r#"
look() {
    ip -d link; ip addr; ip -4 route show table all; ip -6 route show table all; ip rule; ip -6 rule
    # A kernel without nf_tables has no rules, and reports that each time.
    nft list ruleset 2>&1 || true; ip netns list 2>/dev/null
    grep -r . /proc/sys/net/ipv4 /proc/sys/net/ipv6/conf /proc/sys/net/core 2>/dev/null | sort
}
set -e
ip link add up0 type veth peer name up1
ip addr add 203.0.113.2/24 dev up0
ip link set up0 up; ip link set up1 up
ip route add default via 203.0.113.1
python3 -c '
import socket, sys, time
for family, address in [(socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")]:
    s = socket.socket(family, socket.SOCK_STREAM)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    s.bind((address, 8080)); s.listen(); globals()[address] = s
for address in ["127.0.0.1", "203.0.113.2"]:
    socket.create_connection((address, 8080), 2).close()
open("listening", "w").close()
time.sleep(600)' &
listener=$!
trap 'kill $listener' EXIT
while [ ! -e listening ]; do sleep 0.05; done
# An interface gets its IPv6 addresses and routes after a while.
while :; do
    look >before; sleep 1; look >again
    ! ip -6 addr | grep -q tentative && cmp -s before again && break
done
"$@" || { echo "status $?" >&2; exit 1; }
look >after
diff before during >&2 && diff before after >&2
"#;

/// Addresses that a station tries to reach. Meanwhile the host is examined from outside.
const REACH: &str = "
import socket, subprocess
reached = []
for host, port in [('203.0.113.2', 8080), ('203.0.113.1', 80), ('127.0.0.1', 8080), ('::1', 8080), ('1.1.1.1', 53), ('2606:4700::1', 53)]:
    try:
        socket.create_connection((host, port), 0.3).getpeername()
        reached.append(host)
    except OSError:
        pass
for host in ['203.0.113.2', '203.0.113.1', '1.1.1.1']:
    if subprocess.run(['ping', '-c', '1', '-W', '1', host], stdout=-3, stderr=-3).returncode == 0:
        reached.append('ping ' + host)
try:
    socket.getaddrinfo('example.com', 80); reached.append('a name server')
except OSError:
    pass
print('reached', reached, 'and', socket.create_connection(('server', 80), 60).getpeername()[0][:4])
";

#[test]
fn the_host_network_is_neither_changed_nor_reached() {
    let bench = Bench::small();
    bench.write("reach.py", REACH);
    // While programs run, the host is examined from its own namespace.
    let look = HOST.split("set -e").next().unwrap();
    let script = format!("{LOOPBACK_UP} true; {HOST}").replace(
        "\"$@\" ||",
        "( while [ ! -e started ]; do sleep 0.05; done; look >during ) & watcher=$!\n\"$@\" && wait $watcher ||",
    );
    assert!(script.contains(look));
    let at = "touch started; exec python3 reach.py";
    let ended = finish(bench.inside(&["--net"], &script, [&TRUE[..5], &["sh", "-c", at]].concat()));
    assert!(ended.status.success(), "{ended:?}");
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(text.contains("reached [] and "), "{text}{}", ended.stderr);
}
