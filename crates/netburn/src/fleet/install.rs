//! `netburn fleet join --install`: a member that starts with its device.

mod unit;

use crate::args::{JoinArgs, Label};
use crate::exit::{CliError, ExitStatus};
use crate::terminal::eprint_message;
use netburn_protocol::join_url::JoinUrl;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use unit::{Kind, Service};

/// Environment variable with the address for `netburn fleet join`. Unlike arguments, other users can't read it.
pub(crate) const ENVIRONMENT: &str = "NETBURN_FLEET_URL";

/// Environment variable with the root folder of all files, for system images and tests. Nothing is started then.
const ROOT: &str = "NETBURN_INSTALL_ROOT";

/// Environment variable with the folder of the socket of the user's systemd.
const RUNTIME: &str = "XDG_RUNTIME_DIR";

/// Paths of the installed files.
#[derive(Debug)]
struct Places {
    /// Root folder of the files.
    root: Option<PathBuf>,
    kind: Kind,
    binary: PathBuf,
    environment: PathBuf,
    unit: PathBuf,
}

/// `netburn fleet join --install`.
pub(crate) fn install(args: &JoinArgs) -> Result<ExitStatus, CliError> {
    let Some(url) = address(args) else {
        return Err(CliError::Usage(format!(
            "--install needs the address to join: `netburn fleet serve` prints it (or set {ENVIRONMENT})"
        )));
    };
    let places = Places::for_this_system()?;
    let this =
        std::env::current_exe().map_err(|error| CliError::Failed(format!("this program can't be found: {error}")))?;
    let service = Service {
        binary: places.binary.clone(),
        environment: places.environment.clone(),
        words: join_words(args),
    };
    let unwritten = |path: &Path, error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => CliError::Usage(format!("{}: {error}", path.display())),
        _ => CliError::Failed(format!("{}: {error}", path.display())),
    };
    if this != places.binary {
        copy(&this, &places.real(&places.binary)).map_err(|error| unwritten(&places.binary, error))?;
        eprint_message(&format!("copied itself to {}", places.binary.display()));
    }
    let environment = format!("{ENVIRONMENT}={}\n", unit::env_quoted(&url));
    write(&places.real(&places.environment), &environment, 0o600)
        .map_err(|error| unwritten(&places.environment, error))?;
    eprint_message(&format!(
        "wrote {} (the address with its token; no other user can read it)",
        places.environment.display()
    ));
    let mode = if places.kind == Kind::Procd { 0o755 } else { 0o644 };
    write(&places.real(&places.unit), &service.text(places.kind), mode)
        .map_err(|error| unwritten(&places.unit, error))?;
    eprint_message(&format!("wrote {}", places.unit.display()));
    if places.root.is_some() {
        eprint_message("started nothing: all of it is below another root");
        return Ok(ExitStatus::Success);
    }
    for words in places.kind.to_start() {
        run(words).map_err(|why| CliError::Failed(format!("{why}{}", places.kind.unstarted())))?;
    }
    if places.kind == Kind::SystemdUser && run(&["loginctl", "--no-ask-password", "enable-linger"]).is_err() {
        eprint_message(
            "it starts when you log in; to have it start with the device: sudo loginctl enable-linger $USER",
        );
    }
    eprint_message(&format!(
        "it runs, and starts with the device; `{}` says how it is",
        places.kind.to_look()
    ));
    Ok(ExitStatus::Success)
}

/// `netburn fleet join --uninstall`.
pub(crate) fn uninstall() -> Result<ExitStatus, CliError> {
    let places = Places::for_this_system()?;
    if !places.real(&places.unit).exists() {
        return Err(CliError::Usage(format!(
            "nothing is installed: there is no {}",
            places.unit.display()
        )));
    }
    if places.root.is_none() {
        for words in places.kind.to_stop() {
            if let Err(why) = run(words) {
                eprint_message(&why);
            }
        }
    }
    for path in [&places.unit, &places.environment] {
        match fs::remove_file(places.real(path)) {
            Ok(()) => eprint_message(&format!("removed {}", path.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(CliError::Usage(format!("{}: {error}", path.display()))),
        }
    }
    if places.root.is_none() && places.kind != Kind::Procd {
        let _ = run(places.kind.to_reload());
    }
    eprint_message(&format!(
        "{} is left: it may be used otherwise",
        places.binary.display()
    ));
    Ok(ExitStatus::Success)
}

/// The address to join, from the arguments or the environment.
pub(crate) fn address(args: &JoinArgs) -> Option<String> {
    let url = args
        .url
        .clone()
        .or_else(|| std::env::var(ENVIRONMENT).ok().filter(|url| !url.is_empty()))?;
    // A separate token is appended to the address.
    match (&args.token, url.parse::<JoinUrl>()) {
        (Some(token), Ok(parsed)) if parsed.token.is_none() => Some(format!("{}#{token}", url.trim_end_matches('#'))),
        _ => Some(url),
    }
}

/// The words after `netburn fleet join`.
fn join_words(args: &JoinArgs) -> Vec<String> {
    let mut all = words(args.name.as_deref(), &args.labels, args.interface.as_deref());
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            all.extend([name.to_owned(), value]);
        }
    };
    option("--server", args.server.clone());
    option("--max-rate", args.limits.max_rate.map(|rate| rate.to_string()));
    option("--max-bytes", args.limits.max_bytes.map(|bytes| bytes.to_string()));
    option("--max-duration", args.limits.max_duration.map(|time| time.to_string()));
    option("--hours", args.limits.hours.map(|hours| hours.to_string()));
    if args.serve {
        all.push("--serve".to_owned());
    }
    all
}

/// Options of `netburn fleet join` as words.
pub(crate) fn words(name: Option<&str>, labels: &[Label], interface: Option<&str>) -> Vec<String> {
    let mut words = Vec::new();
    for (option, value) in [("--name", name), ("--interface", interface)] {
        words.extend(
            value
                .map(|value| [option.to_owned(), value.to_owned()])
                .into_iter()
                .flatten(),
        );
    }
    for label in labels {
        words.extend(["--label".to_owned(), format!("{}={}", label.key, label.value)]);
    }
    words
}

impl Places {
    fn for_this_system() -> Result<Places, CliError> {
        let root = std::env::var_os(ROOT).map(PathBuf::from);
        let at = |path: &str| match &root {
            Some(root) => root.join(path.trim_start_matches('/')),
            None => PathBuf::from(path),
        };
        if !cfg!(target_os = "linux") {
            return Err(CliError::Usage(
                "--install knows systemd and OpenWrt's procd only".to_owned(),
            ));
        }
        let systemd = at("/run/systemd/system").exists() || root.is_some() && at("/etc/systemd").exists();
        let procd = at("/sbin/procd").exists();
        let is_root = netburn_linux::process::is_root();
        Ok(if systemd && is_root {
            Places {
                root,
                kind: Kind::Systemd,
                binary: "/usr/local/bin/netburn".into(),
                environment: "/etc/netburn/join.env".into(),
                unit: "/etc/systemd/system/netburn-agent.service".into(),
            }
        } else if systemd {
            let home = std::env::var_os("HOME").map(PathBuf::from);
            let home = home.ok_or_else(|| CliError::Usage("there is no home folder (HOME is not set)".to_owned()))?;
            Places {
                root,
                kind: Kind::SystemdUser,
                binary: home.join(".local/bin/netburn"),
                environment: home.join(".config/netburn/join.env"),
                unit: home.join(".config/systemd/user/netburn-agent.service"),
            }
        } else if procd && is_root {
            Places {
                root,
                kind: Kind::Procd,
                binary: "/usr/bin/netburn".into(),
                environment: "/etc/netburn/join.env".into(),
                unit: "/etc/init.d/netburn".into(),
            }
        } else {
            return Err(CliError::Usage(
                "neither systemd nor procd runs here: have your own system start `netburn fleet join`, with its address in the \
                 environment variable NETBURN_FLEET_URL"
                    .to_owned(),
            ));
        })
    }

    /// A path below the root folder.
    fn real(&self, path: &Path) -> PathBuf {
        match &self.root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }
}

/// Runs a command that has to succeed, and that must not ask for a password.
fn run(words: &[&str]) -> Result<(), String> {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
    if let Some(folder) = runtime_folder() {
        command.env(RUNTIME, folder);
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` failed ({status})", words.join(" "))),
        Err(error) => Err(format!("`{}`: {error}", words.join(" "))),
    }
}

/// Folder of the socket of the user's systemd, if systemd runs and the session does not set it (pam_systemd(8)): a login over SSH without PAM,
/// or a shell of `su`.
fn runtime_folder() -> Option<PathBuf> {
    if netburn_linux::process::is_root() || std::env::var_os(RUNTIME).is_some_and(|folder| !folder.is_empty()) {
        return None;
    }
    let folder = PathBuf::from(format!("/run/user/{}", netburn_linux::process::user()));
    folder.join("systemd").is_dir().then_some(folder)
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

/// Creates a file with this mode before anything is written to it.
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
    let mut file = options.open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}
