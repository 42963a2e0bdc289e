//! The file beside the runs that holds what was read of them.

use super::{Entry, Stamp, What};
use netburn_record::regular;
use netburn_record::runs::RunListing;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// Its name: hidden, and no folder, so that nobody takes it for a run.
const FILE: &str = ".netburn-index.json";
/// What wrote it: another version may read more from the same documents.
const SCHEMA: &str = concat!("netburn.index/1 ", env!("CARGO_PKG_VERSION"));
/// The longest that is read, in bytes: that of some 300 000 runs.
const LONGEST: u64 = 256 << 20;

#[derive(Deserialize)]
struct Kept {
    schema: String,
    runs: BTreeMap<String, KeptRun>,
}

#[derive(Serialize)]
struct Keeping<'a> {
    schema: &'static str,
    runs: BTreeMap<&'a str, KeepingRun<'a>>,
}

#[derive(Deserialize)]
struct KeptRun {
    stamp: Stamp,
    at_ms: i64,
    brief: Option<Box<RunListing>>,
    #[serde(default)]
    error: String,
}

#[derive(Serialize)]
struct KeepingRun<'a> {
    stamp: Stamp,
    at_ms: i64,
    brief: Option<&'a RunListing>,
    error: &'a str,
}

/// What was kept; nothing when that is no use.
pub(super) fn read(dir: &Path) -> BTreeMap<String, Entry> {
    let mut bytes = Vec::new();
    let whole = regular::open(&dir.join(FILE)).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    let kept = match (whole, serde_json::from_slice::<Kept>(&bytes)) {
        (Ok(_), Ok(kept)) if kept.schema == SCHEMA => kept,
        _ => return BTreeMap::new(),
    };
    let entry = |run: KeptRun| Entry {
        at_ms: run.at_ms,
        what: match run.brief {
            Some(brief) => What::Finished(run.stamp, brief),
            None => What::Unreadable(run.stamp, run.error),
        },
    };
    kept.runs.into_iter().map(|(name, run)| (name, entry(run))).collect()
}

/// Writes it, whole or not at all.
pub(super) fn write(dir: &Path, runs: &BTreeMap<String, Entry>) -> io::Result<()> {
    let run = |entry: &'_ Entry| -> Option<(Stamp, i64)> {
        match &entry.what {
            What::Finished(stamp, _) | What::Unreadable(stamp, _) => Some((*stamp, entry.at_ms)),
            What::Open(_) => None,
        }
    };
    let runs = runs.iter().filter_map(|(name, entry)| {
        let (stamp, at_ms) = run(entry)?;
        let (brief, error) = (entry.brief(), entry.error().unwrap_or_default());
        Some((
            name.as_str(),
            KeepingRun {
                stamp,
                at_ms,
                brief,
                error,
            },
        ))
    });
    let keeping = Keeping {
        schema: SCHEMA,
        runs: runs.collect(),
    };
    let beside = dir.join(format!("{FILE}.{}", std::process::id()));
    let written = (|| {
        // Never through a link that somebody laid there.
        let mut file = BufWriter::new(File::create_new(&beside)?);
        serde_json::to_writer(&mut file, &keeping)?;
        file.flush()?;
        std::fs::rename(&beside, dir.join(FILE))
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}
