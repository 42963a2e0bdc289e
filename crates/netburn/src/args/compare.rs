//! `netburn compare`.

use clap::{Args, ValueEnum, value_parser};
use std::path::PathBuf;

/// Compare runs: better, worse, same, or can't tell
///
/// A RUN is the folder of a run or a summary file. A folder of a run set counts as several runs. `--format json` and
/// sweeps (in runs/) write summary files. A comparison needs three or more runs on each side. It needs more runs for
/// more metrics.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0    the comparison ran (with --fail-on: no metric is worse)
  1    with --fail-on or --bisect: a metric is worse
  2    the input is invalid
  3    the sides have no station in common, or a run can't be read;
       with --fail-on also: too few runs for a result
  125  with --bisect, instead of 2 and 3: `git bisect` skips the commit")]
pub(crate) struct CompareArgs {
    /// Runs to compare
    #[arg(value_name = "RUN", required_unless_present = "matrix")]
    pub(crate) runs: Vec<PathBuf>,
    /// Baseline runs [default: none; two or more RUNs are ranked]
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub(crate) against: Vec<PathBuf>,
    /// Rank all RUNs, including those of --against, each as a variant
    #[arg(long, conflicts_with = "matrix")]
    pub(crate) ranked: bool,
    /// Table of scenarios and variants, worst first. DIR is the folder of a sweep, whose last key makes the variants,
    /// or a folder with runs as SCENARIO/VARIANT
    #[arg(long, value_name = "DIR", conflicts_with_all = ["runs", "against"])]
    pub(crate) matrix: Option<PathBuf>,
    /// Baseline variant [default: the first]
    #[arg(long, value_name = "VARIANT", requires = "matrix", allow_hyphen_values = true)]
    pub(crate) baseline: Option<String>,
    /// Exit status 1 if a metric is worse. With `worse=10%`, differences of up to 10 % count as the same
    #[arg(long, value_name = "worse[=5%]", value_parser = fail_on, conflicts_with = "ranked")]
    pub(crate) fail_on: Option<FailOn>,
    /// Set the exit status for `git bisect run`: as --fail-on worse, and 125 if the result is unknown
    #[arg(long, conflicts_with = "ranked")]
    pub(crate) bisect: bool,
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: CompareFormat,
    /// Number of bootstrap resamples for each interval of a ranking
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = value_parser!(u32).range(100..=1_000_000))]
    pub(crate) draws: u32,
    /// Random seed of the resampling
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Condition for exit status 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FailOn {
    /// Relative difference up to which values count as the same; `None`: the default of each metric.
    pub(crate) share: Option<f64>,
}

/// Format of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum CompareFormat {
    /// Human-readable text
    #[default]
    Text,
    /// For scripts
    Json,
    /// Self-contained page with overlaid curves
    Html,
}

fn fail_on(text: &str) -> Result<FailOn, String> {
    let wrong = || format!("found `{text}`, expected `worse` or `worse=PERCENT`, such as `worse=5%`");
    let rest = text.strip_prefix("worse").ok_or_else(wrong)?;
    if rest.is_empty() {
        return Ok(FailOn { share: None });
    }
    let number = rest
        .strip_prefix('=')
        .and_then(|rest| rest.trim_end().strip_suffix('%'));
    let percent: f64 = number.and_then(|number| number.trim().parse().ok()).ok_or_else(wrong)?;
    if (0.0..=1_000.0).contains(&percent) {
        Ok(FailOn {
            share: Some(percent / 100.0),
        })
    } else {
        Err(format!("`{text}`: a share from 0% to 1000%"))
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
