//! Reasons for which a recognised file cannot be imported.

/// Reason for which a file of a known program cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The file ends within its format.
    #[error("the file is truncated: {0}")]
    Truncated(String),
    /// The format is violated.
    #[error("invalid format: {0}")]
    Format(String),
    /// A value is invalid.
    #[error("invalid value at {place}: {why}")]
    Value {
        /// Place in the file: a path, or a line.
        place: String,
        /// Clause with the value.
        why: String,
    },
    /// A version of the format that netburn does not read.
    #[error("unsupported version of the format: found {found}, expected {expected}")]
    Version {
        /// Version of the file.
        found: String,
        /// Versions that netburn reads.
        expected: &'static str,
    },
    /// More values than netburn reads.
    #[error("too many {what}: expected at most {most}")]
    TooMany {
        /// Values that are counted.
        what: &'static str,
        /// Limit.
        most: usize,
    },
    /// No value that a run can have.
    #[error("no value to import: {0}")]
    Empty(String),
}

impl FileError {
    pub(super) fn value(place: impl Into<String>, why: impl Into<String>) -> Self {
        FileError::Value {
            place: place.into(),
            why: why.into(),
        }
    }
}

impl From<serde_json::Error> for FileError {
    fn from(error: serde_json::Error) -> Self {
        match error.classify() {
            serde_json::error::Category::Eof => FileError::Truncated(error.to_string()),
            _ => FileError::Format(error.to_string()),
        }
    }
}
