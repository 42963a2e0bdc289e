//! The tables of a run as rows, as named values, and as Parquet files, for writers of other formats.

use crate::columns::Column;
use crate::columns::Values;
use crate::columns::batch::{Batch, Value};
use crate::columns::names::Names;
use crate::columns::tables::{RunTable, Table};
use crate::columns::write::FileWriter;
use crate::error::Error;
use crate::row::{AirRow, ConnectionRow, EventRow, IntervalRow, LinkRow, ObservedRow, OperationRow};
use crate::run::Run;
use parquet::data_type::ByteArray;
use std::fs::File;
use std::io;

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableValue<'a> {
    /// An integer.
    Signed(i64),
    /// An integer of an unsigned column.
    Unsigned(u64),
    /// UTF-8.
    Text(&'a [u8]),
}

/// The values of one row with the names of their columns, in order; `None` where a value is missing.
pub type TableRow<'a> = [(&'static str, Option<TableValue<'a>>)];

impl Run {
    /// Passes the values of each row of one table to `take`.
    ///
    /// # Errors
    /// When the table can't be read.
    pub fn table_values(&self, table: RunTable, take: &mut dyn FnMut(&TableRow<'_>)) -> Result<(), Error> {
        match table {
            RunTable::Operations => self.values_of::<OperationRow>(take),
            RunTable::Intervals => self.values_of::<IntervalRow>(take),
            RunTable::Airtime => self.values_of::<AirRow>(take),
            RunTable::Connections => self.values_of::<ConnectionRow>(take),
            RunTable::Links => self.values_of::<LinkRow>(take),
            RunTable::Observed => self.values_of::<ObservedRow>(take),
            RunTable::Events => self.values_of::<EventRow>(take),
        }
    }

    fn values_of<T: Table>(&self, take: &mut dyn FnMut(&TableRow<'_>)) -> Result<(), Error> {
        let names = Names::new(&self.header().plan);
        let mut batch = Batch::new(T::COLUMNS);
        self.table::<T>(&mut |row| {
            row.write(&names, &mut batch);
            let values = T::COLUMNS.iter().zip(batch.row()).map(|(column, value)| {
                let value = value.map(|value| match value {
                    Value::Number(number) if column.values == Values::Unsigned => TableValue::Unsigned(number as u64),
                    Value::Number(number) => TableValue::Signed(number),
                    Value::Text(bytes) => TableValue::Text(bytes),
                });
                (column.name, value)
            });
            take(&values.collect::<Vec<_>>());
            batch.clear();
        })
    }
}

/// A Parquet file with one table of several runs. Its first column is `run`, the name of the run. The other columns are
/// those of the table.
///
/// **Call order:** [`new`](Self::new), [`put`](Self::put) for each run, then [`finish`](Self::finish).
pub struct TableCopy {
    table: RunTable,
    file: FileWriter<File>,
    written: io::Result<()>,
}

impl TableCopy {
    /// Starts a file of a table in `file`.
    ///
    /// # Errors
    /// An I/O error when the file can't be written.
    pub fn new(file: File, table: RunTable) -> io::Result<Self> {
        let run = [Column::of_names("run")];
        let columns: Vec<Column> = run.iter().chain(table.columns()).copied().collect();
        Ok(TableCopy {
            table,
            file: FileWriter::new(file, table.name(), &columns)?,
            written: Ok(()),
        })
    }

    /// Adds the rows of a run under that name. Does nothing after a write error, which [`finish`](Self::finish) returns.
    ///
    /// # Errors
    /// When the run's table can't be read.
    pub fn put(&mut self, name: &str, run: &Run) -> Result<(), Error> {
        match self.table {
            RunTable::Operations => self.put_table::<OperationRow>(name, run),
            RunTable::Intervals => self.put_table::<IntervalRow>(name, run),
            RunTable::Airtime => self.put_table::<AirRow>(name, run),
            RunTable::Connections => self.put_table::<ConnectionRow>(name, run),
            RunTable::Links => self.put_table::<LinkRow>(name, run),
            RunTable::Observed => self.put_table::<ObservedRow>(name, run),
            RunTable::Events => self.put_table::<EventRow>(name, run),
        }
    }

    fn put_table<T: Table>(&mut self, name: &str, run: &Run) -> Result<(), Error> {
        if self.written.is_err() {
            return Ok(());
        }
        let (name, names) = (ByteArray::from(name), Names::new(&run.header().plan));
        run.table::<T>(&mut |row| {
            if self.written.is_ok() {
                self.written = self.file.put(|batch| {
                    batch.text(name.clone());
                    row.write(&names, batch);
                });
            }
        })
    }

    /// Writes what is left and the file's end.
    ///
    /// # Errors
    /// The first I/O error of all calls.
    pub fn finish(self) -> io::Result<()> {
        self.written?;
        self.file.finish()?;
        Ok(())
    }
}
