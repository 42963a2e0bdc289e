//! A run whose only station sends packets that are answered.

use super::Imported;
use super::common::{check_plan, header, one_line, station_name};
use super::file_error::FileError;
use netburn_record::header::{Host, Source};
use netburn_record::row::{OperationRow, Row};
use netburn_record::utc::UnixTime;
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::config::{Grid, PROBE_SIZES};
use netburn_workload::kinds::Probe;
use netburn_workload::operation::RemoteTimestamps;
use netburn_workload::{Config, Operation, Outcome};
use std::collections::BTreeSet;

/// Most round trips of a file.
pub(super) const MAX_ROUND_TRIPS: usize = 10_000_000;
/// Longest run in ns: a plan lasts 30 days at most.
pub(super) const MAX_RUN: i64 = 30 * 86_400 * 1_000_000_000;
/// Longest plausible round trip in ns: 10 minutes.
pub(super) const MAX_ROUND_TRIP: i64 = 600 * 1_000_000_000;

/// A packet and its answer. Times are in ns of the run, by the sender's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoundTrip {
    /// Time at which it was sent; 0 to [`MAX_RUN`].
    pub(super) sent: i64,
    /// Round-trip time, at most [`MAX_ROUND_TRIP`].
    pub(super) outcome: Answer,
    /// Timestamps of the other end.
    pub(super) far: Option<RemoteTimestamps>,
}

/// Outcome of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Answered after this time in ns.
    After(u64),
    /// Never answered.
    Lost,
}

/// A file with round trips.
#[derive(Debug)]
pub(super) struct Session {
    /// Name of the workload.
    pub(super) workload: &'static str,
    /// Name of the station, before it is made valid.
    pub(super) station: String,
    /// Typical time between packets, in ns.
    pub(super) interval: u64,
    /// Content of a packet, in bytes.
    pub(super) size: Option<u64>,
    pub(super) host: Host,
    pub(super) started: Option<UnixTime>,
    /// In the order in which the packets were sent.
    pub(super) round_trips: Vec<RoundTrip>,
    /// Its texts are made valid here.
    pub(super) source: Source,
}

impl Session {
    /// The run. It ends with the interval of the last packet.
    pub(super) fn imported(mut self) -> Result<Imported, FileError> {
        if self.round_trips.is_empty() {
            return Err(FileError::Empty("the file has no packet".to_owned()));
        }
        let interval = self.interval.clamp(100_000, 86_400_000_000_000);
        let end = self.round_trips.iter().map(|trip| trip.sent).max().unwrap_or(0);
        let length = end.unsigned_abs().saturating_add(interval);
        let config = Config {
            ..Config::with(|probe: &mut Probe| {
                probe.grid = Grid::regular(Duration::from_nanos(interval));
                if let Some(size) = self.size.map(ByteSize::from_bytes) {
                    probe.size = size.clamp(*PROBE_SIZES.start(), *PROBE_SIZES.end());
                    if probe.size != size {
                        self.source
                            .left_out
                            .push(format!("the size of the packets, which is {size}"));
                    }
                }
            })
        };
        let mut station = Station::new(&station_name(&self.station, &mut BTreeSet::new()));
        station.workloads = vec![StationWorkload::new(self.workload, config)];
        let name = station_name(&self.source.program, &mut BTreeSet::new()).to_lowercase();
        let title = format!("{}, {}", self.source.program, self.source.test);
        let plan = Plan {
            title: Some(one_line(&title)),
            duration: Duration::from_millis(length.div_ceil(1_000_000).max(1)),
            baseline: Duration::ZERO,
            stations: vec![station],
            ..Plan::new(&name)
        };
        check_plan(&plan).map_err(FileError::Format)?;
        Ok(Imported {
            rows: rows(&self.round_trips),
            header: header(plan, self.host, self.started, self.source),
        })
    }
}

/// Operations in the order in which they ended, because the summary counts answers that arrived after later ones.
fn rows(round_trips: &[RoundTrip]) -> Vec<Row> {
    let mut operations: Vec<Operation> = round_trips
        .iter()
        .zip(0..)
        .map(|(trip, sequence)| operation(trip, sequence))
        .collect();
    operations.sort_by_key(|operation| operation.finished.unwrap_or(operation.due));
    let row = |operation| {
        Row::Operation(OperationRow {
            station: 0,
            workload: 0,
            operation,
        })
    };
    operations.into_iter().map(row).collect()
}

/// The operation of a packet.
pub(super) fn operation(trip: &RoundTrip, sequence: u64) -> Operation {
    let due = Instant::from_nanos(trip.sent);
    let (outcome, took) = match trip.outcome {
        Answer::After(took) => (Outcome::Finished, Some(Duration::from_nanos(took))),
        Answer::Lost => (Outcome::TimedOut, None),
    };
    Operation {
        far: trip.far,
        ..super::common::operation(sequence, due, took.and_then(|took| due.checked_add(took)), outcome, 0)
    }
}
