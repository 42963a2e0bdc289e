//! `fleet check` and `fleet deploy` over SSH, with a real OpenSSH server on loopback that has keys and settings of the
//! test.

use crate::support::{Bench, finish, is_root, signal};
use netburn_test_support::{skip, unused_address};
use serde_json::Value;
use std::net::{TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server for this user, with the settings of its client.
struct Sshd {
    child: Child,
    /// For `--ssh-config`: the host has the name `there`.
    config: PathBuf,
    log: PathBuf,
}

/// The account on the server.
struct Account {
    name: String,
    home: String,
    /// Its authorized_keys file with the test's key.
    keys: String,
    /// Additional environment of the session.
    environment: &'static str,
}

impl Sshd {
    /// Starts a server for this user with additional settings. Before, `script` runs as root in the bench's folder, in
    /// a mount namespace if that is permitted.
    fn start(bench: &Bench, settings: &str, script: &str) -> Sshd {
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let account = Account {
            name: String::from_utf8(user).unwrap().trim().to_owned(),
            home: bench.path("ssh/home").display().to_string(),
            keys: bench.path("ssh/id.pub").display().to_string(),
            environment: "",
        };
        Sshd::start_for(bench, &account, settings, script)
    }

    /// The same for another account.
    fn start_for(bench: &Bench, account: &Account, settings: &str, script: &str) -> Sshd {
        let folder = bench.path("ssh");
        std::fs::create_dir(&folder).unwrap();
        for key in ["host", "id"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(folder.join(key))
                .status();
            assert!(made.unwrap().success());
        }
        let address = unused_address();
        let (host, port) = (address.ip(), address.port());
        let at = |name: &str| folder.join(name).display().to_string();
        let Account {
            name,
            home,
            keys,
            environment,
        } = account;
        std::fs::create_dir(at("home")).unwrap();
        let server = format!(
            "Port {port}\nListenAddress {host}\nHostKey {}\nPidFile none\nAuthorizedKeysFile {keys}\nStrictModes no\n\
             PermitRootLogin yes\nSetEnv HOME={home} {environment}\n{settings}\n",
            at("host"),
        );
        std::fs::write(at("sshd_config"), server).unwrap();
        let client = format!(
            "Host there\n HostName {host}\n Port {port}\n User {}\n IdentityFile {}\n IdentitiesOnly yes\n \
             StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n GlobalKnownHostsFile /dev/null\n LogLevel ERROR\n",
            name,
            at("id")
        );
        std::fs::write(at("ssh_config"), client).unwrap();
        let log = std::fs::File::create(at("log")).unwrap();
        let mut command = Command::new("/usr/sbin/sshd");
        if is_root() {
            // Directory of root's server for connections before authentication.
            let prepared = format!(
                "set -e; mount -t tmpfs none /run; mkdir -m 755 /run/sshd; {script}\nexec /usr/sbin/sshd \"$@\""
            );
            command = Command::new("unshare");
            command.args(["--mount", "--", "sh", "-c", &prepared, "sh"]);
        }
        command
            .args(["-D", "-e", "-f"])
            .arg(at("sshd_config"))
            .current_dir(&folder);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(address).is_err() {
            let log_text = || std::fs::read_to_string(at("log")).unwrap_or_default();
            assert!(child.try_wait().unwrap().is_none(), "sshd ended: {}", log_text());
            assert!(Instant::now() < until, "sshd doesn't listen: {}", log_text());
            std::thread::sleep(Duration::from_millis(10));
        }
        Sshd {
            child,
            config: at("ssh_config").into(),
            log: at("log").into(),
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        signal(self.child.id(), "TERM");
        let _ = self.child.wait();
    }
}

fn checked(bench: &Bench, sshd: &Sshd) -> Value {
    let config = sshd.config.to_str().unwrap();
    let ended = finish(bench.netburn(["fleet", "check", "there", "--format", "json", "--ssh-config", config]));
    let ended = ended.expect(0);
    ended.json()[0].clone()
}

/// The slowest phase and its reason.
fn worst(checked: &Value) -> (String, String) {
    let finding = &checked["findings"][0];
    let text = |name: &str| {
        finding[name]
            .as_str()
            .unwrap_or_else(|| panic!("nothing is slow: {checked}"))
            .to_owned()
    };
    (text("phase"), text("cause"))
}

#[test]
fn a_login_has_phases_and_an_existing_connection_is_faster() {
    let bench = Bench::new();
    // Slow for certain if that can be arranged; else one measurement of three has to show the difference.
    let sshd = if is_root() {
        Sshd::start(&bench, "UsePAM yes", &pam("account optional pam_exec.so /bin/sleep 1"))
    } else {
        Sshd::start(&bench, "UsePAM no", "")
    };
    let times = |host: &Value| (host["login_ms"].as_u64().unwrap(), host["reused_ms"].as_u64().unwrap());
    let mut tries = 1;
    let mut host = checked(&bench, &sshd);
    while !is_root() && tries < 3 && times(&host).1 >= times(&host).0 {
        host = checked(&bench, &sshd);
        tries += 1;
    }
    let names: Vec<&str> = host["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["phase"].as_str().unwrap())
        .collect();
    for phase in ["TCP", "key exchange", "publickey, accepted", "session"] {
        assert!(names.contains(&phase), "{names:?}");
    }
    let (login, reused) = times(&host);
    assert!(reused < login, "{host}");
    // The timed login, and the connection that stays open.
    let accepted = sshd.log().matches("Accepted publickey").count();
    assert_eq!(accepted, 2 * tries, "{}", sshd.log());
    let ended =
        finish(bench.netburn(["fleet", "check", "there", "--ssh-config", sshd.config.to_str().unwrap()])).expect(0);
    assert!(ended.out().contains("over an existing connection"), "{}", ended.out());
}

#[test]
fn a_slow_shell_is_named() {
    let bench = Bench::new();
    let slow = bench.write("slow.sh", "sleep 1.5\nexec sh -c \"$SSH_ORIGINAL_COMMAND\"\n");
    let sshd = Sshd::start(&bench, &format!("UsePAM no\nForceCommand sh {}", slow.display()), "");
    let (phase, cause) = worst(&checked(&bench, &sshd));
    assert!(
        phase.starts_with("shell") && cause.contains("forced command"),
        "{phase}: {cause}"
    );
}

/// Gives the server PAM modules that accept all users, and this line.
fn pam(line: &str) -> String {
    format!(
        "printf '%s\\n' 'auth required pam_permit.so' 'account required pam_permit.so' 'session required pam_permit.so' \
         '{line}' >pam; mount --bind pam /etc/pam.d/sshd"
    )
}

#[test]
fn slow_pam_modules_are_named() {
    if !is_root() {
        return skip("needs root to change the settings of PAM");
    }
    let sleep = "pam_exec.so /bin/sleep 1.5";
    for (module, phase, why) in [
        (format!("session optional {sleep}"), "session", "PAM session modules"),
        (
            format!("account optional {sleep}"),
            "publickey, accepted",
            "PAM account modules",
        ),
    ] {
        let bench = Bench::new();
        let sshd = Sshd::start(&bench, "UsePAM yes", &pam(&module));
        let (found, cause) = worst(&checked(&bench, &sshd));
        assert!(found == phase && cause.contains(why), "{found}: {cause}");
    }
}

#[test]
fn a_slow_reverse_lookup_is_named() {
    if !is_root() {
        return skip("needs root to change the name server");
    }
    // It receives queries and never answers.
    let _silent = UdpSocket::bind("127.9.9.9:53").unwrap();
    // The remote command reads the usual path of a server's settings.
    let script = "mount --bind sshd_config /etc/ssh/sshd_config; printf 'nameserver 127.9.9.9\\noptions timeout:1 attempts:1\\n' >resolv; mount --bind resolv /etc/resolv.conf; \
                  printf 'passwd: files\\ngroup: files\\nhosts: dns\\n' >nss; mount --bind nss /etc/nsswitch.conf";
    let bench = Bench::new();
    let sshd = Sshd::start(&bench, "UsePAM no\nUseDNS yes", script);
    let (phase, cause) = worst(&checked(&bench, &sshd));
    assert!(phase.contains("looks up"), "{phase}: {cause}");
    assert!(cause.contains("client's name by its address"), "{phase}: {cause}");
}

#[test]
fn a_host_that_rejects_all_users_is_reported() {
    let bench = Bench::new();
    let sshd = Sshd::start(
        &bench,
        "UsePAM no\nPubkeyAuthentication no\nPasswordAuthentication no",
        "",
    );
    let config = sshd.config.to_str().unwrap();
    let ended = finish(bench.netburn(["fleet", "check", "there", "--ssh-config", config])).expect(3);
    assert!(ended.out().contains("no login without user input"), "{}", ended.out());
    let ended = finish(bench.netburn(["fleet", "check", "-oProxyCommand=true"]));
    assert_ne!(ended.code(), 0, "an option was used as a host");
}

/// An ordinary user of the other machine, without an account on this one.
const GUEST: &str = "61234";

/// Creates the other machine: its user, and programs that would ask for a password.
const MACHINE: &str = r#"
mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/guest /mnt/bin
cp id.pub /mnt/id.pub
chmod 644 /mnt/id.pub
chown 61234:61234 /mnt/guest
cp /etc/passwd passwd
echo 'netburn-guest:*:61234:61234::/mnt/guest:/bin/sh' >>passwd
mount --bind passwd /etc/passwd
for asks in sudo su pkexec doas; do printf '#!/bin/sh
echo "$0 $*" >>/mnt/guest/asked
exit 1
' >/mnt/bin/$asks; done
cat >/mnt/bin/systemctl <<'END'
#!/bin/sh
# A user's systemd, with the functions that the test needs.
[ "$1" = --user ] || exit 1
[ "$XDG_RUNTIME_DIR" = /run/user/61234 ] || { echo "Failed to connect to bus: No medium found" >&2; exit 1; }
echo "$*" >>/mnt/guest/systemctl.log
[ "$2" = restart ] || exit 0
unit=$HOME/.config/systemd/user/$3
. "$(sed -n 's/^EnvironmentFile=//p' "$unit")"
export NETBURN_FLEET_URL
command=$(sed -n 's/^ExecStart=//p' "$unit")
# Restart=always
setsid sh -c "until $command; do sleep 0.2; done" >/mnt/guest/service.log 2>&1 </dev/null &
END
printf '#!/bin/sh
[ "$1" = --no-ask-password ]
' >/mnt/bin/loginctl
chmod 755 /mnt/bin/*
"#;

/// Processes of the ordinary user of the other machine. They end with the test.
struct RemoteProcesses {
    /// The mount namespace of that machine.
    machine: PathBuf,
}

impl RemoteProcesses {
    fn for_host(sshd: &Sshd) -> RemoteProcesses {
        let machine = RemoteProcesses::machine(sshd.child.id()).unwrap();
        RemoteProcesses { machine }
    }

    /// The machine (mount namespace) of a process.
    fn machine(pid: u32) -> std::io::Result<PathBuf> {
        std::fs::read_link(format!("/proc/{pid}/ns/mnt"))
    }

    /// The agents of that user.
    fn all(&self) -> Vec<u32> {
        let is_agent = |pid: &u32| {
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.starts_with("/mnt/guest/.local/bin/netburn")
        };
        self.processes().into_iter().filter(is_agent).collect()
    }

    fn processes(&self) -> Vec<u32> {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let guests = entries.filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
            let of_guest = status
                .lines()
                .any(|line| line.split_whitespace().take(2).eq(["Uid:", GUEST]));
            let ended = status.contains("State:\tZ");
            let here = || RemoteProcesses::machine(pid).is_ok_and(|machine| machine == self.machine);
            (of_guest && !ended && here()).then_some(pid)
        });
        guests.collect()
    }

    fn wait_for(&self, count: usize) -> Vec<u32> {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let all = self.all();
            if all.len() == count {
                return all;
            }
            assert!(Instant::now() < until, "{count} processes were expected: {all:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for RemoteProcesses {
    fn drop(&mut self) {
        for _ in 0..100 {
            let all = self.processes();
            for pid in &all {
                let _ = Command::new("kill").args(["-s", "KILL", &pid.to_string()]).status();
            }
            if all.is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A user who isn't root needs no rights of others. The binary and its files are below the home directory, and the
/// agent runs as that user. The service belongs to the user's own systemd. (If the tests' user isn't root, this holds
/// for all tests here.)
#[test]
fn deploying_as_an_ordinary_user_asks_for_no_password() {
    if !is_root() {
        return skip("needs root to log in as another user");
    }
    let bench = Bench::new();
    let account = Account {
        name: "netburn-guest".to_owned(),
        home: "/mnt/guest".to_owned(),
        keys: "/mnt/id.pub".to_owned(),
        environment: "PATH=/mnt/bin:/usr/bin:/bin",
    };
    let sshd = Sshd::start_for(&bench, &account, "UsePAM no", MACHINE);
    let guests = RemoteProcesses::for_host(&sshd);
    let config = sshd.config.to_str().unwrap();
    let mut serve =
        crate::support::start(bench.with_state("desk", &["fleet", "serve", "--listen", "127.0.0.1:0", "--quiet"]));
    serve.wait_for("an address", |serve| serve.stdout_so_far().contains("http://"));
    let there = ["fleet", "deploy", "there", "--name", "kitchen", "--ssh-config", config];
    let ended = finish(bench.with_state("desk", &there)).expect(0);
    assert!(ended.stderr.contains("copied, joining"), "{}", ended.stderr);
    serve.wait_for("the member", |serve| serve.stderr_so_far().contains("+ kitchen"));
    let machine = PathBuf::from(format!("/proc/{}/root", sshd.child.id()));
    let home = machine.join("mnt/guest");
    for (path, mode) in [
        (".local/bin/netburn", 0o755),
        (".config/netburn/join.env", 0o600),
        (".local/state/netburn/agent.log", 0o600),
    ] {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(home.join(path)).unwrap();
        assert_eq!(
            (found.uid().to_string().as_str(), found.mode() & 0o777),
            (GUEST, mode),
            "{path}"
        );
    }
    let plain = guests.wait_for(1)[0];
    // Without any service manager, a message names it.
    let service = [&there[..], &["--service"]].concat();
    let ended = finish(bench.with_state("desk", &service)).expect(3);
    assert!(
        ended.stderr.contains("neither systemd nor procd runs here"),
        "{}",
        ended.stderr
    );
    assert_eq!(guests.all(), [plain], "the running agent stopped");
    // With the user's own systemd, which a login without PAM can't reach by the environment.
    let inside = |script: &str| {
        let mut command = Command::new("nsenter");
        command.args([
            "--mount",
            "--target",
            &sshd.child.id().to_string(),
            "--",
            "sh",
            "-ec",
            script,
        ]);
        assert!(command.status().unwrap().success());
    };
    inside("mkdir -p /run/systemd/system");
    let ended = finish(bench.with_state("desk", &service)).expect(3);
    assert!(
        ended.stderr.contains("sudo loginctl enable-linger USER"),
        "{}",
        ended.stderr
    );
    inside("mkdir -p /run/user/61234/systemd; chown -R 61234 /run/user/61234");
    let ended = finish(bench.with_state("desk", &service)).expect(0);
    assert!(
        ended.stderr.contains("was there, installed as a service"),
        "{}",
        ended.stderr
    );
    serve.wait_for("the service in its place", |_| {
        let all = guests.all();
        all.len() == 1 && all != [plain]
    });
    serve.wait_for("the member again", |serve| {
        serve.stderr_so_far().matches("+ kitchen").count() == 2
    });
    let log = std::fs::read_to_string(home.join("systemctl.log")).unwrap();
    assert!(
        log.contains("--user daemon-reload") && log.contains("--user enable netburn-agent.service"),
        "{log}"
    );
    let unit = std::fs::read_to_string(home.join(".config/systemd/user/netburn-agent.service")).unwrap();
    assert!(
        unit.contains("ExecStart=/mnt/guest/.local/bin/netburn fleet join --name kitchen"),
        "{unit}"
    );
    assert!(!home.join("asked").exists(), "no program asked for a password");
    signal(guests.wait_for(1)[0], "TERM");
    guests.wait_for(0);
    serve.signal("INT");
    serve.finish();
}

/// The binary is copied and started, and the agent joins, all over one connection.
#[test]
fn netburn_deployed_to_a_machine_joins_the_fleet() {
    let bench = Bench::new();
    let sshd = Sshd::start(&bench, "UsePAM no", "");
    let config = sshd.config.to_str().unwrap();
    let mut serve =
        crate::support::start(bench.with_state("desk", &["fleet", "serve", "--listen", "127.0.0.1:0", "--quiet"]));
    serve.wait_for("an address", |serve| serve.stdout_so_far().contains("http://"));
    let there = [
        "fleet",
        "deploy",
        "there",
        "--name",
        "kitchen",
        "--label",
        "room=kitchen",
        "--ssh-config",
        config,
    ];
    let ended = finish(bench.with_state("desk", &there)).expect(0);
    assert!(ended.stderr.contains("copied, joining"), "{}", ended.stderr);
    serve.wait_for("the member", |serve| serve.stderr_so_far().contains("kitchen"));
    assert_eq!(sshd.log().matches("Accepted publickey").count(), 1, "{}", sshd.log());
    let home = bench.path("ssh/home");
    let pid = std::fs::read_to_string(home.join(".local/state/netburn/deployed.pid")).unwrap();
    let arguments = std::fs::read_to_string(format!("/proc/{}/cmdline", pid.trim())).unwrap();
    assert!(!arguments.contains('#'), "the arguments contain the token: {arguments}");
    // A binary that can't run there changes nothing. The running agent continues.
    let wrong = [&there[..], &["--interface", "wlan77"]].concat();
    let rejected = finish(bench.with_state("desk", &wrong)).expect(3);
    for text in ["unknown interface: found `wlan77`", "What ran there before still does"] {
        assert!(rejected.stderr.contains(text), "{text}: {}", rejected.stderr);
    }
    let still = std::fs::read_to_string(home.join(".local/state/netburn/deployed.pid")).unwrap();
    assert_eq!(still, pid);
    assert!(
        std::path::Path::new(&format!("/proc/{}/exe", pid.trim()))
            .read_link()
            .is_ok()
    );
    assert!(!home.join(".config/netburn/join.env.new").exists());
    // Another program, which also runs there, does not replace netburn.
    let sum = |path: &std::path::Path| std::fs::read(path).unwrap();
    let before = sum(&home.join(".local/bin/netburn"));
    let wrong = [&there[..], &["--binary", "/bin/true"]].concat();
    let rejected = finish(bench.with_state("desk", &wrong)).expect(3);
    assert!(
        rejected.stderr.contains("/bin/true is not netburn"),
        "{}",
        rejected.stderr
    );
    assert!(sum(&home.join(".local/bin/netburn")) == before && !home.join(".local/bin/.netburn.new").exists());
    assert!(std::fs::read_link(format!("/proc/{}/exe", pid.trim())).is_ok());
    // At the second deployment the binary is already there, and the running agent is replaced.
    let again = finish(bench.with_state("desk", &there)).expect(0);
    assert!(again.stderr.contains("was there, joining"), "{}", again.stderr);
    let other = std::fs::read_to_string(home.join(".local/state/netburn/deployed.pid")).unwrap();
    assert_ne!(pid, other);
    signal(other.trim().parse().unwrap(), "TERM");
    serve.signal("INT");
    serve.finish();
    for pid in [pid, other] {
        let until = Instant::now() + Duration::from_secs(60);
        while std::path::Path::new(&format!("/proc/{}/exe", pid.trim()))
            .read_link()
            .is_ok()
        {
            assert!(Instant::now() < until, "{pid} is still there");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A session over the modelled access points while the station walks at 4 m/s. The server prints a line each 100 ms. All
/// arrive, and the station moves once.
#[test]
fn a_session_survives_a_walk_in_the_lab() {
    if !is_root() {
        return skip("needs root, for sshd in a lab");
    }
    let bench = Bench::new();
    let folder = bench.path("ssh");
    std::fs::create_dir(&folder).unwrap();
    for key in ["host", "id"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(folder.join(key))
            .status();
        assert!(made.unwrap().success());
    }
    let at = |name: &str| folder.join(name).display().to_string();
    let server = format!(
        "Port 2222\nHostKey {}\nPidFile none\nAuthorizedKeysFile {}\nStrictModes no\nPermitRootLogin yes\nUsePAM no\n",
        at("host"),
        at("id.pub")
    );
    std::fs::write(at("sshd_config"), server).unwrap();
    let serve = format!(
        "mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec /usr/sbin/sshd -D -e -f {}",
        at("sshd_config")
    );
    let lines = "for i in $(seq 80); do echo line $i; sleep 0.1; done";
    let key = at("id");
    let command = [
        "lab",
        "walk-with-a-call",
        "--set",
        "station.phone.speed=4 m/s",
        "--set",
        "network.home.k=true",
        "--no-servers",
        "--at",
        "server",
        "--service",
        "--ready",
        "2222",
        "--",
        "unshare",
        "--mount",
        "--",
        "sh",
        "-c",
        &serve,
        "--and",
        "--at",
        "phone",
        "--",
        "ssh",
        "-F",
        "none",
        "-i",
        &key,
        "-p",
        "2222",
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        "UserKnownHostsFile=/dev/null",
        "-o",
        "LogLevel=ERROR",
        "root@server",
        lines,
    ];
    let ended = finish(bench.netburn(command)).expect(0);
    let expected: String = (1..=80).map(|line| format!("phone| line {line}\n")).collect();
    assert_eq!(ended.out(), expected);
    assert!(
        ended.stderr.contains("phone: moved from hall.5g to attic.5g"),
        "{}",
        ended.stderr
    );
}
