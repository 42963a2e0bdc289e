//! Rows into a Parquet file, one row group at a time.

use super::names::Names;
use super::tables::Table;
use super::{Column, ROW_GROUP, properties, schema};
use crate::error::io_error;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedFileWriter;
use std::io::{self, Write};
use std::marker::PhantomData;

/// Values collected for one row group, column by column.
#[derive(Debug)]
pub(crate) struct Batch {
    columns: Vec<Gathered>,
    /// The column that the next value of the current row belongs to.
    at: usize,
    rows: usize,
}

#[derive(Debug)]
enum Gathered {
    Numbers {
        values: Vec<i64>,
        /// For an optional column: 1 where a value exists, otherwise 0.
        levels: Option<Vec<i16>>,
    },
    Texts {
        values: Vec<ByteArray>,
        levels: Option<Vec<i16>>,
    },
}

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    Number(i64),
    Text(&'a [u8]),
}

impl Batch {
    pub(crate) fn new(columns: &[Column]) -> Self {
        let gathered = |column: &Column| {
            let levels = column.optional.then(Vec::new);
            if column.is_text() {
                Gathered::Texts {
                    values: Vec::new(),
                    levels,
                }
            } else {
                Gathered::Numbers {
                    values: Vec::new(),
                    levels,
                }
            }
        };
        Batch {
            columns: columns.iter().map(gathered).collect(),
            at: 0,
            rows: 0,
        }
    }

    /// The values of the only row, in order. For writers of other formats than Parquet.
    pub(crate) fn row(&self) -> impl Iterator<Item = Option<Value<'_>>> {
        self.columns.iter().map(|column| match column {
            Gathered::Numbers { values, .. } => values.first().copied().map(Value::Number),
            Gathered::Texts { values, .. } => values.first().map(|text| Value::Text(text.data())),
        })
    }

    /// Removes the values of the only row.
    pub(crate) fn clear(&mut self) {
        self.at = 0;
        for column in &mut self.columns {
            let levels = match column {
                Gathered::Numbers { values, levels } => {
                    values.clear();
                    levels
                }
                Gathered::Texts { values, levels } => {
                    values.clear();
                    levels
                }
            };
            levels.iter_mut().for_each(Vec::clear);
        }
    }

    /// The next value of the current row.
    pub(crate) fn number(&mut self, value: i64) {
        self.maybe_number(Some(value));
    }

    pub(crate) fn maybe_number(&mut self, value: Option<i64>) {
        let Gathered::Numbers { values, levels } = &mut self.columns[self.at] else {
            unreachable!("a number goes into a column of numbers");
        };
        values.extend(value);
        if let Some(levels) = levels {
            levels.push(i16::from(value.is_some()));
        }
        self.at += 1;
    }

    pub(crate) fn text(&mut self, value: ByteArray) {
        self.maybe_text(Some(value));
    }

    pub(crate) fn maybe_text(&mut self, value: Option<ByteArray>) {
        let Gathered::Texts { values, levels } = &mut self.columns[self.at] else {
            unreachable!("text goes into a column of text");
        };
        if let Some(levels) = levels {
            levels.push(i16::from(value.is_some()));
        }
        values.extend(value);
        self.at += 1;
    }
}

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
