//! Export as a folder of Parquet files: the tables of all runs of a folder, and its
//! [`csv_rows`](mod@super::csv_rows).
//!
//! `operations.parquet`, `intervals.parquet`, `airtime.parquet`, `connections.parquet`, `link.parquet` and
//! `events.parquet` are those of the record (`docs/reference/record.md`) with one more column in front:
//! `run`, the run's name. `lines.parquet` has this column too, and a row for each run, station and
//! workload.

use super::csv_rows::{COLUMNS, Cell, CsvRow, csv_rows};
use super::{Error, each};
use netburn_record::error::io_error;
use netburn_record::table_values::TableCopy;
use netburn_record::{Error as RunError, Run, RunTable};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes the files to `folder`, which is created if necessary. Returns their paths.
///
/// # Errors
/// When the record can't be read, or a file not be written.
pub fn write(run: &Run, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    std::fs::create_dir_all(folder).map_err(|source| RunError::Io {
        path: folder.to_owned(),
        source,
    })?;
    let mut paths = Vec::new();
    for table in RunTable::ALL {
        paths.push(write_table(table, run, folder)?);
    }
    paths.push(write_rows(run, folder)?);
    Ok(paths)
}

/// One table of all runs.
fn write_table(table: RunTable, run: &Run, folder: &Path) -> Result<PathBuf, Error> {
    let path = folder.join(format!("{}.parquet", table.name()));
    let mut copy = File::create(&path).and_then(|file| TableCopy::new(file, table))?;
    each(run, |name, run| Ok(copy.put(name, run)?))?;
    copy.finish()?;
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
