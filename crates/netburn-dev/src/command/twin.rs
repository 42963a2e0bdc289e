//! `netburn-dev twin`.

use super::{program, run_plan, temporary_folder};
use crate::args::TwinArgs;
use crate::exit::{CliError, ExitStatus, eprint_message, print_stdout};
use netburn_dev::store::Store;
use netburn_dev::twin::{CheckError, Extent, HouseResult, IN_REAL_TIME, Truth, changes, check, load_of, page};
use netburn_fit::houses::House;
use netburn_record::{Run, RunStatus};
use netburn_runner::Lab;
use netburn_runner::pool::processors;
use netburn_scenario::{Document, Environment, Plan};
use netburn_units::Seed;
use std::path::PathBuf;
use tempfile::TempDir;

/// Seed of a measurement, apart from those of houses.
const MEASURED: u64 = 1_000;

/// `netburn-dev twin`.
pub(crate) fn twin(args: &TwinArgs) -> Result<ExitStatus, CliError> {
    let name = if args.lab { "lab" } else { "simulate" };
    let path = args
        .results
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("validation/twin/{name}.jsonl")));
    let mut store = Store::<HouseResult>::open(&path)?;
    for number in args.houses.clone() {
        if args.stored || store.get(&number).is_some() {
            continue;
        }
        let random = if args.varied { House::varied } else { House::random };
        let house = random(Seed(number), args.stations.into());
        if args.record {
            eprint_message(&format!("house {number}: {:?}", house.traits));
            record(&house, number, args)?;
            continue;
        }
        let result = if args.lab {
            in_lab(&house, number, args)?
        } else {
            simulated(&house, number, args)?
        };
        eprint_message(&format!(
            "house {number}: {} stations {}, misfit {:.1}, queue {} found as {}",
            result.stations,
            result.traits.join(", "),
            result.misfit,
            result.discipline,
            result.found.as_deref().unwrap_or("open")
        ));
        store.append(result)?;
    }
    let stored = args.houses.clone().filter_map(|number| store.get(&number));
    print_stdout(&page::markdown(stored))?;
    Ok(ExitStatus::Success)
}

fn threads(args: &TwinArgs) -> usize {
    args.jobs.map_or_else(processors, usize::from)
}

fn simulated(house: &House, number: u64, args: &TwinArgs) -> Result<HouseResult, CliError> {
    let run = house.measure(Seed(number + MEASURED)).map_err(CliError::failed)?;
    let extent = if args.fits { Extent::Fit } else { Extent::Simulated };
    check(house, number, &run, threads(args), &extent).map_err(CliError::failed)
}

/// The house and the changed houses in the lab, one run of each.
fn in_lab(house: &House, number: u64, args: &TwinArgs) -> Result<HouseResult, CliError> {
    let runs = LabRuns::new(args, number)?;
    let run = runs.run(&measured_in_lab(house)?)?;
    let truth = Truth {
        run: &|plan| {
            let run = runs.run_load(plan)?;
            Ok(vec![run.summary().clone()])
        },
        is_real_time: true,
    };
    let extent = if args.fits { Extent::Fit } else { Extent::Played(&truth) };
    check(house, number, &run, threads(args), &extent).map_err(CliError::failed)
}

/// Plays all that a later check of the house needs before it knows a recommendation.
fn record(house: &House, number: u64, args: &TwinArgs) -> Result<(), CliError> {
    let runs = LabRuns::new(args, number)?;
    runs.run(&measured_in_lab(house)?)?;
    let all = changes(house).into_iter();
    for change in all.filter(|change| IN_REAL_TIME.contains(&change.name)) {
        let plan = load_of(house, &change.set).map_err(CliError::failed)?;
        runs.run_load(&plan).map_err(CliError::failed)?;
    }
    Ok(())
}

fn measured_in_lab(house: &House) -> Result<Plan, CliError> {
    let document = Document::from_toml("house", &house.scenario()).map_err(CliError::failed)?;
    let (plan, _) = document.resolve_for(Environment::Lab).map_err(CliError::failed)?;
    Ok(plan)
}

/// Runs of one house in the lab. A plan that was run before is read again.
struct LabRuns {
    lab: Lab,
    folder: PathBuf,
    /// The folder is deleted at the end, if the runs are not kept.
    _temporary: Option<TempDir>,
}

impl LabRuns {
    fn new(args: &TwinArgs, number: u64) -> Result<Self, CliError> {
        let (parent, temporary) = match &args.runs {
            Some(kept) => (kept.clone(), None),
            None => {
                let temporary = temporary_folder()?;
                (temporary.path().to_owned(), Some(temporary))
            }
        };
        let folder = parent.join(number.to_string());
        std::fs::create_dir_all(&folder).map_err(CliError::failed)?;
        Ok(LabRuns {
            lab: Lab::new(&program()?),
            folder,
            _temporary: temporary,
        })
    }

    /// The run of a plan.
    fn run(&self, plan: &Plan) -> Result<Run, CliError> {
        let entries = std::fs::read_dir(&self.folder).map_err(CliError::failed)?;
        let kept = entries.filter_map(|entry| Run::open(&entry.ok()?.path()).ok());
        let mut complete = kept.filter(|run| *run.status() == RunStatus::Complete);
        if let Some(run) = complete.find(|run| run.header().plan == *plan) {
            return Ok(run);
        }
        let unused = (1_u32..).map(|number| self.folder.join(number.to_string()));
        let folder = unused.into_iter().find(|path| !path.exists());
        run_plan(plan, &self.lab, &folder.expect("the numbers do not end"))
    }

    /// The run of a load, as the lab resolves its plan.
    fn run_load(&self, plan: &Plan) -> Result<Run, CheckError> {
        let (plan, _) = Document::from_json(&plan.to_json()).resolve_for(Environment::Lab)?;
        self.run(&plan).map_err(|error| CheckError::Lab(error.message()))
    }
}
