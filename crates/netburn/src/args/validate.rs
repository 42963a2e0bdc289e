//! `netburn validate`.

use clap::{Args, ValueEnum, value_parser};
use std::path::PathBuf;

/// Hold the models against published figures.
///
/// Runs cases, each a published or hand-worked figure with its source and its tolerance, and says which the models meet. Without files, those that
/// netburn ships; a file of your own has the same form, which docs/VALIDATION.md describes.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  every figure is within its tolerance, or beyond it no further than the case explains
  1  one or more are not
  2  a file of cases is wrong")]
pub(crate) struct ValidateArgs {
    /// Files of cases, or names of built-in ones (durations, saturation …)
    #[arg(value_name = "CASES")]
    pub(crate) cases: Vec<PathBuf>,
    /// Show every case, not only those that miss
    #[arg(long)]
    pub(crate) all: bool,
    /// Processors to use [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: ValidateFormat,
}

/// How the result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ValidateFormat {
    /// For people
    #[default]
    Text,
    /// For scripts
    Json,
    /// The tables of docs/VALIDATION.md
    Markdown,
}
