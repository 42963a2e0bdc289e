//! Times in which a workload runs: windows within the load of its station.

use netburn_units::{Duration, Instant};

/// Minimum length of a window: 100 ms.
pub const MIN_WINDOW: Duration = Duration::from_millis(100);

/// Minimum time between the starts of two windows: 1 s.
pub const MIN_REPEAT: Duration = Duration::from_secs(1);

/// Times in which a workload runs. They count from the start of the run's load, which is
/// [`Instant::ZERO`]. The default is the whole load of the station.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// Start of the first window. Default 0 s.
    pub start: Duration,
    /// End of the first window; at least [`MIN_WINDOW`] after `start`. `None`: the end of the
    /// station's load.
    pub stop: Option<Duration>,
    /// Time from the start of one window to the start of the next one; at least [`MIN_REPEAT`] and
    /// the length of a window. `None`: only one window. Not for `stream` and `voice`.
    pub repeat: Option<Duration>,
}

/// A time in which a workload runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Start.
    pub from: Instant,
    /// End; not included.
    pub to: Instant,
}

impl Window {
    /// Length; zero if it ends before it begins.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.to.checked_since(self.from).unwrap_or_default()
    }
}

/// Windows in the order of time, from [`Activity::windows`].
#[derive(Debug, Clone)]
pub struct Windows {
    activity: Activity,
    start: Instant,
    end: Instant,
    /// Numbers of the next window, and of the one after the last.
    next: u64,
    after: u64,
}

impl Activity {
    /// The windows within the time from `start` to `end`. The part of a window outside this time is
    /// cut off; a window without a part inside is omitted. An activity from 0 s on starts at
    /// `start`, also before the start of the run's load.
    #[must_use]
    pub fn windows(&self, start: Instant, end: Instant) -> Windows {
        let first = i128::from(self.start.as_nanos());
        let (from, to) = (i128::from(start.as_nanos()), i128::from(end.as_nanos()));
        let (next, after) = match self.stop.zip(self.repeat) {
            Some((stop, repeat)) => {
                let length = i128::from(stop.saturating_sub(self.start).as_nanos());
                let period = i128::from(repeat.max(MIN_REPEAT).as_nanos()).max(length);
                // The first window that ends after `start`, and the first one that begins at `end` or later.
                let next = (from - first - length).div_euclid(period) + 1;
                let after = (to - first + period - 1).div_euclid(period);
                (next.max(0), after.max(0))
            }
            None => (0, 1),
        };
        let number = |number: i128| u64::try_from(number).unwrap_or(u64::MAX);
        Windows {
            activity: *self,
            start,
            end,
            next: number(next),
            after: number(after),
        }
    }
}

impl Windows {
    /// The last window; `None` without any.
    #[must_use]
    pub fn last_window(&self) -> Option<Window> {
        let last = self.after.checked_sub(1).filter(|last| *last >= self.next)?;
        self.window(last)
    }

    /// The window of this number, if a part of it is inside.
    fn window(&self, number: u64) -> Option<Window> {
        let Activity { start, stop, repeat } = self.activity;
        let length = stop.map(|stop| stop.saturating_sub(start));
        let period = repeat
            .unwrap_or_default()
            .max(MIN_REPEAT)
            .max(length.unwrap_or_default());
        let begin = start.checked_add(period.checked_mul(number)?)?;
        let at = |since: Duration| Instant::ZERO.checked_add(since);
        let from = if begin.is_zero() {
            self.start
        } else {
            at(begin)?.max(self.start)
        };
        let to = match length {
            Some(length) => at(begin.checked_add(length)?).map_or(self.end, |to| to.min(self.end)),
            None => self.end,
        };
        (from < to).then_some(Window { from, to })
    }
}

impl Iterator for Windows {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        while self.next < self.after {
            let window = self.window(self.next);
            self.next += 1;
            if window.is_some() {
                return window;
            }
        }
        None
    }
}
