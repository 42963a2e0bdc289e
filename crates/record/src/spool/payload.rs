//! Payloads of row frames. The columns of a row's table are its values; see
//! [`table`](crate::columns::table).

use crate::columns::tables::Payload;
use crate::row::Row;

/// The kinds of frame that hold a row.
const OPERATION: u8 = 1;
const INTERVAL: u8 = 2;
const CONNECTION: u8 = 3;
const LINK: u8 = 4;
const EVENT: u8 = 5;
const AIR: u8 = 6;
const OBSERVED: u8 = 7;

/// The frame's kind for a row.
pub(super) fn kind(row: &Row) -> u8 {
    match row {
        Row::Operation(_) => OPERATION,
        Row::Interval(_) => INTERVAL,
        Row::Connection(_) => CONNECTION,
        Row::Link(_) => LINK,
        Row::Event(_) => EVENT,
        Row::Air(_) => AIR,
        Row::Observed(_) => OBSERVED,
    }
}

/// Appends a row's payload.
pub(super) fn encode(row: &Row, to: &mut Vec<u8>) {
    match row {
        Row::Operation(row) => row.encode(to),
        Row::Interval(row) => row.encode(to),
        Row::Connection(row) => row.encode(to),
        Row::Link(row) => row.encode(to),
        Row::Event(row) => row.encode(to),
        Row::Air(row) => row.encode(to),
        Row::Observed(row) => row.encode(to),
    }
}

/// Decodes a payload; `None` if it is invalid.
pub(super) fn decode(kind: u8, payload: &[u8]) -> Option<Row> {
    Some(match kind {
        OPERATION => Row::Operation(Payload::decode(payload)?),
        INTERVAL => Row::Interval(Payload::decode(payload)?),
        CONNECTION => Row::Connection(Payload::decode(payload)?),
        LINK => Row::Link(Payload::decode(payload)?),
        EVENT => Row::Event(Payload::decode(payload)?),
        AIR => Row::Air(Payload::decode(payload)?),
        OBSERVED => Row::Observed(Payload::decode(payload)?),
        _ => return None,
    })
}
