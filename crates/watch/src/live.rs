//! Counters and recent delays of the probes, for the metrics.

use crate::alert::delay;
use crate::{Part, Sample};
use netburn_units::{Duration, Instant, Probability};
use std::collections::VecDeque;

/// Time of the recent probes.
pub const RECENT: Duration = Duration::from_secs(300);
/// Maximum number of recent probes of a part. The probes of one part are sent once a second.
const MAX_RECENT: usize = 1_000;

/// Probes of one part since the start of the watch.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    /// Probes that were answered.
    pub answered: u64,
    /// Probes that were not answered within their time.
    pub lost: u64,
    /// Sum of all round trips in nanoseconds.
    pub sum_ns: u128,
    recent: VecDeque<Sample>,
}

impl Counters {
    /// Percentile of the probes of the last five minutes; see [`delay`].
    #[must_use]
    pub fn percentile(&self, level: Probability) -> Option<Option<Duration>> {
        delay(self.recent.iter().map(|sample| sample.round_trip), level)
    }
}

/// Probes of all parts.
#[derive(Debug, Clone, Default)]
pub struct Live {
    parts: [Counters; 3],
}

impl Live {
    /// A probe ended.
    pub fn handle_sample(&mut self, sample: Sample) {
        let of = &mut self.parts[sample.part.index()];
        match sample.round_trip {
            Some(delay) => {
                of.answered += 1;
                of.sum_ns += u128::from(delay.as_nanos());
            }
            None => of.lost += 1,
        }
        if of.recent.len() == MAX_RECENT {
            of.recent.pop_front();
        }
        of.recent.push_back(sample);
    }

    /// Forgets recent probes that are too old `now`.
    pub fn handle_time(&mut self, now: Instant) {
        let Some(oldest) = now.checked_sub(RECENT) else { return };
        for of in &mut self.parts {
            while of.recent.front().is_some_and(|sample| sample.at < oldest) {
                of.recent.pop_front();
            }
        }
    }

    /// Counters of a part.
    #[must_use]
    pub fn part(&self, part: Part) -> &Counters {
        &self.parts[part.index()]
    }
}
