//! Opens run folders.

use super::pool::{begun_runs, pooled};
use super::{Run, Storage};
use crate::checksum::Checksum;
use crate::columns::tables::RunTable;
use crate::document::{Document, FILE, TableFacts};
use crate::error::Error;
use crate::folder::{MARK, SPOOL, is_locked, open_lock, open_spool, present, present_table};
use crate::header::{Header, RunStatus};
use crate::regular;
use crate::summary::count::Counter;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

impl Run {
    /// Opens a run folder for reading. Of a run whose controller was killed, the spooled rows are
    /// read: see [`is_finished`](Self::is_finished). The length and the checksum of every table's
    /// file are compared with `run.json`, those of its repeats included.
    ///
    /// # Errors
    /// When it isn't a run folder, is still being recorded, was written by a newer netburn or is damaged.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let (run, damage) = Run::open_partly(path)?;
        match damage.into_iter().next() {
            Some(first) => Err(first),
            None => Ok(run),
        }
    }

    /// Opens a folder like [`open`](Self::open), and also one whose columns are damaged or not all there. Returns what
    /// is wrong with them. The summary of such a run can be shown, and [`rows_partly`](Self::rows_partly) reads what
    /// can be read.
    ///
    /// # Errors
    /// As for [`open`](Self::open), where it isn't the columns.
    pub fn open_partly(path: &Path) -> Result<(Self, Vec<Error>), Error> {
        if path.join(FILE).exists() {
            return open_finished(path);
        }
        if let Some(lock) = open_lock(&path.join(MARK))? {
            if is_locked(&lock) {
                return Err(Error::Live(path.to_owned()));
            }
            return Ok((open_unfinished_set(path)?, Vec::new()));
        }
        let lock = open_lock(&path.join(SPOOL))?;
        let live = lock.as_ref().is_some_and(is_locked);
        // Another process may finish it at any moment.
        if path.join(FILE).exists() {
            return open_finished(path);
        }
        match lock {
            Some(_) if live => Err(Error::Live(path.to_owned())),
            Some(_) => match open_unfinished(path) {
                Err(_) if path.join(FILE).exists() => open_finished(path),
                run => Ok((run?, Vec::new())),
            },
            None => Err(Error::NotARun(path.to_owned())),
        }
    }
}

/// Opens a folder that has a `run.json`. Also returns what is wrong with the tables below it.
fn open_finished(path: &Path) -> Result<(Run, Vec<Error>), Error> {
    match examine(path) {
        Ok((run, damage)) if damage.is_empty() => Ok((run, damage)),
        // Another process may have replaced the tables after `run.json` was read.
        _ => examine(path),
    }
}

fn examine(path: &Path) -> Result<(Run, Vec<Error>), Error> {
    let mut run = read_document(path)?;
    let mut damaged = BTreeMap::new();
    let mut damage = Vec::new();
    for (name, facts) in &run.document.tables {
        let table = present_table(path, name);
        match difference(&table, facts) {
            Ok(None) => {}
            Ok(Some(what)) => {
                damaged.insert(name.clone(), what.clone());
                damage.push(Error::damaged(table, what));
            }
            Err(error) => damage.push(Error::io(table)(error)),
        }
    }
    for repeat in run.run_folders() {
        match Run::open_partly(&repeat) {
            Ok((_, found)) => damage.extend(found),
            Err(error) => damage.push(error),
        }
    }
    run.storage = Storage::Tables { damaged };
    Ok((run, damage))
}

/// Reads `run.json` without the tables.
fn read_document(path: &Path) -> Result<Run, Error> {
    let file = present(path).join(FILE);
    let mut document = Document::read(&file)?;
    let header = document.header(&file)?;
    // A folder may have been moved since.
    document.summary.run = path.to_string_lossy().into_owned();
    for (summary, name) in document.summary.repeats.iter_mut().zip(&document.runs) {
        summary.run = path.join(name).to_string_lossy().into_owned();
    }
    Ok(Run::finished(path.to_owned(), header, document))
}

/// Reads the spool of a run whose controller was killed.
fn open_unfinished(path: &Path) -> Result<Run, Error> {
    let mut spool = open_spool(path)?;
    let file = path.join(SPOOL);
    let header = Header::from_spool(spool.header()).map_err(|why| Error::damaged(&file, why))?;
    let mut counter = Counter::new(&header.plan, header.environment);
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    while let Some(row) = spool.next_row().map_err(Error::io(&file))? {
        counter.row(&row);
        *counts.entry(RunTable::for_row(&row).name()).or_default() += 1;
    }
    let status = RunStatus::killed(spool.end().map_or(0, |end| end.dropped));
    let document = Document::of_rows(&header, &status, path, counter, BTreeMap::new());
    Ok(Run {
        path: path.to_owned(),
        header,
        document,
        storage: Storage::Spool { counts },
    })
}

/// Reads a run set whose controller was killed: the runs that were begun.
fn open_unfinished_set(path: &Path) -> Result<Run, Error> {
    let runs = begun_runs(path, &Run::open)?;
    let document = pooled(path, &runs)?;
    Ok(Run {
        path: path.to_owned(),
        header: runs[0].header().clone(),
        document,
        storage: Storage::Runs,
    })
}

/// Difference between a table's file and `run.json`; `None` if there is none.
fn difference(table: &Path, facts: &TableFacts) -> io::Result<Option<String>> {
    let there = std::fs::metadata(table)?;
    regular::check(there.file_type())?;
    let bytes = there.len();
    if bytes != facts.bytes {
        let expected = facts.bytes;
        return Ok(Some(format!("found {bytes} bytes, expected {expected}")));
    }
    let Some(expected) = facts.crc32 else {
        return Ok(None);
    };
    let found = Checksum::from_file(table)?;
    let wrong = format!("found CRC-32 {found}, expected {expected}");
    Ok((found != expected).then_some(wrong))
}
