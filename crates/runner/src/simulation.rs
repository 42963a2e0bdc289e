//! Runs in simulated time.

use crate::control::{Event, RunControl};
use crate::environment::{PreparedRun, RunEnvironment};
use crate::error::{RunError, Unsupported};
use netburn_parallel::pool;
use netburn_record::{RunStatus, Sink};
use netburn_scenario::{Environment, Plan};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant as Clock};

/// Interval between syncs of the sink.
const SYNC: Duration = Duration::from_millis(500);

/// The simulator: modelled Wi-Fi and TCP in simulated time. Runs do not disturb each other.
#[derive(Debug, Clone, Copy)]
pub struct Simulation {
    threads: usize,
}

impl Simulation {
    /// Simulation on up to `threads` threads, one for each run.
    #[must_use]
    pub const fn new(threads: usize) -> Self {
        Simulation { threads }
    }
}

impl Default for Simulation {
    /// Simulation on all processors.
    fn default() -> Self {
        Simulation::new(pool::processors())
    }
}

impl RunEnvironment for Simulation {
    fn kind(&self) -> Environment {
        Environment::Simulate
    }

    /// Also simulates the first 100 ms, because only the simulator can make some checks.
    fn check(&self, plan: &Plan) -> Result<(), Unsupported> {
        plan.check_for(Environment::Simulate)?;
        netburn_simulate::check(plan)?;
        Ok(())
    }

    fn prepare<'a>(&'a self, plan: &'a Plan, _: &RunControl<'_>) -> Result<Box<dyn PreparedRun + 'a>, RunError> {
        Ok(Box::new(Simulated(plan)))
    }

    fn concurrency(&self) -> usize {
        self.threads
    }
}

/// A plan that the simulator accepts.
struct Simulated<'a>(&'a Plan);

impl PreparedRun for Simulated<'_> {
    fn run(
        self: Box<Self>,
        _: Option<&Path>,
        sink: &mut (dyn Sink + Send),
        control: &RunControl<'_>,
    ) -> Result<RunStatus, RunError> {
        let mut synced = Clock::now();
        let mut stored = Ok(());
        let done = netburn_simulate::run(self.0, |now, rows| {
            // The last rows come after a break.
            if stored.is_ok() {
                stored = rows.iter().try_for_each(|row| sink.put(row));
            }
            if stored.is_ok() && synced.elapsed() > SYNC {
                synced = Clock::now();
                stored = sink.sync();
            }
            if stored.is_err() {
                return ControlFlow::Break(());
            }
            control.report(Event::Tick(now));
            if control.cancel().is_stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        stored.map_err(|error| RunError::storage(&error))?;
        let done = done.map_err(Unsupported::from)?;
        if control.cancel().is_aborted() {
            return Err(RunError::Aborted { folder: None });
        }
        Ok(if done.interrupted {
            RunStatus::Interrupted
        } else {
            RunStatus::Complete
        })
    }
}
