//! Rows in messages: arrays of their columns, one list per kind.

use super::{MAX_TEXT, shorten};
use netburn_record::{
    Column, ConnectionRow, Detail, EventKind, EventRow, IntervalRow, LinkRow, OperationRow, Row, Side, WireType,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Maximum number of rows in a batch. A row other than a link or an event is shorter than 300 bytes. So a
/// full batch is shorter than 600 kB.
pub const MAX_BATCH_ROWS: usize = 2000;

/// Maximum number of events in a batch. Their texts are shorter than 400 kB, even with every byte escaped.
pub const MAX_BATCH_EVENTS: usize = 16;

/// Maximum number of Wi-Fi link samples in a batch. Each is shorter than 1,100 bytes, even with every byte
/// of its name escaped.
pub const MAX_BATCH_LINKS: usize = 32;

/// Kinds of events that an agent can report. Only the controller records lost agents and servers; no
/// message of an agent becomes such an event.
const REPORTABLE: [EventKind; 9] = [
    EventKind::Stall,
    EventKind::Incomplete,
    EventKind::Change,
    EventKind::Roam,
    EventKind::Scan,
    EventKind::Warning,
    EventKind::Startup,
    EventKind::Rate,
    EventKind::Dscp,
];

/// Rows of all kinds, each kind in its own order. A row is an array of the columns of its table. Missing
/// values at its end are left out. Stations and workloads are numbers. Times are in ns since the start of the
/// run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Batch {
    /// Operations that ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "operations")]
    operations: Vec<OperationRow>,
    /// Bytes per interval of 100 ms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "intervals")]
    intervals: Vec<IntervalRow>,
    /// Samples of connections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "connections")]
    connections: Vec<ConnectionRow>,
    /// Samples of Wi-Fi links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "links")]
    links: Vec<LinkRow>,
    /// Events. An agent reports those of kind `stall`, `incomplete` (results of the station are missing),
    /// `change`, `roam`, `scan`, `warning`, `startup`, `rate` and `dscp`. `data` is that of a link's event or of a DSCP, or
    /// missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "events")]
    events: Vec<EventRow>,
}

/// Error of validating a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongRow {
    /// The batch contains more rows than allowed.
    #[error("batch too large: at most {MAX_BATCH_ROWS} rows, {MAX_BATCH_EVENTS} events or {MAX_BATCH_LINKS} links")]
    TooMany,
    /// A row belongs to a station of another sender.
    #[error("row of station {0}, which is not the sender's")]
    ForeignStation(u16),
    /// An event has no station. Only the controller reports events of the whole run.
    #[error("event without a station")]
    NoStation,
    /// An agent reports a sample of the server's side, or the server one of the station's side.
    #[error("connection sample of the other side")]
    ForeignSide,
    /// An agent can't report events of this kind or length.
    #[error("event that an agent can't report")]
    ForeignEvent,
    /// The name of a network exceeds the maximum length.
    #[error("network name longer than {} bytes", LinkRow::MAX_SSID)]
    LongName,
}

impl Batch {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.operations.len() + self.intervals.len() + self.connections.len() + self.links.len() + self.events.len()
    }

    /// Returns whether the batch contains no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the batch is full: with more rows, the message could exceed its maximum length.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() >= MAX_BATCH_ROWS || self.events.len() >= MAX_BATCH_EVENTS || self.links.len() >= MAX_BATCH_LINKS
    }

    /// Adds a row. Omits modelled airtime, and events that only the controller reports.
    pub fn push(&mut self, row: &Row) {
        match row {
            Row::Operation(row) => self.operations.push(*row),
            Row::Interval(row) => self.intervals.push(row.clone()),
            Row::Connection(row) => self.connections.push(row.clone()),
            Row::Link(row) => self.links.push(row.clone()),
            Row::Event(row) if REPORTABLE.contains(&row.kind) => self.events.push(EventRow {
                detail: match &row.detail {
                    Detail::Link(event) if event.text_bytes() <= MAX_TEXT => row.detail.clone(),
                    Detail::Dscp(_) => row.detail.clone(),
                    other => shorten(other.text().into_owned(), MAX_TEXT).into(),
                },
                ..*row
            }),
            // Modelled airtime is recorded where it is modelled, and access points are observed by the controller.
            Row::Event(_) | Row::Air(_) | Row::Observed(_) => {}
        }
    }

    /// Validates and returns the rows. Each row must belong to a station for which `owned` returns true.
    /// With `far` the sender is a server, which may leave the station of a connection open. An event must
    /// have a station, because an event without one counts for every station of the run.
    ///
    /// # Errors
    /// [`WrongRow`] for the first invalid row. The whole batch is then rejected.
    pub fn into_rows(self, owned: impl Fn(u16) -> bool, far: bool) -> Result<Vec<Row>, WrongRow> {
        let many = self.events.len() > MAX_BATCH_EVENTS || self.links.len() > MAX_BATCH_LINKS;
        if self.len() > MAX_BATCH_ROWS || many {
            return Err(WrongRow::TooMany);
        }
        let name = |row: &LinkRow| row.ssid.as_ref().map_or(0, String::len);
        if self.links.iter().any(|row| name(row) > LinkRow::MAX_SSID) {
            return Err(WrongRow::LongName);
        }
        let reportable = |row: &EventRow| {
            let length = match &row.detail {
                Detail::Text(text) => text.len(),
                Detail::Link(event) => event.text_bytes(),
                // At most 64 numbers.
                Detail::Dscp(_) => 0,
                _ => return false,
            };
            length <= MAX_TEXT && REPORTABLE.contains(&row.kind)
        };
        if !self.events.iter().all(reportable) {
            return Err(WrongRow::ForeignEvent);
        }
        let mut rows = Vec::with_capacity(self.len());
        rows.extend(self.operations.into_iter().map(Row::Operation));
        rows.extend(self.intervals.into_iter().map(Row::Interval));
        rows.extend(self.connections.into_iter().map(Row::Connection));
        rows.extend(self.links.into_iter().map(Row::Link));
        rows.extend(self.events.into_iter().map(Row::Event));
        let side = if far { Side::Server } else { Side::Station };
        for row in &rows {
            // The controller finds the station of a server's sample by its port. An agent could name any
            // port.
            if matches!(row, Row::Connection(row) if row.side != side) {
                return Err(WrongRow::ForeignSide);
            }
            match row.station() {
                Some(station) if owned(station) => {}
                Some(u16::MAX) if far && matches!(row, Row::Connection(_)) => {}
                Some(station) => return Err(WrongRow::ForeignStation(station)),
                None => return Err(WrongRow::NoStation),
            }
        }
        Ok(rows)
    }
}

fn operations(_: &mut SchemaGenerator) -> Schema {
    rows(OperationRow::columns())
}

fn intervals(_: &mut SchemaGenerator) -> Schema {
    rows(IntervalRow::columns())
}

fn connections(_: &mut SchemaGenerator) -> Schema {
    rows(ConnectionRow::columns())
}

fn links(_: &mut SchemaGenerator) -> Schema {
    rows(LinkRow::columns())
}

fn events(_: &mut SchemaGenerator) -> Schema {
    rows(EventRow::columns())
}

/// Schema of a list of rows.
fn rows(columns: &[Column]) -> Schema {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let items: Vec<Value> = columns.iter().map(value).collect();
    let required = columns
        .iter()
        .rposition(|column| !column.optional)
        .map_or(0, |last| last + 1);
    let schema = json!({
        "type": "array",
        "items": {
            "type": "array",
            "description": format!("`[{}]`", names.join(", ")),
            "prefixItems": items,
            "minItems": required
        }
    });
    schema.try_into().expect("the schema is an object")
}

/// Schema of a column's value.
fn value(column: &Column) -> Value {
    let mut schema = match column.wire {
        WireType::Integer { signed, bits } => {
            let sign = if signed { "" } else { "u" };
            let mut schema = json!({ "type": "integer", "format": format!("{sign}int{bits}") });
            if !signed {
                schema["minimum"] = json!(0);
            }
            if !signed && bits < 64 {
                schema["maximum"] = json!((1_u64 << bits) - 1);
            }
            schema
        }
        WireType::OneOf(names) => json!({ "type": "string", "enum": names() }),
        WireType::Text => json!({ "type": "string" }),
    };
    let unit = if column.unit.is_empty() {
        String::new()
    } else {
        format!(" ({})", column.unit)
    };
    schema["description"] = json!(format!("`{}`{unit}: {}", column.name, column.meaning));
    if column.optional {
        schema["type"] = json!([schema["type"], "null"]);
        if let Some(Value::Array(names)) = schema.get_mut("enum") {
            names.push(Value::Null);
        }
    }
    schema
}
