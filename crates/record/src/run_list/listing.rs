//! Listing of a finished run, from its `run.json` up to the end of the summary.

use crate::document::check_version;
use crate::error::Error;
use crate::header::Environment;
use crate::regular;
use crate::utc::UnixTime;
use netburn_workload::Verdict;
use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;

/// Maximum size of a `run.json` that is read, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Short description of a finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunListing {
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's title.
    pub title: Option<String>,
    /// Question that the scenario answers.
    pub question: Option<String>,
    /// Environment of the run.
    pub environment: Environment,
    /// Start time, if the record has one.
    pub started: Option<UnixTime>,
    /// The worst station's verdict.
    #[serde(with = "crate::verdict")]
    pub verdict: Verdict,
    /// True if there are too few samples to be sure of the verdict.
    pub provisional: bool,
    /// True if the self-check passed.
    pub sound: bool,
    /// Planned duration of the load, in seconds.
    pub duration_s: f64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Content moved by all stations together, in Mbit/s.
    pub throughput_mbps: f64,
    /// Stations in the plan's order.
    pub stations: Vec<ListedStation>,
    /// Number of runs are pooled in it; 0 when it is one run.
    pub repeats: usize,
}

/// Short description of a station.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedStation {
    /// Name.
    pub name: String,
    /// Verdict of the worst goal.
    #[serde(with = "crate::verdict")]
    pub verdict: Verdict,
}

/// Reads the beginning of a `run.json`.
///
/// # Errors
/// When it can't be read, was written by a newer netburn, or is damaged before the summary's end.
pub fn read_listing(path: &Path) -> Result<RunListing, Error> {
    let mut bytes = Vec::new();
    let file = regular::open(path).map_err(Error::io(path))?;
    let read = file
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(Error::io(path))?;
    if read as u64 > MAX_FILE_BYTES {
        return Err(Error::damaged(path, "the file is too large"));
    }
    let mut fields = ListingFields::default();
    let mut reader = serde_json::Deserializer::from_slice(&bytes);
    // The visitor stops the reading with an error once it has what it needs.
    let stopped = reader.deserialize_map(ListingVisitor(&mut fields));
    if let Some(schema) = &fields.schema {
        check_version(path, schema)?;
    }
    match fields {
        ListingFields {
            schema: Some(_),
            started: Some(started),
            summary: Some(summary),
        } => Ok(summary.into_listing(started)),
        _ => Err(Error::damaged(
            path,
            stopped
                .err()
                .map_or_else(|| "the first fields are missing".to_owned(), |error| error.to_string()),
        )),
    }
}

#[derive(Default)]
struct ListingFields {
    schema: Option<String>,
    started: Option<Option<UnixTime>>,
    summary: Option<SummaryPart>,
}

/// The summary. Most of its fields are skipped.
#[derive(Deserialize)]
struct SummaryPart {
    scenario: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    question: Option<String>,
    environment: Environment,
    seed: u64,
    duration_s: f64,
    #[serde(with = "crate::verdict")]
    verdict: Verdict,
    provisional: bool,
    self_check: SelfCheckPart,
    totals: TotalsPart,
    stations: Vec<ListedStation>,
    repeats: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct SelfCheckPart {
    ok: bool,
}

#[derive(Deserialize)]
struct TotalsPart {
    throughput_mbps: f64,
}

impl SummaryPart {
    fn into_listing(self, started: Option<UnixTime>) -> RunListing {
        RunListing {
            scenario: self.scenario,
            title: self.title,
            question: self.question,
            environment: self.environment,
            started,
            verdict: self.verdict,
            provisional: self.provisional,
            sound: self.self_check.ok,
            duration_s: self.duration_s,
            seed: self.seed,
            throughput_mbps: self.totals.throughput_mbps,
            stations: self.stations,
            repeats: self.repeats.len(),
        }
    }
}

struct ListingVisitor<'a>(&'a mut ListingFields);

impl<'de> Visitor<'de> for ListingVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the document of a run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            match &*key {
                "schema" => self.0.schema = Some(map.next_value()?),
                "started" => self.0.started = Some(map.next_value()?),
                "summary" => {
                    self.0.summary = Some(map.next_value()?);
                    return Err(A::Error::custom("the first fields are missing"));
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}
