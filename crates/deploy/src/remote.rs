//! Copying netburn to a machine over SSH, and starting its agent.

use crate::ENVIRONMENT;
use crate::elf::{Elf, Machine};
use crate::ssh::{Ssh, SshError, quoted};
use netburn_units::ByteSize;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// A binary that can be copied.
#[derive(Debug)]
pub struct Binary {
    path: PathBuf,
    bytes: Vec<u8>,
    elf: Option<Elf>,
}

/// Settings of the agents to deploy.
#[derive(Clone, PartialEq, Eq)]
pub struct Deployment {
    /// Address to join, with its token.
    pub url: String,
    /// Options of `netburn fleet join`.
    pub options: Vec<String>,
    /// True if the agent starts with the machine, as a service.
    pub service: bool,
}

/// A machine on which the agent was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployed {
    /// System and processor.
    pub machine: Machine,
    /// Size of the copied binary; `None`: the machine had it.
    pub copied: Option<ByteSize>,
}

/// Reason why netburn could not be started on a machine. Texts of the machine are as it sent them.
#[derive(Debug, thiserror::Error)]
pub enum DeployError {
    /// The SSH client on this machine failed.
    #[error(transparent)]
    Ssh(#[from] SshError),
    /// netburn does not support the machine.
    #[error("it is a `{0}`, which netburn isn't built for here")]
    UnknownMachine(String),
    /// No binary runs on the machine.
    #[error("it is {machine}, and {}: {}", unusable(.tried), .machine.recipe())]
    NoBinary {
        /// The machine.
        machine: Machine,
        /// Reason of the first binary that should have run.
        tried: Option<Box<DeployError>>,
    },
    /// A command failed.
    #[error("ssh: `{command}` didn't work ({status})")]
    Command {
        /// The command.
        command: String,
        /// Status.
        status: ExitStatus,
    },
    /// The binary needs a library that the machine does not have.
    #[error("{} needs a C library that isn't there", .0.display())]
    Library(PathBuf),
    /// The binary does not run on the machine.
    #[error("{} does not print its version", .0.display())]
    Version(PathBuf),
    /// The binary is another program, or another version of netburn. What is on the machine is unchanged.
    #[error(
        "{} is not netburn {VERSION}: its `--version` prints something else; help: build it from the version of this program",
        .0.display()
    )]
    NotNetburn(PathBuf),
    /// The binary can't be copied.
    #[error("it couldn't be copied ({0})")]
    Copy(ExitStatus),
    /// The machine can't join. An earlier agent was not stopped.
    #[error("it can't join as it is asked to; see above. What ran there before still does")]
    CantJoin,
    /// The agent ended at once.
    #[error("netburn was started and ended at once; see above")]
    Ended,
    /// The agent can't be started.
    #[error("netburn couldn't be started ({0})")]
    Start(ExitStatus),
}

fn unusable(tried: &Option<Box<DeployError>>) -> String {
    match tried {
        Some(why) => format!("the binary doesn't run there ({why})"),
        None => "no binary at hand is for it".to_owned(),
    }
}

impl DeployError {
    /// True if another binary may run where this one failed.
    const fn concerns_binary(&self) -> bool {
        matches!(
            self,
            DeployError::Ssh(SshError::Failed(_))
                | DeployError::Command { .. }
                | DeployError::Library(_)
                | DeployError::Version(_)
        )
    }
}

/// Copies the first of `binaries` that runs on a machine, and restarts its agent.
///
/// # Errors
/// If the machine is unknown, no binary runs on it, or the agent can't be started.
pub fn deploy(ssh: &Ssh, binaries: &[Binary], deployment: &Deployment) -> Result<Deployed, DeployError> {
    let what = ask(ssh, "uname -sm")?;
    let machine = Machine::from_uname(&what).ok_or(DeployError::UnknownMachine(what))?;
    let mut tried = None;
    for binary in binaries
        .iter()
        .filter(|binary| binary.elf.as_ref().is_some_and(|elf| elf.runs_on(&machine)))
    {
        match put(ssh, binary) {
            Ok(copied) => {
                start(ssh, deployment)?;
                return Ok(Deployed { machine, copied });
            }
            Err(error) if error.concerns_binary() => tried = tried.or(Some(Box::new(error))),
            Err(error) => return Err(error),
        }
    }
    Err(DeployError::NoBinary { machine, tried })
}

/// Version of this program. All members of a fleet have the same.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Shell commands that check the output of `program --version`, and else run `undo` and exit with status 96 (it does not
/// run) or 97 (it is another program).
fn version_check(program: &str, undo: &str) -> String {
    format!(
        "said=$({program} --version 2>/dev/null) || {{ {undo}exit 96; }}; \
         case \"$said\" in \"netburn {VERSION}\"|\"netburn {VERSION} \"*) ;; *) {undo}exit 97;; esac"
    )
}

/// Output of a command.
fn ask(ssh: &Ssh, command: &str) -> Result<String, DeployError> {
    let said = ssh.run(command)?;
    if said.status.success() {
        Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
    } else {
        Err(DeployError::Command {
            command: command.to_owned(),
            status: said.status,
        })
    }
}

/// Copies a binary if it is not there yet, and checks that it runs. Returns the number of copied bytes.
fn put(ssh: &Ssh, binary: &Binary) -> Result<Option<ByteSize>, DeployError> {
    let sum = binary.sum();
    let there = ask(
        ssh,
        "sha256sum \"$HOME/.local/bin/netburn\" 2>/dev/null | cut -d' ' -f1; true",
    )?;
    let (remote, copied) = if there == sum {
        (version_check("\"$HOME/.local/bin/netburn\"", ""), None)
    } else {
        // A new file and a rename: a running netburn keeps its binary.
        let check = version_check("\"$new\"", "rm -f \"$new\"; ");
        let remote = format!(
            "set -e; umask 077; mkdir -p \"$HOME/.local/bin\"; new=\"$HOME/.local/bin/.netburn.new\"; cat >\"$new\"; \
             chmod 755 \"$new\"; {check}; mv -f \"$new\" \"$HOME/.local/bin/netburn\""
        );
        (remote, Some(ByteSize::from_bytes(binary.bytes.len() as u64)))
    };
    let bytes = if copied.is_some() { &binary.bytes[..] } else { &[] };
    let status = ssh.feed(&remote, bytes)?;
    match status.code() {
        Some(0) => Ok(copied),
        Some(97) => Err(DeployError::NotNetburn(binary.path.clone())),
        Some(96) if binary.elf.as_ref().is_some_and(|elf| !elf.is_static()) => {
            Err(DeployError::Library(binary.path.clone()))
        }
        Some(96) => Err(DeployError::Version(binary.path.clone())),
        _ => Err(DeployError::Copy(status)),
    }
}

/// Restarts the agent: at each start of the device, or until the device shuts down.
fn start(ssh: &Ssh, deployment: &Deployment) -> Result<(), DeployError> {
    let options: String = deployment
        .options
        .iter()
        .map(|word| format!(" {}", quoted(word)))
        .collect();
    let netburn = "\"$HOME/.local/bin/netburn\"";
    // The token is sent over standard input, because all users of that machine can read arguments. An earlier
    // deployment is not changed until the new agent has shown that it can join.
    let keep = format!(
        "set -e; umask 077; mkdir -p \"$HOME/.config/netburn\" \"$HOME/.local/state/netburn\"; \
         env=\"$HOME/.config/netburn/join.env\"; cat >\"$env.new\"; set -a; . \"$env.new\"; set +a; \
         {netburn} fleet join --check{options} || {{ rm -f \"$env.new\"; exit 94; }}; mv -f \"$env.new\" \"$env\"; "
    );
    // An agent that was deployed before ends first: until it has left the fleet, the controller rejects a second agent with its
    // name. A process that has ended has no `exe`, even while its parent has not waited for it. `sleep` may take whole
    // seconds only.
    let instead = "state=\"$HOME/.local/state/netburn\"; pid=$(cat \"$state/deployed.pid\" 2>/dev/null || true); \
                   if [ -n \"$pid\" ] && readlink \"/proc/$pid/exe\" 2>/dev/null | grep -q '/netburn'; then kill \"$pid\" 2>/dev/null || true; \
                   tries=0; while readlink \"/proc/$pid/exe\" >/dev/null 2>&1 && [ $tries -lt 100 ]; do sleep 0.1 2>/dev/null || sleep 1; tries=$((tries + 1)); done; fi; ";
    let remote = if deployment.service {
        format!("{keep} {netburn} fleet join --install{options}; {instead} rm -f \"$state/deployed.pid\"")
    } else {
        format!(
            "{keep} {instead} \
             (trap '' HUP; exec {netburn} fleet join{options}) >\"$state/agent.log\" 2>&1 </dev/null & \
             echo $! >\"$state/deployed.pid\"; sleep 1; \
             kill -0 $! 2>/dev/null || {{ cat \"$state/agent.log\" >&2; exit 95; }}"
        )
    };
    let status = ssh.feed(
        &remote,
        format!("{ENVIRONMENT}={}\n", quoted(&deployment.url)).as_bytes(),
    )?;
    match status.code() {
        Some(0) => Ok(()),
        Some(94) => Err(DeployError::CantJoin),
        Some(95) => Err(DeployError::Ended),
        _ => Err(DeployError::Start(status)),
    }
}

impl Binary {
    /// Reads a file.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn read(path: &Path) -> std::io::Result<Binary> {
        let bytes = std::fs::read(path)?;
        Ok(Binary {
            path: path.to_owned(),
            elf: Elf::read(&bytes),
            bytes,
        })
    }

    /// Returns whether the file is an executable of some machine (ELF).
    #[must_use]
    pub fn is_executable(&self) -> bool {
        self.elf.is_some()
    }

    fn sum(&self) -> String {
        let digest = ring::digest::digest(&ring::digest::SHA256, &self.bytes);
        digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Exit status of the check of a program that is this shell script.
    fn checked(script: &str) -> Option<i32> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::write(&program, script).unwrap();
        let check = version_check("sh \"$new\"", "rm \"$new\"; ");
        let status = Command::new("sh")
            .args(["-ec", &check])
            .env("new", &program)
            .status()
            .unwrap();
        assert_eq!(program.exists(), status.success(), "{script}");
        status.code()
    }

    #[test]
    fn only_netburn_of_this_version_replaces_what_is_there() {
        assert_eq!(checked(&format!("echo 'netburn {VERSION}'")), Some(0));
        assert_eq!(checked(&format!("echo 'netburn {VERSION} (0123abcd)'")), Some(0));
        // `/bin/true --version` prints this and succeeds.
        assert_eq!(checked("echo 'true (GNU coreutils) 9.1'"), Some(97));
        assert_eq!(checked("true"), Some(97));
        assert_eq!(checked("echo netburn 0.0.9"), Some(97));
        assert_eq!(checked(&format!("echo 'netburn {VERSION}1'")), Some(97));
        assert_eq!(checked(&format!("echo 'netburn {VERSION}'; exit 1")), Some(96));
    }
}
