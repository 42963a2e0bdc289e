//! Cache file of the index, in the directory of the runs.

use super::{Entry, FileStamp, RunState};
use netburn_record::regular;
use netburn_record::run_list::RunListing;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// Name of the cache file. The index ignores hidden files.
const FILE: &str = ".netburn-index.json";
/// Format and version of netburn. Another version may read other values from the same documents.
const SCHEMA: &str = concat!("netburn.index/1 ", env!("CARGO_PKG_VERSION"));
/// Maximum length that is read, in bytes: about 300,000 runs.
const MAX_LENGTH: u64 = 256 << 20;

#[derive(Deserialize)]
struct Cache {
    schema: String,
    runs: BTreeMap<String, CachedRun>,
}

#[derive(Serialize)]
struct CacheRef<'a> {
    schema: &'static str,
    runs: BTreeMap<&'a str, CachedRunRef<'a>>,
}

#[derive(Deserialize)]
struct CachedRun {
    stamp: FileStamp,
    at_ms: i64,
    brief: Option<Box<RunListing>>,
    #[serde(default)]
    error: String,
}

#[derive(Serialize)]
struct CachedRunRef<'a> {
    stamp: FileStamp,
    at_ms: i64,
    brief: Option<&'a RunListing>,
    error: &'a str,
}

/// Reads the cache. Returns no entries if the file is missing, damaged or of another version.
pub(super) fn read(dir: &Path) -> BTreeMap<String, Entry> {
    let mut bytes = Vec::new();
    let length = regular::open(&dir.join(FILE)).and_then(|file| file.take(MAX_LENGTH).read_to_end(&mut bytes));
    let cache = match (length, serde_json::from_slice::<Cache>(&bytes)) {
        (Ok(_), Ok(cache)) if cache.schema == SCHEMA => cache,
        _ => return BTreeMap::new(),
    };
    let entry = |run: CachedRun| Entry {
        at_ms: run.at_ms,
        state: match run.brief {
            Some(brief) => RunState::Finished(run.stamp, brief),
            None => RunState::Unreadable(run.stamp, run.error),
        },
    };
    cache.runs.into_iter().map(|(name, run)| (name, entry(run))).collect()
}

/// Replaces the cache atomically.
pub(super) fn write(dir: &Path, runs: &BTreeMap<String, Entry>) -> io::Result<()> {
    let run = |entry: &'_ Entry| -> Option<(FileStamp, i64)> {
        match &entry.state {
            RunState::Finished(stamp, _) | RunState::Unreadable(stamp, _) => Some((*stamp, entry.at_ms)),
            RunState::Open(_) => None,
        }
    };
    let runs = runs.iter().filter_map(|(name, entry)| {
        let (stamp, at_ms) = run(entry)?;
        let (brief, error) = (entry.brief(), entry.error().unwrap_or_default());
        Some((
            name.as_str(),
            CachedRunRef {
                stamp,
                at_ms,
                brief,
                error,
            },
        ))
    });
    let cache = CacheRef {
        schema: SCHEMA,
        runs: runs.collect(),
    };
    let temporary = dir.join(format!("{FILE}.{}", std::process::id()));
    let result = (|| {
        // `create_new` does not follow a symbolic link.
        let mut file = BufWriter::new(File::create_new(&temporary)?);
        serde_json::to_writer(&mut file, &cache)?;
        file.flush()?;
        std::fs::rename(&temporary, dir.join(FILE))
    })();
    if result.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    result
}
