//! Simulated runs and records.

use crate::errors;
use crate::scenario::Scenario;
use crate::table::Table;
use crate::work::{Share, perform};
use netburn_analysis::compare::{Comparison, Options, Side};
use netburn_analysis::explain::{Explanation, explain};
use netburn_record::metrics::{Measured, Unit, of_run, of_station, of_workload};
use netburn_record::{Header, MemoryRecorder, Recorder, RunTable, Sink as _};
use netburn_report::compare as compared;
use netburn_runner::pool::processors;
use netburn_runner::{Cancel, Event, RunControl, RunEnvironment as _, RunError, Simulation};
use netburn_scenario::{Environment, Plan};
use netburn_study::causes::{Simulator, plan_of, simulated};
use netburn_study::whatif::{Change, Interventions, answer, json, propose, repeated};
use netburn_units::Instant;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Run>()?;
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    module.add_function(wrap_pyfunction!(read_record, module)?)
}

/// Width of texts in columns.
const TEXT_WIDTH: usize = 100;

/// Station, workload, and values by metric.
type Metrics<'a> = (&'a str, &'a str, Vec<(&'static str, Option<f64>)>);

/// Values of metrics. A verdict is no number here. A percentile among operations that never ended has no value, as in the
/// summary.
fn values(of: &[Measured]) -> Vec<(&'static str, Option<f64>)> {
    of.iter()
        .filter(|measured| measured.quantity.unit != Unit::Verdict && measured.goal.is_none_or(|goal| goal == 0))
        .map(|measured| (measured.quantity.name, measured.value.filter(|value| value.is_finite())))
        .collect()
}

/// A run: its summary, likely causes and tables.
#[pyclass(frozen, module = "netburn_runtime")]
pub(crate) struct Run {
    pub(crate) run: Arc<netburn_record::Run>,
    /// False for a record on disk.
    in_memory: bool,
}

#[pymethods]
impl Run {
    /// Folder of the record; `None` for a run in memory.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        (!self.in_memory).then(|| self.run.path().to_owned())
    }

    /// Names of the tables.
    #[staticmethod]
    fn table_names() -> Vec<&'static str> {
        RunTable::ALL.map(RunTable::name).to_vec()
    }

    /// Returns the summary as a JSON document: the one of `netburn report --format json`.
    fn summary(&self) -> String {
        serde_json::to_string(self.run.summary()).expect("a summary has only text for keys")
    }

    /// Returns the metrics by their names in sweeps, with the station and the workload that they describe. The station is
    /// empty for metrics of the run, and the workload for those of a station. Of several goals the first one counts.
    fn metrics(&self) -> Vec<Metrics<'_>> {
        let summary = self.run.summary();
        let mut all = vec![("", "", values(&of_run(summary)))];
        for station in &summary.stations {
            all.push((&station.name, "", values(&of_station(station))));
            let workloads = station.workloads.iter();
            all.extend(workloads.map(|of| (station.name.as_str(), of.name.as_str(), values(&of_workload(of)))));
        }
        all
    }

    /// Returns the plan as a JSON document.
    fn plan(&self) -> String {
        self.run.header().plan.to_json().to_string()
    }

    /// Returns the likely causes as a JSON document, and as sentences.
    fn explain(&self, py: Python<'_>) -> PyResult<(String, Vec<String>)> {
        let explanation = py
            .detach(|| explain(&self.run))
            .map_err(|error| errors::record(&error))?;
        let document = serde_json::to_string(&explanation).expect("an explanation has only text for keys");
        Ok((document, sentences(&explanation)))
    }

    /// Simulates changes for the likely causes, `runs` times each, on `threads` threads. Returns the JSON document of
    /// `netburn explain --format json`, and the causes as sentences.
    #[pyo3(signature = (runs, duration=None, threads=None, progress=None))]
    fn explain_with_changes(
        &self,
        py: Python<'_>,
        runs: usize,
        duration: Option<String>,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Vec<String>)> {
        let (share, cancel) = (Share::default(), Cancel::default());
        let (shown, stop, run) = (share.clone(), cancel.clone(), Arc::clone(&self.run));
        let threads = threads.unwrap_or_else(processors).max(1);
        let explained = perform(py, progress, &share, &cancel, move || {
            let rules = explain(&run).map_err(Unexplained::Record)?;
            if runs == 0 {
                return Ok((run, rules, Interventions::default(), None));
            }
            let explanation = match plan_of(&run) {
                Some(plan) => simulated(&run, &plan, &rules, &Simulator::new(threads, &stop, &|_| ())).0,
                None => rules,
            };
            let proposed = propose(
                &run.header().plan,
                run.summary(),
                &explanation.causes,
                duration.as_deref(),
            )
            .map_err(Unexplained::Scenario)?;
            let Some(plan) = &proposed.plan else {
                return Ok((run, explanation, proposed.changes, None));
            };
            let report = |done: u64, all: u64| shown.set(done as f64 / all.max(1) as f64);
            let changes = proposed.changes.what_ifs.iter().cloned().map(Change::from).collect();
            match answer(&repeated(plan, runs), changes, threads, &stop, &report) {
                Ok(answers) => Ok((run, explanation, proposed.changes, Some(answers))),
                Err(error) => Ok((run, explanation, Interventions::not_simulated(&error), None)),
            }
        })?;
        let (run, explanation, changes, answers) = explained.map_err(|error| match error {
            Unexplained::Record(error) => errors::record(&error),
            Unexplained::Scenario(error) => errors::scenario(py, &error),
        })?;
        let document = json(&run.path().to_string_lossy(), &explanation, &changes, answers.as_ref());
        Ok((document.to_string(), sentences(&explanation)))
    }

    /// Returns a table.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let table = RunTable::ALL.into_iter().find(|table| table.name() == name);
        let table = table.ok_or_else(|| {
            let known = RunTable::ALL.map(RunTable::name).join(", ");
            PyValueError::new_err(format!("unknown table `{name}`; expected one of {known}"))
        })?;
        py.detach(|| Table::of_run(&self.run, table))
            .map_err(|error| errors::record(&error))
    }

    /// Writes the record to a folder, or to `FOLDER-2` and so on if it exists. Returns the run of that folder.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Run> {
        if !self.in_memory {
            return Err(errors::RecordError::new_err(format!(
                "the run is already recorded in {}",
                self.run.path().display()
            )));
        }
        let saved = py.detach(|| {
            let mut recorder = Recorder::create(&folder, self.run.header().clone())?;
            let mut stored = Ok(());
            self.run.rows(&mut |row| {
                if stored.is_ok() {
                    stored = recorder.put(&row);
                }
            })?;
            stored.map_err(|source| netburn_record::Error::Io {
                path: recorder.path().to_owned(),
                source,
            })?;
            recorder.finish(self.run.status())
        });
        let run = saved.map_err(|error| errors::record(&error))?;
        Ok(Run {
            run: Arc::new(run),
            in_memory: false,
        })
    }
}

/// Simulates one run of a scenario. Returns the run, and notes on keys without effect in the simulator.
#[pyfunction]
#[pyo3(signature = (scenario, seed=None, progress=None))]
fn simulate(
    py: Python<'_>,
    scenario: &Scenario,
    seed: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Run, Vec<String>)> {
    let mut document = scenario.document.clone();
    if let Some(seed) = seed {
        document
            .set("seed", &seed.to_string())
            .map_err(|error| errors::scenario(py, &error))?;
    }
    let (share, cancel) = (Share::default(), Cancel::default());
    let (shown, control) = (share.clone(), cancel.clone());
    let simulated = perform(py, progress, &share, &cancel, move || {
        let (plan, notes) = document.resolve_for(Environment::Simulate).map_err(Failure::Scenario)?;
        if plan.repeat > 1 {
            return Err(Failure::Repeat(plan.repeat));
        }
        let run = in_memory(&plan, control, &shown).map_err(Failure::Run)?;
        Ok((run, notes))
    })?;
    match simulated {
        Ok((run, notes)) => {
            let run = Run {
                run: Arc::new(run),
                in_memory: true,
            };
            Ok((run, notes))
        }
        Err(Failure::Scenario(error)) => Err(errors::scenario(py, &error)),
        Err(Failure::Run(error)) => Err(errors::run(py, &error)),
        Err(Failure::Repeat(repeat)) => Err(PyValueError::new_err(format!(
            "the scenario has repeat = {repeat}, and a simulation is one run\n\
             help: change the scenario with {{\"repeat\": 1}}, or use a sweep with repeat={repeat}"
        ))),
    }
}

/// The likely causes as lines of text.
fn sentences(explanation: &Explanation) -> Vec<String> {
    // Without a limit each text is one line. The first two lines are empty and the heading.
    let lines = netburn_report::causes::lines(explanation, usize::MAX, false);
    lines.into_iter().skip(2).collect()
}

enum Unexplained {
    Record(netburn_record::Error),
    Scenario(netburn_scenario::ScenarioError),
}

enum Failure {
    Scenario(netburn_scenario::ScenarioError),
    Run(RunError),
    Repeat(u32),
}

/// Simulates a plan and keeps the rows in memory.
fn in_memory(plan: &Plan, cancel: Cancel, share: &Share) -> Result<netburn_record::Run, RunError> {
    let begin = Instant::ZERO - plan.baseline;
    let length = (plan.baseline + plan.settled()).as_nanos().max(1) as f64;
    let observer = |event: Event<'_>| {
        if let Event::Tick(now) = event {
            share.set(now.since(begin).as_nanos() as f64 / length);
        }
    };
    let control = RunControl::new(cancel, &observer);
    let mut recorder = MemoryRecorder::new(Header::simulated(plan.clone()));
    let status = Simulation::new(1)
        .prepare(plan, &control)?
        .run(None, &mut recorder, &control)?;
    Ok(recorder.finish(&plan.name, &status))
}

/// Compares runs with those of a baseline. Returns the JSON document of `netburn compare --format json`, and its text.
#[pyfunction]
#[pyo3(signature = (these, against, name, baseline, tolerance=None))]
fn compare(
    py: Python<'_>,
    these: Vec<PyRef<'_, Run>>,
    against: Vec<PyRef<'_, Run>>,
    name: &str,
    baseline: &str,
    tolerance: Option<f64>,
) -> (String, String) {
    let side = |name: &str, runs: Vec<PyRef<'_, Run>>| {
        let mut side = Side::new(name);
        for run in runs {
            side.add(&run.run);
        }
        side
    };
    let (these, against) = (side(name, these), side(baseline, against));
    let options = Options {
        tolerance,
        ..Options::default()
    };
    py.detach(|| {
        let comparison = Comparison::new(these, against, options);
        let text = compared::text::comparison(&comparison, TEXT_WIDTH, false);
        (compared::json::comparison(&comparison).to_string(), text)
    })
}

/// Opens the record in a folder. Nothing is written: of a run that was killed, the rows on the disk are read.
#[pyfunction]
fn read_record(py: Python<'_>, folder: PathBuf) -> PyResult<Run> {
    let run = py
        .detach(|| netburn_record::Run::open(&folder))
        .map_err(|error| errors::record(&error))?;
    Ok(Run {
        run: Arc::new(run),
        in_memory: false,
    })
}
