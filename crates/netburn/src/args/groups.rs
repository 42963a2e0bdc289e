//! Groups of the commands in `netburn --help`. clap has no headings for subcommands.

use clap::Command;
use std::fmt::Write as _;

/// Headings and their commands, in the order of the help text.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Measure",
        &[
            "ui", "demo", "measure", "run", "fleet", "lab", "fetch", "rpm", "sqm", "watch", "serve",
        ],
    ),
    ("Understand", &["report", "explain", "compare", "verify", "runs"]),
    (
        "Model",
        &["scenarios", "init", "playground", "plan", "fit", "sweep", "decode"],
    ),
    ("Exchange", &["export", "import"]),
    ("System", &["doctor", "schema", "generate"]),
];

/// Columns of a command's name in the list.
const NAME_WIDTH: usize = 10;

/// Replaces clap's list of subcommands in the help text of `command` by one list for each group.
pub(super) fn with_groups(command: Command) -> Command {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let mut template = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (heading, names) in GROUPS {
        let _ = writeln!(template, "{header}{heading}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(template, "  {literal}{name:NAME_WIDTH$}{literal:#}  {about}");
        }
        template.push('\n');
    }
    let _ = write!(
        template,
        "`netburn help COMMAND` describes a command.\n\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_visible_command_is_in_exactly_one_group() {
        let command = Cli::command();
        let mut visible: Vec<&str> = command
            .get_subcommands()
            .filter(|subcommand| !subcommand.is_hide_set())
            .map(Command::get_name)
            .collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, visible);
    }

    #[test]
    fn the_first_line_of_every_help_text_is_short_and_has_no_full_stop() {
        fn check(command: &Command) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let name = command.get_name();
            assert!((1..=70).contains(&about.chars().count()), "{name}: {about}");
            let long = command.get_long_about().map(ToString::to_string).unwrap_or(about);
            assert!(
                !long.lines().next().unwrap_or_default().ends_with('.'),
                "{name}: {long}"
            );
            for subcommand in command.get_subcommands() {
                check(subcommand);
            }
        }
        check(&Cli::command());
    }

    #[test]
    fn the_help_lists_each_command_under_its_heading() {
        let help = with_groups(Cli::command()).render_help().to_string();
        let mut heading = "";
        let mut listed = Vec::new();
        for line in help.lines() {
            if let Some((known, _)) = GROUPS.iter().find(|(known, _)| line == format!("{known}:")) {
                heading = known;
            } else if line.is_empty() {
                heading = "";
            } else if !heading.is_empty() {
                listed.push((heading, line.split_whitespace().next().unwrap_or_default()));
            }
        }
        let expected: Vec<(&str, &str)> = GROUPS
            .iter()
            .flat_map(|(heading, names)| names.iter().map(move |name| (*heading, *name)))
            .collect();
        assert_eq!(listed, expected);
    }
}
