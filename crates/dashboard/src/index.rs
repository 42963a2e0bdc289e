//! What runs there are, read once and then only where something changed.
//!
//! A run's `run.json` is read again when its time or length is another. What was read is kept in a file beside the runs,
//! so that the next start reads no more than what is new.

mod kept;

use crate::name::is_name;
use netburn_record::runs::{RunEntry, RunListing, State, inspect, read_listing};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

/// The document of a finished run.
const DOCUMENT: &str = "run.json";

/// The runs of a directory.
#[derive(Debug)]
pub struct Index {
    dir: PathBuf,
    runs: BTreeMap<String, Entry>,
    /// The directory as it was when it was last read.
    seen: Option<Stamp>,
    /// Whether it was ever looked at.
    looked: bool,
    changes: u64,
    /// Whether the file beside holds less than this.
    unkept: bool,
}

/// A run as the index knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When: the start where the record has it, else when its document was written. Milliseconds since 1970.
    pub at_ms: i64,
    /// What became of it.
    pub what: What,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// It was finished.
    Finished(Stamp, Box<RunListing>),
    /// Its document can't be read, and why.
    Unreadable(Stamp, String),
    /// It has no document: it runs now, or was left.
    Open(Box<RunEntry>),
}

/// A file's time and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stamp {
    /// When it was last written, in nanoseconds since 1970.
    pub written: i64,
    /// How long it is, in bytes.
    pub length: u64,
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Every run.
    Whole,
    /// Every run if some came or went, else those that aren't finished.
    Quick,
}

impl Index {
    /// The runs of `dir`, of which none is known yet but what the file beside them tells.
    #[must_use]
    pub fn new(dir: &Path) -> Index {
        Index {
            dir: dir.to_owned(),
            runs: kept::read(dir),
            seen: None,
            looked: false,
            changes: 0,
            unkept: false,
        }
    }

    /// Where they are.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The runs by name.
    #[must_use]
    pub fn runs(&self) -> &BTreeMap<String, Entry> {
        &self.runs
    }

    /// How often something changed. Goes up only.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Looks what is new. Where that can't be written beside, the next start takes longer.
    ///
    /// # Errors
    /// When the directory can't be read; one that isn't there has no runs.
    pub fn refresh(&mut self, how: Look) -> io::Result<()> {
        let now = match std::fs::metadata(&self.dir) {
            Ok(metadata) => Some(Stamp::of(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if how == Look::Quick && now.is_some() && now == self.seen {
            self.look_at_open();
        } else {
            self.look_at_all(now.is_some())?;
            self.seen = now;
        }
        if !std::mem::replace(&mut self.looked, true) {
            self.changes += 1;
        }
        if self.unkept {
            self.unkept = false;
            if let Err(error) = kept::write(&self.dir, &self.runs) {
                tracing::info!(%error, "the index of the runs is not kept");
            }
            // Our own file has changed the directory, and perhaps somebody else's run with it: the next look is a whole one.
            self.seen = None;
        }
        Ok(())
    }

    fn look_at_open(&mut self) {
        let open: Vec<String> = self
            .runs
            .iter()
            .filter(|(_, entry)| matches!(entry.what, What::Open(_)))
            .map(|(name, _)| name.clone())
            .collect();
        for name in open {
            let found = look_into(&self.dir.join(&name), None);
            self.take(name, found);
        }
    }

    fn look_at_all(&mut self, exists: bool) -> io::Result<()> {
        let mut names = Vec::new();
        if exists {
            for entry in std::fs::read_dir(&self.dir)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                // A link that leads elsewhere is no run of this directory.
                let ours = kind.is_dir() || kind.is_symlink() && crate::name::folder(&self.dir, &name).is_some();
                if ours && is_name(&name) {
                    names.push(name);
                }
            }
        }
        names.sort_unstable();
        let found = read_all(&self.dir, &names, &self.runs);
        let gone: Vec<String> = self
            .runs
            .keys()
            .filter(|name| names.binary_search(name).is_err())
            .cloned()
            .collect();
        for name in gone {
            self.take(name, Found::Nothing);
        }
        for (name, entry) in names.into_iter().zip(found) {
            self.take(name, entry);
        }
        Ok(())
    }

    fn take(&mut self, name: String, found: Found) {
        let entry = match found {
            Found::Same => return,
            Found::Nothing => None,
            Found::Run(entry) => Some(*entry),
        };
        if self.runs.get(&name) == entry.as_ref() {
            return;
        }
        self.changes += 1;
        let kept = |entry: Option<&Entry>| entry.is_some_and(|entry| !matches!(entry.what, What::Open(_)));
        self.unkept |= kept(self.runs.get(&name)) || kept(entry.as_ref());
        match entry {
            Some(entry) => self.runs.insert(name, entry),
            None => self.runs.remove(&name),
        };
    }
}

impl Entry {
    /// Its state, as `netburn runs` calls it.
    #[must_use]
    pub fn state(&self) -> &'static str {
        match &self.what {
            What::Finished(..) => "finished",
            What::Unreadable(..) => "unreadable",
            What::Open(listed) => match &listed.state {
                State::Finished(_) => "finished",
                State::Live => "live",
                State::Unfinished => "unfinished",
                State::Unreadable(_) => "unreadable",
            },
        }
    }

    /// What is known of it, when it was finished.
    #[must_use]
    pub fn brief(&self) -> Option<&RunListing> {
        match &self.what {
            What::Finished(_, brief) => Some(brief),
            _ => None,
        }
    }

    /// Why it can't be read.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match &self.what {
            What::Unreadable(_, why) => Some(why),
            What::Open(listed) => match &listed.state {
                State::Unreadable(why) => Some(why),
                _ => None,
            },
            What::Finished(..) => None,
        }
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        let written = metadata.modified().ok();
        let since = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Stamp {
            written: since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)),
            length: metadata.len(),
        }
    }
}

/// The runs of these names, by as many threads as there are processors: a directory that was never read is many files.
fn read_all(dir: &Path, names: &[String], known: &BTreeMap<String, Entry>) -> Vec<Found> {
    const AT_ONCE: usize = 64;
    let read = |names: &[String]| -> Vec<Found> {
        let known = names.iter().map(|name| (name, known.get(name)));
        known.map(|(name, entry)| look_into(&dir.join(name), entry)).collect()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    if threads == 1 || names.len() <= AT_ONCE {
        return read(names);
    }
    let pieces: Vec<&[String]> = names.chunks(AT_ONCE).collect();
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, Vec<Found>)> = std::thread::scope(|scope| {
        let work = || {
            let mut mine = Vec::new();
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                match pieces.get(piece) {
                    Some(names) => mine.push((piece, read(names))),
                    None => return mine,
                }
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let all = workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("reading does not panic"));
        all.collect()
    });
    done.sort_unstable_by_key(|(piece, _)| *piece);
    done.into_iter().flat_map(|(_, entries)| entries).collect()
}

/// What a folder turned out to be.
enum Found {
    /// No run.
    Nothing,
    /// What was known already.
    Same,
    /// A run.
    Run(Box<Entry>),
}

/// What there is in a folder.
fn look_into(path: &Path, known: Option<&Entry>) -> Found {
    let document = path.join(DOCUMENT);
    let Ok(metadata) = std::fs::metadata(&document) else {
        let Some(listed) = inspect(path) else {
            return Found::Nothing;
        };
        let spool = || std::fs::metadata(path).ok();
        let at_ms = match listed.started {
            Some(started) => started.0 / 1_000_000,
            None => spool().map_or(0, |metadata| Stamp::of(&metadata).written / 1_000_000),
        };
        let what = What::Open(Box::new(listed));
        return Found::Run(Box::new(Entry { at_ms, what }));
    };
    let stamp = Stamp::of(&metadata);
    match known {
        Some(known) if matches!(known.what, What::Finished(s, _) | What::Unreadable(s, _) if s == stamp) => {
            return Found::Same;
        }
        _ => {}
    }
    let written = stamp.written / 1_000_000;
    Found::Run(Box::new(match read_listing(&document) {
        Ok(brief) => Entry {
            at_ms: brief.started.map_or(written, |started| started.0 / 1_000_000),
            what: What::Finished(stamp, Box::new(brief)),
        },
        Err(error) => Entry {
            at_ms: written,
            what: What::Unreadable(stamp, error.to_string()),
        },
    }))
}
