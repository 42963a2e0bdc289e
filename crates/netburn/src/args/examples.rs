//! Examples of the commands, for their help texts and their man pages.

use clap::Command;
use std::fmt::Write as _;

/// Purpose of an example, and its command.
pub(crate) type Example = (&'static str, &'static str);

/// Commands with their examples.
const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "demo",
        &[
            ("Show a slow network, its cause and a remedy:", "netburn demo"),
            (
                "The same without the lab, and keep the runs:",
                "netburn demo --on simulate --out demo",
            ),
        ],
    ),
    (
        "measure",
        &[
            (
                "Measure the devices that join until you press Enter:",
                "netburn measure",
            ),
            (
                "Measure two devices as soon as they have joined:",
                "netburn measure laptop tv",
            ),
        ],
    ),
    (
        "run",
        &[
            (
                "Simulate a built-in scenario. The record and the report are in the folder `first`:",
                "netburn run slow-neighbour --on simulate --out first",
            ),
            (
                "Change a key of the scenario for one run:",
                "netburn run slow-neighbour --on simulate --set ap.home.queue=airtime",
            ),
            (
                "Run your own scenario ten times in the lab, with the TCP of this machine's kernel:",
                "netburn run my-home.toml --on lab --repeat 10",
            ),
            (
                "Fail in a CI job if a goal is missed:",
                "netburn run my-home.toml --on simulate --check",
            ),
            (
                "Measure the devices that have joined the fleet:",
                "netburn run my-home.toml --on fleet",
            ),
        ],
    ),
    (
        "fleet",
        &[
            ("Let devices join, with a QR code for phones:", "netburn fleet serve"),
            ("List the devices that have joined:", "netburn fleet list"),
        ],
    ),
    (
        "fetch",
        &[
            (
                "Fetch a page repeatedly, and measure the latency:",
                "netburn fetch http://192.168.1.10:4480/",
            ),
            ("The same over HTTP/2:", "netburn fetch https://server:4480/ --http 2"),
        ],
    ),
    (
        "rpm",
        &[
            (
                "Measure responsiveness against a server of netburn:",
                "netburn rpm https://192.168.1.10:4480/",
            ),
            (
                "Only downloads:",
                "netburn rpm https://192.168.1.10:4480/ --direction down",
            ),
        ],
    ),
    (
        "sqm",
        &[
            (
                "Check the SQM of your router against a server on the internet:",
                "netburn sqm http://server.example:4480/",
            ),
            (
                "Print the settings for the interface eth1 as JSON:",
                "netburn sqm http://server.example:4480/ --interface eth1 --format json",
            ),
        ],
    ),
    (
        "watch",
        &[
            ("Probe the router for days, with a record per hour:", "netburn watch"),
            (
                "Probe a server too, and print a line when packets are lost:",
                "netburn watch --server 192.0.2.1:4480 --alert 'server loss > 5 % for 60 s' --exec 'echo lost'",
            ),
        ],
    ),
    (
        "serve",
        &[
            (
                "Serve workloads and tests of responsiveness to your network:",
                "netburn serve",
            ),
            (
                "The same to this machine only:",
                "netburn serve --listen 127.0.0.1:4480",
            ),
        ],
    ),
    (
        "report",
        &[
            ("Print the report of a run:", "netburn report first"),
            ("Draw its charts as files:", "netburn report first --charts charts"),
        ],
    ),
    (
        "explain",
        &[
            ("Simulate changes for the likely causes:", "netburn explain first"),
            ("The same, 16 times each:", "netburn explain first --runs 16"),
        ],
    ),
    (
        "compare",
        &[
            ("Compare two runs:", "netburn compare after --against before"),
            ("Rank three runs:", "netburn compare fifo fq-codel airtime"),
        ],
    ),
    (
        "verify",
        &[
            (
                "Compare the predicted effect of a change with a second measurement:",
                "netburn verify before after",
            ),
            ("The same as JSON:", "netburn verify before after --format json"),
        ],
    ),
    (
        "runs",
        &[
            ("List the runs in the folder `runs`:", "netburn runs"),
            ("List those of another folder:", "netburn runs archive"),
        ],
    ),
    (
        "ui",
        &[
            ("Open the page on this machine:", "netburn ui"),
            (
                "Let other machines open it, with the key of its address:",
                "netburn ui --listen 0.0.0.0",
            ),
        ],
    ),
    (
        "scenarios",
        &[
            ("List the built-in scenarios:", "netburn scenarios"),
            ("Print one, to change it:", "netburn scenarios show four-uses"),
        ],
    ),
    (
        "init",
        &[
            ("Answer questions, and write `home.toml`:", "netburn init"),
            ("Write another file:", "netburn init flat.toml"),
        ],
    ),
    (
        "playground",
        &[
            (
                "Write `playground.html`, and open it in a browser:",
                "netburn playground",
            ),
            (
                "Begin with your own home:",
                "netburn playground home.toml --out home.html",
            ),
        ],
    ),
    (
        "plan",
        &[
            (
                "Check a scenario, and show what a run would do:",
                "netburn plan home.toml",
            ),
            (
                "Draw its floor plan with the signal in 5 GHz:",
                "netburn plan home.toml --svg home.svg --band 5g",
            ),
        ],
    ),
    (
        "fit",
        &[
            ("Make a model of a measured network:", "netburn fit runs/measure"),
            ("Write it into a file:", "netburn fit runs/measure --out home.toml"),
        ],
    ),
    (
        "sweep",
        &[
            (
                "Simulate each value of a key:",
                "netburn sweep slow-neighbour --vary ap.home.queue=fifo,airtime",
            ),
            (
                "Simulate each combination of two keys, 20 times:",
                "netburn sweep slow-neighbour --vary ap.home.queue=fifo,airtime --vary 'station.tablet.signal=-82 dBm..-62 dBm..5' --repeat 20",
            ),
        ],
    ),
    (
        "decode",
        &[
            ("Read the rating on a box:", "netburn decode AX3000"),
            ("For a mesh kit of three units:", "netburn decode AX6600 --nodes 3"),
        ],
    ),
    (
        "export",
        &[
            (
                "Write the tables for pandas, DuckDB and polars:",
                "netburn export first --to parquet --out tables",
            ),
            (
                "Write a file for flent:",
                "netburn export first --to flent --out first.flent.gz",
            ),
        ],
    ),
    (
        "import",
        &[
            (
                "Import a result of `iperf3 --json`:",
                "netburn import iperf3.json --out imported",
            ),
            (
                "Import a data file of flent:",
                "netburn import rrul.flent.gz --out imported",
            ),
        ],
    ),
    (
        "doctor",
        &[
            ("Show what this machine can do:", "netburn doctor"),
            ("The same as JSON:", "netburn doctor --format json"),
        ],
    ),
    (
        "generate",
        &[
            ("Write the documentation as a site:", "netburn generate site --out site"),
            ("Print the completions for bash:", "netburn generate bash"),
        ],
    ),
    (
        "schema",
        &[
            ("Print the JSON Schema of scenario files:", "netburn schema"),
            ("Print that of the messages between devices:", "netburn schema protocol"),
        ],
    ),
];

/// The examples of a command; none for one whose help text has its own.
pub(crate) fn examples(command: &str) -> &'static [Example] {
    EXAMPLES
        .iter()
        .find(|(own, _)| *own == command)
        .map_or(&[], |(_, all)| all)
}

/// Adds the examples to the help texts of the subcommands.
pub(super) fn with_examples(command: Command) -> Command {
    command.mut_subcommands(|subcommand| {
        let examples = examples(subcommand.get_name());
        if examples.is_empty() {
            return subcommand;
        }
        let mut text = "Examples:\n".to_owned();
        for (what, line) in examples {
            let _ = writeln!(text, "  {what}\n    {line}");
        }
        if let Some(own) = subcommand.get_after_help() {
            let _ = write!(text, "\n{own}");
        }
        subcommand.after_help(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{CommandFactory as _, Parser as _};

    /// Words of a command line, with single quotes.
    fn words(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate();
        let words = parts.flat_map(|(place, part)| match place % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    }

    #[test]
    fn every_command_has_two_valid_examples() {
        for command in Cli::command()
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
        {
            let own = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples = examples(command.get_name());
            assert_ne!(
                own.starts_with("Examples:"),
                examples.len() >= 2,
                "{}",
                command.get_name()
            );
        }
        for (name, examples) in EXAMPLES {
            for (_, line) in *examples {
                let words = words(line);
                assert_eq!((words[0].as_str(), words[1].as_str()), ("netburn", *name), "{line}");
                if let Err(error) = Cli::try_parse_from(&words) {
                    panic!("{line}: {error}");
                }
            }
        }
    }
}
