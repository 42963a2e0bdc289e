//! Folders that only their user can read (mode 0700). The mode has no effect on systems other than Unix.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Creates a folder with its parents. An existing folder stays unchanged, and so does its mode.
///
/// # Errors
/// The system's error.
pub fn create(path: &Path) -> io::Result<()> {
    builder().recursive(true).create(path)
}

/// Creates a folder that does not exist yet. In a directory of all users, an existing folder may belong to another user.
///
/// # Errors
/// [`AlreadyExists`](io::ErrorKind::AlreadyExists), or another error of the system.
pub fn create_new(path: &Path) -> io::Result<()> {
    builder().create(path)
}

fn builder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_new_folder_is_private_and_an_existing_one_is_an_error() {
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let dir = tempfile::tempdir().unwrap();
        let new = dir.path().join("new");
        create_new(&new).unwrap();
        assert_eq!(mode(&new), 0o700);
        assert_eq!(create_new(&new).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(
            create_new(&dir.path().join("no/parent")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        let deep = dir.path().join("deep/er");
        create(&deep).unwrap();
        create(&deep).unwrap();
        assert_eq!((mode(&deep), mode(deep.parent().unwrap())), (0o700, 0o700));
    }
}
