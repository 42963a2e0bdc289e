//! Rows on the wire: arrays, one list per kind.

use super::{MAX_TEXT, shorten};
mod link;

use link::LinkWire;
use netburn_record::{ConnectionRow, EventKind, EventRow, IntervalRow, LinkRow, OperationRow, Row, Side};
use netburn_units::Instant;
use netburn_workload::{Failure, Operation, Outcome, RemoteTimestamps};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of rows in a batch. A row other than a link or an event is shorter than 300 bytes, so a
/// full batch is shorter than 600 kB.
pub const MAX_BATCH_ROWS: usize = 2000;

/// Maximum number of events in a batch. Their texts are shorter than 400 kB, even with every byte escaped.
pub const MAX_BATCH_EVENTS: usize = 16;

/// Maximum number of Wi-Fi link samples in a batch. Each is shorter than 1,100 bytes, even with every byte
/// of its name escaped.
pub const MAX_BATCH_LINKS: usize = 32;

/// Rows of all kinds, each kind in its own order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Batch {
    /// Operations that ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    operations: Vec<OperationWire>,
    /// Bytes per interval of 100 ms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    intervals: Vec<IntervalWire>,
    /// Samples of connections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    connections: Vec<ConnectionWire>,
    /// Samples of Wi-Fi links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    links: Vec<LinkWire>,
    /// Events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    events: Vec<EventWire>,
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

/// `[station, workload, sequence, due, started, connected, first byte, finished, bytes, outcome, remote
/// timestamps]`. Times are in ns since the start of the run, or null. The remote timestamps are `[received,
/// sent]` on the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct OperationWire(
    u16,
    u16,
    u64,
    i64,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    u64,
    OutcomeWire,
    Option<(i64, i64)>,
);

/// Outcome of an operation, with the cause of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutcomeWire {
    Finished,
    FailedDial,
    FailedConnection,
    FailedAnswer,
    FailedStopped,
    TimedOut,
    NotStarted,
    Unfinished,
    Cut,
}

/// `[station, workload, at, bytes down, bytes up]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct IntervalWire(u16, u16, i64, u64, u64);

/// `[station, workload, station's port, at, rtt µs, rtt variation µs, cwnd in segments, retransmits,
/// delivery rate bit/s, bytes acknowledged, bytes received, side]`. The station is 65535 if the server does
/// not know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct ConnectionWire(u16, u16, u16, i64, u32, u32, u32, u32, u64, u64, u64, SideWire);

/// End of the connection that was sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum SideWire {
    Station,
    Server,
}

/// `[station, workload, at, length in ns, kind, text]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct EventWire(Option<u16>, Option<u16>, i64, u64, EventWireKind, String);

/// Kinds of events that an agent can report. Only the controller records lost agents and servers; no
/// message of an agent becomes such an event. `lost`: results of the station are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum EventWireKind {
    Stall,
    #[serde(rename = "lost")]
    Incomplete,
    Change,
    Roam,
    Warning,
    Startup,
    Rate,
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
            Row::Operation(row) => self.operations.push(row.into()),
            Row::Interval(row) => {
                let wire = IntervalWire(
                    row.station,
                    row.workload,
                    row.at.as_nanos(),
                    row.bytes_down,
                    row.bytes_up,
                );
                self.intervals.push(wire);
            }
            Row::Connection(row) => self.connections.push(row.into()),
            Row::Link(row) => self.links.push(row.into()),
            Row::Event(row) => self.events.extend(EventWire::from_row(row)),
            // Modelled airtime is recorded where it is modelled. Agents use a real network.
            Row::Air(_) => {}
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
        let mut rows = Vec::with_capacity(self.len());
        rows.extend(self.operations.into_iter().map(|wire| Row::Operation(wire.into())));
        rows.extend(self.intervals.into_iter().map(|wire| Row::Interval(wire.into())));
        rows.extend(self.connections.into_iter().map(|wire| Row::Connection(wire.into())));
        for wire in self.links {
            let row = LinkRow::from(wire);
            if row.ssid.as_ref().is_some_and(|name| name.len() > LinkRow::MAX_SSID) {
                return Err(WrongRow::LongName);
            }
            rows.push(Row::Link(row));
        }
        for wire in self.events {
            if wire.5.len() > MAX_TEXT {
                return Err(WrongRow::ForeignEvent);
            }
            rows.push(Row::Event(wire.into()));
        }
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

impl From<&OperationRow> for OperationWire {
    fn from(row: &OperationRow) -> Self {
        let at = |instant: Option<Instant>| instant.map(Instant::as_nanos);
        let o = &row.operation;
        OperationWire(
            row.station,
            row.workload,
            o.sequence,
            o.due.as_nanos(),
            at(o.started),
            at(o.connected),
            at(o.first_byte),
            at(o.finished),
            o.bytes,
            o.outcome.into(),
            o.far.map(|far| (far.received, far.sent)),
        )
    }
}

impl From<OperationWire> for OperationRow {
    fn from(wire: OperationWire) -> Self {
        let OperationWire(station, workload, sequence, due, started, connected, first, finished, bytes, outcome, far) =
            wire;
        let at = |nanos: Option<i64>| nanos.map(Instant::from_nanos);
        OperationRow {
            station,
            workload,
            operation: Operation {
                sequence,
                due: Instant::from_nanos(due),
                started: at(started),
                connected: at(connected),
                first_byte: at(first),
                finished: at(finished),
                bytes,
                outcome: outcome.into(),
                far: far.map(|(received, sent)| RemoteTimestamps { received, sent }),
            },
        }
    }
}

impl From<Outcome> for OutcomeWire {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Finished => OutcomeWire::Finished,
            Outcome::Failed(Failure::Dial) => OutcomeWire::FailedDial,
            Outcome::Failed(Failure::Connection) => OutcomeWire::FailedConnection,
            Outcome::Failed(Failure::Answer) => OutcomeWire::FailedAnswer,
            Outcome::Failed(Failure::Stopped) => OutcomeWire::FailedStopped,
            Outcome::TimedOut => OutcomeWire::TimedOut,
            Outcome::NotStarted => OutcomeWire::NotStarted,
            Outcome::Unfinished => OutcomeWire::Unfinished,
            Outcome::Cut => OutcomeWire::Cut,
        }
    }
}

impl From<OutcomeWire> for Outcome {
    fn from(wire: OutcomeWire) -> Self {
        match wire {
            OutcomeWire::Finished => Outcome::Finished,
            OutcomeWire::FailedDial => Outcome::Failed(Failure::Dial),
            OutcomeWire::FailedConnection => Outcome::Failed(Failure::Connection),
            OutcomeWire::FailedAnswer => Outcome::Failed(Failure::Answer),
            OutcomeWire::FailedStopped => Outcome::Failed(Failure::Stopped),
            OutcomeWire::TimedOut => Outcome::TimedOut,
            OutcomeWire::NotStarted => Outcome::NotStarted,
            OutcomeWire::Unfinished => Outcome::Unfinished,
            OutcomeWire::Cut => Outcome::Cut,
        }
    }
}

impl From<IntervalWire> for IntervalRow {
    fn from(IntervalWire(station, workload, at, bytes_down, bytes_up): IntervalWire) -> Self {
        IntervalRow {
            station,
            workload,
            at: Instant::from_nanos(at),
            bytes_down,
            bytes_up,
        }
    }
}

impl From<&ConnectionRow> for ConnectionWire {
    fn from(row: &ConnectionRow) -> Self {
        ConnectionWire(
            row.station,
            row.workload,
            row.port,
            row.at.as_nanos(),
            row.rtt_us,
            row.rtt_var_us,
            row.cwnd,
            row.retransmits,
            row.delivery_rate_bps,
            row.bytes_acked,
            row.bytes_received,
            match row.side {
                Side::Station => SideWire::Station,
                Side::Server => SideWire::Server,
            },
        )
    }
}

impl From<ConnectionWire> for ConnectionRow {
    fn from(wire: ConnectionWire) -> Self {
        let ConnectionWire(station, workload, port, at, rtt, var, cwnd, retransmits, rate, acked, received, side) =
            wire;
        ConnectionRow {
            station,
            workload,
            side: match side {
                SideWire::Station => Side::Station,
                SideWire::Server => Side::Server,
            },
            port,
            at: Instant::from_nanos(at),
            rtt_us: rtt,
            rtt_var_us: var,
            cwnd,
            retransmits,
            delivery_rate_bps: rate,
            bytes_acked: acked,
            bytes_received: received,
        }
    }
}

impl EventWire {
    fn from_row(row: &EventRow) -> Option<EventWire> {
        let kind = match row.kind {
            EventKind::Stall => EventWireKind::Stall,
            EventKind::Incomplete => EventWireKind::Incomplete,
            EventKind::Change => EventWireKind::Change,
            EventKind::Roam => EventWireKind::Roam,
            EventKind::Warning => EventWireKind::Warning,
            EventKind::Startup => EventWireKind::Startup,
            EventKind::Rate => EventWireKind::Rate,
            EventKind::Health
            | EventKind::Clock
            | EventKind::QualityIssue
            | EventKind::Lab
            | EventKind::Lost
            | EventKind::ServerLost
            | EventKind::UnusedServerLost
            | EventKind::Rejected => return None,
        };
        let text = shorten(row.detail.text().into_owned(), MAX_TEXT);
        Some(EventWire(
            row.station,
            row.workload,
            row.at.as_nanos(),
            row.length,
            kind,
            text,
        ))
    }
}

impl From<EventWire> for EventRow {
    fn from(EventWire(station, workload, at, length, kind, text): EventWire) -> Self {
        EventRow {
            station,
            workload,
            at: Instant::from_nanos(at),
            length,
            kind: match kind {
                EventWireKind::Stall => EventKind::Stall,
                EventWireKind::Incomplete => EventKind::Incomplete,
                EventWireKind::Change => EventKind::Change,
                EventWireKind::Roam => EventKind::Roam,
                EventWireKind::Warning => EventKind::Warning,
                EventWireKind::Startup => EventKind::Startup,
                EventWireKind::Rate => EventKind::Rate,
            },
            detail: text.into(),
        }
    }
}
