//! The system's OpenSSH: one master connection for each host, which all commands use (ssh_config(5): ControlMaster).

use netburn_units::Duration;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::Instant;

/// Line that represents the first output of the command.
pub const OUTPUT: &str = "netburn: first output";

/// A host and its master connection.
#[derive(Debug)]
pub struct Ssh {
    host: String,
    config: Option<PathBuf>,
    /// Private folder of the master's socket. Its path is short, because the path of a socket is limited.
    folder: PathBuf,
}

/// Error of the SSH client on this machine.
#[derive(Debug, thiserror::Error)]
pub enum SshError {
    /// The text is not a host.
    #[error("`{0}` is no host: write it as user@host")]
    InvalidHost(String),
    /// The folder of the socket can't be created.
    #[error("no place for a socket: {0}")]
    Folder(#[source] std::io::Error),
    /// The client is not installed.
    #[error("there is no `ssh` here: install OpenSSH's client")]
    NotInstalled,
    /// The client can't be started or waited for.
    #[error("ssh: {0}")]
    Failed(#[source] std::io::Error),
}

/// A timed command: its lines with their times, its duration and its success.
#[derive(Debug)]
pub struct Timed {
    /// Lines of its standard error, each with its time since the start, in order of time. The first output is a line too.
    pub lines: Vec<(Duration, String)>,
    /// Time from the start to the end.
    pub took: Duration,
    /// True if it succeeded.
    pub ok: bool,
}

impl Ssh {
    /// Creates the folder of the socket. It does not connect yet.
    ///
    /// # Errors
    /// If `host` is not a host, or the folder can't be created.
    pub fn new(host: &str, config: Option<PathBuf>) -> Result<Ssh, SshError> {
        if host.starts_with('-') || host.is_empty() {
            return Err(SshError::InvalidHost(host.to_owned()));
        }
        let folder = temporary_folder().map_err(SshError::Folder)?;
        Ok(Ssh {
            host: host.to_owned(),
            config,
            folder,
        })
    }

    /// A command over the master connection, which the first command opens. OpenSSH asks its questions (for a password,
    /// or about a host key) at the terminal.
    #[must_use]
    pub fn over(&self, remote: &str) -> Command {
        let mut command = self.begin();
        command.args(["-o", "ControlMaster=auto", "-o", "ControlPersist=60"]);
        command.arg("-o").arg(self.path());
        self.end(command, remote)
    }

    /// Runs a command over the master connection. Returns its output.
    ///
    /// # Errors
    /// If the client can't be started. A failed command is no error.
    pub fn run(&self, remote: &str) -> Result<Output, SshError> {
        let mut command = self.over(remote);
        command.stdin(Stdio::null()).stderr(Stdio::inherit());
        command.output().map_err(no_ssh)
    }

    /// Runs a command over the master connection with `bytes` as its standard input.
    ///
    /// # Errors
    /// If the client can't be started or waited for. A failed command is no error.
    pub fn feed(&self, remote: &str, bytes: &[u8]) -> Result<ExitStatus, SshError> {
        let mut command = self.over(remote);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().map_err(SshError::Failed)?;
        let mut input = child.stdin.take().expect("it is piped");
        // A command that ends early closes its input; its status shows the reason.
        let _ = input.write_all(bytes);
        drop(input);
        child.wait().map_err(SshError::Failed)
    }

    /// A separate login with verbose output and without prompts.
    ///
    /// # Errors
    /// If the client can't be started. A failed command is no error.
    pub fn login(&self, remote: &str) -> Result<Timed, SshError> {
        let mut command = self.begin();
        command.args([
            "-vvv",
            "-o",
            "BatchMode=yes",
            "-o",
            "ControlMaster=no",
            "-o",
            "ControlPath=none",
        ]);
        command.args(["-o", "ConnectTimeout=30"]);
        timed(self.end(command, remote))
    }

    /// A timed command over the master connection, without prompts.
    ///
    /// # Errors
    /// If the client can't be started. A failed command is no error.
    pub fn reused(&self, remote: &str) -> Result<Timed, SshError> {
        let mut command = self.begin();
        command.args([
            "-o",
            "BatchMode=yes",
            "-o",
            "ControlMaster=auto",
            "-o",
            "ControlPersist=60",
        ]);
        command.arg("-o").arg(self.path());
        timed(self.end(command, remote))
    }

    fn begin(&self) -> Command {
        let mut command = Command::new("ssh");
        if let Some(config) = &self.config {
            command.arg("-F").arg(config);
        }
        command.args(["-T", "-x"]);
        command
    }

    fn end(&self, mut command: Command, remote: &str) -> Command {
        command.arg("--").arg(&self.host).arg(remote);
        command
    }

    fn path(&self) -> String {
        format!("ControlPath={}/%C", self.folder.display())
    }
}

impl Drop for Ssh {
    /// The master connection ends with this value.
    fn drop(&mut self) {
        let mut command = self.begin();
        command
            .arg("-o")
            .arg(self.path())
            .args(["-O", "exit", "--"])
            .arg(&self.host);
        let _ = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A command for a session that lasts, without prompts. It uses a master connection if the user's configuration has one. The
/// client ends if the host does not answer for 10 s. `host` may be `user@host` or `ssh://user@host:port`.
///
/// # Errors
/// If `host` is not a host.
pub fn session(host: &str, config: Option<&Path>, remote: &str) -> Result<Command, SshError> {
    if host.starts_with('-') || host.is_empty() {
        return Err(SshError::InvalidHost(host.to_owned()));
    }
    let mut command = Command::new("ssh");
    if let Some(config) = config {
        command.arg("-F").arg(config);
    }
    // A user's master connection is used, but this session does not become one, because it ends with the run.
    command.args([
        "-T",
        "-x",
        "-o",
        "BatchMode=yes",
        "-o",
        "ConnectTimeout=10",
        "-o",
        "ControlMaster=no",
    ]);
    command.args(["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2"]);
    command.arg("--").arg(host).arg(remote);
    // An interrupt from the terminal goes to the whole process group, and must not end the session before the run.
    netburn_platform::process::separate(&mut command);
    Ok(command)
}

/// Runs a command and stamps each line of its standard error, and the first byte of its standard output.
fn timed(mut command: Command) -> Result<Timed, SshError> {
    let began = Instant::now();
    let since = move || Duration::from_nanos(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(no_ssh)?;
    let (tell, told) = mpsc::channel();
    let mut output = child.stdout.take().expect("it is piped");
    let errors = child.stderr.take().expect("it is piped");
    let first = tell.clone();
    let reader = std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        let mut begun = false;
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            let _ = count;
            if !begun {
                let _ = first.send((since(), OUTPUT.to_owned()));
                begun = true;
            }
        }
    });
    for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
        let _ = tell.send((since(), String::from_utf8_lossy(&line).into_owned()));
    }
    drop(tell);
    let status = child.wait().map_err(no_ssh)?;
    let took = since();
    let _ = reader.join();
    let mut lines: Vec<(Duration, String)> = told.into_iter().collect();
    lines.sort_by_key(|(at, _)| *at);
    Ok(Timed {
        lines,
        took,
        ok: status.success(),
    })
}

fn no_ssh(error: std::io::Error) -> SshError {
    match error.kind() {
        std::io::ErrorKind::NotFound => SshError::NotInstalled,
        _ => SshError::Failed(error),
    }
}

/// Creates a folder in the system's folder for temporary files.
fn temporary_folder() -> std::io::Result<PathBuf> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let stamp = stamp.map_or(0, |since| since.subsec_nanos());
    let folder = std::env::temp_dir().join(format!("nb{}-{number}-{stamp:x}", std::process::id()));
    netburn_platform::private_folder::create_new(&folder)?;
    Ok(folder)
}

/// A text as one word of a POSIX shell.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word_in_the_far_shell() {
        for text in ["plain", "two words", "it's", "$(reboot)", "a'b'c", "\"", "`x`; y"] {
            let said = Command::new("sh")
                .arg("-c")
                .arg(format!("printf %s {}", quoted(text)))
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(said.stdout).unwrap(), text);
        }
    }

    #[test]
    fn options_are_no_hosts() {
        for wrong in ["", "-oProxyCommand=reboot"] {
            assert!(
                matches!(Ssh::new(wrong, None), Err(SshError::InvalidHost(_))),
                "{wrong}"
            );
        }
    }
}
