//! Reading of a spool.

use super::{Kind, MAGIC, MAX_PAYLOAD, OVERHEAD, SpoolFolder, SpoolHeader, VERSION};
use netburn_protocol::messages::standing::{self, LateResultsEnd};
use netburn_protocol::messages::{Rows, shorten};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

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
    source: Source<BufReader<File>>,
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
        let mut source = Source::open(BufReader::with_capacity(64 << 10, file))?;
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
    from: R,
    about: SpoolHeader,
    at: u64,
    /// Size of the file, which limits the length of a frame.
    size: u64,
}

impl<R: Read + Seek> Source<R> {
    /// Reads the magic bytes and the header.
    pub(crate) fn open(mut from: R) -> io::Result<Source<R>> {
        let damaged = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
        let size = from.seek(SeekFrom::End(0))?;
        from.seek(SeekFrom::Start(0))?;
        let mut beginning = [0; MAGIC.len() + 4];
        from.read_exact(&mut beginning)
            .map_err(|_| damaged("the header is incomplete"))?;
        let (magic, version) = beginning.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(damaged("not a spool"));
        }
        if u32::from_le_bytes(version.try_into().expect("four bytes")) > VERSION {
            return Err(damaged("written by a newer netburn"));
        }
        let mut source = Source {
            from,
            about: SpoolHeader::default(),
            at: beginning.len() as u64,
            size,
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
        self.at
    }

    pub(super) fn seek(&mut self, at: u64) -> io::Result<()> {
        self.at = at;
        self.from.seek(SeekFrom::Start(at)).map(drop)
    }

    /// Next complete and valid frame.
    pub(crate) fn frame(&mut self) -> io::Result<Option<(Kind, Vec<u8>)>> {
        let left = self.size.saturating_sub(self.at);
        if left < OVERHEAD as u64 {
            return Ok(None);
        }
        let mut head = [0; 5];
        self.from.read_exact(&mut head)?;
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        if length > MAX_PAYLOAD || left < (length + OVERHEAD) as u64 {
            return Ok(None);
        }
        let mut body = head.to_vec();
        body.resize(5 + length + 4, 0);
        self.from.read_exact(&mut body[5..])?;
        let (frame, crc) = body.split_at(5 + length);
        let kind = [Kind::Header, Kind::Start, Kind::Rows, Kind::End]
            .into_iter()
            .find(|kind| *kind as u8 == head[4]);
        let right = crc32fast::hash(frame).to_le_bytes() == crc;
        let Some(kind) = kind.filter(|_| right) else {
            return Ok(None);
        };
        self.at += (length + OVERHEAD) as u64;
        body.truncate(5 + length);
        body.drain(..5);
        Ok(Some((kind, body)))
    }
}
