//! Appending to a spool.

use super::{HEADER, MAGIC, MAX_HEADER_BYTES, MAX_ROW_BYTES, VERSION, payload};
use crate::row::{Row, Sink};
use std::fs::File;
use std::io::{self, Write};

/// Number of buffered bytes before a write.
const BUFFER: usize = 256 << 10;

/// Destination of a spool.
pub trait Disk: Write {
    /// Returns when everything written is on the disk.
    ///
    /// # Errors
    /// When it can't be.
    fn sync(&mut self) -> io::Result<()>;
}

impl Disk for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Appends rows to a spool.
///
/// The first error is returned. Afterwards the spool is closed, and later rows are discarded
/// without another error.
#[derive(Debug)]
pub struct SpoolWriter<D> {
    disk: D,
    buffer: Vec<u8>,
    /// True if anything was handed to the system since the last sync.
    dirty: bool,
    closed: bool,
}

impl<D: Disk> SpoolWriter<D> {
    /// Begins a spool with the run's header and syncs it.
    ///
    /// # Errors
    /// When it can't be written, or the header is longer than [`MAX_HEADER_BYTES`].
    pub fn create(disk: D, header: &str) -> io::Result<Self> {
        if header.len() > MAX_HEADER_BYTES {
            return Err(io::Error::other(
                "the plan exceeds the maximum length of a spool header",
            ));
        }
        let mut spool = SpoolWriter {
            disk,
            buffer: Vec::with_capacity(BUFFER + MAX_ROW_BYTES),
            dirty: false,
            closed: false,
        };
        spool.buffer.extend_from_slice(MAGIC);
        spool.buffer.extend_from_slice(&VERSION.to_le_bytes());
        frame(HEADER, &mut spool.buffer, |buffer| {
            buffer.extend_from_slice(header.as_bytes());
        });
        spool.sync()?;
        Ok(spool)
    }

    /// Returns true if an error has closed it.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the destination.
    pub fn into_disk(self) -> D {
        self.disk
    }

    /// Hands everything to the system.
    ///
    /// # Errors
    /// When that fails, once.
    pub fn write(&mut self) -> io::Result<()> {
        if self.closed || self.buffer.is_empty() {
            self.buffer.clear();
            return Ok(());
        }
        self.dirty = true;
        let result = self.disk.write_all(&self.buffer);
        self.buffer.clear();
        self.close_on_error(result)
    }

    fn close_on_error(&mut self, result: io::Result<()>) -> io::Result<()> {
        if result.is_err() {
            self.closed = true;
        }
        result
    }
}

impl<D: Disk> Sink for SpoolWriter<D> {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        frame(payload::kind(row), &mut self.buffer, |buffer| {
            payload::encode(row, buffer)
        });
        if self.buffer.len() >= BUFFER {
            self.write()
        } else {
            Ok(())
        }
    }

    /// Returns when every row that was put is on the disk.
    fn sync(&mut self) -> io::Result<()> {
        self.write()?;
        if std::mem::take(&mut self.dirty) {
            let result = self.disk.sync();
            self.close_on_error(result)?;
        }
        Ok(())
    }
}

/// Appends a frame around what `payload` appends.
fn frame(kind: u8, buffer: &mut Vec<u8>, payload: impl FnOnce(&mut Vec<u8>)) {
    let begin = buffer.len();
    buffer.extend_from_slice(&[0, 0, 0, 0, kind]);
    payload(buffer);
    let length = (buffer.len() - begin - 5) as u32;
    buffer[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
    let crc = crc32fast::hash(&buffer[begin..]);
    buffer.extend_from_slice(&crc.to_le_bytes());
}
