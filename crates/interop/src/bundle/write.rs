//! Writing of bundles.

use super::{MANIFEST, Manifest, ROOT, is_file};
use flate2::Compression;
use flate2::write::GzEncoder;
use netburn_record::UnixTime;
use std::io::{self, Read, Write};
use tar::{Builder, EntryType, Header};

/// Writes a bundle. A writer that is dropped before [`finish`](Self::finish) leaves an incomplete archive.
pub struct BundleWriter<W: Write> {
    archive: Builder<GzEncoder<W>>,
    time: u64,
}

impl<W: Write> BundleWriter<W> {
    /// Begins a bundle with its manifest. `time` is the time of all files.
    ///
    /// # Errors
    /// Error of the destination.
    pub fn create(to: W, manifest: &Manifest, time: UnixTime) -> io::Result<Self> {
        let mut writer = BundleWriter {
            archive: Builder::new(GzEncoder::new(to, Compression::default())),
            time: u64::try_from(time.0 / 1_000_000_000).unwrap_or_default(),
        };
        let text = serde_json::to_vec_pretty(manifest).expect("a manifest has only texts for keys");
        writer.add(MANIFEST, text.len() as u64, &text[..])?;
        Ok(writer)
    }

    /// Adds a file of `length` bytes. A longer file is cut, for example one that grows.
    ///
    /// # Errors
    /// Error of the file or of the destination; a file that is shorter than `length`.
    ///
    /// # Panics
    /// If bundles have no file with this name.
    pub fn add(&mut self, name: &str, length: u64, content: impl Read) -> io::Result<()> {
        assert!(is_file(name), "bundles have no file {name}");
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_mtime(self.time);
        header.set_size(length);
        let mut content = content.take(length);
        self.archive
            .append_data(&mut header, format!("{ROOT}{name}"), &mut content)?;
        if content.limit() > 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file became shorter while it was read",
            ));
        }
        Ok(())
    }

    /// Completes the archive and returns its destination.
    ///
    /// # Errors
    /// Error of the destination.
    pub fn finish(self) -> io::Result<W> {
        self.archive.into_inner()?.finish()
    }
}
