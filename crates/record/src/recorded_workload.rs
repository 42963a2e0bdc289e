//! Turns the outputs of a workload's state machine into rows.

use crate::bins::{Bin, Bins};
use crate::row::{EventKind, EventRow, IntervalRow, OperationRow, Row};
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::{Direction, Operation, RequestId, Workload};

/// One workload of one station, and what is to be recorded of it.
///
/// **Call order:** after every `handle_*`, here or on the [`machine`](Self::machine_mut), call
/// [`take_rows`](Self::take_rows); [`interval_ended`](Self::interval_ended) every 100 ms or so;
/// [`finish`](Self::finish) once the machine is settled.
#[derive(Debug)]
pub struct RecordedWorkload {
    station: u16,
    workload: u16,
    machine: Workload,
    bins: Bins,
    startup: Startup,
}

/// The meaning of the next start of a player's playback in the record.
#[derive(Debug, Clone, Copy)]
enum Startup {
    /// The start-up, which is not recorded yet.
    Pending,
    /// The end of a stall that began then: the player lost its buffer during playback.
    Stalled(Instant),
    /// Nothing: it is recorded.
    Recorded,
}

impl RecordedWorkload {
    /// Watches `machine`, which is workload number `workload` of station number `station` in the plan.
    #[must_use]
    pub fn new(station: u16, workload: u16, machine: Workload) -> Self {
        RecordedWorkload {
            station,
            workload,
            machine,
            bins: Bins::default(),
            startup: Startup::Pending,
        }
    }

    /// Watches `machine`, whose player lost its buffer at `stalled` during playback. The time until it plays again is a stall.
    #[must_use]
    pub fn resumed(station: u16, workload: u16, machine: Workload, stalled: Instant) -> Self {
        RecordedWorkload {
            startup: Startup::Stalled(stalled),
            ..RecordedWorkload::new(station, workload, machine)
        }
    }

    /// Start of the stall if the player loses its buffer at `now`; `None` without a player, and before its start-up.
    #[must_use]
    pub fn stall_from(&self, now: Instant) -> Option<Instant> {
        match self.startup {
            Startup::Pending => None,
            Startup::Stalled(from) => Some(from),
            Startup::Recorded => Some(now),
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

    /// Records bytes of an object's content that moved at `now` and passes them to the machine.
    /// Time must not go back by more than 100 ms between calls.
    pub fn handle_bytes(&mut self, now: Instant, id: RequestId, direction: Direction, bytes: u64, rows: &mut Vec<Row>) {
        self.count(now, direction, bytes, rows);
        self.machine.handle_bytes(now, id, bytes);
    }

    /// Records that a packet that is not answered arrived at `at`, which is known at `now`, and passes it to the machine.
    pub fn handle_arrival(
        &mut self,
        now: Instant,
        id: RequestId,
        direction: Direction,
        at: Instant,
        rows: &mut Vec<Row>,
    ) {
        let size = self.machine.config().packet_size(direction);
        self.handle_frame(now, id, direction, at, size, rows);
    }

    /// The same for a frame of a video call, which has `size` in all.
    pub fn handle_frame(
        &mut self,
        now: Instant,
        id: RequestId,
        direction: Direction,
        at: Instant,
        size: ByteSize,
        rows: &mut Vec<Row>,
    ) {
        self.count(now, direction, size.as_bytes(), rows);
        self.machine.handle_frame(now, id, at, size);
    }

    fn count(&mut self, now: Instant, direction: Direction, bytes: u64, rows: &mut Vec<Row>) {
        let (down, up) = match direction {
            Direction::Down => (bytes, 0),
            Direction::Up => (0, bytes),
        };
        if bytes > 0
            && let Some(bin) = self.bins.add(now, down, up)
        {
            rows.push(self.interval(bin));
        }
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
        while let Some(stall) = self.machine.poll_stall() {
            rows.push(self.event(stall.began, stall.length, EventKind::Stall));
        }
        let Some(startup) = self.machine.startup() else { return };
        let start = self.machine.start();
        match std::mem::replace(&mut self.startup, Startup::Recorded) {
            Startup::Pending => rows.push(self.event(start, startup, EventKind::Startup)),
            Startup::Stalled(from) => {
                let length = (start + startup).checked_since(from).unwrap_or_default();
                rows.push(self.event(from, length, EventKind::Stall));
            }
            Startup::Recorded => {}
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
        if let Startup::Stalled(from) = self.startup {
            let length = self.machine.load_end().checked_since(from).unwrap_or_default();
            rows.push(self.event(from, length, EventKind::Stall));
        }
        if let Some(bin) = self.bins.rest() {
            rows.push(self.interval(bin));
        }
    }

    fn event(&self, at: Instant, length: Duration, kind: EventKind) -> Row {
        Row::Event(EventRow {
            station: Some(self.station),
            workload: Some(self.workload),
            at,
            length: length.as_nanos(),
            kind,
            detail: "".into(),
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Seed;
    use netburn_workload::kinds::Periodic;
    use netburn_workload::{Action, Config, Outcome};
    use proptest::prelude::*;

    fn recorded(config: Config, start: Instant, end: Instant) -> RecordedWorkload {
        RecordedWorkload::new(3, 1, Workload::new(config, start, end, end, Seed(1), 0))
    }

    /// Drives the machine to its next due instant; what it begins there.
    fn begin(recorded: &mut RecordedWorkload) -> (Instant, RequestId) {
        let (due, _) = recorded.machine().poll_timeout().unwrap();
        recorded.machine_mut().handle_timeout(due);
        let action = std::iter::from_fn(|| recorded.machine_mut().poll_action()).find_map(|action| match action {
            Action::Begin(request) => Some(request.id),
            _ => None,
        });
        (due, action.unwrap())
    }

    /// 5 MB are 2 s of 20 Mbit/s, the player's startup buffer. Started at 1 s, it plays from 3 s to
    /// 5 s and stalls until the next 5 MB arrive at 8 s.
    #[test]
    fn a_players_start_up_and_stalls_are_events() {
        let (start, end) = (Instant::from_secs(1), Instant::from_secs(20));
        let mut recorded = recorded(Config::stream_4k(), start, end);
        let (_, id) = begin(&mut recorded);
        let mut rows = Vec::new();
        recorded.handle_bytes(Instant::from_secs(3), id, Direction::Down, 5_000_000, &mut rows);
        recorded.take_rows(&mut rows);
        recorded.handle_bytes(Instant::from_secs(8), id, Direction::Down, 5_000_000, &mut rows);
        recorded.take_rows(&mut rows);
        let events: Vec<_> = rows
            .iter()
            .filter_map(|row| match row {
                Row::Event(row) => Some((row.kind, row.at, row.length)),
                _ => None,
            })
            .collect();
        assert_eq!(
            events,
            [
                (EventKind::Startup, start, 2_000_000_000),
                (EventKind::Stall, Instant::from_secs(5), 3_000_000_000)
            ]
        );
        let once = rows.len();
        recorded.take_rows(&mut rows);
        assert_eq!(rows.len(), once, "no row is repeated");
    }

    #[test]
    fn every_operation_is_shown_and_becomes_a_row() {
        let config = Config::with(|calls: &mut Periodic| {
            calls.requests.object_size = ByteSize::from_bytes(1000);
            calls.grid.interval = Duration::from_millis(100);
        });
        let mut recorded = recorded(config, Instant::ZERO, Instant::from_secs(10));
        let (due, id) = begin(&mut recorded);
        let (mut rows, mut shown) = (Vec::new(), Vec::new());
        recorded.handle_bytes(due, id, Direction::Down, 1000, &mut rows);
        recorded.machine_mut().handle_finished(due, id);
        recorded.take_rows_with(&mut rows, |operation| shown.push(*operation));
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].outcome, Outcome::Finished);
        let expected = OperationRow {
            station: 3,
            workload: 1,
            operation: shown[0],
        };
        assert_eq!(rows, [Row::Operation(expected)]);
        recorded.finish(&mut rows);
        assert!(
            matches!(&rows[1..], [Row::Interval(row)] if (row.station, row.workload, row.bytes_down) == (3, 1, 1000)),
            "{rows:?}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Every byte is in an interval, for each direction and time.
        #[test]
        fn no_byte_is_lost(steps in prop::collection::vec((0_u64..300, 0_u64..5000, any::<bool>()), 0..50)) {
            let mut recorded = recorded(Config::download(), Instant::ZERO, Instant::from_secs(60));
            let (mut now, id) = begin(&mut recorded);
            let (mut rows, mut passed) = (Vec::new(), (0, 0));
            for (pass, bytes, down) in steps {
                now += Duration::from_millis(pass);
                let direction = if down { Direction::Down } else { Direction::Up };
                recorded.handle_bytes(now, id, direction, bytes, &mut rows);
                recorded.interval_ended(now, &mut rows);
                recorded.take_rows(&mut rows);
                if down { passed.0 += bytes } else { passed.1 += bytes }
            }
            recorded.finish(&mut rows);
            let counted = rows.iter().fold((0, 0), |sum, row| match row {
                Row::Interval(row) => (sum.0 + row.bytes_down, sum.1 + row.bytes_up),
                _ => sum,
            });
            prop_assert_eq!(passed, counted);
        }
    }
}
