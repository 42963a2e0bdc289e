//! `netburn sweep`: a scenario run for every combination of the values that some of its keys take.

use crate::args::{SweepArgs, SweepFormat};
use crate::exit::{CliError, ExitStatus};
use crate::plan::changed;
use crate::signals;
use crate::terminal::{TerminalStyle, document, eprint_message, overwrite_line, print_stdout, stderr_is_terminal};
use netburn_record::{Environment, UnixTime, make_folder};
use netburn_report::environment::sentence;
use netburn_report::sanitise::{sanitise, wrap};
use netburn_runner::Cancel;
use netburn_runner::pool::processors;
use netburn_study::sweep::{
    Access, Checked, CostEstimate, Effects, Folder, FolderError, Grid, GridError, InvalidCellPolicy, Judgements,
    Progress, Rows, Selection, SweepError, Target, Vary, chart, check, check_judgeable, csv, estimate_cost,
    format_approximate, json, judgements, metric, run, table, write_results,
};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of runs without `--yes`.
const MAX_UNCONFIRMED_RUNS: u64 = 10_000;

/// Interval of updates of the progress line.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);

/// `netburn sweep SCENARIO --vary KEY=VALUES…`.
pub(crate) fn sweep(args: &SweepArgs) -> Result<ExitStatus, CliError> {
    let threads = match args.jobs {
        Some(jobs) => usize::from(jobs),
        None => processors(),
    };
    let grid = grid(args, threads)?;
    if grid.runs() > MAX_UNCONFIRMED_RUNS && !args.yes {
        return Err(CliError::Usage(format!(
            "{} runs are more than {MAX_UNCONFIRMED_RUNS}: give fewer values, or --yes to start them. {}",
            grid.runs(),
            estimate(&grid, threads)
        )));
    }
    if args.judge {
        check_judgeable(grid.keys(), grid.values()).map_err(|why| CliError::Usage(why.to_string()))?;
    }
    let cancel = signals::cancel_or_exit(signals::SAVING)?;
    let checked = checked(args, &grid, threads, &cancel)?;
    let selection = selection(args, &checked)?;
    let folder = folder(args, &grid, &checked)?;
    for other in &args.merge {
        let added = folder.merge(other, &grid).map_err(unusable)?;
        eprint_message(&format!("added {added} runs of {}", other.display()));
    }
    eprint_message(&begun(&grid, &folder, &selection));
    let screen = Screen::new();
    let finished = run(&grid, &folder, &selection, threads, &cancel, &|progress| {
        screen.runs(progress);
    });
    screen.end();
    let left = folder.remaining(&grid, &selection).map_err(unusable)?;
    if let (Ok(0), Some(shard), true) = (&finished, selection.shard, left > 0) {
        eprint_message(&format!(
            "shard {shard} is finished; {left} runs of other shards are not. The shard that finishes last writes the results"
        ));
        return Ok(ExitStatus::Success);
    }
    if left > 0 && folder.finished() == 0 {
        finished.map_err(|error| halted(&error, &folder))?;
        eprint_message(&format!(
            "interrupted before the first run was finished; {}",
            continue_command(&folder)
        ));
        return Ok(ExitStatus::NotMeasured);
    }
    let rows = folder.rows(&grid);
    let judged = judged(&grid, &folder, args);
    kept(&grid, &folder, &rows, judged.as_ref(), args)?;
    finished.map_err(|error| halted(&error, &folder))?;
    eprint_message(&format!("saved to {}", folder.path().display()));
    match print_stdout(&shown(&grid, &rows, judged.as_ref(), args)) {
        // The exit status of the sweep matters more than a closed pipe.
        Ok(()) | Err(CliError::BrokenPipe) => {}
        Err(stop) => return Err(stop),
    }
    if left == 0 {
        return Ok(ExitStatus::Success);
    }
    let finished = folder.finished();
    eprint_message(&format!(
        "interrupted: {finished} runs are finished, {}{left} are not; {}",
        at_most(&selection),
        continue_command(&folder)
    ));
    Ok(ExitStatus::NotMeasured)
}

/// The runs of this process.
fn selection(args: &SweepArgs, checked: &Checked) -> Result<Selection, CliError> {
    let mut selection = Selection {
        shard: args.shard,
        target: None,
    };
    if let Some(name) = &args.metric {
        let column = metric(&checked.columns, name).map_err(CliError::Usage)?;
        if let Some(precision) = &args.precision {
            let target = Target::new(&checked.columns, column, precision.clone());
            selection.target = Some(target.map_err(|why| CliError::Usage(format!("--precision: {why}")))?);
        }
    }
    Ok(selection)
}

/// With a precision, only the maximum number of unfinished runs is known.
const fn at_most(selection: &Selection) -> &'static str {
    if selection.target.is_some() { "at most " } else { "" }
}

/// The grid of the arguments. Values are checked later.
fn grid(args: &SweepArgs, threads: usize) -> Result<Grid, CliError> {
    let varies: Result<Vec<Vary>, _> = args.vary.iter().map(|text| Vary::parse(text)).collect();
    let varies = varies.map_err(|why| CliError::Usage(why.to_string()))?;
    let document = changed(&args.changes)?;
    Grid::new(document.clone(), &varies).map_err(|why| {
        let mut text = why.to_string();
        if let GridError::TooMany(runs) = why
            && let Some(cost) = first_cost(document, &varies)
        {
            text = format!("{text}. {}", estimate_sentence(&cost, runs as f64, threads));
        }
        CliError::Usage(text)
    })
}

/// Cost of a run of the first cell, for when there are too many cells for a grid.
fn first_cost(document: netburn_scenario::Document, varies: &[Vary]) -> Option<CostEstimate> {
    let first: Option<Vec<Vary>> = varies
        .iter()
        .map(|vary| Vary::parse(&format!("{}={}", vary.key(), vary.values().next()?)).ok())
        .collect();
    estimate_cost(&Grid::new(document, &first?).ok()?).ok()?
}

/// Sentence with the estimated duration of all runs.
fn estimate(grid: &Grid, threads: usize) -> String {
    match estimate_cost(grid) {
        Ok(Some(cost)) => estimate_sentence(&cost, grid.runs() as f64, threads),
        // `check` reports this error with all others when the runs are started.
        Ok(None) | Err(_) => "The first run is invalid, so its duration can't be estimated".to_owned(),
    }
}

fn estimate_sentence(cost: &CostEstimate, runs: f64, threads: usize) -> String {
    let cores = match threads {
        1 => "one processor".to_owned(),
        threads => format!("{threads} processors"),
    };
    let all = cost.run.as_secs_f64() * runs / threads as f64;
    let from = if cost.simulated < cost.total {
        format!("the first {} of {} of the first run", cost.simulated, cost.total)
    } else {
        "the first run".to_owned()
    };
    format!(
        "They would take about {} on {cores}, estimated from {from}; other runs may take more or less time",
        format_approximate(all)
    )
}

/// Checks all cells before the first run.
fn checked(args: &SweepArgs, grid: &Grid, threads: usize, cancel: &Cancel) -> Result<Checked, CliError> {
    let screen = Screen::new();
    let impossible = if args.skip_impossible {
        InvalidCellPolicy::Skip
    } else {
        InvalidCellPolicy::Reject
    };
    let checked = check(grid, threads, cancel, impossible, &|done| {
        screen.cells(done, grid.cells())
    });
    screen.end();
    match checked.map_err(|wrong| CliError::Usage(sanitised(&wrong.to_string())))? {
        Some(checked) => {
            if let Some(skipped) = &checked.impossible {
                eprint_message(&sanitised(&skipped.skipped()));
            }
            Ok(checked)
        }
        None => Err(CliError::Failed("interrupted before anything was run".to_owned())),
    }
}

fn folder(args: &SweepArgs, grid: &Grid, checked: &Checked) -> Result<Folder, CliError> {
    let path = match &args.out {
        Some(out) => out.clone(),
        None => {
            let name = grid.first_plan().map_or_else(|| "sweep".to_owned(), |plan| plan.name);
            let path = PathBuf::from("sweeps").join(format!("{}-{name}", UnixTime::now().for_file_name()));
            make_folder(&path).map_err(|error| CliError::Failed(error.to_string()))?
        }
    };
    let access = if args.shard.is_some() {
        Access::Shared
    } else {
        Access::Exclusive
    };
    Folder::open(&path, grid, checked, access).map_err(|error| match &error {
        FolderError::NotSweep(_) | FolderError::Other { .. } => CliError::Usage(format!("{error}; use another --out")),
        _ => unusable(error),
    })
}

fn begun(grid: &Grid, folder: &Folder, selection: &Selection) -> String {
    let cells = grid.cells();
    let runs = match (grid.repeat(), &selection.target) {
        (1, _) => format!("{cells} runs"),
        (repeat, None) => format!("{cells} cells, each run {repeat} times"),
        (repeat, Some(_)) => format!("{cells} cells, each run up to {repeat} times"),
    };
    let shard = selection
        .shard
        .map(|shard| format!("shard {shard}, "))
        .unwrap_or_default();
    let before = match folder.finished() {
        0 => String::new(),
        before => format!("{before} of {} runs finished already, ", folder.possible(grid)),
    };
    format!("{runs}, {shard}{before}simulated, nothing leaves this process")
}

/// Comparisons of the values with the first value, for `--judge`.
fn judged(grid: &Grid, folder: &Folder, args: &SweepArgs) -> Option<Judgements> {
    let (true, [key], [values]) = (args.judge, grid.keys(), grid.values()) else {
        return None;
    };
    let runs = folder.summaries(grid);
    let runs = runs
        .iter()
        .map(|(values, path, summary)| (values[0].as_str(), path.as_path(), summary));
    Some(judgements(key, values, runs))
}

/// Writes the results to files.
fn kept(
    grid: &Grid,
    folder: &Folder,
    rows: &Rows,
    judged: Option<&Judgements>,
    args: &SweepArgs,
) -> Result<(), CliError> {
    write_results(folder, grid, rows, args.metric.as_deref()).map_err(unusable)?;
    if let Some(judged) = judged {
        folder.write("judged.csv", judged.csv().as_bytes()).map_err(unusable)?;
    }
    Ok(())
}

/// The results for standard output.
fn shown(grid: &Grid, rows: &Rows, judged: Option<&Judgements>, args: &SweepArgs) -> String {
    match (args.format, judged) {
        (SweepFormat::Json, judged) => {
            let mut all = json(rows);
            all["effects"] = effects(grid, rows, args).sentences.into();
            if let Some(judged) = judged {
                all["judged"] = judged.json();
            }
            document(&all)
        }
        (SweepFormat::Csv, Some(judged)) => judged.csv(),
        (SweepFormat::Csv, None) => csv(rows),
        (SweepFormat::Text, judged) => {
            let look = TerminalStyle::for_stdout();
            let mut text: String = wrap(sentence(Environment::Simulate), look.width, "")
                .iter()
                .map(|line| format!("{line}\n"))
                .collect();
            text.push('\n');
            if let Some(judged) = judged {
                text.push_str(&judged.text(look.width, look.colour));
                return text;
            }
            text.push_str(&table(rows, look.width, look.colour));
            text.push('\n');
            let chart = chart::Chart::new(rows, rows.metric_or_default(args.metric.as_deref()));
            text.push_str(&chart::text(&chart, look.width));
            text.push('\n');
            for sentence in effects(grid, rows, args).sentences {
                for line in wrap(&sanitise(&sentence), look.width, "  ") {
                    text.push_str(&line);
                    text.push('\n');
                }
            }
            text
        }
    }
}

fn effects(grid: &Grid, rows: &Rows, args: &SweepArgs) -> Effects {
    Effects::new(grid, rows, rows.metric_or_default(args.metric.as_deref()))
}

fn continue_command(folder: &Folder) -> String {
    format!("the same command with --out {} continues", quoted(folder.path()))
}

/// A path, quoted for a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+:".contains(c)) {
        text
    } else {
        format!("'{}'", sanitise(&text).replace('\'', r"'\''"))
    }
}

/// A folder with other content is a usage error; a folder that can't be read or written is a failure.
fn unusable(error: FolderError) -> CliError {
    match &error {
        FolderError::Io { .. } | FolderError::Create { .. } | FolderError::Encode(_) => {
            CliError::Failed(error.to_string())
        }
        _ => CliError::Usage(error.to_string()),
    }
}

fn halted(error: &SweepError, folder: &Folder) -> CliError {
    CliError::Failed(format!(
        "{}; finished runs are saved: {}",
        sanitised(&error.to_string()),
        continue_command(folder)
    ))
}

/// Lines without control characters.
fn sanitised(text: &str) -> String {
    text.lines().map(sanitise).collect::<Vec<_>>().join("\n")
}

/// Progress on a line of the terminal that is overwritten.
struct Screen {
    begun: Instant,
    shown: Option<Mutex<(Instant, usize)>>,
}

impl Screen {
    fn new() -> Self {
        let begun = Instant::now();
        Screen {
            begun,
            shown: stderr_is_terminal().then(|| Mutex::new((begun, 0))),
        }
    }

    fn cells(&self, done: u64, of: u64) {
        self.line(|| format!("checked {done} of {of} cells"));
    }

    fn runs(&self, progress: Progress) {
        self.line(|| {
            let left = match progress.share {
                // Too little for an estimate.
                ..0.001 => String::new(),
                share => {
                    let elapsed = self.begun.elapsed().as_secs_f64();
                    format!(
                        ", about {} left",
                        format_approximate(elapsed * (1.0 - share).max(0.0) / share)
                    )
                }
            };
            format!(
                "{} of {} runs{left}",
                progress.finished,
                progress.finished + progress.left
            )
        });
    }

    fn line(&self, text: impl Fn() -> String) {
        let Some(shown) = &self.shown else { return };
        let Ok(mut shown) = shown.try_lock() else { return };
        if shown.0.elapsed() >= PROGRESS_INTERVAL {
            shown.0 = Instant::now();
            overwrite_line(&text(), &mut shown.1);
        }
    }

    /// Erases the line.
    fn end(&self) {
        if let Some(shown) = &self.shown {
            overwrite_line("", &mut shown.lock().unwrap_or_else(PoisonError::into_inner).1);
        }
    }
}
