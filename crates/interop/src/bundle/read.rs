//! Reading of bundles from any source.

use super::{MANIFEST, Manifest, ROOT, SCHEMA, VERSION, is_file};
use flate2::read::GzDecoder;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tar::{Archive, EntryType};

/// Limit of the uncompressed archive in bytes.
pub const LIMIT: u64 = 4 << 30;

/// Limit of the number of files and folders: 10,000 runs of a set, with eight files each and a folder.
const MAX_ENTRIES: usize = 100_000;

/// Limit of the manifest in bytes.
const MANIFEST_LIMIT: u64 = 64 << 10;

/// Reason for which a bundle can't be read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// Another file.
    #[error("not an archive of `netburn report --bundle`: {0}")]
    NotABundle(String),
    /// A newer netburn wrote it.
    #[error("a newer netburn wrote the archive: found version {found}, expected at most {VERSION}")]
    Newer {
        /// Version of the archive.
        found: u64,
    },
    /// A file that no bundle has.
    #[error("unexpected file {name:?} in the archive: {why}")]
    Unexpected {
        /// Its name.
        name: String,
        /// The difference to an expected file.
        why: &'static str,
    },
    /// The archive ends too early or is damaged.
    #[error("the archive is damaged: {0}")]
    Damaged(String),
    /// The archive has too many files.
    #[error("the archive has more than {MAX_ENTRIES} files and folders, which is the limit")]
    TooMany,
    /// The uncompressed archive is too large.
    #[error("the archive has more than {0} bytes of files, which is the limit")]
    TooLarge(u64),
    /// A file can't be written.
    #[error("{path}: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

/// Unpacks a bundle into an existing empty folder, and returns its manifest. Reads at most `limit` uncompressed bytes.
///
/// # Errors
/// See [`BundleError`]. The folder then has some of the files.
pub fn unpack(from: impl Read, folder: &Path, limit: u64) -> Result<Manifest, BundleError> {
    let mut archive = GzDecoder::new(from);
    let manifest = entries(&mut archive, limit, &mut |name, content| {
        let path = folder.join(name);
        copy(content, &path)
    })?;
    Ok(manifest)
}

fn copy(content: &mut dyn Read, path: &Path) -> Result<(), BundleError> {
    let wrong = |source| BundleError::Write {
        path: path.to_owned(),
        source,
    };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(wrong)?;
    }
    let mut file = File::create_new(path).map_err(wrong)?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        match content.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => file.write_all(&buffer[..length]).map_err(wrong)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(damaged(error)),
        }
    }
}

/// Passes every file of an uncompressed bundle to `take`: its name relative to the folder of the bundle, separated by `/`,
/// and its content. The manifest is returned instead. Names are valid and distinct.
///
/// # Errors
/// See [`BundleError`]; the error of `take`.
pub fn entries(
    from: impl Read,
    limit: u64,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> Result<(), BundleError>,
) -> Result<Manifest, BundleError> {
    // One more byte, so that the end of an archive differs from the limit.
    let mut limited = from.take(limit.saturating_add(1));
    let read = files(&mut limited, take);
    // Reads the rest, so that gzip compares its checksum.
    let read = read.and_then(|manifest| {
        io::copy(&mut limited, &mut io::sink()).map_err(damaged)?;
        Ok(manifest)
    });
    if limited.limit() == 0 {
        return Err(BundleError::TooLarge(limit));
    }
    read
}

fn files(
    from: &mut impl Read,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> Result<(), BundleError>,
) -> Result<Manifest, BundleError> {
    let mut manifest = None;
    let mut seen = BTreeSet::new();
    let mut archive = Archive::new(from);
    // `raw`: extensions of the format are files of an unexpected type here. Otherwise the library would read a name of
    // any length into memory.
    for (number, entry) in archive.entries().map_err(damaged)?.raw(true).enumerate() {
        if number >= MAX_ENTRIES {
            return Err(BundleError::TooMany);
        }
        let mut entry = entry.map_err(|error| match manifest {
            None => BundleError::NotABundle(error.to_string()),
            Some(_) => damaged(error),
        })?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        if kind == EntryType::Directory {
            continue;
        }
        let unexpected = |why| BundleError::Unexpected {
            name: path.clone(),
            why,
        };
        if kind != EntryType::Regular {
            return Err(unexpected("it is not a regular file"));
        }
        let Some(name) = path.strip_prefix(ROOT) else {
            return Err(match manifest {
                None => BundleError::NotABundle(format!("found {path:?}, expected {ROOT}{MANIFEST}")),
                Some(_) => unexpected("it is outside the folder of the archive"),
            });
        };
        if manifest.is_none() {
            if name != MANIFEST {
                return Err(BundleError::NotABundle(format!(
                    "found {path:?}, expected {ROOT}{MANIFEST} first"
                )));
            }
            manifest = Some(self::manifest(&mut entry)?);
            seen.insert(name.to_owned());
            continue;
        }
        if !is_file(name) {
            return Err(unexpected("its name is unknown"));
        }
        if !seen.insert(name.to_owned()) {
            return Err(unexpected("it occurs twice"));
        }
        let size = entry.header().size().map_err(damaged)?;
        let mut content = Counting {
            from: &mut entry,
            read: 0,
        };
        take(name, &mut content)?;
        let read = content.read;
        if read < size {
            return Err(BundleError::Damaged(format!(
                "{name} has {read} bytes, expected {size}"
            )));
        }
    }
    manifest.ok_or_else(|| BundleError::NotABundle("it is empty".to_owned()))
}

fn manifest(entry: &mut impl Read) -> Result<Manifest, BundleError> {
    let mut text = String::new();
    let read = entry.take(MANIFEST_LIMIT).read_to_string(&mut text);
    let wrong = |error: &dyn std::fmt::Display| BundleError::NotABundle(format!("{MANIFEST}: {error}"));
    read.map_err(|error| wrong(&error))?;
    // The version first: a newer manifest may have other fields.
    #[derive(Deserialize)]
    struct Versioned {
        schema: String,
    }
    let Versioned { schema } = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    match schema.strip_prefix(SCHEMA).and_then(|version| version.parse().ok()) {
        Some(found) if found > VERSION => Err(BundleError::Newer { found }),
        Some(_) => serde_json::from_str(&text).map_err(|error| wrong(&error)),
        None => Err(wrong(&format!(
            "unknown schema {schema:?}, expected \"{SCHEMA}{VERSION}\""
        ))),
    }
}

fn damaged(error: io::Error) -> BundleError {
    BundleError::Damaged(error.to_string())
}

/// Counts the bytes of a file. An archive that was cut within a file would otherwise look like a shorter file.
struct Counting<R> {
    from: R,
    read: u64,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}
