//! Rows as JSON.

use super::cells::Cells;
use super::columns::MetricValue;
use super::identity::SCHEMA;
use super::rows::Rows;
use serde_json::{Map, Value, json};

/// `{ schema, keys, columns: [{ name, unit }], repeat, runs, rows: [{ run, values: { key: value }, run_seed, metrics: { name: metric } }],
/// cells }`; `runs` is the maximum number of runs of the whole sweep, and `cells` is that of [`Cells::json`]. An unknown value is
/// `null`. A row with the verdict `impossible` is an invalid cell; it has no seed.
#[must_use]
pub fn json(rows: &Rows) -> Value {
    let columns = rows.columns.iter();
    let columns: Vec<Value> = columns
        .map(|column| json!({ "name": column.name, "unit": column.unit.symbol() }))
        .collect();
    let each: Vec<Value> = rows
        .rows
        .iter()
        .map(|row| {
            let values = rows
                .keys
                .iter()
                .cloned()
                .zip(row.values.iter().cloned().map(Value::from));
            let metrics = rows.columns.iter().map(|column| column.name.clone());
            json!({
                "run": row.run,
                "values": values.collect::<Map<_, _>>(),
                "run_seed": row.seed,
                "metrics": metrics.zip(row.metrics.iter().map(metric)).collect::<Map<_, _>>(),
            })
        })
        .collect();
    json!({ "schema": SCHEMA, "keys": rows.keys, "columns": columns, "repeat": rows.repeat, "runs": rows.total_runs, "rows": each, "cells": Cells::new(rows).json() })
}

fn metric(of: &MetricValue) -> Value {
    match of {
        MetricValue::None => Value::Null,
        MetricValue::Number(value) => json!(value),
        MetricValue::Text(text) => json!(text),
    }
}
