//! Causes that are stored beside a record, because a simulation found them.

use super::{Error, Explanation, explain};
use netburn_record::Run;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::path::Path;

/// Name of the file in the folder of a run.
pub const FILE: &str = "causes.json";
/// Maximum size of such a file in bytes.
const MAX_SIZE: u64 = 4 << 20;

/// Writes the causes of a run into its folder.
///
/// # Errors
/// When the file can't be written.
pub fn store(folder: &Path, explanation: &Explanation) -> io::Result<()> {
    write(folder, FILE, explanation)
}

/// Causes stored in the folder of a run; `None` without a file that can be read.
#[must_use]
pub fn stored(folder: &Path) -> Option<Explanation> {
    read(folder, FILE)
}

/// Writes a document into the folder of a run.
pub(super) fn write(folder: &Path, file: &str, document: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(document).map_err(io::Error::other)?;
    std::fs::write(folder.join(file), text + "\n")
}

/// Reads a document from the folder of a run; `None` without a file that can be read.
pub(super) fn read<T: DeserializeOwned>(folder: &Path, file: &str) -> Option<T> {
    let path = folder.join(file);
    let is_small = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= MAX_SIZE);
    let text = is_small.then(|| std::fs::read_to_string(path).ok()).flatten()?;
    serde_json::from_str(&text).ok()
}

/// Causes of a run: those stored beside it, otherwise those of the rules.
///
/// # Errors
/// When the columns can't be read.
pub fn causes_of(run: &Run) -> Result<Explanation, Error> {
    run.folder().and_then(stored).map_or_else(|| explain(run), Ok)
}
