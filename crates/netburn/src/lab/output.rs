//! Output of commands: to netburn's own output, to that with a name before each line, or to files.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// Destination of the output of all commands.
pub(super) enum Output {
    /// netburn's own output, for a single command.
    Own,
    /// netburn's own output, each line after the name of the command.
    Named(Vec<JoinHandle<()>>),
    /// `NAME.out` and `NAME.err` in this folder.
    Files(PathBuf),
}

/// Maximum length of a line in bytes. Longer lines are split, which limits memory.
const MAX_LINE: usize = 64 * 1024;

impl Output {
    /// Output of `commands` commands; to files in `folder` if given.
    pub(super) fn new(commands: usize, folder: Option<&Path>) -> io::Result<Output> {
        Ok(match folder {
            Some(folder) => {
                std::fs::create_dir_all(folder)?;
                Output::Files(folder.to_owned())
            }
            None if commands > 1 => Output::Named(Vec::new()),
            None => Output::Own,
        })
    }

    /// Standard output and standard error of the command of that name.
    pub(super) fn streams(&mut self, name: &str) -> io::Result<[OwnedFd; 2]> {
        match self {
            Output::Own => Ok([
                io::stdout().as_fd().try_clone_to_owned()?,
                io::stderr().as_fd().try_clone_to_owned()?,
            ]),
            Output::Named(readers) => {
                let (output, theirs) = io::pipe()?;
                let (errors, their_errors) = io::pipe()?;
                let (before, errors_before) = (format!("{name}| "), format!("{name}| "));
                let reader = |name: &str| std::thread::Builder::new().name(name.to_owned());
                readers.push(reader("output").spawn(move || pass_on(output, &before, io::stdout()))?);
                readers.push(reader("errors").spawn(move || pass_on(errors, &errors_before, io::stderr()))?);
                Ok([theirs.into(), their_errors.into()])
            }
            Output::Files(folder) => {
                let file = |kind: &str| File::create(folder.join(format!("{name}.{kind}"))).map(OwnedFd::from);
                Ok([file("out")?, file("err")?])
            }
        }
    }

    /// Waits until all output is forwarded. The commands must have ended.
    pub(super) fn finish(self) {
        if let Output::Named(readers) = self {
            for reader in readers {
                let _ = reader.join();
            }
        }
    }
}

/// Forwards line by line until either end is closed. A command that writes to a closed pipe gets SIGPIPE.
fn pass_on(from: impl io::Read, before: &str, mut to: impl Write) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while let Ok(true) = next_line(&mut from, &mut line) {
        let mut whole = before.as_bytes().to_vec();
        whole.append(&mut line);
        if whole.last() != Some(&b'\n') {
            whole.push(b'\n');
        }
        // One write, so that lines of other commands are not mixed in.
        if to.write_all(&whole).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

/// The next line with its end, or as much of it as is [`MAX_LINE`]; `false` at the end.
fn next_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut left = io::Read::take(&mut *from, MAX_LINE as u64);
    left.read_until(b'\n', line)?;
    Ok(!line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(text: &[u8]) -> Vec<u8> {
        let mut to = Vec::new();
        pass_on(text, "a| ", &mut to);
        to
    }

    #[test]
    fn every_line_has_the_name_before_it() {
        assert_eq!(passed(b"one\n\ntwo\n"), b"a| one\na| \na| two\n");
        assert_eq!(passed(b"no end"), b"a| no end\n");
        assert_eq!(passed(b""), b"");
        assert_eq!(passed(b"\xff\n"), b"a| \xff\n");
    }

    #[test]
    fn a_line_without_end_is_taken_apart() {
        let passed = passed(&vec![b'x'; MAX_LINE + 5]);
        assert_eq!(passed.len(), MAX_LINE + 5 + 2 * 4);
        assert!(passed.ends_with(b"\na| xxxxx\n"));
    }
}
