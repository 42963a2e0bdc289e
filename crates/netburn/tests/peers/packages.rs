//! Generated files and packages, with the programs that read them: bash, dpkg.

use crate::support::{Bench, finish};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Runs a script with `netburn` as its first argument.
#[track_caller]
fn script(bench: &Bench, text: &str) -> String {
    let mut command = Command::new("bash");
    command.args(["-euc", text, env!("CARGO_BIN_EXE_netburn")]);
    finish(bench.prepared(command)).expect(0).out()
}

#[test]
fn bash_completes_commands_options_and_values() {
    let bench = Bench::new();
    let complete = |words: &str| {
        let text = format!(
            "source <(\"$0\" generate bash); COMP_WORDS=({words} ''); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 2)); \
             set -- {words}; _netburn netburn \"${{@: -1}}\" \"${{@: -2:1}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        script(&bench, &text)
    };
    assert_eq!(complete("netburn sw"), "sweep\n");
    assert_eq!(complete("netburn sweep --prec"), "--precision\n");
    assert_eq!(complete("netburn report --format mark"), "markdown\n");
    let all = complete("netburn ''");
    assert!(all.contains("doctor\n") && !all.contains("lab-init"), "{all}");
}

#[test]
fn each_command_has_a_man_page() {
    let bench = Bench::new();
    finish(bench.netburn(["generate", "man", "--out", "man"])).expect(0);
    let help = finish(bench.netburn(["--help"])).expect(0).out();
    let help = help.split("\nOptions:").next().unwrap();
    let listed = help
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let commands: BTreeSet<&str> = listed
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase()))
        .collect();
    assert!(commands.len() > 20, "{commands:?}");
    let pages = names(&bench.path("man"));
    for command in commands {
        assert!(pages.contains(&format!("netburn-{command}.1")), "{command}");
    }
    assert!(pages.contains("netburn-fleet-join.1") && !pages.contains("netburn-lab-init.1"));
    let page = fs::read_to_string(bench.path("man/netburn-sweep.1")).unwrap();
    assert!(
        page.starts_with(".ie \\n(.g .ds Aq \\(aq") && page.contains("\n.TH netburn-sweep 1 "),
        "{page}"
    );
    let whole = finish(bench.netburn(["generate", "man"])).expect(0).out();
    assert_eq!(whole, fs::read_to_string(bench.path("man/netburn.1")).unwrap());
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let bench = Bench::new();
    bench.write("file", "");
    for what in ["man", "zsh"] {
        let ended = finish(bench.netburn(["generate", what, "--out", "file/below"])).expect(3);
        assert!(ended.stderr.contains("file/below: "), "{}", ended.stderr);
    }
}

#[test]
fn a_package_is_installed_and_removed_completely() {
    let bench = Bench::new();
    let target = bench.path("target");
    let mut build = Command::new("bash");
    build
        .arg(format!("{REPOSITORY}/scripts/build-deb"))
        .arg(env!("CARGO_BIN_EXE_netburn"))
        .env("CARGO_TARGET_DIR", &target);
    let package = finish(bench.prepared(build)).expect(0).out();
    let root = bench.path("root");
    fs::create_dir_all(root.join("var/lib/dpkg/info")).unwrap();
    for name in ["status", "available"] {
        fs::write(root.join("var/lib/dpkg").join(name), "").unwrap();
    }
    let dpkg = |action: &[&str]| {
        let mut command = Command::new("dpkg");
        command
            .arg("--root")
            .arg(&root)
            .args([
                "--force-depends",
                "--force-not-root",
                "--force-bad-path",
                "--force-script-chrootless",
            ])
            .args(action);
        finish(bench.prepared(command)).expect(0);
    };
    dpkg(&["--install", package.trim()]);
    let version = Command::new(root.join("usr/bin/netburn"))
        .arg("--version")
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(version.stdout).unwrap(),
        format!("netburn {}\n", env!("CARGO_PKG_VERSION"))
    );
    for file in [
        "usr/share/man/man1/netburn-fleet-join.1.gz",
        "usr/share/bash-completion/completions/netburn",
        "usr/share/zsh/vendor-completions/_netburn",
        "usr/share/fish/vendor_completions.d/netburn.fish",
        "usr/lib/systemd/system/netburn-agent.service",
        "usr/share/doc/netburn/copyright",
    ] {
        assert!(fs::metadata(root.join(file)).unwrap().len() > 0, "{file}");
    }
    // The services are disabled: nothing wants them.
    assert!(!root.join("etc").exists());
    dpkg(&["--purge", "netburn"]);
    assert!(!root.join("usr").exists(), "{:?}", names(&root));
}
