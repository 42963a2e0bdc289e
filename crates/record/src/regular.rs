//! Opening files of run folders for reading.

use std::fs::{File, FileType};
use std::io;
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

/// Rejects everything except regular files.
pub(crate) fn check(kind: FileType) -> io::Result<()> {
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
        }
    }
}
