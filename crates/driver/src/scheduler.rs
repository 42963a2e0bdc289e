//! Scheduling decisions of the driver, without sockets: workloads as input, actions and rows as output.

use crate::DriveReport;
use crate::datagram::call::{Arrival, CallPlan, VideoPlan};
use hdrhistogram::Histogram;
use netburn_record::{RecordedWorkload, Row};
use netburn_units::{Duration, Instant};
use netburn_workload::kinds::VideoCall;
use netburn_workload::responsiveness::Stages;
use netburn_workload::{Action, Config, Deadlines, Direction, Outcome, ProbeTarget, RequestId, Wake, Workload};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// An operation that could not start and was due at least this long ago counts as missed by the driver.
const TOO_LATE: Duration = Duration::from_millis(10);

/// Longest recorded lateness: one hour, in nanoseconds.
const MAX_LATENESS: u64 = 3_600_000_000_000;

/// Report of a driver that is interrupted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedReport {
    /// Lateness in nanoseconds, and how often it occurred.
    lateness: Vec<(u64, u64)>,
    report: DriveReport,
}

/// All workloads of one driver.
///
/// **Call order:** after every `handle_*`, drain [`poll_action`](Self::poll_action), then call `handle_timeout` at
/// [`poll_timeout`](Self::poll_timeout).
pub struct Scheduler {
    machines: Vec<Machine>,
    deadlines: Deadlines,
    actions: VecDeque<(usize, Action)>,
    rows: Vec<Row>,
    lateness: Histogram<u64>,
    report: DriveReport,
    unsettled: usize,
    /// True if due operations are skipped instead of started.
    overloaded: bool,
}

struct Machine {
    recorded: RecordedWorkload,
    settled: bool,
}

impl Scheduler {
    /// Creates a scheduler for `loads`, numbered in their order.
    pub fn new(loads: Vec<RecordedWorkload>) -> Self {
        let mut scheduler = Scheduler {
            deadlines: Deadlines::new(loads.len()),
            unsettled: loads.len(),
            overloaded: false,
            actions: VecDeque::new(),
            rows: Vec::new(),
            // Nanoseconds to one hour, three significant digits.
            lateness: Histogram::new_with_bounds(1, MAX_LATENESS, 3).expect("bounds that a histogram takes"),
            report: DriveReport::default(),
            machines: Vec::with_capacity(loads.len()),
        };
        for (index, load) in loads.into_iter().enumerate() {
            scheduler.machines.push(Machine {
                recorded: load,
                settled: false,
            });
            scheduler.drain(index);
        }
        scheduler
    }

    /// Handles all operations that are due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((_, index)) = self.deadlines.pop(now) {
            self.wake(index, now);
            self.drain(index);
        }
    }

    /// An event of one workload.
    pub fn handle(&mut self, index: usize, now: Instant, input: impl FnOnce(&mut Workload)) {
        self.catch_up(index, now);
        input(self.machines[index].recorded.machine_mut());
        self.drain(index);
    }

    /// Bytes of content were moved.
    pub fn handle_bytes(&mut self, index: usize, now: Instant, id: RequestId, direction: Direction, bytes: u64) {
        let (down, up) = match direction {
            Direction::Down => (bytes, 0),
            Direction::Up => (0, bytes),
        };
        self.report.bytes_down += down;
        self.report.bytes_up += up;
        self.catch_up(index, now);
        let recorded = &mut self.machines[index].recorded;
        recorded.handle_bytes(now, id, direction, bytes, &mut self.rows);
        self.drain(index);
    }

    /// A packet that is not answered arrived, or a frame is complete. This is known at `now`.
    pub fn handle_arrival(
        &mut self,
        index: usize,
        now: Instant,
        id: RequestId,
        direction: Direction,
        arrival: Arrival,
    ) {
        self.catch_up(index, now);
        let recorded = &mut self.machines[index].recorded;
        let of_packet = recorded.machine().config().packet_size(direction);
        let size = arrival.size.unwrap_or(of_packet);
        match direction {
            Direction::Down => self.report.bytes_down += size.as_bytes(),
            Direction::Up => self.report.bytes_up += size.as_bytes(),
        }
        recorded.handle_frame(now, id, direction, arrival.at, size, &mut self.rows);
        self.drain(index);
    }

    /// A datagram was due and the socket's buffer was full.
    pub fn handle_unsent(&mut self) {
        self.report.missed_sends += 1;
    }

    /// A request was sent this long after it was due, because the driver had no connection for it.
    pub fn handle_wait(&mut self, wait: Duration) {
        self.lateness.saturating_record(wait.as_nanos());
    }

    /// An operation ended while the driver was interrupted. One that was not started counts as missed.
    pub fn handle_interrupted(&mut self, outcome: Outcome) {
        self.report.missed_sends += u64::from(outcome == Outcome::NotStarted);
        self.report.operations += 1;
    }

    /// Returns the state of the report, for a driver that continues after an interruption.
    #[must_use]
    pub fn save(&self) -> SavedReport {
        let recorded = self.lateness.iter_recorded();
        SavedReport {
            lateness: recorded
                .map(|step| (step.value_iterated_to(), step.count_at_value()))
                .collect(),
            report: self.report.clone(),
        }
    }

    /// Continues a saved report.
    pub fn restore(&mut self, saved: SavedReport) {
        for (nanos, count) in saved.lateness {
            // A value within the range of the histogram has a place in it.
            let _ = self.lateness.record_n(nanos.clamp(1, MAX_LATENESS), count);
        }
        self.report = saved.report;
    }

    /// Sets whether the driver is overloaded: see [`Workload::set_overloaded`]. Skipped operations then count as missed
    /// by the driver.
    pub fn set_overloaded(&mut self, overloaded: bool) {
        self.overloaded = overloaded;
    }

    /// Shows the responsiveness tests to an observer.
    pub fn observe_tests(&mut self, observe: &mut dyn FnMut(&mut Stages)) {
        let machines = self.machines.iter_mut();
        machines
            .filter_map(|machine| machine.recorded.machine_mut().test_mut())
            .for_each(observe);
    }

    /// Ends the run at `now`.
    pub fn handle_stop(&mut self, now: Instant) {
        for index in 0..self.machines.len() {
            self.handle(index, now, |machine| machine.handle_stop(now));
        }
    }

    /// Returns the next action and the index of its workload.
    pub fn poll_action(&mut self) -> Option<(usize, Action)> {
        self.actions.pop_front()
    }

    /// Returns the time of the next `handle_timeout`; `None` when nothing is due any more.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.next()
    }

    /// Returns whether every workload is settled.
    pub fn is_settled(&self) -> bool {
        self.unsettled == 0
    }

    /// Returns the rows since the last call, including intervals that have ended by `now`.
    pub fn take_rows(&mut self, now: Instant) -> Vec<Row> {
        for machine in &mut self.machines {
            machine.recorded.interval_ended(now, &mut self.rows);
        }
        std::mem::take(&mut self.rows)
    }

    /// Returns the remaining rows. Call it when every workload is settled.
    pub fn take_rest(&mut self) -> Vec<Row> {
        for machine in &mut self.machines {
            machine.recorded.finish(&mut self.rows);
        }
        std::mem::take(&mut self.rows)
    }

    /// Returns the statistics until now.
    #[must_use]
    pub fn report(&self) -> DriveReport {
        let micros = |nanos: u64| nanos as f64 / 1e3;
        DriveReport {
            lateness_us_p50: micros(self.lateness.value_at_quantile(0.5)),
            lateness_us_p99: micros(self.lateness.value_at_quantile(0.99)),
            lateness_us_max: micros(self.lateness.max()),
            lateness_count: self.lateness.len(),
            ..self.report.clone()
        }
    }

    /// Returns the remaining rows and the report.
    #[must_use]
    pub fn finish(mut self) -> (Vec<Row>, DriveReport) {
        (self.take_rest(), self.report())
    }

    /// Adds a row from another source.
    pub fn put(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Returns the station and the workload number of a workload.
    pub fn place(&self, index: usize) -> (u16, u16) {
        let recorded = &self.machines[index].recorded;
        (recorded.station(), recorded.workload())
    }

    /// Returns the start of the stall if the player of a workload loses its buffer at `now`; `None` before its start-up.
    #[must_use]
    pub fn stall_from(&self, index: usize, now: Instant) -> Option<Instant> {
        self.machines[index].recorded.stall_from(now)
    }

    /// Returns a workload.
    #[must_use]
    pub fn machine(&self, index: usize) -> &Workload {
        self.machines[index].recorded.machine()
    }

    /// Returns the configuration of a workload.
    pub fn config(&self, index: usize) -> &Config {
        self.machines[index].recorded.machine().config()
    }

    /// Returns the host on the way to the server that a workload probes; `None` for other workloads.
    pub fn hop_target(&self, index: usize) -> Option<ProbeTarget> {
        let target = self.config(index).target();
        target.filter(|target| *target != ProbeTarget::Server)
    }

    /// A workload cannot run. It ends without further operations.
    pub fn handle_unavailable(&mut self, index: usize, now: Instant) {
        self.handle(index, now, |machine| machine.handle_stop(now));
    }

    /// Returns the schedule of a workload whose datagrams are not answered.
    pub fn call_plan(&self, index: usize) -> Option<CallPlan> {
        let machine = self.machines[index].recorded.machine();
        let config = machine.config();
        let streams = config.packet_streams();
        let stream = |direction| machine.first_packet(direction).zip(streams.get(direction));
        let (up, down) = (stream(Direction::Up), stream(Direction::Down));
        (up.is_some() || down.is_some()).then(|| CallPlan {
            up,
            down,
            end: machine.end_of_load(),
            dscp: config.marking().dscp,
            timeout: config.timeout,
            video: video_plan(config),
        })
    }

    /// Handles operations that were due before `now` first. The workload would do so by itself, but then their lateness
    /// would not be recorded.
    fn catch_up(&mut self, index: usize, now: Instant) {
        let due = self.machines[index].recorded.machine().poll_timeout();
        if due.is_some_and(|(at, _)| at < now) {
            self.wake(index, now);
        }
    }

    fn wake(&mut self, index: usize, now: Instant) {
        let schedule = self.machines[index].recorded.machine_mut();
        let Some((at, wake)) = schedule.poll_timeout().filter(|(at, _)| *at <= now) else {
            return;
        };
        if wake == Wake::Due {
            self.lateness.saturating_record(now.since(at).as_nanos());
        }
        schedule.set_overloaded(self.overloaded);
        schedule.handle_timeout(now);
        let patience = if self.overloaded { Duration::ZERO } else { TOO_LATE };
        let missed = self.take(index, now - patience);
        self.report.missed_sends += missed;
    }

    /// Collects the rows of a workload. Returns the number of operations that were due before `then` and never started.
    fn take(&mut self, index: usize, then: Instant) -> u64 {
        let (mut missed, report) = (0, &mut self.report);
        self.machines[index]
            .recorded
            .take_rows_with(&mut self.rows, |operation| {
                missed += u64::from(operation.outcome == Outcome::NotStarted && operation.due <= then);
                report.operations += 1;
                report.finished += u64::from(operation.outcome == Outcome::Finished);
            });
        missed
    }

    /// Collects the actions of a workload and its next timeout.
    fn drain(&mut self, index: usize) {
        self.take(index, Instant::ZERO);
        let machine = &mut self.machines[index];
        let schedule = machine.recorded.machine_mut();
        while let Some(action) = schedule.poll_action() {
            self.actions.push_back((index, action));
        }
        self.deadlines.set(index, schedule.poll_timeout().map(|(at, _)| at));
        if schedule.is_settled() && !machine.settled {
            machine.settled = true;
            self.unsettled -= 1;
        }
    }
}

/// Senders of a video call; `None` for other kinds.
fn video_plan(config: &Config) -> Option<VideoPlan> {
    let VideoCall { streams, adaptation } = config.video()?;
    Some(VideoPlan {
        adaptation: *adaptation,
        up: streams.up?,
        down: streams.down?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::EventKind;
    use netburn_units::{ByteSize, Seed};
    use netburn_workload::kinds::Periodic;

    /// Returns one load of calls every 100 ms, from 0 to 10 s, and the due time of the first.
    fn calls() -> (Scheduler, Instant) {
        let config = Config::with(|calls: &mut Periodic| {
            calls.requests.object_size = ByteSize::from_bytes(1000);
            calls.grid.interval = Duration::from_millis(100);
        });
        let end = Instant::from_secs(10);
        let machine = Workload::new(config, Instant::ZERO, end, end, Seed(1), 0);
        let first = machine.first_due().unwrap();
        (Scheduler::new(vec![RecordedWorkload::new(4, 2, machine)]), first)
    }

    fn begun(scheduler: &mut Scheduler) -> Vec<RequestId> {
        let actions = std::iter::from_fn(|| scheduler.poll_action());
        let ids = actions.filter_map(|(_, action)| match action {
            Action::Begin(request) => Some(request.id),
            _ => None,
        });
        ids.collect()
    }

    #[test]
    fn lateness_is_the_time_from_due_to_handled() {
        let (mut scheduler, first) = calls();
        assert_eq!(scheduler.poll_timeout(), Some(first));
        scheduler.handle_timeout(first + Duration::from_micros(300));
        assert_eq!(begun(&mut scheduler).len(), 1);
        // The second one is handled 700 µs late, together with another event.
        let second = first + Duration::from_millis(100) + Duration::from_micros(700);
        let id = RequestId {
            operation: 0,
            object: 0,
        };
        scheduler.handle_bytes(0, second, id, Direction::Down, 1000);
        scheduler.handle(0, second, |machine| machine.handle_finished(second, id));
        assert_eq!(begun(&mut scheduler).len(), 1);
        let rows = scheduler.take_rows(second);
        assert!(
            matches!(&rows[..], [Row::Operation(row)] if (row.station, row.workload) == (4, 2)),
            "{rows:?}"
        );
        let (rows, report) = scheduler.finish();
        assert_eq!(report.lateness_count, 2);
        // The histogram has three significant digits.
        assert!((report.lateness_us_p50 - 300.0).abs() < 1.0, "{report:?}");
        assert!((report.lateness_us_max - 700.0).abs() < 1.0, "{report:?}");
        assert_eq!((report.operations, report.finished, report.bytes_down), (1, 1, 1000));
        assert!(
            matches!(&rows[..], [Row::Interval(row)] if row.bytes_down == 1000),
            "{rows:?}"
        );
    }

    #[test]
    fn a_restored_report_is_that_of_before_the_interruption() {
        let (mut scheduler, first) = calls();
        scheduler.handle_timeout(first + Duration::from_micros(300));
        scheduler.handle_wait(Duration::from_millis(7));
        scheduler.handle_unsent();
        scheduler.handle_interrupted(Outcome::NotStarted);
        let (mut next, _) = calls();
        next.restore(scheduler.save());
        let report = next.report();
        assert_eq!(report, scheduler.report());
        assert_eq!(
            (report.lateness_count, report.missed_sends, report.operations),
            (2, 2, 1)
        );
        // The histogram has three significant digits.
        assert!((report.lateness_us_p50 - 300.0).abs() < 1.0, "{report:?}");
        assert!((report.lateness_us_max - 7000.0).abs() < 10.0, "{report:?}");
        next.handle_wait(Duration::from_millis(20));
        assert_eq!(next.report().lateness_count, 3);
    }

    #[test]
    fn the_start_up_of_a_player_is_an_event() {
        let (start, end) = (Instant::from_secs(3), Instant::from_secs(10));
        let machine = Workload::new(Config::stream_4k(), start, end, end, Seed(1), 0);
        let mut scheduler = Scheduler::new(vec![RecordedWorkload::new(0, 0, machine)]);
        let first = scheduler.poll_timeout().unwrap();
        scheduler.handle_timeout(first);
        let id = begun(&mut scheduler)[0];
        // Two seconds of 20 Mbit/s, all at once.
        let enough = Instant::from_secs(5);
        scheduler.handle_bytes(0, enough, id, Direction::Down, 5_000_000);
        let rows = scheduler.take_rows(enough);
        let startup = rows.iter().find_map(|row| match row {
            Row::Event(row) if row.kind == EventKind::Startup => Some((row.at, row.length)),
            _ => None,
        });
        assert_eq!(startup, Some((start, 2_000_000_000)), "{rows:?}");
    }

    #[test]
    fn operations_missed_by_a_late_driver_are_counted() {
        let (mut scheduler, first) = calls();
        // 12 operations are due by then: eight may be outstanding, four are skipped, all of them long ago.
        scheduler.handle_timeout(first + Duration::from_millis(1150));
        assert_eq!(begun(&mut scheduler).len(), 8);
        // From here on the driver is on time, and skipped operations are due to the network.
        for tenth in 12..20 {
            scheduler.handle_timeout(first + Duration::from_millis(tenth * 100));
        }
        assert_eq!(begun(&mut scheduler).len(), 0);
        let (_, report) = scheduler.finish();
        assert_eq!((report.missed_sends, report.operations), (4, 12));
    }

    #[test]
    fn an_overloaded_driver_starts_nothing_and_counts_missed_operations() {
        let (mut scheduler, first) = calls();
        scheduler.handle_timeout(first);
        assert_eq!(begun(&mut scheduler).len(), 1);
        scheduler.set_overloaded(true);
        for tenth in 1..6 {
            scheduler.handle_timeout(first + Duration::from_millis(tenth * 100));
        }
        assert_eq!(begun(&mut scheduler).len(), 0);
        // Running operations continue.
        let id = RequestId {
            operation: 0,
            object: 0,
        };
        let now = first + Duration::from_millis(550);
        scheduler.handle(0, now, |machine| machine.handle_finished(now, id));
        scheduler.set_overloaded(false);
        scheduler.handle_timeout(first + Duration::from_millis(600));
        assert_eq!(begun(&mut scheduler).len(), 1);
        let (_, report) = scheduler.finish();
        assert_eq!((report.operations, report.finished, report.missed_sends), (6, 1, 5));
    }

    #[test]
    fn an_overloaded_driver_still_starts_sequential_objects() {
        let end = Instant::from_secs(10);
        let machine = Workload::new(Config::download(), Instant::ZERO, end, end, Seed(1), 0);
        let mut scheduler = Scheduler::new(vec![RecordedWorkload::new(0, 0, machine)]);
        scheduler.set_overloaded(true);
        scheduler.handle_timeout(Instant::ZERO);
        assert_eq!(begun(&mut scheduler).len(), 1);
        let (_, report) = scheduler.finish();
        assert_eq!(report.missed_sends, 0);
    }

    #[test]
    fn a_stop_settles_all_and_cancels_running_operations() {
        let (mut scheduler, first) = calls();
        scheduler.handle_timeout(first);
        assert_eq!(begun(&mut scheduler).len(), 1);
        assert!(!scheduler.is_settled());
        scheduler.handle_stop(first + Duration::from_millis(5));
        assert!(scheduler.is_settled());
        assert_eq!(
            scheduler
                .poll_action()
                .map(|(_, action)| matches!(action, Action::Cancel(_))),
            Some(true)
        );
        let (rows, _) = scheduler.finish();
        assert!(
            matches!(&rows[..], [Row::Operation(row)] if row.operation.outcome == Outcome::Cut),
            "{rows:?}"
        );
    }
}
