//! The whole record as one JSON document: `netburn.export/1`.
//!
//! It holds the contents of `run.json`, the [`csv_rows`](mod@super::csv_rows), and every row of
//! every table as an object with the columns' names (see `docs/reference/record.md`). Rows are written as
//! they are read, so memory is bounded.

use super::csv_rows::{COLUMNS, Cell, csv_rows};
use super::{Error, each};
use netburn_record::table_values::TableValue;
use netburn_record::{Run, RunTable, UnixTime};
use serde::Serialize;
use serde_json::json;
use std::io::{self, Write};

/// The document's schema.
pub const SCHEMA: &str = "netburn.export/1";

/// Writes the document.
///
/// # Errors
/// When the record can't be read, or `to` not be written.
pub fn write(run: &Run, to: &mut dyn Write) -> Result<(), Error> {
    let header = run.header();
    let head = json!({
        "schema": SCHEMA,
        "scenario": header.plan.name,
        "environment": header.environment,
        "started_utc": header.started.map(UnixTime::rfc3339),
        "seed": header.seed.0,
        "netburn": header.version,
        "host": header.host,
        "source": header.source,
        "status": run.status(),
        "summary": run.summary(),
        "plan": header.plan.to_json(),
        "health": run.health(),
        "clocks": run.clocks(),
    });
    let mut text = serde_json::to_string(&head).map_err(io::Error::from)?;
    text.pop();
    write!(to, "{text},\n\"lines\":[")?;
    for (line, number) in csv_rows(run)?.into_iter().zip(0_u64..) {
        write!(to, "{}", between(number))?;
        let cells = COLUMNS.iter().zip(line.cells).map(|((_, name), cell)| {
            let value = match cell {
                Cell::Text(text) => json!(text),
                Cell::Number(number) => json!(number),
                Cell::Count(count) => json!(count),
            };
            ((*name).to_owned(), value)
        });
        put(to, &cells.collect::<serde_json::Map<_, _>>())?;
    }
    write!(to, "],\n\"runs\":[")?;
    let mut number = 0;
    each(run, |name, run| {
        write!(to, "{}{{\"run\":", between(number))?;
        number += 1;
        put(to, name)?;
        for each in RunTable::ALL {
            table(each, run, to)?;
        }
        Ok(write!(to, "}}")?)
    })?;
    writeln!(to, "]}}")?;
    Ok(to.flush()?)
}

/// The rows of one table.
fn table(table: RunTable, run: &Run, to: &mut dyn Write) -> Result<(), Error> {
    write!(to, ",\n\"{}\":[", table.name())?;
    let mut written = Ok(());
    let mut number = 0;
    run.table_values(table, &mut |row| {
        let values = row.iter().map(|(name, value)| {
            let value = value.map_or(serde_json::Value::Null, |value| match value {
                TableValue::Signed(number) => json!(number),
                TableValue::Unsigned(number) => json!(number),
                TableValue::Text(bytes) => json!(String::from_utf8_lossy(bytes)),
            });
            ((*name).to_owned(), value)
        });
        let object: serde_json::Map<_, _> = values.collect();
        if written.is_ok() {
            written = to.write_all(between(number).as_bytes()).and_then(|()| put(to, &object));
        }
        number += 1;
    })?;
    written?;
    Ok(write!(to, "]")?)
}

fn put<T: Serialize + ?Sized>(to: &mut dyn Write, value: &T) -> io::Result<()> {
    Ok(serde_json::to_writer(to, value)?)
}

/// Separator before the item of that number.
fn between(number: u64) -> &'static str {
    match number {
        0 => "\n",
        _ => ",\n",
    }
}
