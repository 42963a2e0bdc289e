//! Progress of simulated runs on a line of the terminal that is overwritten.

use crate::terminal::{overwrite_line, stderr_is_terminal};
use netburn_runner::Event;
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration as Wall, Instant as Clock};

/// Interval of updates.
const INTERVAL: Wall = Wall::from_millis(500);

/// Progress of all runs of a plan.
pub(super) struct Progress {
    /// Total and finished time of all runs, in 0.1 s.
    all: u64,
    done: AtomicU64,
    repeat: u32,
    /// Duration of load and drain.
    settled: Duration,
    shown: Option<Mutex<(Clock, usize)>>,
}

impl Progress {
    pub(super) fn new(plan: &Plan) -> Self {
        let each = (plan.baseline + plan.settled()).as_millis() / 100;
        Progress {
            all: (each * u64::from(plan.repeat)).max(1),
            done: AtomicU64::new(0),
            repeat: plan.repeat,
            settled: plan.settled(),
            shown: stderr_is_terminal().then(|| Mutex::new((Clock::now(), 0))),
        }
    }

    /// Shows an event of a run.
    pub(super) fn show(&self, event: Event<'_>) {
        if let Event::Tick(now) = event {
            self.moved(now);
        }
    }

    /// Adds 0.1 s of one run.
    fn moved(&self, now: Instant) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(shown) = &self.shown else { return };
        let Ok(mut shown) = shown.try_lock() else { return };
        if shown.0.elapsed() >= INTERVAL {
            shown.0 = Clock::now();
            let percent = done * 100 / self.all;
            let line = match self.repeat {
                1 => format!(
                    "simulated {:.0} s of {:.0}: {percent} %",
                    now.as_secs_f64(),
                    self.settled.as_secs_f64()
                ),
                runs => format!("{runs} runs: {percent} %"),
            };
            overwrite_line(&line, &mut shown.1);
        }
    }

    /// Erases the line.
    pub(super) fn end(&self) {
        if let Some(shown) = &self.shown {
            let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            overwrite_line("", &mut shown.1);
        }
    }
}
