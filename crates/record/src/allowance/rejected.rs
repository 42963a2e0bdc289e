//! Rejected rows, counted by reason.

use crate::quality_issue::QualityIssue;
use std::collections::BTreeMap;
use std::fmt;

/// Reason for rejecting a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rejection {
    /// Outside the run's time, or an interval that does not begin at a multiple of 100 ms.
    Time,
    /// Inconsistent times: an event before the operation was due.
    Order,
    /// More bytes than possible.
    Bytes,
    /// Unknown workload.
    Workload,
    /// More operations than can have fallen due.
    Operations,
    /// More intervals than have passed.
    Intervals,
    /// More connection samples than drivers take.
    Connections,
    /// More link samples than drivers take.
    Links,
    /// More events than happen.
    Events,
    /// More text in events than they need.
    Text,
}

impl Rejection {
    /// Description in messages, which follows the number of rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Rejection::Time => "outside the run's time",
            Rejection::Order => "with inconsistent times",
            Rejection::Bytes => "with more bytes than possible",
            Rejection::Workload => "for an unknown workload",
            Rejection::Operations => "above the limit for operations",
            Rejection::Intervals => "above the limit for intervals",
            Rejection::Connections => "above the limit for connection samples",
            Rejection::Links => "above the limit for link samples",
            Rejection::Events => "above the limit for events",
            Rejection::Text => "above the limit for event text",
        }
    }
}

/// Number of rows were rejected for which reason. Its text is a list: `12 events more than a
/// station can have, 1 outside of the run's time`.
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

    /// Quality issue of the rejected rows of `sender`: `agent laptop`, `the server`.
    #[must_use]
    pub fn issue(&self, sender: &str) -> QualityIssue {
        QualityIssue::RowsRejected {
            sender: sender.to_owned(),
            rows: self.total(),
            reasons: self.to_string(),
        }
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
