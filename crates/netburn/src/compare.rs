//! `netburn compare`: comparison of runs.

mod matrix;
mod read;

use crate::args::{CompareArgs, CompareFormat};
use crate::exit::{CliError, ExitStatus};
use crate::terminal::{TerminalStyle, document, eprint_message, print_stdout};
use netburn_analysis::compare::{Comparison, Options, Ranking, Side, name};
use netburn_analysis::view::View;
use netburn_report::compare::{html, json, text};
use netburn_report::sanitise::sanitise;
use netburn_stats::metric_change::Judgement;
use netburn_units::Seed;
use read::Reader;
use std::path::{Path, PathBuf};

/// `netburn compare A… --against B…`, and `netburn compare A B C`.
pub(crate) fn compare(args: &CompareArgs) -> Result<ExitStatus, CliError> {
    match compared(args) {
        // `git bisect run` skips a commit with this status; any other failure would mark the commit as bad.
        Err(CliError::Usage(why) | CliError::Failed(why)) if args.bisect => {
            eprint_message(&why);
            Ok(ExitStatus::BisectSkip)
        }
        Ok(ExitStatus::NotMeasured) if args.bisect => Ok(ExitStatus::BisectSkip),
        ended => ended,
    }
}

fn compared(args: &CompareArgs) -> Result<ExitStatus, CliError> {
    let options = options(args);
    let mut reader = Reader::default();
    if let Some(dir) = &args.matrix {
        let matrix = matrix::read(dir, args.baseline.as_deref(), options, &mut reader)?;
        let look = TerminalStyle::for_stdout();
        print_stdout(&match args.format {
            CompareFormat::Json => document(&json::matrix(&matrix)),
            CompareFormat::Html => html::matrix(&matrix),
            CompareFormat::Text => text::matrix(&matrix, look.width, look.colour),
        })?;
        return Ok(ended(args, &reader, &matrix.comparisons.iter().collect::<Vec<_>>()));
    }
    if is_ranked(args)? {
        let all: Vec<&PathBuf> = args.runs.iter().chain(&args.against).collect();
        let mut sides: Vec<Side> = all
            .iter()
            .filter_map(|path| reader.side(std::slice::from_ref(*path)))
            .collect();
        if sides.len() < 2 {
            return Err(reader.unreadable("a ranking takes two runs or more"));
        }
        name(&mut sides.iter_mut().collect::<Vec<_>>());
        let ranking = Ranking::new(sides, options);
        print_stdout(&ranked(&ranking, args.format))?;
        return Ok(if reader.failed.is_empty() && ranking.shares_a_station() {
            ExitStatus::Success
        } else {
            ExitStatus::NotMeasured
        });
    }
    let these = reader.side(&args.runs);
    let against = reader.side(&args.against);
    let (Some(mut these), Some(mut against)) = (these, against) else {
        return Err(reader.unreadable("there is nothing to compare"));
    };
    name(&mut [&mut these, &mut against]);
    let comparison = Comparison::new(these, against, options);
    print_stdout(&written(&comparison, args.format))?;
    Ok(ended(args, &reader, &[&comparison]))
}

/// Returns `true` if each run is a separate variant: with `--ranked`, or for several runs without `--against`.
fn is_ranked(args: &CompareArgs) -> Result<bool, CliError> {
    if args.ranked || !args.against.is_empty() {
        return Ok(args.ranked);
    }
    let judges = args.fail_on.is_some() || args.bisect;
    match args.runs.len() {
        2.. if !judges => Ok(true),
        _ => Err(CliError::Usage(
            "missing runs to compare with: add --against RUN, or more RUNs to rank".to_owned(),
        )),
    }
}

/// Results of interleaved scenarios: the others are compared with the first.
pub(crate) fn in_turns(mut sides: Vec<Side>, format: CompareFormat) -> String {
    name(&mut sides.iter_mut().collect::<Vec<_>>());
    match <[Side; 2]>::try_from(sides) {
        Ok([against, these]) => written(&Comparison::new(these, against, Options::default()), format),
        Err(sides) => ranked(&Ranking::new(sides, Options::default()), format),
    }
}

fn options(args: &CompareArgs) -> Options {
    Options {
        draws: args.draws,
        seed: Seed(args.seed),
        tolerance: args.fail_on.and_then(|fail_on| fail_on.share),
    }
}

fn written(comparison: &Comparison, format: CompareFormat) -> String {
    let look = TerminalStyle::for_stdout();
    match format {
        CompareFormat::Json => document(&json::comparison(comparison)),
        CompareFormat::Html => html::comparison(comparison, &views(&comparison.these), &views(&comparison.against)),
        CompareFormat::Text => text::comparison(comparison, look.width, look.colour),
    }
}

fn ranked(ranking: &Ranking, format: CompareFormat) -> String {
    let look = TerminalStyle::for_stdout();
    match format {
        CompareFormat::Json => document(&json::ranking(ranking)),
        CompareFormat::Html => html::ranking(ranking, &ranking.sides.iter().map(views).collect::<Vec<_>>()),
        CompareFormat::Text => text::ranking(ranking, look.width, look.colour),
    }
}

/// The time series of a side's folders. A summary file has none.
fn views(side: &Side) -> Vec<View> {
    let folders = side.sources.iter().map(Path::new).filter(|source| source.is_dir());
    let opened = folders.filter_map(|folder| match View::open(folder) {
        Ok(view) => Some(view),
        Err(error) => {
            note(&format!("the page has no curves of {}: {error}", folder.display()));
            None
        }
    });
    opened.collect()
}

/// Exit status. `Worse` takes precedence over `NotMeasured`: more runs would not change it.
fn ended(args: &CompareArgs, reader: &Reader, comparisons: &[&Comparison]) -> ExitStatus {
    let checked = args.fail_on.is_some() || args.bisect;
    let any = |what: &dyn Fn(&Comparison) -> bool| comparisons.iter().any(|comparison| what(comparison));
    if checked && any(&|comparison| comparison.count(Judgement::Worse) > 0) {
        return ExitStatus::Worse;
    }
    if !reader.failed.is_empty() || any(&|comparison| !comparison.shares_a_station()) {
        return ExitStatus::NotMeasured;
    }
    if checked && any(&|comparison| comparison.too_few().is_some()) {
        eprint_message("too few runs to decide whether a metric is worse");
        return ExitStatus::NotMeasured;
    }
    if checked && any(&|comparison| comparison.inconclusive() != [0, 0]) {
        eprint_message("a run was not measured completely, so the comparison is inconclusive");
        return ExitStatus::NotMeasured;
    }
    ExitStatus::Success
}

/// Prints a note without control characters.
fn note(text: &str) {
    eprint_message(&sanitise(text));
}
