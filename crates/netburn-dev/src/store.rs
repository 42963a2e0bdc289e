//! Results as JSON lines, so that a comparison of hours can be stopped and continued.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A result in a file.
pub trait Entry: Serialize + DeserializeOwned {
    /// Unique name or number of a result.
    type Key: Ord + Clone;

    /// Returns the key of the result.
    fn key(&self) -> Self::Key;
}

/// Results in a file, by their keys.
#[derive(Debug)]
pub struct Store<T: Entry> {
    path: PathBuf,
    entries: BTreeMap<T::Key, T>,
    /// False if an interrupted run has left an incomplete last line.
    is_complete: bool,
}

/// A file of results can't be read or written, or has other content.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct StoreError {
    path: PathBuf,
    reason: String,
}

impl<T: Entry> Store<T> {
    /// Reads a file; one that does not exist is empty.
    ///
    /// # Errors
    /// The file can't be read, or has other content.
    pub fn open(path: &Path) -> Result<Store<T>, StoreError> {
        let unusable = |reason: String| StoreError {
            path: path.to_owned(),
            reason,
        };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unusable(error.to_string())),
        };
        Ok(Store {
            path: path.to_owned(),
            entries: parse(&text).map_err(unusable)?,
            is_complete: text.is_empty() || text.ends_with('\n'),
        })
    }

    /// Returns a result.
    #[must_use]
    pub fn get(&self, key: &T::Key) -> Option<&T> {
        self.entries.get(key)
    }

    /// Appends a result to the file.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn append(&mut self, entry: T) -> Result<(), StoreError> {
        if !self.is_complete {
            return self.replace([entry]);
        }
        let append = || {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path)?;
            file.write_all(line(&entry).as_bytes())
        };
        append().map_err(|error| self.unwritten(&error))?;
        self.entries.insert(entry.key(), entry);
        Ok(())
    }

    /// Adds or replaces results, and writes all results in the order of their keys, beside the file first.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn replace(&mut self, entries: impl IntoIterator<Item = T>) -> Result<(), StoreError> {
        self.entries
            .extend(entries.into_iter().map(|entry| (entry.key(), entry)));
        let text: String = self.entries.values().map(line).collect();
        let beside = self.path.with_extension("jsonl.new");
        std::fs::write(&beside, text)
            .and_then(|()| std::fs::rename(&beside, &self.path))
            .map_err(|error| self.unwritten(&error))?;
        self.is_complete = true;
        Ok(())
    }

    fn unwritten(&self, error: &io::Error) -> StoreError {
        StoreError {
            path: self.path.clone(),
            reason: error.to_string(),
        }
    }
}

/// Reads the lines of a file. The last line of a key counts. An incomplete line, left by an interrupted run, is ignored.
///
/// # Errors
/// A line is not a result; the message contains its number.
pub fn parse<T: Entry>(text: &str) -> Result<BTreeMap<T::Key, T>, String> {
    let lines = text.split_inclusive('\n').enumerate();
    lines
        .filter(|(_, line)| line.ends_with('\n') && !line.trim().is_empty())
        .map(|(index, line)| {
            let entry: T =
                serde_json::from_str(line).map_err(|why| format!("line {}: invalid result: {why}", index + 1))?;
            Ok((entry.key(), entry))
        })
        .collect()
}

fn line<T: Serialize>(entry: &T) -> String {
    serde_json::to_string(entry).expect("numbers and texts are JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Number(u64, f64);

    impl Entry for Number {
        type Key = u64;

        fn key(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn an_interrupted_file_continues() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let open = || Store::<Number>::open(&path).unwrap();
        let text = || std::fs::read_to_string(&path).unwrap();
        open().append(Number(2, 1.5)).unwrap();
        let mut store = open();
        store.append(Number(1, 2.5)).unwrap();
        assert_eq!(text(), "[2,1.5]\n[1,2.5]\n");
        std::fs::write(&path, text() + "[3,").unwrap();
        // Reading changes nothing.
        let mut store = open();
        assert_eq!((store.get(&2), store.get(&3)), (Some(&Number(2, 1.5)), None));
        assert!(text().ends_with("[3,"));
        store.append(Number(4, 0.5)).unwrap();
        assert_eq!(text(), "[1,2.5]\n[2,1.5]\n[4,0.5]\n");
    }

    #[test]
    fn the_last_line_of_a_key_counts() {
        let read = parse::<Number>("[1,1.0]\n[1,2.0]\n\n[2,").unwrap();
        assert_eq!((read.len(), &read[&1]), (1, &Number(1, 2.0)));
        let error = parse::<Number>("[1,1.0]\n{}\n").unwrap_err();
        assert!(error.starts_with("line 2: "), "{error}");
    }
}
