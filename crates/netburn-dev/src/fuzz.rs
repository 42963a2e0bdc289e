//! Fuzz target for the reader of case files.

use crate::validate::CaseFile;

/// Reads any bytes as a case file. An error must name a line of the file.
///
/// # Panics
/// The reader has a bug.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match CaseFile::parse("cases.toml", &text) {
        Ok(file) => assert!(!file.cases.is_empty() && file.cases.iter().all(|case| !case.expectations.is_empty())),
        Err(wrong) => assert!(wrong.line >= 1 && wrong.line <= text.lines().count() + 1, "{wrong}"),
    }
}
