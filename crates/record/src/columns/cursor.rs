//! Values of a Parquet file, column by column.

use super::dictionary::{Dictionary, Name};
use super::{Column, Values};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;

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

/// Takes the values of one row, column by column.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    columns: &'a mut [Decoded],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the first column of the next row.
    pub(super) fn new(columns: &'a mut [Decoded]) -> Self {
        Cursor { columns, at: 0 }
    }

    pub(crate) fn maybe_number(&mut self) -> Option<i64> {
        let reader = &mut self.columns[self.at].reader;
        self.at += 1;
        match reader {
            Reader::Numbers(column) => column.next().copied(),
            Reader::Absent => None,
            Reader::Names(_) | Reader::Texts(_) => unreachable!("a number comes from a column of numbers"),
        }
    }

    pub(crate) fn maybe_name(&mut self) -> Option<Name<'_>> {
        let reader = &mut self.columns[self.at].reader;
        self.at += 1;
        match reader {
            Reader::Names(column) => column.next(),
            Reader::Absent => None,
            Reader::Numbers(_) | Reader::Texts(_) => unreachable!("a name comes from a column of names"),
        }
    }

    pub(crate) fn maybe_text(&mut self) -> Option<&[u8]> {
        let reader = &mut self.columns[self.at].reader;
        self.at += 1;
        match reader {
            Reader::Texts(column) => column.next().map(ByteArray::data),
            Reader::Absent => None,
            Reader::Numbers(_) | Reader::Names(_) => unreachable!("text comes from a column of text"),
        }
    }
}

/// One column, decoded a batch at a time.
#[derive(Debug)]
pub(super) struct Decoded {
    name: &'static str,
    reader: Reader,
}

#[derive(Debug)]
enum Reader {
    Numbers(Plain<Int64Type>),
    Names(Dictionary),
    Texts(Plain<ByteArrayType>),
    /// A column that the file does not have.
    Absent,
}

impl Decoded {
    pub(super) fn new(column: Column, place: Option<usize>, group: &dyn RowGroupReader) -> Result<Self, ParquetError> {
        let Some(place) = place else {
            return Ok(Decoded {
                name: column.name,
                reader: Reader::Absent,
            });
        };
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

    /// Decodes the values of `count` rows.
    pub(super) fn load(&mut self, count: usize) -> Result<(), BadTable> {
        let whole = match &mut self.reader {
            Reader::Numbers(values) => values.load(count)?,
            Reader::Names(values) => values.load(count)?,
            Reader::Texts(values) => values.load(count)?,
            Reader::Absent => true,
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
