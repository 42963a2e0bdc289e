//! Reads the rows of a spool.

use super::frame::{End, FrameReader, SpoolError};
use super::{FORMAT, HEADER, payload};
use crate::row::Row;
use std::io::{self, Read};

/// Reads the rows of a spool in order, up to the first frame that is torn or wrong.
#[derive(Debug)]
pub struct SpoolReader<R> {
    frames: FrameReader<R>,
    header: String,
    end: Option<End>,
}

impl<R: Read> SpoolReader<R> {
    /// Reads the beginning and the run's header.
    ///
    /// # Errors
    /// When it isn't a spool, a newer version wrote it, or it ends within the header.
    pub fn open(from: R) -> Result<Self, SpoolError> {
        let mut frames = FrameReader::open(from, &FORMAT)?;
        let header = match frames.peek()? {
            Some((HEADER, header)) => std::str::from_utf8(header)
                .map_err(|_| SpoolError::Damaged("the header is not UTF-8"))?
                .to_owned(),
            _ => return Err(SpoolError::Damaged("the header is incomplete")),
        };
        frames.consume();
        Ok(SpoolReader {
            frames,
            header,
            end: None,
        })
    }

    /// The run's header, as it was given to the writer.
    #[must_use]
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The next row; `None` at the end, which [`end`](Self::end) then describes.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn next_row(&mut self) -> io::Result<Option<Row>> {
        if self.end.is_some() {
            return Ok(None);
        }
        let row = self.next_frame()?;
        if row.is_none() {
            self.end = Some(self.frames.drain()?);
        }
        Ok(row)
    }

    /// Returns the next row of a spool that is still being written; `None` if there is none yet. A
    /// damaged frame is never skipped.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn next_row_so_far(&mut self) -> io::Result<Option<Row>> {
        self.frames.follow();
        self.next_frame()
    }

    fn next_frame(&mut self) -> io::Result<Option<Row>> {
        let frame = self.frames.peek()?;
        let row = frame.and_then(|(kind, payload)| payload::decode(kind, payload));
        if row.is_some() {
            self.frames.consume();
        }
        Ok(row)
    }

    /// Sizes of its parts, once [`next_row`](Self::next_row) has returned `None`.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }
}
