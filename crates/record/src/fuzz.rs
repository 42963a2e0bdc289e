//! The entry points for a fuzzer.

mod inputs;
mod recorded_workload;

pub use inputs::{corpus, mutations};
pub use recorded_workload::check_watched;

use crate::header::{Environment, Header, Host, RunStatus};
use crate::row::{Row, Sink};
use crate::spool::{Disk, SpoolReader, SpoolWriter};
use crate::summary::count::Counter;
use crate::summary::verdicts::{inconclusive_reasons, run_self_check, summarise};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{Duration, Instant};
use netburn_workload::Config;
use std::io::{self, Write};

/// Reads bytes as a spool, counts and judges its rows, and writes them again.
///
/// # Panics
/// When the written rows differ from those read, or when bytes are missing in the counts.
pub fn check_spool(bytes: &[u8]) {
    let Ok(mut spool) = SpoolReader::open(bytes) else {
        return;
    };
    let mut copy = SpoolWriter::create(Memory::default(), spool.header()).expect("memory takes everything");
    while let Some(row) = spool.next_row().expect("memory can be read") {
        copy.put(&row).expect("memory takes everything");
    }
    let end = spool.end().expect("it came to its end");
    assert_eq!(
        end.kept + end.dropped,
        bytes.len() as u64,
        "every byte is kept or dropped"
    );
    let header = header();
    for status in [RunStatus::Complete, RunStatus::Interrupted] {
        let mut counter = Counter::new(&header.plan, header.environment);
        let mut again = SpoolReader::open(bytes).expect("it was one before");
        while let Some(row) = again.next_row().expect("memory can be read") {
            counter.row(&row);
        }
        let evidence = counter.finish(&status);
        let (self_check, why) = (
            run_self_check(&header, &status, &evidence),
            inconclusive_reasons(&header, &status, &evidence),
        );
        let summary = summarise(&header, "run", evidence, self_check, why);
        let text = serde_json::to_string(&summary).expect("a summary is JSON");
        assert_eq!(
            serde_json::from_str::<crate::Summary>(&text).expect("and back"),
            summary
        );
    }
    copy.sync().expect("memory takes everything");
    // Integers may be written longer than they need be, so that lengths may differ; rows may not.
    let written = copy.into_disk().bytes;
    let mut once = SpoolReader::open(bytes).expect("it was one before");
    let mut twice = SpoolReader::open(&written[..]).expect("it was written as one");
    loop {
        let (one, other) = (once.next_row().expect("memory"), twice.next_row().expect("memory"));
        assert_eq!(one, other);
        if one.is_none() {
            break;
        }
    }
    assert_eq!(twice.end().expect("it came to its end").dropped, 0);
}

/// Reads bytes as what happens to a spool being written: rows, writing, syncing, and a disk that is full at some
/// point. What is on the disk must be a beginning of what was put, and a synced row must be on it.
///
/// # Panics
/// When it is not, or when an error is returned twice.
pub fn check_writer(bytes: &[u8]) {
    let [full, steps @ ..] = bytes else { return };
    let room = if *full == 255 {
        usize::MAX
    } else {
        64 + usize::from(*full) * 16
    };
    let disk = Memory {
        room,
        ..Memory::default()
    };
    let Ok(mut spool) = SpoolWriter::create(disk, "{}") else {
        return;
    };
    let (mut put, mut safe, mut errors) = (Vec::new(), 0, 0);
    for step in steps {
        let result = match step {
            0..=199 => {
                let row = row(put.len() as u64, *step);
                let result = spool.put(&row);
                put.push(row);
                result
            }
            200..=239 => spool.write(),
            _ => {
                let result = spool.sync();
                if result.is_ok() && !spool.is_closed() {
                    safe = put.len();
                }
                result
            }
        };
        errors += u32::from(result.is_err());
        assert_eq!(errors > 0, spool.is_closed(), "the first error closes it");
        assert!(errors <= 1, "an error is returned once");
    }
    let disk = spool.into_disk();
    let mut read = SpoolReader::open(&disk.bytes[..]).expect("its header was written");
    let mut kept = 0;
    while let Some(row) = read.next_row().expect("memory can be read") {
        assert_eq!(row, put[kept], "row {kept}");
        kept += 1;
    }
    assert!(kept >= safe, "{safe} rows were synced, {kept} are there");
    if errors == 0 {
        assert_eq!(read.end().map(|end| end.dropped), Some(0));
    }
}

fn header() -> Header {
    let plan = Plan::new("fuzzed");
    let uses = [Config::browsing(), Config::stream_4k(), Config::voip(), Config::probe()];
    let workloads = uses
        .into_iter()
        .map(|config| StationWorkload::new(config.kind().to_string(), config));
    Header {
        seed: plan.seed,
        plan: Plan {
            duration: Duration::from_secs(60),
            stations: vec![Station {
                workloads: workloads.collect(),
                ..Station::new("laptop")
            }],
            ..plan
        },
        environment: Environment::Local,
        host: Host::default(),
        version: String::new(),
        started: None,
        source: None,
    }
}

fn row(number: u64, kind: u8) -> Row {
    use crate::row::{EventKind, EventRow, IntervalRow};
    let at = Instant::from_millis(number as i64);
    match kind % 2 {
        0 => Row::Interval(IntervalRow {
            station: kind.into(),
            workload: 0,
            at,
            bytes_down: number << (kind % 50),
            bytes_up: 0,
        }),
        _ => Row::Event(EventRow {
            station: None,
            workload: None,
            at,
            length: number,
            kind: EventKind::Warning,
            detail: "x".repeat(kind.into()).into(),
        }),
    }
}

/// A disk in memory that takes so much and no more.
#[derive(Debug)]
struct Memory {
    bytes: Vec<u8>,
    room: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            bytes: Vec::new(),
            room: usize::MAX,
        }
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(self.room - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..fits]);
        match fits {
            0 if !bytes.is_empty() => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(fits),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Disk for Memory {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
