//! `netburn fleet deploy`: netburn on other machines, over SSH.

mod elf;

use super::install::{ENVIRONMENT, words};
use super::ssh::{Ssh, quoted};
use super::{found, runtime};
use crate::args::DeployArgs;
use crate::exit::{CliError, ExitStatus};
use crate::terminal::eprint_message;
use elf::{Elf, Machine};
use netburn_protocol::join_url::{JoinUrl, Place};
use netburn_report::sanitise::sanitise;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A binary that can be copied.
#[derive(Debug)]
struct Binary {
    path: PathBuf,
    bytes: Vec<u8>,
    elf: Option<Elf>,
}

/// `netburn fleet deploy`.
pub(crate) fn deploy(args: &DeployArgs) -> Result<ExitStatus, CliError> {
    if args.name.is_some() && args.hosts.len() > 1 {
        return Err(CliError::Usage(
            "--name is for one machine: give each its own, or none".to_owned(),
        ));
    }
    let url = match &args.url {
        Some(url) => url.clone(),
        None => runtime()?
            .block_on(async { Ok(found().await?.welcome().urls.first().cloned()) })?
            .unwrap_or_default(),
    };
    reachable(&url)?;
    let mut binaries = Vec::new();
    if let Some(path) = &args.binary {
        binaries.push(Binary::read(path).map_err(|error| CliError::Usage(format!("{}: {error}", path.display())))?);
    }
    let this = std::env::current_exe().and_then(|path| Binary::read(&path));
    binaries.extend(
        this.map_err(|error| eprint_message(&format!("warning: this program's own binary can't be read: {error}"))),
    );
    let mut failed = 0;
    for host in &args.hosts {
        let shown = sanitise(host);
        match one(host, &url, &binaries, args) {
            Ok(done) => eprint_message(&format!("{shown}: {done}")),
            Err(CliError::Usage(why) | CliError::Failed(why) | CliError::Command(_, why)) => {
                failed += 1;
                eprint_message(&format!("{shown}: {why}"));
            }
            Err(stop @ CliError::BrokenPipe) => return Err(stop),
        }
    }
    match failed {
        0 => Ok(ExitStatus::Success),
        _ => Ok(ExitStatus::NotMeasured),
    }
}

/// Rejects an address that only this machine can reach.
fn reachable(url: &str) -> Result<(), CliError> {
    let url: JoinUrl = url.parse().map_err(|error| CliError::Usage(format!("{error}")))?;
    match (&url.place, &url.token) {
        (Place::Unix(_), _) => Err(CliError::Usage(
            "other machines can't join at a socket of this one".to_owned(),
        )),
        (_, None) => Err(CliError::Usage(
            "the address has no token: give it as `netburn fleet serve` prints it".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// Deploys to one machine. Returns a description.
fn one(host: &str, url: &str, binaries: &[Binary], args: &DeployArgs) -> Result<String, CliError> {
    let ssh = Ssh::new(host, args.ssh_config.clone())?;
    let what = ask(&ssh, "uname -sm")?;
    let machine = Machine::from_uname(&what).ok_or_else(|| {
        CliError::Usage(format!(
            "it is a `{}`, which netburn isn't built for here",
            sanitise(&what)
        ))
    })?;
    let mut tried = Vec::new();
    for binary in binaries
        .iter()
        .filter(|binary| binary.elf.as_ref().is_some_and(|elf| elf.runs_on(&machine)))
    {
        match put(&ssh, binary) {
            Ok(how) => {
                let started = start(&ssh, url, args)?;
                return Ok(format!("{machine}, {how}, {started}"));
            }
            Err(CliError::Failed(why)) => tried.push(why),
            Err(stop) => return Err(stop),
        }
    }
    let why = match tried.first() {
        Some(why) => format!("the binary doesn't run there ({why})"),
        None => "no binary at hand is for it".to_owned(),
    };
    Err(CliError::Usage(format!(
        "it is {machine}, and {why}: {}",
        machine.recipe()
    )))
}

/// Output of a command.
fn ask(ssh: &Ssh, command: &str) -> Result<String, CliError> {
    let said = ssh.run(command)?;
    if said.status.success() {
        Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
    } else {
        Err(CliError::Failed(format!(
            "ssh: `{command}` didn't work ({})",
            said.status
        )))
    }
}

/// Copies a binary if it is not there yet, and checks that it runs.
fn put(ssh: &Ssh, binary: &Binary) -> Result<String, CliError> {
    let sum = binary.sum();
    let there = ask(
        ssh,
        "sha256sum \"$HOME/.local/bin/netburn\" 2>/dev/null | cut -d' ' -f1; true",
    )?;
    if there == sum {
        return Ok("netburn was there".to_owned());
    }
    // A new file and a rename: a running netburn keeps its binary.
    let remote = "set -e; umask 077; mkdir -p \"$HOME/.local/bin\"; new=\"$HOME/.local/bin/.netburn.new\"; cat >\"$new\"; \
                  chmod 755 \"$new\"; \"$new\" --version >/dev/null || { rm -f \"$new\"; exit 96; }; \
                  mv -f \"$new\" \"$HOME/.local/bin/netburn\"";
    let status = feed(ssh, remote, &binary.bytes)?;
    match status.code() {
        Some(0) => Ok(format!(
            "{} copied",
            netburn_units::ByteSize::from_bytes(binary.bytes.len() as u64)
        )),
        Some(96) if binary.elf.as_ref().is_some_and(|elf| !elf.is_static()) => Err(CliError::Failed(format!(
            "{} needs a C library that isn't there",
            binary.path.display()
        ))),
        Some(96) => Err(CliError::Failed(format!(
            "{} says nothing of its version",
            binary.path.display()
        ))),
        _ => Err(CliError::Usage(format!("it couldn't be copied ({status})"))),
    }
}

/// Restarts the agent: at each start of the device, or until the device shuts down.
fn start(ssh: &Ssh, url: &str, args: &DeployArgs) -> Result<String, CliError> {
    let options: String = options(args).iter().map(|word| format!(" {}", quoted(word))).collect();
    let netburn = "\"$HOME/.local/bin/netburn\"";
    // The token travels in standard input: all users of that machine can read arguments. What was deployed before is
    // left alone until it is known that the new one can join.
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
    let remote = if args.service {
        format!("{keep} {netburn} fleet join --install{options}; {instead} rm -f \"$state/deployed.pid\"")
    } else {
        format!(
            "{keep} {instead} \
             (trap '' HUP; exec {netburn} fleet join{options}) >\"$state/agent.log\" 2>&1 </dev/null & \
             echo $! >\"$state/deployed.pid\"; sleep 1; \
             kill -0 $! 2>/dev/null || {{ cat \"$state/agent.log\" >&2; exit 95; }}"
        )
    };
    let status = feed(ssh, &remote, format!("{ENVIRONMENT}={}\n", quoted(url)).as_bytes())?;
    match (status.code(), args.service) {
        (Some(0), true) => Ok("installed as a service".to_owned()),
        (Some(0), false) => Ok("joining".to_owned()),
        (Some(94), _) => Err(CliError::Usage(
            "it can't join as it is asked to; see above. What ran there before still does".to_owned(),
        )),
        (Some(95), _) => Err(CliError::Usage(
            "netburn was started and ended at once; see above".to_owned(),
        )),
        _ => Err(CliError::Usage(format!("netburn couldn't be started ({status})"))),
    }
}

fn options(args: &DeployArgs) -> Vec<String> {
    words(args.name.as_deref(), &args.labels, args.interface.as_deref())
}

/// Runs a command with `bytes` as its standard input.
fn feed(ssh: &Ssh, remote: &str, bytes: &[u8]) -> Result<std::process::ExitStatus, CliError> {
    let failed = |error: std::io::Error| CliError::Failed(format!("ssh: {error}"));
    let mut command = ssh.over(remote);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    let mut input = child.stdin.take().expect("it is piped");
    // A command that ends early closes its input; its status shows the reason.
    let _ = input.write_all(bytes);
    drop(input);
    child.wait().map_err(failed)
}

impl Binary {
    fn read(path: &Path) -> std::io::Result<Binary> {
        let bytes = std::fs::read(path)?;
        Ok(Binary {
            path: path.to_owned(),
            elf: Elf::read(&bytes),
            bytes,
        })
    }

    fn sum(&self) -> String {
        let digest = ring::digest::digest(&ring::digest::SHA256, &self.bytes);
        digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_join_where_they_can() {
        let token = netburn_protocol::join_url::new_token().unwrap();
        assert!(reachable(&format!("http://192.168.1.5:4484/#{token}")).is_ok());
        assert!(reachable("http://192.168.1.5:4484/").is_err(), "without a token");
        assert!(reachable(&format!("unix:/run/x.sock#{token}")).is_err());
        assert!(reachable("").is_err());
    }
}
