//! How long a sweep would take, from a short look at its first cell.

use super::grid::Grid;
use netburn_simulate::SimulateError;
use netburn_units::{Duration, Instant};
use std::ops::ControlFlow;
use std::time::{Duration as Wall, Instant as Clock};

/// A look at the cost of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostEstimate {
    /// What one run is reckoned to take on one processor.
    pub run: Wall,
    /// How much of its load was simulated for that.
    pub simulated: Duration,
    /// How much of load and drain there is in all.
    pub total: Duration,
}

/// How long a look takes at most.
const MAX_ESTIMATE_TIME: Wall = Wall::from_secs(1);

/// Simulates the first cell for up to a second of real time, and reckons from the cost of its load so far that the rest of it costs as
/// much: a station that begins later, or other values, may make it dearer or cheaper. `None` when the first cell is wrong.
///
/// # Errors
/// When it can't be simulated.
pub fn estimate_cost(grid: &Grid) -> Result<Option<CostEstimate>, SimulateError> {
    let Some(plan) = grid.first_plan() else { return Ok(None) };
    let begun = Clock::now();
    let (mut load_begun, mut reached) = (begun, Instant::ZERO);
    netburn_simulate::run(&plan, |now, _| {
        if now <= Instant::ZERO {
            load_begun = Clock::now();
        }
        reached = now;
        // Of the baseline, which is cheap, nothing can be reckoned about the load.
        match begun.elapsed() < MAX_ESTIMATE_TIME || (now <= Instant::ZERO && begun.elapsed() < MAX_ESTIMATE_TIME * 10) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    let simulated = reached.checked_since(Instant::ZERO).unwrap_or_default();
    let (took, share) = match simulated.is_zero() {
        // An endless baseline: reckoned as if it were all.
        true => (
            begun.elapsed(),
            plan.baseline.as_secs_f64() / (reached.since(Instant::ZERO - plan.baseline)).as_secs_f64(),
        ),
        false => (
            load_begun.elapsed(),
            plan.settled().as_secs_f64() / simulated.as_secs_f64(),
        ),
    };
    let before = begun.elapsed().saturating_sub(took);
    Ok(Some(CostEstimate {
        run: before + Wall::try_from_secs_f64(took.as_secs_f64() * share).unwrap_or(Wall::MAX / 2),
        simulated,
        total: plan.settled(),
    }))
}

/// A span of real time in words, format_approximate: `40 s`, `12 min`, `3 h`, `9 days`.
#[must_use]
pub fn format_approximate(seconds: f64) -> String {
    match seconds {
        ..1.0 => "less than a second".to_owned(),
        1.0..90.0 => format!("{seconds:.0} s"),
        90.0..5400.0 => format!("{:.0} min", seconds / 60.0),
        5400.0..172_800.0 => format!("{:.0} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_said_in_the_unit_that_suits() {
        for (seconds, said) in [
            (0.2, "less than a second"),
            (40.4, "40 s"),
            (90.0, "2 min"),
            (3600.0, "60 min"),
            (7200.0, "2 h"),
            (864_000.0, "10 days"),
        ] {
            assert_eq!(format_approximate(seconds), said);
        }
    }
}
