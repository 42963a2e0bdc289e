//! Over SSH, into a real OpenSSH server on loopback with keys and settings of the test's own: `fleet check`, `fleet deploy`.

use crate::common::{Bench, finish, is_root, signal};
use serde_json::Value;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server for this user, and what a client needs to know of it.
struct Sshd {
    child: Child,
    /// For `--ssh-config`: the host is called `there`.
    config: PathBuf,
    log: PathBuf,
}

/// Who logs in there.
struct Account {
    name: String,
    home: String,
    /// Their authorized_keys: our key.
    keys: String,
    /// More of the session's environment.
    environment: &'static str,
}

impl Sshd {
    /// Starts one for this user, with more lines in its settings; `script` runs before it, as root in a mount namespace of
    /// its own where there are rights to that, in the bench's folder.
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

    /// The same for somebody else.
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
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = |name: &str| folder.join(name).display().to_string();
        let Account {
            name,
            home,
            keys,
            environment,
        } = account;
        std::fs::create_dir(at("home")).unwrap();
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nPidFile none\nAuthorizedKeysFile {keys}\nStrictModes no\n\
             PermitRootLogin yes\nSetEnv HOME={home} {environment}\n{settings}\n",
            at("host"),
        );
        std::fs::write(at("sshd_config"), server).unwrap();
        let client = format!(
            "Host there\n HostName 127.0.0.1\n Port {port}\n User {}\n IdentityFile {}\n IdentitiesOnly yes\n \
             StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n GlobalKnownHostsFile /dev/null\n LogLevel ERROR\n",
            name,
            at("id")
        );
        std::fs::write(at("ssh_config"), client).unwrap();
        let log = std::fs::File::create(at("log")).unwrap();
        let mut command = Command::new("/usr/sbin/sshd");
        if is_root() {
            // Where root's server puts those who aren't let in yet.
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
        let until = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let told = || std::fs::read_to_string(at("log")).unwrap_or_default();
            assert!(child.try_wait().unwrap().is_none(), "sshd ended: {}", told());
            assert!(Instant::now() < until, "sshd doesn't listen: {}", told());
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

/// The phase that is slowest, and why.
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
fn a_login_has_its_phases_and_a_connection_that_is_there_is_quicker() {
    let bench = Bench::new();
    // Surely slow where there are rights to that; else one measurement of three has to tell them apart.
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
    // The login that is timed, and the one that stays.
    let accepted = sshd.log().matches("Accepted publickey").count();
    assert_eq!(accepted, 2 * tries, "{}", sshd.log());
    let ended =
        finish(bench.netburn(["fleet", "check", "there", "--ssh-config", sshd.config.to_str().unwrap()])).expect(0);
    assert!(
        ended.out().contains("over a connection that is there"),
        "{}",
        ended.out()
    );
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

/// What gives the server PAM modules that let everybody in, and this line.
fn pam(line: &str) -> String {
    format!(
        "printf '%s\\n' 'auth required pam_permit.so' 'account required pam_permit.so' 'session required pam_permit.so' \
         '{line}' >pam; mount --bind pam /etc/pam.d/sshd"
    )
}

/// What takes root: PAM, and a name server of the server's own.
#[test]
fn slow_pam_modules_and_reverse_dns_are_named() {
    if !is_root() {
        return;
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
    // It is asked and never answers.
    let Ok(_silent) = UdpSocket::bind("127.9.9.9:53") else {
        return;
    };
    // What the far end is asked for is what stands where a server's settings usually stand.
    let script = "mount --bind sshd_config /etc/ssh/sshd_config; printf 'nameserver 127.9.9.9\\noptions timeout:1 attempts:1\\n' >resolv; mount --bind resolv /etc/resolv.conf; \
                  printf 'passwd: files\\ngroup: files\\nhosts: dns\\n' >nss; mount --bind nss /etc/nsswitch.conf";
    let bench = Bench::new();
    let sshd = Sshd::start(&bench, "UsePAM no\nUseDNS yes", script);
    let (phase, cause) = worst(&checked(&bench, &sshd));
    assert!(phase.contains("looks up"), "{phase}: {cause}");
    assert!(cause.contains("client's name by its address"), "{phase}: {cause}");
}

#[test]
fn a_host_that_lets_nobody_in_is_told() {
    let bench = Bench::new();
    let sshd = Sshd::start(
        &bench,
        "UsePAM no\nPubkeyAuthentication no\nPasswordAuthentication no",
        "",
    );
    let config = sshd.config.to_str().unwrap();
    let ended = finish(bench.netburn(["fleet", "check", "there", "--ssh-config", config])).expect(3);
    assert!(ended.out().contains("no login without a question"), "{}", ended.out());
    let ended = finish(bench.netburn(["fleet", "check", "-oProxyCommand=true"]));
    assert_ne!(ended.code(), 0, "an option is no host");
}

/// A plain user of the other machine, known there alone.
const GUEST: &str = "61234";

/// What makes the other machine: with the user, and what would ask for a password in the way.
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
# A user's systemd, as far as it is asked to do something here.
[ "$1" = --user ] || exit 1
[ "$XDG_RUNTIME_DIR" = /run/user/61234 ] || { echo "Failed to connect to bus: No medium found" >&2; exit 1; }
echo "$*" >>/mnt/guest/systemctl.log
[ "$2" = restart ] || exit 0
unit=$HOME/.config/systemd/user/$3
. "$(sed -n 's/^EnvironmentFile=//p' "$unit")"
export NETBURN_FLEET_URL
command=$(sed -n 's/^ExecStart=//p' "$unit")
# As Restart=always has it.
setsid sh -c "until $command; do sleep 0.2; done" >/mnt/guest/service.log 2>&1 </dev/null &
END
printf '#!/bin/sh
[ "$1" = --no-ask-password ]
' >/mnt/bin/loginctl
chmod 755 /mnt/bin/*
"#;

/// What runs as the plain user of one other machine: it ends with the test, whatever becomes of it.
struct Guests {
    /// That machine: its mount namespace.
    machine: PathBuf,
}

impl Guests {
    fn of(sshd: &Sshd) -> Guests {
        let machine = Guests::machine(sshd.child.id()).unwrap();
        Guests { machine }
    }

    /// Which one a process is on.
    fn machine(pid: u32) -> std::io::Result<PathBuf> {
        std::fs::read_link(format!("/proc/{pid}/ns/mnt"))
    }

    /// Their agents.
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
            let here = || Guests::machine(pid).is_ok_and(|machine| machine == self.machine);
            (of_guest && !ended && here()).then_some(pid)
        });
        guests.collect()
    }

    fn wait_for(&self, count: usize) -> Vec<u32> {
        let until = Instant::now() + Duration::from_secs(20);
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

impl Drop for Guests {
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

/// Whoever isn't root there needs nobody's leave: the binary and all that belongs to it are below the home, the agent is
/// theirs, and the service is that of their own systemd. (Where the tests' user isn't root, every test here is one of this.)
#[test]
fn a_plain_user_of_the_other_machine_is_asked_for_no_password() {
    if !is_root() {
        return;
    }
    let bench = Bench::new();
    let account = Account {
        name: "netburn-guest".to_owned(),
        home: "/mnt/guest".to_owned(),
        keys: "/mnt/id.pub".to_owned(),
        environment: "PATH=/mnt/bin:/usr/bin:/bin",
    };
    let sshd = Sshd::start_for(&bench, &account, "UsePAM no", MACHINE);
    let guests = Guests::of(&sshd);
    let config = sshd.config.to_str().unwrap();
    let mut serve =
        crate::common::start(bench.with_state("desk", &["fleet", "serve", "--listen", "127.0.0.1:0", "--quiet"]));
    serve.wait_for("an address", |serve| serve.printed().contains("http://"));
    let there = ["fleet", "deploy", "there", "--name", "kitchen", "--ssh-config", config];
    let ended = finish(bench.with_state("desk", &there)).expect(0);
    assert!(ended.stderr.contains("copied, joining"), "{}", ended.stderr);
    serve.wait_for("the member", |serve| serve.said().contains("+ kitchen"));
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
    // Without anything that starts services, that is said.
    let service = [&there[..], &["--service"]].concat();
    let ended = finish(bench.with_state("desk", &service)).expect(3);
    assert!(
        ended.stderr.contains("neither systemd nor procd runs here"),
        "{}",
        ended.stderr
    );
    assert_eq!(guests.all(), [plain], "what runs goes on");
    // With a systemd of the user's own, which a login without PAM doesn't know the way to.
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
        serve.said().matches("+ kitchen").count() == 2
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
    assert!(!home.join("asked").exists(), "nobody is asked for a password");
    signal(guests.wait_for(1)[0], "TERM");
    guests.wait_for(0);
    serve.signal("INT");
    serve.finish();
}

/// It is copied, started, and in the fleet: over one connection.
#[test]
fn a_machine_that_netburn_is_deployed_to_joins() {
    let bench = Bench::new();
    let sshd = Sshd::start(&bench, "UsePAM no", "");
    let config = sshd.config.to_str().unwrap();
    let mut serve =
        crate::common::start(bench.with_state("desk", &["fleet", "serve", "--listen", "127.0.0.1:0", "--quiet"]));
    serve.wait_for("an address", |serve| serve.printed().contains("http://"));
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
    serve.wait_for("the member", |serve| serve.said().contains("kitchen"));
    assert_eq!(sshd.log().matches("Accepted publickey").count(), 1, "{}", sshd.log());
    let home = bench.path("ssh/home");
    let pid = std::fs::read_to_string(home.join(".local/state/netburn/deployed.pid")).unwrap();
    let arguments = std::fs::read_to_string(format!("/proc/{}/cmdline", pid.trim())).unwrap();
    assert!(
        !arguments.contains('#'),
        "the token is for nobody else to read: {arguments}"
    );
    // What can't be there changes nothing there: the one that runs goes on.
    let wrong = [&there[..], &["--interface", "wlan77"]].concat();
    let refused = finish(bench.with_state("desk", &wrong)).expect(3);
    for text in ["unknown interface: found `wlan77`", "What ran there before still does"] {
        assert!(refused.stderr.contains(text), "{text}: {}", refused.stderr);
    }
    let still = std::fs::read_to_string(home.join(".local/state/netburn/deployed.pid")).unwrap();
    assert_eq!(still, pid);
    assert!(
        std::path::Path::new(&format!("/proc/{}/exe", pid.trim()))
            .read_link()
            .is_ok()
    );
    assert!(!home.join(".config/netburn/join.env.new").exists());
    // Another time it is there already, and the one that runs gives way.
    let again = finish(bench.with_state("desk", &there)).expect(0);
    assert!(again.stderr.contains("was there, joining"), "{}", again.stderr);
    let other = std::fs::read_to_string(home.join(".local/state/netburn/deployed.pid")).unwrap();
    assert_ne!(pid, other);
    signal(other.trim().parse().unwrap(), "TERM");
    serve.signal("INT");
    serve.finish();
    for pid in [pid, other] {
        let until = Instant::now() + Duration::from_secs(20);
        while std::path::Path::new(&format!("/proc/{}/exe", pid.trim()))
            .read_link()
            .is_ok()
        {
            assert!(Instant::now() < until, "{pid} is still there");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
