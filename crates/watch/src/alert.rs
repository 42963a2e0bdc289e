//! When an alert starts and ends.

use crate::rule::{Condition, Limit, Rule};
use crate::{Part, Sample};
use netburn_stats::percentile;
use netburn_units::{Duration, Instant, Probability};
use std::collections::VecDeque;
use std::fmt;

/// An alert ends when the value is at most this share of the limit, in percent, so that a value near the limit does not
/// start and end it again and again.
const ENDS_AT_PERCENT: u64 = 80;
/// Time after which the results of all probes are known: the time-out of a probe, 3 s, and 1 s for its way to here. Later
/// probes are not evaluated yet, because in an outage their results would be missing.
const KNOWN_AFTER: Duration = Duration::from_secs(4);

/// State of one rule.
///
/// **Call order:** after each `handle_sample`, or several of them, call [`poll`](Self::poll). Call
/// [`handle_gap`](Self::handle_gap) after a time without probes.
#[derive(Debug, Clone)]
pub struct Alert {
    rule: Rule,
    /// Probes of the rule's time.
    recent: VecDeque<Sample>,
    /// Due time of the first probe since the last gap.
    since: Option<Instant>,
    is_active: bool,
}

/// Start or end of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// True for the start.
    pub starts: bool,
    /// Value at this time; `None` for a cause.
    pub value: Option<Value>,
}

/// A value that a rule compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Percentile of the round trips; `None` if the probe at this rank is lost.
    Delay(Option<Duration>),
    /// Share of lost probes.
    Loss(Probability),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Delay(Some(delay)) => write!(f, "{:.1} ms", delay.as_millis_f64()),
            Value::Delay(None) => f.write_str("lost"),
            Value::Loss(share) => write!(f, "{:.1} %", share.as_f64() * 100.0),
        }
    }
}

impl Alert {
    /// An alert that is not active.
    #[must_use]
    pub fn new(rule: Rule) -> Alert {
        Alert {
            rule,
            recent: VecDeque::new(),
            since: None,
            is_active: false,
        }
    }

    /// The rule.
    #[must_use]
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// True from the start of the alert to its end.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// Part that the rule measures; `None` for a cause.
    #[must_use]
    pub fn part(&self) -> Option<Part> {
        match self.rule.condition {
            Condition::Above { part, .. } => Some(part),
            Condition::Cause(_) => None,
        }
    }

    /// A probe ended. Probes of other parts are ignored.
    pub fn handle_sample(&mut self, sample: Sample) {
        if self.part() == Some(sample.part) {
            // A lost probe is known later than the answered ones after it.
            self.since = Some(self.since.map_or(sample.at, |since| since.min(sample.at)));
            self.recent.push_back(sample);
        }
    }

    /// There were no probes for a while: the computer was suspended, or has another network. An active alert remains.
    pub fn handle_gap(&mut self) {
        self.recent.clear();
        self.since = None;
    }

    /// The analysis of a finished hour named these causes.
    pub fn handle_causes(&mut self, named: &[&str]) -> Option<Change> {
        let Condition::Cause(cause) = &self.rule.condition else {
            return None;
        };
        let is_named = named.contains(&cause.as_str());
        self.change(is_named, !is_named, None)
    }

    /// Compares the probes of the rule's time, which ends 4 s before `now`.
    pub fn poll(&mut self, now: Instant) -> Option<Change> {
        let Condition::Above { limit, within, .. } = self.rule.condition else {
            return None;
        };
        let newest = now.checked_sub(KNOWN_AFTER)?;
        let oldest = newest.checked_sub(within)?;
        while self.recent.front().is_some_and(|sample| sample.at < oldest) {
            self.recent.pop_front();
        }
        // The whole time must be observed.
        if self.since.is_none_or(|since| since > oldest) {
            return None;
        }
        let probes = self
            .recent
            .iter()
            .filter(|sample| (oldest..=newest).contains(&sample.at));
        let round_trips: Vec<_> = probes.map(|sample| sample.round_trip).collect();
        let (value, above, ends) = compare(&round_trips, limit)?;
        self.change(above, ends, Some(value))
    }

    fn change(&mut self, starts: bool, ends: bool, value: Option<Value>) -> Option<Change> {
        let changes = if self.is_active { ends } else { starts };
        changes.then(|| {
            self.is_active = !self.is_active;
            Change {
                starts: self.is_active,
                value,
            }
        })
    }
}

/// The value, whether it is above the limit, and whether an alert ends with it. `None` with too few probes.
fn compare(round_trips: &[Option<Duration>], limit: Limit) -> Option<(Value, bool, bool)> {
    let count = round_trips.len() as u64;
    match limit {
        Limit::Delay { level, limit } => {
            let delay = delay(round_trips.iter().copied(), level)?;
            let end = Duration::from_nanos(share(limit.as_nanos()));
            let above = delay.is_none_or(|delay| delay > limit);
            Some((Value::Delay(delay), above, delay.is_some_and(|delay| delay <= end)))
        }
        Limit::Loss(limit) => {
            let lost = round_trips.iter().filter(|delay| delay.is_none()).count() as u64;
            let ppb = (lost.saturating_mul(1_000_000_000)).checked_div(count)?;
            let value = Probability::from_ppb(u32::try_from(ppb).ok()?)?;
            let end = share(u64::from(limit.as_ppb()));
            Some((Value::Loss(value), value > limit, ppb <= end))
        }
    }
}

fn share(limit: u64) -> u64 {
    let share = u128::from(limit) * u128::from(ENDS_AT_PERCENT) / 100;
    u64::try_from(share).unwrap_or(u64::MAX)
}

/// Percentile of round trips by nearest rank. A lost probe counts as longer than all others. `None` with too few probes for
/// the level, `Some(None)` if the probe at the rank is lost.
#[must_use]
pub fn delay(round_trips: impl Iterator<Item = Option<Duration>>, level: Probability) -> Option<Option<Duration>> {
    let mut sorted: Vec<(bool, Option<Duration>)> = round_trips.map(|delay| (delay.is_none(), delay)).collect();
    let count = sorted.len() as u64;
    if count == 0 || !percentile::supported(level, count) {
        return None;
    }
    let place = usize::try_from(percentile::rank(level, count) - 1).ok()?;
    let (_, at, _) = sorted.select_nth_unstable(place);
    Some(at.1)
}
