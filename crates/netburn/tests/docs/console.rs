//! Blocks marked `console`: each command runs, and its output is compared with the lines below it.
//!
//! A command follows `$ `. It continues after a backslash at the end of its line, and to the end of a here-document. The
//! lines up to the next command are its output on both streams. A line `…` or `[…]` stands for any lines, and the same
//! within a line for any text. The commands of a page run in one temporary directory, in order.

use crate::page::{Block, Page, pages};
use crate::shell::netburn_commands;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Commands that neither use the network nor measure this machine. `run` and `demo` do so without `--on simulate`, and `sqm`
/// without `--line`.
const ALLOWED: [&str; 13] = [
    "plan",
    "report",
    "compare",
    "explain",
    "runs",
    "export",
    "import",
    "decode",
    "sweep",
    "schema",
    "scenarios",
    "help",
    "--help",
];

/// Time limit of a command.
const LIMIT: Duration = Duration::from_secs(300);

/// A command and its expected output.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    /// Line of the page, from 1.
    line: usize,
    command: String,
    expected: Vec<String>,
}

fn steps(block: &Block) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = block.lines.iter().enumerate();
    while let Some((index, line)) = lines.next() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(first), _) => {
                let mut command = first.to_owned();
                let mut last = first;
                let delimiter = here_document(first);
                while last.ends_with('\\') || delimiter.is_some_and(|delimiter| last != delimiter) {
                    let (_, next) = lines.next().ok_or("a command without end")?;
                    command.push('\n');
                    command.push_str(next);
                    last = next;
                }
                steps.push(Step {
                    line: block.line + 1 + index,
                    command,
                    expected: Vec::new(),
                });
            }
            (None, Some(step)) => step.expected.push(line.clone()),
            (None, None) => return Err("the first line of a block is a command after `$ `".to_owned()),
        }
    }
    Ok(steps)
}

/// Delimiter of a here-document.
fn here_document(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("<<")?;
    let word = rest.trim_start_matches('-').split_whitespace().next()?;
    Some(word.trim_matches(['\'', '"']))
}

/// Returns the reason why a command must not run here.
fn forbidden(command: &str) -> Option<String> {
    netburn_commands(command).iter().find_map(|arguments| {
        let name = arguments.first().map(String::as_str).unwrap_or_default();
        let simulates = arguments
            .windows(2)
            .any(|pair| pair[0] == "--on" && pair[1] == "simulate");
        let allowed = match name {
            "run" | "demo" => simulates,
            "sqm" => arguments
                .iter()
                .any(|own| own == "--line" || own.starts_with("--line=")),
            _ => ALLOWED.contains(&name),
        };
        (!allowed).then(|| {
            format!("`netburn {name}` does not run in a test without `--on simulate`, or `--line` of `sqm`: mark the block `sh`")
        })
    })
}

/// Runs a command. Returns whether it succeeded, and its output on both streams.
fn run(command: &str, directory: &Path, limit: Duration) -> Result<(bool, String), String> {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_netburn")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut child = Command::new("sh")
        .args(["-c", command])
        .current_dir(directory)
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("HOME", directory)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .env_remove("NETBURN_LOG")
        .env_remove("NETBURN_STATE")
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::null())
        .stdout(writer.try_clone().unwrap())
        .stderr(writer)
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())?;
    let output = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = reader.read_to_end(&mut bytes);
        read.map(|_| String::from_utf8_lossy(&bytes).into_owned())
    });
    let end = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > end {
            // `kill` of the shell. Not every system has a program of this name.
            let kill = format!("kill -s KILL -- -{}", child.id());
            let _ = Command::new("sh").args(["-c", &kill]).status();
            let _ = child.wait();
            return Err(format!("the command ran for more than {} s", limit.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let output = output.join().unwrap().map_err(|error| error.to_string())?;
    Ok((status.success(), output))
}

/// Returns `true` if a line stands for any text.
fn is_gap(line: &str) -> bool {
    matches!(line.trim(), "…" | "[…]")
}

/// Compares lines. A gap in `expected` stands for any number of lines.
fn lines_match(expected: &[String], found: &[&str]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((gap, rest)) if is_gap(gap) => (0..=found.len()).any(|skipped| lines_match(rest, &found[skipped..])),
        Some((line, rest)) => found
            .split_first()
            .is_some_and(|(first, others)| line_matches(line, first) && lines_match(rest, others)),
    }
}

/// Compares a line. `…` and `[…]` in `expected` stand for any text.
fn line_matches(expected: &str, found: &str) -> bool {
    let expected = expected.replace("[…]", "…");
    let mut parts = expected.split('…');
    let Some(mut rest) = parts.next().and_then(|first| found.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Runs the commands of a page. Returns a text for each fault.
fn faults(page: &Page, limit: Duration) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let mut faults = Vec::new();
    for block in page.blocks().iter().filter(|block| block.language == "console") {
        let steps = match steps(block) {
            Ok(steps) => steps,
            Err(why) => {
                faults.push(format!("{}:{}: {why}", page.path.display(), block.line));
                continue;
            }
        };
        for step in steps {
            let at = format!("{}:{}: $ {}", page.path.display(), step.line, step.command);
            let output = match forbidden(&step.command) {
                Some(why) => Err(why),
                None => run(&step.command, directory.path(), limit),
            };
            match output {
                Err(why) => faults.push(format!("{at}\n{why}")),
                Ok((succeeded, output)) => {
                    let found: Vec<&str> = output.trim_end().lines().map(str::trim_end).collect();
                    let length = step.expected.iter().rposition(|line| !line.is_empty());
                    let expected = &step.expected[..length.map_or(0, |last| last + 1)];
                    // Gaps alone would also match an error.
                    let only_gaps = expected.iter().all(|line| is_gap(line));
                    if !lines_match(expected, &found) || (only_gaps && !succeeded) {
                        let expected = expected.join("\n");
                        faults.push(format!("{at}\nexpected:\n{expected}\nfound:\n{}", output.trim_end()));
                    }
                }
            }
        }
    }
    faults
}

#[test]
fn commands_print_what_the_pages_show() {
    let pages = pages();
    let blocks = pages.iter().flat_map(Page::blocks);
    let count = blocks.filter(|block| block.language == "console").count();
    assert!(count >= 10, "{count} blocks");
    let pages = Mutex::new(pages);
    let faults_found = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = pages.lock().unwrap().pop();
                    let Some(page) = next else { break };
                    faults_found.lock().unwrap().extend(faults(&page, LIMIT));
                }
            });
        }
    });
    let mut faults = faults_found.into_inner().unwrap();
    faults.sort_unstable();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn wrong_outputs_are_found() {
    let found = |text: &str, limit| faults(&Page::new("a.md", &format!("```console\n{text}\n```\n")), limit).len();
    let limit = LIMIT;
    for right in [
        "$ echo one; echo two >&2\none\ntwo",
        "$ printf 'a\\n\\nb\\n'\na\n\nb\n",
        "$ seq 5\n1\n…\n5",
        "$ seq 5\n[…]",
        "$ echo one two three\none … three",
        "$ true",
        "$ cat > file <<'END'\nkey = 1\nEND\n$ cat file\nkey = 1",
        "$ echo \\\n    one\none",
        "$ netburn run none --on simulate\nerror: …\n…",
        "$ netburn sqm --line none.toml\nnone.toml: …",
    ] {
        assert_eq!(found(right, limit), 0, "{right}");
    }
    for wrong in [
        "$ echo one\ntwo",
        "$ echo one",
        "$ true\none",
        "$ seq 5\n1\n…\n4",
        "$ echo one two three\none … four",
        "$ echo one two\n… one …x",
        "$ seq 3\n1\n3",
        "$ seq 2\n1\n2\n3",
        "one",
        "$ cat <<END",
        "$ netburn run four-uses --on local\n…",
        "$ netburn fleet serve\n…",
        "$ netburn sqm http://[::1]:1/\n…",
        "$ netburn demo\n…",
        "$ netburn run none --on simulate\n[…]",
        "$ false",
    ] {
        assert_eq!(found(wrong, limit), 1, "{wrong}");
    }
    assert_eq!(found("$ sleep 60", Duration::from_millis(200)), 1);
}
