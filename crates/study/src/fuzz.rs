//! What fuzzing holds a reader of files to: it says yes or why not, and never anything else.

use crate::validate::CaseFile;

/// Reads any bytes as a file of cases. A wrong one is wrong in a line that it has.
///
/// # Panics
/// When that isn't so.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match CaseFile::parse("cases.toml", &text) {
        Ok(file) => assert!(!file.cases.is_empty() && file.cases.iter().all(|case| !case.expectations.is_empty())),
        Err(wrong) => assert!(wrong.line >= 1 && wrong.line <= text.lines().count() + 1, "{wrong}"),
    }
}
