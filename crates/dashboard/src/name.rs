//! Which folder a request means.

use std::path::{Component, Path, PathBuf};

/// The longest name of a folder, in bytes.
const LONGEST: usize = 255;

/// The folder of the run that is called so in `dir`: `NAME`, or `NAME/3` for the third of several runs. `None` when the
/// name leads elsewhere, by its parts or by a link, or when there is no such folder.
#[must_use]
pub fn folder(dir: &Path, name: &str) -> Option<PathBuf> {
    if !is_name(name) {
        return None;
    }
    let root = dir.canonicalize().ok()?;
    let found = root.join(name).canonicalize().ok()?;
    // A link may lead to another run of this directory, and no further.
    (found.starts_with(&root) && found != root && found.is_dir()).then(|| dir.join(name))
}

/// Whether this can be the name of a run.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let (folder, number) = match name.split_once('/') {
        Some((folder, number)) => (folder, Some(number)),
        None => (name, None),
    };
    let mut parts = Path::new(folder).components();
    let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == folder);
    let counted = |number: &str| {
        !number.is_empty()
            && number.len() <= 5
            && !number.starts_with('0')
            && number.bytes().all(|b| b.is_ascii_digit())
    };
    plain
        && folder.len() <= LONGEST
        && !folder.starts_with('.')
        && !folder.contains(['\0', '\\'])
        && number.is_none_or(counted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_is_a_folders_and_leads_nowhere_else() {
        for name in [
            "2026-11-21T18-30-00Z-house",
            "a",
            "<img src=x>",
            "é ß",
            "a..b",
            "runs/12",
            "a%2e",
        ] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "", ".", "..", "../a", "a/..", "a/b", "/etc", "a/", "a/0", "a/01", "a/1/2", "a/123456", ".hidden", "a\0b",
            "a\\b", "./a", "a//1", "a/+1",
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
        fn whatever_is_a_name_stays_below(name in "[a./\\\\0-9-]{0,12}") {
            let joined = Path::new("/runs").join(&name);
            if is_name(&name) {
                prop_assert!(joined.starts_with("/runs") && joined.components().all(|part| part != Component::ParentDir));
                prop_assert!(joined.components().count() <= 4);
            }
        }
    }
}
