//! `netburn compare`.

use clap::{Args, ValueEnum, value_parser};
use std::path::PathBuf;

/// Hold runs against others: what got better, what worse, and what these runs can't tell.
///
/// Each RUN is a run's folder, of which every repeat counts as a run, or a summary as a file (what `--format json` writes, and the
/// files below runs/ in a sweep's folder). Nothing is told with fewer than three runs of a side, and better or worse takes more of
/// them the more figures there are.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0    it ran (with --fail-on: and nothing is worse)
  1    with --fail-on or --bisect: something is worse
  2    the input is wrong
  3    they share no station, or a run can't be read; with --fail-on also: there are too few runs to tell
  125  with --bisect, instead of 2 and 3: git skips the commit")]
pub(crate) struct CompareArgs {
    /// What is looked at
    #[arg(value_name = "RUN", required_unless_present = "matrix")]
    pub(crate) runs: Vec<PathBuf>,
    /// What it is held against [default: two RUNs or more are ranked]
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub(crate) against: Vec<PathBuf>,
    /// Take each RUN as a variant of its own, and rank them all, those after --against too
    #[arg(long, conflicts_with = "matrix")]
    pub(crate) ranked: bool,
    /// Many scenarios under several variants as one table, worst first. DIR: a sweep's folder, whose last key makes the variants,
    /// or a folder of runs as SCENARIO/VARIANT
    #[arg(long, value_name = "DIR", conflicts_with_all = ["runs", "against"])]
    pub(crate) matrix: Option<PathBuf>,
    /// The variant that the others are held against [default: the first]
    #[arg(long, value_name = "VARIANT", requires = "matrix", allow_hyphen_values = true)]
    pub(crate) baseline: Option<String>,
    /// Exit with 1 when something is worse; `worse=10%` by more than that, which then is what counts as the same
    #[arg(long, value_name = "worse[=5%]", value_parser = fail_on, conflicts_with = "ranked")]
    pub(crate) fail_on: Option<FailOn>,
    /// For `git bisect run`: as --fail-on worse, and 125 where it can't be told
    #[arg(long, conflicts_with = "ranked")]
    pub(crate) bisect: bool,
    /// How it is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: CompareFormat,
    /// Resamples for each interval of a ranking
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = value_parser!(u32).range(100..=1_000_000))]
    pub(crate) draws: u32,
    /// What the resampling draws from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// When a comparison fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FailOn {
    /// The share that still is the same, where one was asked for.
    pub(crate) share: Option<f64>,
}

/// How a comparison is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For people
    #[default]
    Text,
    /// For scripts
    Json,
    /// A page of one file, with the curves over each other
    Html,
}

fn fail_on(text: &str) -> Result<FailOn, String> {
    let wrong = || format!("`{text}`: it is `worse`, or by how much, such as `worse=5%`");
    let rest = text.strip_prefix("worse").ok_or_else(wrong)?;
    if rest.is_empty() {
        return Ok(FailOn { share: None });
    }
    let number = rest
        .strip_prefix('=')
        .and_then(|rest| rest.trim_end().strip_suffix('%'));
    let percent: f64 = number.and_then(|number| number.trim().parse().ok()).ok_or_else(wrong)?;
    match (0.0..=1_000.0).contains(&percent) {
        true => Ok(FailOn {
            share: Some(percent / 100.0),
        }),
        false => Err(format!("`{text}`: a share from 0% to 1000%")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_in_percent() {
        assert_eq!(fail_on("worse"), Ok(FailOn { share: None }));
        assert_eq!(fail_on("worse=5%"), Ok(FailOn { share: Some(0.05) }));
        assert_eq!(fail_on("worse=12.5 %"), Ok(FailOn { share: Some(0.125) }));
        for wrong in [
            "better",
            "worse5%",
            "worse=5",
            "worse=-1%",
            "worse=NaN%",
            "worse=2000%",
            "",
        ] {
            assert!(fail_on(wrong).is_err(), "{wrong}");
        }
    }
}
