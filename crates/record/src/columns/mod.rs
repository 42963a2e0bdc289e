//! Rows as Parquet columns: one file per kind of row.
//!
//! - [`tables`] – columns of each kind of row, described once for all formats. [`table`](mod@table): the macro that
//!   derives the formats. [`cells`]: kinds of values.
//! - [`names`] – stations and workloads, which are numbers in rows and names in columns.
//! - [`write`], [`read`]: row groups to and from files, in bounded memory. [`dictionary`]: indices
//!   of names.
//!
//! Numbers are INT64, delta-encoded (Parquet's DELTA_BINARY_PACKED). Text is UTF-8 with a
//! dictionary. There is no compression, because it would save little.

pub(crate) mod batch;
mod cells;
pub(crate) mod cursor;
mod dictionary;
pub(crate) mod names;
pub(crate) mod read;
mod table;
pub(crate) mod tables;
pub(crate) mod write;

use parquet::basic::{Encoding, LogicalType, Repetition, Type as Physical};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::sync::Arc;

/// Maximum payload of a row in a spool in bytes. The text of an event is cut to fit.
pub(crate) const MAX_ROW_BYTES: usize = 1 << 20;

/// Rows in a row group. They are held in memory while writing: some 20 MB for operations.
pub(crate) const ROW_GROUP: usize = 1 << 17;

/// One column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Type of its values in Parquet.
    pub values: Values,
    /// True if values may be missing.
    pub optional: bool,
    /// Type of its values in messages.
    pub wire: WireType,
    /// Unit; empty without one.
    pub unit: &'static str,
    /// Meaning, as a part of a sentence.
    pub meaning: &'static str,
}

/// Type of a column's values in messages.
#[derive(Debug, Clone, Copy)]
pub enum WireType {
    /// A JSON integer of a width in bits.
    Integer {
        /// True for signed integers.
        signed: bool,
        /// Width.
        bits: u32,
    },
    /// A JSON string: one of these names.
    OneOf(fn() -> Vec<&'static str>),
    /// A JSON string.
    Text,
}

/// Type of a column's values in Parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
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
    /// A column of names that stands before those of a table.
    pub(crate) const fn of_names(name: &'static str) -> Self {
        Column {
            name,
            values: Values::Name,
            optional: false,
            wire: WireType::Text,
            unit: "",
            meaning: "",
        }
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
        let repetition = if column.optional {
            Repetition::OPTIONAL
        } else {
            Repetition::REQUIRED
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

/// Returns how a table's columns are encoded.
pub(crate) fn properties(columns: &[Column]) -> WriterPropertiesPtr {
    let mut properties = WriterProperties::builder()
        .set_created_by("netburn".to_owned())
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_data_page_row_count_limit(1 << 16)
        .set_write_batch_size(1 << 13)
        .set_key_value_metadata(Some(vec![KeyValue::new("pandas".to_owned(), pandas(columns))]));
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

/// Metadata for pandas ("Storing pandas DataFrame objects in Apache Parquet format", pandas' developer guide). Integers that
/// can be missing become pandas' nullable integers. Without the metadata they become floats.
fn pandas(columns: &[Column]) -> String {
    let whole = columns.iter().filter_map(|column| {
        let (kind, nullable) = match column.values {
            Values::Signed => ("int64", "Int64"),
            Values::Unsigned => ("uint64", "UInt64"),
            Values::Name | Values::Text => return None,
        };
        Some(serde_json::json!({
            "name": column.name,
            "field_name": column.name,
            "pandas_type": kind,
            "numpy_type": if column.optional { nullable } else { kind },
            "metadata": null,
        }))
    });
    serde_json::json!({
        "index_columns": [],
        "column_indexes": [],
        "columns": whole.collect::<Vec<_>>(),
        "creator": { "library": "netburn", "version": env!("CARGO_PKG_VERSION") },
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::batch::Batch;
    use super::cursor::{BadTable, Cursor};
    use super::names::{Lookup, Names};
    use super::read::rows;
    use super::tables::Table;
    use super::write::TableWriter;
    use super::*;
    use crate::row::{AirRow, EventKind, EventRow, IntervalRow, Row};
    use netburn_scenario::{Plan, Station};
    use netburn_units::Instant;
    use std::ops::ControlFlow;

    fn read_back<T: Table + PartialEq + std::fmt::Debug>(plan: &Plan, written: &[T]) {
        let names = Names::new(plan);
        let mut table = TableWriter::new(tempfile::tempfile().unwrap()).unwrap();
        for row in written {
            table.put(row, &names).unwrap();
        }
        let (count, file) = table.finish().unwrap();
        assert_eq!(count, written.len() as u64);
        let mut left = written.iter();
        let read = rows(file, &names, &mut |row: T| {
            assert_eq!(Some(&row), left.next());
            ControlFlow::Continue(())
        });
        assert!(read.unwrap().is_continue());
        assert_eq!(left.next(), None);
    }

    fn plan(stations: usize, name: impl Fn(usize) -> String) -> Plan {
        Plan {
            stations: (0..stations).map(|number| Station::new(&name(number))).collect(),
            ..Plan::new("columns")
        }
    }

    #[test]
    fn rows_of_several_groups_and_pages_read_back_with_missing_values() {
        let plan = plan(3, |number| format!("s{number}"));
        let event = |number: usize| EventRow {
            station: (number % 7 > 2).then_some((number % 5) as u16),
            workload: (number / 70_000 == 1).then_some(number as u16),
            at: Instant::from_nanos(number as i64),
            length: 0,
            kind: EventKind::ALL[number / 40_000],
            detail: "".into(),
        };
        let written: Vec<EventRow> = (0..ROW_GROUP + 70_001).map(event).collect();
        read_back(&plan, &written);
    }

    /// The writer gives up its dictionary beyond a megabyte and continues in plain encoding.
    #[test]
    fn names_too_many_for_a_dictionary_read_back() {
        let plan = plan(3000, |number| format!("{number:0>700}"));
        let interval = |number: u64| IntervalRow {
            station: (number * 7 % 3000) as u16,
            workload: 0,
            at: Instant::from_nanos(number as i64),
            bytes_down: number,
            bytes_up: 0,
        };
        let written: Vec<IntervalRow> = (0..12_000).map(interval).collect();
        read_back(&plan, &written);
    }

    #[test]
    fn airtime_reads_back() {
        let plan = plan(3, |number| format!("s{number}"));
        let row = |number: u16| AirRow {
            station: number % 4,
            at: Instant::from_nanos(-i64::from(number)),
            mpdus: number.into(),
            marks: u64::MAX,
            others: number
                .is_multiple_of(2)
                .then(|| netburn_units::Duration::from_nanos(number.into())),
            ..AirRow::default()
        };
        let written: Vec<AirRow> = (0..20_000).map(row).collect();
        read_back(&plan, &written);
    }

    /// The airtime table of another version: without the last column, and with another one.
    struct OtherVersion(AirRow);

    impl Table for OtherVersion {
        const NAME: &'static str = AirRow::NAME;
        const COLUMNS: &'static [Column] = &{
            let mut columns = [Column::of_names("newer"); 11];
            let mut place = 0;
            while place < 10 {
                columns[place + 1] = AirRow::COLUMNS[place];
                place += 1;
            }
            columns
        };

        fn write(&self, names: &Names, to: &mut Batch) {
            to.text("x".into());
            to.text(names.station(self.0.station));
            to.maybe_number(Some(self.0.at.as_nanos()));
            for count in 1..=8 {
                to.maybe_number(Some(self.0.mpdus as i64 * count));
            }
        }

        fn from_row(_: Row) -> Option<Self> {
            None
        }

        fn read(_: &mut Lookup<'_>, _: &mut Cursor<'_>) -> Result<Self, &'static str> {
            Err("read as the current table")
        }
    }

    #[test]
    fn a_table_of_another_version_is_read() {
        let names = Names::new(&plan(3, |number| format!("s{number}")));
        let mut table = TableWriter::new(tempfile::tempfile().unwrap()).unwrap();
        let row = |number: u16| AirRow {
            station: number % 3,
            at: Instant::from_millis(i64::from(number) * 100),
            mpdus: number.into(),
            ..AirRow::default()
        };
        for number in 0..10_000 {
            table.put(&OtherVersion(row(number)), &names).unwrap();
        }
        let (_, file) = table.finish().unwrap();
        let mut read = 0_u16;
        let all = rows(file, &names, &mut |found: AirRow| {
            let expected = u64::from(read);
            assert_eq!((found.station, found.airtime_down.as_nanos()), (read % 3, expected));
            assert_eq!(
                (found.mpdus, found.marks, found.others),
                (4 * expected, 8 * expected, None)
            );
            read += 1;
            ControlFlow::Continue(())
        });
        assert_eq!((all.unwrap(), read), (ControlFlow::Continue(()), 10_000));
    }

    #[test]
    fn a_table_of_another_kind_is_rejected() {
        let names = Names::new(&plan(1, |_| "s".to_owned()));
        let table = TableWriter::<IntervalRow, _>::new(tempfile::tempfile().unwrap()).unwrap();
        let (_, file) = table.finish().unwrap();
        let read = rows(file, &names, &mut |_: EventRow| ControlFlow::Continue(()));
        assert!(matches!(read, Err(BadTable::Schema("events"))), "{read:?}");
    }
}
