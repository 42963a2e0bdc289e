//! A run in progress: rows in, snapshots out.

mod snapshot;

pub use snapshot::{HISTORY_SECONDS, Snapshot};

use netburn_record::aggregate::LiveRun;
use netburn_record::{Header, Row};

/// Run in progress. Rows may arrive in any order. Rows of stations that are not in the plan are ignored.
#[derive(Debug, Clone)]
pub struct Live {
    header: Header,
    run: LiveRun,
    rows: u64,
}

impl Live {
    /// Run without rows.
    #[must_use]
    pub fn new(header: &Header) -> Live {
        Live {
            header: header.clone(),
            run: LiveRun::new(&header.plan),
            rows: 0,
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row.
    pub fn put(&mut self, row: &Row) {
        self.rows += 1;
        self.run.put(row);
    }
}

#[cfg(test)]
mod tests;
