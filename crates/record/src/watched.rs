//! A workload's machine under observation: what it says becomes rows, whoever drives it.

use crate::bins::{Bin, Bins};
use crate::row::{EventKind, EventRow, IntervalRow, OperationRow, Row};
use netburn_units::Instant;
use netburn_workload::{Direction, Operation, RequestId, Workload};

/// One workload of one station, and what is to be recorded of it.
///
/// **Call order:** after every `handle_*`, here or on the [`machine`](Self::machine_mut), call
/// [`take_rows`](Self::take_rows); [`interval_ended`](Self::interval_ended) every 100 ms or so;
/// [`finish`](Self::finish) once the machine is settled.
#[derive(Debug)]
pub struct Watched {
    station: u16,
    workload: u16,
    machine: Workload,
    bins: Bins,
    /// Whether its player's start-up has been reported.
    playing: bool,
}

impl Watched {
    /// Watches `machine`, which is workload number `workload` of station number `station` in the plan.
    #[must_use]
    pub fn new(station: u16, workload: u16, machine: Workload) -> Self {
        Watched {
            station,
            workload,
            machine,
            bins: Bins::default(),
            playing: false,
        }
    }

    /// The station's number in the plan.
    #[must_use]
    pub fn station(&self) -> u16 {
        self.station
    }

    /// The workload's number within the station.
    #[must_use]
    pub fn workload(&self) -> u16 {
        self.workload
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Workload {
        &self.machine
    }

    /// The machine, to be driven: actions and timeouts are the driver's, operations and stalls are taken here.
    pub fn machine_mut(&mut self) -> &mut Workload {
        &mut self.machine
    }

    /// So many bytes of an object's content moved at `now`: told to the machine, and counted in the 100 ms they moved
    /// in. Time must not go back by more than 100 ms between calls.
    pub fn handle_bytes(&mut self, now: Instant, id: RequestId, direction: Direction, bytes: u64, rows: &mut Vec<Row>) {
        let (down, up) = match direction {
            Direction::Down => (bytes, 0),
            Direction::Up => (0, bytes),
        };
        if bytes > 0
            && let Some(bin) = self.bins.add(now, down, up)
        {
            rows.push(self.interval(bin));
        }
        self.machine.handle_bytes(now, id, bytes);
    }

    /// Appends a row for every operation and stall that has ended since the last call, and for the player's start-up.
    pub fn take_rows(&mut self, rows: &mut Vec<Row>) {
        self.take_rows_with(rows, |_| {});
    }

    /// The same, and shows `count` every operation.
    pub fn take_rows_with(&mut self, rows: &mut Vec<Row>, mut count: impl FnMut(&Operation)) {
        let (station, workload) = (self.station, self.workload);
        while let Some(operation) = self.machine.poll_operation() {
            count(&operation);
            rows.push(Row::Operation(OperationRow {
                station,
                workload,
                operation,
            }));
        }
        let event = |at, length, kind| {
            Row::Event(EventRow {
                station: Some(station),
                workload: Some(workload),
                at,
                length,
                kind,
                text: String::new(),
            })
        };
        while let Some(stall) = self.machine.poll_stall() {
            rows.push(event(stall.began, stall.length.as_nanos(), EventKind::Stall));
        }
        if let (false, Some(startup)) = (self.playing, self.machine.startup()) {
            self.playing = true;
            rows.push(event(self.machine.start(), startup.as_nanos(), EventKind::Startup));
        }
    }

    /// Appends the row of the 100 ms that have ended by `now`, if bytes moved in them.
    pub fn interval_ended(&mut self, now: Instant, rows: &mut Vec<Row>) {
        if let Some(bin) = self.bins.ended(now) {
            rows.push(self.interval(bin));
        }
    }

    /// Appends what is left at the end: what [`take_rows`](Self::take_rows) would, and the bytes of the last 100 ms.
    pub fn finish(&mut self, rows: &mut Vec<Row>) {
        self.take_rows(rows);
        if let Some(bin) = self.bins.rest() {
            rows.push(self.interval(bin));
        }
    }

    fn interval(&self, bin: Bin) -> Row {
        Row::Interval(IntervalRow {
            station: self.station,
            workload: self.workload,
            at: bin.at,
            bytes_down: bin.down,
            bytes_up: bin.up,
        })
    }
}
