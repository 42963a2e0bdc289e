//! Archives of runs for bug reports: `netburn report --bundle` and `netburn report ARCHIVE`.

mod debugfs;
mod system;

use crate::doctor;
use crate::exit::CliError;
use crate::page;
use crate::terminal::eprint_message;
use netburn_analysis::View;
use netburn_interop::bundle::{BundleError, BundleWriter, LIMIT, Manifest, PAGE, RUN, SYSTEM, WIFI, unpack};
use netburn_platform::wifi::nl80211::anonymizer::Anonymizer;
use netburn_record::{Error, Run, UnixTime, anonymise, record_files};
use netburn_report::html;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use system::System;
use tempfile::TempDir;

/// Limit of the file about the system in bytes.
const SYSTEM_LIMIT: u64 = 16 << 20;

/// Writes the bundle of the run in `folder`. After an error, a previous file remains.
pub(crate) fn write(folder: &Path, view: &View, to: &Path, anonymous: bool) -> Result<(), CliError> {
    let written = if anonymous {
        let temporary = temporary()?;
        let copy = temporary.path().join(RUN);
        let failed = |error: Error| CliError::Failed(error.to_string());
        let run = Run::open(folder).map_err(failed)?;
        anonymise(&run, &copy).map_err(failed)?;
        let view = View::open(&copy).map_err(failed)?;
        page::replace(to, |to| pack(&copy, &view, to, true))
    } else {
        page::replace(to, |to| pack(folder, view, to, false))
    };
    written.map_err(|error| CliError::Failed(format!("{}: {error}", to.display())))
}

/// Writes all files of a bundle.
fn pack(folder: &Path, view: &View, to: &Path, anonymous: bool) -> io::Result<()> {
    let to = BufWriter::new(File::create(to)?);
    let mut bundle = BundleWriter::create(to, &Manifest::new(anonymous), UnixTime::now())?;
    for (name, path) in record_files(folder)? {
        let file = netburn_record::regular::open(&path)?;
        bundle.add(&format!("{RUN}/{name}"), file.metadata()?.len(), BufReader::new(file))?;
    }
    let mut add = |name: &str, content: &[u8]| bundle.add(name, content.len() as u64, content);
    add(&format!("{RUN}/{PAGE}"), html::report(view).as_bytes())?;
    let mut anonymizer = anonymous.then(Anonymizer::default);
    let (recording, stations, problem) = match doctor::wifi_snapshot(anonymizer.as_mut()) {
        Ok((recording, stations)) => (recording, stations, None),
        Err(why) => (String::new(), Vec::new(), Some(format!("Wi-Fi: {why}"))),
    };
    let system = System::here(stations, problem, anonymizer.as_mut());
    add(
        SYSTEM,
        &serde_json::to_vec_pretty(&system).expect("only texts for keys"),
    )?;
    if !recording.is_empty() {
        add(WIFI, recording.as_bytes())?;
    }
    bundle.finish()?.flush()
}

/// An unpacked bundle.
pub(crate) struct Opened {
    /// Deleted at the end.
    temporary: TempDir,
    system: Option<System>,
}

impl Opened {
    /// Folder of the record.
    pub(crate) fn run(&self) -> PathBuf {
        self.temporary.path().join(RUN)
    }

    /// Description of the system where the bundle was written; empty if it has none.
    pub(crate) fn system(&self) -> String {
        self.system.as_ref().map(System::text).unwrap_or_default()
    }
}

/// Unpacks a bundle into a temporary folder.
pub(crate) fn open(archive: &Path) -> Result<Opened, CliError> {
    let unreadable = |error: &dyn std::fmt::Display| CliError::Usage(format!("{}: {error}", archive.display()));
    let file = netburn_record::regular::open(archive).map_err(|error| unreadable(&error))?;
    let temporary = temporary()?;
    let manifest = unpack(BufReader::new(file), temporary.path(), LIMIT).map_err(|error| match error {
        error @ BundleError::Write { .. } => CliError::Failed(error.to_string()),
        error => unreadable(&error),
    })?;
    let files = record_files(&temporary.path().join(RUN)).unwrap_or_default();
    if files.is_empty() {
        return Err(unreadable(&format!(
            "found no run, expected netburn-bundle/{RUN}/run.json"
        )));
    }
    let system = match system(&temporary.path().join(SYSTEM)) {
        Ok(system) => Some(system),
        Err(error) => {
            eprint_message(&format!("{SYSTEM} can't be read: {error}"));
            None
        }
    };
    if manifest.netburn != env!("CARGO_PKG_VERSION") {
        eprint_message(&format!(
            "the archive was written by netburn {}, and this is netburn {}",
            netburn_report::sanitise::sanitise(&manifest.netburn),
            env!("CARGO_PKG_VERSION")
        ));
    }
    Ok(Opened { temporary, system })
}

fn system(path: &Path) -> io::Result<System> {
    let file = netburn_record::regular::open(path)?;
    if file.metadata()?.len() > SYSTEM_LIMIT {
        return Err(io::Error::other(format!("it has more than {SYSTEM_LIMIT} bytes")));
    }
    serde_json::from_reader(BufReader::new(file)).map_err(io::Error::from)
}

fn temporary() -> Result<TempDir, CliError> {
    let folder = std::env::temp_dir();
    tempfile::Builder::new()
        .prefix("netburn-")
        .tempdir_in(&folder)
        .map_err(|error| CliError::Failed(format!("{}: {error}", folder.display())))
}
