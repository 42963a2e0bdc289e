//! Estimate of a sweep's duration from a short simulation of its first cell.

use super::grid::Grid;
use netburn_simulate::SimulateError;
use netburn_units::{Duration, Instant};
use std::ops::ControlFlow;
use std::time::{Duration as Wall, Instant as Clock};

/// Estimated cost of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostEstimate {
    /// Estimated processor time of one run.
    pub run: Wall,
    /// Simulated part of the load on which the estimate is based.
    pub simulated: Duration,
    /// Total duration of load and drain.
    pub total: Duration,
}

/// Maximum duration of the estimate.
const MAX_ESTIMATE_TIME: Wall = Wall::from_secs(1);

/// Simulates the first cell for up to a second of real time and extrapolates the cost of its load. Stations that start later and
/// other values can change the cost. Returns `None` if the first cell is invalid.
///
/// # Errors
/// The simulator rejects the plan.
pub fn estimate_cost(grid: &Grid) -> Result<Option<CostEstimate>, SimulateError> {
    let Some(plan) = grid.first_plan() else { return Ok(None) };
    let begun = Clock::now();
    let (mut load_begun, mut reached) = (begun, Instant::ZERO);
    netburn_simulate::run(&plan, |now, _| {
        if now <= Instant::ZERO {
            load_begun = Clock::now();
        }
        reached = now;
        // The baseline is cheap and does not predict the cost of the load.
        if begun.elapsed() < MAX_ESTIMATE_TIME || (now <= Instant::ZERO && begun.elapsed() < MAX_ESTIMATE_TIME * 10) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    let simulated = reached.checked_since(Instant::ZERO).unwrap_or_default();
    let (took, share) = if simulated.is_zero() {
        // The baseline did not end in time: extrapolate from the baseline.
        (
            begun.elapsed(),
            plan.baseline.as_secs_f64() / (reached.since(Instant::ZERO - plan.baseline)).as_secs_f64(),
        )
    } else {
        (
            load_begun.elapsed(),
            plan.settled().as_secs_f64() / simulated.as_secs_f64(),
        )
    };
    let before = begun.elapsed().saturating_sub(took);
    Ok(Some(CostEstimate {
        run: before + Wall::try_from_secs_f64(took.as_secs_f64() * share).unwrap_or(Wall::MAX / 2),
        simulated,
        total: plan.settled(),
    }))
}

/// Formats an approximate duration: `40 s`, `12 min`, `3 h`, `9 days`.
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
    fn durations_use_a_suitable_unit() {
        for (seconds, expected) in [
            (0.2, "less than a second"),
            (40.4, "40 s"),
            (90.0, "2 min"),
            (3600.0, "60 min"),
            (7200.0, "2 h"),
            (864_000.0, "10 days"),
        ] {
            assert_eq!(format_approximate(seconds), expected);
        }
    }
}
