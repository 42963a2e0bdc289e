//! Time and memory for the page of a run of many operations.
//!
//! `cargo bench -p netburn-report` uses 10 million operations; `-- 1000000 /some/folder` another
//! number and folder.

use netburn_analysis::View;
use netburn_record::{Header, IntervalRow, OperationRow, Recorder, Row, RunStatus, Sink};
use netburn_report::html;
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
    let path = folder.join(format!("netburn-bench-page-{}", std::process::id()));
    // Another process writes the record, so that its memory is not counted.
    if std::env::var_os("NETBURN_BENCH_RECORD").is_some() {
        return record(operations, &folder);
    }
    let program = std::env::current_exe().expect("this program");
    let made = std::process::Command::new(program)
        .args([operations.to_string().as_ref(), path.as_os_str()])
        .env("NETBURN_BENCH_RECORD", "1")
        .status();
    assert!(made.expect("it runs").success(), "the record is made");

    let begun = time::Instant::now();
    let view = View::open(&path).expect("a run");
    let gathered = begun.elapsed();
    let page = html::report(&view);
    let written = begun.elapsed();
    std::fs::remove_dir_all(&path).expect("the folder goes");
    println!("operations  {operations}");
    println!("gathered    {:.2} s", gathered.as_secs_f64());
    println!("page made   {:.2} s, {} kB", written.as_secs_f64(), page.len() / 1000);
    println!("peak memory {} MB", peak_mb());
}

fn record(operations: u64, path: &std::path::Path) {
    let uses = [("browsing", Config::browsing()), ("voip", Config::voip())];
    let workloads = uses.map(|(name, config)| StationWorkload::new(name, config));
    let stations = (0..STATIONS).map(|number| Station {
        workloads: workloads.to_vec(),
        ..Station::new(&format!("station-{number}"))
    });
    let plan = Plan {
        duration: Duration::from_secs(3600),
        stations: stations.collect(),
        ..Plan::new("bench")
    };
    let mut recorder = Recorder::create(path, Header::simulated(plan)).expect("a folder");
    let mut chance = Seed(1).stream("bench", 0);
    let step = 3_500_000_000_000 / operations.max(1);
    for sequence in 0..operations {
        let bits = chance.next_u64();
        let (station, workload) = ((bits % u64::from(STATIONS)) as u16, (bits >> 8 & 1) as u16);
        let due = Instant::from_nanos((sequence * step) as i64);
        let started = due + Duration::from_nanos(bits >> 16 & 0xffff);
        let first_byte = started + Duration::from_nanos(bits >> 24 & 0xff_ffff);
        let row = OperationRow {
            station,
            workload,
            operation: Operation {
                sequence,
                due,
                started: Some(started),
                connected: Some(started),
                first_byte: Some(first_byte),
                finished: Some(first_byte + Duration::from_nanos(bits >> 28 & 0x7ff_ffff)),
                bytes: 16_384,
                outcome: Outcome::Finished,
                far: None,
                tcp_connected: None,
            },
        };
        recorder.put(&Row::Operation(row)).expect("room on the disk");
        if sequence % 100 == 0 {
            let row = IntervalRow {
                station,
                workload,
                at: Instant::from_nanos(due.as_nanos() / 100_000_000 * 100_000_000),
                bytes_down: 1_638_400,
                bytes_up: 0,
            };
            recorder.put(&Row::Interval(row)).expect("room on the disk");
        }
    }
    recorder.finish(&RunStatus::Complete).expect("a finished record");
}

/// Maximum resident memory so far, in MB (Linux; 0 elsewhere).
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) / 1000
}
