//! The whole record as one JSON document: `netburn.export/1`.
//!
//! It holds the contents of `run.json`, the [`csv_rows`](mod@super::csv_rows), and every row of
//! every table as an object with the columns' names (see `docs/RECORD.md`). Rows are written as
//! they are read, so memory is bounded.

use super::csv_rows::{COLUMNS, Cell, csv_rows};
use super::{Error, each};
use crate::columns::Values;
use crate::columns::names::Names;
use crate::columns::tables::{IntervalTableRow, Table};
use crate::columns::write::{Batch, Value};
use crate::row::{ConnectionRow, EventRow, LinkRow, OperationRow};
use crate::run::Run;
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
        "started_utc": header.started.map(crate::UnixTime::rfc3339),
        "seed": header.seed.0,
        "netburn": header.version,
        "host": header.host,
        "source": header.source,
        "ending": run.status(),
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
        table::<OperationRow>(run, to)?;
        table::<IntervalTableRow>(run, to)?;
        table::<ConnectionRow>(run, to)?;
        table::<LinkRow>(run, to)?;
        table::<EventRow>(run, to)?;
        Ok(write!(to, "}}")?)
    })?;
    writeln!(to, "]}}")?;
    Ok(to.flush()?)
}

/// The rows of one table.
fn table<T: Table>(run: &Run, to: &mut dyn Write) -> Result<(), Error> {
    write!(to, ",\n\"{}\":[", T::NAME)?;
    let names = Names::new(&run.header().plan);
    let mut batch = Batch::new(T::COLUMNS);
    let mut written = Ok(());
    let mut number = 0;
    run.table::<T>(&mut |row| {
        row.write(&names, &mut batch);
        let mut object = serde_json::Map::new();
        batch.take_row(|place, value| {
            let column = &T::COLUMNS[place];
            let value = match value {
                None => serde_json::Value::Null,
                Some(Value::Number(number)) if column.values == Values::Unsigned => json!(number as u64),
                Some(Value::Number(number)) => json!(number),
                Some(Value::Text(bytes)) => json!(String::from_utf8_lossy(bytes)),
            };
            object.insert(column.name.to_owned(), value);
        });
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
