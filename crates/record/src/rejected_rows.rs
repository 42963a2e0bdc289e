//! Rejected rows, counted by reason.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Reason for rejecting a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// Numbers of rejected rows by reason. Its text is a list: `12 above the limit for events, 1 outside the run's
/// time`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected(BTreeMap<Rejection, u64>);

impl Rejected {
    pub(crate) fn count(&mut self, rejection: Rejection) {
        *self.0.entry(rejection).or_default() += 1;
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        // A document may contain any numbers.
        self.0.values().copied().fold(0, u64::saturating_add)
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_reason_has_a_code() {
        let codes = [
            (Rejection::Time, "time"),
            (Rejection::Order, "order"),
            (Rejection::Bytes, "bytes"),
            (Rejection::Workload, "workload"),
            (Rejection::Operations, "operations"),
            (Rejection::Intervals, "intervals"),
            (Rejection::Connections, "connections"),
            (Rejection::Links, "links"),
            (Rejection::Events, "events"),
            (Rejection::Text, "text"),
        ];
        for (rejection, code) in codes {
            let mut rejected = Rejected::default();
            rejected.count(rejection);
            let document = json!({ code: 1 });
            assert_eq!(serde_json::to_value(&rejected).unwrap(), document);
            assert_eq!(serde_json::from_value::<Rejected>(document).unwrap(), rejected);
        }
    }
}
