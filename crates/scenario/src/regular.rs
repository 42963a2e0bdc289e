//! Opening files for reading that other users or programs may have put there.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file. Other kinds are rejected without opening them: a FIFO would block, a
/// device may never end, and opening one can have side effects.
///
/// # Errors
/// When it isn't there, is no regular file, or can't be opened.
pub fn open(path: &Path) -> io::Result<File> {
    check(std::fs::metadata(path)?.file_type())?;
    File::open(path)
}

/// Opens a file that the user of a command has named: a regular file, or standard input or a pipe that this process has
/// already (`/dev/stdin`, `/dev/fd/63` of a shell's process substitution).
///
/// # Errors
/// When it isn't there, is of another kind, or can't be opened.
pub fn open_input(path: &Path) -> io::Result<File> {
    if path == Path::new("/dev/stdin") || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd") {
        File::open(path)
    } else {
        open(path)
    }
}

/// Content of a file that the user of a command has named, as [`open_input`] opens it: UTF-8 text.
///
/// # Errors
/// When it can't be opened or read, has more than `limit` bytes, or is not UTF-8.
pub fn read_input(path: &Path, limit: u64) -> io::Result<String> {
    let mut text = String::new();
    open_input(path)?
        .take(limit.saturating_add(1))
        .read_to_string(&mut text)?;
    if text.len() as u64 > limit {
        return Err(io::Error::other(format!(
            "found more than {limit} bytes, expected at most {limit}"
        )));
    }
    Ok(text)
}

/// Rejects everything except regular files.
///
/// # Errors
/// When it is another kind.
pub fn check(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        Ok(())
    } else {
        Err(io::Error::other(format!(
            "found {}, expected a regular file",
            describe(kind)
        )))
    }
}

fn describe(kind: FileType) -> &'static str {
    if kind.is_dir() {
        return "a folder";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a FIFO";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    "another kind of file"
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        assert!(open(&at("file")).is_ok() && open(&at("link")).is_ok());
        assert_eq!(open(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        let made = std::process::Command::new("mkfifo").arg(at("fifo")).status().unwrap();
        assert!(made.success());
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("device")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        for (name, expected) in [
            ("fifo", "found a FIFO, expected a regular file"),
            ("socket", "found a socket, expected a regular file"),
            ("device", "found a device, expected a regular file"),
            ("folder", "found a folder, expected a regular file"),
        ] {
            assert_eq!(open(&at(name)).unwrap_err().to_string(), expected);
            assert_eq!(open_input(&at(name)).unwrap_err().to_string(), expected);
        }
    }

    /// A pipe that this process has, and a limit.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_open_pipe_is_read_up_to_its_limit() {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        for (limit, expected) in [(4, Some("text")), (3, None)] {
            let (reader, mut writer) = io::pipe().unwrap();
            writer.write_all(b"text").unwrap();
            drop(writer);
            let path = format!("/dev/fd/{}", reader.as_raw_fd());
            let read = read_input(Path::new(&path), limit);
            assert_eq!(read.as_deref().ok(), expected);
        }
    }
}
