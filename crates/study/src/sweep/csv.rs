//! Rows as CSV (RFC 4180): one header line, lines end with CRLF, an unknown value is an empty field.

use super::rows::Rows;

/// Formats the rows as CSV: `run`, the varied keys, `run_seed`, then the columns.
#[must_use]
pub fn csv(rows: &Rows) -> String {
    let mut text = String::new();
    let header = ["run"]
        .into_iter()
        .chain(rows.keys.iter().map(String::as_str))
        .chain(["run_seed"]);
    line(
        &mut text,
        header.chain(rows.columns.iter().map(|column| column.name.as_str())),
    );
    for row in &rows.rows {
        let (run, seed) = (
            row.run.to_string(),
            row.seed.map(|seed| seed.to_string()).unwrap_or_default(),
        );
        let metrics: Vec<String> = row.metrics.iter().map(super::columns::MetricValue::field).collect();
        let before = [run.as_str()].into_iter().chain(row.values.iter().map(String::as_str));
        line(
            &mut text,
            before.chain([seed.as_str()]).chain(metrics.iter().map(String::as_str)),
        );
    }
    text
}

pub(super) fn line<'a>(text: &mut String, fields: impl Iterator<Item = &'a str>) {
    for (index, field) in fields.enumerate() {
        if index > 0 {
            text.push(',');
        }
        if field.contains([',', '"', '\r', '\n']) {
            text.extend(["\"", &field.replace('"', "\"\""), "\""])
        } else {
            text.push_str(field)
        }
    }
    text.push_str("\r\n");
}
