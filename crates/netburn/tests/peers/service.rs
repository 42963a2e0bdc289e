//! Tests of `fleet join --install` in two places. One is below a root directory of the test, where no file of this
//! machine changes and no service starts. The other is a container that boots with systemd and its services.

use crate::machine;
use crate::support::{Bench, Ended, finish, is_root};
use netburn_test_support::skip;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A join URL with a token of 32 bytes that no fleet has.
fn url() -> String {
    format!("http://192.0.2.5:4484/#{}", token())
}

fn token() -> String {
    "A".repeat(43)
}

/// A root directory with these folders.
fn root(bench: &Bench, folders: &[&str]) -> PathBuf {
    let root = bench.path("root");
    for folder in folders {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    root
}

fn join(bench: &Bench, root: &Path, args: &[&str]) -> Ended {
    let mut command = bench.netburn([&["fleet", "join"], args].concat());
    command.env("NETBURN_INSTALL_ROOT", root).env("HOME", "/srv/me");
    finish(command)
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_systemd_unit_is_valid_and_its_secret_is_private() {
    let bench = Bench::new();
    let root = root(&bench, &["etc/systemd"]);
    let args = [
        &url(),
        "--install",
        "--name",
        "kitchen",
        "--label",
        "room=kitchen",
        "--max-rate",
        "50 Mbit/s",
        "--interface",
        "wlan0",
    ];
    let ended = join(&bench, &root, &args).expect(0);
    let (unit, environment, binary) = if is_root() {
        (
            "etc/systemd/system/netburn-agent.service",
            "etc/netburn/join.env",
            "usr/local/bin/netburn",
        )
    } else {
        (
            "srv/me/.config/systemd/user/netburn-agent.service",
            "srv/me/.config/netburn/join.env",
            "srv/me/.local/bin/netburn",
        )
    };
    for path in [unit, environment, binary] {
        assert!(
            ended.stderr.contains(&format!("/{path}")),
            "it says what it did: {}",
            ended.stderr
        );
    }
    let text = std::fs::read_to_string(root.join(unit)).unwrap();
    assert!(!text.contains(&token()), "{text}");
    let line =
        format!("ExecStart=/{binary} fleet join --name kitchen --interface wlan0 --label room=kitchen --max-rate \"");
    assert!(text.contains(&line), "{text}");
    assert_eq!(mode(&root.join(environment)), 0o600);
    assert_eq!(
        std::fs::read_to_string(root.join(environment)).unwrap(),
        format!("NETBURN_FLEET_URL='{}'\n", url())
    );
    verify(&bench, &root.join(unit), &root.join(binary), binary);
    // A second installation changes only the values that differ. Then the service is removed.
    join(&bench, &root, &[&url(), "--install"]).expect(0);
    assert!(!std::fs::read_to_string(root.join(unit)).unwrap().contains("kitchen"));
    join(&bench, &root, &["--uninstall"]).expect(0);
    assert!(!root.join(unit).exists() && !root.join(environment).exists());
    join(&bench, &root, &["--uninstall"]).expect(2);
}

/// Output of `systemd-analyze verify`, if installed, for the unit with the binary at its present path.
fn verify(bench: &Bench, unit: &Path, binary: &Path, planned: &str) {
    let text = std::fs::read_to_string(unit).unwrap();
    let text = text.replace(&format!("/{planned}"), binary.to_str().unwrap());
    let here = bench.write("netburn-agent.service", text);
    let Ok(printed) = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(&here)
        .output()
    else {
        return skip("needs systemd-analyze");
    };
    let output = String::from_utf8_lossy(&printed.stderr);
    // Its messages about other units of this machine don't count.
    let ours: Vec<&str> = output.lines().filter(|line| line.contains("netburn")).collect();
    assert!(ours.is_empty(), "{output}");
}

#[test]
fn a_procd_script_is_written_on_systems_without_systemd() {
    if !is_root() {
        return skip("needs root: only services of the machine use procd");
    }
    let bench = Bench::new();
    let root = root(&bench, &["sbin"]);
    std::fs::write(root.join("sbin/procd"), "").unwrap();
    join(&bench, &root, &[&url(), "--install", "--name", "router"]).expect(0);
    let script = root.join("etc/init.d/netburn");
    assert_eq!(mode(&script), 0o755);
    let text = std::fs::read_to_string(script).unwrap();
    assert!(
        !text.contains(&token()) && text.contains("fleet join '--name' 'router'"),
        "{text}"
    );
    assert_eq!(mode(&root.join("etc/netburn/join.env")), 0o600);
}

#[test]
fn a_system_without_both_gets_instructions() {
    let bench = Bench::new();
    let root = root(&bench, &["etc"]);
    let ended = join(&bench, &root, &[&url(), "--install"]).expect(2);
    assert!(ended.stderr.contains("neither systemd nor procd"), "{}", ended.stderr);
    let ended = join(&bench, &root, &["--install"]).expect(2);
    assert!(ended.stderr.contains("needs the address to join"), "{}", ended.stderr);
}

/// A controller, an agent of the machine and one of a user, each as a service. The first agent is killed. The session
/// in which the user installs the second ends at once.
const INSTALLED: &str = r#"
. ./words
cat > /etc/systemd/system/netburn-controller.service <<END
[Service]
Environment=HOME=$HOME XDG_STATE_HOME=$XDG_STATE_HOME
ExecStart=$netburn fleet serve --listen 127.0.0.1:4484 --host 127.0.0.1
StandardOutput=truncate:/opt/bench/address
[Install]
WantedBy=multi-user.target
END
systemctl enable --now netburn-controller
until grep -q '#' address; do sleep 0.1; done
url=$(head -1 address)
$netburn fleet join "$url" --install --name machine
useradd --create-home resident
su - resident -c "$netburn fleet join '$url' --install --name resident" 2>&1 | tee resident
! grep -q 'sudo loginctl' resident || loginctl enable-linger resident
both
main() { systemctl show --property MainPID --value netburn-agent; }
killed=$(main)
kill -KILL "$killed"
until now=$(main); [ "$now" != "$killed" ] && [ "$now" != 0 ]; do sleep 0.1; done
both
echo restarted
"#;

/// The same machine after a reboot: only a run is started. Then both services are removed.
const STARTED_AGAIN: &str = r#"
. ./words
both
$netburn run two.toml --on fleet --yes --format json > run.json 2> run.err
echo ran $?
$netburn fleet join --uninstall
su - resident -c "$netburn fleet join --uninstall"
until list | grep -q '^no members'; do sleep 0.1; done
find /etc /home /root /srv /usr /var -xdev \( -name 'netburn-agent*' -o -name join.env \) -printf 'stays: %p\n' 2>/dev/null
echo gone
"#;

const WORDS: &str = r#"
export NO_COLOR=1 HOME=/srv XDG_STATE_HOME=/srv/state
netburn=/opt/bench/netburn
ip link set lo up
list() { $netburn fleet list; }
both() { until list | grep -q '^machine ' && list | grep -q '^resident '; do sleep 0.2; done; echo both; }
"#;

#[test]
fn agents_installed_for_the_machine_and_for_a_user_start_at_boot() {
    let bench = Bench::new();
    std::fs::copy(env!("CARGO_BIN_EXE_netburn"), bench.path("netburn")).unwrap();
    bench.write("words", WORDS);
    let two = "duration = \"2 s\"\nbaseline = \"1 s\"\n[station.machine]\nworkload = \"voip\"\n\
               [station.resident]\nworkload = \"voip\"\n";
    bench.write("two.toml", two);
    let printed = match machine::starts(&bench, &[INSTALLED, STARTED_AGAIN]) {
        Ok(printed) => printed,
        Err(reason) => return skip(&reason),
    };
    assert!(
        printed[0].contains("systemctl --user status netburn-agent"),
        "{}",
        printed[0]
    );
    assert!(printed[0].ends_with("both\nrestarted\n"), "{}", printed[0]);
    // 3: the run succeeded, but the results are unreliable on a busy machine.
    assert!(
        printed[1].contains("both\nran 0\n") || printed[1].contains("both\nran 3\n"),
        "{}",
        printed[1]
    );
    assert!(
        printed[1].ends_with("gone\n") && !printed[1].contains("stays: "),
        "{}",
        printed[1]
    );
    let run = std::fs::read_to_string(bench.path("run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    for name in ["machine", "resident"] {
        let station = crate::support::station(&run, name);
        // A call every 131.072 ms for two seconds.
        let operations = &station["workloads"][0]["operations"];
        assert!((13..=16).contains(&operations.as_u64().unwrap()), "{station:#}");
    }
}
