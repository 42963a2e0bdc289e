//! The three formats of crusader's files as one document.
//!
//! All begin with a magic number and a version, both of 64 bits. Version 0 continues in bincode: numbers in
//! little-endian, lengths of 64 bits, a byte before an optional value. Versions 1 and 2 continue with MessagePack,
//! compressed with Snappy.

use super::{msgpack, snappy};
use crate::import::file_error::FileError;
use serde::Deserialize;

/// The first bytes of a file (`MAGIC` of crusader's protocol), little-endian.
pub(super) const MAGIC: [u8; 8] = 0x5372_ab82_ae7c_59cb_u64.to_le_bytes();
/// Most values of a list in version 0.
const MAX_LIST: u64 = 1_000_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Document {
    pub(super) generated_by: String,
    pub(super) config: Config,
    pub(super) server_overload: bool,
    pub(super) load_termination_timeout: bool,
    pub(super) start: Span,
    pub(super) duration: Span,
    pub(super) stream_groups: Vec<Group>,
    pub(super) pings: Vec<Ping>,
    pub(super) peer_pings: Option<Vec<Ping>>,
    pub(super) test_data: Vec<Test>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Config {
    pub(super) ping_interval: Span,
}

/// Streams of one direction.
#[derive(Debug, Deserialize)]
pub(super) struct Group {
    pub(super) download: bool,
    /// True for the part of the test in which both directions transfer.
    pub(super) both: bool,
    pub(super) streams: Vec<Stream>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Stream {
    pub(super) data: Vec<Point>,
}

/// Bytes of a stream since its start.
#[derive(Debug, Deserialize)]
pub(super) struct Point {
    pub(super) time: Span,
    pub(super) bytes: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Ping {
    pub(super) sent: Span,
    /// `None` if the server did not receive the packet.
    #[serde(default)]
    pub(super) latency: Option<Latency>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Latency {
    /// `None` if the answer was lost.
    #[serde(default)]
    pub(super) total: Option<Span>,
    /// `None` in version 0.
    #[serde(default)]
    pub(super) up: Option<Span>,
}

/// A part of the test.
#[derive(Debug, Deserialize)]
pub(super) struct Test {
    pub(super) start: Span,
    pub(super) end: Span,
}

/// A time since the client began.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(super) struct Span {
    secs: u64,
    nanos: u32,
}

impl Span {
    /// In ns, if it is at most `most` seconds.
    pub(super) fn nanos(self, most: u64) -> Option<i64> {
        let whole = i64::try_from(self.secs.checked_mul(1_000_000_000)?).ok()?;
        let nanos = whole.checked_add(i64::from(self.nanos))?;
        (self.secs < most && self.nanos < 1_000_000_000).then_some(nanos)
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Document, FileError> {
    let truncated = || FileError::Truncated("it has no version".to_owned());
    let after_magic = bytes.strip_prefix(&MAGIC).ok_or_else(truncated)?;
    let (version, content) = after_magic.split_first_chunk::<8>().ok_or_else(truncated)?;
    match u64::from_le_bytes(*version) {
        0 => Binary { bytes: content }.document(),
        1 | 2 => {
            let value = msgpack::read(&snappy::unpacked(content)?)?;
            serde_json::from_value(value).map_err(|error| FileError::Format(error.to_string()))
        }
        version => Err(FileError::Version {
            found: version.to_string(),
            expected: "0, 1 or 2",
        }),
    }
}

/// Reader of version 0.
struct Binary<'a> {
    bytes: &'a [u8],
}

impl Binary<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], FileError> {
        let Some((taken, rest)) = self.bytes.split_first_chunk::<N>() else {
            return Err(FileError::Truncated("it ends within a value of version 0".to_owned()));
        };
        self.bytes = rest;
        Ok(*taken)
    }

    fn number(&mut self) -> Result<u64, FileError> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn span(&mut self) -> Result<Span, FileError> {
        Ok(Span {
            secs: self.number()?,
            nanos: u32::from_le_bytes(self.take()?),
        })
    }

    fn flag(&mut self) -> Result<bool, FileError> {
        match self.take()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => Err(FileError::Format(format!("found {other}, expected 0 or 1"))),
        }
    }

    fn list<T>(&mut self, value: impl Fn(&mut Self) -> Result<T, FileError>) -> Result<Vec<T>, FileError> {
        let length = self.number()?;
        if length > MAX_LIST {
            return Err(FileError::TooMany {
                what: "values of a list",
                most: MAX_LIST as usize,
            });
        }
        // The length may be wrong, so that nothing is reserved.
        (0..length).map(|_| value(self)).collect()
    }

    fn document(mut self) -> Result<Document, FileError> {
        // Load and pauses, in seconds, and the intervals of pings and points, in ms.
        let [_, _, ping_interval, _] = [self.number()?, self.number()?, self.number()?, self.number()?];
        let document = Document {
            config: Config {
                ping_interval: Span {
                    secs: ping_interval / 1000,
                    nanos: (ping_interval % 1000) as u32 * 1_000_000,
                },
            },
            start: self.span()?,
            duration: self.span()?,
            stream_groups: self.list(Self::group)?,
            pings: self.list(Self::ping)?,
            ..Document::default()
        };
        if self.bytes.is_empty() {
            Ok(document)
        } else {
            Err(FileError::Format("content after its end".to_owned()))
        }
    }

    fn group(&mut self) -> Result<Group, FileError> {
        Ok(Group {
            download: self.flag()?,
            both: self.flag()?,
            streams: self.list(|reader| {
                Ok(Stream {
                    data: reader.list(Self::point)?,
                })
            })?,
        })
    }

    fn point(&mut self) -> Result<Point, FileError> {
        Ok(Point {
            time: self.span()?,
            bytes: self.number()?,
        })
    }

    fn ping(&mut self) -> Result<Ping, FileError> {
        let _number = self.number()?;
        let sent = self.span()?;
        let total = if self.flag()? { Some(self.span()?) } else { None };
        Ok(Ping {
            sent,
            latency: total.map(|total| Latency {
                total: Some(total),
                up: None,
            }),
        })
    }
}
