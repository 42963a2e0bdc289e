//! Rows as a Parquet file: keys' values as text, metrics as doubles, verdicts as text. Unknown values are null.

use super::columns::MetricValue;
use super::rows::{Row, Rows};
use netburn_record::metrics::Unit;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// Rows in a row group.
const ROW_GROUP: usize = 1 << 16;

/// Encodes the rows as a Parquet file: `run`, the varied keys, `run_seed`, then the columns.
///
/// # Errors
/// The rows cannot be encoded.
pub fn parquet(rows: &Rows) -> Result<Vec<u8>> {
    let properties = WriterProperties::builder().set_created_by("netburn".to_owned());
    let mut file = SerializedFileWriter::new(Vec::new(), schema(rows)?, Arc::new(properties.build()))?;
    for chunk in rows.rows.chunks(ROW_GROUP) {
        let mut group = file.next_row_group()?;
        numbers(&mut group, chunk.iter().map(|row| Some(row.run)), false)?;
        for key in 0..rows.keys.len() {
            texts(
                &mut group,
                chunk.iter().map(|row| Some(row.values[key].as_str())),
                false,
            )?;
        }
        numbers(&mut group, chunk.iter().map(|row| row.seed), true)?;
        for (place, column) in rows.columns.iter().enumerate() {
            match column.unit {
                Unit::Verdict => texts(&mut group, chunk.iter().map(|row| verdict(row, place)), true)?,
                _ => doubles(&mut group, chunk.iter().map(|row| row.metrics[place].number()))?,
            }
        }
        group.close()?;
    }
    file.into_inner()
}

fn verdict(row: &Row, place: usize) -> Option<&str> {
    match &row.metrics[place] {
        MetricValue::Text(text) => Some(text),
        MetricValue::None | MetricValue::Number(_) => None,
    }
}

fn schema(rows: &Rows) -> Result<TypePtr> {
    let field = |name: &str, physical, logical, repetition| {
        let builder = Type::primitive_type_builder(name, physical);
        let field = builder.with_logical_type(logical).with_repetition(repetition).build();
        field.map(Arc::new)
    };
    let unsigned = || Some(LogicalType::integer(64, false));
    let text = || Some(LogicalType::String);
    let mut fields = vec![field("run", Physical::INT64, unsigned(), Repetition::REQUIRED)?];
    for key in &rows.keys {
        fields.push(field(key, Physical::BYTE_ARRAY, text(), Repetition::REQUIRED)?);
    }
    fields.push(field("run_seed", Physical::INT64, unsigned(), Repetition::OPTIONAL)?);
    for column in &rows.columns {
        fields.push(match column.unit {
            Unit::Verdict => field(&column.name, Physical::BYTE_ARRAY, text(), Repetition::OPTIONAL)?,
            _ => field(&column.name, Physical::DOUBLE, None, Repetition::OPTIONAL)?,
        });
    }
    Ok(Arc::new(Type::group_type_builder("sweep").with_fields(fields).build()?))
}

fn numbers(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: impl Iterator<Item = Option<u64>>,
    optional: bool,
) -> Result<()> {
    let values: Vec<Option<u64>> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<i64> = values.into_iter().flatten().map(|value| value as i64).collect();
    let mut column = group.next_column()?.expect("the schema has this column");
    column
        .typed::<Int64Type>()
        .write_batch(&values, optional.then_some(&levels[..]), None)?;
    column.close()
}

fn doubles(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, values: impl Iterator<Item = Option<f64>>) -> Result<()> {
    let values: Vec<Option<f64>> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<f64> = values.into_iter().flatten().collect();
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
    column.close()
}

fn texts<'a>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: impl Iterator<Item = Option<&'a str>>,
    optional: bool,
) -> Result<()> {
    let values: Vec<Option<&str>> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<ByteArray> = values.into_iter().flatten().map(ByteArray::from).collect();
    let mut column = group.next_column()?.expect("the schema has this column");
    column
        .typed::<ByteArrayType>()
        .write_batch(&values, optional.then_some(&levels[..]), None)?;
    column.close()
}
