//! Reads a run folder, finished or not, without writing to it.

mod open;
pub(crate) mod pool;

use crate::columns::cursor::BadTable;
use crate::columns::names::Names;
use crate::columns::read::rows;
use crate::columns::tables::{RunTable, Table};
use crate::document::{Document, FILE};
use crate::error::Error;
use crate::folder::{SPOOL, open_spool, present_table};
use crate::header::{Header, RunStatus};
use crate::health::{Clock, Health};
use crate::lab_health::LabHealth;
use crate::memory_rows::MemoryRows;
use crate::regular;
use crate::row::{AirRow, ConnectionRow, EventRow, IntervalRow, LinkRow, ObservedRow, OperationRow, Row};
use crate::summary::count::Counter;
use crate::summary::evidence::RunEvidence;
use crate::summary::verdicts::{inconclusive_reasons, run_self_check, summarise};
use crate::summary::{Summary, WorkloadTotals};
use netburn_units::Instant;
use pool::pooled;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A run folder: one run, or several of one scenario (`--repeat`) with a folder each.
///
/// The methods only read. [`recover`](crate::recover()) completes the record of an unfinished run.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    header: Header,
    document: Document,
    storage: Storage,
}

/// Storage of a run's rows.
#[derive(Debug)]
enum Storage {
    /// Tables of a finished run.
    Tables {
        /// Tables whose files differ from `run.json`, by name, with the reason. Their rows are
        /// never returned.
        damaged: BTreeMap<String, String>,
    },
    /// The spool of an unfinished run.
    Spool {
        /// Number of rows of each table.
        counts: BTreeMap<&'static str, u64>,
    },
    /// An unfinished run set: its runs have the rows.
    Runs,
    /// Rows in memory, without a folder.
    Memory(MemoryRows),
}

impl Run {
    /// A finished run whose tables are undamaged.
    pub(crate) fn finished(path: PathBuf, header: Header, document: Document) -> Self {
        let damaged = BTreeMap::new();
        Run {
            path,
            header,
            document,
            storage: Storage::Tables { damaged },
        }
    }

    /// A run without a folder.
    pub(crate) fn in_memory(path: PathBuf, header: Header, document: Document, rows: MemoryRows) -> Self {
        Run {
            path,
            header,
            document,
            storage: Storage::Memory(rows),
        }
    }

    /// Returns true if the record is complete on disk. Otherwise the run is in memory, or its controller was killed and
    /// the rows come from the spool.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.storage, Storage::Tables { .. })
    }

    /// The folder; the name of a run in memory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder, in which other files may be; `None` for a run in memory.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        (!matches!(self.storage, Storage::Memory(_))).then_some(&self.path)
    }

    /// Header of the run.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns how it ended.
    #[must_use]
    pub fn status(&self) -> &RunStatus {
        &self.document.status
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

    /// Number of rows of a table: `operations`, `intervals`, `airtime`, `connections`,
    /// `link`, `observed`, `events`.
    #[must_use]
    pub fn count(&self, table: &str) -> u64 {
        match &self.storage {
            Storage::Spool { counts } => counts.get(table).copied().unwrap_or(0),
            Storage::Tables { .. } | Storage::Runs | Storage::Memory(_) => {
                self.document.tables.get(table).map_or(0, |facts| facts.rows)
            }
        }
    }

    /// Hands every row to `take`: operations first, then intervals, airtime, connections, link, observed, events; within each in the
    /// order in which they were put. With `--repeat` one run after the other.
    ///
    /// # Errors
    /// When the columns can't be read.
    pub fn rows(&self, take: &mut dyn FnMut(Row)) -> Result<(), Error> {
        self.rows_until(&mut |row| {
            take(row);
            ControlFlow::Continue(())
        })
        .map(drop)
    }

    /// Hands the rows to `take` as [`rows`](Self::rows) does, until it breaks. Returns its last value.
    ///
    /// # Errors
    /// When the columns before the break can't be read.
    pub fn rows_until(&self, take: &mut dyn FnMut(Row) -> ControlFlow<()>) -> Result<ControlFlow<()>, Error> {
        for path in self.run_folders() {
            if Run::open(&path)?.rows_until(take)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if !self.has_rows() {
            return Ok(ControlFlow::Continue(()));
        }
        for table in RunTable::ALL {
            if self.table_rows_until(table, take)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Passes the rows of one table to `take`, in the order in which they were put. A run set has no rows of its own.
    ///
    /// # Errors
    /// When the table can't be read.
    pub fn table_rows(&self, table: RunTable, take: &mut dyn FnMut(Row)) -> Result<(), Error> {
        self.table_rows_until(table, &mut |row| {
            take(row);
            ControlFlow::Continue(())
        })
        .map(drop)
    }

    fn table_rows_until(
        &self,
        table: RunTable,
        take: &mut dyn FnMut(Row) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        match table {
            RunTable::Operations => self.table_until::<OperationRow>(&mut |row| take(Row::Operation(row))),
            RunTable::Intervals => self.table_until::<IntervalRow>(&mut |row| take(Row::Interval(row))),
            RunTable::Airtime => self.table_until::<AirRow>(&mut |row| take(Row::Air(row))),
            RunTable::Connections => self.table_until::<ConnectionRow>(&mut |row| take(Row::Connection(row))),
            RunTable::Links => self.table_until::<LinkRow>(&mut |row| take(Row::Link(row))),
            RunTable::Observed => self.table_until::<ObservedRow>(&mut |row| take(Row::Observed(row))),
            RunTable::Events => self.table_until::<EventRow>(&mut |row| take(Row::Event(row))),
        }
    }

    /// Passes the readable rows of a run that [`open_partly`](Self::open_partly) returned to
    /// `take`. A table that differs from `run.json` is skipped, and a damaged table ends at the
    /// damage. Returns the errors in order. A run set has no rows of its own.
    pub fn rows_partly(&self, take: &mut dyn FnMut(Row)) -> Vec<Error> {
        if !self.has_rows() {
            return Vec::new();
        }
        let read = RunTable::ALL.map(|table| self.table_rows(table, take));
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

    /// Totals of every workload of every station, which the summary does not contain.
    ///
    /// # Errors
    /// When the columns can't be read.
    pub fn workload_totals(&self) -> Result<Vec<Vec<WorkloadTotals>>, Error> {
        let stations = self.evidence()?.stations;
        Ok(stations.iter().map(WorkloadTotals::of_station).collect())
    }

    /// Counts of the rows, before goals are judged.
    pub(crate) fn evidence(&self) -> Result<RunEvidence, Error> {
        let mut counter = Counter::new(&self.header.plan, self.header.environment);
        self.table::<OperationRow>(&mut |row| counter.operation(&row))?;
        self.table::<IntervalRow>(&mut |row| counter.interval(&row))?;
        self.table::<AirRow>(&mut |row| counter.air(&row))?;
        self.table::<LinkRow>(&mut |row| counter.link(&row))?;
        self.table::<ObservedRow>(&mut |row| counter.observed(&row))?;
        self.table::<EventRow>(&mut |row| counter.event(&row))?;
        Ok(counter.finish(self.status()))
    }

    /// False for a run set, whose rows are in its runs.
    fn has_rows(&self) -> bool {
        match self.storage {
            Storage::Tables { .. } => !self.document.tables.is_empty(),
            Storage::Spool { .. } | Storage::Memory(_) => true,
            Storage::Runs => false,
        }
    }

    pub(crate) fn table<T: Table>(&self, take: &mut dyn FnMut(T)) -> Result<(), Error> {
        self.table_until(&mut |row| {
            take(row);
            ControlFlow::Continue(())
        })
        .map(drop)
    }

    /// Passes the rows of one table to `take` until it breaks.
    fn table_until<T: Table>(&self, take: &mut dyn FnMut(T) -> ControlFlow<()>) -> Result<ControlFlow<()>, Error> {
        let damaged = match &self.storage {
            Storage::Tables { damaged } => damaged,
            Storage::Memory(rows) => return Ok(rows.table(take)),
            Storage::Spool { .. } | Storage::Runs => return self.spooled(take),
        };
        if let Some(what) = damaged.get(T::NAME) {
            return Err(Error::damaged(present_table(&self.path, T::NAME), what));
        }
        // Older runs, and runs without an observed access point, have no such table.
        if T::NAME == ObservedRow::NAME && !self.document.tables.contains_key(T::NAME) {
            return Ok(ControlFlow::Continue(()));
        }
        let path = present_table(&self.path, T::NAME);
        let file = regular::open(&path).map_err(Error::io(&path))?;
        let names = Names::new(&self.header.plan);
        rows(file, &names, take).map_err(|error| match error {
            BadTable::Parquet(error) => Error::damaged(&path, error),
            error => Error::damaged(&path, error),
        })
    }

    /// Rows of one table, from the spool of an unfinished run.
    fn spooled<T: Table>(&self, take: &mut dyn FnMut(T) -> ControlFlow<()>) -> Result<ControlFlow<()>, Error> {
        let spool = open_spool(&self.path);
        if self.path.join(FILE).exists() {
            // Another process has completed the record.
            return Run::open(&self.path)?.table_until(take);
        }
        let mut spool = spool?;
        while let Some(row) = spool.next_row().map_err(Error::io(self.path.join(SPOOL)))? {
            if T::from_row(row).is_some_and(|row| take(row).is_break()) {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
