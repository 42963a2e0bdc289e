//! `netburn crosscheck --against lab`: the same scenarios in the simulator and in the lab.

mod cases;
mod flow;
mod grid;
mod judge;
mod page;
mod stored;
mod udp_flow;

use super::{Folder, unaccepted_issues};
use crate::args::{Against, CrosscheckArgs, CrosscheckFormat};
use crate::exit::{CliError, ExitStatus};
use crate::record::document;
use crate::run;
use crate::terminal::{eprint_message, print_stdout};
use cases::Case;
use judge::{Kind, Metric, Outcome};
use netburn_record::summary::WorkloadSummary;
use netburn_record::{QualityIssue, Summary};
use netburn_scenario::{Document, Environment, Plan, load};
use page::{Comparison, MetricResult};
use std::path::Path;
use stored::Stored;

pub(crate) use udp_flow::flow;

/// Maximum number of lab runs of a case before its result is inconclusive.
const TRIES: u32 = 3;
/// The same for the cases of `--quick`.
const QUICK_TRIES: u32 = 2;
/// Default path of the stored results of the grid of TCP over a wire.
const KERNEL_RESULTS: &str = "validation/crosscheck/kernel.jsonl";

/// `netburn crosscheck --against lab`, or `kernel`.
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
        chosen.iter_mut().for_each(shorten);
    }
    if chosen.is_empty() {
        let names: Vec<String> = known().into_iter().map(|case| case.name).collect();
        return Err(CliError::Usage(format!(
            "unknown case: expected one of {}",
            names.join(", ")
        )));
    }
    let folder = Folder::new();
    // The results of `--quick` are too short to be stored.
    let stored = match args.against {
        Against::Kernel if !args.quick => Some(Stored::open(
            args.results.as_deref().unwrap_or(Path::new(KERNEL_RESULTS)),
        )?),
        Against::Kernel | Against::Lab | Against::Ns3 => None,
    };
    let mut all = Vec::new();
    for case in &mut chosen {
        case.runs = args.repeat.unwrap_or(case.runs);
        eprint_message(&format!("{}:", case.name));
        let case = match stored.as_ref().and_then(|stored| stored.metrics(case)) {
            Some(metrics) => compared(case, metrics, Vec::new()),
            None => {
                let (metrics, quality_issues) = measure(case, args, &folder.0)?;
                if let Some(stored) = stored.as_ref().filter(|_| quality_issues.is_empty()) {
                    stored.add(&case.name, &metrics)?;
                }
                compared(case, metrics, quality_issues)
            }
        };
        page::lines(&case).iter().for_each(|line| eprint_message(line));
        all.push(case);
    }
    let text = match args.format {
        CrosscheckFormat::Text => page::text(&all),
        CrosscheckFormat::Markdown => page::markdown(&all),
        CrosscheckFormat::Json => document(&page::json(&all)),
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

/// Reduces a case to one run of a few seconds.
fn shorten(case: &mut Case) {
    case.runs = 1;
    if case.flows.is_none() {
        case.set.push(("duration".to_owned(), "8 s".to_owned()));
    }
}

/// The plan of a case, and notes on the keys that the environment ignores.
fn plan(case: &Case, environment: Environment) -> Result<(Plan, Vec<String>), CliError> {
    let wrong = |error: netburn_scenario::ScenarioError| CliError::Usage(error.render(false));
    let mut document = if case.scenario.contains('\n') {
        Document::from_toml(&case.name, &case.scenario).map_err(wrong)?
    } else {
        load(&case.scenario).map_err(wrong)?
    };
    for (key, value) in &case.set {
        document.set(key, value).map_err(wrong)?;
    }
    document.resolve_for(environment).map_err(wrong)
}

/// Measures a case in both environments. Returns its metrics and the quality issues of the lab.
fn measure(case: &Case, args: &CrosscheckArgs, folder: &Path) -> Result<(Vec<Metric>, Vec<String>), CliError> {
    let unaccepted = |issues: &[QualityIssue]| unaccepted_issues(args, issues);
    let tries = if args.quick { QUICK_TRIES } else { TRIES };
    let (plan, _) = plan(case, Environment::Lab)?;
    let plan = Plan {
        repeat: case.runs,
        ..plan
    };
    Ok(match case.flows {
        Some(flows) => {
            let simulated = flow::simulated(&plan, flows)?;
            let (mut lab, mut quality_issues) = (Vec::new(), Vec::new());
            for _ in 0..tries {
                let measured = flow::in_lab(&plan, flows)?;
                (lab, quality_issues) = (measured.goodput_mbps, measured.flow_issues);
                quality_issues.extend(unaccepted(&measured.lab_issues));
                if quality_issues.is_empty() {
                    break;
                }
            }
            let each = plan.stations.iter().zip(simulated).zip(lab);
            let metric = |((station, simulated), lab): ((&netburn_scenario::plan::Station, f64), f64)| Metric {
                name: format!("{}, Mbit/s", station.name),
                kind: Kind::Datagrams,
                simulator: vec![simulated],
                lab: vec![lab],
            };
            (each.map(metric).collect(), quality_issues)
        }
        None => {
            let simulated = run::run_plan(&plan, Environment::Simulate, &folder.join("simulate"))?;
            let mut lab = run::run_plan(&plan, Environment::Lab, &folder.join("lab"))?;
            for _ in 1..tries {
                if unaccepted(&lab.self_check.reasons).is_empty() {
                    break;
                }
                lab = run::run_plan(&plan, Environment::Lab, &folder.join("lab"))?;
            }
            let mut metrics = metrics(&simulated, &lab);
            if case.over_a_wire {
                metrics.retain(|metric| metric.kind == Kind::Goodput);
                metrics.iter_mut().for_each(|metric| metric.kind = Kind::Wire);
            }
            (metrics, unaccepted(&lab.self_check.reasons))
        }
    })
}

/// Compares each metric of a case.
fn compared(case: &Case, metrics: Vec<Metric>, quality_issues: Vec<String>) -> Comparison {
    let result = |metric: Metric| MetricResult {
        // All flows of a case share the channel, so a quality issue of one makes all of them unreliable.
        outcome: if quality_issues.is_empty() {
            metric.outcome()
        } else {
            Outcome::Unreliable
        },
        known: case
            .known
            .iter()
            .find(|(name, _)| metric.name.starts_with(name))
            .map(|(_, why)| *why),
        metric,
    };
    Comparison {
        results: metrics.into_iter().map(result).collect(),
        name: case.name.clone(),
        group: case.group,
        runs: case.runs,
        quality_issues,
    }
}

/// The metrics that both summaries have, with a value of each run.
fn metrics(simulated: &Summary, lab: &Summary) -> Vec<Metric> {
    let mut all = Vec::new();
    for (s, station) in simulated.stations.iter().enumerate() {
        let loads = |of: &&WorkloadSummary| matches!(of.kind.as_str(), "download" | "upload");
        if station.workloads.iter().filter(loads).count() > 1 {
            let together = |run: &Summary| {
                each_run(run)
                    .iter()
                    .map(|run| run.stations[s].throughput_mbps)
                    .collect()
            };
            all.push(Metric {
                name: format!("{} together, Mbit/s", station.name),
                kind: Kind::Goodput,
                simulator: together(simulated),
                lab: together(lab),
            });
        }
        for (w, workload) in station.workloads.iter().enumerate() {
            let of = |run: &Summary, metric: &dyn Fn(&WorkloadSummary) -> Option<f64>| {
                let each = each_run(run)
                    .iter()
                    .filter_map(|run| metric(run.stations.get(s)?.workloads.get(w)?));
                each.collect::<Vec<f64>>()
            };
            let mut add = |what: &str, kind, metric: &dyn Fn(&WorkloadSummary) -> Option<f64>| {
                all.push(Metric {
                    name: format!("{} {}{what}", station.name, workload.name),
                    kind,
                    simulator: of(simulated, metric),
                    lab: of(lab, metric),
                });
            };
            match workload.kind.as_str() {
                "download" | "upload" => add(", Mbit/s", Kind::Goodput, &|of| Some(of.throughput_mbps)),
                "stream" => {}
                _ => add(", p50 ms", Kind::Median, &|of| of.latency_ms.p50),
            }
            if !workload.goals.is_empty() {
                // The verdict of the worst goal. Quality issues of the self-check are reported separately.
                add(", verdict", Kind::Verdict, &|of| {
                    of.goals
                        .iter()
                        .map(|goal| page::number(goal.verdict))
                        .max_by(f64::total_cmp)
                });
            }
        }
    }
    all
}

/// The runs that a summary covers.
fn each_run(summary: &Summary) -> &[Summary] {
    if summary.repeats.is_empty() {
        std::slice::from_ref(summary)
    } else {
        &summary.repeats
    }
}
