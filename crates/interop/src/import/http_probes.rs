//! A run whose only station sends requests beside load, from tools that measure responsiveness.

use super::Imported;
use super::common::{Transfer, check_plan, header, operation};
use super::file_error::FileError;
use netburn_record::header::{Host, Source};
use netburn_record::row::{BASELINE, OperationRow, Row};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{Duration, Instant};
use netburn_workload::config::{Activity, MIN_WINDOW};
use netburn_workload::{Config, Outcome};

/// Longest response in seconds.
pub(super) const MAX_RESPONSE: f64 = 600.0;
/// Longest run in seconds: a day.
pub(super) const MAX_SECONDS: f64 = 86_400.0;
/// Highest rate in bytes per second: a terabit per second.
pub(super) const MAX_RATE: f64 = 1.25e11;

/// Time in which a workload runs, in seconds of the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Part {
    fn activity(self) -> Activity {
        let start = Duration::from_millis((self.from * 1e3) as u64);
        let stop = Duration::from_millis((self.to * 1e3).ceil() as u64);
        Activity {
            start,
            stop: Some(stop.max(start + MIN_WINDOW)),
            repeat: None,
        }
    }
}

/// Workloads and rows of the station.
#[derive(Debug, Default)]
pub(super) struct Probes {
    workloads: Vec<StationWorkload>,
    rows: Vec<Row>,
    /// Time before the load, in seconds.
    idle: f64,
}

impl Probes {
    /// Adds requests as a workload: start and length of each, in seconds. Those of no `name` are idle latency. The workload
    /// runs during `part`; `None` for the whole run.
    pub(super) fn requests(&mut self, name: Option<&str>, requests: &[(f64, f64)], part: Option<Part>) {
        let workload = match name {
            None => {
                let earliest = requests.iter().map(|(start, _)| *start).fold(0.0, f64::min);
                self.idle = self.idle.max(-earliest);
                BASELINE
            }
            Some(name) => {
                let config = Config {
                    goals: Vec::new(),
                    activity: part.map(Part::activity).unwrap_or_default(),
                    ..Config::browsing()
                };
                self.workloads.push(StationWorkload::new(name, config));
                (self.workloads.len() - 1) as u16
            }
        };
        let nanos = |seconds: f64| (seconds * 1e9).round() as i64;
        for ((start, length), number) in requests.iter().zip(0..) {
            let due = nanos(*start);
            let end = Instant::from_nanos(due + nanos(*length));
            self.rows.push(Row::Operation(OperationRow {
                station: 0,
                workload,
                operation: operation(number, Instant::from_nanos(due), Some(end), Outcome::Finished, 0),
            }));
        }
    }

    /// Adds a load as a workload. Each element has two times in seconds, and the bytes that moved between them.
    /// The workload runs during `part`; `None` for the whole run.
    pub(super) fn load(&mut self, down: bool, parts: &[(f64, f64, f64)], part: Option<Part>) {
        let mut transfer = Transfer::default();
        for (from, to, bytes) in parts {
            transfer.add(*from, *to, *bytes);
        }
        let (name, config) = if down {
            ("download", Config::download())
        } else {
            ("upload", Config::upload())
        };
        self.rows.extend(transfer.rows(0, self.workloads.len() as u16, down));
        let config = Config {
            activity: part.map(Part::activity).unwrap_or_default(),
            ..config
        };
        self.workloads.push(StationWorkload::new(name, config));
    }

    /// The run of `seconds`.
    pub(super) fn imported(self, seconds: f64, host: Host, source: Source) -> Result<Imported, FileError> {
        if self.rows.is_empty() {
            return Err(FileError::Empty("the file has no measurement".to_owned()));
        }
        let mut station = Station::new("client");
        station.workloads = self.workloads;
        let plan = Plan {
            title: Some(format!("{}, {}", source.program, source.test)),
            duration: Duration::from_millis(((seconds * 1e3).ceil() as u64).max(1)),
            baseline: Duration::from_millis((self.idle * 1e3).ceil() as u64),
            stations: vec![station],
            ..Plan::new(&source.program.to_lowercase())
        };
        check_plan(&plan).map_err(FileError::Format)?;
        Ok(Imported {
            header: header(plan, host, None, source),
            rows: self.rows,
        })
    }
}
