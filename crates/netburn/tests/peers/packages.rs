//! Generated files and packages, with the programs that read them: bash, dpkg, rpm, buildah, cargo.

use crate::support::{Bench, finish, house};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

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
    assert!(page.starts_with(".TH NETBURN-SWEEP 1 20"), "{page}");
    assert!(page.contains("\n[\\fB\\-\\-repeat\\fR \\fIN\\fR]\n"), "{page}");
    let page = fs::read_to_string(bench.path("man/netburn-run.1")).unwrap();
    assert!(page.contains("\n.SH EXAMPLES\n"), "{page}");
    let page = fs::read_to_string(bench.path("man/netburn-scenario.5")).unwrap();
    assert!(
        page.contains("\n.SS [station.NAME]\n") && page.contains("\n\\fBsignal_up\\fR\n"),
        "{page}"
    );
    let whole = finish(bench.netburn(["generate", "man"])).expect(0).out();
    assert_eq!(whole, fs::read_to_string(bench.path("man/netburn.1")).unwrap());
}

/// mandoc reads the pages, and finds nothing to complain about.
#[test]
fn man_pages_are_valid() {
    let bench = Bench::new();
    let mut generate = bench.netburn(["generate", "man", "--out", "man"]);
    // 2026-11-28T00:00:00Z
    generate.env("SOURCE_DATE_EPOCH", "1795824000");
    finish(generate).expect(0);
    let pages: Vec<String> = names(&bench.path("man"))
        .into_iter()
        .map(|name| format!("man/{name}"))
        .collect();
    let mut mandoc = Command::new("mandoc");
    mandoc.args(["-Tlint", "-Wstyle"]).args(&pages);
    let ended = finish(bench.prepared(mandoc)).expect(0);
    assert_eq!(ended.out(), "");
    let page = fs::read_to_string(bench.path("man/netburn.1")).unwrap();
    assert!(page.starts_with(".TH NETBURN 1 2026-11-28 \"netburn "), "{page}");
}

/// In a shell that goes on after a command without a match, as interactive ones do.
#[test]
fn bash_completes_names() {
    let bench = Bench::new();
    bench.write("house.toml", house("2 s", "0 s"));
    finish(bench.netburn(["run", "house.toml", "--on", "simulate", "--out", "first"])).expect(0);
    let complete = |line: &str| {
        let text = format!(
            "set +eu; source <(\"$0\" generate bash); COMP_LINE=\"$0 {line}\"; COMP_POINT=${{#COMP_LINE}}; \
             COMP_WORDS=(netburn {line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); compopt() {{ :; }}; \
             _netburn_with_names netburn \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        script(&bench, &text)
    };
    assert!(complete("run four").contains("four-uses\n"));
    assert!(complete("report fi").contains("first\n"));
    assert!(complete("run house.toml --set station.caller.sig").contains("station.caller.signal=\n"));
    assert!(!complete("run --on four").contains("four-uses"));
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

/// Folder with the files of a release for this processor, of the present files and of the programs of these tests.
fn release() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("release");
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(work.join("built")).unwrap();
        for (name, program) in [
            ("netburn", env!("CARGO_BIN_EXE_netburn")),
            ("netburn-agent", env!("CARGO_BIN_EXE_netburn-agent")),
        ] {
            fs::copy(program, work.join(format!("built/{name}-{}", std::env::consts::ARCH))).unwrap();
        }
        let repository = repository(&work);
        let bench = Bench::new();
        let mut script = Command::new(repository.join("scripts/release"));
        script
            .arg(TAG)
            .arg(work.join("files"))
            .env("NETBURN_BUILT", work.join("built"))
            .env("NETBURN_PROCESSORS", std::env::consts::ARCH)
            // The toolchain is not among the programs of the tests.
            .env("CARGO", env!("CARGO"))
            .env("RUSTC", Path::new(env!("CARGO")).with_file_name("rustc"))
            .env("CARGO_TARGET_DIR", work.join("target"));
        finish(bench.prepared(in_namespace(script))).expect(0);
        work.join("files")
    });
    &FOLDER
}

const TAG: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// A repository with the files of this one and with a tag for this version. A checkout of CI may have no history, or
/// another owner.
fn repository(folder: &Path) -> PathBuf {
    let copy = folder.join("repository");
    fs::create_dir(&copy).unwrap();
    let script = "tar -C \"$0\" --exclude=./target --exclude=./.git -cf - . | tar -xf - -C \"$1\"";
    let mut shell = Command::new("sh");
    succeed(shell.args(["-c", script, REPOSITORY]).arg(&copy));
    git(&copy, "init");
    commit(&copy);
    git(&copy, &format!("tag {TAG}"));
    copy
}

/// Commits all files.
fn commit(repository: &Path) {
    git(repository, "add --all");
    git(
        repository,
        "-c user.name=a -c user.email=a@b.invalid commit --message files",
    );
}

#[track_caller]
fn git(repository: &Path, arguments: &str) {
    let mut command = Command::new("git");
    succeed(command.arg("-C").arg(repository).args(arguments.split(' ')));
}

#[track_caller]
fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The file of the release with this end.
fn file(end: &str) -> String {
    let names = names(release());
    let name = names.iter().find(|name| name.ends_with(end));
    let name = name.unwrap_or_else(|| panic!("no {end} in {names:?}"));
    release().join(name).display().to_string()
}

/// The command as root of a user namespace. For packages it is enough.
fn in_namespace(command: Command) -> Command {
    let mut namespace = Command::new("unshare");
    namespace
        .args(["--user", "--map-root-user", "--mount"])
        .arg(command.get_program());
    namespace.args(command.get_args());
    for (name, value) in command.get_envs() {
        namespace.env(name, value.unwrap_or_default());
    }
    namespace
}

/// The command below `root` starts, and the files are there.
#[track_caller]
fn check_installed(root: &Path, files: &[&str]) {
    let version = Command::new(root.join("usr/bin/netburn"))
        .arg("--version")
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(version.stdout).unwrap(),
        format!("netburn {}\n", env!("CARGO_PKG_VERSION"))
    );
    for file in files {
        assert!(fs::metadata(root.join(file)).unwrap().len() > 0, "{file}");
    }
}

#[test]
fn a_package_for_debian_is_installed_and_removed_completely() {
    let bench = Bench::new();
    let package = file(".deb");
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
    dpkg(&["--install", &package]);
    check_installed(
        &root,
        &[
            "usr/share/man/man1/netburn-fleet-join.1.gz",
            "usr/share/man/man5/netburn-scenario.5.gz",
            "usr/share/bash-completion/completions/netburn",
            "usr/share/zsh/vendor-completions/_netburn",
            "usr/share/fish/vendor_completions.d/netburn.fish",
            "usr/lib/systemd/system/netburn-agent.service",
            "usr/share/doc/netburn/copyright",
        ],
    );
    // The services are disabled: nothing wants them.
    assert!(!root.join("etc").exists());
    dpkg(&["--purge", "netburn"]);
    assert!(!root.join("usr").exists(), "{:?}", names(&root));
}

#[test]
fn a_package_for_fedora_is_installed_and_removed_completely() {
    let bench = Bench::new();
    let package = file(".rpm");
    let root = bench.path("root");
    fs::create_dir(&root).unwrap();
    let rpm = |arguments: &[&str]| {
        let mut command = Command::new("rpm");
        // The scripts of the package need a shell in the root.
        command
            .arg("--root")
            .arg(&root)
            .args(["--nodeps", "--noscripts"])
            .args(arguments);
        finish(bench.prepared(in_namespace(command))).expect(0)
    };
    rpm(&["--install", &package]);
    check_installed(
        &root,
        &[
            "usr/share/man/man1/netburn-fleet-join.1.gz",
            "usr/share/man/man5/netburn-scenario.5.gz",
            "usr/share/zsh/site-functions/_netburn",
            "usr/share/doc/netburn/third-party-licenses.gz",
        ],
    );
    rpm(&["--erase", "netburn"]);
    let left = Command::new("find")
        .arg(root.join("usr"))
        .args(["-not", "-type", "d"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(left.stdout).unwrap(), "");
}

#[test]
fn a_container_of_the_image_simulates() {
    let bench = Bench::new();
    let image = file(".image.tar");
    let mut shell = Command::new("sh");
    shell
        .arg("-euc")
        .arg(
            "buildah() { command buildah --root $PWD/store --runroot $PWD/state --storage-driver vfs \"$@\"; }
             container=$(buildah from --quiet \"docker-archive:$0\")
             buildah inspect --format '{{.OCIv1.Config.Entrypoint}}' $container
             root=$(buildah mount $container)
             mkdir \"$root/proc\"
             mount --rbind /proc \"$root/proc\"
             chroot \"$root\" /usr/bin/netburn run anomaly --on simulate \\
                 --set duration=2s --set warmup=0s --format json --out tmp/run",
        )
        .arg(&image);
    let printed = finish(bench.prepared(in_namespace(shell))).expect(0).out();
    let (entry, summary) = printed.split_at(printed.find('{').unwrap());
    assert_eq!(entry.trim(), "[/usr/bin/netburn]");
    let summary: serde_json::Value = serde_json::from_str(summary).unwrap();
    assert_eq!(summary["environment"], "simulate");
    assert_eq!(summary["stations"].as_array().unwrap().len(), 3);
}

/// A crate that needs a file outside its folder has no complete package.
#[test]
fn cargo_packages_every_crate() {
    let bench = Bench::new();
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args([
            "package",
            "--workspace",
            "--no-verify",
            "--allow-dirty",
            "--locked",
            "--offline",
        ])
        .args([
            "--exclude",
            "netburn-dev",
            "--exclude",
            "netburn-test-support",
            "--exclude",
            "netburn-python",
            "--manifest-path",
        ])
        .arg(format!("{REPOSITORY}/Cargo.toml"))
        .env("CARGO_TARGET_DIR", bench.path("target"));
    let ended = finish(bench.prepared(cargo)).expect(0);
    let list = |name: &str| {
        let archive = bench.path(&format!("target/package/{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        let listed = Command::new("tar").arg("-tzf").arg(archive).output().unwrap();
        String::from_utf8(listed.stdout).unwrap()
    };
    for (name, file) in [
        ("netburn-report", "web/shared/style.css"),
        ("netburn-fleet-controller", "web/station/index.html"),
        ("netburn-dashboard", "web/dashboard/index.html"),
        ("netburn-playground-page", "web/playground/engine.wasm.gz"),
        ("netburn-handbook", "docs/how-to/sqm.md"),
        ("netburn-handbook", "top/README.md"),
        ("netburn-scenario", "scenarios/anomaly.toml"),
    ] {
        let file = format!("{name}-{}/{file}", env!("CARGO_PKG_VERSION"));
        assert!(
            list(name).lines().any(|listed| listed == file),
            "{file}: {}",
            ended.stderr
        );
    }
}

/// The first command of README.md is `cargo run`. The package has two executables, so it must name one.
#[test]
fn cargo_run_starts_the_command_with_all_subcommands() {
    let bench = Bench::new();
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args([
            "metadata",
            "--no-deps",
            "--locked",
            "--offline",
            "--format-version",
            "1",
        ])
        .args(["--manifest-path", &format!("{REPOSITORY}/Cargo.toml")]);
    let printed = finish(bench.prepared(cargo)).expect(0).out();
    let metadata: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let members = metadata["workspace_default_members"].as_array().unwrap();
    let default: Vec<&serde_json::Value> = packages
        .iter()
        .filter(|package| members.contains(&package["id"]) && !package["default_run"].is_null())
        .collect();
    assert_eq!(default.len(), 1, "{default:?}");
    assert_eq!(default[0]["default_run"], "netburn");
}

#[test]
fn a_release_has_checksums_notes_and_recipes() {
    let check = Command::new("sha256sum")
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(release())
        .output()
        .unwrap();
    let checked = String::from_utf8(check.stdout).unwrap();
    assert!(check.status.success(), "{checked}");
    let sources = format!("netburn-{}.tar.gz", env!("CARGO_PKG_VERSION"));
    for name in [
        "recipes/PKGBUILD",
        "recipes/netburn.rb",
        "recipes/openwrt.mk",
        "recipes/package.nix",
        "release-notes.md",
        &sources,
    ] {
        assert!(checked.contains(&format!("{name}: OK\n")), "{name} in {checked}");
    }
    let sums = fs::read_to_string(release().join("SHA256SUMS")).unwrap();
    let line = sums
        .lines()
        .find(|line| line.ends_with(&format!("  {sources}")))
        .unwrap();
    let sum = line.split(' ').next().unwrap();
    for recipe in ["PKGBUILD", "netburn.rb", "openwrt.mk", "package.nix"] {
        let text = fs::read_to_string(release().join("recipes").join(recipe)).unwrap();
        assert!(text.contains("Untested") && text.contains(sum), "{recipe}: {text}");
        assert!(!text.contains("@VERSION@"), "{recipe}: {text}");
    }
    let notes = fs::read_to_string(release().join("release-notes.md")).unwrap();
    assert!(
        notes.contains("The first version.") && !notes.contains("## Unreleased"),
        "{notes}"
    );
    let bill: serde_json::Value = serde_json::from_slice(&fs::read(file(".cdx.json")).unwrap()).unwrap();
    // Each crate has the checksum of Cargo.lock.
    let lock = fs::read_to_string(format!("{REPOSITORY}/Cargo.lock")).unwrap();
    let ring = bill["components"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "ring")
        .unwrap();
    assert!(lock.contains(ring["hashes"][0]["content"].as_str().unwrap()));
}

#[test]
fn a_release_needs_its_tag_and_an_unchanged_checkout() {
    let bench = Bench::new();
    let repository = repository(&bench.path(""));
    let rejected = |tag: &str, why: &str| {
        let mut script = Command::new(repository.join("scripts/release"));
        script.arg(tag).arg(bench.path("files"));
        let ended = finish(bench.prepared(script)).expect(2);
        assert!(ended.stderr.contains(why), "{}", ended.stderr);
        assert!(!bench.path("files").exists());
    };
    rejected("v9.9.9", "so the tag must be v");
    bench.write("repository/CHANGELOG.md", "nothing");
    rejected(TAG, "the checkout has changes");
    commit(&repository);
    rejected(TAG, "the checkout is not at v");
    git(&repository, &format!("tag --force {TAG}"));
    rejected(TAG, "CHANGELOG.md has no section");
}
