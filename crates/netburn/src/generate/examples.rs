//! Examples of the man pages.

/// Pages with their examples: what an example does, and its command.
pub(super) const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "netburn-run",
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
        "netburn-compare",
        &[
            ("Compare two runs:", "netburn compare after --against before"),
            ("Rank three runs:", "netburn compare fifo fq-codel airtime"),
        ],
    ),
    (
        "netburn-sweep",
        &[(
            "Simulate each combination of two keys, 20 times:",
            "netburn sweep slow-neighbour --vary ap.home.queue=fifo,airtime --vary 'station.tablet.signal=-82 dBm..-62 dBm..5' --repeat 20",
        )],
    ),
    (
        "netburn-explain",
        &[(
            "Simulate changes for the likely causes, 16 times each:",
            "netburn explain first --runs 16",
        )],
    ),
    (
        "netburn-export",
        &[(
            "Write the tables for pandas, DuckDB and polars:",
            "netburn export first --to parquet --out tables",
        )],
    ),
    (
        "netburn-lab",
        &[(
            "Start a shell at a station of a modelled network:",
            "netburn lab slow-neighbour --at laptop -- sh",
        )],
    ),
];

#[cfg(test)]
mod tests {
    use super::EXAMPLES;
    use crate::args::Cli;
    use clap::Parser as _;

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
    fn examples_are_valid_commands_of_their_pages() {
        for (page, examples) in EXAMPLES {
            for (_, line) in *examples {
                let words = words(line);
                assert_eq!(*page, format!("{}-{}", words[0], words[1]), "{line}");
                if let Err(error) = Cli::try_parse_from(&words) {
                    panic!("{line}: {error}");
                }
            }
        }
    }
}
