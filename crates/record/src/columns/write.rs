//! Rows into a Parquet file, one row group at a time.

use super::batch::{Batch, Gathered};
use super::names::Names;
use super::tables::Table;
use super::{Column, ROW_GROUP, properties, schema};
use crate::error::io_error;
use parquet::data_type::{ByteArrayType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedFileWriter;
use std::io::{self, Write};
use std::marker::PhantomData;

/// Writes one table's file.
pub(crate) struct TableWriter<T, W: Write + Send> {
    file: FileWriter<W>,
    table: PhantomData<fn(T)>,
}

impl<T: Table, W: Write + Send> TableWriter<T, W> {
    pub(crate) fn new(to: W) -> io::Result<Self> {
        Ok(TableWriter {
            file: FileWriter::new(to, T::NAME, T::COLUMNS)?,
            table: PhantomData,
        })
    }

    pub(crate) fn put(&mut self, row: &T, names: &Names) -> io::Result<()> {
        self.file.put(|batch| row.write(names, batch))
    }

    /// Writes what is left and the file's end; the number of rows and what was written to.
    pub(crate) fn finish(self) -> io::Result<(u64, W)> {
        self.file.finish()
    }
}

/// Writes a file of any columns.
pub(crate) struct FileWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    batch: Batch,
    rows: u64,
}

impl<W: Write + Send> FileWriter<W> {
    pub(crate) fn new(to: W, table: &str, columns: &[Column]) -> io::Result<Self> {
        let file = SerializedFileWriter::new(to, schema(table, columns), properties(columns));
        Ok(FileWriter {
            file: file.map_err(io_error)?,
            batch: Batch::new(columns),
            rows: 0,
        })
    }

    /// One row: `give` gives a value for every column, in order.
    pub(crate) fn put(&mut self, give: impl FnOnce(&mut Batch)) -> io::Result<()> {
        give(&mut self.batch);
        debug_assert_eq!(
            self.batch.at,
            self.batch.columns.len(),
            "a row has a value for every column"
        );
        self.batch.at = 0;
        self.batch.rows += 1;
        if self.batch.rows >= ROW_GROUP {
            self.flush()
        } else {
            Ok(())
        }
    }

    pub(crate) fn finish(mut self) -> io::Result<(u64, W)> {
        self.flush()?;
        let to = self.file.into_inner().map_err(io_error)?;
        Ok((self.rows, to))
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.batch.rows == 0 {
            return Ok(());
        }
        self.rows += self.batch.rows as u64;
        self.batch.rows = 0;
        row_group(&mut self.file, &mut self.batch.columns).map_err(io_error)
    }
}

/// Writes one row group and empties the columns.
fn row_group<W: Write + Send>(file: &mut SerializedFileWriter<W>, columns: &mut [Gathered]) -> Result<()> {
    let mut group = file.next_row_group()?;
    for column in columns {
        let mut writer = group.next_column()?.expect("the schema has the batch's columns");
        match column {
            Gathered::Numbers { values, levels } => {
                writer
                    .typed::<Int64Type>()
                    .write_batch(values, levels.as_deref(), None)?;
                values.clear();
                levels.iter_mut().for_each(Vec::clear);
            }
            Gathered::Texts { values, levels } => {
                writer
                    .typed::<ByteArrayType>()
                    .write_batch(values, levels.as_deref(), None)?;
                values.clear();
                levels.iter_mut().for_each(Vec::clear);
            }
        }
        writer.close()?;
    }
    group.close()?;
    Ok(())
}
