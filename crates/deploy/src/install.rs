//! A command as a service that starts with its machine: a member of a fleet, or a watch.
//!
//! - `unit`: the files of the init systems. Pure.

mod unit;

use crate::ENVIRONMENT;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
pub use unit::Program;
use unit::{Kind, Service};

/// Environment variable with the root folder of all files, for system images and tests. Nothing is started then.
const ROOT: &str = "NETBURN_INSTALL_ROOT";

/// Environment variable with the folder of the socket of the user's systemd.
const RUNTIME: &str = "XDG_RUNTIME_DIR";

/// User that installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// True if the user is root.
    pub is_root: bool,
    /// User ID.
    pub id: u32,
}

/// Service on this machine, with the paths of its files.
#[derive(Debug)]
pub struct Installation {
    /// Root folder of the files.
    root: Option<PathBuf>,
    account: Account,
    program: Program,
    kind: Kind,
    binary: PathBuf,
    /// File with the secrets: the address of an agent, the commands and addresses of a watch.
    environment: PathBuf,
    unit: PathBuf,
}

/// Step of an installation or of its removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallEvent<'a> {
    /// The program was copied to this path.
    Copied(&'a Path),
    /// The file with the address was written.
    WroteAddress(&'a Path),
    /// The file with the commands and addresses of a watch was written.
    WroteSecrets(&'a Path),
    /// The file of the init system was written.
    WroteUnit(&'a Path),
    /// Nothing is started below another root.
    NotStarted,
    /// The service runs, and starts when its user logs in. This command prints its state.
    StartsAtLogin(&'a str),
    /// The service runs, and starts with the machine. This command prints its state.
    StartsAtBoot(&'a str),
    /// The service could not be stopped, with the reason.
    NotStopped(&'a str),
    /// A file was removed.
    Removed(&'a Path),
    /// The program is not removed.
    KeptBinary(&'a Path),
}

/// Error of an installation or of its removal.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The operating system is not supported.
    #[error("--install knows systemd and OpenWrt's procd only")]
    UnknownSystem,
    /// The user has no home folder.
    #[error("there is no home folder (HOME is not set)")]
    NoHome,
    /// No supported init system runs.
    #[error(
        "neither systemd nor procd runs here: have your own system start the command; `netburn fleet join` reads its \
         address from the environment variable NETBURN_FLEET_URL"
    )]
    NoInitSystem,
    /// The service is not installed.
    #[error("nothing is installed: there is no {}", .0.display())]
    NotInstalled(PathBuf),
    /// A file can't be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A file can't be removed.
    #[error("{}: {source}", path.display())]
    Remove {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The service can't be started.
    #[error("{why}{remedy}")]
    Start {
        /// Reason.
        why: String,
        /// Steps that the user can take; may be empty.
        remedy: String,
    },
}

impl fmt::Display for InstallEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstallEvent::Copied(path) => write!(f, "copied itself to {}", path.display()),
            InstallEvent::WroteAddress(path) => write!(
                f,
                "wrote {} (the address with its token; no other user can read it)",
                path.display()
            ),
            InstallEvent::WroteSecrets(path) => write!(
                f,
                "wrote {} (the commands and addresses of alerts; no other user can read it)",
                path.display()
            ),
            InstallEvent::WroteUnit(path) => write!(f, "wrote {}", path.display()),
            InstallEvent::NotStarted => f.write_str("started nothing: all of it is below another root"),
            InstallEvent::StartsAtLogin(command) => write!(
                f,
                "it runs, and starts when you log in; to have it start with the device: sudo loginctl enable-linger \
                 $USER; `{command}` prints its state"
            ),
            InstallEvent::StartsAtBoot(command) => {
                write!(f, "it runs, and starts with the device; `{command}` prints its state")
            }
            InstallEvent::NotStopped(why) => f.write_str(why),
            InstallEvent::Removed(path) => write!(f, "removed {}", path.display()),
            InstallEvent::KeptBinary(path) => write!(f, "{} is left: it may be used otherwise", path.display()),
        }
    }
}

impl Installation {
    /// Finds the init system of this machine.
    ///
    /// # Errors
    /// If no supported init system runs, or the user has no home folder.
    pub fn for_this_system(account: Account, program: Program) -> Result<Installation, InstallError> {
        let root = std::env::var_os(ROOT).map(PathBuf::from);
        let at = |path: &str| match &root {
            Some(root) => root.join(path.trim_start_matches('/')),
            None => PathBuf::from(path),
        };
        if !cfg!(target_os = "linux") {
            return Err(InstallError::UnknownSystem);
        }
        let systemd = at("/run/systemd/system").exists() || root.is_some() && at("/etc/systemd").exists();
        let procd = at("/sbin/procd").exists();
        let is_root = account.is_root;
        Ok(if systemd && is_root {
            Installation {
                root,
                account,
                program,
                kind: Kind::Systemd,
                binary: "/usr/local/bin/netburn".into(),
                environment: format!("/etc/netburn/{}", program.environment()).into(),
                unit: format!("/etc/systemd/system/{}.service", program.unit()).into(),
            }
        } else if systemd {
            let home = std::env::var_os("HOME").map(PathBuf::from);
            let home = home.ok_or(InstallError::NoHome)?;
            Installation {
                root,
                account,
                program,
                kind: Kind::SystemdUser,
                binary: home.join(".local/bin/netburn"),
                environment: home.join(".config/netburn").join(program.environment()),
                unit: home.join(format!(".config/systemd/user/{}.service", program.unit())),
            }
        } else if procd && is_root {
            Installation {
                root,
                account,
                program,
                kind: Kind::Procd,
                binary: "/usr/bin/netburn".into(),
                environment: format!("/etc/netburn/{}", program.environment()).into(),
                unit: format!("/etc/init.d/{}", program.script()).into(),
            }
        } else {
            return Err(InstallError::NoInitSystem);
        })
    }

    /// Installs the service of an agent, whose address is `url`. The rest is that of
    /// [`install_with_secrets`](Self::install_with_secrets).
    ///
    /// # Errors
    /// If a file can't be written, or the service can't be started.
    pub fn install(
        &self,
        this: &Path,
        url: Option<&str>,
        words: Vec<String>,
        on_event: impl FnMut(InstallEvent<'_>),
    ) -> Result<(), InstallError> {
        let secrets: Vec<_> = url.map(|url| (ENVIRONMENT, url.to_owned())).into_iter().collect();
        self.install_with_secrets(this, &secrets, words, on_event)
    }

    /// Copies the program `this`, writes the files of the service, and starts it. `secrets` are names and values of
    /// environment variables, in a file that other users can't read. `words` are the arguments of the command. Reports each
    /// step to `on_event`.
    ///
    /// # Errors
    /// If a file can't be written, or the service can't be started.
    pub fn install_with_secrets(
        &self,
        this: &Path,
        secrets: &[(&'static str, String)],
        words: Vec<String>,
        mut on_event: impl FnMut(InstallEvent<'_>),
    ) -> Result<(), InstallError> {
        let service = Service {
            program: self.program,
            binary: self.binary.clone(),
            environment: (!secrets.is_empty()).then(|| self.environment.clone()),
            variables: secrets.iter().map(|(name, _)| *name).collect(),
            words,
        };
        let unwritten = |path: &Path, source: io::Error| InstallError::Write {
            path: path.to_owned(),
            source,
        };
        if this != self.binary {
            copy(this, &self.real(&self.binary)).map_err(|error| unwritten(&self.binary, error))?;
            on_event(InstallEvent::Copied(&self.binary));
        }
        if secrets.is_empty() {
            // That of an earlier installation.
            match fs::remove_file(self.real(&self.environment)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(unwritten(&self.environment, error));
                }
                _ => {}
            }
        } else {
            let lines = secrets.iter().map(|(name, value)| unit::env_line(name, value));
            write(&self.real(&self.environment), &lines.collect::<String>(), 0o600)
                .map_err(|error| unwritten(&self.environment, error))?;
            on_event(match self.program {
                Program::Agent => InstallEvent::WroteAddress(&self.environment),
                Program::Watch => InstallEvent::WroteSecrets(&self.environment),
            });
        }
        let mode = if self.kind == Kind::Procd { 0o755 } else { 0o644 };
        write(&self.real(&self.unit), &service.text(self.kind), mode).map_err(|error| unwritten(&self.unit, error))?;
        on_event(InstallEvent::WroteUnit(&self.unit));
        if self.root.is_some() {
            on_event(InstallEvent::NotStarted);
            return Ok(());
        }
        for words in self.kind.to_start(self.program) {
            self.run(&words).map_err(|why| InstallError::Start {
                why,
                remedy: self.kind.unstarted(self.program),
            })?;
        }
        let state = self.kind.to_look(self.program);
        let linger = ["loginctl", "--no-ask-password", "enable-linger"].map(str::to_owned);
        let lingers = self.kind != Kind::SystemdUser || self.run(&linger).is_ok();
        on_event(if lingers {
            InstallEvent::StartsAtBoot(&state)
        } else {
            InstallEvent::StartsAtLogin(&state)
        });
        Ok(())
    }

    /// Stops the service and removes its files, except the program. Reports each step to `on_event`.
    ///
    /// # Errors
    /// If the service is not installed, or a file can't be removed.
    pub fn uninstall(&self, mut on_event: impl FnMut(InstallEvent<'_>)) -> Result<(), InstallError> {
        if !self.real(&self.unit).exists() {
            return Err(InstallError::NotInstalled(self.unit.clone()));
        }
        if self.root.is_none() {
            for words in self.kind.to_stop(self.program) {
                if let Err(why) = self.run(&words) {
                    on_event(InstallEvent::NotStopped(&why));
                }
            }
        }
        for path in [&self.unit, &self.environment] {
            match fs::remove_file(self.real(path)) {
                Ok(()) => on_event(InstallEvent::Removed(path)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => {
                    return Err(InstallError::Remove {
                        path: path.clone(),
                        source,
                    });
                }
            }
        }
        if self.root.is_none() && self.kind != Kind::Procd {
            let _ = self.run(&self.kind.to_reload());
        }
        on_event(InstallEvent::KeptBinary(&self.binary));
        Ok(())
    }

    /// A path below the root folder.
    fn real(&self, path: &Path) -> PathBuf {
        match &self.root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }

    /// Runs a command that has to succeed, and that must not ask for a password.
    fn run(&self, words: &[String]) -> Result<(), String> {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
        if let Some(folder) = self.runtime_folder() {
            command.env(RUNTIME, folder);
        }
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("`{}` failed ({status})", words.join(" "))),
            Err(error) => Err(format!("`{}`: {error}", words.join(" "))),
        }
    }

    /// Folder of the socket of the user's systemd, if systemd runs and the session does not set it (pam_systemd(8)).
    /// This is so after a login over SSH without PAM, and in a shell of `su`.
    fn runtime_folder(&self) -> Option<PathBuf> {
        if self.account.is_root || std::env::var_os(RUNTIME).is_some_and(|folder| !folder.is_empty()) {
            return None;
        }
        let folder = PathBuf::from(format!("/run/user/{}", self.account.id));
        folder.join("systemd").is_dir().then_some(folder)
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    // A new file and a rename, because a running binary can't be written to.
    let new = to.with_extension("new");
    fs::copy(from, &new)?;
    fs::rename(&new, to)
}

/// Creates a file with this mode before anything is written to it. The mode has no effect on systems other than Unix.
fn write(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    use std::io::Write;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let new = path.with_extension("new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}
