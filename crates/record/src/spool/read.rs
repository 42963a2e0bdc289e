//! Reads a spool with bounded memory.

use super::{FRAME_OVERHEAD, HEADER, MAGIC, MAX_HEADER_BYTES, MAX_ROW_BYTES, VERSION, payload};
use crate::row::Row;
use std::io::{self, Read};

/// Number of bytes per read.
const CHUNK: usize = 256 << 10;

/// Reads the rows of a spool in order, up to the first frame that is torn or wrong.
#[derive(Debug)]
pub struct SpoolReader<R> {
    source: Source<R>,
    header: String,
    end: Option<End>,
}

/// Sizes of a spool's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct End {
    /// Bytes of the valid frames, with the file's magic number.
    pub kept: u64,
    /// Bytes after them: a frame that was torn when the writer died, and whatever follows.
    pub dropped: u64,
}

/// Reason for which a spool cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// I/O error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A newer netburn wrote it.
    #[error("version {0}")]
    Newer(u32),
    /// Another kind of file, or an incomplete header.
    #[error("{0}")]
    Damaged(&'static str),
}

impl<R: Read> SpoolReader<R> {
    /// Reads the beginning and the run's header.
    ///
    /// # Errors
    /// When it isn't a spool, a newer version wrote it, or it ends within the header.
    pub fn open(from: R) -> Result<Self, SpoolError> {
        let mut source = Source::new(from);
        let beginning = MAGIC.len() + 4;
        if !source.fill(beginning)? || source.bytes()[..MAGIC.len()] != *MAGIC {
            return Err(SpoolError::Damaged("invalid magic number"));
        }
        let version = u32_at(source.bytes(), MAGIC.len());
        if version > VERSION {
            return Err(SpoolError::Newer(version));
        }
        source.skip(beginning);
        let length = match source.frame()? {
            Some((HEADER, length)) => length,
            _ => return Err(SpoolError::Damaged("the header is incomplete")),
        };
        let header = std::str::from_utf8(&source.bytes()[5..5 + length])
            .map_err(|_| SpoolError::Damaged("the header is not UTF-8"))?
            .to_owned();
        source.skip(length + FRAME_OVERHEAD);
        Ok(SpoolReader {
            source,
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
        let frame = self.source.frame()?;
        if let Some((kind, length)) = frame.filter(|(_, length)| *length <= MAX_ROW_BYTES)
            && let Some(row) = payload::decode(kind, &self.source.bytes()[5..5 + length])
        {
            self.source.skip(length + FRAME_OVERHEAD);
            return Ok(Some(row));
        }
        let kept = self.source.taken;
        let dropped = self.source.drain()?;
        self.end = Some(End { kept, dropped });
        Ok(None)
    }

    /// Returns the next row of a spool that is still being written; `None` if there is none yet. A
    /// damaged frame is never skipped.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn next_row_so_far(&mut self) -> io::Result<Option<Row>> {
        self.source.exhausted = false;
        match self.source.frame()? {
            Some((kind, length)) if length <= MAX_ROW_BYTES => {
                let row = payload::decode(kind, &self.source.bytes()[5..5 + length]);
                if row.is_some() {
                    self.source.skip(length + FRAME_OVERHEAD);
                }
                Ok(row)
            }
            _ => Ok(None),
        }
    }

    /// Sizes of its parts, once [`next_row`](Self::next_row) has returned `None`.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }
}

/// Bytes read ahead. The buffer grows only with what was really read, never by a length that a file claims.
#[derive(Debug)]
struct Source<R> {
    from: R,
    buffer: Vec<u8>,
    /// Begin of the bytes that have not been consumed.
    at: usize,
    /// Bytes taken so far.
    taken: u64,
    exhausted: bool,
}

impl<R: Read> Source<R> {
    fn new(from: R) -> Self {
        Source {
            from,
            buffer: Vec::new(),
            at: 0,
            taken: 0,
            exhausted: false,
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    fn skip(&mut self, count: usize) {
        self.at += count;
        self.taken += count as u64;
    }

    /// Reads until `count` bytes are at hand; false when the file ends before.
    fn fill(&mut self, count: usize) -> io::Result<bool> {
        while self.buffer.len() - self.at < count && !self.exhausted {
            self.buffer.drain(..self.at);
            self.at = 0;
            let read = self.from.by_ref().take(CHUNK as u64).read_to_end(&mut self.buffer)?;
            self.exhausted = read < CHUNK;
        }
        Ok(self.buffer.len() - self.at >= count)
    }

    /// Kind and length of the next valid frame; its bytes are then in the buffer.
    fn frame(&mut self) -> io::Result<Option<(u8, usize)>> {
        if !self.fill(FRAME_OVERHEAD)? {
            return Ok(None);
        }
        let length = u32_at(self.bytes(), 0) as usize;
        let kind = self.bytes()[4];
        let longest = if kind == HEADER {
            MAX_HEADER_BYTES
        } else {
            MAX_ROW_BYTES
        };
        if length > longest || !self.fill(length + FRAME_OVERHEAD)? {
            return Ok(None);
        }
        let (body, rest) = self.bytes().split_at(5 + length);
        Ok((crc32fast::hash(body) == u32_at(rest, 0)).then_some((kind, length)))
    }

    /// Counts what is left.
    fn drain(&mut self) -> io::Result<u64> {
        let mut left = self.bytes().len() as u64;
        self.buffer = Vec::new();
        self.at = 0;
        if !self.exhausted {
            left += io::copy(&mut self.from, &mut io::sink())?;
            self.exhausted = true;
        }
        Ok(left)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
