//! List of run folders. Only the beginning of each document is read.

mod listing;

pub use listing::{ListedStation, RunListing, read_listing};

use crate::document::{FILE, Head, check_version};
use crate::error::Error;
use crate::folder::{MARK, SPOOL, is_locked, open_lock, open_spool};
use crate::header::{Environment, Header};
use crate::regular;
use crate::utc::UnixTime;
use netburn_workload::Verdict;
use serde::de::{Deserializer as _, Error as _, MapAccess, Visitor};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// A run folder in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEntry {
    /// The folder.
    pub path: PathBuf,
    /// Name of the folder itself.
    pub name: String,
    /// Start time, if the record has one. A simulated run has none.
    pub started: Option<UnixTime>,
    /// Start time, or the time at which the record was last written.
    pub at: Option<UnixTime>,
    /// Name of the scenario; `None` if the folder cannot be read.
    pub scenario: Option<String>,
    /// Title of the scenario, for an unfinished run.
    pub title: Option<String>,
    /// Environment of the run.
    pub environment: Option<Environment>,
    /// State of the run.
    pub state: State,
}

/// State of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Finished, with this verdict.
    Finished(Verdict),
    /// Being recorded now.
    Live,
    /// Unfinished, because its controller was killed; [`recover`](crate::recover()) finishes it.
    Unfinished,
    /// Unreadable, with the reason.
    Unreadable(String),
}

/// Run folders in `folder`, the oldest first: those directly in it, and those in a [`group`]. Other folders are ignored.
/// A `folder` that does not exist has no runs.
///
/// # Errors
/// When `folder` can't be read.
pub fn list(folder: &Path) -> Result<Vec<RunEntry>, Error> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(folder)(error)),
    };
    let mut listed = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io(folder))?.path();
        match inspect(&path) {
            Some(run) => listed.push(run),
            None => listed.extend(group(&path).iter().filter_map(|member| inspect(member))),
        }
    }
    listed.sort_by(|a, b| (a.at, &a.path).cmp(&(b.at, &b.path)));
    Ok(listed)
}

/// Time at which a file or folder was last written.
fn modified(path: &Path) -> Option<UnixTime> {
    Some(path.metadata().ok()?.modified().ok()?.into())
}

/// Maximum number of runs of a group.
const MAX_GROUP: usize = 1000;

/// Folders directly in `folder`, which is no run itself but may have runs of one purpose, such as `before` and `after` of
/// a demonstration. Sorted by name, and at most 1,000. Links and hidden folders are left out.
#[must_use]
pub fn group(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_member = |entry: &std::fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_dir()) && !entry.file_name().as_encoded_bytes().starts_with(b".")
    };
    let mut found: Vec<PathBuf> = entries
        .filter(is_member)
        .map(|entry| entry.path())
        .take(MAX_GROUP)
        .collect();
    found.sort_unstable();
    found
}

/// Entry for one folder; `None` if it is no run folder. Nothing is written, and unfinished runs
/// stay unfinished.
#[must_use]
pub fn inspect(path: &Path) -> Option<RunEntry> {
    let mut listed = state(path)?;
    let document = path.join(FILE);
    listed.at = listed
        .started
        .or_else(|| modified(&document))
        .or_else(|| modified(path));
    Some(listed)
}

/// Entry for one folder, without the time of its files.
fn state(path: &Path) -> Option<RunEntry> {
    let mut listed = RunEntry {
        path: path.to_owned(),
        name: path.file_name()?.to_string_lossy().into_owned(),
        started: None,
        at: None,
        scenario: None,
        title: None,
        environment: None,
        state: State::Unfinished,
    };
    let document = path.join(FILE);
    if document.exists() {
        match head(&document) {
            Ok(head) => {
                listed.started = head.started;
                listed.scenario = Some(head.scenario);
                listed.environment = Some(head.environment);
                listed.state = State::Finished(head.verdict);
            }
            Err(error) => listed.state = State::Unreadable(error.to_string()),
        }
        return Some(listed);
    }
    let mark = path.join(MARK);
    let repeats = mark.exists();
    let marked = if repeats { mark } else { path.join(SPOOL) };
    match open_lock(&marked) {
        Ok(Some(lock)) => {
            if is_locked(&lock) {
                listed.state = State::Live;
            }
        }
        Ok(None) => return None,
        Err(error) => {
            listed.state = State::Unreadable(error.to_string());
            return Some(listed);
        }
    }
    // The first run of a run set has the same scenario as all others.
    let first = path.join("1");
    let spool = if repeats { &first } else { path };
    let header = match head(&spool.join(FILE)) {
        Ok(head) => Ok((head.started, head.scenario, None, head.environment)),
        Err(_) => open_spool(spool).and_then(|spool| {
            let header = Header::from_spool(spool.header()).map_err(|why| Error::damaged(path, why))?;
            Ok((header.started, header.plan.name, header.plan.title, header.environment))
        }),
    };
    match header {
        Ok((started, scenario, title, environment)) => {
            (listed.started, listed.scenario, listed.environment) = (started, Some(scenario), Some(environment));
            listed.title = title;
        }
        Err(_) if repeats || listed.state == State::Live => {}
        Err(error) => listed.state = State::Unreadable(error.to_string()),
    }
    Some(listed)
}

/// The first fields of a `run.json`; the rest is not read.
fn head(path: &Path) -> Result<Head, Error> {
    let file = regular::open(path).map_err(Error::io(path))?;
    let mut fields = HeadFields::default();
    let mut reader = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 12, file));
    // The visitor stops the reading with an error once it has what it needs.
    let stopped = reader.deserialize_map(HeadVisitor(&mut fields));
    if let Some(schema) = &fields.schema {
        check_version(path, schema)?;
    }
    match fields {
        HeadFields {
            schema: Some(_),
            scenario: Some(scenario),
            environment: Some(environment),
            started: Some(started),
            verdict: Some(NamedVerdict(verdict)),
        } => Ok(Head {
            scenario,
            environment,
            started,
            started_utc: started.map(UnixTime::rfc3339),
            verdict,
        }),
        _ => Err(match stopped {
            Err(error) if error.is_io() => Error::io(path)(error.into()),
            Err(error) => Error::damaged(path, error),
            Ok(()) => Error::damaged(path, "the first fields are missing"),
        }),
    }
}

#[derive(Default)]
struct HeadFields {
    schema: Option<String>,
    scenario: Option<String>,
    environment: Option<Environment>,
    started: Option<Option<UnixTime>>,
    verdict: Option<NamedVerdict>,
}

#[derive(serde::Deserialize)]
struct NamedVerdict(#[serde(with = "crate::verdict")] Verdict);

struct HeadVisitor<'a>(&'a mut HeadFields);

impl<'de> Visitor<'de> for HeadVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the document of a run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "schema" => self.0.schema = Some(map.next_value()?),
                "scenario" => self.0.scenario = Some(map.next_value()?),
                "environment" => self.0.environment = Some(map.next_value()?),
                "started" => self.0.started = Some(map.next_value()?),
                "verdict" => self.0.verdict = Some(map.next_value()?),
                _ => {
                    map.next_value::<serde::de::IgnoredAny>()?;
                }
            }
            let fields = &self.0;
            if fields.verdict.is_some()
                && fields.scenario.is_some()
                && fields.environment.is_some()
                && fields.started.is_some()
            {
                return Err(A::Error::custom("stop: all fields found"));
            }
        }
        Ok(())
    }
}
