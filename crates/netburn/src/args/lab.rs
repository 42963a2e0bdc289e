//! `lab` and `doctor`.

use super::{Changes, Format};
use clap::{Args, Parser};
use std::ffi::OsString;
use std::path::PathBuf;

/// Run programs at the stations of a modelled network: real ones, with this machine's kernel TCP.
///
/// Each station and the server gets a network namespace; between them an access point is modelled in real time. Names resolve:
/// `server`, and each station by its own, which is its host name as well. At the server, `netburn serve` answers at port 80, and
/// iperf3 answers every station: a server of its own for each, started when it first calls. Nothing of the host or beyond can be
/// reached from inside, and the host's network is not touched. Programs run with your files and rights; NETBURN_STATION holds
/// their station's name. Without a command there is a shell. What several commands print has their station's name before it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LabArgs {
    /// A file, or the name of a built-in scenario
    pub(crate) scenario: String,
    /// What all chance comes from, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = super::run::seed, allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
    /// Any key of the scenario, such as `server.link.rate="15 Mbit/s"`; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) first: CommandArgs,
    /// Keep it open until it is interrupted, and show the air; keys change signal, rate and queue, and commands read nothing
    #[arg(long)]
    pub(crate) serve: bool,
    /// Keep what every station sends and receives, and the air, in this directory, as pcapng
    #[arg(long, value_name = "DIR")]
    pub(crate) pcap: Option<PathBuf>,
    /// Write what each command prints to DIR/NAME.out and DIR/NAME.err, and how it went to DIR/lab.json
    #[arg(long, value_name = "DIR")]
    pub(crate) log: Option<PathBuf>,
    /// Start no servers of netburn's own: neither at port 80 nor iperf3's
    #[arg(long)]
    pub(crate) no_servers: bool,
    /// Exit with 3 when the lab was disturbed, so that what the programs measured is unreliable
    #[arg(long)]
    pub(crate) check: bool,
    /// Print warnings and errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A command, and where and how it runs.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CommandArgs {
    /// Where the command runs: a station, or `server` [default: the first station]
    #[arg(long, value_name = "NAME")]
    pub(crate) at: Option<String>,
    /// The command serves the others: it gets SIGTERM when they have ended, and its exit status doesn't count then
    #[arg(long)]
    pub(crate) service: bool,
    /// Start the commands after this one when something listens there at this TCP port
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) ready: Option<u16>,
    /// The command; more of them after `--and --at NAME [--service] [--ready PORT] --`
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// What stands between `--and` and the next.
#[derive(Debug, Parser)]
#[command(name = "netburn lab … --and", no_binary_name = true, disable_help_flag = true)]
struct Further {
    #[command(flatten)]
    command: CommandArgs,
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
  netburn lab anomaly --at server --service --ready 8080 -- python3 -m http.server 8080 \\
    --and --at slow -- curl http://server:8080/
  netburn lab archer-c7-split --serve

Exit status:
  The command's own; of several commands, the first that is not 0.
  2    the input is wrong, or there can be no lab
  3    with --check, the lab was disturbed; or captures are not whole; or the lab's helper was
       killed while the lab was opened
  126  a command can't be executed
  127  a command isn't there
  143  and other sums of 128 and a signal: a signal ended a command, or netburn.
       SIGTERM and SIGHUP are passed on to the commands, which are killed after
       3 s or a second signal.";

impl LabArgs {
    /// What is different from the scenario's.
    pub(crate) fn changes(&self) -> Changes {
        Changes {
            scenario: self.scenario.clone(),
            seed: self.seed,
            repeat: None,
            duration: None,
            set: self.set.clone(),
        }
    }

    /// The commands, taken apart at `--and`.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn commands(&self) -> Result<Vec<CommandArgs>, String> {
        let mut parts = self.first.command.split(|word| word == "--and");
        let first = parts.next().unwrap_or_default().to_vec();
        let mut all = vec![CommandArgs {
            command: first,
            ..self.first.clone()
        }];
        for part in parts {
            let further = Further::try_parse_from(part).map(|further| further.command).ok();
            match further {
                Some(command) if command.at.is_some() && !command.command.is_empty() => all.push(command),
                _ => {
                    return Err("after --and, write --at NAME [--service] [--ready PORT] -- and a command".to_owned());
                }
            }
        }
        if all.len() > 1 && all.iter().any(|command| command.command.is_empty()) {
            return Err("a shell shares the terminal with nobody: give each station a command".to_owned());
        }
        if all.iter().all(|command| command.service) {
            return Err("all commands are services: none would end them".to_owned());
        }
        if all
            .iter()
            .any(|command| command.ready.is_some() && command.command.is_empty())
        {
            return Err("--ready is for a command".to_owned());
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::CommandArgs;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn commands(line: &[&str]) -> Result<Vec<CommandArgs>, String> {
        let cli = Cli::try_parse_from([&["netburn", "lab", "anomaly"], line].concat()).unwrap();
        let Command::Lab(args) = cli.command else {
            unreachable!()
        };
        args.commands()
    }

    fn at(name: Option<&str>, words: &[&str]) -> CommandArgs {
        CommandArgs {
            at: name.map(str::to_owned),
            service: false,
            ready: None,
            command: words.iter().map(Into::into).collect(),
        }
    }

    #[test]
    fn commands_are_taken_apart() {
        assert_eq!(commands(&[]), Ok(vec![at(None, &[])]));
        let two = [
            "--at", "a", "--", "ls", "-l", "--and", "--at", "b", "--", "ping", "--at", "server",
        ];
        let expected = vec![at(Some("a"), &["ls", "-l"]), at(Some("b"), &["ping", "--at", "server"])];
        assert_eq!(commands(&two), Ok(expected));
        for wrong in [
            &["--", "ls", "--and"][..],
            &["--", "ls", "--and", "--at", "b"],
            &["--", "ls", "--and", "--at", "b", "--"],
            &["--", "ls", "--and", "--at", "b", "--serve", "--", "ls"],
            &["--", "ls", "--and", "--", "ls"],
            &["--", "--and", "--at", "b", "--", "ls"],
        ] {
            assert!(commands(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn services_and_ports_belong_to_their_command() {
        let line = [
            "--at",
            "server",
            "--service",
            "--ready",
            "8080",
            "--",
            "serve",
            "--and",
            "--at=b",
            "--ready=9",
            "--",
            "ls",
            "--and",
            "--at",
            "c",
            "--service",
            "--",
            "x",
        ];
        let expected = vec![
            CommandArgs {
                service: true,
                ready: Some(8080),
                ..at(Some("server"), &["serve"])
            },
            CommandArgs {
                ready: Some(9),
                ..at(Some("b"), &["ls"])
            },
            CommandArgs {
                service: true,
                ..at(Some("c"), &["x"])
            },
        ];
        assert_eq!(commands(&line), Ok(expected));
        for wrong in [
            &["--service", "--", "ls"][..],
            &["--service"],
            &["--ready", "80"],
            &["--", "ls", "--and", "--at", "b", "--ready", "0", "--", "ls"],
        ] {
            assert!(commands(wrong).is_err(), "{wrong:?}");
        }
    }
}
