//! Values collected for one row group of a Parquet file, or for one row.

use super::Column;
use parquet::data_type::ByteArray;

/// Values collected for one row group, column by column.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(super) columns: Vec<Gathered>,
    /// The column that the next value of the current row belongs to.
    pub(super) at: usize,
    pub(super) rows: usize,
}

/// The values of one column.
#[derive(Debug)]
pub(super) enum Gathered {
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
