//! Late results: merged into the folder of a finished run, whose summary is computed again.
//!
//! The new tables and the new `run.json` are written next to the old ones, in a folder `amended`.
//! Its `run.json` is written last. Once it exists, the new record counts, also for
//! [`Run::open`]. If the writer was killed before it moved the new record into place,
//! [`recover()`] or the next merge does. So the folder always holds either the old record or the
//! new one.

mod dedup;

use crate::allowance::Allowance;
use crate::columns::names::Names;
use crate::document::{Document, FILE, sync_folder};
use crate::error::Error;
use crate::folder::{Lock, amended_path};
use crate::header::RunStatus;
use crate::health::{Health, Role};
use crate::quality_issue::QualityIssue;
use crate::recover::{put_in_place, recover};
use crate::rejected_rows::Rejected;
use crate::row::{Detail, EventKind, EventRow, Row};
use crate::run::Run;
use crate::run_set::pool;
use crate::summary::count::Counter;
use crate::tables::Tables;
use crate::utc::UnixTime;
use dedup::SeenRows;
use netburn_units::{Duration, Instant};
use netburn_workload::Outcome;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Elapsed time for the [`Allowance`] of a finished run.
const ENTIRE_RUN: Duration = Duration::from_nanos(u64::MAX);

/// Sender and status of late results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LateResults<'a> {
    /// The agent's name in the run.
    pub name: &'a str,
    /// The stations that it drove, by their numbers in the plan.
    pub stations: &'a [u16],
    /// Time of arrival.
    pub came: UnixTime,
    /// Health report, if the agent sent one.
    pub health: Option<&'a Health>,
    /// Reason for which the results are incomplete; `None` if they are complete. Complete results
    /// make an earlier loss of the agent irrelevant.
    pub error: Option<&'a str>,
    /// Time until which the run continued, if another source reports it for an unfinished record.
    /// Results until then count.
    pub held: Option<Instant>,
}

/// Result of a merge.
#[derive(Debug)]
pub struct Amended {
    /// The run as it is now.
    pub run: Run,
    /// Rows that were not here before.
    pub added: u64,
}

/// Merges rows into the finished run in `folder`, without those that it already holds. An
/// unfinished run is finished first; rows count only up to the last of its own rows, or up to
/// [`held`](LateResults::held). The summary of a run set around it is computed again.
///
/// # Errors
/// When `folder` is no run folder, is being recorded or amended, `rows` fails, a row concerns
/// another agent's station, or the disk is full. The folder is then unchanged.
pub fn merge_late_results(
    folder: &Path,
    late: &LateResults<'_>,
    rows: &mut dyn FnMut() -> io::Result<Option<Row>>,
) -> Result<Amended, Error> {
    recover(folder)?;
    let lock = Lock::take(folder)?;
    // Another process may have been killed in a merge since.
    put_in_place(folder)?;
    let run = Run::open(folder)?;
    if !run.run_folders().is_empty() {
        return Err(Error::NotARun(folder.to_owned()));
    }
    let staging = amended_path(folder);
    remove(&staging).map_err(Error::io(&staging))?;
    let written = std::fs::create_dir(&staging)
        .map_err(Error::io(&staging))
        .and_then(|()| write(&run, &staging, late, rows));
    let added = match written {
        Ok(added) => added,
        Err(error) => {
            // Frees the space for the original results.
            let _ = remove(&staging);
            return Err(error);
        }
    };
    put_in_place(folder)?;
    let run = Run::open(folder)?;
    drop(lock);
    pool_around(folder)?;
    Ok(Amended { run, added })
}

/// Writes the whole new record into `staging`, and how many rows it has more.
fn write(
    run: &Run,
    staging: &Path,
    late: &LateResults<'_>,
    rows: &mut dyn FnMut() -> io::Result<Option<Row>>,
) -> Result<u64, Error> {
    let (header, status) = (run.header(), run.status());
    let names = Names::new(&header.plan);
    let mut tables = Tables::create(staging)?;
    let mut counter = Counter::new(&header.plan, header.environment);
    let mut seen_rows = SeenRows::new(late.stations);
    // Rows of the record count in any case: they were admitted when they arrived.
    let mut allowance = Allowance::for_agent(&header.plan, late.stations);
    let mut rejected = Rejected::default();
    let whole = late.error.is_none();
    // Rows after the last sign of an unfinished run were measured against a server that had ended
    // with it. `held` is limited to the time at which the plan settles.
    let mut alive = late.held.map(|held| held.min(Instant::ZERO + header.plan.settled()));
    let cut = *status != RunStatus::Complete;
    let mut failed = None;
    let mut put = |row: &Row| {
        counter.row(row);
        tables.put(row, &names)
    };
    run.rows(&mut |mut row| {
        if let Row::Event(event) = &mut row
            && whole
            && event.kind == EventKind::Lost
            && event.station.is_some_and(|station| late.stations.contains(&station))
        {
            event.kind = EventKind::Warning;
        }
        if seen_rows.insert(&row) {
            let _ = allowance.admit(&row, ENTIRE_RUN);
        }
        alive = alive.max(last_sign(&row));
        if failed.is_none() {
            failed = put(&row).err();
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let (mut added, mut left_out) = (0, 0_u64);
    let (mut from, mut to) = (None, None);
    while let Some(row) = rows().map_err(Error::io(staging))? {
        // Only the controller reports airtime and values of access points.
        let sender = row.station().filter(|_| !matches!(row, Row::Air(_) | Row::Observed(_)));
        if sender.is_none_or(|station| !late.stations.contains(&station)) {
            return Err(Error::damaged(
                staging,
                "found a row of a station that the agent did not play",
            ));
        }
        if cut && end_time(&row).is_none_or(|ended| Some(ended) > alive) {
            left_out += 1;
            continue;
        }
        if seen_rows.insert(&row) {
            if let Err(rejection) = allowance.admit(&row, ENTIRE_RUN) {
                rejected.count(rejection);
                continue;
            }
            added += 1;
            let at = at(&row);
            from = Some(from.map_or(at, |from: Instant| from.min(at)));
            to = Some(to.map_or(at, |to: Instant| to.max(at)));
            put(&row)?;
        }
    }
    for event in merge_events(run, late, added, from.zip(to), left_out, &rejected) {
        put(&Row::Event(event))?;
    }
    let facts = tables.finish()?;
    sync_folder(staging).map_err(Error::io(staging))?;
    let document = Document::of_rows(header, status, run.path(), counter, facts);
    document.write(staging)?;
    Ok(added)
}

/// Events that describe the merge in the record.
fn merge_events(
    run: &Run,
    late: &LateResults<'_>,
    added: u64,
    span: Option<(Instant, Instant)>,
    left_out: u64,
    rejected: &Rejected,
) -> Vec<EventRow> {
    let plan = &run.header().plan;
    let (name, came) = (late.name, late.came.rfc3339());
    let what = match (added, span) {
        (0, _) | (_, None) => "no new rows".to_owned(),
        (1, Some((from, _))) => format!("1 row, at {from}"),
        (more, Some((from, to))) => format!("{more} rows, from {from} to {to}"),
    };
    let mut text = format!("late results of agent {name} arrived at {came}: {what}");
    if let Some(error) = late.error {
        text = format!("{text}; incomplete: {error}");
    }
    if left_out > 0 {
        text = format!("{text}; {left_out} rows from after the end of the run are excluded");
    }
    let event = |station: Option<u16>, kind: EventKind, detail: Detail| EventRow {
        station,
        workload: None,
        at: Instant::ZERO + plan.duration,
        length: 0,
        kind,
        detail,
    };
    let mut events: Vec<EventRow> = late
        .stations
        .iter()
        .map(|station| event(Some(*station), EventKind::Warning, text.clone().into()))
        .collect();
    if rejected.total() > 0 {
        let issue = QualityIssue::RowsRejected {
            sender: format!("agent {name}"),
            reasons: rejected.clone(),
        };
        let of = |station: &u16| event(Some(*station), EventKind::Rejected, issue.clone().into());
        events.extend(late.stations.iter().map(of));
    }
    if let Some(health) = late.health {
        let name = |station: &u16| {
            plan.stations
                .get(usize::from(*station))
                .map(|station| station.name.clone())
        };
        let health = Health {
            name: late.name.to_owned(),
            role: Role::Agent,
            stations: late.stations.iter().filter_map(name).collect(),
            served: BTreeMap::new(),
            ..health.clone()
        };
        events.push(event(None, EventKind::Health, health.into()));
    }
    events
}

/// Computes the run set around `folder` again, if there is one.
fn pool_around(folder: &Path) -> Result<(), Error> {
    let Some(parent) = folder.parent().filter(|parent| parent.join(FILE).exists()) else {
        return Ok(());
    };
    let around = Run::open(parent)?;
    let name = folder.file_name();
    if around.run_folders().iter().any(|run| run.file_name() == name) {
        let runs: Result<Vec<Run>, Error> = around.run_folders().iter().map(|run| Run::open(run)).collect();
        pool(parent, &runs?)?;
    }
    Ok(())
}

/// Removes a folder that may not be there.
fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Earliest time at which the run was still active according to a row. Events may have any time.
fn last_sign(row: &Row) -> Option<Instant> {
    match row {
        Row::Operation(row) => Some(row.operation.finished.unwrap_or(row.operation.due)),
        Row::Event(_) => None,
        row => Some(at(row)),
    }
}

/// Time at which a row's content ended; `None` if unknown.
fn end_time(row: &Row) -> Option<Instant> {
    match row {
        Row::Operation(row) => match (row.operation.finished, row.operation.outcome) {
            (Some(at), _) => Some(at),
            (None, Outcome::NotStarted) => Some(row.operation.due),
            (None, _) => None,
        },
        row => Some(at(row)),
    }
}

fn at(row: &Row) -> Instant {
    match row {
        Row::Operation(row) => row.operation.due,
        Row::Interval(row) => row.at,
        Row::Connection(row) => row.at,
        Row::Link(row) => row.at,
        Row::Event(row) => row.at,
        Row::Air(row) => row.at,
        Row::Observed(row) => row.at,
    }
}
