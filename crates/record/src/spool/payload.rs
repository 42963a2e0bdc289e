//! Payloads of row frames.

mod link;

use super::MAX_ROW_BYTES;
use crate::row::{AirRow, ConnectionRow, Detail, EventKind, EventRow, IntervalRow, OUTCOMES, OperationRow, Row, Side};
use netburn_units::{Duration, Instant};
use netburn_workload::{Operation, RemoteTimestamps};

/// The kinds of frame that hold a row.
const OPERATION: u8 = 1;
const INTERVAL: u8 = 2;
const CONNECTION: u8 = 3;
const LINK: u8 = 4;
const EVENT: u8 = 5;
const AIR: u8 = 6;
/// A link sample with all values of a driver.
const REAL_LINK: u8 = 7;

/// The frame's kind for a row.
pub(super) fn kind(row: &Row) -> u8 {
    match row {
        Row::Operation(_) => OPERATION,
        Row::Interval(_) => INTERVAL,
        Row::Connection(_) => CONNECTION,
        Row::Link(row) if row.is_real() => REAL_LINK,
        Row::Link(_) => LINK,
        Row::Event(_) => EVENT,
        Row::Air(_) => AIR,
    }
}

/// Appends a row's payload.
pub(super) fn encode(row: &Row, to: &mut Vec<u8>) {
    match row {
        Row::Operation(row) => operation(row, to),
        Row::Interval(row) => interval(row, to),
        Row::Connection(row) => connection(row, to),
        Row::Link(row) if row.is_real() => link::encode_real(row, to),
        Row::Link(row) => link::encode(row, to),
        Row::Event(row) => event(row, to),
        Row::Air(row) => air(row, to),
    }
}

/// Decodes a payload; `None` if it is invalid.
pub(super) fn decode(kind: u8, payload: &[u8]) -> Option<Row> {
    let mut from = Bytes(payload);
    let row = match kind {
        OPERATION => Row::Operation(from.operation()?),
        INTERVAL => Row::Interval(from.interval()?),
        CONNECTION => Row::Connection(from.connection()?),
        LINK => Row::Link(link::decode(&mut from)?),
        REAL_LINK => Row::Link(link::decode_real(&mut from)?),
        EVENT => Row::Event(from.event()?),
        AIR => Row::Air(from.air()?),
        _ => return None,
    };
    from.0.is_empty().then_some(row)
}

fn operation(row: &OperationRow, to: &mut Vec<u8>) {
    let operation = &row.operation;
    let times = [
        operation.started,
        operation.connected,
        operation.first_byte,
        operation.finished,
    ];
    let mut present = u8::from(operation.far.is_some()) << 4;
    for (bit, time) in times.iter().enumerate() {
        present |= u8::from(time.is_some()) << bit;
    }
    to.push(present);
    to.push(place(&OUTCOMES, operation.outcome));
    unsigned(row.station.into(), to);
    unsigned(row.workload.into(), to);
    unsigned(operation.sequence, to);
    signed(operation.due.as_nanos(), to);
    for time in times.into_iter().flatten() {
        after(operation.due, time, to);
    }
    unsigned(operation.bytes, to);
    if let Some(far) = operation.far {
        signed(far.received, to);
        signed(far.sent.wrapping_sub(far.received), to);
    }
}

fn interval(row: &IntervalRow, to: &mut Vec<u8>) {
    unsigned(row.station.into(), to);
    unsigned(row.workload.into(), to);
    signed(row.at.as_nanos(), to);
    unsigned(row.bytes_down, to);
    unsigned(row.bytes_up, to);
}

fn connection(row: &ConnectionRow, to: &mut Vec<u8>) {
    to.push(u8::from(row.side == Side::Server));
    signed(row.at.as_nanos(), to);
    for value in [
        row.station.into(),
        row.workload.into(),
        row.port.into(),
        row.rtt_us.into(),
        row.rtt_var_us.into(),
        row.cwnd.into(),
        row.retransmits.into(),
        row.delivery_rate_bps,
        row.bytes_acked,
        row.bytes_received,
    ] {
        unsigned(value, to);
    }
}

fn event(row: &EventRow, to: &mut Vec<u8>) {
    to.push(place(&EventKind::ALL, row.kind));
    let data = row.detail.data().filter(|data| data.len() <= MAX_ROW_BYTES - 64);
    let present = [row.station.is_some(), row.workload.is_some(), data.is_some()];
    to.push(present.iter().rev().fold(0, |bits, is| bits << 1 | u8::from(*is)));
    for number in [row.station, row.workload].into_iter().flatten() {
        unsigned(number.into(), to);
    }
    signed(row.at.as_nanos(), to);
    unsigned(row.length, to);
    if let Some(data) = data {
        to.extend_from_slice(data.as_bytes());
        return;
    }
    let text = row.detail.text();
    // Three flags, a kind and four integers of ten bytes at most come before it.
    let mut room = text.len().min(MAX_ROW_BYTES - 64);
    while !text.is_char_boundary(room) {
        room -= 1;
    }
    to.extend_from_slice(&text.as_bytes()[..room]);
}

fn air(row: &AirRow, to: &mut Vec<u8>) {
    unsigned(row.station.into(), to);
    signed(row.at.as_nanos(), to);
    for value in [
        row.airtime_down.as_nanos(),
        row.airtime_up.as_nanos(),
        row.transmissions,
        row.mpdus,
        row.retries,
        row.backlog,
        row.drops,
        row.marks,
    ] {
        unsigned(value, to);
    }
    // Last and optional, because older records do not have it.
    if let Some(others) = row.others {
        unsigned(others.as_nanos(), to);
    }
}

/// The place of `item` among those of its kind: its code in a payload.
fn place<T: PartialEq>(all: &[T], item: T) -> u8 {
    all.iter()
        .position(|one| *one == item)
        .expect("all variants are listed") as u8
}

fn unsigned(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn signed(value: i64, to: &mut Vec<u8>) {
    unsigned((value << 1 ^ value >> 63) as u64, to);
}

/// A time as its distance from another; any two have one when it may wrap.
fn after(from: Instant, time: Instant, to: &mut Vec<u8>) {
    signed(time.as_nanos().wrapping_sub(from.as_nanos()), to);
}

/// The rest of a payload.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has room for one bit.
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.unsigned()?).ok()
    }

    fn instant(&mut self) -> Option<Instant> {
        self.signed().map(Instant::from_nanos)
    }

    /// `Some(None)` if the flag marks a missing value.
    fn when<T>(&mut self, present: bool, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if present { read(self).map(Some) } else { Some(None) }
    }

    fn operation(&mut self) -> Option<OperationRow> {
        let present = self.byte()?;
        if present >= 1 << 5 {
            return None;
        }
        let outcome = *OUTCOMES.get(usize::from(self.byte()?))?;
        let station = self.small()?;
        let workload = self.small()?;
        let sequence = self.unsigned()?;
        let due = self.instant()?;
        let mut time = |bit: u8| {
            self.when(present & 1 << bit != 0, |from| {
                Some(Instant::from_nanos(due.as_nanos().wrapping_add(from.signed()?)))
            })
        };
        let (started, connected, first_byte, finished) = (time(0)?, time(1)?, time(2)?, time(3)?);
        let bytes = self.unsigned()?;
        let far = self.when(present & 1 << 4 != 0, |from| {
            let received = from.signed()?;
            let sent = received.wrapping_add(from.signed()?);
            Some(RemoteTimestamps { received, sent })
        })?;
        Some(OperationRow {
            station,
            workload,
            operation: Operation {
                sequence,
                due,
                started,
                connected,
                first_byte,
                finished,
                bytes,
                outcome,
                far,
            },
        })
    }

    fn interval(&mut self) -> Option<IntervalRow> {
        Some(IntervalRow {
            station: self.small()?,
            workload: self.small()?,
            at: self.instant()?,
            bytes_down: self.unsigned()?,
            bytes_up: self.unsigned()?,
        })
    }

    fn connection(&mut self) -> Option<ConnectionRow> {
        let side = *[Side::Station, Side::Server].get(usize::from(self.byte()?))?;
        let at = self.instant()?;
        Some(ConnectionRow {
            side,
            at,
            station: self.small()?,
            workload: self.small()?,
            port: self.small()?,
            rtt_us: self.small()?,
            rtt_var_us: self.small()?,
            cwnd: self.small()?,
            retransmits: self.small()?,
            delivery_rate_bps: self.unsigned()?,
            bytes_acked: self.unsigned()?,
            bytes_received: self.unsigned()?,
        })
    }

    fn event(&mut self) -> Option<EventRow> {
        let kind = *EventKind::ALL.get(usize::from(self.byte()?))?;
        let present = self.byte()?;
        if present >= 1 << 3 {
            return None;
        }
        let station = self.when(present & 1 != 0, Self::small)?;
        let workload = self.when(present & 2 != 0, Self::small)?;
        let (at, length) = (self.instant()?, self.unsigned()?);
        let text = std::str::from_utf8(std::mem::take(&mut self.0)).ok()?;
        Some(EventRow {
            station,
            workload,
            at,
            length,
            kind,
            detail: if present & 4 != 0 {
                Detail::from_data(kind, text)
            } else {
                Detail::Text(text.to_owned())
            },
        })
    }

    fn air(&mut self) -> Option<AirRow> {
        Some(AirRow {
            station: self.small()?,
            at: self.instant()?,
            airtime_down: Duration::from_nanos(self.unsigned()?),
            airtime_up: Duration::from_nanos(self.unsigned()?),
            transmissions: self.unsigned()?,
            mpdus: self.unsigned()?,
            retries: self.unsigned()?,
            backlog: self.unsigned()?,
            drops: self.unsigned()?,
            marks: self.unsigned()?,
            others: match self.0 {
                [] => None,
                _ => Some(Duration::from_nanos(self.unsigned()?)),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LEB128's own examples (DWARF 5, 7.6, value 7-2) and the ends of the range.
    #[test]
    fn integers_are_written_as_leb128() {
        let written = |value| {
            let mut to = Vec::new();
            unsigned(value, &mut to);
            to
        };
        assert_eq!(written(2), [2]);
        assert_eq!(written(127), [127]);
        assert_eq!(written(128), [0x80, 1]);
        assert_eq!(written(129), [1 + 0x80, 1]);
        assert_eq!(written(12857), [57 + 0x80, 100]);
        for value in [0, 1, u64::MAX, u64::MAX >> 1, 1 << 63] {
            assert_eq!(Bytes(&written(value)).unsigned(), Some(value));
        }
        assert_eq!(Bytes(&[0xff; 10]).unsigned(), None, "beyond 64 bits");
        assert_eq!(Bytes(&[0x80]).unsigned(), None, "torn");
    }

    /// Zigzag: 0, −1, 1, −2 are 0, 1, 2, 3.
    #[test]
    fn small_negative_numbers_stay_short() {
        for (value, byte) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (63, 126), (-64, 127)] {
            let mut to = Vec::new();
            signed(value, &mut to);
            assert_eq!(to, [byte]);
            assert_eq!(Bytes(&to).signed(), Some(value));
        }
        for value in [i64::MIN, i64::MAX] {
            let mut to = Vec::new();
            signed(value, &mut to);
            assert_eq!(Bytes(&to).signed(), Some(value));
        }
    }
}
