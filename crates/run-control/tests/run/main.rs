//! Whole runs with real traffic on loopback; agents and server are threads of this process.

#[path = "../support/mod.rs"]
mod support;
mod threads;
mod unauthenticated;

use netburn_record::row::BASELINE;
use netburn_record::{Clock, Detail, EventKind, Role, Row, Side, Sink};
use netburn_run_control::{ControllerError, Phase, ProgressObserver, agent_main};
use netburn_units::{Duration, Instant};
use netburn_workload::Outcome as PartEnd;
use std::sync::{Arc, Condvar, Mutex};
use support::{Memory, Told, four_uses, never, run};
use threads::Threads;

/// The clock comparisons of a run.
fn clocks(memory: &Memory) -> Vec<Clock> {
    let events = memory.events(EventKind::Clock);
    let clocks = events.iter().filter_map(|event| match &event.detail {
        Detail::Clock(clock) => Some((**clock).clone()),
        _ => None,
    });
    clocks.collect()
}

/// Checks comparisons of clocks of this machine. All participants use the same one with origins of their own, so all
/// estimates of an offset agree within their errors, however long a round trip takes.
#[track_caller]
fn expect_agreement(clocks: &[Clock]) {
    for one in clocks {
        assert!(one.exchanges >= 20, "{one:?}");
        for other in clocks.iter().filter(|other| other.name == one.name) {
            let error = one.error_ns + other.error_ns;
            assert!(one.offset_ns.abs_diff(other.offset_ns) <= error, "{one:?} {other:?}");
        }
    }
}

#[test]
fn four_workloads_at_once_deliver_their_operations() {
    let plan = four_uses("3 s");
    let (mut memory, mut told) = (Memory::default(), Told::default());
    let outcome = run(&plan, &mut Threads::default(), &mut memory, &mut told, never()).unwrap();
    assert_eq!(outcome.lost, []);
    assert!(!outcome.interrupted);
    assert_eq!(
        told.phases[..4],
        [Phase::Joining, Phase::Clocks, Phase::Baseline, Phase::Running]
    );
    assert_eq!(memory.events(EventKind::Lost).len(), 0);
    // 128 KiB ten times; 1 MiB; 16 KiB; a part of 1 GiB.
    for (station, size) in [(0, 10 << 17), (1, 1 << 20), (2, 16 << 10)] {
        let finished = memory.operations(station).filter(|row| {
            let o = &row.operation;
            row.workload == 0 && o.outcome == PartEnd::Finished && o.bytes == size
        });
        assert!(finished.count() > 0, "station {station}");
    }
    // voip: one every 131.072 ms in 3 s are 22 or 23.
    let calls = memory.operations(2).filter(|row| row.workload == 0).count();
    assert!((22..=23).contains(&calls), "{calls}");
    for station in 0..4 {
        let idle: Vec<_> = memory
            .operations(station)
            .filter(|row| row.workload == BASELINE)
            .collect();
        assert!(!idle.is_empty(), "station {station}");
        assert!(idle.iter().all(|row| row.operation.due < Instant::ZERO));
    }
    // The server sent what each station reports to have received, and little more: the data in flight at
    // the end.
    let health = memory.health();
    let server = health.iter().find(|health| health.role == Role::Server).unwrap();
    for (number, station) in plan.stations.iter().enumerate() {
        let reported = memory.rows.iter().filter_map(|row| match row {
            Row::Interval(row) if usize::from(row.station) == number => Some(row.bytes_down),
            _ => None,
        });
        let (reported, counted) = (reported.sum::<u64>(), server.served[&station.name].bytes_down);
        assert!(
            reported > 0 && reported <= counted,
            "{}: {reported} of {counted}",
            station.name
        );
        let most = reported + (64 << 20);
        assert!(counted <= most, "{}: {counted} for {reported}", station.name);
    }
    assert_eq!(memory.events(EventKind::Rejected).len(), 0);
    // The server and four agents, at the start and at the end.
    let clocks = clocks(&memory);
    assert_eq!(clocks.len(), 10);
    expect_agreement(&clocks);
    // Both ends of a connection, with the station's number.
    let looks = |side: Side| {
        let looks = memory
            .rows
            .iter()
            .filter(|row| matches!(row, Row::Connection(c) if c.side == side && c.station < 4));
        looks.count()
    };
    assert!(looks(Side::Station) > 0);
    assert!(looks(Side::Server) > 0);
    // The server's count equals the stations', except for data in flight.
    let health = memory.health();
    assert_eq!(health.len(), 5);
    let bytes = |role: Role| {
        health
            .iter()
            .filter(|h| h.role == role)
            .map(|h| h.bytes_down)
            .sum::<u64>() as f64
    };
    let (sent, got) = (bytes(Role::Server), bytes(Role::Agent));
    assert!(
        got <= sent && sent <= got + f64::from(64 << 20),
        "{sent} sent, {got} got"
    );
    // The limit: 200 Mbit/s for 3 s are 75 MB, and the rest of the download continues in the drain.
    assert!(got < 75e6 * 5.0 / 3.0 * 1.1, "{got} bytes");
    assert!(memory.syncs >= 2);
}

#[test]
fn stations_keep_their_hours() {
    let plan = support::plan(
        r#"
        duration = "2 s"
        baseline = "0 s"
        warmup = "0 s"
        drain = "1 s"
        [station.late]
        workload = "voip"
        start = "1 s"
        [station.early]
        workload = "voip"
        stop = "1 s"
        "#,
    );
    let (mut memory, mut told) = (Memory::default(), Told::default());
    run(&plan, &mut Threads::default(), &mut memory, &mut told, never()).unwrap();
    let due = |station: u16| {
        memory
            .operations(station)
            .map(|row| row.operation.due)
            .collect::<Vec<_>>()
    };
    let second = Instant::from_secs(1);
    assert!(!due(0).is_empty() && due(0).iter().all(|due| *due >= second));
    assert!(!due(1).is_empty() && due(1).iter().all(|due| *due < second));
    assert!(memory.operations(0).all(|row| row.workload != BASELINE));
}

#[test]
fn over_tls_and_http_2() {
    let plan = support::plan(
        r#"
        duration = "1 s"
        baseline = "300 ms"
        warmup = "0 s"
        drain = "10 s"
        [server]
        http = "2"
        tls = true
        [station.phone]
        workload = "voip"
        "#,
    );
    let (mut memory, mut told) = (Memory::default(), Told::default());
    run(&plan, &mut Threads::default(), &mut memory, &mut told, never()).unwrap();
    let calls: Vec<_> = memory.operations(0).filter(|row| row.workload == 0).collect();
    assert!(calls.len() >= 7, "{}", calls.len());
    let finished = calls
        .iter()
        .filter(|row| row.operation.outcome == PartEnd::Finished)
        .count();
    assert!(finished + 1 >= calls.len(), "{calls:?}");
}

#[test]
fn a_stop_delivers_the_results_so_far() {
    let plan = four_uses("1 h");
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut memory = Memory::default();
    let mut told = Told {
        after: Some(Instant::from_millis(1000)),
        when_running: Some(Box::new(move || {
            stop.send_replace(true);
        })),
        ..Told::default()
    };
    let outcome = run(&plan, &mut Threads::default(), &mut memory, &mut told, stopped).unwrap();
    assert!(outcome.interrupted);
    assert!(memory.operations(2).any(|row| row.workload == 0));
    assert_eq!(memory.health().len(), 5);
}

#[test]
fn a_full_disk_ends_the_run_and_is_reported_once() {
    let plan = four_uses("1 h");
    let mut memory = Memory {
        full_at: Some(100),
        ..Memory::default()
    };
    let mut told = Told::default();
    let error = run(&plan, &mut Threads::default(), &mut memory, &mut told, never()).unwrap_err();
    assert!(matches!(&error, ControllerError::Storage(error) if error.kind() == std::io::ErrorKind::StorageFull));
    assert_eq!(memory.rows.len(), 100);
    assert_eq!(told.warnings, [] as [String; 0]);
}

/// Reports of the run time that a blocked disk waits for.
const TICKS: usize = 5;

/// Number of the reports of the run time since the load began.
type Ticks = Arc<(Mutex<usize>, Condvar)>;

/// A sink whose first sync ends after [`TICKS`] reports of the run time.
#[derive(Default)]
struct SlowDisk {
    memory: Memory,
    ticks: Ticks,
    /// True if the run continued during the first sync. `None` before it.
    continued: Option<bool>,
}

impl Sink for SlowDisk {
    fn put(&mut self, row: &Row) -> std::io::Result<()> {
        self.memory.put(row)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        if self.continued.is_none() {
            let (ticks, changed) = &*self.ticks;
            let patience = std::time::Duration::from_secs(60);
            let waited = changed.wait_timeout_while(ticks.lock().unwrap(), patience, |ticks| *ticks < TICKS);
            self.continued = Some(!waited.unwrap().1.timed_out());
        }
        self.memory.sync()
    }
}

/// Counts the reports of the run time of the load.
#[derive(Default)]
struct Counting {
    ticks: Ticks,
    running: bool,
}

impl ProgressObserver for Counting {
    fn phase(&mut self, phase: Phase, _: Duration) {
        self.running |= phase == Phase::Running;
    }

    fn tick(&mut self, _: Instant) {
        let (ticks, changed) = &*self.ticks;
        *ticks.lock().unwrap() += usize::from(self.running);
        changed.notify_all();
    }
}

/// The clocks are compared and the load starts while the disk is blocked.
#[test]
fn a_slow_disk_neither_loses_a_connection_nor_disturbs_timestamps() {
    let plan = four_uses("4 s");
    let ticks = Ticks::default();
    let mut disk = SlowDisk {
        ticks: Arc::clone(&ticks),
        ..SlowDisk::default()
    };
    let mut counting = Counting { ticks, running: false };
    let mut launcher = Threads {
        // The first sync begins half a second after the start of the controller.
        instead: Some(("phone", |join| {
            std::thread::sleep(std::time::Duration::from_secs(1));
            agent_main(join)
        })),
        ..Threads::default()
    };
    let outcome = run(&plan, &mut launcher, &mut disk, &mut counting, never()).unwrap();
    assert_eq!(outcome.lost, []);
    assert_eq!(disk.continued, Some(true), "the load ran while the disk was blocked");
    let clocks = clocks(&disk.memory);
    assert_eq!(clocks.len() % 5, 0);
    expect_agreement(&clocks);
    // voip: one every 131.072 ms in 4 s are 30 or 31.
    let calls = disk.memory.operations(2).filter(|row| row.workload == 0).count();
    assert!((30..=31).contains(&calls), "{calls}");
}

#[test]
fn a_process_that_cannot_be_started_is_named() {
    let plan = four_uses("1 s");
    let mut launcher = netburn_run_control::ThisMachine {
        program: "/nonexistent/netburn".into(),
    };
    let (mut memory, mut told) = (Memory::default(), Told::default());
    let error = run(&plan, &mut launcher, &mut memory, &mut told, never()).unwrap_err();
    assert!(error.to_string().starts_with("can't start server: "), "{error}");
}
