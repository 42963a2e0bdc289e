//! From a spool to a finished folder: columns, summary, `run.json` last.

use crate::columns::names::Names;
use crate::document::{Document, sync_folder};
use crate::error::Error;
use crate::folder::{SPOOL, open_spool};
use crate::header::{Header, RunStatus};
use crate::summary::count::Counter;
use crate::tables::Tables;
use std::path::Path;

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
    let document = Document::of_rows(header, &status, folder, counter, facts);
    document.write(folder)?;
    Ok(document)
}
