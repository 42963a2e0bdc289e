//! A run whose rows stay in memory, for programs that use the results at once.

use crate::columns::tables::RunTable;
use crate::document::{Document, TableFacts};
use crate::header::{Header, RunStatus};
use crate::memory_rows::MemoryRows;
use crate::row::{Row, Sink};
use crate::run::Run;
use crate::summary::count::Counter;
use std::io;
use std::path::Path;

/// Keeps the rows of a run in memory. Its [`Run`] has the same header, summary and rows as one that a
/// [`Recorder`](crate::Recorder) wrote, but no folder. A row needs about 300 bytes.
///
/// **Call order:** [`new`](Self::new), any number of [`put`](Sink::put), which never fails, then [`finish`](Self::finish).
#[derive(Debug)]
pub struct MemoryRecorder {
    header: Header,
    counter: Counter,
    rows: MemoryRows,
}

impl MemoryRecorder {
    /// Recorder for the rows of a run with that header.
    #[must_use]
    pub fn new(header: Header) -> Self {
        MemoryRecorder {
            counter: Counter::new(&header.plan, header.environment),
            header,
            rows: MemoryRows::default(),
        }
    }

    /// Returns the run. `name` replaces the folder's path in it and in its summary.
    #[must_use]
    pub fn finish(self, name: &str, status: &RunStatus) -> Run {
        let path = Path::new(name);
        // No file: only the numbers of rows are known.
        let tables = RunTable::ALL.map(|table| {
            let facts = TableFacts {
                rows: self.rows.count(table),
                bytes: 0,
                crc32: None,
            };
            (table.name().to_owned(), facts)
        });
        let document = Document::of_rows(&self.header, status, path, self.counter, tables.into());
        Run::in_memory(path.to_owned(), self.header, document, self.rows)
    }
}

impl Sink for MemoryRecorder {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        self.counter.row(row);
        self.rows.put(row.clone());
        Ok(())
    }
}
