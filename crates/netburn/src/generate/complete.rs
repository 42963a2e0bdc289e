//! Names for completions: built-in scenarios, run folders, and keys of a scenario. The scripts of the shells call the hidden
//! command `netburn complete` with the words of the command line.

use crate::args::{Cli, CompleteArgs};
use crate::exit::{CliError, ExitStatus};
use crate::terminal::print_stdout;
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::Shell;
use netburn_record::run_list::list;
use netburn_scenario::{built_in_scenarios, load};
use std::path::Path;

/// Kind of the names of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Scenarios,
    Runs,
    /// Keys of the scenario in the command line, for KEY=VALUE.
    Keys,
}

/// Arguments with names, by command and identifier. `*` stands for every command.
const ARGUMENTS: &[(&str, &str, Names)] = &[
    ("run", "scenario", Names::Scenarios),
    ("plan", "scenario", Names::Scenarios),
    ("lab", "scenario", Names::Scenarios),
    ("sweep", "scenario", Names::Scenarios),
    ("report", "run", Names::Runs),
    ("explain", "run", Names::Runs),
    ("export", "run", Names::Runs),
    ("compare", "runs", Names::Runs),
    ("compare", "against", Names::Runs),
    ("*", "set", Names::Keys),
    ("*", "vary", Names::Keys),
];

/// `netburn complete WORD…`: the words of the command line up to the cursor. The last one is incomplete. Prints the names that
/// begin with it, one in each line. Errors have no output, because a shell would print it into the command line.
pub(crate) fn complete(args: &CompleteArgs) -> Result<ExitStatus, CliError> {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let text: String = names(&words).iter().map(|name| format!("{name}\n")).collect();
    print_stdout(&text)?;
    Ok(ExitStatus::Success)
}

fn names(words: &[&str]) -> Vec<String> {
    let Some((begun, before)) = words.split_last() else {
        return Vec::new();
    };
    let root = Cli::command();
    let Some((name, command)) = before
        .get(1)
        .and_then(|name| Some((*name, root.find_subcommand(name)?)))
    else {
        return Vec::new();
    };
    let Line { open, positional } = Line::new(command, &before[2..]);
    if begun.starts_with('-') && open.is_none() {
        return Vec::new();
    }
    let argument = open.or_else(|| {
        let mut arguments = command.get_positionals();
        let last = command.get_positionals().last();
        arguments.nth(positional.len()).or(last.filter(|last| is_list(last)))
    });
    let Some(argument) = argument else { return Vec::new() };
    let known = ARGUMENTS
        .iter()
        .find(|(of, id, _)| (*of == "*" || *of == name) && *id == argument.get_id().as_str());
    let all = match known {
        Some((.., Names::Scenarios)) => built_in_scenarios()
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect(),
        Some((.., Names::Runs)) => runs(),
        Some((.., Names::Keys)) => keys(positional.first().copied()),
        None => Vec::new(),
    };
    all.into_iter().filter(|name| name.starts_with(begun)).collect()
}

fn is_list(argument: &Arg) -> bool {
    argument.get_num_args().is_some_and(|count| count.max_values() > 1)
}

/// Finished words of a command.
struct Line<'a> {
    /// Option whose value is next.
    open: Option<&'a Arg>,
    positional: Vec<&'a str>,
}

impl<'a> Line<'a> {
    fn new(command: &'a Command, words: &[&'a str]) -> Self {
        let mut line = Line {
            open: None,
            positional: Vec::new(),
        };
        for word in words {
            let option = word.strip_prefix("--").filter(|name| !name.is_empty());
            line.open = match (line.open.take(), option) {
                // The value of the option before.
                (Some(_), _) => None,
                (None, Some(long)) => {
                    let arguments = command.get_arguments();
                    let mut named = arguments.filter(|argument| argument.get_long() == Some(long));
                    named.find(|argument| argument.get_action().takes_values())
                }
                (None, None) if word.starts_with('-') => None,
                (None, None) => {
                    line.positional.push(word);
                    None
                }
            };
        }
        line
    }
}

/// Run folders in `runs` and in the current folder, the newest first.
fn runs() -> Vec<String> {
    let listed = list(Path::new(".")).unwrap_or_default();
    let names = listed
        .iter()
        .rev()
        .map(|run| run.path.strip_prefix(".").unwrap_or(&run.path));
    names.map(|path| path.display().to_string()).collect()
}

/// Keys of a scenario, with `=`.
fn keys(scenario: Option<&str>) -> Vec<String> {
    let document = scenario.and_then(|scenario| load(scenario).ok());
    let keys = document.map_or_else(Vec::new, |document| document.known_keys());
    keys.into_iter().map(|key| format!("{key}=")).collect()
}

/// Commands for a shell that add the names to the completions of options and values.
pub(super) const fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        _ => "",
    }
}

/// bash splits words at `=` and `:` (COMP_WORDBREAKS). The words are therefore those of the line up to the cursor.
const BASH: &str = r#"
_netburn_with_names() {
    local line=${COMP_LINE:0:COMP_POINT} current=${COMP_WORDS[COMP_CWORD]} name
    _netburn "$@"
    local -a words
    read -ra words <<<"$line"
    [[ $line == *' ' ]] && words+=('')
    [[ ${words[-1]} == *=* ]] && return
    while IFS= read -r name; do
        COMPREPLY+=("$name")
        [[ $name == *= ]] && compopt -o nospace
    done < <("${words[0]}" complete -- "${words[@]}" 2>/dev/null)
}
complete -F _netburn_with_names -o bashdefault -o default netburn
"#;

const ZSH: &str = r#"
_netburn_names() {
    local -a words names
    words=(${(z)LBUFFER})
    [[ $LBUFFER == *' ' ]] && words+=('')
    names=(${(f)"$($words[1] complete -- "${words[@]}" 2>/dev/null)"})
    compadd -S '' -- $names
    _default
}
"#;

const FISH: &str = r#"
complete -c netburn -a '(netburn complete -- (commandline -opc) (commandline -ct) 2>/dev/null)'
complete -c netburn -l set -x -a '(netburn complete -- (commandline -opc) (commandline -ct) 2>/dev/null)'
complete -c netburn -l vary -x -a '(netburn complete -- (commandline -opc) (commandline -ct) 2>/dev/null)'
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_exist() {
        let root = Cli::command();
        for (command, id, _) in ARGUMENTS {
            let commands: Vec<&Command> = match *command {
                "*" => root.get_subcommands().collect(),
                name => vec![root.find_subcommand(name).expect(name)],
            };
            let has = |command: &&Command| command.get_arguments().any(|argument| argument.get_id() == *id);
            assert!(commands.iter().any(has), "{command} {id}");
        }
    }

    #[test]
    fn names_follow_from_the_words_before() {
        for (line, name) in [
            ("netburn run four", "four-uses"),
            ("netburn run --on simulate four", "four-uses"),
            ("netburn plan slow-neighbour-b", "slow-neighbour-both"),
            ("netburn run slow-neighbour --set ap.home.que", "ap.home.queue="),
            (
                "netburn run slow-neighbour --set station.tablet.sig",
                "station.tablet.signal=",
            ),
            ("netburn sweep four-uses --vary dur", "duration="),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert!(names(&words).contains(&name.to_owned()), "{line}: {:?}", names(&words));
        }
        for line in [
            "netburn run --on four",
            "netburn run --",
            "netburn fo",
            "netburn",
            "netburn run nowhere.toml --set ap",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(names(&words), [""; 0], "{line}");
        }
    }
}
