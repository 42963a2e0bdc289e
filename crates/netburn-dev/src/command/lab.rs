//! `netburn-dev crosscheck --against lab`: the same scenarios in the simulator and in the lab.

use super::{ATTEMPTS, program, run_plan, temporary_folder, unaccepted_issues, until_reliable};
use crate::args::{Against, CrosscheckArgs, FlowEnd, Format};
use crate::exit::{CliError, ExitStatus, eprint_message, print_stdout};
use netburn_dev::conformance::datagrams::simulated;
use netburn_dev::conformance::{
    Case, Comparison, Kind, Metric, MetricResult, Point, cases, compare, grid, metrics, page,
};
use netburn_dev::flows;
use netburn_dev::store::Store;
use netburn_runner::{Lab, Simulation, open_lab};
use netburn_scenario::Environment;
use netburn_scenario::plan::Station;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// [`ATTEMPTS`] of the cases of `--quick`.
const QUICK_ATTEMPTS: u32 = 2;
/// Default path of the stored results of the grid of TCP over a wire.
const KERNEL_RESULTS: &str = "validation/crosscheck/kernel.jsonl";

/// `netburn-dev crosscheck --against lab`, or `kernel`.
pub(super) fn crosscheck(args: &CrosscheckArgs) -> Result<ExitStatus, CliError> {
    let asked =
        |case: &Case| args.cases.is_empty() || args.cases.iter().any(|name| case.name.starts_with(name.as_str()));
    let known = || match args.against {
        Against::Kernel => grid::all(),
        Against::Lab | Against::Ns3 => cases::all(),
    };
    let mut chosen: Vec<Case> = known().into_iter().filter(asked).collect();
    if args.quick {
        chosen.retain(|case| case.quick);
        chosen.iter_mut().for_each(Case::shorten);
    }
    if chosen.is_empty() {
        let names: Vec<String> = known().into_iter().map(|case| case.name).collect();
        return Err(CliError::Usage(format!(
            "unknown case: expected one of {}",
            names.join(", ")
        )));
    }
    let folder = temporary_folder()?;
    // The results of `--quick` are too short to be stored.
    let mut store = match args.against {
        Against::Kernel if !args.quick => {
            let path = args.results.as_deref().unwrap_or(Path::new(KERNEL_RESULTS));
            Some(Store::<Point>::open(path)?)
        }
        Against::Kernel | Against::Lab | Against::Ns3 => None,
    };
    let mut all = Vec::new();
    for case in &mut chosen {
        case.runs = args.repeat.unwrap_or(case.runs);
        eprint_message(&format!("{}:", case.name));
        let point = store.as_ref().and_then(|store| store.get(&case.name));
        let case = match point.and_then(|point| point.metric(case)) {
            Some(metric) => compare(case, vec![metric], Vec::new()),
            None => {
                let (metrics, quality_issues) = measure(case, args, folder.path())?;
                if let (Some(store), [metric], []) = (&mut store, &metrics[..], &quality_issues[..]) {
                    store.append(Point::new(case, metric))?;
                }
                compare(case, metrics, quality_issues)
            }
        };
        page::lines(&case).iter().for_each(|line| eprint_message(line));
        all.push(case);
    }
    let text = match args.format {
        Format::Text => page::text(&all),
        Format::Markdown => page::markdown(&all),
    };
    print_stdout(&text)?;
    let fault = |case: &Comparison| case.results.iter().any(MetricResult::is_fault);
    Ok(if all.iter().any(fault) {
        ExitStatus::OutOfTolerance
    } else if all.iter().any(|case| !case.quality_issues.is_empty()) {
        ExitStatus::NotMeasured
    } else {
        ExitStatus::Success
    })
}

/// Measures a case in both environments. Returns its metrics and the quality issues of the lab.
fn measure(case: &Case, args: &CrosscheckArgs, folder: &Path) -> Result<(Vec<Metric>, Vec<String>), CliError> {
    let attempts = if args.quick { QUICK_ATTEMPTS } else { ATTEMPTS };
    let plan = case
        .plan(Environment::Lab)
        .map_err(|error| CliError::Usage(error.render(false)))?;
    Ok(match case.flows {
        Some(flows) => {
            let simulated = simulated(&plan, flows).map_err(|error| CliError::Usage(error.to_string()))?;
            let (lab, quality_issues) = until_reliable(attempts, || {
                let opened = open_lab(&plan, &program()?)?;
                let measured = flows::in_lab(&opened, &program()?, &plan, flows).map_err(CliError::failed)?;
                let mut issues: Vec<String> = measured.flow_issues.iter().map(ToString::to_string).collect();
                issues.extend(unaccepted_issues(args, &measured.lab_issues));
                Ok((measured.goodput_mbps, issues))
            })?;
            let each = plan.stations.iter().zip(simulated).zip(lab);
            let metric = |((station, simulated), lab): ((&Station, f64), f64)| Metric {
                name: format!("{}, Mbit/s", station.name),
                kind: Kind::Datagrams,
                simulator: vec![simulated],
                lab: vec![lab],
            };
            (each.map(metric).collect(), quality_issues)
        }
        None => {
            let simulated = run_plan(&plan, &Simulation::default(), &folder.join("simulate"))?;
            let environment = Lab::new(&program()?);
            let (lab, quality_issues) = until_reliable(attempts, || {
                let lab = run_plan(&plan, &environment, &folder.join("lab"))?;
                let issues = unaccepted_issues(args, &lab.summary().self_check.reasons);
                Ok((lab, issues))
            })?;
            (metrics(case, simulated.summary(), lab.summary()), quality_issues)
        }
    })
}

/// `netburn-dev flow`: runs an endpoint of a flow in a lab, and prints its counters.
pub(crate) fn flow(end: &FlowEnd) -> Result<ExitStatus, CliError> {
    let counters = match *end {
        FlowEnd::Send { to, rate, milliseconds } => {
            flows::send(to, rate, Duration::from_millis(milliseconds)).map(|sent| json!(sent))
        }
        FlowEnd::Receive {
            port,
            warmup,
            milliseconds,
        } => {
            let (warmup, span) = (Duration::from_millis(warmup), Duration::from_millis(milliseconds));
            flows::receive(port, warmup, span, || println!("{}", flows::READY)).map(|received| json!(received))
        }
    };
    println!("{}", counters.map_err(CliError::failed)?);
    Ok(ExitStatus::Success)
}
