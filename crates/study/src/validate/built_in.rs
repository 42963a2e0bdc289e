//! The files of `validation/` in the repository, embedded so that they are there after an install.

use super::file::{CaseFile, CaseFileError};

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../validation/", $name)))),+]
    };
}

/// Name and text of each file, in the order in which they are shown.
pub const FILES: &[(&str, &str)] = built_in![
    "rates.toml",
    "durations.toml",
    "signal.toml",
    "bianchi-model.toml",
    "shares.toml",
    "codel.toml",
    "saturation.toml",
    "aggregation.toml",
    "links.toml",
    "links-tcp.toml",
    "categories.toml",
    "anomaly.toml",
    "queues.toml",
    "rate-choice.toml",
    "questions.toml",
    "questions-small-queues.toml",
    "questions-anomaly.toml",
    "questions-patch.toml",
];

/// Those about single models: all but the questions, which run whole scenarios and have pages of their own in `docs/questions`.
///
/// # Errors
/// When one of them is wrong, which a test keeps from happening.
pub fn models() -> Result<Vec<CaseFile>, CaseFileError> {
    let models = FILES.iter().filter(|(name, _)| !name.starts_with("questions"));
    models.map(|(name, text)| CaseFile::parse(name, text)).collect()
}

/// All of them.
///
/// # Errors
/// When one of them is wrong, which a test keeps from happening.
pub fn files() -> Result<Vec<CaseFile>, CaseFileError> {
    FILES.iter().map(|(name, text)| CaseFile::parse(name, text)).collect()
}
