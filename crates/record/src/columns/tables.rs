//! Columns of each kind of row, and conversion between rows and values.
//!
//! `docs/RECORD.md` describes every column; a test compares the two.

mod link;

use super::Column;
use super::Values::{Name, Signed, Text, Unsigned};
use super::names::{Lookup, Names};
use super::read::Cursor;
use super::write::Batch;
use crate::row::{AirRow, ConnectionRow, Detail, EventKind, EventRow, IntervalRow, LinkRow, OperationRow, Row, Side};
use netburn_units::{Duration, Instant};
use netburn_workload::{Operation, RemoteTimestamps};
use parquet::data_type::ByteArray;

/// A kind of row as a table.
pub(crate) trait Table: Sized {
    /// The table's name; its file is `NAME.parquet`.
    const NAME: &'static str;
    /// Columns, in order.
    const COLUMNS: &'static [Column];
    /// The columns that it once had, each list a beginning of today's by name: files with them are still read, and what
    /// they lack is missing.
    const EARLIER: &'static [&'static [Column]] = &[];

    /// Gives a value for every column, in order.
    fn write(&self, names: &Names, to: &mut Batch);

    /// The row, if it belongs to this table.
    fn from_row(row: Row) -> Option<Self>;

    /// Takes a value of every column, in order; what is wrong with them where they make no row.
    fn read(names: &mut Lookup<'_>, from: &mut Cursor<'_>) -> Result<Self, &'static str>;
}

/// A table of a run. `docs/RECORD.md` describes the columns of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunTable {
    /// Operations.
    Operations,
    /// Bytes of workloads and airtime of stations by 100 ms.
    Intervals,
    /// Samples of TCP connections.
    Connections,
    /// Samples of Wi-Fi links.
    Links,
    /// Events.
    Events,
}

impl RunTable {
    /// All tables, in the order in which [`Run::rows`](crate::Run::rows) returns their rows.
    pub const ALL: [RunTable; 5] = [
        RunTable::Operations,
        RunTable::Intervals,
        RunTable::Connections,
        RunTable::Links,
        RunTable::Events,
    ];

    /// The table's name; its file is `NAME.parquet`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RunTable::Operations => OperationRow::NAME,
            RunTable::Intervals => IntervalTableRow::NAME,
            RunTable::Connections => ConnectionRow::NAME,
            RunTable::Links => LinkRow::NAME,
            RunTable::Events => EventRow::NAME,
        }
    }

    pub(crate) const fn columns(self) -> &'static [Column] {
        match self {
            RunTable::Operations => OperationRow::COLUMNS,
            RunTable::Intervals => IntervalTableRow::COLUMNS,
            RunTable::Connections => ConnectionRow::COLUMNS,
            RunTable::Links => LinkRow::COLUMNS,
            RunTable::Events => EventRow::COLUMNS,
        }
    }

    /// The table that holds a row.
    pub(crate) const fn for_row(row: &Row) -> RunTable {
        match row {
            Row::Operation(_) => RunTable::Operations,
            Row::Interval(_) | Row::Air(_) => RunTable::Intervals,
            Row::Connection(_) => RunTable::Connections,
            Row::Link(_) => RunTable::Links,
            Row::Event(_) => RunTable::Events,
        }
    }
}

impl Table for OperationRow {
    const NAME: &'static str = "operations";
    const COLUMNS: &'static [Column] = &[
        Column::new("station", Name),
        Column::new("workload", Name),
        Column::new("sequence", Unsigned),
        Column::new("due", Signed),
        Column::new("started", Signed).optional(),
        Column::new("connected", Signed).optional(),
        Column::new("first_byte", Signed).optional(),
        Column::new("finished", Signed).optional(),
        Column::new("bytes", Unsigned),
        Column::new("outcome", Name),
        Column::new("remote_received", Signed).optional(),
        Column::new("remote_sent", Signed).optional(),
    ];

    fn write(&self, names: &Names, to: &mut Batch) {
        let operation = &self.operation;
        to.text(names.station(self.station));
        to.text(names.workload(self.station, self.workload));
        to.unsigned(operation.sequence);
        to.number(operation.due.as_nanos());
        to.maybe_number(operation.started.map(Instant::as_nanos));
        to.maybe_number(operation.connected.map(Instant::as_nanos));
        to.maybe_number(operation.first_byte.map(Instant::as_nanos));
        to.maybe_number(operation.finished.map(Instant::as_nanos));
        to.unsigned(operation.bytes);
        to.text(names.outcome(operation.outcome));
        to.maybe_number(operation.far.map(|far| far.received));
        to.maybe_number(operation.far.map(|far| far.sent));
    }

    fn from_row(row: Row) -> Option<Self> {
        match row {
            Row::Operation(row) => Some(row),
            _ => None,
        }
    }

    fn read(names: &mut Lookup<'_>, from: &mut Cursor<'_>) -> Result<Self, &'static str> {
        let station = names.station(from.name()).ok_or(NO_STATION)?;
        Ok(OperationRow {
            station,
            workload: names.workload(station, from.name()).ok_or(NO_WORKLOAD)?,
            operation: Operation {
                sequence: from.unsigned(),
                due: Instant::from_nanos(from.number()),
                started: from.maybe_number().map(Instant::from_nanos),
                connected: from.maybe_number().map(Instant::from_nanos),
                first_byte: from.maybe_number().map(Instant::from_nanos),
                finished: from.maybe_number().map(Instant::from_nanos),
                bytes: from.unsigned(),
                outcome: names.outcome(from.name()).ok_or("unknown outcome")?,
                far: match (from.maybe_number(), from.maybe_number()) {
                    (Some(received), Some(sent)) => Some(RemoteTimestamps { received, sent }),
                    _ => None,
                },
            },
        })
    }
}

/// A row of the interval table: bytes of one workload, or airtime of one station.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum IntervalTableRow {
    Bytes(IntervalRow),
    Air(AirRow),
}

impl From<IntervalTableRow> for Row {
    fn from(row: IntervalTableRow) -> Self {
        match row {
            IntervalTableRow::Bytes(row) => Row::Interval(row),
            IntervalTableRow::Air(row) => Row::Air(row),
        }
    }
}

impl Table for IntervalTableRow {
    const NAME: &'static str = "intervals";
    const COLUMNS: &'static [Column] = &[
        Column::new("station", Name),
        Column::new("workload", Name).optional(),
        Column::new("at", Signed),
        Column::new("bytes_down", Unsigned).optional(),
        Column::new("bytes_up", Unsigned).optional(),
        Column::new("airtime_down", Unsigned).optional(),
        Column::new("airtime_up", Unsigned).optional(),
        Column::new("transmissions", Unsigned).optional(),
        Column::new("mpdus", Unsigned).optional(),
        Column::new("retries", Unsigned).optional(),
        Column::new("backlog", Unsigned).optional(),
        Column::new("drops", Unsigned).optional(),
        Column::new("marks", Unsigned).optional(),
        Column::new("others", Unsigned).optional(),
    ];
    const EARLIER: &'static [&'static [Column]] = &[
        // Before airtime of other networks was recorded.
        Self::COLUMNS.split_at(13).0,
        // Before airtime was recorded.
        &[
            Column::new("station", Name),
            Column::new("workload", Name),
            Column::new("at", Signed),
            Column::new("bytes_down", Unsigned),
            Column::new("bytes_up", Unsigned),
        ],
    ];

    fn write(&self, names: &Names, to: &mut Batch) {
        match self {
            IntervalTableRow::Bytes(row) => {
                to.text(names.station(row.station));
                to.text(names.workload(row.station, row.workload));
                to.number(row.at.as_nanos());
                to.unsigned(row.bytes_down);
                to.unsigned(row.bytes_up);
                for _ in 0..9 {
                    to.maybe_unsigned(None);
                }
            }
            IntervalTableRow::Air(row) => {
                to.text(names.station(row.station));
                to.maybe_text(None);
                to.number(row.at.as_nanos());
                to.maybe_unsigned(None);
                to.maybe_unsigned(None);
                to.unsigned(row.airtime_down.as_nanos());
                to.unsigned(row.airtime_up.as_nanos());
                for count in [
                    row.transmissions,
                    row.mpdus,
                    row.retries,
                    row.backlog,
                    row.drops,
                    row.marks,
                ] {
                    to.unsigned(count);
                }
                to.maybe_unsigned(row.others.map(Duration::as_nanos));
            }
        }
    }

    fn from_row(row: Row) -> Option<Self> {
        match row {
            Row::Interval(row) => Some(IntervalTableRow::Bytes(row)),
            Row::Air(row) => Some(IntervalTableRow::Air(row)),
            _ => None,
        }
    }

    fn read(names: &mut Lookup<'_>, from: &mut Cursor<'_>) -> Result<Self, &'static str> {
        let station = names.station(from.name()).ok_or(NO_STATION)?;
        let workload = match from.maybe_name() {
            Some(name) => Some(names.workload(station, name).ok_or(NO_WORKLOAD)?),
            None => None,
        };
        let at = Instant::from_nanos(from.number());
        let (bytes_down, bytes_up) = (from.unsigned(), from.unsigned());
        // Taken in any case: every row takes a value of every column.
        let air = AirRow {
            station,
            at,
            airtime_down: Duration::from_nanos(from.unsigned()),
            airtime_up: Duration::from_nanos(from.unsigned()),
            transmissions: from.unsigned(),
            mpdus: from.unsigned(),
            retries: from.unsigned(),
            backlog: from.unsigned(),
            drops: from.unsigned(),
            marks: from.unsigned(),
            others: from.maybe_unsigned().map(Duration::from_nanos),
        };
        Ok(match workload {
            Some(workload) => IntervalTableRow::Bytes(IntervalRow {
                station,
                workload,
                at,
                bytes_down,
                bytes_up,
            }),
            None => IntervalTableRow::Air(air),
        })
    }
}

impl Table for ConnectionRow {
    const NAME: &'static str = "connections";
    const COLUMNS: &'static [Column] = &[
        Column::new("station", Name).optional(),
        Column::new("workload", Name).optional(),
        Column::new("side", Name),
        Column::new("port", Unsigned),
        Column::new("at", Signed),
        Column::new("rtt_us", Unsigned),
        Column::new("rtt_var_us", Unsigned),
        Column::new("cwnd", Unsigned),
        Column::new("retransmits", Unsigned),
        Column::new("delivery_rate_bps", Unsigned),
        Column::new("bytes_acked", Unsigned),
        Column::new("bytes_received", Unsigned),
    ];

    fn write(&self, names: &Names, to: &mut Batch) {
        let known = |number: u16| (number != u16::MAX).then_some(number);
        to.maybe_text(known(self.station).map(|station| names.station(station)));
        to.maybe_text(known(self.workload).map(|workload| names.workload(self.station, workload)));
        to.text(ByteArray::from(self.side.name()));
        to.unsigned(self.port.into());
        to.number(self.at.as_nanos());
        to.unsigned(self.rtt_us.into());
        to.unsigned(self.rtt_var_us.into());
        to.unsigned(self.cwnd.into());
        to.unsigned(self.retransmits.into());
        to.unsigned(self.delivery_rate_bps);
        to.unsigned(self.bytes_acked);
        to.unsigned(self.bytes_received);
    }

    fn from_row(row: Row) -> Option<Self> {
        match row {
            Row::Connection(row) => Some(row),
            _ => None,
        }
    }

    fn read(names: &mut Lookup<'_>, from: &mut Cursor<'_>) -> Result<Self, &'static str> {
        let station = match from.maybe_name() {
            Some(name) => names.station(name).ok_or(NO_STATION)?,
            None => u16::MAX,
        };
        let workload = match from.maybe_name() {
            Some(name) => names.workload(station, name).ok_or(NO_WORKLOAD)?,
            None => u16::MAX,
        };
        let side = match from.name().bytes {
            b"station" => Side::Station,
            b"server" => Side::Server,
            _ => return Err("invalid side, expected `station` or `server`"),
        };
        let port = u16::try_from(from.unsigned()).map_err(|_| TOO_LARGE)?;
        let at = Instant::from_nanos(from.number());
        let mut small = || u32::try_from(from.unsigned()).map_err(|_| TOO_LARGE);
        Ok(ConnectionRow {
            station,
            workload,
            side,
            port,
            at,
            rtt_us: small()?,
            rtt_var_us: small()?,
            cwnd: small()?,
            retransmits: small()?,
            delivery_rate_bps: from.unsigned(),
            bytes_acked: from.unsigned(),
            bytes_received: from.unsigned(),
        })
    }
}

impl Table for EventRow {
    const NAME: &'static str = "events";
    const COLUMNS: &'static [Column] = &[
        Column::new("station", Name).optional(),
        Column::new("workload", Name).optional(),
        Column::new("at", Signed),
        Column::new("length", Unsigned),
        Column::new("kind", Name),
        Column::new("text", Text),
        Column::new("data", Text).optional(),
    ];

    fn write(&self, names: &Names, to: &mut Batch) {
        let workload = self.workload.map(|workload| match self.station {
            Some(station) => names.workload(station, workload),
            None => names.workload(u16::MAX, workload),
        });
        to.maybe_text(self.station.map(|station| names.station(station)));
        to.maybe_text(workload);
        to.number(self.at.as_nanos());
        to.unsigned(self.length);
        to.text(ByteArray::from(self.kind.name()));
        to.text(ByteArray::from(&*self.detail.text()));
        to.maybe_text(self.detail.data().map(|data| ByteArray::from(data.into_bytes())));
    }

    fn from_row(row: Row) -> Option<Self> {
        match row {
            Row::Event(row) => Some(row),
            _ => None,
        }
    }

    fn read(names: &mut Lookup<'_>, from: &mut Cursor<'_>) -> Result<Self, &'static str> {
        let station = match from.maybe_name() {
            Some(name) => Some(names.station(name).ok_or(NO_STATION)?),
            None => None,
        };
        let workload = match from.maybe_name() {
            Some(name) => Some(names.workload(station.unwrap_or(u16::MAX), name).ok_or(NO_WORKLOAD)?),
            None => None,
        };
        let at = Instant::from_nanos(from.number());
        let length = from.unsigned();
        let name = String::from_utf8_lossy(from.name().bytes).into_owned();
        let kind = EventKind::ALL.into_iter().find(|known| known.name() == name);
        let text = utf8(from.text())?.to_owned();
        let data = match from.maybe_text() {
            Some(data) => Some(utf8(data)?),
            None => None,
        };
        Ok(EventRow {
            station,
            workload,
            at,
            length,
            kind: kind.unwrap_or(EventKind::Warning),
            detail: match (kind, data) {
                (Some(kind), Some(data)) => Detail::from_data(kind, data),
                (Some(_), None) => Detail::Text(text),
                // A kind of a newer version.
                (None, _) => Detail::Text(format!("{name}: {text}")),
            },
        })
    }
}

fn utf8(text: &[u8]) -> Result<&str, &'static str> {
    std::str::from_utf8(text).map_err(|_| "the text is not UTF-8")
}

const NO_STATION: &str = "unknown station";
const NO_WORKLOAD: &str = "unknown workload";
const TOO_LARGE: &str = "a number is out of range";

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in the first cells of the Markdown table below a heading.
    fn described(document: &str, table: &str) -> Vec<String> {
        let heading = format!("\n## `{table}.parquet`");
        let (_, section) = document
            .split_once(&heading)
            .unwrap_or_else(|| panic!("{table} is described"));
        let section = section.split("\n## ").next().unwrap_or_default();
        section
            .lines()
            .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()))
            .collect()
    }

    #[test]
    fn every_column_is_described() {
        let document = include_str!("../../../../docs/RECORD.md");
        fn check<T: Table>(document: &str) {
            let names: Vec<&str> = T::COLUMNS.iter().map(|column| column.name).collect();
            assert_eq!(described(document, T::NAME), names, "{}", T::NAME);
        }
        check::<OperationRow>(document);
        check::<IntervalTableRow>(document);
        check::<ConnectionRow>(document);
        check::<LinkRow>(document);
        check::<EventRow>(document);
    }
}
