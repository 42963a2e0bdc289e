//! Appends rows to a spool.

use super::frame::{Disk, FrameWriter};
use super::{FORMAT, HEADER, MAX_HEADER_BYTES, payload};
use crate::row::{Row, Sink};
use std::io;

/// Number of buffered bytes before a write.
const BUFFER: usize = 256 << 10;

/// Appends rows to a spool.
///
/// The first error is returned. Afterwards the spool is closed, and later rows are discarded
/// without another error.
#[derive(Debug)]
pub struct SpoolWriter<D> {
    frames: FrameWriter<D>,
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
        let mut frames = FrameWriter::create(disk, &FORMAT);
        frames.put(HEADER, |to| to.extend_from_slice(header.as_bytes()));
        frames.sync()?;
        Ok(SpoolWriter { frames, closed: false })
    }

    /// Returns true if an error has closed it.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the destination.
    pub fn into_disk(self) -> D {
        self.frames.into_disk()
    }

    /// Hands everything to the system.
    ///
    /// # Errors
    /// When that fails, once.
    pub fn write(&mut self) -> io::Result<()> {
        self.unless_closed(FrameWriter::write)
    }

    fn unless_closed(&mut self, step: impl FnOnce(&mut FrameWriter<D>) -> io::Result<()>) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = step(&mut self.frames);
        self.closed = result.is_err();
        result
    }
}

impl<D: Disk> Sink for SpoolWriter<D> {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        self.frames.put(payload::kind(row), |to| payload::encode(row, to));
        if self.frames.buffered() >= BUFFER {
            self.write()
        } else {
            Ok(())
        }
    }

    /// Returns when every row that was put is on the disk.
    fn sync(&mut self) -> io::Result<()> {
        self.unless_closed(FrameWriter::sync)
    }
}
