//! `netburn-dev twin`.

use super::{program, run_plan, temporary_folder};
use crate::args::TwinArgs;
use crate::exit::{CliError, ExitStatus, eprint_message, print_stdout};
use netburn_dev::store::Store;
use netburn_dev::twin::{CheckError, Extent, HouseResult, Truth, check, page};
use netburn_fit::houses::House;
use netburn_record::{Run, Summary};
use netburn_runner::pool::processors;
use netburn_runner::{Lab, RunEnvironment};
use netburn_scenario::{Document, Environment, Plan};
use netburn_units::Seed;
use std::path::{Path, PathBuf};

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
        let house = House::random(Seed(number), args.stations.into());
        let result = if args.lab {
            in_lab(&house, number, args)?
        } else {
            simulated(&house, number, args)?
        };
        eprint_message(&format!(
            "house {number}: {} stations, misfit {:.1}, queue {} found as {}",
            result.stations,
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
    let folder = temporary_folder()?;
    let lab = Lab::new(&program()?);
    let document = Document::from_toml("house", &house.scenario()).map_err(CliError::failed)?;
    let (plan, _) = document.resolve_for(Environment::Lab).map_err(CliError::failed)?;
    let run = run_plan(&plan, &lab, &folder.path().join("measurement"))?;
    let truth = Truth {
        run: &|plan| in_lab_once(plan, &lab, folder.path()),
        is_real_time: true,
    };
    let extent = if args.fits { Extent::Fit } else { Extent::Played(&truth) };
    check(house, number, &run, threads(args), &extent).map_err(CliError::failed)
}

fn in_lab_once(plan: &Plan, lab: &dyn RunEnvironment, folder: &Path) -> Result<Vec<Summary>, CheckError> {
    let document = Document::from_json(&plan.to_json());
    let (plan, _) = document.resolve_for(Environment::Lab)?;
    let run: Run = run_plan(&plan, lab, &folder.join("changed")).map_err(|error| CheckError::Lab(error.message()))?;
    Ok(vec![run.summary().clone()])
}
