//! Choice of the factors that are causes: those without which missed goals are met, or clearly better.
//!
//! A plan that is the same at all times is shortened first. Workloads that miss their goals in the shorter plan are explained
//! with it, and only the others with a longer one, in four steps:
//!
//! 1. *Screening*, with one seed: the plan without all factors of a part, then without each factor of the parts that help, and
//!    without the queues on the path together. The traffic of others follows only if this explains too little.
//! 2. *Combinations*, where no single factor is enough: the best factor with each other one that helps.
//! 3. *Confirmation*, with more seeds: each run without the factor is compared with the run of the same seed.
//! 4. *Choice*, for each workload: of the factors that are enough alone, the one that explains most specifically (`Rank`).

use super::goal::{GoalState, Outcome, Victim};
use super::model::{Model, ModelStopped};
use netburn_analysis::explain::Kind;
use netburn_analysis::explain::causes::{Factor, Part, Rank, Scene, factors};
use netburn_scenario::Plan;
use netburn_units::Duration;
use std::collections::{BTreeMap, BTreeSet};

mod causes;
mod search;
mod shorten;
#[cfg(test)]
mod tests;

use causes::Causes;
use search::Search;
use shorten::shorter;

/// Size of an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Number of seeds that confirm a factor; 1 or more. Default: [`Options::SEEDS`].
    pub seeds: usize,
    /// Shortens plans that are the same at all times. Default: true.
    pub shorten: bool,
}

impl Options {
    /// Default number of seeds.
    pub const SEEDS: usize = 3;
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seeds: Options::SEEDS,
            shorten: true,
        }
    }
}

/// Result of an analysis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Diagnosis {
    /// Causes, the one that explains most first.
    pub found: Vec<Found>,
    /// Missed workloads that the model does not miss: it has no cause for them.
    pub not_reproduced: Vec<Victim>,
    /// Missed workloads that no factor restores.
    pub open: Vec<Victim>,
    /// Number of simulated runs.
    pub runs: usize,
    /// True if the user stopped the analysis before its end.
    pub interrupted: bool,
}

/// A factor that makes the difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Kind of the cause.
    pub kind: Kind,
    /// One line.
    pub title: String,
    /// The simulated replacement.
    pub without: String,
    /// Suggested remedy.
    pub advice: String,
    /// True if the remedy fits better than that of the rule for this kind.
    pub own_advice: bool,
    /// Stations that cause it, by number.
    pub by: Vec<usize>,
    /// Missed workloads that it explains, with and without it.
    pub findings: Vec<Finding>,
    /// Further factors that were taken away together with it, if it is not enough alone.
    pub together: Vec<String>,
}

/// Effect of taking factors away on one workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The workload.
    pub victim: Victim,
    /// Unchanged.
    pub before: GoalState,
    /// Without the factors.
    pub after: GoalState,
    /// Number of seeds of the comparison.
    pub seeds: usize,
    /// Duration of the runs.
    pub duration: Duration,
}

/// Relative decrease of a loss that is worth a closer look.
const HELPS: f64 = 0.15;
/// Relative decrease of a loss that is clearly better.
pub(crate) const CLEARLY: f64 = 0.35;
/// Relative decrease of a loss after which little is left to explain.
pub(super) const MIN_ENOUGH: f64 = 0.8;

/// Decides which factors of a plan are causes of the missed goals of `victims`.
#[must_use]
pub fn decide(plan: &Plan, victims: &[Victim], model: &dyn Model, options: Options) -> Diagnosis {
    let Some(scene) = Scene::new(plan) else {
        return Diagnosis {
            not_reproduced: victims.to_vec(),
            ..Diagnosis::default()
        };
    };
    let factors = factors(&scene);
    let mut plans = if options.shorten { shorter(plan) } else { Vec::new() };
    plans.push(plan.clone());
    let mut diagnosis = Diagnosis::default();
    let mut causes = Causes::default();
    let mut helpful = BTreeSet::new();
    let mut left = victims.to_vec();
    for plan in plans {
        if left.is_empty() || diagnosis.interrupted {
            break;
        }
        let mut search = Search::new(plan, &factors, &left, model);
        diagnosis.interrupted = run(&mut search, &helpful, options).is_err();
        search.add_to(&mut causes);
        helpful.extend(search.helpful());
        diagnosis.open.extend(search.open());
        diagnosis.runs += search.runs();
        left = search.not_reproduced().to_vec();
    }
    if diagnosis.interrupted {
        diagnosis.open.clear();
    }
    diagnosis.found = causes.sorted(&factors, &scene);
    diagnosis.not_reproduced = left;
    diagnosis
}

fn run(search: &mut Search<'_>, helpful: &BTreeSet<usize>, options: Options) -> Result<(), ModelStopped> {
    search.begin()?;
    search.screen(helpful)?;
    search.confirm(options.seeds.max(1))?;
    // More seeds may show that a factor explains less than the first seed did.
    search.screen_load()?;
    search.confirm(options.seeds.max(1))?;
    search.combine()?;
    search.confirm(options.seeds.max(1))
}
