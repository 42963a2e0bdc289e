//! Likely causes of a run's problems, each with evidence from the record.
//!
//! - [`explain()`] reads a run folder. [`Evidence`] takes rows as they arrive; [`likely_causes`] applies the rules to it.
//! - Each cause has a file of its own in [`causes`].
//!
//! A cause is reported only if it affects a station, and if the evidence leaves no more likely
//! cause.

pub mod causes;
mod evidence;
mod facts;
mod remedies;
mod stored;

pub use causes::{Cause, Explanation, Kind, Severity, Unexplained};
pub use evidence::Evidence;
pub use remedies::{FILE as REMEDIES_FILE, Remedies, Remedy, RemedyEffect};
pub use stored::{FILE, causes_of, store, stored};

use facts::RunFacts;
use netburn_record::{Error, Health, Run, Summary};

/// Likely causes of a run's problems. The runs of a run set are analysed together.
///
/// # Errors
/// When the columns can't be read.
pub fn explain(run: &Run) -> Result<Explanation, Error> {
    let mut evidence = Evidence::new(&run.header().plan, run.header().environment);
    run.rows(&mut |row| evidence.row(&row))?;
    Ok(likely_causes(&evidence, run.summary(), run.health()))
}

/// Likely causes; `summary` and `health` must belong to the runs of the evidence.
#[must_use]
pub fn likely_causes(evidence: &Evidence, summary: &Summary, health: &[Health]) -> Explanation {
    let facts = RunFacts::new(evidence, summary, health);
    let causes = causes::causes(&facts);
    let named = |cause: &Cause, name: &String| cause.stations.contains(name) || cause.by.contains(name);
    let explained = |name: &String| causes.iter().any(|cause| named(cause, name));
    let each = facts.degraded.iter().map(|degraded_station| Unexplained {
        station: facts.name(degraded_station.station),
        what: degraded_station.all.clone(),
    });
    let unexplained = each.filter(|one| !explained(&one.station)).collect();
    Explanation { causes, unexplained }
}

#[cfg(test)]
mod tests;
