//! Appending to a spool, and reading of appended messages.

use super::read::{Source, SpoolContent};
use super::{FORMAT, Kind, SpoolFolder, SpoolHeader};
use netburn_protocol::messages::standing::LateResultsEnd;
use netburn_protocol::messages::{Rows, Start};
use netburn_record::spool::frame::FrameWriter;
use netburn_record::sync_folder;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::path::PathBuf;

/// Spool of the current run. Holds a lock until the process ends, so that no other process reads or deletes
/// it.
#[derive(Debug)]
pub struct Writer {
    frames: FrameWriter<File>,
    path: PathBuf,
    /// Position of each message of rows; the first is number 1.
    places: Vec<u64>,
}

impl Writer {
    /// Creates the spool of a run.
    ///
    /// # Errors
    /// If it can't be written or already exists.
    pub fn create(folder: &SpoolFolder, about: &SpoolHeader, start: Start) -> io::Result<Writer> {
        let path = folder.file(&about.run)?;
        netburn_platform::private_folder::create(folder.path())?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        let begun = (|| {
            file.try_lock()?;
            let mut writer = Writer {
                frames: FrameWriter::create(file.try_clone()?, &FORMAT),
                path: path.clone(),
                places: Vec::new(),
            };
            writer.append(Kind::Header, about)?;
            writer.append(Kind::Start, &start)?;
            writer.frames.sync()?;
            sync_folder(folder.path())?;
            Ok(writer)
        })();
        if begun.is_err() {
            // A file without a header is useless.
            let _ = std::fs::remove_file(&path);
        }
        begun
    }

    /// Opens the spool of a killed agent, truncates an incomplete frame and syncs the rest.
    ///
    /// # Errors
    /// If there is no spool, it can't be read or synced, or another process has it open.
    pub fn resume(folder: &SpoolFolder, run: &str) -> io::Result<(Writer, SpoolContent)> {
        let path = folder.file(run)?;
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        file.try_lock()?;
        let mut source = Source::open(file.try_clone()?)?;
        let (mut places, mut end) = (Vec::new(), None);
        let mut at = source.at();
        while let Some((kind, payload)) = source.frame()? {
            match kind {
                Kind::Rows => places.push(at),
                Kind::End => end = serde_json::from_slice(&payload).ok(),
                Kind::Header | Kind::Start => {}
            }
            at = source.at();
        }
        let spooled = SpoolContent {
            about: source.about().clone(),
            messages: places.len() as u64,
            end,
        };
        file.set_len(at)?;
        file.sync_all()?;
        (&file).seek(SeekFrom::Start(at))?;
        let writer = Writer {
            frames: FrameWriter::resume(file, at),
            path,
            places,
        };
        Ok((writer, spooled))
    }

    /// Appends a message of rows, the next in order.
    ///
    /// # Errors
    /// If it can't be written; the file is then unchanged.
    pub fn rows(&mut self, rows: &Rows) -> io::Result<()> {
        debug_assert_eq!(rows.sequence, self.messages() + 1, "in order");
        let place = self.append(Kind::Rows, rows)?;
        self.places.push(place);
        Ok(())
    }

    /// Appends the end of the part.
    ///
    /// # Errors
    /// If it can't be written; the file is then unchanged.
    pub fn end(&mut self, end: &LateResultsEnd) -> io::Result<()> {
        let place = self.append(Kind::End, end)?;
        let synced = self.frames.sync();
        if synced.is_err() {
            self.frames.cut(place)?;
        }
        synced
    }

    /// Size of the file, in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.frames.length()
    }

    /// Number of messages of rows.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.places.len() as u64
    }

    /// Message of this number, from 1; `None` if there is none.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn message(&mut self, sequence: u64) -> io::Result<Option<Rows>> {
        let index = sequence.checked_sub(1).and_then(|index| usize::try_from(index).ok());
        let Some(place) = index.and_then(|index| self.places.get(index).copied()) else {
            return Ok(None);
        };
        let rows = serde_json::from_slice(&self.frames.read(place)?).map_err(io::Error::other)?;
        Ok(Some(rows))
    }

    /// Syncs the file to disk. Blocks.
    ///
    /// # Errors
    /// If the disk reports an error. The system reports it once: a second call would succeed.
    pub fn sync(&mut self) -> io::Result<()> {
        self.frames.sync()
    }

    /// Truncates the file after the first `messages` of rows.
    ///
    /// # Errors
    /// If that can't be written.
    pub fn cut(&mut self, messages: u64) -> io::Result<()> {
        let kept = usize::try_from(messages).unwrap_or(usize::MAX);
        let at = self.places.get(kept).copied().unwrap_or(self.frames.length());
        self.places.truncate(kept);
        self.frames.cut(at)
    }

    /// Deletes the file after its delivery.
    pub fn remove(self) {
        // A remaining file is delivered again and deleted then.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Simulates a full disk: the file becomes read-only.
    #[cfg(test)]
    pub(crate) fn fill_disk(&mut self) {
        let file = File::open(&self.path).expect("it is there");
        self.frames = FrameWriter::resume(file, self.frames.length());
    }

    /// Writes a frame, and returns its position.
    fn append(&mut self, kind: Kind, payload: &impl Serialize) -> io::Result<u64> {
        let payload = serde_json::to_vec(payload).map_err(io::Error::other)?;
        let place = self.frames.put(kind as u8, |to| to.extend_from_slice(&payload));
        if let Err(error) = self.frames.write() {
            // A partial frame would hide later frames.
            self.frames.cut(place)?;
            return Err(error);
        }
        Ok(place)
    }
}
