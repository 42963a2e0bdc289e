//! Names of runs and their folders.

use std::path::{Component, Path, PathBuf};

/// Maximum length of a folder's name, in bytes.
const MAX_LENGTH: usize = 255;

/// Folder of the run `name` in `dir`: `NAME`, `GROUP/NAME` for a run in a [group](netburn_record::run_list::group), or with `/3` for
/// the third run of a run set. Returns `None` if the folder does not exist, or if the name or a link leads out of `dir`.
#[must_use]
pub fn folder(dir: &Path, name: &str) -> Option<PathBuf> {
    if !is_name(name) {
        return None;
    }
    let root = dir.canonicalize().ok()?;
    let found = root.join(name).canonicalize().ok()?;
    // A link may point to another run of this directory only.
    (found.starts_with(&root) && found != root && found.is_dir()).then(|| dir.join(name))
}

/// Returns true if `name` is a valid name of a run.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let mut parts = name.split('/');
    let (folder, run, number) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    parts.next().is_none() && is_plain(folder) && run.is_none_or(is_plain) && number.is_none_or(is_number)
}

/// Returns true for the name of one folder that is not hidden.
fn is_plain(folder: &str) -> bool {
    let mut parts = Path::new(folder).components();
    let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == folder);
    plain && folder.len() <= MAX_LENGTH && !folder.starts_with('.') && !folder.contains(['\0', '\\'])
}

/// Returns true for the number of a run of a run set.
fn is_number(number: &str) -> bool {
    !number.is_empty() && number.len() <= 5 && !number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn valid_names_have_one_or_two_folders_and_an_optional_number() {
        for name in [
            "2026-11-21T18-30-00Z-house",
            "a",
            "<img src=x>",
            "é ß",
            "a..b",
            "runs/12",
            "2026-11-21T18-30-00Z-demo/before",
            "demo/before/2",
            "a%2e",
        ] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            "../a",
            "a/..",
            "/etc",
            "a/",
            "a/b/c",
            "a/b/0",
            "a/b/01",
            "a/b/1/2",
            "a/b/123456",
            ".hidden",
            "a/.b",
            "a\0b",
            "a\\b",
            "a/b\\c",
            "./a",
            "a//1",
            "a/b/+1",
            "a/../b",
            "a/b/..",
            "a/./1",
        ] {
            assert!(!is_name(name), "{name}");
        }
        assert!(!is_name(&"a".repeat(256)));
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_directory_are_not_followed() {
        use std::os::unix::fs::symlink;
        let outside = tempfile::tempdir().unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(outside.path().join("secret")).unwrap();
        std::fs::create_dir_all(dir.path().join("run/1")).unwrap();
        symlink(outside.path().join("secret"), dir.path().join("out")).unwrap();
        symlink(dir.path().join("run"), dir.path().join("again")).unwrap();
        symlink("..", dir.path().join("up")).unwrap();
        symlink(".", dir.path().join("self")).unwrap();
        symlink(outside.path(), dir.path().join("run/2")).unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        for name in ["run", "run/1", "again", "again/1"] {
            assert_eq!(folder(dir.path(), name), Some(dir.path().join(name)), "{name}");
        }
        for name in ["out", "up", "self", "run/2", "run/3", "file", "none", "../run"] {
            assert_eq!(folder(dir.path(), name), None, "{name}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn valid_names_stay_in_the_directory(name in "[a./\\\\0-9-]{0,12}") {
            let joined = Path::new("/runs").join(&name);
            if is_name(&name) {
                prop_assert!(joined.starts_with("/runs") && joined.components().all(|part| part != Component::ParentDir));
                prop_assert!(joined.components().count() <= 5);
            }
        }
    }
}
