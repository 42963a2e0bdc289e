//! A Parquet file back into rows, a batch at a time.

use super::cursor::{BadTable, Cursor, Decoded};
use super::names::{Lookup, Names};
use super::tables::Table;
use super::{Column, schema};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::{Type, TypePtr};
use std::ops::ControlFlow;

/// Rows decoded at a time.
const BATCH: usize = 1 << 13;

/// Hands the rows of a table to `take`, in the file's order, until it breaks.
pub(crate) fn rows<T: Table, R: ChunkReader + 'static>(
    from: R,
    names: &Names,
    take: &mut dyn FnMut(T) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, BadTable> {
    let file = SerializedFileReader::new(from)?;
    let places = places::<T>(file.metadata().file_metadata().schema_descr().root_schema())?;
    let mut lookup = Lookup::new(names);
    let mut read = 0;
    for index in 0..file.num_row_groups() {
        let group = file.get_row_group(index)?;
        let mut columns = T::COLUMNS
            .iter()
            .zip(&places)
            .map(|(column, place)| Decoded::new(*column, *place, group.as_ref()))
            .collect::<Result<Vec<_>, ParquetError>>()?;
        lookup.begin();
        let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        while left > 0 {
            let count = left.min(BATCH);
            for column in &mut columns {
                column.load(count)?;
            }
            for _ in 0..count {
                let mut cursor = Cursor::new(&mut columns);
                let row = T::read(&mut lookup, &mut cursor);
                if take(row.map_err(|what| BadTable::Row { row: read, what })?).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                read += 1;
            }
            left -= count;
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The place in a file of each column of a table. `None` for an optional column that the file does not
/// have because the file is older. Columns of newer files are skipped.
fn places<T: Table>(found: &Type) -> Result<Vec<Option<usize>>, BadTable> {
    let known = schema(T::NAME, T::COLUMNS);
    let place = |(column, known): (&Column, &TypePtr)| {
        let place = found.get_fields().iter().position(|field| field.name() == column.name);
        match place {
            Some(place) if found.get_fields()[place] == *known => Ok(Some(place)),
            None if column.optional => Ok(None),
            _ => Err(BadTable::Schema(T::NAME)),
        }
    };
    if found.name() != T::NAME {
        return Err(BadTable::Schema(T::NAME));
    }
    T::COLUMNS.iter().zip(known.get_fields()).map(place).collect()
}
