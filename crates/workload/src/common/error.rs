//! The error of an invalid value.

/// Invalid configuration: the key as in scenario files, and the problem with its value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {problem}")]
pub struct ConfigError {
    /// Key of the invalid value, or of the section that contains it.
    pub key: &'static str,
    /// Problem, and the valid range.
    pub problem: String,
}

pub(crate) fn within(key: &'static str, value: u64, least: u64, most: u64) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        wrong(key, format!("is {value}; {least} to {most}"))
    }
}

pub(crate) fn wrong<T>(key: &'static str, problem: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError {
        key,
        problem: problem.into(),
    })
}
