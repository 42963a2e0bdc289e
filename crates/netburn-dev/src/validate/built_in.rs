//! Files of `validation/` in the repository, embedded in the binary.

use super::file::{CaseFile, CaseFileError};

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../validation/", $name)))),+]
    };
}

/// Name and text of each file, in the order of the output.
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
    "power-save.toml",
    "roaming.toml",
    "steering.toml",
    "mesh.toml",
    "questions.toml",
    "questions-small-queues.toml",
    "questions-anomaly.toml",
    "questions-patch.toml",
];

/// Files on single models: all except the case studies, which run whole scenarios and have pages in `docs/explanation/case-studies`.
///
/// # Errors
/// A file is invalid, which a test rules out.
pub fn models() -> Result<Vec<CaseFile>, CaseFileError> {
    let models = FILES.iter().filter(|(name, _)| !name.starts_with("questions"));
    models.map(|(name, text)| CaseFile::parse(name, text)).collect()
}

/// All files.
///
/// # Errors
/// A file is invalid, which a test rules out.
pub fn files() -> Result<Vec<CaseFile>, CaseFileError> {
    FILES.iter().map(|(name, text)| CaseFile::parse(name, text)).collect()
}
