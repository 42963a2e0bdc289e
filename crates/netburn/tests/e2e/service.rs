//! `fleet join --install`, below a root of the test's own: nothing of this machine is touched, nothing is started.

use crate::common::{Bench, Ended, finish, is_root};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An address to join with a token of 32 bytes (none that any fleet has).
fn url() -> String {
    format!("http://192.0.2.5:4484/#{}", token())
}

fn token() -> String {
    "A".repeat(43)
}

/// A root with these folders in it.
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
fn a_service_of_systemd_is_sound_and_keeps_its_secret() {
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
    let (unit, environment, binary) = match is_root() {
        true => (
            "etc/systemd/system/netburn-agent.service",
            "etc/netburn/join.env",
            "usr/local/bin/netburn",
        ),
        false => (
            "srv/me/.config/systemd/user/netburn-agent.service",
            "srv/me/.config/netburn/join.env",
            "srv/me/.local/bin/netburn",
        ),
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
    // Once more changes nothing but what is said anew; then it is taken away.
    join(&bench, &root, &[&url(), "--install"]).expect(0);
    assert!(!std::fs::read_to_string(root.join(unit)).unwrap().contains("kitchen"));
    join(&bench, &root, &["--uninstall"]).expect(0);
    assert!(!root.join(unit).exists() && !root.join(environment).exists());
    join(&bench, &root, &["--uninstall"]).expect(2);
}

/// systemd's own opinion, where it is at hand: of the unit with the binary where it is now.
fn verify(bench: &Bench, unit: &Path, binary: &Path, planned: &str) {
    let text = std::fs::read_to_string(unit).unwrap();
    let text = text.replace(&format!("/{planned}"), binary.to_str().unwrap());
    let here = bench.write("netburn-agent.service", text);
    let Ok(said) = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(&here)
        .output()
    else {
        return;
    };
    let told = String::from_utf8_lossy(&said.stderr);
    // What it says of other units of this machine is none of ours.
    let ours: Vec<&str> = told.lines().filter(|line| line.contains("netburn")).collect();
    assert!(ours.is_empty(), "{told}");
}

#[test]
fn a_script_of_procd_is_written_where_there_is_no_systemd() {
    if !is_root() {
        return;
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
fn what_knows_neither_is_told_what_to_do() {
    let bench = Bench::new();
    let root = root(&bench, &["etc"]);
    let ended = join(&bench, &root, &[&url(), "--install"]).expect(2);
    assert!(ended.stderr.contains("neither systemd nor procd"), "{}", ended.stderr);
    let ended = join(&bench, &root, &["--install"]).expect(2);
    assert!(ended.stderr.contains("needs the address to join"), "{}", ended.stderr);
}
