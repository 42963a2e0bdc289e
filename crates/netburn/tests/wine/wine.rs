//! The program for Windows, and a system for it.

use crate::support::Bench;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

const TARGET: &str = "x86_64-pc-windows-gnu";
const LOADER: &str = "/usr/lib/wine/wine64";
const SERVER: &str = "/usr/lib/wine/wineserver64";
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A running Wine with a folder of its own. All tests that run at the same time share it.
pub(crate) struct Wine {
    folder: tempfile::TempDir,
}

impl Wine {
    /// Starts Wine, if no other test uses it.
    pub(crate) fn start() -> Arc<Wine> {
        static SHARED: Mutex<Weak<Wine>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wine) = shared.upgrade() {
            return wine;
        }
        let folder = tempfile::tempdir().unwrap();
        let wine = Arc::new(Wine { folder });
        // The server stays until the last test has ended, so that no test starts the services of the system.
        run(wine.program(SERVER).arg("--persistent"));
        run(wine.program(LOADER).args(["wineboot", "--init"]));
        *shared = Arc::downgrade(&wine);
        wine
    }

    /// `netburn.exe` with these arguments, in the folder of `bench`.
    pub(crate) fn netburn(&self, bench: &Bench, args: &[&str]) -> Command {
        let mut command = self.program(LOADER);
        command.arg(executable()).args(args);
        command.env("NETBURN_STATE", bench.path("windows"));
        bench.prepared(command)
    }

    /// A program of Wine: without a window, and without the offer to install .NET and a browser.
    fn program(&self, path: &str) -> Command {
        let mut command = Command::new(path);
        command
            .env("WINEPREFIX", self.folder.path())
            .env("WINEDEBUG", "-all")
            .env("WINEDLLOVERRIDES", "mscoree,mshtml=")
            .env_remove("DISPLAY")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}

impl Drop for Wine {
    fn drop(&mut self) {
        for end in ["--kill", "--wait"] {
            let _ = self.program(SERVER).arg(end).status();
        }
    }
}

/// `netburn.exe`, which the first call builds, beside the library that an older Wine lacks. The target folder keeps both.
fn executable() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // The folder of the profile is that of the command that is tested.
        let profile = Path::new(env!("CARGO_BIN_EXE_netburn")).parent().unwrap();
        let target = profile.parent().unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args([
                "build",
                "--locked",
                "--quiet",
                "--package",
                "netburn",
                "--bin",
                "netburn",
            ])
            .args(["--target", TARGET, "--target-dir"])
            .arg(target)
            .current_dir(REPOSITORY)
            // Without it the programs of the build are others than those of this build.
            .env("CARGO_PROFILE_DEV_DEBUG", "false");
        run(&mut cargo);
        let built = target.join(TARGET).join("debug");
        let library = built.join("bcryptprimitives.dll");
        let mut compiler = Command::new("x86_64-w64-mingw32-gcc");
        compiler
            .args(["-shared", "-o"])
            .arg(&library)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wine/prng.c"))
            .arg("-ladvapi32");
        run(&mut compiler);
        built.join("netburn.exe")
    })
}

#[track_caller]
fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
