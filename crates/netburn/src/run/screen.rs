//! The live view, fed by the progress of the run and by its rows.

use netburn_record::{Row, Sink};
use netburn_report::{Live, live};
use netburn_run_control::{Phase, Watch};
use netburn_units::{Duration, Instant};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// A shared handle to the live view.
#[derive(Debug, Clone)]
pub(super) struct Screen(Rc<RefCell<Live>>);

impl Screen {
    pub(super) fn new(live: Live) -> Self {
        Screen(Rc::new(RefCell::new(live)))
    }

    /// Prints a permanent line.
    pub(super) fn say(&self, text: &str) {
        self.0.borrow_mut().say(&netburn_report::sanitise::sanitise(text));
    }

    /// Shows that the record is being written.
    pub(super) fn writing(&self) {
        self.0.borrow_mut().phase(live::Phase::Writing);
    }

    /// Removes the view.
    pub(super) fn finish(&self) {
        self.0.borrow_mut().finish();
    }
}

impl Sink for Screen {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        self.0.borrow_mut().put(row)
    }
}

impl Watch for Screen {
    fn phase(&mut self, phase: Phase, _left: Duration) {
        self.0.borrow_mut().phase(match phase {
            Phase::Joining => live::Phase::Joining,
            Phase::Clocks => live::Phase::Clocks,
            Phase::Baseline => live::Phase::Baseline,
            Phase::Running => live::Phase::Load,
            Phase::Draining | Phase::Collecting => live::Phase::Drain,
        });
    }

    fn tick(&mut self, now: Instant) {
        self.0.borrow_mut().tick(now);
    }

    fn warn(&mut self, text: &str) {
        self.say(text);
    }
}
