//! Tables as Arrow record batches. Other libraries read them through the PyCapsule interface of Arrow.

use arrow_array::builder::{Int64Builder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray as _;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use netburn_analysis::fitted::{FittedView, ObservationView};
use netburn_fit::{Draw, Models};
use netburn_record::table_values::TableValue;
use netburn_record::{Column, Error, Run, RunTable, Values};
use netburn_report::html::escaped;
use netburn_study::sweep::{Cells, MetricValue, Rows, Unit, column_names};
use netburn_units::format_decimal;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashMap;
use std::sync::Arc;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 17;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Table>()
}

/// A table in memory.
#[pyclass(frozen, module = "netburn_runtime")]
pub(crate) struct Table {
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// Number of rows.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Table of {} rows, {} columns>",
            self.__len__(),
            self.schema.fields().len()
        )
    }

    /// The first rows as HTML, for notebooks.
    fn _repr_html_(&self) -> String {
        let names = self
            .schema
            .fields()
            .iter()
            .map(|field| format!("<th>{}</th>", escaped(field.name())));
        let rows = self
            .batches
            .iter()
            .flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)))
            .take(HTML_ROWS);
        let rows = rows.map(|(batch, row)| {
            let cells = batch
                .columns()
                .iter()
                .map(|column| format!("<td>{}</td>", escaped(&cell(column, row))));
            format!("<tr>{}</tr>", cells.collect::<String>())
        });
        format!(
            "<table><caption style=\"text-align:left\">{} rows, {} columns</caption><thead><tr>{}</tr></thead>\
             <tbody>{}</tbody></table>",
            self.__len__(),
            self.schema.fields().len(),
            names.collect::<String>(),
            rows.collect::<String>()
        )
    }

    /// Name, unit and meaning of each column, in order. The unit is empty without one.
    #[getter]
    fn columns(&self) -> Vec<(String, String, String)> {
        let text = |field: &Field, key| field.metadata().get(key).cloned().unwrap_or_default();
        let fields = self.schema.fields().iter();
        fields
            .map(|field| (field.name().clone(), text(field, UNIT), text(field, MEANING)))
            .collect()
    }

    /// Returns the table as an Arrow stream. The schema that the consumer requests is ignored, as the interface permits.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    /// Returns the schema of the table.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(internal)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

/// Number of rows that a notebook shows.
const HTML_ROWS: usize = 10;

/// A value as text; empty if it is missing.
fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float64 => format_decimal(column.as_primitive::<Float64Type>().value(row), 3),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        // The tables have no other types.
        other => other.to_string(),
    }
}

/// Keys of a field's metadata.
const UNIT: &str = "unit";
const MEANING: &str = "meaning";

/// A column while it is filled.
enum Builder {
    Signed(Int64Builder),
    Unsigned(UInt64Builder),
    Text(StringBuilder),
}

impl Builder {
    fn new(values: Values) -> Self {
        match values {
            Values::Signed => Builder::Signed(Int64Builder::new()),
            Values::Unsigned => Builder::Unsigned(UInt64Builder::new()),
            Values::Name | Values::Text => Builder::Text(StringBuilder::new()),
        }
    }

    fn put(&mut self, value: Option<TableValue<'_>>) {
        match (self, value) {
            (Builder::Signed(column), Some(TableValue::Signed(value))) => column.append_value(value),
            (Builder::Unsigned(column), Some(TableValue::Unsigned(value))) => column.append_value(value),
            (Builder::Text(column), Some(TableValue::Text(value))) => {
                column.append_value(String::from_utf8_lossy(value));
            }
            (Builder::Signed(column), _) => column.append_null(),
            (Builder::Unsigned(column), _) => column.append_null(),
            (Builder::Text(column), _) => column.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Signed(column) => Arc::new(column.finish()),
            Builder::Unsigned(column) => Arc::new(column.finish()),
            Builder::Text(column) => Arc::new(column.finish()),
        }
    }
}

impl Table {
    /// A table of a run. Of a run set, the rows of all runs follow each other.
    pub(crate) fn of_run(run: &Run, table: RunTable) -> Result<Self, Error> {
        let columns = table.columns();
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let mut builders: Vec<Builder> = columns.iter().map(|column| Builder::new(column.values)).collect();
        let (mut batches, mut rows) = (Vec::new(), 0);
        let batch = |builders: &mut Vec<Builder>| {
            let arrays = builders.iter_mut().map(Builder::finish).collect();
            RecordBatch::try_new(Arc::clone(&schema), arrays).expect("each column has the type of its field")
        };
        let mut take = |row: &[(&'static str, Option<TableValue<'_>>)]| {
            for (builder, (_, value)) in builders.iter_mut().zip(row) {
                builder.put(*value);
            }
            rows += 1;
            if rows == BATCH_ROWS {
                batches.push(batch(&mut builders));
                rows = 0;
            }
        };
        match run.run_folders() {
            folders if folders.is_empty() => run.table_values(table, &mut take)?,
            folders => {
                for folder in folders {
                    Run::open(&folder)?.table_values(table, &mut take)?;
                }
            }
        }
        if rows > 0 {
            batches.push(batch(&mut builders));
        }
        Ok(Table { schema, batches })
    }
}

impl Table {
    /// The rows of a sweep: run, keys, seed and metrics.
    pub(crate) fn of_sweep(rows: &Rows) -> Self {
        let each = || rows.rows.iter();
        let mut fields = vec![Field::new("run", DataType::UInt64, false)];
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(each().map(|row| row.run).collect::<UInt64Array>())];
        for (place, key) in rows.keys.iter().enumerate() {
            fields.push(Field::new(key, DataType::Utf8, false));
            let values = each().map(|row| Some(row.values[place].as_str()));
            arrays.push(Arc::new(values.collect::<StringArray>()));
        }
        fields.push(Field::new("run_seed", DataType::UInt64, true));
        arrays.push(Arc::new(each().map(|row| row.seed).collect::<UInt64Array>()));
        for (place, column) in rows.columns.iter().enumerate() {
            let metrics = each().map(|row| &row.metrics[place]);
            let kind = if column.unit == Unit::Verdict {
                let text = metrics.map(|metric| match metric {
                    MetricValue::Text(text) => Some(*text),
                    MetricValue::None | MetricValue::Number(_) => None,
                });
                arrays.push(Arc::new(text.collect::<StringArray>()));
                DataType::Utf8
            } else {
                arrays.push(Arc::new(metrics.map(MetricValue::number).collect::<Float64Array>()));
                DataType::Float64
            };
            let field = Field::new(&column.name, kind, true);
            fields.push(with_facts(field, [(UNIT, column.unit.symbol())]));
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
        let batches = vec![batch.expect("each column has the type of its field and a value for each row")];
        Table { schema, batches }
    }
}

impl Table {
    /// The cells of a sweep: keys, number of runs, and the median of each metric with the ends of its interval.
    pub(crate) fn of_cells(cells: &Cells<'_>) -> Self {
        let each = || cells.cells.iter();
        let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
        for (place, key) in cells.keys.iter().enumerate() {
            fields.push(Field::new(key, DataType::Utf8, false));
            let values = each().map(|cell| Some(cell.values[place].as_str()));
            arrays.push(Arc::new(values.collect::<StringArray>()));
        }
        fields.push(Field::new("runs", DataType::UInt64, false));
        arrays.push(Arc::new(
            each().map(|cell| cell.rows.len() as u64).collect::<UInt64Array>(),
        ));
        for (place, column) in cells.columns() {
            let estimates: Vec<[Option<f64>; 3]> = each().map(|cell| cell.values_of(*place)).collect();
            for (index, name) in column_names(column).into_iter().enumerate() {
                let field = Field::new(name, DataType::Float64, true);
                fields.push(with_facts(field, [(UNIT, column.unit.symbol())]));
                let values = estimates.iter().map(|estimate| estimate[index]);
                arrays.push(Arc::new(values.collect::<Float64Array>()));
            }
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
        let batches = vec![batch.expect("each column has the type of its field and a value for each cell")];
        Table { schema, batches }
    }
}

impl Table {
    /// The posterior of a fit: a row for each model, with its probability and its parameters.
    pub(crate) fn of_draws(models: &Models) -> Self {
        let each = || models.draws.iter();
        let discipline = Field::new("discipline", DataType::Utf8, false);
        let probability = Field::new("probability", DataType::Float64, false);
        let mut fields = vec![
            with_facts(discipline, [(MEANING, "queue discipline of the access point")]),
            with_facts(probability, [(UNIT, "share"), (MEANING, "probability of the model")]),
        ];
        let disciplines = each().map(|draw| Some(draw.discipline.name()));
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(disciplines.collect::<StringArray>()),
            Arc::new(Float64Array::from_iter_values(each().map(|draw| draw.probability))),
        ];
        for (place, parameter) in models.home().parameters().into_iter().enumerate() {
            let field = Field::new(parameter.key(models.home()), DataType::Float64, true);
            fields.push(with_facts(field, [(UNIT, parameter.unit())]));
            let value = |draw: &Draw| {
                let has_parameter = parameter.exists_with(draw.discipline);
                has_parameter.then(|| draw.values[place])
            };
            arrays.push(Arc::new(each().map(value).collect::<Float64Array>()));
        }
        Table::of_arrays(fields, arrays)
    }

    /// Measured values beside those of a fit.
    pub(crate) fn of_observations(fit: &FittedView) -> Self {
        let each = || fit.observations.iter();
        let mut fields = Vec::new();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        let mut add = |name: &str, meaning: &'static str, array: ArrayRef, optional: bool| {
            let field = Field::new(name, array.data_type().clone(), optional);
            fields.push(with_facts(field, [(MEANING, meaning)]));
            arrays.push(array);
        };
        let text = |value: &dyn Fn(&ObservationView) -> Option<String>| -> ArrayRef {
            Arc::new(each().map(value).collect::<StringArray>())
        };
        let number = |value: fn(&ObservationView) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(each().map(value)))
        };
        let phases = text(&|one| Some(fit.phase_of(one).map_or_else(String::new, |phase| phase.name.clone())));
        add("phase", "transfers during the measurement", phases, false);
        let stations = text(&|one| Some(one.station.clone()));
        add("station", "", stations, false);
        let quantities = text(&|one| Some(one.quantity.name().to_owned()));
        add(
            "quantity",
            "goodput, latency, or rate of the Wi-Fi link",
            quantities,
            false,
        );
        let directions = text(&|one| Some(one.direction?.name().to_owned()));
        add("direction", "direction of a goodput or of a rate", directions, true);
        let targets = text(&|one| one.target.clone());
        add("target", "host that answers the probes of a latency", targets, true);
        let percentiles = each().map(|one| one.percentile.map(u64::from));
        let percentiles = Arc::new(percentiles.collect::<UInt64Array>());
        add("percentile", "percentile of a latency", percentiles, true);
        let units = text(&|one| Some(one.quantity.unit().to_owned()));
        add("unit", "unit of the values", units, false);
        add("measured", "measured value", number(|one| one.measured), false);
        add("modelled", "median of the models", number(|one| one.modelled), false);
        let bound = "bound of the 90 % interval of a measured value";
        add("low", bound, number(|one| one.interval[0]), false);
        add("high", bound, number(|one| one.interval[1]), false);
        let inside = each().map(|one| Some(one.agrees())).collect::<BooleanArray>();
        add("inside", "the measured value is inside", Arc::new(inside), false);
        Table::of_arrays(fields, arrays)
    }

    fn of_arrays(fields: Vec<Field>, arrays: Vec<ArrayRef>) -> Self {
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
        let batches = vec![batch.expect("each column has the type of its field and a value for each row")];
        Table { schema, batches }
    }
}

fn field(column: &Column) -> Field {
    let kind = match column.values {
        Values::Signed => DataType::Int64,
        Values::Unsigned => DataType::UInt64,
        Values::Name | Values::Text => DataType::Utf8,
    };
    let field = Field::new(column.name, kind, column.optional);
    with_facts(field, [(UNIT, column.unit), (MEANING, column.meaning)])
}

/// The field with those facts that are not empty.
fn with_facts<const N: usize>(field: Field, facts: [(&'static str, &'static str); N]) -> Field {
    let facts = facts.into_iter().filter(|(_, text)| !text.is_empty());
    let facts = facts.map(|(key, text)| (key.to_owned(), text.to_owned()));
    field.with_metadata(facts.collect::<HashMap<_, _>>())
}

fn internal(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(format!("internal error of netburn: {error}"))
}
