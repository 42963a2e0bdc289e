//! The live view on standard error.

use super::model::{Model, Phase};
use crate::sanitise::painted_width;
use console::Term;
use netburn_record::{Row, Sink};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::io::Write;

/// Redraw interval in place.
const REDRAW: Duration = Duration::from_millis(200);

/// Minimum interval between groups of plain lines.
const PLAIN: Duration = Duration::from_secs(10);

/// Draws a [`Model`] on standard error. It never fails, because a problem of the view must not end
/// a run.
///
/// Call [`Live::tick`] several times a second. [`Live::finish`] removes the table, and so does dropping the
/// value.
#[derive(Debug)]
pub struct Live {
    model: Model,
    term: Term,
    mode: DrawMode,
    now: Instant,
    drawn_at: Option<Instant>,
    status: Option<&'static str>,
    /// Plain lines that were written last.
    written: Vec<String>,
    /// Widths of the lines on the screen.
    on_screen: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DrawMode {
    InPlace { colour: bool },
    Plain,
}

impl Live {
    /// A view of a run of `plan`: in place if standard error is a capable terminal, otherwise plain
    /// lines.
    #[must_use]
    pub fn new(plan: &Plan, colour: bool) -> Self {
        let term = Term::stderr();
        let dumb = std::env::var_os("TERM").is_none_or(|t| t == "dumb");
        let mode = if term.is_term() && !dumb {
            DrawMode::InPlace { colour }
        } else {
            DrawMode::Plain
        };
        Live {
            model: Model::new(plan),
            term,
            mode,
            now: Instant::ZERO.checked_sub(plan.baseline).unwrap_or_default(),
            drawn_at: None,
            status: None,
            written: Vec::new(),
            on_screen: Vec::new(),
        }
    }

    /// The run is in `phase` now.
    pub fn phase(&mut self, phase: Phase) {
        self.model.phase(phase);
        self.tick(self.now);
    }

    /// Sets the time to `now`. Draws if the interval has passed, and at once if the status changes.
    pub fn tick(&mut self, now: Instant) {
        self.now = now;
        let status = self.model.status(now);
        let new = self.status.replace(status) != Some(status);
        let period = match self.mode {
            DrawMode::InPlace { .. } => REDRAW,
            DrawMode::Plain => PLAIN,
        };
        // Before the start is agreed on, the run's time is estimated and may go back once.
        let at = self.drawn_at.get_or_insert(now);
        *at = now.min(*at);
        if !new && now.since(*at) < period {
            return;
        }
        *at = now;
        match self.mode {
            DrawMode::InPlace { .. } => self.draw(),
            // Lines about stations follow when there is something to report.
            DrawMode::Plain if new => self.write(&format!("{}\n", self.model.headline(now))),
            DrawMode::Plain => {
                let lines = self.model.plain(now);
                // Unchanged lines are not written again.
                if lines[1..] != self.written[..] {
                    self.write(&format!("{}\n", lines.join("\n")));
                    self.written = lines[1..].to_vec();
                }
            }
        }
    }

    /// Prints a permanent line above the table.
    pub fn say(&mut self, line: &str) {
        let text = format!("{}{line}\n", self.erase());
        self.on_screen.clear();
        self.write(&text);
        self.draw();
    }

    /// Removes the table.
    pub fn finish(&mut self) {
        let text = self.erase();
        self.on_screen.clear();
        self.write(&text);
    }

    /// Draws the table, if it is drawn in place.
    fn draw(&mut self) {
        let DrawMode::InPlace { colour } = self.mode else {
            return;
        };
        let (rows, columns) = self.term.size();
        let lines = self
            .model
            .table(self.now, usize::from(columns), usize::from(rows), colour);
        // A single write avoids interleaved output; synchronised output (mode 2026) avoids flicker.
        let mut text = format!("\x1b[?2026h{}", self.erase());
        for line in &lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str("\x1b[?2026l");
        self.on_screen = lines.iter().map(|l| painted_width(l)).collect();
        self.write(&text);
    }

    /// Escape sequence that erases the lines on the screen. A terminal that became narrower has
    /// wrapped them, so the rows are computed with its current width.
    fn erase(&self) -> String {
        let columns = usize::from(self.term.size().1).max(1);
        let rows: usize = self.on_screen.iter().map(|w| w.div_ceil(columns).max(1)).sum();
        match rows {
            0 => String::new(),
            rows => format!("\r\x1b[{rows}A\x1b[J"),
        }
    }

    fn write(&mut self, text: &str) {
        if !text.is_empty() {
            let _ = self.term.write_all(text.as_bytes());
            let _ = self.term.flush();
        }
    }
}

impl Sink for Live {
    fn put(&mut self, row: &Row) -> std::io::Result<()> {
        self.model.put(row);
        Ok(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.finish();
    }
}
