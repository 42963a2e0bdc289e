//! Export as a folder of Parquet files: the tables of all runs of a folder, and its
//! [`csv_rows`](mod@super::csv_rows).
//!
//! `operations.parquet`, `intervals.parquet`, `connections.parquet`, `link.parquet` and
//! `events.parquet` are those of the record (`docs/RECORD.md`) with one more column in front:
//! `run`, the run's name. `lines.parquet` has this column too, and a row for each run, station and
//! workload.

use super::csv_rows::{COLUMNS, Cell, CsvRow, csv_rows};
use super::{Error, each};
use crate::columns::Column;
use crate::columns::Values::Name;
use crate::columns::names::Names;
use crate::columns::tables::{IntervalTableRow, Table};
use crate::columns::write::{FileWriter, io_error};
use crate::error::Error as RunError;
use crate::row::{ConnectionRow, EventRow, LinkRow, OperationRow};
use crate::run::Run;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes the files into `folder`, which is made if need be; their paths.
///
/// # Errors
/// When the record can't be read, or a file not be written.
pub fn write(run: &Run, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    std::fs::create_dir_all(folder).map_err(RunError::io(folder))?;
    Ok(vec![
        table::<OperationRow>(run, folder)?,
        table::<IntervalTableRow>(run, folder)?,
        table::<ConnectionRow>(run, folder)?,
        table::<LinkRow>(run, folder)?,
        table::<EventRow>(run, folder)?,
        write_rows(run, folder)?,
    ])
}

/// One table of all runs.
fn table<T: Table>(run: &Run, folder: &Path) -> Result<PathBuf, Error> {
    let path = folder.join(format!("{}.parquet", T::NAME));
    let columns: Vec<Column> = [Column::new("run", Name)].iter().chain(T::COLUMNS).copied().collect();
    let mut file = File::create(&path).and_then(|file| FileWriter::new(file, T::NAME, &columns))?;
    each(run, |name, run| {
        let (name, names) = (ByteArray::from(name), Names::new(&run.header().plan));
        let mut written = Ok(());
        run.table::<T>(&mut |row| {
            if written.is_ok() {
                written = file.put(|batch| {
                    batch.text(name.clone());
                    row.write(&names, batch);
                });
            }
        })?;
        Ok(written?)
    })?;
    file.finish()?;
    Ok(path)
}

fn write_rows(run: &Run, folder: &Path) -> Result<PathBuf, Error> {
    let path = folder.join("lines.parquet");
    let lines = csv_rows(run)?;
    let file = File::create(&path)?;
    put(file, &lines).map_err(io_error)?;
    Ok(path)
}

fn put(to: File, lines: &[CsvRow]) -> ParquetResult<()> {
    let properties = WriterProperties::builder().set_created_by("netburn".to_owned());
    let mut file = SerializedFileWriter::new(to, schema(lines)?, Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    for place in 0..COLUMNS.len() {
        column(&mut group, lines, place)?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}

/// Every row has texts and counts; measurements may be missing. Without rows, a column is one of
/// measurements.
fn schema(lines: &[CsvRow]) -> ParquetResult<TypePtr> {
    let field = |(place, (_, name)): (usize, &(&str, &str))| {
        let (physical, logical, repetition) = match lines.first().map(|line| &line.cells[place]) {
            Some(Cell::Text(_)) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
            Some(Cell::Count(_)) => (
                Physical::INT64,
                Some(LogicalType::integer(64, false)),
                Repetition::REQUIRED,
            ),
            Some(Cell::Number(_)) | None => (Physical::DOUBLE, None, Repetition::OPTIONAL),
        };
        let builder = Type::primitive_type_builder(name, physical);
        let field = builder.with_logical_type(logical).with_repetition(repetition).build();
        field.map(Arc::new)
    };
    let fields: ParquetResult<Vec<TypePtr>> = COLUMNS.iter().enumerate().map(field).collect();
    Ok(Arc::new(
        Type::group_type_builder("lines").with_fields(fields?).build()?,
    ))
}

fn column(group: &mut SerializedRowGroupWriter<'_, File>, lines: &[CsvRow], place: usize) -> ParquetResult<()> {
    let cells = || lines.iter().map(|line| &line.cells[place]);
    let mut column = group.next_column()?.expect("the schema has this column");
    match cells().next() {
        Some(Cell::Text(_)) => {
            let values: Vec<ByteArray> = cells()
                .filter_map(|cell| match cell {
                    Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                    _ => None,
                })
                .collect();
            column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
        Some(Cell::Count(_)) => {
            let values: Vec<i64> = cells()
                .filter_map(|cell| match cell {
                    Cell::Count(count) => Some(*count as i64),
                    _ => None,
                })
                .collect();
            column.typed::<Int64Type>().write_batch(&values, None, None)?;
        }
        Some(Cell::Number(_)) | None => {
            let values: Vec<Option<f64>> = cells()
                .map(|cell| match cell {
                    Cell::Number(number) => *number,
                    _ => None,
                })
                .collect();
            let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
            let values: Vec<f64> = values.into_iter().flatten().collect();
            column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    column.close()
}
