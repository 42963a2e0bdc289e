//! The files of a record, for copies and archives.

use crate::document::{FILE, TABLES};
use crate::folder::{MARK, SPOOL, present, present_table};
use std::io;
use std::path::{Path, PathBuf};

/// Returns the files of the record in `folder`: names relative to it, separated by `/`, and the files with their
/// present contents. The folders of a run set are included. Other files in the folder are not part of the record.
///
/// # Errors
/// When the folder can't be read.
pub fn record_files(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut files = of_run(folder);
    let mut runs: Vec<u32> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if let Some(number) = entry.file_name().to_str().and_then(run_number)
            && entry.file_type()?.is_dir()
        {
            runs.push(number);
        }
    }
    runs.sort_unstable();
    for number in runs {
        let run = of_run(&folder.join(number.to_string()));
        files.extend(run.into_iter().map(|(name, path)| (format!("{number}/{name}"), path)));
    }
    Ok(files)
}

fn of_run(folder: &Path) -> Vec<(String, PathBuf)> {
    let fixed = [
        (FILE, present(folder).join(FILE)),
        (SPOOL, folder.join(SPOOL)),
        (MARK, folder.join(MARK)),
    ];
    let tables = TABLES.map(|name| (format!("{name}.parquet"), present_table(folder, name)));
    let named = fixed.into_iter().map(|(name, path)| (name.to_owned(), path));
    named.chain(tables).filter(|(_, path)| path.is_file()).collect()
}

/// Returns whether a record can have a file with this name, relative to its folder and separated by `/`.
#[must_use]
pub fn is_record_file(name: &str) -> bool {
    let name = match name.split_once('/') {
        Some((run, name)) if run_number(run).is_some() => name,
        Some(_) => return false,
        None => name,
    };
    let is_table = |name: &str| name.strip_suffix(".parquet").is_some_and(|name| TABLES.contains(&name));
    [FILE, SPOOL, MARK].contains(&name) || is_table(name)
}

/// Number of a run of a run set, from the name of its folder.
fn run_number(name: &str) -> Option<u32> {
    let number: u32 = name.parse().ok()?;
    (number > 0 && number.to_string() == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_a_record_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "run.json",
            "link.parquet",
            "private.txt",
            "2/run.json",
            "10/spool",
            "02/run.json",
            "notes/run.json",
        ] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let files = record_files(dir.path()).unwrap();
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["run.json", "link.parquet", "2/run.json", "10/spool"]);
        assert!(names.iter().all(|name| is_record_file(name)));
    }

    #[test]
    fn paths_that_leave_the_folder_are_no_files_of_a_record() {
        for name in [
            "../run.json",
            "/run.json",
            "1/../run.json",
            "1/2/run.json",
            "0/run.json",
            "x.parquet",
            "",
            "1/",
            "+1/run.json",
        ] {
            assert!(!is_record_file(name), "{name}");
        }
    }
}
