//! `netburn-dev speed`: processor time of both programs.

use super::process::Ns3;
use crate::args::SpeedArgs;
use crate::exit::{CliError, ExitStatus, print_stdout};
use netburn_dev::crosscheck::{CrosscheckPlan, Values};
use netburn_platform::cpu::process_time;

/// Runs of netburn beside each run of ns-3, which takes hundreds of times as long.
const RUNS: u32 = 5;

pub(in crate::command) fn speed(args: &SpeedArgs) -> Result<ExitStatus, CliError> {
    let networks = chosen(&args.names)?;
    let mut ns3 = Ns3::start(args.python.as_deref())?;
    print_stdout(&format!(
        "processor time of the fastest run, and goodput of all flows; ns-3 {}, rounds: {}\n",
        ns3.version, args.rounds
    ))?;
    for (name, plan) in &networks {
        let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
        let (mut our_goodput, mut their_goodput) = (0.0, 0.0);
        for _ in 0..args.rounds {
            let run = ns3.run(plan, 1)?;
            (theirs, their_goodput) = (theirs.min(run.processor_seconds), goodput(&run.values));
            for _ in 0..RUNS {
                let begun = process_time().map_err(CliError::failed)?;
                let values = plan.simulate(1).map_err(|why| CliError::Usage(why.to_string()))?;
                let used = process_time().map_err(CliError::failed)? - begun;
                (ours, our_goodput) = (ours.min(used.as_secs_f64()), goodput(&values));
            }
        }
        print_stdout(&format!(
            "{name:16} netburn {:7.1} ms, {our_goodput:.1} Mbit/s; ns-3 {:7.2} s, {their_goodput:.1} Mbit/s; {:.0} times\n",
            ours * 1e3,
            theirs,
            theirs / ours,
        ))?;
    }
    Ok(ExitStatus::Success)
}

/// The networks with these names, or all.
fn chosen(names: &[String]) -> Result<Vec<(&'static str, CrosscheckPlan)>, CliError> {
    let mut networks = CrosscheckPlan::for_speed();
    let known: Vec<&str> = networks.iter().map(|(name, _)| *name).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(CliError::Usage(format!(
            "there is no network {name}; known are {}",
            known.join(", ")
        )));
    }
    networks.retain(|(name, _)| names.is_empty() || names.iter().any(|chosen| chosen == name));
    Ok(networks)
}

/// Goodput of all flows in Mbit/s.
fn goodput(values: &Values) -> f64 {
    values.goodput.iter().sum()
}
