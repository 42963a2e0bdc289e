//! A run under way, followed by its spool: read as it grows, never written to, never finished.

use crate::live::Live;
use netburn_record::runs::{self, State};
use netburn_record::spool::SpoolReader;
use netburn_record::{Header, regular};
use serde::Serialize;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The most rows that are read at a time, so that a long spool shows itself as it is read.
const MOST_ROWS: usize = 200_000;

/// Follows the run in a folder: one, or several one after the other.
#[derive(Debug)]
pub struct Follower {
    folder: PathBuf,
    part: Option<Part>,
}

/// The run that is followed at this time.
#[derive(Debug)]
struct Part {
    /// Its number, where it is one of several.
    number: Option<u32>,
    of: Option<u32>,
    spool: SpoolReader<File>,
    live: Live,
}

/// Where a followed run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stand {
    /// It is recorded, and there may be more at once: rows are still being read.
    Behind,
    /// It is recorded.
    Live,
    /// It is finished: there is a report.
    Finished,
    /// Whoever recorded it was killed.
    Left,
    /// It isn't there any more.
    Gone,
}

impl Follower {
    /// Follows the run in this folder from its beginning.
    #[must_use]
    pub fn new(folder: &Path) -> Follower {
        Follower {
            folder: folder.to_owned(),
            part: None,
        }
    }

    /// Reads what came since, and says where the run stands.
    pub fn read(&mut self) -> Stand {
        if self.part.is_none() {
            self.part = open(&self.folder);
        }
        let mut read = 0;
        if let Some(part) = &mut self.part {
            // What can't be read now may be later; what is wrong is for whoever opens the folder.
            while let Ok(Some(row)) = part.spool.next_row_so_far() {
                part.live.put(&row);
                read += 1;
                if read == MOST_ROWS {
                    return Stand::Behind;
                }
            }
        }
        if self.folder.join("run.json").exists() {
            return Stand::Finished;
        }
        match self.part.as_ref().and_then(|part| part.number) {
            // The next of several may have begun.
            Some(number) if number < current(&self.folder) => {
                self.part = None;
                return Stand::Behind;
            }
            _ => {}
        }
        if read > 0 {
            return Stand::Live;
        }
        match runs::inspect(&self.folder).map(|listed| listed.state) {
            Some(State::Live) => Stand::Live,
            Some(State::Finished(_)) => Stand::Finished,
            Some(State::Unfinished | State::Unreadable(_)) => Stand::Left,
            None => Stand::Gone,
        }
    }

    /// What is to be seen, as a JSON document.
    #[must_use]
    pub fn document(&self, stand: Stand) -> String {
        #[derive(Serialize)]
        struct Shown<'a> {
            stand: Stand,
            part: Option<u32>,
            of: Option<u32>,
            run: Option<crate::live::Picture<'a>>,
        }
        let shown = Shown {
            stand,
            part: self.part.as_ref().and_then(|part| part.number),
            of: self.part.as_ref().and_then(|part| part.of),
            run: self.part.as_ref().map(|part| part.live.picture()),
        };
        serde_json::to_string(&shown).expect("a picture has only text for keys")
    }
}

/// The number of the last run that has begun in a folder of several; 0 when it is none.
fn current(folder: &Path) -> u32 {
    (1..)
        .take_while(|number| folder.join(number.to_string()).is_dir())
        .last()
        .unwrap_or(0)
}

fn open(folder: &Path) -> Option<Part> {
    let last = current(folder);
    let (number, at) = match last {
        0 => (None, folder.to_owned()),
        last => (Some(last), folder.join(last.to_string())),
    };
    // The spool may not have its header yet.
    let spool = regular::open(&at.join("spool")).and_then(|file| SpoolReader::open(file).map_err(io::Error::other));
    let spool = spool.ok()?;
    let header = Header::from_spool(spool.header()).ok()?;
    Some(Part {
        number,
        of: number.map(|_| header.plan.repeat),
        live: Live::new(&header),
        spool,
    })
}

#[cfg(test)]
mod tests;
