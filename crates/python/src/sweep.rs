//! Sweeps. The folder of a sweep is that of the command: each of them continues the other's.

use crate::errors;
use crate::scenario::Scenario;
use crate::table::Table;
use crate::work::{Share, perform};
use netburn_record::{Summary, UnixTime, make_folder};
use netburn_runner::Cancel;
use netburn_runner::pool::processors;
use netburn_scenario::{Document, Environment, Plan};
use netburn_study::sweep::{
    Access, Cells, Checked, Effects, Folder, FolderError, Grid, InvalidCellPolicy, Precision, Progress, Selection,
    Shard, SweepError, Target, Vary, check, metric, run as run_all, write_results,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time for which a locked folder is tried again.
const BUSY: Duration = Duration::from_secs(1);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Sweep>()?;
    module.add_class::<SweepFolder>()?;
    module.add_function(wrap_pyfunction!(simulate_plan, module)?)
}

/// A scenario and the values of the varied keys. All cells are valid, or skipped.
#[pyclass(frozen, module = "netburn_runtime")]
pub(crate) struct Sweep(Arc<Inner>);

struct Inner {
    grid: Grid,
    checked: Checked,
}

#[pymethods]
impl Sweep {
    /// Checks all cells. Each key has its values as texts, as for `--set`.
    #[new]
    #[pyo3(signature = (scenario, varied, repeat=None, skip_impossible=false, progress=None))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        varied: Vec<(String, Vec<String>)>,
        repeat: Option<u32>,
        skip_impossible: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut document = scenario.document.clone();
        if let Some(repeat) = repeat {
            document
                .set("repeat", &repeat.to_string())
                .map_err(|error| errors::scenario(py, &error))?;
        }
        let invalid = |why: String| errors::ScenarioError::new_err(why);
        let varied = varied
            .into_iter()
            .map(|(key, values)| Vary::from_values(&key, values))
            .collect::<Result<Vec<Vary>, _>>()
            .map_err(|why| invalid(why.to_string()))?;
        let grid = Grid::new(document, &varied).map_err(|why| invalid(why.to_string()))?;
        let policy = if skip_impossible {
            InvalidCellPolicy::Skip
        } else {
            InvalidCellPolicy::Reject
        };
        let (share, cancel) = (Share::default(), Cancel::default());
        let (shown, stop) = (share.clone(), cancel.clone());
        let (grid, checked) = perform(py, progress, &share, &cancel, move || {
            let cells = grid.cells().max(1) as f64;
            let checked = check(&grid, processors(), &stop, policy, &|done| {
                shown.set(done as f64 / cells);
            });
            (grid, checked)
        })?;
        let checked = checked.map_err(|wrong| invalid(wrong.to_string()))?;
        let checked = checked.expect("only an exception cancels the check, and it was returned");
        Ok(Sweep(Arc::new(Inner { grid, checked })))
    }

    /// Number of cells.
    #[getter]
    fn cells(&self) -> u64 {
        self.0.grid.cells()
    }

    /// Number of runs, those of invalid cells included.
    #[getter]
    fn runs(&self) -> u64 {
        self.0.grid.runs()
    }

    /// Keys, in order.
    #[getter]
    fn keys(&self) -> Vec<String> {
        self.0.grid.keys().to_vec()
    }

    /// Message for the cells that are skipped; `None` without one.
    #[getter]
    fn skipped(&self) -> Option<String> {
        self.0.checked.impossible.as_ref().map(|cells| cells.skipped())
    }

    /// Names of the metrics.
    #[getter]
    fn metrics(&self) -> Vec<String> {
        self.0
            .checked
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect()
    }

    /// Opens the folder of the sweep, or creates it, and locks it. Without a path, creates `sweeps/TIME-SCENARIO`.
    /// `shard` is as 3/16. `precision` is that of the column `metric`.
    #[pyo3(signature = (path=None, shard=None, metric=None, precision=None))]
    fn open(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        shard: Option<&str>,
        metric: Option<&str>,
        precision: Option<&str>,
    ) -> PyResult<SweepFolder> {
        let selection = self
            .0
            .selection(shard, metric, precision)
            .map_err(PyValueError::new_err)?;
        let access = if selection.shard.is_some() {
            Access::Shared
        } else {
            Access::Exclusive
        };
        let inner = Arc::clone(&self.0);
        let opened = py.detach(move || {
            let path = match path {
                Some(path) => path,
                None => {
                    let name = inner
                        .grid
                        .first_plan()
                        .map_or_else(|| "sweep".to_owned(), |plan| plan.name);
                    let path = PathBuf::from("sweeps").join(format!("{}-{name}", UnixTime::now().for_file_name()));
                    make_folder(&path).map_err(|error| error.to_string())?
                }
            };
            let begun = Instant::now();
            loop {
                match Folder::open(&path, &inner.grid, &inner.checked, access) {
                    // Perhaps an interrupted sweep of this process, which ends soon.
                    Err(FolderError::Busy(_)) if begun.elapsed() < BUSY => std::thread::sleep(BUSY / 50),
                    opened => return Ok((opened.map_err(|error| error.to_string())?, inner)),
                }
            }
        });
        let (folder, sweep) = opened.map_err(|why: String| errors::RecordError::new_err(why))?;
        let metric = metric.map(str::to_owned);
        Ok(SweepFolder(Mutex::new(Some(Arc::new(Open {
            folder,
            sweep,
            selection,
            metric,
        })))))
    }
}

impl Inner {
    /// The runs of a shard, and the precision of a metric.
    fn selection(
        &self,
        shard: Option<&str>,
        metric: Option<&str>,
        precision: Option<&str>,
    ) -> Result<Selection, String> {
        let columns = &self.checked.columns;
        let column = metric.map(|name| self::metric(columns, name)).transpose()?;
        let shard = shard.map(|text| text.parse::<Shard>().map_err(|why| format!("shard `{text}`: {why}")));
        let precision = precision.map(|text| {
            text.parse::<Precision>()
                .map_err(|why| format!("precision `{text}`: {why}"))
        });
        let target = match (column, precision.transpose()?) {
            (Some(column), Some(precision)) => Some(Target::new(columns, column, precision)?),
            (None, Some(_)) => return Err("a precision needs a metric".to_owned()),
            (_, None) => None,
        };
        Ok(Selection {
            shard: shard.transpose()?,
            target,
        })
    }
}

/// The open folder of a sweep. It is locked until it is closed.
#[pyclass(frozen, module = "netburn_runtime")]
pub(crate) struct SweepFolder(Mutex<Option<Arc<Open>>>);

struct Open {
    folder: Folder,
    sweep: Arc<Inner>,
    selection: Selection,
    /// Column of the charts and of the effects.
    metric: Option<String>,
}

impl Open {
    /// The plan of a run.
    fn plan(&self, py: Python<'_>, run: u64) -> PyResult<Plan> {
        let grid = &self.sweep.grid;
        if run >= grid.runs() {
            return Err(PyValueError::new_err(format!(
                "found run {run}, expected up to {}",
                grid.runs() - 1
            )));
        }
        grid.plan(run).map_err(|error| errors::scenario(py, &error))
    }
}

impl SweepFolder {
    fn opened(&self) -> PyResult<Arc<Open>> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone()
            .ok_or_else(|| errors::RecordError::new_err("the folder of the sweep is closed"))
    }
}

#[pymethods]
impl SweepFolder {
    /// Path of the folder.
    #[getter]
    fn path(&self) -> PyResult<PathBuf> {
        Ok(self.opened()?.folder.path().to_owned())
    }

    /// Unfinished runs that can be executed now, numbered from 0, and the maximum number of unfinished runs.
    fn due(&self) -> PyResult<(Vec<u64>, u64)> {
        let open = self.opened()?;
        let due = open.folder.due(&open.sweep.grid, &open.selection);
        Ok((due.runs, due.left))
    }

    /// Adds the finished runs of another folder of the same sweep. Returns their number.
    fn merge(&self, py: Python<'_>, other: PathBuf) -> PyResult<u64> {
        let open = self.opened()?;
        py.detach(|| open.folder.merge(&other, &open.sweep.grid))
            .map_err(|error| errors::RecordError::new_err(error.to_string()))
    }

    /// Unlocks the folder. Work that was interrupted and has not ended yet holds the lock until its end.
    fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Simulates the unfinished runs on `threads` threads. Returns the number of runs that are still unfinished.
    #[pyo3(signature = (threads=None, progress=None))]
    fn run(&self, py: Python<'_>, threads: Option<usize>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let (share, cancel) = (Share::default(), Cancel::default());
        let (shown, stop, open) = (share.clone(), cancel.clone(), self.opened()?);
        let threads = threads.unwrap_or_else(processors).max(1);
        let done = perform(py, progress, &share, &cancel, move || {
            let report = |progress: Progress| shown.set(progress.share.clamp(0.0, 1.0));
            run_all(&open.sweep.grid, &open.folder, &open.selection, threads, &stop, &report)
        })?;
        done.map_err(|error| failed(&error))
    }

    /// The plan of a run as a JSON document, for `simulate_plan`.
    fn plan(&self, py: Python<'_>, run: u64) -> PyResult<String> {
        let open = self.opened()?;
        Ok(open.plan(py, run)?.to_json().to_string())
    }

    /// Stores the summary of a run, a JSON document of `simulate_plan`.
    fn keep(&self, py: Python<'_>, run: u64, summary: &str) -> PyResult<()> {
        let open = self.opened()?;
        let grid = &open.sweep.grid;
        let summary: Summary = serde_json::from_str(summary)
            .map_err(|error| PyValueError::new_err(format!("invalid summary: {error}")))?;
        let expected = open.plan(py, run)?.seed.0;
        if summary.seed != expected {
            return Err(PyValueError::new_err(format!(
                "found a summary of seed {}, expected seed {expected} for run {run}",
                summary.seed
            )));
        }
        py.detach(|| open.folder.keep(grid, run, summary))
            .map_err(|error| errors::RecordError::new_err(error.to_string()))
    }

    /// Returns the rows of all finished runs, the medians of all cells, the effects in words, and the maximum number of
    /// unfinished runs of all shards. Writes the result files, unless runs of other shards are unfinished.
    fn finish(&self, py: Python<'_>) -> PyResult<(Table, Table, Vec<String>, u64)> {
        let open = self.opened()?;
        let (grid, metric) = (&open.sweep.grid, open.metric.as_deref());
        let done = py.detach(|| {
            let left = open.folder.remaining(grid, &open.selection)?;
            let rows = open.folder.rows(grid);
            if open.selection.shard.is_none() || left == 0 {
                write_results(&open.folder, grid, &rows, metric)?;
            }
            let effects = Effects::new(grid, &rows, rows.metric_or_default(metric));
            Ok((rows, effects.sentences, left))
        });
        let (rows, effects, left) =
            done.map_err(|error: FolderError| errors::RecordError::new_err(error.to_string()))?;
        Ok((
            Table::of_sweep(&rows),
            Table::of_cells(&Cells::new(&rows)),
            effects,
            left,
        ))
    }
}

fn failed(error: &SweepError) -> PyErr {
    match error {
        SweepError::Folder(error) => errors::RecordError::new_err(error.to_string()),
        error => errors::RunError::new_err(error.to_string()),
    }
}

/// Simulates a plan and returns its summary, both as JSON documents. `name` replaces the folder in the summary.
#[pyfunction]
fn simulate_plan(py: Python<'_>, plan: &str, name: String) -> PyResult<String> {
    let plan: serde_json::Value =
        serde_json::from_str(plan).map_err(|error| PyValueError::new_err(format!("invalid plan: {error}")))?;
    let (plan, _) = Document::from_json(&plan)
        .resolve_for(Environment::Simulate)
        .map_err(|error| errors::scenario(py, &error))?;
    let cancel = Cancel::default();
    let stop = cancel.clone();
    let summary = perform(py, None, &Share::default(), &cancel, move || {
        netburn_simulate::summary(&plan, &name, &mut |_| {
            if stop.is_stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
    })?;
    let summary = summary.map_err(|error| errors::RunError::new_err(error.to_string()))?;
    let summary = summary.expect("only an exception cancels the simulation, and it was returned");
    Ok(serde_json::to_string(&summary).expect("a summary has only text for keys"))
}
