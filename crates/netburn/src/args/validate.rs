//! `netburn validate`.

use clap::{Args, ValueEnum, value_parser};
use std::path::PathBuf;

/// Check the models against published values
///
/// Each case has a published or hand-computed value, its source and a tolerance. netburn reports which cases the models
/// meet. Without files it runs the built-in cases. The page "Validation cases" of the
/// documentation describes the format of your own files.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  all values are within their tolerances, or differ as the case explains
  1  a value is out of tolerance
  2  a file of cases is invalid")]
pub(crate) struct ValidateArgs {
    /// Files of cases, or names of built-in ones (durations, saturation, …)
    #[arg(value_name = "CASES")]
    pub(crate) cases: Vec<PathBuf>,
    /// Show all cases, not only those out of tolerance
    #[arg(long)]
    pub(crate) all: bool,
    /// Number of processors [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: ValidateFormat,
}

/// Format of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ValidateFormat {
    /// Human-readable text
    #[default]
    Text,
    /// For scripts
    Json,
    /// Tables of all values, in Markdown
    Markdown,
}
