//! Frames: the format of every spool on disk, whatever its frames hold.
//!
//! ```text
//! file  = magic: 8 bytes  version: u32  frame*
//! frame = length: u32  kind: u8  payload: length bytes  crc: u32
//! ```
//!
//! Integers are little-endian. The CRC is CRC-32 (IEEE 802.3, as in zlib) over length, kind and
//! payload. A reader stops at the first incomplete or damaged frame and returns everything before
//! it. Therefore a file survives `kill -9` and power loss at any byte.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Number of bytes per read.
const CHUNK: usize = 256 << 10;

/// Length and kind of a frame, before its payload.
const HEAD: usize = 4 + 1;

/// Length, kind and CRC of a frame.
const OVERHEAD: usize = HEAD + 4;

/// Header and limits of one kind of spool.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The first bytes of the file.
    pub magic: &'static [u8; 8],
    /// The version that is written, and the newest that is read.
    pub version: u32,
    /// Maximum length of a payload in bytes, by the kind of its frame.
    pub max_payload: fn(u8) -> usize,
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

/// Destination of a spool.
pub trait Disk: Write {
    /// Returns when everything written is on the disk.
    ///
    /// # Errors
    /// I/O error.
    fn sync(&mut self) -> io::Result<()>;
}

impl Disk for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Appends frames.
///
/// **Call order:** [`create`](Self::create) or [`resume`](Self::resume); then any number of
/// [`put`](Self::put), [`write`](Self::write) and [`sync`](Self::sync). After an error of `write`,
/// the file may end with an incomplete frame: write no more, or [`cut`](Self::cut) it off.
#[derive(Debug)]
pub struct FrameWriter<D> {
    disk: D,
    buffer: Vec<u8>,
    /// Length of the file in bytes, without the buffer.
    written: u64,
    /// Bytes of these that are on the disk.
    synced: u64,
}

impl<D: Disk> FrameWriter<D> {
    /// Begins a file. Nothing is written yet.
    #[must_use]
    pub fn create(disk: D, format: &Format) -> Self {
        let mut buffer = format.magic.to_vec();
        buffer.extend_from_slice(&format.version.to_le_bytes());
        FrameWriter {
            disk,
            buffer,
            written: 0,
            synced: 0,
        }
    }

    /// Continues a file of this length in bytes, all of which is on the disk. `disk` writes at its
    /// end.
    #[must_use]
    pub fn resume(disk: D, length: u64) -> Self {
        FrameWriter {
            disk,
            buffer: Vec::new(),
            written: length,
            synced: length,
        }
    }

    /// Adds a frame with the payload that `payload` appends. Returns the frame's position in the
    /// file, in bytes.
    ///
    /// # Panics
    /// If the payload is longer than 4 GiB.
    pub fn put(&mut self, kind: u8, payload: impl FnOnce(&mut Vec<u8>)) -> u64 {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&[0, 0, 0, 0, kind]);
        payload(&mut self.buffer);
        let length = u32::try_from(self.buffer.len() - start - HEAD).expect("a payload is far below 4 GiB");
        self.buffer[start..start + 4].copy_from_slice(&length.to_le_bytes());
        let crc = crc32fast::hash(&self.buffer[start..]);
        self.buffer.extend_from_slice(&crc.to_le_bytes());
        self.written + start as u64
    }

    /// Number of bytes that were not handed to the system yet.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// Length of the file in bytes, with those that were not handed to the system yet.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Hands everything to the system.
    ///
    /// # Errors
    /// When that fails. The frames since the last call are then lost.
    pub fn write(&mut self) -> io::Result<()> {
        let written = self.disk.write_all(&self.buffer);
        if written.is_ok() {
            self.written += self.buffer.len() as u64;
        }
        self.buffer.clear();
        written
    }

    /// Returns when every frame is on the disk.
    ///
    /// # Errors
    /// When that fails. The system reports it once: a second call would succeed.
    pub fn sync(&mut self) -> io::Result<()> {
        self.write()?;
        if self.take_unsynced() { self.disk.sync() } else { Ok(()) }
    }

    /// Returns whether written bytes are not on the disk yet, and counts them as synced: the caller
    /// syncs them.
    pub fn take_unsynced(&mut self) -> bool {
        let unsynced = self.written > self.synced;
        self.synced = self.written;
        unsynced
    }

    /// The destination.
    #[must_use]
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// Returns the destination.
    #[must_use]
    pub fn into_disk(self) -> D {
        self.disk
    }
}

impl FrameWriter<File> {
    /// Truncates the file to `length` bytes, at the beginning of a frame.
    ///
    /// # Errors
    /// When that fails.
    pub fn cut(&mut self, length: u64) -> io::Result<()> {
        self.buffer.clear();
        self.written = length;
        self.synced = self.synced.min(length);
        self.disk.set_len(length)?;
        self.disk.seek(SeekFrom::Start(length)).map(drop)
    }

    /// Payload of the written frame at this position.
    ///
    /// # Errors
    /// When it cannot be read or is damaged.
    pub fn read(&mut self, position: u64) -> io::Result<Vec<u8>> {
        let read = self.read_frame(position);
        self.disk.seek(SeekFrom::Start(self.written))?;
        read
    }

    fn read_frame(&mut self, position: u64) -> io::Result<Vec<u8>> {
        self.disk.seek(SeekFrom::Start(position))?;
        let mut frame = vec![0; HEAD];
        self.disk.read_exact(&mut frame)?;
        let rest = u64::from(u32_at(&frame, 0)) + 4;
        let read = (&mut self.disk).take(rest).read_to_end(&mut frame)?;
        let (body, crc) = frame.split_at(frame.len() - read.min(4));
        if read as u64 != rest || crc32fast::hash(body) != u32_at(crc, 0) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the frame is damaged"));
        }
        let end = body.len();
        frame.truncate(end);
        frame.drain(..HEAD);
        Ok(frame)
    }
}

/// Reads frames in order, up to the first one that is torn or wrong, in bounded memory.
#[derive(Debug)]
pub struct FrameReader<R> {
    from: R,
    max_payload: fn(u8) -> usize,
    /// Bytes read ahead. The buffer grows only with what was really read, never by a length that a
    /// file claims.
    buffer: Vec<u8>,
    /// Start of the bytes in the buffer that have not been consumed.
    at: usize,
    /// Bytes consumed so far.
    consumed: u64,
    exhausted: bool,
}

impl<R: Read> FrameReader<R> {
    /// Reads the beginning of a file.
    ///
    /// # Errors
    /// When it has another format or a newer version, or cannot be read.
    pub fn open(from: R, format: &Format) -> Result<Self, SpoolError> {
        let mut reader = FrameReader {
            from,
            max_payload: format.max_payload,
            buffer: Vec::new(),
            at: 0,
            consumed: 0,
            exhausted: false,
        };
        let magic = format.magic.len();
        if !reader.fill(magic + 4)? || reader.bytes()[..magic] != *format.magic {
            return Err(SpoolError::Damaged("invalid magic number"));
        }
        let version = u32_at(reader.bytes(), magic);
        if version > format.version {
            return Err(SpoolError::Newer(version));
        }
        reader.skip(magic + 4);
        Ok(reader)
    }

    /// Kind and payload of the next valid frame; `None` at the end. The frame stays the next one
    /// until [`consume`](Self::consume).
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn peek(&mut self) -> io::Result<Option<(u8, &[u8])>> {
        if !self.fill(OVERHEAD)? {
            return Ok(None);
        }
        let (length, kind) = (u32_at(self.bytes(), 0) as usize, self.bytes()[4]);
        if length > (self.max_payload)(kind) || !self.fill(length + OVERHEAD)? {
            return Ok(None);
        }
        let (body, rest) = self.bytes().split_at(HEAD + length);
        Ok((crc32fast::hash(body) == u32_at(rest, 0)).then_some((kind, &body[HEAD..])))
    }

    /// Consumes the frame that [`peek`](Self::peek) has just returned.
    pub fn consume(&mut self) {
        self.skip(u32_at(self.bytes(), 0) as usize + OVERHEAD);
    }

    /// Position of the next frame, in bytes.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.consumed
    }

    /// Tries again to read beyond the end, because the file may have grown.
    pub fn follow(&mut self) {
        self.exhausted = false;
    }

    /// Counts the bytes up to the next frame and those that are left.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn drain(&mut self) -> io::Result<End> {
        let mut dropped = self.bytes().len() as u64;
        self.buffer = Vec::new();
        self.at = 0;
        if !self.exhausted {
            dropped += io::copy(&mut self.from, &mut io::sink())?;
            self.exhausted = true;
        }
        Ok(End {
            kept: self.consumed,
            dropped,
        })
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    fn skip(&mut self, count: usize) {
        self.at += count;
        self.consumed += count as u64;
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
}

impl<R: Seek> FrameReader<R> {
    /// Continues at this position, which is that of a frame.
    ///
    /// # Errors
    /// When that fails.
    pub fn seek(&mut self, position: u64) -> io::Result<()> {
        self.from.seek(SeekFrom::Start(position))?;
        self.buffer.clear();
        (self.at, self.consumed, self.exhausted) = (0, position, false);
        Ok(())
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format {
        magic: b"nbtests\n",
        version: 3,
        max_payload: |kind| usize::from(kind) * 100,
    };

    fn writer() -> FrameWriter<File> {
        FrameWriter::create(tempfile::tempfile().unwrap(), &FORMAT)
    }

    fn frames(writer: FrameWriter<File>) -> (Vec<(u8, Vec<u8>)>, End) {
        let mut file = writer.into_disk();
        file.seek(SeekFrom::Start(0)).unwrap();
        let mut reader = FrameReader::open(file, &FORMAT).unwrap();
        let mut found = Vec::new();
        while let Some((kind, payload)) = reader.peek().unwrap() {
            found.push((kind, payload.to_vec()));
            reader.consume();
        }
        (found, reader.drain().unwrap())
    }

    #[test]
    fn written_frames_are_read_at_their_positions() {
        let mut writer = writer();
        let first = writer.put(1, |to| to.extend_from_slice(b"one"));
        let second = writer.put(2, |_| ());
        assert_eq!((first, second, writer.buffered()), (12, 24, 33));
        writer.write().unwrap();
        assert_eq!((writer.buffered(), writer.length()), (0, 33));
        assert_eq!(writer.read(first).unwrap(), b"one");
        assert_eq!(writer.read(second).unwrap(), b"");
        assert!(writer.read(first + 1).is_err() && writer.read(33).is_err());
        assert!(writer.take_unsynced() && !writer.take_unsynced());
        let third = writer.put(1, |to| to.push(7));
        writer.sync().unwrap();
        assert!(!writer.take_unsynced());
        assert_eq!(writer.read(third).unwrap(), [7]);
        let (found, end) = frames(writer);
        assert_eq!(found, [(1, b"one".to_vec()), (2, Vec::new()), (1, vec![7])]);
        assert_eq!(end, End { kept: 43, dropped: 0 });
    }

    #[test]
    fn a_cut_frame_is_replaced_by_the_next() {
        let mut writer = writer();
        writer.put(1, |to| to.push(1));
        let second = writer.put(1, |to| to.push(2));
        writer.write().unwrap();
        writer.cut(second).unwrap();
        assert_eq!(writer.put(1, |to| to.push(3)), second);
        writer.write().unwrap();
        assert_eq!(frames(writer).0, [(1, vec![1]), (1, vec![3])]);
    }

    #[test]
    fn a_payload_above_its_limit_ends_the_file() {
        let mut writer = writer();
        writer.put(1, |to| to.resize(to.len() + 100, 0));
        writer.put(1, |to| to.resize(to.len() + 101, 0));
        writer.write().unwrap();
        let (found, end) = frames(writer);
        assert_eq!((found.len(), end.dropped), (1, 110));
    }

    #[test]
    fn a_reader_continues_at_any_frame() {
        let mut writer = writer();
        let positions: Vec<u64> = (0..5).map(|number| writer.put(1, |to| to.push(number))).collect();
        writer.write().unwrap();
        let mut file = writer.into_disk();
        file.seek(SeekFrom::Start(0)).unwrap();
        let mut reader = FrameReader::open(file, &FORMAT).unwrap();
        for (number, position) in (0..5).zip(positions).rev() {
            reader.seek(position).unwrap();
            assert_eq!(reader.peek().unwrap(), Some((1, &[number][..])));
            reader.consume();
        }
        assert_eq!(reader.position(), 22);
    }
}
