//! `netburn explain`.

use super::Format;
use super::fetch::in_unit;
use clap::{Args, value_parser};
use netburn_units::BitRate;
use std::path::PathBuf;

/// List the likely causes of missed goals and simulate remedies
///
/// The causes come from the record, each with its evidence. For each cause, the simulator runs the scenario unchanged,
/// and with each change that it can model. Examples are another queue, another radio, a rate limit, and a newer TSQ.
/// All runs use the same seeds, and netburn reports the effect. The command takes no new measurements and writes no
/// files.
///
/// The scenario of a run of real devices does not describe the radio. `--model` names a scenario that does, or the folder
/// of a measurement for `netburn fit`, to which models are fitted. Their network is simulated with the workloads of the run,
/// and measured values are compared with modelled ones.
///
/// If RUN itself is such a measurement, models are fitted to it, which takes up to a minute, unless it has those of an earlier
/// fit. They are simulated as if everyone used the network at once: each device makes a call and opens web pages, and devices
/// in turn download, upload and play a 4K video. netburn recommends a change if it helps in 90 % of the models, and shows
/// what each device gains.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Folder of the run
    pub(crate) run: PathBuf,
    /// Scenario file that describes the network of the run, with the same names of stations; or the folder of a
    /// measurement of this network
    #[arg(long, value_name = "SCENARIO|FOLDER")]
    pub(crate) model: Option<String>,
    /// Rate that the contract of the internet line promises for downloads, to compare it with that of fitted models
    #[arg(long, value_name = "MBIT/S", value_parser = in_unit::<BitRate>("Mbit/s"))]
    pub(crate) contract_down: Option<BitRate>,
    /// The same for uploads
    #[arg(long, value_name = "MBIT/S", value_parser = in_unit::<BitRate>("Mbit/s"))]
    pub(crate) contract_up: Option<BitRate>,
    /// Number of simulations of each change, each with another seed, and with another model if models are fitted [default:
    /// 8; with fitted models 12]. The more changes are compared, the more simulations each needs. Fewer than 3 give no
    /// result; 0 disables the simulation
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(0..=1000))]
    pub(crate) runs: Option<u16>,
    /// Duration of each simulation [default: planned duration of the run]
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// Number of processors [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}
