//! A run for spreadsheets (RFC 4180): a heading, and one row for each run, station and workload.

use super::Error;
use super::csv_rows::{COLUMNS, Cell, LEGACY_COLUMNS, csv_rows};
use netburn_record::Run;
use std::io::Write;

/// The columns that users of the older netburn know, and idle latency: those that `netburn fetch -o` writes.
pub const HEADING: [&str; LEGACY_COLUMNS] = {
    let mut heading = [""; LEGACY_COLUMNS];
    let mut place = 0;
    while place < LEGACY_COLUMNS {
        heading[place] = COLUMNS[place].0;
        place += 1;
    }
    heading
};

/// Writes all [`csv_rows`].
///
/// # Errors
/// When the record can't be read, or `to` not be written.
pub fn write(run: &Run, to: &mut dyn Write) -> Result<(), Error> {
    write!(to, "{}\r\n", COLUMNS.map(|(name, _)| name).join(","))?;
    for line in csv_rows(run)? {
        let fields: Vec<String> = line.cells.iter().map(field).collect();
        write!(to, "{}\r\n", fields.join(","))?;
    }
    Ok(to.flush()?)
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => quoted(text),
        Cell::Number(number) => number.map_or(String::new(), |number| format!("{number:.3}")),
        Cell::Count(count) => count.to_string(),
    }
}

/// A field, in quotes if necessary. A field that a spreadsheet would interpret as a formula becomes plain
/// text.
#[must_use]
pub fn quoted(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_one_field_and_plain_text() {
        assert_eq!(quoted("box"), "box");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
    }

    #[test]
    fn legacy_columns_end_with_idle_latency() {
        assert_eq!(
            (HEADING[0], HEADING[LEGACY_COLUMNS - 1]),
            ("hostname", "idle latency ms")
        );
    }
}
