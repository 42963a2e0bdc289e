//! `netburn lab` and `netburn doctor`.

use super::{Changes, Format};
use clap::{Args, Parser};
use std::ffi::OsString;
use std::path::PathBuf;

/// Run real programs on the stations of a modelled network
///
/// Each station and the server has a network namespace with this machine's kernel TCP. Between them, netburn models an
/// access point in real time. The names `server` and those of the stations resolve; each is also the host name in its
/// namespace.
///
/// On the server, `netburn serve` listens on port 80. iperf3 has one server for each station, which starts at the
/// station's first connection. Like every iperf3 server, it runs one test at a time. The namespaces have no access to the host's network and do not change it.
///
/// Programs run with your files and permissions. NETBURN_STATION contains the name of the station. Without a command,
/// netburn starts a shell. If there are several commands, each line of output starts with the station's name.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LabArgs {
    /// Scenario file, or name of a built-in scenario
    pub(crate) scenario: String,
    /// Random seed [default: from the scenario]
    #[arg(long, value_name = "N", value_parser = super::run::seed, allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
    /// Value of a key of the scenario, such as `server.link.rate="15 Mbit/s"`; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) first: CommandArgs,
    /// Keep the lab open until it is interrupted, and show the airtime; interactive keys change signal, rate and queue;
    /// commands get no standard input
    #[arg(long)]
    pub(crate) serve: bool,
    /// Control by another program, such as the Python package, over a Unix socket (SOCK_SEQPACKET) as standard input. The
    /// lab ends when that program closes the socket
    #[arg(long, conflicts_with_all = ["serve", "log", "at", "command"])]
    pub(crate) control: bool,
    /// Folder for packet captures (pcapng) of each station and of the radio. If it is not empty, they go to DIR-2
    #[arg(long, value_name = "DIR")]
    pub(crate) pcap: Option<PathBuf>,
    /// Folder for the output of each command (NAME.out and NAME.err) and its result (lab.json). If it is not empty, they
    /// go to DIR-2
    #[arg(long, value_name = "DIR")]
    pub(crate) log: Option<PathBuf>,
    /// Start no servers on port 80 and for iperf3
    #[arg(long)]
    pub(crate) no_servers: bool,
    /// Exit with status 3 if the lab was disturbed, so that measurements of the programs are unreliable
    #[arg(long)]
    pub(crate) check: bool,
    /// Print only warnings and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Command and its station.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CommandArgs {
    /// Station of the command, or `server` [default: the first station]
    #[arg(long, value_name = "NAME")]
    pub(crate) at: Option<String>,
    /// Mark the command as a service: it gets SIGTERM after the other commands have ended, and its exit status is then
    /// ignored
    #[arg(long)]
    pub(crate) service: bool,
    /// TCP port of this command on which a program must listen before the next commands start
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) ready: Option<u16>,
    /// Command; further commands follow `--and --at NAME [--service] [--ready PORT] --`
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// Options between `--and` and the next `--`.
#[derive(Debug, Parser)]
#[command(name = "netburn lab … --and", no_binary_name = true, disable_help_flag = true)]
struct Further {
    #[command(flatten)]
    command: CommandArgs,
}

/// Check what this machine supports and how to enable the rest
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// File for a recording of the messages of this machine's Wi-Fi drivers, until Ctrl-C. Names and addresses are
    /// replaced, so that you can share the file
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub(crate) record_wifi: Option<PathBuf>,
    /// Keep the names and addresses of the networks in the recording of --record-wifi
    #[arg(long, requires = "record_wifi")]
    pub(crate) with_names: bool,
}

const EXAMPLES: &str = "Examples:
  netburn lab anomaly --at fast-1 -- iperf3 -c server
  netburn lab anomaly --at fast-1 -- curl -o /dev/null http://server/bytes/100MiB \\
    --and --at slow -- ping -c 9 server
  netburn lab anomaly --at server --service --ready 8080 -- python3 -m http.server 8080 \\
    --and --at slow -- curl http://server:8080/
  netburn lab archer-c7-split --serve

Exit status:
  That of the command; of several commands, the first that is not 0.
  2    the input is invalid, or this machine supports no lab
  3    with --check, the lab was disturbed; or captures are incomplete; or the
       helper process of the lab was killed during the start
  126  a command is not executable
  127  a command was not found
  143  and other sums of 128 and a signal: a signal ended a command or netburn.
       netburn sends SIGTERM, SIGHUP and a SIGINT that a process sent to the
       commands. It kills them after 3 s or after a second signal. After
       Ctrl-C, the status is that of the commands.";

impl LabArgs {
    /// Changes of the scenario.
    pub(crate) fn changes(&self) -> Changes {
        Changes {
            scenario: self.scenario.clone(),
            seed: self.seed,
            repeat: None,
            duration: None,
            set: self.set.clone(),
        }
    }

    /// Splits the command line at `--and` into commands.
    ///
    /// # Errors
    /// If a further command has no station or no command, or if several commands include a shell. Also if all
    /// commands are services, or if `--ready` has no command.
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
                    return Err(
                        "invalid option after --and: expected --at NAME [--service] [--ready PORT] -- COMMAND"
                            .to_owned(),
                    );
                }
            }
        }
        if all.len() > 1 && all.iter().any(|command| command.command.is_empty()) {
            return Err(
                "missing command: several shells can't share the terminal; give each station a command".to_owned(),
            );
        }
        if all.iter().all(|command| command.service) {
            return Err("all commands are services: expected at least one command without --service".to_owned());
        }
        if all
            .iter()
            .any(|command| command.ready.is_some() && command.command.is_empty())
        {
            return Err("missing command: --ready needs one".to_owned());
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
    fn commands_are_split_at_and() {
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
