//! Archives of a run for a bug report: `netburn report --bundle`.
//!
//! A bundle is a tar archive (POSIX.1-1988 ustar), compressed with gzip (RFC 1952). `docs/reference/record.md` lists its
//! files. The first one is the [`Manifest`].
//!
//! An archive can come from anywhere. [`unpack`] writes only files with these names, into one folder, and has a limit for
//! their size.

mod read;
mod write;

pub use read::{BundleError, LIMIT, entries, unpack};
pub use write::BundleWriter;

use serde::{Deserialize, Serialize};

/// Folder of all files.
const ROOT: &str = "netburn-bundle/";

/// Name of the schema, without the version.
const SCHEMA: &str = "netburn.bundle/";

/// The newest version that this code writes and reads.
const VERSION: u64 = 1;

/// Name of the manifest.
const MANIFEST: &str = "bundle.json";

/// Name of the folder with the record.
pub const RUN: &str = "run";

/// Name of the file about the system.
pub const SYSTEM: &str = "system.json";

/// Name of the recording of the Wi-Fi drivers.
pub const WIFI: &str = "wifi.txt";

/// Name of the page, below [`RUN`].
pub const PAGE: &str = "report.html";

/// Description of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    schema: String,
    /// Version of netburn that wrote the bundle.
    pub netburn: String,
    /// True if names and addresses are replaced.
    pub anonymised: bool,
}

impl Manifest {
    /// Manifest of a new bundle.
    #[must_use]
    pub fn new(anonymised: bool) -> Self {
        Manifest {
            schema: format!("{SCHEMA}{VERSION}"),
            netburn: env!("CARGO_PKG_VERSION").to_owned(),
            anonymised,
        }
    }
}

/// Returns whether a bundle can have a file with this name, relative to [`ROOT`].
fn is_file(name: &str) -> bool {
    if [MANIFEST, SYSTEM, WIFI].contains(&name) {
        return true;
    }
    let Some(name) = name.strip_prefix(RUN).and_then(|name| name.strip_prefix('/')) else {
        return false;
    };
    name == PAGE || netburn_record::is_record_file(name)
}
