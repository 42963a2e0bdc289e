//! Reads the spool of a run while it grows. Does not write to the folder and does not finish the record.

use crate::live::Live;
use netburn_record::run_list::{self, State};
use netburn_record::spool::SpoolReader;
use netburn_record::{Header, regular};
use serde::Serialize;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of rows in one read, so that the view is updated while a long spool is read.
const MAX_ROWS_PER_READ: usize = 200_000;

/// Reader of the run in a folder, or of the runs of a run set one after the other.
#[derive(Debug)]
pub struct SpoolTail {
    folder: PathBuf,
    current: Option<CurrentRun>,
}

/// The run that is read now.
#[derive(Debug)]
struct CurrentRun {
    /// Number of the run in a run set.
    number: Option<u32>,
    runs: Option<u32>,
    spool: SpoolReader<File>,
    live: Live,
}

/// State of the run after a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TailState {
    /// The run is being recorded, and more rows are available now.
    CatchingUp,
    /// The run is being recorded, and all rows were read.
    Live,
    /// The record is finished, and a report is available.
    Finished,
    /// The recording process ended without finishing the record.
    Unfinished,
    /// The folder no longer exists or is not a run.
    Deleted,
}

impl SpoolTail {
    /// Reads the run in `folder` from its beginning.
    #[must_use]
    pub fn new(folder: &Path) -> SpoolTail {
        SpoolTail {
            folder: folder.to_owned(),
            current: None,
        }
    }

    /// Reads the rows that were added since the last call. Returns the state of the run.
    pub fn read(&mut self) -> TailState {
        if self.current.is_none() {
            self.current = open(&self.folder);
        }
        let mut read = 0;
        if let Some(run) = &mut self.current {
            // An incomplete row may be complete at the next call. Damage is reported when the record is opened.
            while let Ok(Some(row)) = run.spool.next_row_so_far() {
                run.live.put(&row);
                read += 1;
                if read == MAX_ROWS_PER_READ {
                    return TailState::CatchingUp;
                }
            }
        }
        if self.folder.join("run.json").exists() {
            return TailState::Finished;
        }
        match self.current.as_ref().and_then(|run| run.number) {
            // The next run of the set may have started.
            Some(number) if number < last_run(&self.folder) => {
                self.current = None;
                return TailState::CatchingUp;
            }
            _ => {}
        }
        if read > 0 {
            return TailState::Live;
        }
        match run_list::inspect(&self.folder).map(|listed| listed.state) {
            Some(State::Live) => TailState::Live,
            Some(State::Finished(_)) => TailState::Finished,
            Some(State::Unfinished | State::Unreadable(_)) => TailState::Unfinished,
            None => TailState::Deleted,
        }
    }

    /// Snapshot of the run as a JSON document.
    #[must_use]
    pub fn document(&self, state: TailState) -> String {
        #[derive(Serialize)]
        struct Document<'a> {
            state: TailState,
            run_number: Option<u32>,
            runs: Option<u32>,
            run: Option<crate::live::Snapshot<'a>>,
        }
        let document = Document {
            state,
            run_number: self.current.as_ref().and_then(|run| run.number),
            runs: self.current.as_ref().and_then(|run| run.runs),
            run: self.current.as_ref().map(|run| run.live.snapshot()),
        };
        serde_json::to_string(&document).expect("all keys of the document are strings")
    }
}

/// Number of the last run in the folder of a run set; 0 if the folder is a single run.
fn last_run(folder: &Path) -> u32 {
    (1..)
        .take_while(|number| folder.join(number.to_string()).is_dir())
        .last()
        .unwrap_or(0)
}

fn open(folder: &Path) -> Option<CurrentRun> {
    let last = last_run(folder);
    let (number, at) = match last {
        0 => (None, folder.to_owned()),
        last => (Some(last), folder.join(last.to_string())),
    };
    // The header of the spool may be incomplete.
    let spool = regular::open(&at.join("spool")).and_then(|file| SpoolReader::open(file).map_err(io::Error::other));
    let spool = spool.ok()?;
    let header = Header::from_spool(spool.header()).ok()?;
    Some(CurrentRun {
        number,
        runs: number.map(|_| header.plan.repeat),
        live: Live::new(&header),
        spool,
    })
}

#[cfg(test)]
mod tests;
