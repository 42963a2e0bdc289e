//! `netburn-dev sqm`: lines whose truth is known, measured as `netburn sqm` does it.

use super::{program, run_plan, temporary_folder};
use crate::args::SqmArgs;
use crate::exit::{CliError, ExitStatus, eprint_message, print_stdout};
use netburn_runner::{Lab, RunEnvironment, Simulation};
use netburn_scenario::{Document, Environment};
use netburn_sqm::capacity::{LIMIT, added};
use netburn_sqm::lines::{self, Line};
use netburn_sqm::report::Context;
use netburn_sqm::samples::Collector;
use netburn_sqm::stage::HEADERS_V4;
use netburn_sqm::verdict::Verdict;
use netburn_sqm::{Measured, Report, measure};
use netburn_units::BitRate;
use netburn_workload::Direction;
use std::ops::ControlFlow;
use std::path::Path;

/// Highest gross rate that the sweep of a line without a closed form tries.
const MAX_SWEPT: u64 = 40_000_000;

/// `netburn-dev sqm`.
pub(crate) fn sqm(args: &SqmArgs) -> Result<ExitStatus, CliError> {
    let folder = temporary_folder()?;
    let environment: Box<dyn RunEnvironment> = if args.lab {
        Box::new(Lab::new(&program()?))
    } else {
        Box::new(Simulation::default())
    };
    print_stdout(
        "| line | direction | packets wait | layer | rate, Mbit/s | set, Mbit/s | of the best |\n|---|---|---|---|---|---|---|\n",
    )?;
    let asked = |line: &Line| args.lines.is_empty() || args.lines.iter().any(|name| name == line.name);
    for (number, line) in lines::all().iter().enumerate().filter(|(_, line)| asked(line)) {
        let measured = measured(line, environment.as_ref(), &folder.path().join(number.to_string()))?;
        let report = Report::new(&measured, Context::default());
        if args.text {
            eprint_message(&report.text());
        }
        for own in &report.verdicts {
            print_stdout(&row(line, own))?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Plays the stages of a measurement in an environment.
fn measured(line: &Line, environment: &dyn RunEnvironment, folder: &Path) -> Result<Measured, CliError> {
    measure(HEADERS_V4, &mut |number, stage| {
        let text = stage.scenario(&line.network(), Line::station());
        let document = Document::from_toml("line", &text).map_err(CliError::failed)?;
        let kind = match environment.kind() {
            Environment::Lab => Environment::Lab,
            _ => Environment::Simulate,
        };
        let (plan, _) = document.resolve_for(kind).map_err(CliError::failed)?;
        let run = run_plan(&plan, environment, &folder.join(number.to_string()))?;
        for issue in &run.summary().self_check.reasons {
            eprint_message(&format!("{}, stage {number}: {issue}", line.name));
        }
        let mut collector = Collector::new(stage, HEADERS_V4);
        let read = run.rows_until(&mut |row| {
            collector.put(&row);
            ControlFlow::Continue(())
        });
        let _ = read.map_err(CliError::failed)?;
        Ok((collector.finish(), ControlFlow::Continue(())))
    })
}

fn row(line: &Line, own: &Verdict) -> String {
    let mega = |rate: Option<BitRate>| rate.map_or("–".to_owned(), |rate| format!("{:.2}", rate.as_mbps_f64()));
    let best = line.best(own.direction).or_else(|| swept(line, own.direction));
    let ratio = own.shaped_ip_rate().zip(best).map_or_else(
        || {
            own.reasons
                .iter()
                .map(|reason| reason.name())
                .collect::<Vec<_>>()
                .join(", ")
        },
        |(found, best)| format!("{:.1} %", found as f64 * 100.0 / best as f64),
    );
    let layer = format!("{} {}", own.layer.cells.keyword(), own.layer.overhead);
    let layer = match (own.is_identified, own.is_from_other) {
        (true, _) => layer,
        (false, true) => format!("{layer} of the other direction"),
        (false, false) => format!("not visible: {layer}"),
    };
    let queue = own
        .queue
        .map_or("–".to_owned(), |queue| format!("{queue:?}").to_lowercase());
    let direction = own.direction.key();
    format!(
        "| {} | {direction} | {queue} | {layer} | {} | {} | {ratio} |\n",
        line.name,
        mega(own.line_rate),
        mega(own.shaper)
    )
}

/// The best rate by a sweep of the simulator, in IP packets of 1500 bytes.
fn swept(line: &Line, direction: Direction) -> Option<u64> {
    let (mut low, mut high) = (MAX_SWEPT / 50, MAX_SWEPT);
    while high - low > high / 50 {
        let middle = u64::midpoint(low, high);
        if added(&line.shaped(direction, BitRate::from_bps(middle)))? <= LIMIT {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(line.ip_rate(low))
}
