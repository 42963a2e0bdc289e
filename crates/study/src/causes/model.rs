//! The model that answers what a plan leads to.

use super::goal::Outcome;
use netburn_parallel::Cancel;
use netburn_parallel::pool::map;
use netburn_scenario::Plan;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// A model of the run: it simulates plans.
pub trait Model {
    /// Outcomes of these plans, in their order. `None` for a plan that the model rejects.
    ///
    /// # Errors
    /// The user stopped it.
    fn outcomes(&self, plans: &[Plan]) -> Result<Vec<Option<Outcome>>, ModelStopped>;
}

/// The user stopped the simulations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct ModelStopped;

/// The simulator as a model. Its outcomes do not depend on the number of threads.
pub struct Simulator<'a> {
    threads: usize,
    cancel: &'a Cancel,
    progress: &'a (dyn Fn(u64) + Sync),
    done: AtomicU64,
}

impl std::fmt::Debug for Simulator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulator")
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

impl<'a> Simulator<'a> {
    /// A simulator on `threads` threads. It calls `progress` with the number of simulated runs, and stops with `cancel`.
    #[must_use]
    pub const fn new(threads: usize, cancel: &'a Cancel, progress: &'a (dyn Fn(u64) + Sync)) -> Self {
        Simulator {
            threads,
            cancel,
            progress,
            done: AtomicU64::new(0),
        }
    }

    fn outcome(&self, plan: &Plan) -> Option<Outcome> {
        let summary = netburn_simulate::summary(plan, &plan.name, &mut |_| {
            if self.cancel.is_stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let summary = summary.ok().flatten()?;
        (self.progress)(self.done.fetch_add(1, Ordering::Relaxed) + 1);
        Some(Outcome::new(plan, &summary))
    }
}

impl Model for Simulator<'_> {
    fn outcomes(&self, plans: &[Plan]) -> Result<Vec<Option<Outcome>>, ModelStopped> {
        let outcomes = map(plans.len(), self.threads, &|place| self.outcome(&plans[place]));
        if self.cancel.is_stopped() {
            return Err(ModelStopped);
        }
        Ok(outcomes)
    }
}
