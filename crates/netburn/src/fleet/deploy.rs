//! `netburn fleet deploy`: netburn on other machines, over SSH.

use super::install::words;
use super::{found, runtime};
use crate::args::DeployArgs;
use crate::exit::{CliError, ExitStatus};
use crate::terminal::eprint_message;
use netburn_deploy::remote::{self, Binary, DeployError, Deployed, Deployment};
use netburn_deploy::ssh::Ssh;
use netburn_protocol::join_url::{JoinUrl, Place};
use netburn_report::sanitise::sanitise;
use std::path::Path;

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
            .block_on(async { Ok::<_, CliError>(found().await?.welcome().urls.first().cloned()) })?
            .unwrap_or_default(),
    };
    reachable(&url)?;
    let mut binaries = Vec::new();
    if let Some(path) = &args.binary {
        binaries.push(binary(path)?);
    }
    let this = std::env::current_exe().and_then(|path| Binary::read(&path));
    binaries.extend(
        this.map_err(|error| eprint_message(&format!("warning: this program's own binary can't be read: {error}"))),
    );
    let deployment = Deployment {
        url,
        options: words(args.name.as_deref(), &args.labels, args.interface.as_deref()),
        service: args.service,
    };
    let mut failed = 0;
    for host in &args.hosts {
        let shown = sanitise(host);
        match one(host, &binaries, &deployment, args) {
            Ok(deployed) => eprint_message(&format!("{shown}: {}", described(&deployed, args.service))),
            Err(error) => {
                failed += 1;
                eprint_message(&format!("{shown}: {}", sanitise(&error.to_string())));
            }
        }
    }
    match failed {
        0 => Ok(ExitStatus::Success),
        _ => Ok(ExitStatus::NotMeasured),
    }
}

/// Reads the file of `--binary`.
fn binary(path: &Path) -> Result<Binary, CliError> {
    let wrong = |why: String| CliError::Usage(format!("--binary {}: {why}", sanitise(&path.to_string_lossy())));
    let metadata = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if !metadata.is_file() {
        return Err(wrong("found another kind of file, expected a regular file".to_owned()));
    }
    let binary = Binary::read(path).map_err(|error| wrong(error.to_string()))?;
    if !binary.is_executable() {
        return Err(wrong(
            "found a file that is no executable of Linux (ELF), expected netburn; help: give the path of a netburn \
             binary that was built for the other machine"
                .to_owned(),
        ));
    }
    Ok(binary)
}

/// Deploys to one machine.
fn one(host: &str, binaries: &[Binary], deployment: &Deployment, args: &DeployArgs) -> Result<Deployed, DeployError> {
    let ssh = Ssh::new(host, args.ssh_config.clone())?;
    remote::deploy(&ssh, binaries, deployment)
}

/// Description of the result on a machine.
fn described(deployed: &Deployed, service: bool) -> String {
    let copied = match deployed.copied {
        Some(size) => format!("{size} copied"),
        None => "netburn was there".to_owned(),
    };
    let started = if service { "installed as a service" } else { "joining" };
    format!("{}, {copied}, {started}", deployed.machine)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_is_an_executable_file() {
        let wrong = |path: &str| match binary(Path::new(path)) {
            Err(CliError::Usage(text)) => text,
            other => panic!("{path}: {:?}", other.is_ok()),
        };
        let text = wrong(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        assert!(text.contains("no executable of Linux (ELF)"), "{text}");
        assert!(wrong(env!("CARGO_MANIFEST_DIR")).contains("expected a regular file"));
        assert!(binary(&std::env::current_exe().unwrap()).is_ok());
    }

    #[test]
    fn others_join_where_they_can() {
        let token = netburn_protocol::join_url::new_token().unwrap();
        assert!(reachable(&format!("http://192.168.1.5:4484/#{token}")).is_ok());
        assert!(reachable("http://192.168.1.5:4484/").is_err(), "without a token");
        assert!(reachable(&format!("unix:/run/x.sock#{token}")).is_err());
        assert!(reachable("").is_err());
    }
}
