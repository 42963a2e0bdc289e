//! Rows in memory, by table.

use crate::columns::tables::{RunTable, Table};
use crate::row::Row;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Rows by table, in the order in which they were put.
#[derive(Debug, Default)]
pub(crate) struct MemoryRows(BTreeMap<&'static str, Vec<Row>>);

impl MemoryRows {
    /// Adds a row.
    pub(crate) fn put(&mut self, row: Row) {
        self.0.entry(RunTable::for_row(&row).name()).or_default().push(row);
    }

    /// Number of rows of a table.
    pub(crate) fn count(&self, table: RunTable) -> u64 {
        self.0.get(table.name()).map_or(0, Vec::len) as u64
    }

    /// Passes the rows of a table to `take` until it breaks.
    pub(crate) fn table<T: Table>(&self, take: &mut dyn FnMut(T) -> ControlFlow<()>) -> ControlFlow<()> {
        let rows = self.0.get(T::NAME).into_iter().flatten();
        rows.cloned().filter_map(T::from_row).try_for_each(take)
    }
}
