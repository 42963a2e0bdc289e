//! The rows that were rejected, by reason.

use std::collections::BTreeMap;
use std::fmt;

/// Why a row is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rejection {
    /// It lies outside of the run's time, or an interval isn't one of its tenths of a second.
    Time,
    /// Its times contradict each other: something ended before it was due.
    Order,
    /// It says that more bytes moved than can have.
    Bytes,
    /// It is about a workload that the station doesn't have.
    Workload,
    /// More operations than can have fallen due.
    Operations,
    /// More intervals than have passed.
    Intervals,
    /// More looks at connections than drivers make.
    Connections,
    /// More looks at Wi-Fi links than drivers make.
    Links,
    /// More events than happen.
    Events,
    /// More text in events than they need.
    Text,
}

impl Rejection {
    /// What there was too much of, or wrong with.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Rejection::Time => "outside of the run's time",
            Rejection::Order => "with times that contradict each other",
            Rejection::Bytes => "with more bytes than can have moved",
            Rejection::Workload => "about a workload that the station doesn't have",
            Rejection::Operations => "operations more than can have fallen due",
            Rejection::Intervals => "intervals more than have passed",
            Rejection::Connections => "looks at connections more than a driver makes",
            Rejection::Links => "looks at Wi-Fi links more than a driver makes",
            Rejection::Events => "events more than a station can have",
            Rejection::Text => "events with more text than they need",
        }
    }
}

/// How many rows were rejected for which reason. Its text is a list: `12 events more than a station can have, 1 outside of
/// the run's time`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rejected(BTreeMap<Rejection, u64>);

impl Rejected {
    pub(crate) fn count(&mut self, rejection: Rejection) {
        *self.0.entry(rejection).or_default() += 1;
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<_> = self.0.iter().collect();
        parts.sort_by_key(|(rejection, count)| (std::cmp::Reverse(**count), **rejection));
        for (number, (rejection, count)) in parts.into_iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            write!(f, "{comma}{count} {}", rejection.name())?;
        }
        Ok(())
    }
}
