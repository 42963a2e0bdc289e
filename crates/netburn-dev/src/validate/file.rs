//! Case files.
//!
//! ```toml
//! title = "802.11a without aggregation"
//!
//! [[case]]
//! name      = "54 Mbit/s, {bytes} bytes"       # braces: value of the row
//! kind      = "duration"
//! source    = "by hand: 20 µs and 4 µs for every 216 bits of 8 × bytes + 22"
//! trust     = "derived"
//! phy       = { standard = "802.11a", rate = "54 Mbit/s" }
//! tolerance = "exact"
//! rows = [
//!     { bytes = 14, expected = "24 µs" },
//!     { bytes = 76, expected = "32 µs" },
//! ]
//! ```
//!
//! A row is merged into the rest of its case, including nested tables, and becomes a separate case. Without rows, the table is
//! one case.

use super::case::{Case, Deviation, Expectation, Goal, SourceQuality, Tolerance};
use super::kind::{Kind, reader};
use super::toml_value::{Fault, Table, deserialize, fault, merge};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A case file.
#[derive(Debug)]
pub struct CaseFile {
    /// Name or path of the file.
    pub name: String,
    /// Title of the file.
    pub title: String,
    /// Cases in order.
    pub cases: Vec<Case>,
}

/// Error in a case file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct CaseFileError {
    /// Name or path of the file.
    pub file: String,
    /// Line in the file, from 1.
    pub line: usize,
    /// Description of the error, with the expected form.
    pub message: String,
}

/// Keys that are common to all kinds of case.
const COMMON: [&str; 11] = [
    "name",
    "kind",
    "source",
    "trust",
    "metric",
    "expected",
    "tolerance",
    "at-most",
    "at-least",
    "expect",
    "deviation",
];

/// Keys that are common to all kinds of case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Header {
    name: Spanned<String>,
    kind: Spanned<String>,
    source: String,
    trust: SourceQuality,
    #[serde(default)]
    expect: Vec<Spanned<Expect>>,
    metric: Option<String>,
    expected: Option<Scalar>,
    tolerance: Option<Spanned<String>>,
    at_most: Option<Scalar>,
    at_least: Option<Scalar>,
    deviation: Option<Deviation>,
}

/// One of several expected values of one run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Expect {
    metric: Option<String>,
    expected: Option<Scalar>,
    tolerance: Option<Spanned<String>>,
    at_most: Option<Scalar>,
    at_least: Option<Scalar>,
    deviation: Option<Deviation>,
}

/// A text with a unit, or a plain number.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a value with its unit in quotes, or a number if the metric has no unit"
)]
enum Scalar {
    Text(String),
    Whole(i64),
    Real(f64),
}

impl CaseFile {
    /// Parses the text of a file. `name` is the file's name in errors.
    ///
    /// # Errors
    /// The first error in the file, with its line and the expected form.
    pub fn parse(name: &str, text: &str) -> Result<Self, CaseFileError> {
        read(text)
            .map(|(title, cases)| CaseFile {
                name: name.to_owned(),
                title,
                cases,
            })
            .map_err(|(message, span)| {
                let before = text.get(..span.start).unwrap_or(text);
                CaseFileError {
                    file: name.to_owned(),
                    line: 1 + before.matches('\n').count(),
                    message,
                }
            })
    }
}

fn read(text: &str) -> Result<(String, Vec<Case>), Fault> {
    let root = DeTable::parse(text).map_err(|error| fault(&error, 0..0))?;
    let span = root.span();
    let mut title = None;
    let mut cases = Vec::new();
    for (key, value) in root.get_ref().iter() {
        match key.get_ref().as_ref() {
            "title" => match value.get_ref().as_str() {
                Some(text) => title = Some(text.to_owned()),
                None => return Err(("invalid `title`; expected a string".to_owned(), value.span())),
            },
            "case" => {
                let tables = "invalid cases; expected tables headed by [[case]]";
                let Some(list) = value.get_ref().as_array() else {
                    return Err((tables.to_owned(), key.span()));
                };
                for case in list.iter() {
                    let Some(table) = case.get_ref().as_table() else {
                        return Err((tables.to_owned(), case.span()));
                    };
                    read_case(table, case.span(), &mut cases)?;
                }
            }
            other => {
                return Err((
                    format!("unknown key `{other}`; expected `title` or [[case]] tables"),
                    key.span(),
                ));
            }
        }
    }
    let title = title.ok_or_else(|| ("missing `title`".to_owned(), 0..0))?;
    if cases.is_empty() {
        return Err(("missing [[case]]".to_owned(), span));
    }
    let mut names = BTreeSet::new();
    for (case, span) in &cases {
        if !names.insert(case.name.as_str()) {
            let message = format!(
                "duplicate case name `{}`; put a key of the rows in braces into the name",
                case.name
            );
            return Err((message, span.clone()));
        }
    }
    Ok((title, cases.into_iter().map(|(case, _)| case).collect()))
}

/// Reads the case of a table, or one case for each of its rows.
fn read_case(table: &Table<'_>, span: Range<usize>, cases: &mut Vec<(Case, Range<usize>)>) -> Result<(), Fault> {
    let mut common = table.clone();
    let Some(rows) = common.remove("rows") else {
        cases.push((build(&common, span.clone())?, span));
        return Ok(());
    };
    let wrong = "invalid `rows`; expected a list of tables with changed keys";
    let rows_span = rows.span();
    let Some(rows) = rows.get_ref().as_array() else {
        return Err((wrong.to_owned(), rows_span));
    };
    for row in rows.iter() {
        let Some(changes) = row.get_ref().as_table() else {
            return Err((wrong.to_owned(), row.span()));
        };
        let mut merged = common.clone();
        merge(&mut merged, changes);
        cases.push((build(&merged, row.span())?, row.span()));
    }
    Ok(())
}

fn build(table: &Table<'_>, span: Range<usize>) -> Result<Case, Fault> {
    let (mut header, mut input) = (Table::new(), Table::new());
    for (key, value) in table.iter() {
        let part = if COMMON.contains(&key.get_ref().as_ref()) {
            &mut header
        } else {
            &mut input
        };
        part.insert(key.clone(), value.clone());
    }
    let header: Header = deserialize(header, span.clone())?;
    let read = reader(header.kind.get_ref()).map_err(|why| (why, header.kind.span()))?;
    let input = read(input, span.clone())?;
    let name = fill_in(&header.name, table)?;
    let tolerance = header.tolerance;
    let several = !header.expect.is_empty();
    let own = Expect {
        metric: header.metric,
        expected: header.expected,
        tolerance: None,
        at_most: header.at_most,
        at_least: header.at_least,
        deviation: header.deviation,
    };
    if several && (own.metric.is_some() || own.expected.is_some() || own.at_most.is_some() || own.at_least.is_some()) {
        return Err(("`expect` excludes `metric` and `expected`".to_owned(), span));
    }
    let mut expectations = Vec::new();
    if several {
        for expect in header.expect {
            let (at, mut expect) = (expect.span(), expect.into_inner());
            expect.deviation = expect.deviation.or_else(|| own.deviation.clone());
            expectations.push(expectation(expect, tolerance.as_ref(), &*input, at)?);
        }
    } else {
        expectations.push(expectation(own, tolerance.as_ref(), &*input, span)?);
    }
    Ok(Case {
        name,
        source: header.source,
        trust: header.trust,
        input,
        expectations,
    })
}

fn expectation(
    expect: Expect,
    common: Option<&Spanned<String>>,
    input: &dyn Kind,
    span: Range<usize>,
) -> Result<Expectation, Fault> {
    let metrics = input.metrics();
    let metric = match expect.metric {
        Some(metric) => metric,
        None if metrics.len() == 1 => metrics[0].0.clone(),
        None => {
            if metrics.is_empty() {
                let why = "missing `metric`; expected a formula, such as `station.NAME.throughput_mbps`";
                return Err((why.to_owned(), span));
            }
            let names: Vec<&str> = metrics.iter().map(|(name, _)| name.as_str()).collect();
            let names = names.join(", ");
            return Err((format!("missing `metric`; expected one of {names}"), span));
        }
    };
    let dimension = input.dimension(&metric).map_err(|why| (why, span.clone()))?;
    let value = |scalar: Scalar| dimension.read(&scalar.text()).map_err(|why| (why, span.clone()));
    let goal = match (expect.expected, expect.at_most, expect.at_least) {
        (Some(expected), None, None) => {
            let Some(tolerance) = expect.tolerance.as_ref().or(common) else {
                return Err((
                    "missing `tolerance`; expected \"exact\", \"1 %\" or a value with its unit".to_owned(),
                    span,
                ));
            };
            let tolerance = Tolerance::read(tolerance.get_ref(), dimension).map_err(|why| (why, tolerance.span()))?;
            Goal::Near(value(expected)?, tolerance)
        }
        (None, Some(bound), None) => Goal::AtMost(value(bound)?),
        (None, None, Some(bound)) => Goal::AtLeast(value(bound)?),
        _ => {
            return Err((
                "expected exactly one of `expected`, `at-most` and `at-least`".to_owned(),
                span,
            ));
        }
    };
    if let Some(text) = expect
        .deviation
        .as_ref()
        .and_then(|deviation| deviation.explains.as_deref())
    {
        Tolerance::read(text, dimension).map_err(|why| (format!("`explains`: {why}"), span))?;
    }
    Ok(Expectation {
        metric,
        dimension,
        goal,
        deviation: expect.deviation,
    })
}

/// Replaces keys in braces by their values.
fn fill_in(name: &Spanned<String>, table: &Table<'_>) -> Result<String, Fault> {
    let mut rest = name.get_ref().as_str();
    let mut filled = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        let Some((path, after)) = after.split_once('}') else {
            return Err(("unclosed brace in the name".to_owned(), name.span()));
        };
        filled.push_str(before);
        let mut steps = path.split('.');
        let mut found = steps.next().and_then(|step| table.get(step));
        for step in steps {
            found = found
                .and_then(|value| value.get_ref().as_table())
                .and_then(|table| table.get(step));
        }
        match found.map(Spanned::get_ref) {
            Some(DeValue::String(text)) => filled.push_str(text),
            Some(DeValue::Integer(number)) => filled.push_str(number.as_str()),
            Some(DeValue::Float(number)) => filled.push_str(number.as_str()),
            _ => {
                return Err((
                    format!("unknown key `{{{path}}}` in the name; expected a key with a plain value"),
                    name.span(),
                ));
            }
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Scalar::Text(text) => text.clone(),
            Scalar::Whole(number) => number.to_string(),
            Scalar::Real(number) => number.to_string(),
        }
    }
}
