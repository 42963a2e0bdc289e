//! Time and memory for writing, finishing and summarising a record of many operations.
//!
//! `cargo bench -p netburn-record` uses 10 million operations; `-- 1000000 /some/folder` another
//! number and folder.

use netburn_record::{Environment, Header, Host, IntervalRow, OperationRow, Recorder, Row, Run, RunStatus, Sink};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{Duration, Instant, Seed};
use netburn_workload::{Config, Operation, Outcome};
use std::time;

const STATIONS: u16 = 20;

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let operations: u64 = arguments
        .first()
        .map_or(10_000_000, |count| count.parse().expect("a number of operations"));
    let folder = arguments.get(1).map_or_else(std::env::temp_dir, Into::into);
    let path = folder.join(format!("netburn-bench-record-{}", std::process::id()));

    let clock = Clock::start();
    let mut recorder = Recorder::create(&path, header()).expect("a folder");
    spool(&mut recorder, operations);
    let spooled = clock.read();
    let spool_bytes = std::fs::metadata(path.join("spool")).map_or(0, |file| file.len());
    let run = recorder.finish(&RunStatus::Complete).expect("a finished record");
    let written = clock.read();
    let bytes: u64 = std::fs::read_dir(&path)
        .expect("the folder")
        .map(|entry| entry.and_then(|entry| entry.metadata()).map_or(0, |file| file.len()))
        .sum();
    let peak_written = peak_mb();

    let again = Run::open(&path).expect("a record");
    let clock = Clock::start();
    let summary = again.summarise().expect("a summary");
    let summed = clock.read();
    assert_eq!(summary, *run.summary());
    std::fs::remove_dir_all(&path).expect("the folder goes");

    println!("operations            {operations:>9}");
    println!("spooled               {spooled}   {} MB", spool_bytes / 1_000_000);
    println!("written (spool + end) {written}   {} MB", bytes / 1_000_000);
    println!("summed up             {summed}");
    println!(
        "peak memory           {peak_written:>9} MB written, {} MB in all",
        peak_mb()
    );
}

/// Elapsed time, and processor time of this thread.
struct Clock(time::Instant, f64);

impl Clock {
    fn start() -> Self {
        Clock(time::Instant::now(), on_cpu())
    }

    fn read(&self) -> String {
        let (passed, cpu) = (self.0.elapsed().as_secs_f64(), on_cpu() - self.1);
        format!("{passed:>9.2} s ({cpu:.2} s of a processor)")
    }
}

/// Seconds that this thread ran (Linux; 0 elsewhere).
fn on_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text
        .split_whitespace()
        .next()
        .and_then(|nanos| nanos.parse::<f64>().ok());
    nanos.unwrap_or(0.0) / 1e9
}

fn header() -> Header {
    let uses = [("browsing", Config::browsing()), ("voip", Config::voip())];
    let stations = (0..STATIONS).map(|number| Station {
        workloads: uses
            .iter()
            .map(|(name, config)| StationWorkload::new(*name, config.clone()))
            .collect(),
        ..Station::new(&format!("station-{number}"))
    });
    let plan = Plan {
        duration: Duration::from_secs(3600),
        stations: stations.collect(),
        ..Plan::new("bench")
    };
    Header {
        seed: plan.seed,
        plan,
        environment: Environment::Simulate,
        host: Host::here(),
        version: "bench".into(),
        started: None,
        source: None,
    }
}

/// Operations of all stations in turn, with irregular times like real ones, and the intervals
/// between.
fn spool(recorder: &mut Recorder, operations: u64) {
    let mut chance = Seed(1).stream("bench", 0);
    let mut place = [0_u64; STATIONS as usize * 2];
    let mut synced = time::Instant::now();
    let step = 3_500_000_000_000 / operations.max(1);
    for number in 0..operations {
        let bits = chance.next_u64();
        let station = (bits % u64::from(STATIONS)) as u16;
        let workload = (bits >> 8 & 1) as u16;
        let sequence = &mut place[usize::from(station) * 2 + usize::from(workload)];
        let due = Instant::from_nanos((number * step) as i64);
        let started = due + Duration::from_nanos(bits >> 16 & 0xffff);
        let connected = started + Duration::from_nanos(bits >> 20 & 0xf_ffff);
        let first_byte = connected + Duration::from_nanos(bits >> 24 & 0xff_ffff);
        let finished = first_byte + Duration::from_nanos(bits >> 28 & 0x7ff_ffff);
        let row = OperationRow {
            station,
            workload,
            operation: Operation {
                sequence: *sequence,
                due,
                started: Some(started),
                connected: Some(connected),
                first_byte: Some(first_byte),
                finished: Some(finished),
                bytes: 16_384,
                outcome: Outcome::Finished,
                far: None,
                tcp_connected: None,
            },
        };
        *sequence += 1;
        recorder.put(&Row::Operation(row)).expect("room on the disk");
        if number % 1000 == 0 {
            let at = Instant::from_nanos(due.as_nanos() / 100_000_000 * 100_000_000);
            let row = IntervalRow {
                station,
                workload,
                at,
                bytes_down: 16_384_000,
                bytes_up: 0,
            };
            recorder.put(&Row::Interval(row)).expect("room on the disk");
        }
        // The same steps as `netburn run`.
        if number % 1000 == 0 && synced.elapsed() >= time::Duration::from_secs(1) {
            synced = time::Instant::now();
            recorder.sync().expect("room on the disk");
        }
    }
}

/// Maximum resident memory so far, in MB (Linux; 0 elsewhere).
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) / 1000
}
