//! Writes the tables of a run.

use crate::checksum::Hashing;
use crate::columns::names::Names;
use crate::columns::tables::Table;
use crate::columns::write::TableWriter;
use crate::document::{TABLES, TableFacts};
use crate::error::Error;
use crate::folder::table_path;
use crate::row::{AirRow, ConnectionRow, EventRow, IntervalRow, LinkRow, ObservedRow, OperationRow, Row};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The tables being written.
pub(crate) struct Tables {
    operations: OneTable<OperationRow>,
    intervals: OneTable<IntervalRow>,
    airtime: OneTable<AirRow>,
    connections: OneTable<ConnectionRow>,
    link: OneTable<LinkRow>,
    events: OneTable<EventRow>,
    /// Only runs with an observed access point have this table.
    observed: Option<OneTable<ObservedRow>>,
    folder: PathBuf,
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
            airtime: OneTable::create(folder)?,
            connections: OneTable::create(folder)?,
            link: OneTable::create(folder)?,
            events: OneTable::create(folder)?,
            observed: None,
            folder: folder.to_owned(),
        })
    }

    pub(crate) fn paths(folder: &Path) -> impl Iterator<Item = PathBuf> {
        TABLES.into_iter().map(|name| table_path(folder, name))
    }

    pub(crate) fn put(&mut self, row: &Row, names: &Names) -> Result<(), Error> {
        match row {
            Row::Operation(row) => self.operations.put(row, names),
            Row::Interval(row) => self.intervals.put(row, names),
            Row::Air(row) => self.airtime.put(row, names),
            Row::Connection(row) => self.connections.put(row, names),
            Row::Link(row) => self.link.put(row, names),
            Row::Event(row) => self.events.put(row, names),
            Row::Observed(row) => {
                if self.observed.is_none() {
                    self.observed = Some(OneTable::create(&self.folder)?);
                }
                match &mut self.observed {
                    Some(table) => table.put(row, names),
                    None => Ok(()),
                }
            }
        }
    }

    pub(crate) fn finish(self) -> Result<BTreeMap<String, TableFacts>, Error> {
        let mut facts = BTreeMap::from([
            self.operations.finish()?,
            self.intervals.finish()?,
            self.airtime.finish()?,
            self.connections.finish()?,
            self.link.finish()?,
            self.events.finish()?,
        ]);
        if let Some(observed) = self.observed {
            facts.extend([observed.finish()?]);
        }
        Ok(facts)
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
