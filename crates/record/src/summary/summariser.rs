//! A summary of rows that are not stored.

use super::count::Counter;
use super::document::Summary;
use super::verdicts::{inconclusive_reasons, run_self_check, summarise};
use crate::header::{Header, RunStatus};
use crate::row::{Row, Sink};
use std::io;

/// Computes the summary of a run from its rows as they arrive, without a folder. The result equals
/// that of a folder with the same header and rows.
///
/// **Call order:** [`new`](Self::new), any number of [`put`](Sink::put), which never fails, then [`finish`](Self::finish).
///
/// ```
/// use netburn_record::summary::Summariser;
/// use netburn_record::{RunStatus, Header};
/// use netburn_scenario::{Environment, load};
///
/// let (plan, _) = load("anomaly")?.resolve_for(Environment::Simulate)?;
/// let summary = Summariser::new(Header::simulated(plan)).finish("in memory", &RunStatus::Complete);
/// assert_eq!(summary.stations[0].throughput_mbps, 0.0); // no row, no bytes
/// # Ok::<(), netburn_scenario::ScenarioError>(())
/// ```
#[derive(Debug)]
pub struct Summariser {
    header: Header,
    counter: Counter,
}

impl Summariser {
    /// Summariser for the rows of a run with that header.
    #[must_use]
    pub fn new(header: Header) -> Self {
        Summariser {
            counter: Counter::new(&header.plan, header.environment),
            header,
        }
    }

    /// Returns the summary for a run with this status. `run` replaces the folder's path in the
    /// summary.
    #[must_use]
    pub fn finish(self, run: &str, status: &RunStatus) -> Summary {
        let evidence = self.counter.finish(status);
        let self_check = run_self_check(&self.header, status, &evidence);
        let why = inconclusive_reasons(&self.header, status, &evidence);
        summarise(&self.header, run, evidence, self_check, why)
    }
}

impl Sink for Summariser {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        self.counter.row(row);
        Ok(())
    }
}
