//! Completes the record of an interrupted run on disk. Opening a run never does this.

use crate::document::{FILE, TABLES, sync_folder};
use crate::error::Error;
use crate::finish::finish;
use crate::folder::{Lock, MARK, SPOOL, amended_path, open_lock, open_spool, table_path};
use crate::header::{Header, RunStatus};
use crate::run::Run;
use crate::run::pool::begun_runs;
use crate::run_set::RunSet;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Completes a record whose writer was killed, with every row that reached the disk:
///
/// - A run or a run set without a `run.json` gets its tables and its `run.json`.
/// - A merge of late results that was written whole replaces the old record.
/// - The remaining spool of a finished run is deleted.
///
/// Returns true if the run was unfinished. A complete record is not changed.
///
/// # Errors
/// When `folder` is no run folder, is still being recorded, or cannot be written. An unfinished
/// record then stays as it was.
pub fn recover(folder: &Path) -> Result<bool, Error> {
    if !folder.join(FILE).exists() && (recover_set(folder)? || recover_run(folder)?) {
        return Ok(true);
    }
    complete_finished(folder)?;
    for number in 1.. {
        let run = folder.join(number.to_string());
        if !run.join(FILE).exists() {
            break;
        }
        complete_finished(&run)?;
    }
    Ok(false)
}

/// Completes what a killed process left undone in a finished folder.
fn complete_finished(folder: &Path) -> Result<(), Error> {
    if amended_path(folder).join(FILE).exists() {
        let _lock = Lock::take(folder)?;
        put_in_place(folder)?;
    }
    if folder.join(SPOOL).exists() {
        // Dropping the lock deletes the spool. A spool that is locked belongs to another process
        // and stays.
        drop(Lock::take(folder));
    }
    Ok(())
}

/// Finishes a run set; false when `folder` is none.
fn recover_set(folder: &Path) -> Result<bool, Error> {
    let mark = folder.join(MARK);
    let Some(lock) = open_lock(&mark)? else {
        return Ok(false);
    };
    lock_recording(&lock, folder, &mark)?;
    let runs = begun_runs(folder, &|run| {
        recover(run)?;
        Run::open(run)
    })?;
    RunSet::resume(folder, runs, lock).finish()?;
    Ok(true)
}

/// Finishes a run from its spool; false when another process has finished it.
fn recover_run(folder: &Path) -> Result<bool, Error> {
    let path = folder.join(SPOOL);
    let lock = open_lock(&path)?;
    if let Some(lock) = &lock {
        lock_recording(lock, folder, &path)?;
    }
    if folder.join(FILE).exists() {
        return Ok(false);
    }
    if lock.is_none() {
        return Err(Error::NotARun(folder.to_owned()));
    }
    let header = Header::from_spool(open_spool(folder)?.header()).map_err(|why| Error::damaged(&path, why))?;
    finish(folder, &header, RunStatus::killed)?;
    Ok(true)
}

/// Takes the lock that a recording process holds.
fn lock_recording(lock: &File, folder: &Path, path: &Path) -> Result<(), Error> {
    match lock.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::Live(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(Error::io(path)(error)),
    }
}

/// Replaces the record by the one in `amended`, if it was written whole: one rename for each file,
/// `run.json` last. It may be repeated after a kill at any time. The caller has the lock.
pub(crate) fn put_in_place(folder: &Path) -> Result<(), Error> {
    let staging = amended_path(folder);
    if !staging.join(FILE).exists() {
        return Ok(());
    }
    let moved = (|| {
        for name in TABLES {
            match std::fs::rename(table_path(&staging, name), table_path(folder, name)) {
                // An earlier attempt had already renamed this table.
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        sync_folder(folder)?;
        std::fs::rename(staging.join(FILE), folder.join(FILE))?;
        sync_folder(folder)
    })();
    moved.map_err(Error::io(&staging))?;
    // The record is whole without this.
    let _ = std::fs::remove_dir(&staging);
    Ok(())
}
