//! `netburn crosscheck --against lab`: the same scenarios in the simulator and in the lab.

mod cases;
mod ends;
mod flow;
mod grid;
mod judge;
mod page;
mod stored;

use super::{Folder, believed};
use crate::args::{Against, CrosscheckArgs, CrosscheckFormat};
use crate::exit::{CliError, ExitStatus};
use crate::record::document;
use crate::run;
use crate::terminal::{eprint_message, print_stdout};
use cases::Case;
use judge::{Figure, Kind, Outcome};
use netburn_record::Summary;
use netburn_record::summary::WorkloadSummary;
use netburn_scenario::{Document, Environment, Plan, load};
use page::{Compared, Judged};
use std::path::Path;
use stored::Stored;

pub(crate) use ends::flow;

/// How often a case runs in the lab before it is said to be inconclusive; of the quick ones.
const TRIES: u32 = 3;
const QUICK_TRIES: u32 = 2;
/// Where the results of the grid of TCP over a wire are stored.
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
        return Err(CliError::Usage(format!("no such case; there are {}", names.join(", "))));
    }
    let folder = Folder::new();
    // Cases of a few seconds are not what is stored.
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
        let case = match stored.as_ref().and_then(|stored| stored.of(case)) {
            Some(figures) => judged(case, figures, Vec::new()),
            None => {
                let (figures, doubts) = measured(case, args, &folder.0)?;
                if let Some(stored) = stored.as_ref().filter(|_| doubts.is_empty()) {
                    stored.add(&case.name, &figures)?;
                }
                judged(case, figures, doubts)
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
    let fault = |case: &Compared| case.figures.iter().any(Judged::is_fault);
    Ok(match all.iter().any(fault) {
        true => ExitStatus::OutOfTolerance,
        false if all.iter().any(|case| !case.doubts.is_empty()) => ExitStatus::NotMeasured,
        false => ExitStatus::Success,
    })
}

/// Runs a few seconds once.
fn shorten(case: &mut Case) {
    case.runs = 1;
    if case.flows.is_none() {
        case.set.push(("duration".to_owned(), "8 s".to_owned()));
    }
}

/// The plan of a case, and what the environment takes no notice of.
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

/// The values of a case in both environments, and why they are unreliable.
fn measured(case: &Case, args: &CrosscheckArgs, folder: &Path) -> Result<(Vec<Figure>, Vec<String>), CliError> {
    let believed = |doubts| believed(args, doubts);
    let tries = if args.quick { QUICK_TRIES } else { TRIES };
    let (plan, _) = plan(case, Environment::Lab)?;
    let plan = Plan {
        repeat: case.runs,
        ..plan
    };
    Ok(match case.flows {
        Some(flows) => {
            let simulated = flow::simulated(&plan, flows)?;
            let (mut lab, mut doubts) = (Vec::new(), Vec::new());
            for _ in 0..tries {
                (lab, doubts) = flow::in_lab(&plan, flows)?;
                doubts = believed(doubts);
                if doubts.is_empty() {
                    break;
                }
            }
            let each = plan.stations.iter().zip(simulated).zip(lab);
            let figure = |((station, simulated), lab): ((&netburn_scenario::plan::Station, f64), f64)| Figure {
                what: format!("{}, Mbit/s", station.name),
                kind: Kind::Datagrams,
                simulator: vec![simulated],
                lab: vec![lab],
            };
            (each.map(figure).collect(), doubts)
        }
        None => {
            let simulated = run::of(&plan, Environment::Simulate, &folder.join("simulate"))?;
            let mut lab = run::of(&plan, Environment::Lab, &folder.join("lab"))?;
            for _ in 1..tries {
                if believed(lab.self_check.reasons.clone()).is_empty() {
                    break;
                }
                lab = run::of(&plan, Environment::Lab, &folder.join("lab"))?;
            }
            let mut figures = figures(&simulated, &lab);
            if case.over_a_wire {
                figures.retain(|figure| figure.kind == Kind::Goodput);
                figures.iter_mut().for_each(|figure| figure.kind = Kind::Wire);
            }
            (figures, believed(lab.self_check.reasons))
        }
    })
}

/// A case with the outcome of each of its values.
fn judged(case: &Case, figures: Vec<Figure>, doubts: Vec<String>) -> Compared {
    let judged = |figure: Figure| Judged {
        // Whatever is in doubt, all flows of a case share its air.
        outcome: if doubts.is_empty() {
            figure.outcome()
        } else {
            Outcome::Doubted
        },
        known: case
            .known
            .iter()
            .find(|(what, _)| figure.what.starts_with(what))
            .map(|(_, why)| *why),
        figure,
    };
    Compared {
        figures: figures.into_iter().map(judged).collect(),
        name: case.name.clone(),
        group: case.group,
        runs: case.runs,
        doubts,
    }
}

/// What two runs have in common, each figure of every repeat.
fn figures(simulated: &Summary, lab: &Summary) -> Vec<Figure> {
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
            all.push(Figure {
                what: format!("{} together, Mbit/s", station.name),
                kind: Kind::Goodput,
                simulator: together(simulated),
                lab: together(lab),
            });
        }
        for (w, workload) in station.workloads.iter().enumerate() {
            let of = |run: &Summary, figure: &dyn Fn(&WorkloadSummary) -> Option<f64>| {
                let each = each_run(run)
                    .iter()
                    .filter_map(|run| figure(run.stations.get(s)?.workloads.get(w)?));
                each.collect::<Vec<f64>>()
            };
            let mut add = |what: &str, kind, figure: &dyn Fn(&WorkloadSummary) -> Option<f64>| {
                all.push(Figure {
                    what: format!("{} {}{what}", station.name, workload.name),
                    kind,
                    simulator: of(simulated, figure),
                    lab: of(lab, figure),
                });
            };
            match workload.kind.as_str() {
                "download" | "upload" => add(", Mbit/s", Kind::Goodput, &|of| Some(of.throughput_mbps)),
                "stream" => {}
                _ => add(", p50 ms", Kind::Median, &|of| of.latency_ms.p50),
            }
            if !workload.goals.is_empty() {
                // The worst goal's: a self-check's doubt is told apart.
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

/// The runs that a summary is of.
fn each_run(summary: &Summary) -> &[Summary] {
    if summary.repeats.is_empty() {
        std::slice::from_ref(summary)
    } else {
        &summary.repeats
    }
}
