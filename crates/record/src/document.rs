//! `run.json`: the summary and all information about a run except its rows.

use crate::checksum::Checksum;
use crate::columns::tables::Table;
use crate::error::Error;
use crate::header::{Environment, Header, Host, RunStatus, Source, plan_from_value};
use crate::health::{Clock, Health};
use crate::lab_health::LabHealth;
use crate::regular;
use crate::row::{AirRow, ConnectionRow, EventRow, IntervalRow, LinkRow, ObservedRow, OperationRow};
use crate::summary::Summary;
use crate::summary::count::Counter;
use crate::summary::verdicts::{inconclusive_reasons, run_self_check, summarise};
use crate::utc::UnixTime;
use crate::verdict;
use netburn_units::Seed;
use netburn_workload::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// The name of the file.
pub(crate) const FILE: &str = "run.json";

/// Name of the schema, without the version.
const SCHEMA: &str = "netburn.run/";

/// The newest version that this code writes and reads.
const VERSION: u64 = 1;

/// The tables of a run, in the order in which rows are handed out.
pub(crate) const TABLES: [&str; 7] = [
    OperationRow::NAME,
    IntervalRow::NAME,
    AirRow::NAME,
    ConnectionRow::NAME,
    LinkRow::NAME,
    ObservedRow::NAME,
    EventRow::NAME,
];

/// Fields of the file. The fields for listings come first, so that a listing can stop reading
/// there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) schema: String,
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) seed: u64,
    pub(crate) netburn: String,
    pub(crate) host: Host,
    /// Origin of an imported run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<Source>,
    pub(crate) status: RunStatus,
    pub(crate) summary: Summary,
    pub(crate) plan: Value,
    pub(crate) health: Vec<Health>,
    pub(crate) clocks: Vec<Clock>,
    /// On lab: the lab's report on its own work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lab: Option<LabHealth>,
    /// The tables' files by name; none where the runs have them.
    pub(crate) tables: BTreeMap<String, TableFacts>,
    /// With `--repeat`: names of the runs' folders, relative to this one.
    pub(crate) runs: Vec<String>,
}

/// Fields for a listing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) scenario: String,
    pub(crate) environment: Environment,
    /// Nanoseconds since 1970.
    pub(crate) started: Option<UnixTime>,
    pub(crate) started_utc: Option<String>,
    #[serde(with = "verdict")]
    pub(crate) verdict: Verdict,
}

/// Expected properties of a table's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableFacts {
    pub(crate) rows: u64,
    /// Length in bytes.
    pub(crate) bytes: u64,
    /// Checksum of the whole file; `None` for older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) crc32: Option<Checksum>,
}

impl Document {
    pub(crate) fn new(header: &Header, status: &RunStatus, summary: Summary) -> Self {
        Document {
            schema: format!("{SCHEMA}{VERSION}"),
            head: Head {
                scenario: header.plan.name.clone(),
                environment: header.environment,
                started: header.started,
                started_utc: header.started.map(UnixTime::rfc3339),
                verdict: summary.verdict,
            },
            seed: header.seed.0,
            netburn: header.version.clone(),
            host: header.host.clone(),
            source: header.source.clone(),
            status: status.clone(),
            summary,
            plan: header.plan.to_json(),
            health: Vec::new(),
            clocks: Vec::new(),
            lab: None,
            tables: BTreeMap::new(),
            runs: Vec::new(),
        }
    }

    /// Document of one run in `folder`, from its counted rows.
    pub(crate) fn of_rows(
        header: &Header,
        status: &RunStatus,
        folder: &Path,
        counter: Counter,
        tables: BTreeMap<String, TableFacts>,
    ) -> Self {
        let evidence = counter.finish(status);
        let (health, clocks, lab) = (evidence.health.clone(), evidence.clocks.clone(), evidence.lab.clone());
        let self_check = run_self_check(header, status, &evidence);
        let why = inconclusive_reasons(header, status, &evidence);
        let summary = summarise(header, &folder.to_string_lossy(), evidence, self_check, why);
        Document {
            health,
            clocks,
            lab,
            tables,
            ..Document::new(header, status, summary)
        }
    }

    /// Header of the run.
    pub(crate) fn header(&self, path: &Path) -> Result<Header, Error> {
        Ok(Header {
            plan: plan_from_value(&self.plan).map_err(|why| Error::damaged(path, why))?,
            environment: self.head.environment,
            seed: Seed(self.seed),
            host: self.host.clone(),
            version: self.netburn.clone(),
            started: self.head.started,
            source: self.source.clone(),
        })
    }

    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let mut text = String::new();
        regular::open(path)
            .and_then(|mut file| file.read_to_string(&mut text))
            .map_err(|error| match error.kind() {
                io::ErrorKind::InvalidData => Error::damaged(path, "it is not UTF-8 text"),
                _ => Error::io(path)(error),
            })?;
        // The version first: a newer file may have other fields.
        #[derive(Deserialize)]
        struct Versioned {
            schema: String,
        }
        let Versioned { schema } = serde_json::from_str(&text).map_err(|error| Error::damaged(path, error))?;
        check_version(path, &schema)?;
        serde_json::from_str(&text).map_err(|error| Error::damaged(path, error))
    }

    /// Writes the file so that it is there whole or not at all.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_string_pretty(self).expect("a document has only text for keys");
        text.push('\n');
        let (temporary, path) = (folder.join("run.json.tmp"), folder.join(FILE));
        let written = (|| {
            let mut file = File::create(&temporary)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&temporary, &path)?;
            sync_folder(folder)
        })();
        written.map_err(|error| {
            // An incomplete file is useless, but its space may be needed.
            let _ = std::fs::remove_file(&temporary);
            Error::io(&path)(error)
        })
    }
}

/// Rejects other documents and newer versions.
pub(crate) fn check_version(path: &Path, schema: &str) -> Result<(), Error> {
    let version = schema.strip_prefix(SCHEMA).and_then(|version| version.parse().ok());
    match version {
        Some(found) if found > VERSION => Err(Error::Newer {
            path: path.to_owned(),
            found,
            known: VERSION,
        }),
        Some(_) => Ok(()),
        None => Err(Error::damaged(
            path,
            format_args!("unknown schema `{schema}`, expected `{SCHEMA}{VERSION}`"),
        )),
    }
}

/// Returns when the entries of a folder are on the disk. Systems other than Unix have no such function.
///
/// # Errors
/// I/O error.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()
    } else {
        Ok(())
    }
}
