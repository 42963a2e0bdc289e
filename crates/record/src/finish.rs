//! From a spool to a finished folder: columns, summary, `run.json` last.

use crate::checksum::Hashing;
use crate::columns::names::Names;
use crate::columns::tables::{IntervalTableRow, Table};
use crate::columns::write::TableWriter;
use crate::document::{Document, TableFacts, sync_folder};
use crate::error::Error;
use crate::header::{Header, RunStatus};
use crate::regular;
use crate::row::{ConnectionRow, EventRow, LinkRow, OperationRow, Row};
use crate::spool::{SpoolError, SpoolReader, VERSION};
use crate::summary::count::Counter;
use crate::summary::judge::{inconclusive_reasons, run_self_check, summarise};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The name of the spool's file.
pub(crate) const SPOOL: &str = "spool";

/// Opens a folder's spool for reading.
pub(crate) fn open_spool(folder: &Path) -> Result<SpoolReader<File>, Error> {
    let path = folder.join(SPOOL);
    let file = regular::open(&path).map_err(Error::io(&path))?;
    SpoolReader::open(file).map_err(|error| match error {
        SpoolError::Io(error) => Error::io(path)(error),
        SpoolError::Newer(found) => Error::Newer {
            path,
            found: found.into(),
            known: VERSION.into(),
        },
        SpoolError::Damaged(what) => Error::damaged(path, what),
    })
}

/// Turns the spool of `folder` into columns, writes `run.json` and removes the spool. `status` is
/// reported how many bytes at the spool's end were dropped.
///
/// On failure, the spool stays and all other written files are deleted, so that the space remains
/// for the results.
pub(crate) fn finish(folder: &Path, header: &Header, status: impl FnOnce(u64) -> RunStatus) -> Result<Document, Error> {
    let written = convert(folder, header, status);
    if written.is_err() {
        for path in Tables::paths(folder) {
            let _ = std::fs::remove_file(path);
        }
    }
    let document = written?;
    // The record is whole without this: an opened folder with both is finished.
    let _ = std::fs::remove_file(folder.join(SPOOL));
    Ok(document)
}

fn convert(folder: &Path, header: &Header, status: impl FnOnce(u64) -> RunStatus) -> Result<Document, Error> {
    let mut spool = open_spool(folder)?;
    let names = Names::new(&header.plan);
    let mut tables = Tables::create(folder)?;
    let mut counter = Counter::new(&header.plan, header.environment);
    let unreadable = Error::io(folder.join(SPOOL));
    loop {
        match spool.next_row() {
            Ok(Some(row)) => {
                counter.row(&row);
                tables.put(&row, &names)?;
            }
            Ok(None) => break,
            Err(error) => return Err(unreadable(error)),
        }
    }
    let facts = tables.finish()?;
    sync_folder(folder).map_err(Error::io(folder))?;
    let dropped = spool.end().map_or(0, |end| end.dropped);
    let status = status(dropped);
    let evidence = counter.finish(&status);
    let (health, clocks, lab) = (evidence.health.clone(), evidence.clocks.clone(), evidence.lab.clone());
    let self_check = run_self_check(header, &status, &evidence);
    let why = inconclusive_reasons(header, &status, &evidence);
    let summary = summarise(header, &folder.to_string_lossy(), evidence, self_check, why);
    let document = Document {
        health,
        clocks,
        lab,
        tables: facts,
        ..Document::new(header, &status, summary)
    };
    document.write(folder)?;
    Ok(document)
}

/// The five tables being written.
pub(crate) struct Tables {
    operations: OneTable<OperationRow>,
    intervals: OneTable<IntervalTableRow>,
    connections: OneTable<ConnectionRow>,
    link: OneTable<LinkRow>,
    events: OneTable<EventRow>,
}

/// One table being written, and where.
struct OneTable<T> {
    path: PathBuf,
    writer: TableWriter<T, Hashing<File>>,
}

impl Tables {
    pub(crate) fn create(folder: &Path) -> Result<Self, Error> {
        Ok(Tables {
            operations: OneTable::create(folder)?,
            intervals: OneTable::create(folder)?,
            connections: OneTable::create(folder)?,
            link: OneTable::create(folder)?,
            events: OneTable::create(folder)?,
        })
    }

    fn paths(folder: &Path) -> impl Iterator<Item = PathBuf> {
        crate::document::TABLES.into_iter().map(|name| table_path(folder, name))
    }

    pub(crate) fn put(&mut self, row: &Row, names: &Names) -> Result<(), Error> {
        match row {
            Row::Operation(row) => self.operations.put(row, names),
            Row::Interval(row) => self.intervals.put(&IntervalTableRow::Bytes(row.clone()), names),
            Row::Air(row) => self.intervals.put(&IntervalTableRow::Air(*row), names),
            Row::Connection(row) => self.connections.put(row, names),
            Row::Link(row) => self.link.put(row, names),
            Row::Event(row) => self.events.put(row, names),
        }
    }

    pub(crate) fn finish(self) -> Result<BTreeMap<String, TableFacts>, Error> {
        Ok(BTreeMap::from([
            self.operations.finish()?,
            self.intervals.finish()?,
            self.connections.finish()?,
            self.link.finish()?,
            self.events.finish()?,
        ]))
    }
}

impl<T: Table> OneTable<T> {
    fn create(folder: &Path) -> Result<Self, Error> {
        let path = table_path(folder, T::NAME);
        let writer = File::create(&path).and_then(|file| TableWriter::new(Hashing::new(file)));
        match writer {
            Ok(writer) => Ok(OneTable { path, writer }),
            Err(error) => Err(Error::io(path)(error)),
        }
    }

    fn put(&mut self, row: &T, names: &Names) -> Result<(), Error> {
        self.writer
            .put(row, names)
            .map_err(|error| Error::io(&self.path)(error))
    }

    fn finish(self) -> Result<(String, TableFacts), Error> {
        let finished = self.writer.finish().and_then(|(rows, hashing)| {
            let (file, checksum) = hashing.finish();
            file.sync_all()?;
            Ok(TableFacts {
                rows,
                bytes: file.metadata()?.len(),
                crc32: Some(checksum),
            })
        });
        let facts = finished.map_err(Error::io(self.path))?;
        Ok((T::NAME.to_owned(), facts))
    }
}

/// Path of a table's file.
pub(crate) fn table_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.parquet"))
}
