//! Rows as Parquet columns: one file per kind of row.
//!
//! - [`tables`]: which columns a kind of row has, and how a row becomes values and back.
//! - [`names`]: stations and workloads are numbers in rows and names in columns.
//! - [`write`], [`read`]: row groups to and from files, in bounded memory.
//!
//! Numbers are INT64, delta-encoded (Parquet's DELTA_BINARY_PACKED); text is UTF-8 with a dictionary. No compression:
//! the encodings leave little to gain and every reader knows them.

pub(crate) mod names;
pub(crate) mod read;
pub(crate) mod tables;
pub(crate) mod write;

use parquet::basic::{Encoding, LogicalType, Repetition, Type as Physical};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::sync::Arc;

/// Rows in a row group: what is held in memory while writing, some 20 MB of operations.
pub(crate) const ROW_GROUP: usize = 1 << 17;

/// One column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) values: Values,
    pub(crate) optional: bool,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// Signed 64-bit integers.
    Signed,
    /// Unsigned ones: the same bits, marked as unsigned.
    Unsigned,
    /// UTF-8 with few different values.
    Name,
    /// UTF-8 in which every value is another.
    Text,
}

impl Column {
    pub(crate) const fn new(name: &'static str, values: Values) -> Self {
        Column {
            name,
            values,
            optional: false,
        }
    }

    pub(crate) const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    const fn is_text(self) -> bool {
        matches!(self.values, Values::Name | Values::Text)
    }
}

/// The Parquet schema of a table.
pub(crate) fn schema(table: &str, columns: &[Column]) -> TypePtr {
    let field = |column: &Column| {
        let (physical, logical) = match column.values {
            Values::Signed => (Physical::INT64, None),
            Values::Unsigned => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Values::Name | Values::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = match column.optional {
            true => Repetition::OPTIONAL,
            false => Repetition::REQUIRED,
        };
        let field = Type::primitive_type_builder(column.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build();
        Arc::new(field.expect("a table's columns are written as Parquet allows"))
    };
    let group = Type::group_type_builder(table)
        .with_fields(columns.iter().map(field).collect())
        .build();
    Arc::new(group.expect("a table is a plain group"))
}

/// How a table's columns are encoded.
pub(crate) fn properties(columns: &[Column]) -> WriterPropertiesPtr {
    let mut properties = WriterProperties::builder()
        .set_created_by("netburn".to_owned())
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_data_page_row_count_limit(1 << 16)
        .set_write_batch_size(1 << 13);
    for column in columns {
        let path = ColumnPath::from(column.name);
        properties = match column.values {
            Values::Signed | Values::Unsigned => properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            Values::Name => properties.set_column_dictionary_enabled(path, true),
            Values::Text => properties.set_column_dictionary_enabled(path, false),
        };
    }
    Arc::new(properties.build())
}
