//! The pages of the commands and of the exit statuses, from the help texts.

use crate::page::{check_generated, replace};
use std::fmt::Write as _;
use std::process::Command;

/// A command, such as `["fleet", "join"]`, and its help text.
struct Help {
    command: Vec<String>,
    text: String,
}

/// Help texts of `netburn` and of all commands below, in the order of the program.
fn helps() -> Vec<Help> {
    let mut helps = Vec::new();
    add(&mut helps, Vec::new());
    helps
}

fn add(helps: &mut Vec<Help>, command: Vec<String>) {
    let output = Command::new(env!("CARGO_BIN_EXE_netburn"))
        .args(&command)
        .arg("--help")
        .output()
        .unwrap();
    assert!(output.status.success(), "{command:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let names = subcommands(&text);
    helps.push(Help {
        command: command.clone(),
        text,
    });
    for name in names {
        let mut below = command.clone();
        below.push(name);
        add(helps, below);
    }
}

/// Commands that a help text lists: names at the start of the entries, which are two columns from the left, of all
/// sections except those of arguments, options, examples and exit statuses.
fn subcommands(help: &str) -> Vec<String> {
    let has_commands = help
        .lines()
        .any(|line| line.starts_with("Usage:") && (line.ends_with("<COMMAND>") || line.ends_with("[COMMAND]")));
    let mut names = Vec::new();
    let mut section = "";
    for line in help.lines() {
        if let Some(heading) = line.strip_suffix(':').filter(|heading| !heading.starts_with(' ')) {
            section = heading;
        } else if let Some(entry) = line.strip_prefix("  ")
            && has_commands
            && !matches!(section, "" | "Arguments" | "Options" | "Exit status" | "Examples")
            && !entry.starts_with(' ')
        {
            names.extend(entry.split_whitespace().next().map(str::to_owned));
        }
    }
    names.retain(|name| name != "help");
    names
}

/// Lines of a section of a help text, without its heading.
fn section<'h>(help: &'h str, heading: &str) -> Vec<&'h str> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| line.starts_with(' ')).collect()
}

#[test]
fn the_page_of_the_commands_is_current() {
    let helps = helps();
    assert!(helps.len() > 20, "{}", helps.len());
    let mut text = "# Commands\n\n\
        This page has the help text of every command, as `netburn COMMAND --help` prints it.\n"
        .to_owned();
    for help in &helps {
        let name = std::iter::once("netburn").chain(help.command.iter().map(String::as_str));
        let name: Vec<&str> = name.collect();
        let _ = write!(
            text,
            "\n## `{}`\n\n```text\n{}\n```\n",
            name.join(" "),
            help.text.trim_end()
        );
    }
    check_generated("commands.md", |_| text.clone());
}

#[test]
fn the_page_of_the_exit_statuses_is_current() {
    let mut table = "| command | status | meaning |\n|---|---|---|\n".to_owned();
    for help in helps() {
        let name = if help.command.is_empty() {
            "all".to_owned()
        } else {
            format!("`{}`", help.command.join(" "))
        };
        let mut rows: Vec<(String, String)> = Vec::new();
        for line in section(&help.text, "Exit status:") {
            // Longer indentation continues the entry above.
            let entry = line.strip_prefix("  ").filter(|entry| !entry.starts_with(' '));
            match (entry, rows.last_mut()) {
                (Some(entry), _) => {
                    let (status, meaning) = entry.split_once(' ').unwrap_or((entry, ""));
                    let numeric = status.chars().all(|c| c.is_ascii_digit());
                    let (status, meaning) = if numeric { (status, meaning) } else { ("other", entry) };
                    rows.push((status.to_owned(), meaning.trim().to_owned()));
                }
                (None, Some((_, text))) => *text = format!("{text} {}", line.trim()),
                (None, None) => panic!("{line}"),
            }
        }
        for (status, meaning) in rows {
            let _ = writeln!(table, "| {name} | {status} | {} |", meaning.replace('|', "\\|"));
        }
    }
    check_generated("exit-status.md", |page| replace(page, "statuses", &table));
}
