//! Blocks marked `sh`: their `netburn` command lines are parsed by the program, and not run.

use crate::page::{Block, Page, pages};
use std::process::Command;

/// Words before a command that do not change its arguments.
const WRAPPERS: [&str; 12] = [
    "sudo", "exec", "time", "do", "then", "else", "if", "while", "!", "chrt", "timeout", "nohup",
];

/// Splits a script into simple commands and these into words, by the rules of POSIX sh for quotes, comments and operators.
/// Redirections are left out. A command substitution and the script of `sh -c` count as commands of their own.
fn simple_commands(script: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut redirected = false;
    let mut characters = script.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some('\n') | None => {}
                Some(c) => word.get_or_insert_default().push(c),
            },
            '\'' => {
                let quoted = word.get_or_insert_default();
                quoted.extend(characters.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                let quoted = word.get_or_insert_default();
                while let Some(c) = characters.next() {
                    match c {
                        '"' => break,
                        '\\' => quoted.extend(characters.next()),
                        c => quoted.push(c),
                    }
                }
            }
            '#' if word.is_none() => while characters.next_if(|c| *c != '\n').is_some() {},
            '$' if characters.next_if_eq(&'(').is_some() => {
                if let (Some(word), Some(command)) = (word.take(), commands.last_mut()) {
                    command.push(word);
                }
                commands.push(Vec::new());
            }
            ' ' | '\t' | '\n' | '|' | '&' | ';' | '(' | ')' | '<' | '>' => {
                // The number of a file descriptor belongs to the redirection.
                let descriptor = |word: &String| word.chars().all(|c| c.is_ascii_digit());
                if let Some(word) = word.take().filter(|word| !(matches!(c, '<' | '>') && descriptor(word)))
                    && !std::mem::take(&mut redirected)
                    && let Some(command) = commands.last_mut()
                {
                    command.push(word);
                }
                match c {
                    '<' | '>' => {
                        while characters.next_if(|c| matches!(c, '<' | '>' | '&')).is_some() {}
                        redirected = true;
                    }
                    ' ' | '\t' => {}
                    _ => {
                        redirected = false;
                        commands.push(Vec::new());
                    }
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    if let (Some(word), false, Some(command)) = (word, redirected, commands.last_mut()) {
        command.push(word);
    }
    commands.retain(|command| !command.is_empty());
    let inner: Vec<Vec<String>> = commands
        .iter()
        .filter_map(|command| {
            let place = command.windows(2).position(|pair| pair[0] == "sh" && pair[1] == "-c")?;
            command.get(place + 2)
        })
        .flat_map(|script| simple_commands(script))
        .collect();
    commands.extend(inner);
    commands
}

/// Arguments of a `netburn` command; `None` for another command.
fn netburn_arguments(command: &[String]) -> Option<&[String]> {
    let place = command.iter().position(|word| word == "netburn")?;
    let before = |word: &String| {
        WRAPPERS.contains(&word.as_str())
            || word.contains('=')
            || word.starts_with('-')
            || word.chars().all(|c| c.is_ascii_digit())
    };
    command[..place].iter().all(before).then(|| &command[place + 1..])
}

/// `netburn` command lines of a script, without `netburn` itself.
pub(crate) fn netburn_commands(script: &str) -> Vec<Vec<String>> {
    let commands = simple_commands(script);
    commands
        .iter()
        .filter_map(|command| netburn_arguments(command).map(<[String]>::to_vec))
        .collect()
}

/// Lets the program parse the arguments. `--help` ends the parser after all options and values before it, so nothing runs.
fn parse(arguments: &[String]) -> Result<(), String> {
    let end = arguments
        .iter()
        .position(|word| word == "--")
        .unwrap_or(arguments.len());
    let output = Command::new(env!("CARGO_BIN_EXE_netburn"))
        .args(&arguments[..end])
        .arg("--help")
        .output()
        .unwrap();
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "netburn {}\n{}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    ))
}

/// Faults in the `sh` blocks of a page, and blocks whose commands are not checked because they have another mark.
fn faults(page: &Page) -> Vec<String> {
    let mut faults = Vec::new();
    for block in page.blocks() {
        let at = format!("{}:{}", page.path.display(), block.line);
        match block.language.as_str() {
            "sh" => faults.extend(
                netburn_commands(&block.lines.join("\n"))
                    .iter()
                    .filter_map(|command| parse(command).err())
                    .map(|why| format!("{at}: {why}")),
            ),
            "" if has_command(&block) => {
                faults.push(format!("{at}: a block with commands: mark it `sh` or `console`"));
            }
            _ => {}
        }
    }
    faults
}

fn has_command(block: &Block) -> bool {
    let command = |line: &String| line.trim_start_matches("$ ").starts_with("netburn ");
    block.lines.iter().any(command)
}

#[test]
fn commands_in_sh_blocks_have_valid_arguments() {
    let pages = pages();
    let faults: Vec<String> = pages.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let count: usize = pages
        .iter()
        .flat_map(Page::blocks)
        .filter(|block| block.language == "sh")
        .map(|block| netburn_commands(&block.lines.join("\n")).len())
        .sum();
    assert!(count >= 10, "{count} commands");
}

#[test]
fn invalid_arguments_are_found() {
    let faults_of = |command: &str| faults(&Page::new("a.md", &format!("```sh\n{command}\n```\n")));
    for valid in [
        "netburn run four-uses --on simulate --set 'ap.ap.queue=fifo' # comment --sed",
        "ls --nothing | sudo netburn report runs/… --format json > out.json 2>&1",
        "A=b netburn plan \\\n    four-uses",
        "git bisect run sh -c 'make && netburn compare now --against good --bisect'",
        "netburn lab anomaly --at slow -- iperf3 --client server",
        "echo netburn run --sed",
    ] {
        assert_eq!(faults_of(valid), [""; 0], "{valid}");
    }
    for invalid in [
        "netburn run four-uses --sed 3",
        "netburn walk four-uses",
        "netburn run four-uses --on moon",
        "netburn run four-uses --out",
        "ls && netburn runs --deep",
        "sudo chrt -r 5 netburn decode --all",
        "x=$(netburn plan four-uses --none)",
        "sh -c 'netburn runs --deep'",
        "netburn lab anomaly --on slow -- iperf3",
    ] {
        assert_eq!(faults_of(invalid).len(), 1, "{invalid}");
    }
    let unmarked = Page::new("a.md", "```\nnetburn runs\n```\n");
    assert_eq!(faults(&unmarked).len(), 1);
}
