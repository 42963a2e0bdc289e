//! A finished run folder.

use crate::amend;
use crate::checksum::Checksum;
use crate::columns::names::Names;
use crate::columns::read::{BadTable, rows};
use crate::columns::tables::{IntervalTableRow, Table};
use crate::document::{Document, FILE, TableFacts};
use crate::error::Error;
use crate::finish::{SPOOL, finish, open_spool, table_path};
use crate::header::{Header, RunStatus};
use crate::health::{Clock, Health};
use crate::lab_health::LabHealth;
use crate::regular;
use crate::row::{ConnectionRow, EventRow, LinkRow, OperationRow, Row};
use crate::run_set::{RunSet, pooled};
use crate::summary::Summary;
use crate::summary::count::Counter;
use crate::summary::evidence::RunEvidence;
use crate::summary::judge::{inconclusive_reasons, run_self_check, summarise};
use netburn_units::Instant;
use std::collections::BTreeMap;
use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};

/// A finished run folder: one run, or several of one scenario (`--repeat`) with a folder each.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    header: Header,
    document: Document,
    /// Tables whose files differ from `run.json`, by name, with the reason. Their rows are never
    /// returned.
    damaged: BTreeMap<String, String>,
}

impl Run {
    /// Opens a run folder; one whose controller was killed is finished first, with every row that was spooled. The length and the
    /// checksum of every table's file are compared with `run.json`, those of its repeats included.
    ///
    /// # Errors
    /// When it isn't a run folder, is still being recorded, was written by a newer netburn or is damaged.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if path.join(FILE).exists() {
            return Self::open_finished(path);
        }
        if let Some(run) = RunSet::open(path)? {
            return Ok(run);
        }
        let spool = path.join(SPOOL);
        let lock = match regular::open(&spool) {
            Ok(lock) => lock,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return if path.join(FILE).exists() {
                    // Another process finished it at this moment.
                    Self::open_finished(path)
                } else {
                    Err(Error::NotARun(path.to_owned()))
                };
            }
            Err(error) => return Err(Error::io(spool)(error)),
        };
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Live(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(Error::io(spool)(error)),
        }
        if path.join(FILE).exists() {
            return Self::open_finished(path);
        }
        let header = {
            let spooled = open_spool(path)?;
            crate::document::header_from_json(spooled.header()).map_err(|why| Error::damaged(&spool, why))?
        };
        let document = finish(path, &header, killed_status)?;
        Ok(Run::from_parts(path.to_owned(), header, document))
    }

    /// Opens a folder that has a `run.json`. A merge of late results that was interrupted is
    /// completed.
    pub(crate) fn open_finished(path: &Path) -> Result<Self, Error> {
        amend::settle(path)?;
        amend::discard_spool(path);
        match Self::read_finished(path) {
            // Another process may have replaced the tables after `run.json` was read.
            Err(Error::Damaged { .. }) => {
                amend::settle(path)?;
                Self::read_finished(path)
            }
            read => read,
        }
    }

    fn read_finished(path: &Path) -> Result<Self, Error> {
        let (run, damage) = Self::examined(path)?;
        match damage.into_iter().next() {
            Some(first) => Err(first),
            None => Ok(run),
        }
    }

    /// A folder that has a `run.json`, and what is wrong with the tables below it.
    fn examined(path: &Path) -> Result<(Self, Vec<Error>), Error> {
        let mut run = Self::read_document(path)?;
        let mut damage = Vec::new();
        for (name, facts) in &run.document.tables {
            let table = table_path(path, name);
            match difference(&table, facts) {
                Ok(None) => {}
                Ok(Some(what)) => {
                    run.damaged.insert(name.clone(), what.clone());
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
        Ok((run, damage))
    }

    /// Reads `run.json` without the tables.
    fn read_document(path: &Path) -> Result<Self, Error> {
        let file = path.join(FILE);
        let mut document = Document::read(&file)?;
        let header = document.header(&file)?;
        // A folder may have been moved since.
        document.summary.run = path.to_string_lossy().into_owned();
        for (summary, name) in document.summary.repeats.iter_mut().zip(&document.runs) {
            summary.run = path.join(name).to_string_lossy().into_owned();
        }
        Ok(Run::from_parts(path.to_owned(), header, document))
    }

    /// Opens a folder like [`open`](Self::open), and also one whose columns are damaged or not all there, with what is wrong
    /// with them: its summary can be shown, and [`rows_partly`](Self::rows_partly) reads what can be read.
    ///
    /// # Errors
    /// As for [`open`](Self::open), where it isn't the columns.
    pub fn open_partly(path: &Path) -> Result<(Self, Vec<Error>), Error> {
        let error = match Run::open(path) {
            Ok(run) => return Ok((run, Vec::new())),
            Err(error) => error,
        };
        let file = path.join(FILE);
        let own = match &error {
            Error::Io { path, .. } | Error::Damaged { path, .. } | Error::Newer { path, .. } => *path == file,
            Error::NotARun(found) | Error::Live(found) => found == path,
            Error::Folder { .. } | Error::Pool(_) => true,
        };
        if file.exists() && !own {
            Self::examined(path)
        } else {
            Err(error)
        }
    }

    pub(crate) fn from_parts(path: PathBuf, header: Header, document: Document) -> Self {
        Run {
            path,
            header,
            document,
            damaged: BTreeMap::new(),
        }
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Header of the run.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns how it ended.
    #[must_use]
    pub fn status(&self) -> &RunStatus {
        &self.document.ending
    }

    /// Results of the run.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.document.summary
    }

    /// Health reports of agents and servers.
    #[must_use]
    pub fn health(&self) -> &[Health] {
        &self.document.health
    }

    /// Their clocks against the controller's.
    #[must_use]
    pub fn clocks(&self) -> &[Clock] {
        &self.document.clocks
    }

    /// The lab's report on its own work; `None` where no lab carried the packets.
    #[must_use]
    pub fn lab(&self) -> Option<&LabHealth> {
        self.document.lab.as_ref()
    }

    /// Converts `at` from the clock of the station with this number to the controller's clock. Rows
    /// hold the times of each station's own clock. Durations need no conversion; times of different
    /// stations do.
    #[must_use]
    pub fn common_time(&self, station: u16, at: Instant) -> Instant {
        let name = self
            .header
            .plan
            .stations
            .get(usize::from(station))
            .map(|station| &station.name);
        let whose = |clock: &&Clock| name.is_some_and(|name| clock.stations.contains(name));
        self.clocks().iter().find(whose).map_or(at, |clock| clock.to_common(at))
    }

    /// With `--repeat`: folders of the runs.
    #[must_use]
    pub fn run_folders(&self) -> Vec<PathBuf> {
        self.document.runs.iter().map(|name| self.path.join(name)).collect()
    }

    /// Number of rows of a table: `operations`, `intervals`, `connections`, `link`, `events`.
    #[must_use]
    pub fn count(&self, table: &str) -> u64 {
        self.document.tables.get(table).map_or(0, |facts| facts.rows)
    }

    /// Hands every row to `take`: operations first, then intervals (bytes and air), connections, link, events; within each in the
    /// order in which they were put. With `--repeat` one run after the other.
    ///
    /// # Errors
    /// When the columns can't be read.
    pub fn rows(&self, take: &mut dyn FnMut(Row)) -> Result<(), Error> {
        for path in self.run_folders() {
            Run::open(&path)?.rows(take)?;
        }
        if self.document.tables.is_empty() {
            return Ok(());
        }
        self.table::<OperationRow>(&mut |row| take(Row::Operation(row)))?;
        self.table::<IntervalTableRow>(&mut |row| take(row.into()))?;
        self.table::<ConnectionRow>(&mut |row| take(Row::Connection(row)))?;
        self.table::<LinkRow>(&mut |row| take(Row::Link(row)))?;
        self.table::<EventRow>(&mut |row| take(Row::Event(row)))
    }

    /// Passes the readable rows of a run that [`open_partly`](Self::open_partly) returned to
    /// `take`. A table that differs from `run.json` is skipped, and a damaged table ends at the
    /// damage. Returns the errors in order. A run set has no rows of its own.
    pub fn rows_partly(&self, take: &mut dyn FnMut(Row)) -> Vec<Error> {
        if self.document.tables.is_empty() {
            return Vec::new();
        }
        let read = [
            self.table::<OperationRow>(&mut |row| take(Row::Operation(row))),
            self.table::<IntervalTableRow>(&mut |row| take(row.into())),
            self.table::<ConnectionRow>(&mut |row| take(Row::Connection(row))),
            self.table::<LinkRow>(&mut |row| take(Row::Link(row))),
            self.table::<EventRow>(&mut |row| take(Row::Event(row))),
        ];
        read.into_iter().filter_map(Result::err).collect()
    }

    /// Computes the summary again, from columns and plan.
    ///
    /// # Errors
    /// When the columns can't be read.
    pub fn summarise(&self) -> Result<Summary, Error> {
        if !self.document.runs.is_empty() {
            let paths = self.run_folders();
            let runs: Result<Vec<Run>, Error> = paths.iter().map(|path| Run::open(path)).collect();
            return Ok(pooled(&self.path, &runs?)?.summary);
        }
        let evidence = self.evidence()?;
        let self_check = run_self_check(&self.header, self.status(), &evidence);
        let why = inconclusive_reasons(&self.header, self.status(), &evidence);
        Ok(summarise(&self.header, &self.summary().run, evidence, self_check, why))
    }

    /// Counts of the rows, before goals are judged.
    pub(crate) fn evidence(&self) -> Result<RunEvidence, Error> {
        let mut counter = Counter::new(&self.header.plan, self.header.environment);
        self.table::<OperationRow>(&mut |row| counter.operation(&row))?;
        self.table::<IntervalTableRow>(&mut |row| match row {
            IntervalTableRow::Bytes(row) => counter.interval(&row),
            IntervalTableRow::Air(row) => counter.air(&row),
        })?;
        self.table::<LinkRow>(&mut |row| counter.link(&row))?;
        self.table::<EventRow>(&mut |row| counter.event(&row))?;
        Ok(counter.finish(self.status()))
    }

    pub(crate) fn table<T: Table>(&self, take: &mut dyn FnMut(T)) -> Result<(), Error> {
        let path = table_path(&self.path, T::NAME);
        if let Some(what) = self.damaged.get(T::NAME) {
            return Err(Error::damaged(path, what));
        }
        let file = regular::open(&path).map_err(Error::io(&path))?;
        let names = Names::new(&self.header.plan);
        rows(file, &names, take).map_err(|error| match error {
            BadTable::Parquet(error) => Error::damaged(&path, error),
            error => Error::damaged(&path, error),
        })?;
        Ok(())
    }
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

/// The ending of a run whose controller left only a spool.
fn killed_status(dropped: u64) -> RunStatus {
    let torn = match dropped {
        0 => String::new(),
        1 => "; the last byte of its spool is incomplete".to_owned(),
        more => format!("; the last {more} bytes of its spool are incomplete"),
    };
    RunStatus::Failed(format!(
        "`netburn run` was killed before it could finish the record{torn}"
    ))
}
