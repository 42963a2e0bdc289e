//! Reading of a spool.

use super::{FORMAT, Kind, SpoolFolder, SpoolHeader};
use netburn_protocol::messages::standing::{self, LateResultsEnd};
use netburn_protocol::messages::{Rows, shorten};
use netburn_record::spool::SpoolError;
use netburn_record::spool::frame::FrameReader;
use std::fs::File;
use std::io::{self, Read, Seek};

/// Content of a spool.
#[derive(Debug, Clone, PartialEq)]
pub struct SpoolContent {
    /// Header.
    pub about: SpoolHeader,
    /// Number of messages of rows.
    pub messages: u64,
    /// End of the part; `None` if the agent was killed.
    pub end: Option<LateResultsEnd>,
}

/// Reader of a spool, message by message, for late delivery. Holds a lock, so that no other process reads
/// or deletes the file.
#[derive(Debug)]
pub struct SpoolReader {
    source: Source<File>,
    spooled: SpoolContent,
    from: u64,
}

impl SpoolReader {
    /// Opens the spool of `run`, at message number `from` (the first is 1).
    ///
    /// # Errors
    /// If there is no spool, it can't be read, or an agent has it open.
    pub fn open(folder: &SpoolFolder, run: &str, from: u64) -> io::Result<SpoolReader> {
        let file = File::open(folder.file(run)?)?;
        file.try_lock()?;
        let mut source = Source::open(file)?;
        let begin = source.at();
        let (mut messages, mut end) = (0, None);
        while let Some((kind, payload)) = source.frame()? {
            match kind {
                Kind::Rows => messages += 1,
                Kind::End => end = serde_json::from_slice(&payload).ok(),
                Kind::Header | Kind::Start => {}
            }
        }
        source.seek(begin)?;
        let spooled = SpoolContent {
            about: source.about().clone(),
            messages,
            end,
        };
        Ok(SpoolReader { source, spooled, from })
    }

    /// Header of the spool.
    #[must_use]
    pub fn about(&self) -> &SpoolHeader {
        &self.spooled.about
    }

    /// Total number of messages.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.spooled.messages
    }

    /// Next message; `None` after the last. Then send [`end`](Self::end).
    ///
    /// # Errors
    /// If the file can't be read.
    #[expect(clippy::should_implement_trait, reason = "an iterator that fails is none")]
    pub fn next(&mut self) -> io::Result<Option<standing::LateResults>> {
        while let Some((kind, payload)) = self.source.frame()? {
            if kind != Kind::Rows {
                continue;
            }
            let rows: Rows = serde_json::from_slice(&payload).map_err(io::Error::other)?;
            if rows.sequence >= self.from {
                return Ok(Some(standing::LateResults {
                    run: self.spooled.about.run.clone(),
                    proof: self.spooled.about.proof.clone(),
                    sequence: rows.sequence,
                    batch: rows.batch,
                }));
            }
        }
        Ok(None)
    }

    /// Message after the last rows: the end of the part.
    #[must_use]
    pub fn end(&self) -> LateResultsEnd {
        let SpoolHeader { run, proof, .. } = &self.spooled.about;
        let cut = || LateResultsEnd {
            run: run.clone(),
            error: Some("it ended before its part was done".to_owned()),
            ..LateResultsEnd::default()
        };
        LateResultsEnd {
            proof: proof.clone(),
            ..self.spooled.end.clone().unwrap_or_else(cut)
        }
    }
}

/// Frames of a spool.
#[derive(Debug)]
pub(crate) struct Source<R> {
    frames: FrameReader<R>,
    about: SpoolHeader,
}

impl<R: Read + Seek> Source<R> {
    /// Reads the magic bytes and the header.
    pub(crate) fn open(from: R) -> io::Result<Source<R>> {
        let damaged = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
        let frames = FrameReader::open(from, &FORMAT).map_err(|error| match error {
            SpoolError::Io(error) => error,
            SpoolError::Newer(_) => damaged("written by a newer netburn"),
            SpoolError::Damaged(_) => damaged("not a spool"),
        })?;
        let mut source = Source {
            frames,
            about: SpoolHeader::default(),
        };
        source.about = match source.frame()? {
            Some((Kind::Header, payload)) => {
                serde_json::from_slice(&payload).map_err(|error| damaged(&shorten(error.to_string(), 200)))?
            }
            _ => return Err(damaged("the header is incomplete")),
        };
        Ok(source)
    }

    pub(super) fn about(&self) -> &SpoolHeader {
        &self.about
    }

    /// Position of the next frame.
    pub(crate) fn at(&self) -> u64 {
        self.frames.position()
    }

    pub(super) fn seek(&mut self, at: u64) -> io::Result<()> {
        self.frames.seek(at)
    }

    /// Next complete and valid frame.
    pub(crate) fn frame(&mut self) -> io::Result<Option<(Kind, Vec<u8>)>> {
        let next = self.frames.peek()?;
        let Some((kind, payload)) = next.and_then(|(kind, payload)| Some((Kind::from_number(kind)?, payload))) else {
            return Ok(None);
        };
        let payload = payload.to_vec();
        self.frames.consume();
        Ok(Some((kind, payload)))
    }
}
