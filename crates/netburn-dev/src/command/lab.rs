//! `netburn-dev crosscheck --against lab`: the same scenarios in the simulator and in the lab.

use super::{program, run_plan, temporary_folder, unaccepted_issues};
use crate::args::{Against, CrosscheckArgs, FlowEnd, Format};
use crate::exit::{CliError, ExitStatus, print_stdout};
use netburn_dev::conformance::datagrams::simulated;
use netburn_dev::conformance::{
    Case, Comparison, Kind, Metric, MetricResult, Stored, StoredError, cases, compare, grid, metrics, page,
};
use netburn_dev::flows;
use netburn_record::QualityIssue;
use netburn_runner::{Lab, Simulation, open_lab};
use netburn_scenario::Environment;
use netburn_scenario::plan::Station;
use std::path::Path;
use std::time::Duration;

/// Maximum number of lab runs of a case before its result is inconclusive.
const TRIES: u32 = 3;
/// The same for the cases of `--quick`.
const QUICK_TRIES: u32 = 2;
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
    let stored = match args.against {
        Against::Kernel if !args.quick => {
            let path = args.results.as_deref().unwrap_or(Path::new(KERNEL_RESULTS));
            Some(Stored::open(path).map_err(unstored)?)
        }
        Against::Kernel | Against::Lab | Against::Ns3 => None,
    };
    let mut all = Vec::new();
    for case in &mut chosen {
        case.runs = args.repeat.unwrap_or(case.runs);
        eprintln!("{}:", case.name);
        let case = match stored.as_ref().and_then(|stored| stored.metrics(case)) {
            Some(metrics) => compare(case, metrics, Vec::new()),
            None => {
                let (metrics, quality_issues) = measure(case, args, folder.path())?;
                if let Some(stored) = stored.as_ref().filter(|_| quality_issues.is_empty()) {
                    stored.add(&case.name, &metrics).map_err(unstored)?;
                }
                compare(case, metrics, quality_issues)
            }
        };
        page::lines(&case).iter().for_each(|line| eprintln!("{line}"));
        all.push(case);
    }
    let text = match args.format {
        Format::Text => page::text(&all),
        Format::Markdown => page::markdown(&all),
        Format::Json => format!("{:#}\n", page::json(&all)),
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
    let unaccepted = |issues: &[QualityIssue]| unaccepted_issues(args, issues);
    let tries = if args.quick { QUICK_TRIES } else { TRIES };
    let plan = case
        .plan(Environment::Lab)
        .map_err(|error| CliError::Usage(error.render(false)))?;
    Ok(match case.flows {
        Some(flows) => {
            let simulated = simulated(&plan, flows).map_err(|error| CliError::Usage(error.to_string()))?;
            let (mut lab, mut quality_issues) = (Vec::new(), Vec::new());
            for _ in 0..tries {
                let opened = open_lab(&plan, &program()?)?;
                let measured = flows::in_lab(&opened, &program()?, &plan, flows).map_err(CliError::failed)?;
                lab = measured.goodput_mbps;
                quality_issues = measured.flow_issues.iter().map(ToString::to_string).collect();
                quality_issues.extend(unaccepted(&measured.lab_issues));
                if quality_issues.is_empty() {
                    break;
                }
            }
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
            let in_lab = Lab::new(&program()?);
            let simulated = run_plan(&plan, &Simulation::default(), &folder.join("simulate"))?;
            let mut lab = run_plan(&plan, &in_lab, &folder.join("lab"))?;
            for _ in 1..tries {
                if unaccepted(&lab.self_check.reasons).is_empty() {
                    break;
                }
                lab = run_plan(&plan, &in_lab, &folder.join("lab"))?;
            }
            let metrics = metrics(case, &simulated, &lab);
            (metrics, unaccepted(&lab.self_check.reasons))
        }
    })
}

/// `netburn-dev flow`: runs an endpoint of a flow in a lab, and prints its counters.
pub(crate) fn flow(end: &FlowEnd) -> Result<ExitStatus, CliError> {
    let counters = match *end {
        FlowEnd::Send { to, rate, milliseconds } => {
            flows::send(to, rate, Duration::from_millis(milliseconds)).map(|sent| sent.to_string())
        }
        FlowEnd::Receive {
            port,
            warmup,
            milliseconds,
        } => {
            let (warmup, span) = (Duration::from_millis(warmup), Duration::from_millis(milliseconds));
            flows::receive(port, warmup, span, || println!("{}", flows::READY)).map(|received| received.to_string())
        }
    };
    println!("{}", counters.map_err(CliError::failed)?);
    Ok(ExitStatus::Success)
}

fn unstored(error: StoredError) -> CliError {
    match error {
        StoredError::Write { .. } => CliError::Failed(error.to_string()),
        _ => CliError::Usage(error.to_string()),
    }
}
