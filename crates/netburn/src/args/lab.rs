//! `lab` and `doctor`.

use super::{Changes, Format};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Run programs at the stations of a modelled network: real ones, with this machine's kernel TCP.
///
/// Each station and the server gets a network namespace; between them an access point is modelled in real time. Names resolve:
/// `server`, and each station by its own. At the server, `netburn serve` answers at port 80, and `iperf3 -s` where a command calls
/// iperf3. Nothing of the host or beyond can be reached from inside, and the host's network is not touched. Without a command there
/// is a shell. The exit status is the command's; of several, the first that is not 0.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LabArgs {
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Where the command runs: a station, or `server` [default: the first station]
    #[arg(long, value_name = "NAME")]
    pub(crate) at: Option<String>,
    /// Keep it open until it is interrupted, and show the air; keys change signal, rate and queue, and commands read nothing
    #[arg(long)]
    pub(crate) serve: bool,
    /// Keep what every station sends and receives, and the air, in this directory, as pcapng
    #[arg(long, value_name = "DIR")]
    pub(crate) pcap: Option<PathBuf>,
    /// The command; more of them after `--and --at NAME --`
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// Say what of netburn this machine permits, and what would permit the rest.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// How it is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Record into this file, until Ctrl-C, what the drivers of this machine's Wi-Fi tell: without names and addresses, so that it can
    /// be handed on
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub(crate) record_wifi: Option<PathBuf>,
    /// With --record-wifi, keep the names and addresses of the networks
    #[arg(long, requires = "record_wifi")]
    pub(crate) with_names: bool,
}

const EXAMPLES: &str = "Examples:
  netburn lab anomaly --at fast-1 -- iperf3 -c server
  netburn lab anomaly --at fast-1 -- curl -o /dev/null http://server/bytes/100MiB --and --at slow -- ping -c 9 server
  netburn lab archer-c7-split --serve";

/// One command and where it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct At {
    /// `None`: at the first station.
    pub(crate) name: Option<String>,
    /// Nothing: a shell.
    pub(crate) command: Vec<OsString>,
}

impl LabArgs {
    /// The commands, taken apart at `--and`.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn commands(&self) -> Result<Vec<At>, String> {
        let mut parts = self.command.split(|word| word == "--and");
        let first = parts.next().unwrap_or_default().to_vec();
        let mut all = vec![At {
            name: self.at.clone(),
            command: first,
        }];
        for part in parts {
            match part {
                [at, name, dashes, command @ ..] if at == "--at" && dashes == "--" && !command.is_empty() => {
                    all.push(At {
                        name: Some(name.to_string_lossy().into_owned()),
                        command: command.to_vec(),
                    })
                }
                _ => return Err("after --and, write --at NAME -- and a command".to_owned()),
            }
        }
        if all.len() > 1 && all.iter().any(|at| at.command.is_empty()) {
            return Err("a shell shares the terminal with nobody: give each station a command".to_owned());
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use crate::args::{Cli, Command};
    use clap::Parser;

    type Taken = (Option<String>, Vec<String>);

    fn commands(line: &[&str]) -> Result<Vec<Taken>, String> {
        let cli = Cli::try_parse_from([&["netburn", "lab", "anomaly"], line].concat()).unwrap();
        let Command::Lab(args) = cli.command else {
            unreachable!()
        };
        let plain = |at: super::At| {
            (
                at.name,
                at.command.iter().map(|word| word.to_string_lossy().into()).collect(),
            )
        };
        args.commands().map(|all| all.into_iter().map(plain).collect())
    }

    #[test]
    fn commands_are_taken_apart() {
        assert_eq!(commands(&[]), Ok(vec![(None, vec![])]));
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let two = [
            "--at", "a", "--", "ls", "-l", "--and", "--at", "b", "--", "ping", "server",
        ];
        let expected = vec![
            (Some("a".to_owned()), words(&["ls", "-l"])),
            (Some("b".to_owned()), words(&["ping", "server"])),
        ];
        assert_eq!(commands(&two), Ok(expected));
        for wrong in [
            &["--", "ls", "--and"][..],
            &["--", "ls", "--and", "--at", "b"],
            &["--", "--and", "--at", "b", "--", "ls"],
        ] {
            assert!(commands(wrong).is_err(), "{wrong:?}");
        }
    }
}
