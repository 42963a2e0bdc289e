//! The lab as root and as an ordinary user, with /dev/net/tun accessible, inaccessible and missing: ping, curl, iperf3
//! and a browser. CI provides them all.

use crate::support::{Bench, SMALL, finish, is_root};
use netburn_test_support::skip;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::Command;

/// A user id without an account on usual systems.
const USER: u32 = 54_711;

/// The state of /dev/net/tun for an ordinary user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tun {
    /// A device that all users may open.
    Open,
    /// A device that only root may open.
    Closed,
    /// No device.
    Missing,
}

impl Tun {
    /// The devices of the lab's stations in this case.
    const fn device(self) -> &'static str {
        match self {
            Tun::Open => "stations use TUN devices",
            Tun::Closed | Tun::Missing => "stations use Ethernet pairs",
        }
    }
}

/// Mounts another /dev/net with or without a device, for this command only.
const PREPARED: &str = r#"
set -e
mount -t tmpfs -o mode=755 none stage
case $0 in
    Open) mknod stage/tun c 10 200; chmod 666 stage/tun ;;
    Closed) mknod stage/tun c 10 200; chmod 600 stage/tun ;;
esac
mount --bind stage /dev/net
exec "$@"
"#;

/// `netburn` as an ordinary user. A user who isn't root can only remove the device, as root of a user namespace.
fn ordinary(bench: &Bench, tun: Tun, args: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    if !is_root() {
        if tun == Tun::Open {
            return bench.netburn(args);
        }
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "--", "sh", "-c", PREPARED, &format!("{tun:?}")]);
    if is_root() {
        let (user, group) = (format!("--reuid={USER}"), format!("--regid={USER}"));
        command.args(["setpriv", &user, &group, "--clear-groups"]);
    }
    command.arg(reachable(bench)).args(args);
    bench.prepared(command)
}

/// Copies the program to a folder that all users can read.
fn reachable(bench: &Bench) -> PathBuf {
    let program = bench.path("netburn");
    if !program.exists() {
        let built = env!("CARGO_BIN_EXE_netburn");
        if std::fs::hard_link(built, &program).is_err() {
            std::fs::copy(built, &program).unwrap();
        }
        std::fs::create_dir(bench.path("stage")).unwrap();
        if is_root() {
            let folder = program.parent().unwrap();
            chown(folder, Some(USER), Some(USER)).unwrap();
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    program
}

/// Commands at a station. ping(8) waits for a single echo for seconds, but not for the last of several. The browser
/// uses its own folder, and needs an option to run as root without a sandbox.
const COMMANDS: &str = r#"
echo "user $(id -u)"
ping -4 -q -c 1 server | grep received
ping -4 -q -c 1 server | grep received
ping -6 -q -c 1 server | grep received
echo "curl $(curl -sS -o /dev/null -w '%{http_code}' http://server/)"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
[ "$(id -u)" -ne 0 ] || sandbox=--no-sandbox
export HOME="$home" TMPDIR="$home" XDG_CONFIG_HOME="$home" XDG_CACHE_HOME="$home"
page=$(chromium --headless=new --disable-gpu --disable-dev-shm-usage $sandbox --user-data-dir="$home/profile" \
    --dump-dom http://server/ 2>"$home/errors") || cat "$home/errors" >&2
case $page in *"a server that moves bytes to measure networks with"*) echo "page loaded" ;; *) echo "no page: $page" ;; esac
"#;

fn expect_answers(bench: &Bench, ended: &crate::support::Ended, user: u32) {
    let text = String::from_utf8_lossy(&ended.stdout);
    let lines: Vec<&str> = text.lines().collect();
    assert!(ended.status.success(), "{text}{}", ended.stderr);
    assert_eq!(
        lines.first(),
        Some(&format!("user {user}").as_str()),
        "{}",
        ended.stderr
    );
    for ping in &lines[1..4] {
        assert!(ping.starts_with("1 packets transmitted, 1 received"), "{text}");
    }
    assert_eq!(lines[4..], ["curl 200", "page loaded"], "{text}{}", ended.stderr);
    assert!(!bench.path("profile").exists());
}

const AT_CALLER: [&str; 6] = ["lab", "small.toml", "--at", "caller", "--", "sh"];

#[test]
fn an_ordinary_user_has_a_lab_with_tun() {
    let device = std::fs::File::options().read(true).write(true).open("/dev/net/tun");
    if !is_root() && device.is_err() {
        return skip("needs /dev/net/tun, or root to make one");
    }
    expect_lab_of_ordinary_user(Tun::Open);
}

#[test]
fn an_ordinary_user_has_a_lab_with_a_tun_of_root() {
    if !is_root() {
        return skip("needs root to make a device of root");
    }
    expect_lab_of_ordinary_user(Tun::Closed);
}

#[test]
fn an_ordinary_user_has_a_lab_without_tun() {
    expect_lab_of_ordinary_user(Tun::Missing);
}

fn expect_lab_of_ordinary_user(tun: Tun) {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.write("commands.sh", COMMANDS);
    let ended = finish(ordinary(&bench, tun, &[&AT_CALLER[..], &["./commands.sh"]].concat()));
    let user = match (is_root(), tun) {
        (true, _) => USER,
        (false, Tun::Open) => {
            std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(bench.path("commands.sh")).unwrap())
        }
        (false, _) => 0,
    };
    expect_answers(&bench, &ended, user);
    if is_root() || tun != Tun::Open {
        assert!(ended.stderr.contains(tun.device()), "{tun:?}: {}", ended.stderr);
    }
    let iperf3 = [
        "lab",
        "small.toml",
        "--at",
        "reader",
        "--",
        "iperf3",
        "-c",
        "server",
        "-n",
        "1M",
        "-J",
    ];
    let ended = finish(ordinary(&bench, tun, &iperf3));
    assert!(ended.status.success(), "{tun:?}: {}", ended.stderr);
    // Data in flight when the client has sent everything isn't counted as received.
    let received = ended.json()["end"]["sum_received"]["bytes"].as_u64();
    assert!(received.is_some_and(|bytes| bytes > 500_000), "{tun:?}: {received:?}");
    // The output names the current devices, and the line that would enable more.
    let ended = finish(ordinary(&bench, tun, &["doctor"]));
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success(), "{text}");
    match tun {
        Tun::Open => assert!(!text.contains("chmod"), "{text}"),
        Tun::Closed => assert!(text.contains("sudo chmod 0666 /dev/net/tun"), "{text}"),
        Tun::Missing => assert!(
            text.contains("modprobe tun") || text.contains("--device /dev/net/tun"),
            "{text}"
        ),
    }
    if is_root() || tun != Tun::Open {
        let device = if tun == Tun::Open {
            "TUN devices"
        } else {
            "Ethernet pairs"
        };
        assert!(text.contains(device), "{text}");
    }
}

/// Another user id without an account: the limit counts all processes of a user.
const LIMITED_USER: u32 = 54_712;

/// Wherever the limit stops the start of a lab: an error, not a panic.
#[test]
fn a_limit_of_processes_is_an_error() {
    if !is_root() {
        return skip("needs root to become a user without processes");
    }
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let program = reachable(&bench);
    for limit in 4..=16 {
        let mut command = Command::new("setpriv");
        let (user, group) = (format!("--reuid={LIMITED_USER}"), format!("--regid={LIMITED_USER}"));
        let script = format!("ulimit -u {limit} && exec \"$@\"");
        command.args([&user, &group, "--clear-groups", "bash", "-c", &script, "bash"]);
        command.arg(&program).args(AT_CALLER).args(["-c", ":"]);
        let ended = finish(bench.prepared(command));
        assert!(matches!(ended.status.code(), Some(0 | 2 | 3)), "{limit}: {ended:?}");
        assert!(!ended.stderr.contains("panicked"), "{limit}: {}", ended.stderr);
    }
}

#[test]
fn root_has_a_lab() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.write("commands.sh", COMMANDS);
    let command = [&AT_CALLER[..], &["./commands.sh"]].concat();
    let ended = if is_root() {
        finish(bench.netburn(command))
    } else {
        finish(bench.inside(&[], "exec \"$@\"", command))
    };
    expect_answers(&bench, &ended, 0);
}
