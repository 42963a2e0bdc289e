//! Appending to a spool, and reading of appended messages.

use super::read::{Source, SpoolContent};
use super::{Kind, MAGIC, SpoolFolder, SpoolHeader, VERSION};
use netburn_protocol::messages::standing::LateResultsEnd;
use netburn_protocol::messages::{Rows, Start};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Spool of the current run. Holds a lock until the process ends, so that no other process reads or deletes
/// it.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// Position of each message of rows; the first is number 1.
    places: Vec<u64>,
    length: u64,
    dirty: bool,
}

impl Writer {
    /// Creates the spool of a run.
    ///
    /// # Errors
    /// If it can't be written or already exists.
    pub fn create(folder: &SpoolFolder, about: &SpoolHeader, start: Start) -> io::Result<Writer> {
        let path = folder.file(&about.run)?;
        netburn_linux::private_folder::create(folder.path())?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        let begun = (|| {
            file.try_lock()?;
            let mut writer = Writer {
                file: file.try_clone()?,
                path: path.clone(),
                places: Vec::new(),
                length: 0,
                dirty: false,
            };
            let mut beginning = MAGIC.to_vec();
            beginning.extend_from_slice(&VERSION.to_le_bytes());
            writer.write(&beginning)?;
            writer.append(Kind::Header, about)?;
            writer.append(Kind::Start, &start)?;
            writer.file.sync_all()?;
            sync_folder(folder)?;
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
        let mut writer = Writer {
            file,
            path,
            places,
            length: at,
            dirty: false,
        };
        writer.file.seek(SeekFrom::Start(at))?;
        Ok((writer, spooled))
    }

    /// Appends a message of rows, the next in order.
    ///
    /// # Errors
    /// If it can't be written; the file is then unchanged.
    pub fn rows(&mut self, rows: &Rows) -> io::Result<()> {
        debug_assert_eq!(rows.sequence, self.messages() + 1, "in order");
        let place = self.length;
        self.append(Kind::Rows, rows)?;
        self.places.push(place);
        Ok(())
    }

    /// Appends the end of the part.
    ///
    /// # Errors
    /// If it can't be written; the file is then unchanged.
    pub fn end(&mut self, end: &LateResultsEnd) -> io::Result<()> {
        let before = self.length;
        self.append(Kind::End, end)?;
        let synced = self.file.sync_data();
        if synced.is_err() {
            self.shorten(before)?;
        }
        synced
    }

    /// Size of the file, in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
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
        self.file.seek(SeekFrom::Start(place))?;
        let mut length = [0; 4];
        self.file.read_exact(&mut length)?;
        let mut payload = vec![0; u32::from_le_bytes(length) as usize + 1];
        self.file.read_exact(&mut payload)?;
        self.file.seek(SeekFrom::Start(self.length))?;
        let rows = serde_json::from_slice(&payload[1..]).map_err(io::Error::other)?;
        Ok(Some(rows))
    }

    /// Second handle of the file for a thread that syncs it, if there are unsynced messages.
    pub fn unsynced(&mut self) -> Option<File> {
        if !self.dirty {
            return None;
        }
        // Without a second handle the messages stay unsynced.
        let file = self.file.try_clone().ok()?;
        self.dirty = false;
        Some(file)
    }

    /// Syncs the file to disk. Blocks.
    ///
    /// # Errors
    /// If the disk reports an error. The system reports it once: a second call would succeed.
    pub fn sync(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.dirty) {
            self.file.sync_data()
        } else {
            Ok(())
        }
    }

    /// Truncates the file after the first `messages` of rows.
    ///
    /// # Errors
    /// If that can't be written.
    pub fn cut(&mut self, messages: u64) -> io::Result<()> {
        let kept = usize::try_from(messages).unwrap_or(usize::MAX);
        let at = self.places.get(kept).copied().unwrap_or(self.length);
        self.places.truncate(kept);
        self.shorten(at)
    }

    fn shorten(&mut self, length: u64) -> io::Result<()> {
        self.length = length;
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length)).map(drop)
    }

    /// Deletes the file after its delivery.
    pub fn remove(self) {
        // A remaining file is delivered again and deleted then.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Simulates a full disk: the file becomes read-only.
    #[cfg(test)]
    pub(crate) fn fill_disk(&mut self) {
        self.file = File::open(&self.path).expect("it is there");
    }

    fn append(&mut self, kind: Kind, payload: &impl Serialize) -> io::Result<()> {
        let mut frame = vec![0, 0, 0, 0, kind as u8];
        serde_json::to_writer(&mut frame, payload).map_err(io::Error::other)?;
        let length = u32::try_from(frame.len() - 5).map_err(io::Error::other)?;
        frame[..4].copy_from_slice(&length.to_le_bytes());
        let crc = crc32fast::hash(&frame);
        frame.extend_from_slice(&crc.to_le_bytes());
        self.write(&frame)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(bytes);
        match written {
            Ok(()) => {
                self.length += bytes.len() as u64;
                self.dirty = true;
            }
            // A partial frame would hide later frames.
            Err(_) => self.shorten(self.length)?,
        }
        written
    }
}

/// Syncs the directory entries of the folder.
fn sync_folder(folder: &SpoolFolder) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder.path())?.sync_all()
    } else {
        Ok(())
    }
}
