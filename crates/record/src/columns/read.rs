//! A Parquet file back into rows, a batch at a time.

use super::dictionary::{Dictionary, Name};
use super::names::{Lookup, Names};
use super::tables::Table;
use super::{Column, Values, schema};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};

/// Rows decoded at a time.
const BATCH: usize = 1 << 13;

/// Reason for which a table cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadTable {
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    #[error("the columns are not those of {0}")]
    Schema(&'static str),
    #[error("column {column} has fewer values than rows")]
    Short { column: &'static str },
    #[error("row {row} is invalid: {what}")]
    Row { row: u64, what: &'static str },
}

/// Hands every row of a table to `take`, in the file's order; the number of rows.
pub(crate) fn rows<T: Table, R: ChunkReader + 'static>(
    from: R,
    names: &Names,
    take: &mut dyn FnMut(T),
) -> Result<u64, BadTable> {
    let file = SerializedFileReader::new(from)?;
    let found = file.metadata().file_metadata().schema_descr();
    let mut known = [T::COLUMNS].into_iter().chain(T::EARLIER.iter().copied());
    let Some(table) = known.find(|columns| found.root_schema() == schema(T::NAME, columns).as_ref()) else {
        return Err(BadTable::Schema(T::NAME));
    };
    let mut lookup = Lookup::new(names);
    let mut read = 0;
    for index in 0..file.num_row_groups() {
        let group = file.get_row_group(index)?;
        let mut columns = table
            .iter()
            .enumerate()
            .map(|(place, column)| Decoded::new(*column, place, group.as_ref()))
            .collect::<Result<Vec<_>, ParquetError>>()?;
        lookup.begin();
        let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        while left > 0 {
            let count = left.min(BATCH);
            for column in &mut columns {
                column.load(count)?;
            }
            for _ in 0..count {
                let mut cursor = Cursor {
                    columns: &mut columns,
                    at: 0,
                };
                let row = T::read(&mut lookup, &mut cursor);
                take(row.map_err(|what| BadTable::Row { row: read, what })?);
                read += 1;
            }
            left -= count;
        }
    }
    Ok(read)
}

/// Takes the values of one row, column by column.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    columns: &'a mut [Decoded],
    at: usize,
}

impl Cursor<'_> {
    pub(crate) fn number(&mut self) -> i64 {
        self.maybe_number().unwrap_or_default()
    }

    pub(crate) fn unsigned(&mut self) -> u64 {
        self.number() as u64
    }

    pub(crate) fn maybe_unsigned(&mut self) -> Option<u64> {
        self.maybe_number().map(|value| value as u64)
    }

    pub(crate) fn maybe_number(&mut self) -> Option<i64> {
        // A file of earlier columns ends before.
        let Reader::Numbers(column) = &mut self.columns.get_mut(self.at)?.reader else {
            unreachable!("a number comes from a column of numbers");
        };
        self.at += 1;
        column.next().copied()
    }

    /// A name; the empty one where a file lacks it against its schema.
    pub(crate) fn name(&mut self) -> Name<'_> {
        const NONE: Name<'_> = Name {
            code: u32::MAX,
            bytes: &[],
        };
        self.maybe_name().unwrap_or(NONE)
    }

    pub(crate) fn maybe_name(&mut self) -> Option<Name<'_>> {
        let Reader::Names(column) = &mut self.columns.get_mut(self.at)?.reader else {
            unreachable!("a name comes from a column of names");
        };
        self.at += 1;
        column.next()
    }

    pub(crate) fn text(&mut self) -> &[u8] {
        self.maybe_text().unwrap_or_default()
    }

    pub(crate) fn maybe_text(&mut self) -> Option<&[u8]> {
        let Reader::Texts(column) = &mut self.columns.get_mut(self.at)?.reader else {
            unreachable!("text comes from a column of text");
        };
        self.at += 1;
        column.next().map(ByteArray::data)
    }
}

/// One column, decoded a batch at a time.
#[derive(Debug)]
struct Decoded {
    name: &'static str,
    reader: Reader,
}

#[derive(Debug)]
enum Reader {
    Numbers(Plain<Int64Type>),
    Names(Dictionary),
    Texts(Plain<ByteArrayType>),
}

impl Decoded {
    fn new(column: Column, place: usize, group: &dyn RowGroupReader) -> Result<Self, ParquetError> {
        let reader = match column.values {
            Values::Signed | Values::Unsigned => Reader::Numbers(Plain::new(column, group.get_column_reader(place)?)),
            Values::Name => Reader::Names(Dictionary::new(group.get_column_page_reader(place)?, column.optional)),
            Values::Text => Reader::Texts(Plain::new(column, group.get_column_reader(place)?)),
        };
        Ok(Decoded {
            name: column.name,
            reader,
        })
    }

    fn load(&mut self, count: usize) -> Result<(), BadTable> {
        let whole = match &mut self.reader {
            Reader::Numbers(values) => values.load(count)?,
            Reader::Names(values) => values.load(count)?,
            Reader::Texts(values) => values.load(count)?,
        };
        if whole {
            Ok(())
        } else {
            Err(BadTable::Short { column: self.name })
        }
    }
}

struct Plain<D: DataType> {
    reader: ColumnReaderImpl<D>,
    values: Vec<D::T>,
    /// For an optional column: 1 where a value exists.
    levels: Option<Vec<i16>>,
    at_value: usize,
    at_level: usize,
}

impl<D: DataType> Plain<D> {
    fn new(column: Column, reader: ColumnReader) -> Self {
        Plain {
            reader: get_typed_column_reader(reader),
            values: Vec::new(),
            levels: column.optional.then(Vec::new),
            at_value: 0,
            at_level: 0,
        }
    }

    /// Decodes `count` rows; false when the column ends before.
    fn load(&mut self, count: usize) -> Result<bool, ParquetError> {
        self.values.clear();
        self.levels.iter_mut().for_each(Vec::clear);
        (self.at_value, self.at_level) = (0, 0);
        let mut rows = 0;
        while rows < count {
            let (read, _, _) = self
                .reader
                .read_records(count - rows, self.levels.as_mut(), None, &mut self.values)?;
            if read == 0 {
                return Ok(false);
            }
            rows += read;
        }
        let present = match &self.levels {
            Some(levels) => levels.iter().filter(|level| **level != 0).count(),
            None => count,
        };
        Ok(self.levels.as_ref().is_none_or(|levels| levels.len() == count) && self.values.len() == present)
    }

    /// The next row's value.
    #[inline]
    fn next(&mut self) -> Option<&D::T> {
        if let Some(levels) = &self.levels {
            let level = levels[self.at_level];
            self.at_level += 1;
            if level == 0 {
                return None;
            }
        }
        let value = &self.values[self.at_value];
        self.at_value += 1;
        Some(value)
    }
}

impl<D: DataType> std::fmt::Debug for Plain<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plain")
            .field("rows", &self.values.len())
            .finish_non_exhaustive()
    }
}
