//! Output on standard error during runs in real time: messages and the live view.

use super::fleet;
use super::phases::Phases;
use crate::lab_opening;
use crate::terminal::{eprint_message, for_stderr, stderr_colour};
use netburn_fit::Schedule;
use netburn_record::Sink;
use netburn_report::sanitise::sanitise;
use netburn_report::{Live, live};
use netburn_run_control::Phase;
use netburn_runner::Event;
use std::sync::{Mutex, PoisonError};

/// Messages and the live view of runs.
pub(crate) struct Screen {
    /// Runs of several plans, whose names are shown.
    interleaved: bool,
    /// Measurement of which the phases are shown instead of the workloads.
    measurement: Option<Schedule>,
    view: Mutex<View>,
}

#[derive(Default)]
struct View {
    /// The live view while a run is recorded.
    live: Option<LiveView>,
    /// The results of the run are being written.
    writing: bool,
}

/// The view while a run is recorded.
enum LiveView {
    Workloads(Live),
    Phases(Phases),
}

/// Effect of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Stop,
    Abort,
}

impl Screen {
    pub(super) fn new(interleaved: bool) -> Self {
        Screen {
            interleaved,
            measurement: None,
            view: Mutex::default(),
        }
    }

    /// The screen of a run with the workloads of this measurement.
    pub(crate) fn of_measurement(schedule: &Schedule) -> Self {
        Screen {
            measurement: Some(schedule.clone()),
            ..Screen::new(false)
        }
    }

    /// Shows an event of a run.
    pub(super) fn show(&self, event: Event<'_>) {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Run { number, total, plan } => {
                let name = if self.interleaved {
                    format!(": {}", plan.name)
                } else {
                    String::new()
                };
                eprint_message(&format!("run {number} of {total}{name}, seed {}", plan.seed.0));
            }
            Event::OpeningLab(plan) => lab_opening::announce_opening(plan),
            Event::LabOpen(lab) => lab_opening::announce(lab),
            Event::Waiting(text) => eprint_message(&sanitise(text)),
            Event::Members(plan, participants) => eprint_message(&fleet::members(plan, participants)),
            Event::Recording(plan, _) => {
                *view = View {
                    live: Some(match &self.measurement {
                        Some(schedule) => LiveView::Phases(Phases::new(schedule.clone())),
                        None => LiveView::Workloads(Live::new(plan, stderr_colour())),
                    }),
                    writing: false,
                };
            }
            Event::Ended => *view = View::default(),
            Event::Warning(text) => view.say(text),
            Event::LabWarning(text) => view.say(&format!("warning: {text}")),
            event => {
                view.writing |= matches!(event, Event::Writing);
                match (&mut view.live, event) {
                    (Some(LiveView::Workloads(live)), event) => show_live(live, event),
                    (Some(LiveView::Phases(phases)), Event::Tick(now)) => phases.tick(now),
                    _ => {}
                }
            }
        }
    }

    /// Shows that the first signal arrived, and returns its effect. Results that are being written can only be aborted.
    pub(super) fn interrupt(&self) -> Effect {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        if view.writing {
            return Effect::Abort;
        }
        // Between runs there are no results to save.
        if view.live.is_some() {
            view.say("stopping and saving the results; a second signal aborts");
        }
        Effect::Stop
    }
}

impl View {
    /// Prints a permanent line, above the live view if there is one.
    fn say(&mut self, text: &str) {
        match &mut self.live {
            Some(LiveView::Workloads(live)) => live.say(&for_stderr(&sanitise(text))),
            Some(LiveView::Phases(phases)) => phases.say(&sanitise(text)),
            None => eprint_message(&sanitise(text)),
        }
    }
}

/// Shows progress in the live view.
fn show_live(live: &mut Live, event: Event<'_>) {
    match event {
        Event::Phase(phase, _) => live.phase(match phase {
            Phase::Joining => live::Phase::Joining,
            Phase::Clocks => live::Phase::Clocks,
            Phase::Baseline => live::Phase::Baseline,
            Phase::Running => live::Phase::Load,
            Phase::Draining | Phase::Collecting => live::Phase::Drain,
        }),
        Event::Tick(now) => live.tick(now),
        // The view stores rows without errors.
        Event::Row(row) => drop(live.put(row)),
        Event::Writing => live.phase(live::Phase::Writing),
        _ => {}
    }
}
