//! Checksums of table files against accidental damage: CRC-32 as in gzip, PNG and Ethernet (ISO
//! 3309, reflected polynomial 0xEDB88320).
//!
//! A CRC-32 detects every error burst of up to 32 bits and misses one in 2³² of all other errors.
//! It does not protect against deliberate changes, because `run.json` can be changed as well.

use crate::regular;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;

/// The CRC-32 of a file's bytes. In documents it is text of eight hexadecimal digits, as the command `crc32` prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checksum(u32);

impl Checksum {
    /// The checksum of the file at `path`, read in pieces.
    pub(crate) fn from_file(path: &Path) -> io::Result<Self> {
        let mut file = regular::open(path)?;
        let mut hasher = crc32fast::Hasher::new();
        let mut buffer = vec![0; 1 << 17];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(Checksum(hasher.finalize())),
                Ok(count) => hasher.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl Serialize for Checksum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Checksum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u32::from_str_radix(&text, 16).ok().filter(|_| digits);
        let wrong = || {
            serde::de::Error::custom(format_args!(
                "invalid CRC-32 `{text}`, expected eight hexadecimal digits"
            ))
        };
        value.map(Checksum).ok_or_else(wrong)
    }
}

/// A writer that computes the checksum of all that was written through it.
#[derive(Debug)]
pub(crate) struct Hashing<W> {
    to: W,
    hasher: crc32fast::Hasher,
}

impl<W: Write> Hashing<W> {
    pub(crate) fn new(to: W) -> Self {
        Hashing {
            to,
            hasher: crc32fast::Hasher::new(),
        }
    }

    /// Returns the underlying writer and the checksum of all written bytes.
    pub(crate) fn finish(self) -> (W, Checksum) {
        (self.to, Checksum(self.hasher.finalize()))
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms (Cook): of the nine digits "123456789".
    #[test]
    fn the_checksum_matches_the_published_check_value() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"123456789").unwrap();
        assert_eq!(Checksum::from_file(file.path()).unwrap(), Checksum(0xcbf4_3926));
        let mut hashing = Hashing::new(Vec::new());
        hashing.write_all(b"12345").unwrap();
        hashing.write_all(b"6789").unwrap();
        let (written, checksum) = hashing.finish();
        assert_eq!((&written[..], checksum), (&b"123456789"[..], Checksum(0xcbf4_3926)));
    }

    #[test]
    fn text_is_eight_digits() {
        assert_eq!(serde_json::to_string(&Checksum(0x00ab_cdef)).unwrap(), "\"00abcdef\"");
        let read = |text: &str| serde_json::from_str::<Checksum>(text).ok();
        assert_eq!(read("\"00abcdef\""), Some(Checksum(0x00ab_cdef)));
        for wrong in ["\"abcdef\"", "\"+0abcdef\"", "\"000abcdefg\"", "\"\"", "7"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
